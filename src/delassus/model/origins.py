"""Where links have their origins: on the axis of a joint that turns, any point will do.

Links whose joints' axes meet can share one, and then nothing is moved from one origin to the other:
an articulated inertia passes on as it is. Hips, shoulders and wrists are built so, though files
rarely have their frames there. Dynamic programming over the tree finds origins such that as many
links as possible share that of their parent.
"""

from __future__ import annotations

import numpy as np

# Axes meet if they pass each other by no more than this part of the way between their origins.
_MEETING = 8 * np.finfo(float).eps
# Origins are moved by no more than so many times that way: axes that are nearly parallel meet far
# out, where the inertia of a link would drown in its mass times the square of the distance.
_FARTHEST = 2.0


class _Link:
    """Heights along its axis at which a link may have its origin, and what each makes possible."""

    def __init__(self) -> None:
        self.heights = [0.0]
        # How many more of the links below can share an origin with each, than can with any.
        self.shared_more = [0]
        # The numbers of two heights, of the parent and of the link, at which their axes meet.
        self.meeting: tuple[int, int] | None = None

    def number(self, height: float) -> int:
        """The number of a height; a new one is added to those that are possible."""
        for k, known in enumerate(self.heights):
            if abs(height - known) <= _MEETING * max(abs(height), abs(known)):
                return k
        self.heights.append(height)
        self.shared_more.append(0)
        return len(self.heights) - 1

    def tell(self, parent: _Link) -> None:
        """Let the parent know what its heights make possible from here on."""
        most = max(self.shared_more)
        if self.meeting is not None:
            at, own = self.meeting
            parent.shared_more[at] += max(0, self.shared_more[own] + 1 - most)

    def choice(self, of_parent: int | None) -> int | None:
        """The number of the best height, given the parent's; None if all are as good."""
        most = max(self.shared_more)
        if self.meeting is not None:
            at, own = self.meeting
            if at == of_parent and self.shared_more[own] + 1 >= most:
                return own
        return self.shared_more.index(most) if most > 0 else None


def origin_heights(
    parents: np.ndarray,
    slides: np.ndarray,
    pivots: np.ndarray,
    rotations: np.ndarray,
    positions: np.ndarray,
) -> np.ndarray:
    """How far along its z axis the origin of each link is to be moved.

    `slides`: links that turn about their z axis only; `pivots`: those, and the ones that turn about
    their origin. Rotations and positions are those of joints in the parent's axes. Link 0 is the
    world.
    """
    links = [_Link() for _ in parents]
    for i in range(1, len(parents)):
        parent = parents[i]
        if parent > 0 and pivots[i]:
            axis = rotations[i][:, 2] if slides[i] else None
            meeting = _meeting(positions[i], axis, slides[parent])
            if meeting is not None:
                links[i].meeting = links[parent].number(meeting[0]), links[i].number(meeting[1])
    for i in range(len(parents) - 1, 0, -1):
        links[i].tell(links[parents[i]])
    chosen: list[int | None] = [None] * len(parents)
    heights = np.zeros(len(parents))
    for i in range(1, len(parents)):
        parent = parents[i]
        chosen[i] = links[i].choice(chosen[parent])
        if chosen[i] is not None:
            heights[i] = links[i].heights[chosen[i]]
        elif parent > 0 and slides[i]:
            offset = positions[i] - [0.0, 0.0, heights[parent]]
            heights[i] = _tidy_height(offset, rotations[i][:, 2], np.linalg.norm(positions[i]))
    return heights


def _meeting(
    offset: np.ndarray, axis: np.ndarray | None, parent_slides: bool
) -> tuple[float, float] | None:
    """Heights on the parent's z axis and on a link's own at which the two are at one point.

    An origin that may not slide is at height 0, and so is the parent's if the axes are the same.
    """
    columns = np.zeros((3, 2))
    if axis is not None:
        columns[:, 1] = -axis
    if parent_slides and not np.array_equal(np.abs(columns[:, 1]), [0.0, 0.0, 1.0]):
        columns[2, 0] = 1.0  # if it is not the same axis, which would leave a choice
    way = np.linalg.norm(offset)
    heights = np.linalg.lstsq(columns, offset, rcond=None)[0]
    heights = np.where(np.abs(heights) > _MEETING * way, heights, 0.0)
    passing = np.linalg.norm(columns @ heights - offset)
    if passing > _MEETING * way or np.abs(heights).max() > _FARTHEST * way:
        return None
    return float(heights[0]), float(heights[1])


def _tidy_height(offset: np.ndarray, axis: np.ndarray, way: float) -> float:
    """The height at which a link is beside its parent, if its offset gets more zeros by that."""
    beside = -float(axis @ offset)
    moved = offset + beside * axis
    is_tidier = np.count_nonzero(moved) < np.count_nonzero(offset)
    return beside if is_tidier and abs(beside) <= _FARTHEST * way else 0.0
