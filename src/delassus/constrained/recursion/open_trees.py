"""Constraints between a link and the world: arrays and a check for methods that take no others.

A row of such a constraint is a wrench k on one link. Its joint passes P k to the parent link (see
docs/glossary.md). So two links are coupled only if one carries the other.
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
    """Rows that are added to the stack of a link, from a piece or from a child link."""

    own: int  # the first of them: number of a constraint row, or of a row in the child's stack
    stack: int  # the first row of the link's stack, -1 for the world
    before: int  # number of rows in the stack before
    count: int  # number of rows that are added
    reflections: int  # where the reflections start that reduce all rows to these


ARRIVAL = index_record(*Arrival._fields)
MOST_ROWS = 6  # as many as can be independent at a link

OTHERS = ("caba", "prox-ltl", "prox-ltls", "dense")  # methods that take all constraints

_open: WeakSet = WeakSet()  # constraints that `check_open` has accepted


class OpenArrays(
    namedtuple("OpenArrays", (*ArticulatedArrays._fields, "meetings", "shared_steps"))
):
    """The arrays of elimination, and of steps that the paths of two pieces share.

    See `recursion.plan` and `rows.packed`.
    """

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*ArticulatedArrays.array_types(real), MEETING, SHARED_STEP)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> OpenArrays:
        """The arrays of elimination and of shared steps, in one precision."""
        meetings = find_meetings(constraints.paths(real).paths)
        return cls(*ArticulatedArrays.pack(constraints, real), *meetings)

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory."""
        return ArticulatedArrays.sizes(constraints)


class EarlyArrays(
    namedtuple("EarlyArrays", (*ArticulatedArrays._fields, "piece_arrivals", "arrivals"))
):
    """The arrays of elimination (see `recursion.plan`), and of rows in the stacks of links.

    - piece_arrivals: for each piece, its rows when they are added to the stack of its link
    - arrivals: for each of `supports`, its rows when they are added to the stack of its parent
    """

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*ArticulatedArrays.array_types(real), ARRIVAL, ARRIVAL)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> EarlyArrays:
        """The arrays of elimination and of rows in stacks, in one precision."""
        arrays = ArticulatedArrays.pack(constraints, real)
        return cls(*arrays, *_arrivals(arrays)[:2])

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory: rows of all stacks, and numbers of their reflections."""
        _, _, own = _arrivals(ArticulatedArrays.pack(constraints, FLOAT64))
        return ArticulatedArrays.sizes(constraints) | own


def reflection_size(total: int) -> int:
    """How many numbers the six reflections of `total` rows take: a vector and a factor each."""
    return MOST_ROWS * (total + 1)


def _arrivals(arrays: ArticulatedArrays) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """Arrivals of the rows of pieces, arrivals of the rows of links, and extents of work memory."""
    supports, parents = arrays.supports["link"], arrays.links["parent"]
    height = dict.fromkeys(map(int, supports), 0)  # rows in a link's stack
    most = dict(height)
    found, reflections = [], 0

    def arrive(link: int, count: int) -> None:
        """Add `count` rows to the stack of a link. The world has no stack."""
        nonlocal reflections
        before = height.get(link, 0)
        total = before + count
        after = min(total, MOST_ROWS)
        found.append((link, before, count, reflections))
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
    """Raise an error unless each constraint is between one moving link and the world."""
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
