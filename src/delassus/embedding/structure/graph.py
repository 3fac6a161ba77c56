"""Which bodies form clusters: the smallest groups that a loop, or several loops, tie together.

Chignoli, Adrian, Kim and Wensing, A Propagation Perspective on Recursive Forward Dynamics for
Systems with Kinematic Loops, 2024, Sec. II-D.

The tree of a model is a spanning tree of its connectivity graph, and its constraints are the
chords. A constraint ties together the bodies on the paths from what it acts on up to, and without,
the nearest body that carries them all. Groups that share a body are one. If the first bodies of a
group hang from different bodies, the paths from those up to where they meet are part of the group
too: then each group hangs from one body, its handle, and groups form a tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...model.model import Model
from ...model.parts.constraints import Constraint

NO_BODY = -1  # the world


class Group(NamedTuple):
    """Bodies that constraints tie together."""

    bodies: tuple[int, ...]  # in the order of the model
    constraints: tuple[int, ...]  # numbers of the constraints between them
    handle: int  # the body that carries them, or NO_BODY


def find_groups(model: Model, constraints: Iterable[Constraint]) -> list[Group]:
    """The groups of a model's bodies that constraints tie together, by their first bodies."""
    parents = [body.parent for body in model.bodies]
    groups: list[tuple[set[int], set[int]]] = []
    for number, constraint in enumerate(constraints):
        groups.append((_tied(model, parents, constraint), {number}))
    merged = _merged(groups)
    while True:
        widened = [(_widened(parents, bodies), own) for bodies, own in merged]
        if widened == merged:
            break
        merged = _merged(widened)
    found = [
        Group(tuple(sorted(bodies)), tuple(sorted(own)), parents[min(bodies)])
        for bodies, own in merged
    ]
    return sorted(found)


def path_to_world(parents: list[int], body: int) -> list[int]:
    """A body and all that carry it, then the world."""
    path = [body]
    while path[-1] != NO_BODY:
        path.append(parents[path[-1]])
    return path


def _nearest_common(parents: list[int], bodies: Iterable[int]) -> int:
    """The nearest body that is, or carries, each of these."""
    first, *others = (path_to_world(parents, body) for body in bodies)
    common = set(first).intersection(*others)
    return next(body for body in first if body in common)


def _up_to(parents: list[int], bodies: Iterable[int], top: int) -> set[int]:
    """The bodies on the paths from these up to, and without, `top`."""
    found = set()
    for body in bodies:
        path = path_to_world(parents, body)
        found.update(path[: path.index(top)])
    return found


def _tied(model: Model, parents: list[int], constraint: Constraint) -> set[int]:
    """The bodies that a constraint ties together."""
    if constraint.frames:
        ends = [model.frame(name).body for name in constraint.frames]
        return _up_to(parents, ends, _nearest_common(parents, ends))
    ends = [model.joint(name).index for name in constraint.joints]
    return _up_to(parents, ends, _nearest_common(parents, [parents[body] for body in ends]))


def _merged(groups: list[tuple[set[int], set[int]]]) -> list[tuple[set[int], set[int]]]:
    """Groups that share no body, made of groups that may."""
    result: list[tuple[set[int], set[int]]] = []
    for bodies, own in groups:
        apart = []
        for others, theirs in result:
            if bodies & others:
                bodies, own = bodies | others, own | theirs
            else:
                apart.append((others, theirs))
        result = [*apart, (bodies, own)]
    return sorted(result, key=lambda group: min(group[0]))


def _widened(parents: list[int], bodies: set[int]) -> set[int]:
    """A group, and the bodies between it and one that carries all of it."""
    handles = {parents[body] for body in bodies} - bodies
    return bodies | _up_to(parents, handles, _nearest_common(parents, handles))
