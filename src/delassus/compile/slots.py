"""Work memory laid out by name."""

from __future__ import annotations

from collections import namedtuple


def slots(**sizes: int):
    """Offsets of named slots within one record of work memory, and the record's `size`.

    >>> BODY = slots(rotation=9, position=3)
    >>> BODY.position, BODY.size
    (9, 12)
    """
    offsets, total = {}, 0
    for name, size in sizes.items():
        offsets[name] = total
        total += size
    return namedtuple("Slots", [*offsets, "size"])(**offsets, size=total)
