"""Names for memory: the slots of a record, and the parts of a kernel's work memory.

`slots` names the places within one record, such as the record of a link. A record may start with
the slots of another (`slots(PLACEMENT, A=6)`). It may take the place of slots of another that are
not needed at the same time (`overlay`). `layout` names the parts of a kernel's work memory, such as
the records of all links, and finds how much memory a model needs and where each part starts.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator


def slots(*before, **sizes: int):
    """Offsets of named slots within one record, and the record's `size`.

    The slots of records `before` come first.

    >>> PLACEMENT = slots(R=9, p=3)
    >>> LINK = slots(PLACEMENT, f=3)
    >>> LINK.p, LINK.f, LINK.size
    (9, 12, 15)
    """
    merged: dict[str, int] = {}
    for fields in (*map(_sizes, before), sizes):
        for name, size in fields.items():
            if name in merged or name == "size":
                raise ValueError(f"a record cannot have two slots named {name!r}")
            merged[name] = size
    return _record(merged, 0)


def overlay(record, over: str, **sizes: int):
    """Slots in the place of the slots `over` of a record, which must follow each other.

    >>> LINK = slots(R=9, p=3, A=6)
    >>> INERTIA = overlay(LINK, "R", H=9)
    >>> INERTIA.H
    0
    """
    known, names = _sizes(record), over.split()
    order = list(known)
    first = order.index(names[0])
    if order[first : first + len(names)] != names:
        raise ValueError(f"the slots {over} do not follow each other in {order}")
    room, needed = sum(known[name] for name in names), sum(sizes.values())
    if needed > room:
        raise ValueError(f"{', '.join(sizes)} take {needed} numbers where {over} have {room}")
    return _record(sizes, getattr(record, names[0]))


def _record(sizes: dict[str, int], start: int):
    """Offsets of slots one after the other from `start` on, and how many numbers they take."""
    offsets, at = {}, start
    for name, size in sizes.items():
        offsets[name] = at
        at += size
    return namedtuple("Slots", [*offsets, "size"])(**offsets, size=at - start)


def _sizes(record) -> dict[str, int]:
    """How many numbers each slot of a record has."""
    offsets = [*record]
    start = offsets[0]
    ends = [*offsets[1:-1], start + record.size]
    return {n: end - at for n, at, end in zip(record._fields, offsets, ends, strict=False)}


# --- work memory ----------------------------------------------------------------------------------

Extents = dict[str, int]


class Layout:
    """Parts of work memory by name; `layout` makes one."""

    def __init__(self, items: tuple):
        self.items = items  # each is (name, size function), (name, Layout) or an Either
        self.names = tuple(_names(items))
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"a layout cannot have two parts of a name: {', '.join(self.names)}")
        self.Parts = namedtuple("Parts", self.names)

    def size(self, n: Extents) -> int:
        """How many numbers the memory has, for extents n."""
        return self._place(n, 0)[0]

    def starts(self, n: Extents) -> list[int]:
        """Where each part starts. In the place of a part that is a layout stand its own parts."""
        return [start for _, start, _ in self._leaves(n, 0)]

    def divide(self, memory, n: Extents):
        """An array divided into the parts, as a named tuple."""
        return self._divide(memory, n, 0)

    def _divide(self, memory, n: Extents, at: int):
        parts = {
            name: value._divide(memory, n, start)
            if isinstance(value, Layout)
            else memory[start : start + size]
            for name, value, start, size in self._place(n, at)[1]
        }
        return self.Parts(**parts)

    def values(self) -> Iterator[tuple[str, Layout | Callable[[Extents], int]]]:
        """Each part by name: a layout, or how many numbers it has for extents n."""
        return ((name, self._value(name)) for name in self.names)

    @property
    def outline(self) -> tuple:
        """Names of parts, each with the outline of the layout that it is, or None."""
        return tuple((name, getattr(value, "outline", None)) for name, value in self.values())

    @property
    def count(self) -> int:
        """Number of parts; a part that is a layout counts as its own parts."""
        values = map(self._value, self.names)
        return sum(value.count if isinstance(value, Layout) else 1 for value in values)

    def _value(self, name: str):
        return dict(_flat(self.items))[name]

    def _leaves(self, n: Extents, at: int) -> Iterator[tuple[str, int, int]]:
        for name, value, start, size in self._place(n, at)[1]:
            if isinstance(value, Layout):
                yield from value._leaves(n, start)
            else:
                yield name, start, size

    def _place(self, n: Extents, at: int) -> tuple[int, list[tuple]]:
        """Where memory that starts at `at` ends; and (name, value, start, size) of each part."""
        placed = []
        for item in self.items:
            if isinstance(item, Either):
                ends = [choice._place(n, at) for choice in item.choices]
                placed += [part for _, parts in ends for part in parts]
                at = max(end for end, _ in ends)
            else:
                name, value = item
                size = value.size(n) if isinstance(value, Layout) else int(value(n))
                placed.append((name, value, at, size))
                at += size
        return at, placed


class Either:
    """Layouts that use the same memory at different times; `either` makes one."""

    def __init__(self, choices: tuple[Layout, ...]):
        self.choices = choices


def _flat(items: tuple) -> Iterator[tuple]:
    for item in items:
        if isinstance(item, Either):
            for choice in item.choices:
                yield from _flat(choice.items)
        else:
            yield item


def _names(items: tuple) -> Iterator[str]:
    return (name for name, _ in _flat(items))


def layout(*before: Layout | Either, **parts) -> Layout:
    """Work memory: the parts of layouts `before`, then those named here.

    The size of a part is the name of an extent ("nv"), a pair of such a name and a record or number
    ("n_links", LINK), a number, or a function of all extents. Or a part is a layout itself.
    """
    items: tuple = ()
    for one in before:
        items += one.items if isinstance(one, Layout) else (one,)
    return Layout((*items, *((name, _size(value)) for name, value in parts.items())))


def either(*choices: Layout) -> Either:
    """Layouts that use the same memory at different times, as an argument of `layout`."""
    return Either(choices)


def _size(value) -> Layout | Callable[[Extents], int]:
    if isinstance(value, Layout) or callable(value):
        return value
    if isinstance(value, str):
        return lambda n: n[value]
    if isinstance(value, int):
        return lambda n: value
    extent, record = value
    each = record if isinstance(record, int) else record.size
    return lambda n: n[extent] * each
