"""Constraints that only tie links to the world, and what methods know that take no others.

Rows of such constraints are wrenches on one link each. A joint hands them on to what carries it,
less what it gives way: nothing ever couples two links, but for one carrying the other.
"""

from __future__ import annotations

from collections import namedtuple
from weakref import WeakSet

import numpy as np

from ..errors import ModelError
from ..model.packed import INDEX, ModelArrays, index_record
from .elimination import ArticulatedArrays, pack_elimination
from .packed import DIMENSIONS, MEETING, SHARED_STEP, Paths, pack_meetings
from .pieces import COUPLING, pieces

# Rows that come to a link, from a piece or from a link that it carries: the first of them there,
# the first of the stack that they come to, how many stood there before, how many come, how many
# remain; and where the reflections stand that make these of all.
ARRIVAL = index_record("own", "stack", "before", "count", "after", "reflections")
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


def pack_open(found: Paths) -> OpenArrays:
    """The arrays of elimination, and what paths share."""
    both = pack_meetings(found)
    return OpenArrays(*pack_elimination(found), both.meetings, both.shared_steps)


class EarlyArrays(
    namedtuple(
        "EarlyArrays", (*ArticulatedArrays._fields, "piece_arrivals", "arrivals", "stack_sizes")
    )
):
    """What kernels know of joints in the order of elimination, and of rows that reach links.

    `arrivals` are those at what carries each of `supports`, the stacks of links stand side by side.
    `stack_sizes` is how many rows all stacks have, and how many numbers their reflections.
    """

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*ArticulatedArrays.array_types(real), ARRIVAL, ARRIVAL, INDEX)


def pack_early(found: Paths) -> EarlyArrays:
    """The arrays of elimination, and of rows that are."""
    arrays = pack_elimination(found)
    return EarlyArrays(*arrays, *_arrivals(arrays))


def early_sizes(found: Paths) -> dict[str, int]:
    """Extents of work memory: rows of all stacks, and numbers of their reflections."""
    arrays = pack_elimination(found)
    if len(arrays.couples) > 0 or len(arrays.ends) != len(arrays.pieces):
        return {"stack_rows": 0, "reflections": 0}  # not open: nobody asks
    rows, reflections = _arrivals(arrays)[2]
    return {"stack_rows": int(rows), "reflections": int(reflections)}


def reflection_size(total: int) -> int:
    """Numbers of the reflections that leave six of so many rows: each a vector and a factor."""
    return MOST_ROWS * (total + 1)


def _arrivals(arrays: ArticulatedArrays) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows from pieces, and from links; then how much there is of all."""
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
        (first, starts[link], *rest) for first, (link, *rest) in zip(own, found, strict=True)
    ]
    split = len(arrays.pieces)
    sizes = np.array([sum(most.values()), reflections], INDEX)
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
