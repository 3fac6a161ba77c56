"""All clusters of a model: what each is made of, and the configuration that loops start from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...constrained.rows.constraints import Constraints
from ...model.model import Model
from .choice import Choice, choose, is_explicit, sample_configurations
from .graph import NO_BODY, Group, find_groups
from .planes import planar_senses
from .spins import Spin, find_spins, gear_of, links_first

_REGULAR = 1e-6  # of singular values, in the configuration that closing starts from


class ClusterParts(NamedTuple):
    """What a cluster is made of."""

    group: Group
    choice: Choice
    spins: list[Spin]  # bodies that are spins of others
    gear: float | None  # N J, if it is one link with one motor (see `structure.spins.gear_of`)
    senses: dict[int, tuple[int, int]] | None  # if it is a planar loop (see `structure.planes`)
    swept: Choice  # as sweeps have it: links before motors
    is_driven: bool  # whether `swept` differs from `choice`


class Cluster(NamedTuple):
    """Bodies that move as one joint: names of what it is made of."""

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    independent_joints: tuple[str, ...]
    parent: int  # number of the cluster that carries it, or -1 for the world
    output_bodies: tuple[str, ...]  # that carry other clusters
    kind: str  # "joint": one body; "explicit": G is constant; "implicit": it is not
    rotors: tuple[str, ...]  # bodies that are no links but spins of those that carry them


def find_clusters(
    model: Model, cs: Constraints, named: Sequence[str] | None, actuated: Sequence[str]
) -> tuple[list[ClusterParts], np.ndarray]:
    """The clusters that constraints tie, and a closed configuration that is not singular.

    `named` are joints that are asked for as independent ones, for clusters that have any of them;
    `actuated` those that are taken first elsewhere.
    """
    reference, jacobians = _samples(model, cs)
    structure = []
    for group in find_groups(model, cs.declared):
        joints = {model.joints[body].name for body in group.bodies}
        own = None if named is None or not joints & set(named) else named
        choice = choose(model, cs, group, jacobians, own, actuated)
        turned = links_first(model, cs, group, choice)
        swept = choice if turned is None else turned
        spins = find_spins(model, cs, group, swept)
        gear = gear_of(model, group, choice, spins)
        senses = planar_senses(model, cs, group, choice)
        is_driven = turned is not None
        structure.append(ClusterParts(group, choice, spins, gear, senses, swept, is_driven))
    return structure, reference


def _samples(model: Model, cs: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """A closed configuration that is not singular, and the Jacobians at several."""
    if all(is_explicit(c) for c in cs.declared):
        return model.neutral(), cs.jacobian(model.neutral())[None]
    q = sample_configurations(model, cs)
    jacobians = cs.jacobian(q)
    singular = np.linalg.svd(jacobians, compute_uv=False)
    ranks = np.sum(singular > _REGULAR * singular[:, :1], axis=1)
    return q[int(np.argmax(ranks))], jacobians  # the first, near the neutral one, if it is regular


def describe(model: Model, structure: tuple[ClusterParts, ...]) -> tuple[Cluster, ...]:
    """All clusters, those of one body included, in the order of their first bodies."""
    parts = {body: part for part in structure for body in part.group.bodies}
    groups, number = [], {NO_BODY: -1}
    for body in range(model.n_bodies):
        if body not in number:
            own = parts[body].group.bodies if body in parts else (body,)
            number.update(dict.fromkeys(own, len(groups)))
            groups.append(own)
    carried = {
        body.parent for i, body in enumerate(model.bodies) if number[i] != number[body.parent]
    }
    result = []
    for own in groups:
        part = parts.get(own[0])
        dependent = () if part is None else part.choice.dependent
        joints = [model.joints[body] for body in own]
        kind = "joint" if part is None else "implicit" if part.choice.G is None else "explicit"
        result.append(
            Cluster(
                tuple(model.bodies[body].name for body in own),
                tuple(j.name for j in joints),
                tuple(j.name for j in joints if j.v.start not in dependent),
                number[model.bodies[own[0]].parent],
                tuple(model.bodies[body].name for body in own if body in carried),
                kind,
                () if part is None else tuple(model.bodies[s.body].name for s in part.spins),
            )
        )
    return tuple(result)
