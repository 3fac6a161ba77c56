"""The state of a world: numbers that stand one after the other in an array.

They are all that the future depends on: poses and twists, and the reactions and contacts that the
next step starts from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...compile import function, part


class State(NamedTuple):
    """Parts of a world's state: see `state_of`."""

    poses: Any
    twists: Any
    before: Any  # twists one step ago
    q: Any
    held: Any  # reactions of joints, in their own axes
    limits: Any  # reactions, by the number of the limit
    bounded: Any
    resigned: Any  # steps in which no row is asked to part, those left and all: see `step`
    calm: Any  # the speed of closing, if the last step was solved by its first reactions
    torn: Any  # for how many steps in succession a joint has been torn
    count: Any  # of contacts
    ids: Any
    reactions: Any  # of contacts, in their own axes


def state_sizes(dimensions: dict[str, int]) -> list[int]:
    """Numbers of the parts of a state."""
    n, slots = dimensions["n_bodies"], dimensions["n_slots"]
    sizes = [7 * n, 6 * n, 6 * n, dimensions["nq"], dimensions["joint_rows"]]
    return [*sizes, dimensions["n_limits"], dimensions["n_bounded"], 2, 1, 1, 1, slots, 3 * slots]


@function
def state_size(model, n_held, n_slots):
    """How many numbers a state has: see `state_sizes`."""
    n = len(model.bodies) - 1
    kept = len(model.limits) + len(model.bounded)
    return 19 * n + len(model.rest) + n_held + kept + 5 + 4 * n_slots


@function
def state_of(model, numbers, n_held, n_slots):
    """The parts of a state."""
    n = len(model.bodies) - 1
    twists = part(numbers, 7 * n)
    before = part(twists, 6 * n)
    q = part(before, 6 * n)
    held = part(q, len(model.rest))
    limits = part(held, n_held)
    bounded = part(limits, len(model.limits))
    resigned = part(bounded, len(model.bounded))
    calm = part(resigned, 2)
    torn = part(calm, 1)
    count = part(torn, 1)
    ids = part(count, 1)
    reactions = part(ids, n_slots)
    return State(
        numbers, twists, before, q, held, limits, bounded, resigned, calm, torn, count, ids,
        reactions,
    )  # fmt: skip
