"""Names that are given, and help with those that do not exist."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Any

from ...checks import items, shown
from ...errors import UnknownNameError


def names_of(what: str, given: Any) -> tuple[str, ...]:
    """Names as a tuple: of several, or of one that is given alone."""
    return (given,) if isinstance(given, str) else items(f"names of {what}", given, str)


def known_name(what: str, given: Any, known: Collection[str]) -> str:
    """A name, if it is one of the known ones."""
    if not known:
        raise UnknownNameError(f"there is no {what} {shown(given)}: there are none")
    if not isinstance(given, str) or given not in known:
        if not known:
            raise UnknownNameError(f"{what} is {shown(given)}, but there are none to choose from")
        raise UnknownNameError(
            f"{what} must be one of {', '.join(map(repr, known))}, got {shown(given)}"
            + _suggestion(given, known)
        )
    return given


def _suggestion(name: object, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) if isinstance(name, str) else ()
    return "; did you mean " + " or ".join(map(repr, near)) + "?" if near else ""


def closest(name: object, known: Iterable[str]) -> str:
    """A few words on the known names nearest to a wrong one, to end an error message with."""
    names = [str(k) for k in known]
    if near := _suggestion(name, names):
        return near
    if 0 < len(names) <= 12:
        return "; there are " + ", ".join(map(repr, names))
    return f"; there are {len(names)} others"
