"""Names that are given, and help with those that do not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ...errors import DataTypeError


def names_of(what: str, given) -> tuple[str, ...]:
    """Names as a tuple: of several, or of one that is given alone."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable):
        raise DataTypeError(f"{what} are named by strings, got {given!r}")
    found = tuple(given)
    for name in found:
        if not isinstance(name, str):
            raise DataTypeError(f"{what} are named by strings, got {name!r}")
    return tuple(dict.fromkeys(found))


def closest(name: object, known: Iterable[str]) -> str:
    """A few words on the known names nearest to a wrong one, to end an error message with."""
    names = [str(k) for k in known]
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    if near:
        return "; did you mean " + " or ".join(map(repr, near)) + "?"
    if 0 < len(names) <= 12:
        return "; there are " + ", ".join(map(repr, names))
    return f"; there are {len(names)} others"
