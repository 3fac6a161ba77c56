"""Constraints that only tie links to the world, and what methods know that take no others.

Rows of such constraints are wrenches on one link each. A joint hands them on to what carries it,
less what it gives way: nothing ever couples two links, but for one carrying the other.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple
from weakref import WeakSet

import numpy as np

from ...compile import FLOAT64
from ...errors import ModelError
from ...model.packed import ModelArrays, index_record
from ..rows.packed import DIMENSIONS, MEETING, SHARED_STEP, find_meetings
from ..rows.pieces import COUPLING, pieces
from .plan import ArticulatedArrays


class Arrival(NamedTuple):
    """Rows that come to the stack of a link, from a piece or from a link that it carries."""

    own: int  # the first of them where they come from
    stack: int  # the first row of the stack
    before: int  # how many stood there
    count: int  # how many come
    after: int  # how many remain
    reflections: int  # where the reflections start that make these of all


ARRIVAL = index_record(*Arrival._fields)
MOST_ROWS = 6  # as many as can be independent at a link

OTHERS = ("caba", "prox-ltl", "prox-ltls", "dense")

_open: WeakSet = WeakSet()  # constraints that were found to be so


class OpenArrays(
    namedtuple("OpenArrays", (*ArticulatedArrays._fields, "meetings", "shared_steps"))
):
    """What kernels know of joints in the order of elimination, and of pieces two by two."""

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*ArticulatedArrays.array_types(real), MEETING, SHARED_STEP)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> OpenArrays:
        """The arrays of elimination, and of what paths share, in one precision."""
        meetings = find_meetings(constraints.paths(real).paths)
        return cls(*ArticulatedArrays.pack(constraints, real), *meetings)

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory."""
        return ArticulatedArrays.sizes(constraints)


class EarlyArrays(
    namedtuple("EarlyArrays", (*ArticulatedArrays._fields, "piece_arrivals", "arrivals"))
):
    """What kernels know of joints in the order of elimination, and of rows that reach links.

    `arrivals` are those at what carries each of `supports`, the stacks of links stand side by side.
    """

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*ArticulatedArrays.array_types(real), ARRIVAL, ARRIVAL)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> EarlyArrays:
        """The arrays of elimination, and of rows that reach links, in one precision."""
        arrays = ArticulatedArrays.pack(constraints, real)
        return cls(*arrays, *_arrivals(arrays)[:2])

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory: rows of all stacks, and numbers of their reflections."""
        _, _, own = _arrivals(ArticulatedArrays.pack(constraints, FLOAT64))
        return ArticulatedArrays.sizes(constraints) | own


def reflection_size(total: int) -> int:
    """Numbers of the reflections that leave six of so many rows: each a vector and a factor."""
    return MOST_ROWS * (total + 1)


def _arrivals(arrays: ArticulatedArrays) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """Rows from pieces, and from links; then how much memory all take."""
    supports, parents = arrays.supports["link"], arrays.links["parent"]
    height = dict.fromkeys(map(int, supports), 0)  # rows in a link's stack
    most = dict(height)
    found, reflections = [], 0

    def arrive(link: int, count: int) -> None:
        """Rows that come to a link; none stay in the world."""
        nonlocal reflections
        before = height.get(link, 0)
        total = before + count
        after = min(total, MOST_ROWS)
        found.append((link, before, count, after, reflections))
        if link > 0:
            height[link], most[link] = after, max(most[link], total)
            reflections += reflection_size(total) if total > MOST_ROWS else 0

    for end, piece in zip(arrays.ends[arrays.piece_ends[:-1]], arrays.pieces, strict=True):
        arrive(int(end["link"]), int(piece["count"]))
    for link in supports:
        arrive(int(parents[link]), height[int(link)])
    starts = dict(zip(most, np.cumsum([0, *most.values()])[:-1], strict=True)) | {0: -1}
    own = [*arrays.pieces["row"], *(starts[int(link)] for link in supports)]
    records = [
        Arrival(first, starts[link], *rest) for first, (link, *rest) in zip(own, found, strict=True)
    ]
    split = len(arrays.pieces)
    sizes = {"stack_rows": sum(most.values()), "reflections": reflections}
    return np.array(records[:split], ARRIVAL), np.array(records[split:], ARRIVAL), sizes


def check_open(constraints, method: str) -> None:
    """Raise an error if any of the constraints is not between one moving link and the world."""
    if constraints in _open:
        return
    model = constraints.model
    links = model.arrays(ModelArrays, np.dtype(float)).frames["link"]
    for declared in constraints.declared:
        for piece in pieces(model, declared):
            frames = () if piece.kind >= COUPLING else (piece.frame, piece.other)
            moving = [name for name in frames if links[model.frame_index(name)] > 0]
            if len(moving) != 1:
                what = f"between {moving[0]!r} and {moving[1]!r}" if moving else "between joints"
                raise ModelError(
                    f"method {method!r} takes constraints between a body and the world, but "
                    f"{type(declared).__name__} is {what}; use one of "
                    f"{', '.join(map(repr, OTHERS))}"
                )
    _open.add(constraints)
