"""Reactions of the last step for the contacts of this one, matched by their ids. O(contacts)."""

from __future__ import annotations

from ...compile import function


@function
def match(ids, count, old_ids, old_count, old_reactions, factor, reactions):
    """factor times the old reactions (t1, t2, n) of contacts that were there, zero for new ones.

    Ids are in ascending order. The reactions must not be the memory of the old ones.
    """
    place = 0
    for c in range(count):
        while place < old_count and old_ids[place] < ids[c]:
            place += 1
        is_known = place < old_count and old_ids[place] == ids[c]
        for t in range(3):
            reactions[3 * c + t] = factor * old_reactions[3 * place + t] if is_known else 0.0
