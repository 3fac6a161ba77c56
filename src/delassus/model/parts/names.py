"""Help with names that do not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(name: object, known: Iterable[str]) -> str:
    """A few words on the known names nearest to a wrong one, to end an error message with."""
    names = [str(k) for k in known]
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    if near:
        return "; did you mean " + " or ".join(map(repr, near)) + "?"
    if 0 < len(names) <= 12:
        return "; there are " + ", ".join(map(repr, names))
    return f"; there are {len(names)} others"
