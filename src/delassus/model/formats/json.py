"""JSON values read with errors that say where in the file they are."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from ...errors import DelassusError, FileFormatError

_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_MANY = 2**31
_HUGE = 1e100  # beyond this, products of the numbers of a model overflow


def parse(content: bytes, file: str) -> Item:
    """The value that a file's bytes hold."""
    try:
        value = json.loads(
            content.decode("utf-8-sig"), parse_constant=_no_constant, object_pairs_hook=_unique
        )
    except RecursionError:
        raise FileFormatError(f"{file}: nested too deeply") from None
    except ValueError as error:  # of decoding and of JSON
        raise FileFormatError(f"{file}: not a JSON file: {error}") from None
    return Item(value, file, "")


def _no_constant(name: str):
    raise ValueError(f"{name} is not a JSON number")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object has two entries of one name")
    return result


class Item:
    """A value, and where it stands in the file."""

    def __init__(self, value: object, file: str, where: str):
        self.value, self.file, self.where = value, file, where

    def __getitem__(self, key: str | int) -> Item:
        name = f"[{key}]" if isinstance(key, int) else f".{key}" if self.where else key
        return Item(self.value[key], self.file, self.where + name)

    def error(self, message: str) -> FileFormatError:
        """An error at this place of the file."""
        return FileFormatError(": ".join(filter(None, (self.file, self.where, message))))

    def kind(self) -> str:
        """The text of an object's entry "type", empty if there is none."""
        kind = self.value.get("type") if isinstance(self.value, dict) else None
        return kind if isinstance(kind, str) else ""

    def has(self, key: str) -> bool:
        """Whether an object has an entry that is not null."""
        return self.value.get(key) is not None

    def object(self, required: Collection[str], optional: Collection[str] = ()) -> Item:
        """Itself, after a check that it is an object of these entries and no others."""
        given = self.names()
        missing = [key for key in required if key not in given]
        unknown = [key for key in given if key not in required and key not in optional]
        if missing or unknown:
            what = f"needs {missing[0]!r}" if missing else f"has an unknown entry {unknown[0]!r}"
            raise self.error(what)
        return self

    def names(self) -> list[str]:
        """The names of an object's entries."""
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        return list(self.value)

    def items(self) -> list[Item]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self._expected("a list")
        return [self[i] for i in range(len(self.value))]

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self._expected("a text")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self._expected("true or false")
        return self.value

    def number(self, infinite: bool = False) -> float:
        """A number of a sane size, or of any size if infinity is allowed."""
        if infinite and isinstance(self.value, str) and self.value in _INFINITIES:
            return _INFINITIES[self.value]
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self._expected("a finite number")
        try:
            value = float(self.value)
        except OverflowError:  # of integers
            value = math.inf
        if not abs(value) < (math.inf if infinite else _HUGE):
            raise self._expected("a finite number" if infinite else f"a number below {_HUGE:g}")
        return value

    def count(self) -> int:
        """An integer that is not negative, and of a sane size."""
        is_integer = isinstance(self.value, int) and not isinstance(self.value, bool)
        if not is_integer or not 0 <= self.value < _MANY:
            raise self._expected("a count of at least 0")
        return self.value

    def integer(self) -> int:
        """An integer of 32 bits, with a sign or without."""
        is_integer = isinstance(self.value, int) and not isinstance(self.value, bool)
        if not is_integer or not -_MANY <= self.value < 2 * _MANY:
            raise self._expected("an integer of 32 bits")
        return self.value

    def numbers(self, count: int | None = None, infinite: bool = False) -> list[float]:
        """A list of numbers."""
        items = self.items()
        if count is not None and len(items) != count:
            raise self.error(f"expected {count} numbers, got {len(items)}")
        return [item.number(infinite) for item in items]

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Errors in this block are told as this item's."""
        try:
            yield
        except FileFormatError:
            raise
        except DelassusError as error:
            raise self.error(str(error)) from None

    def _expected(self, what: str) -> FileFormatError:
        shown = repr(self.value)
        return self.error(
            f"expected {what}, got {shown if len(shown) <= 60 else shown[:57] + '...'}"
        )
