"""Rotors as spins: a body that turns about an axis fixed in the link that carries it.

If the rotor's centre of mass is on its axis, and its moments across the axis are equal, the mass of
the link that carries it does not depend on its angle: then it is part of that link, at build time.
What is left is the spin (a gyrostat): with J about the axis n, and the rate r' = c y' relative to
the link, the kinetic energy J (n . omega) r' + J r'^2 / 2, which is a term of rank one.

If the moments across the axis differ, the lesser is part of the link. The rest is e e^T, with a
vector e across the axis that turns with the rotor: the kinetic energy (e . omega)^2 / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...constrained.rows.constraints import Constraints
from ...model.model import Model
from ...model.parts.joints import Revolute
from ...spatial.inertia import Inertia
from .choice import Choice
from .graph import Group

_EQUAL = 1e-12  # of moments and offsets that count as equal, relative to the largest


class Spin(NamedTuple):
    """A rotor that is a spin of the body that carries it."""

    body: int  # the rotor
    carrier: int  # the body that carries it, or -1
    axis: np.ndarray  # in the axes of the carrier
    inertia: float  # about the axis
    uneven: np.ndarray  # e at the angle zero, in the axes of the carrier; zero if it is round
    dof: int  # the rotor's degree of freedom in the model
    offset: float  # its angle where all independent coordinates are zero, if G is constant


def links_first(model: Model, cs: Constraints, group: Group, choice: Choice) -> Choice | None:
    """The choice with links in the place of motors, for one or two motors that drive as many links.

    None where the independent joints are something else.
    """
    turned = choice._replace(independent=choice.dependent, dependent=choice.independent)
    is_square = len(choice.independent) == len(choice.dependent) <= 2
    if choice.G is not None or not is_square or len(choice.rows) != len(choice.dependent):
        return None
    spins = find_spins(model, cs, group, turned)
    return turned if {s.dof for s in spins} == set(choice.independent) else None


def find_spins(model: Model, cs: Constraints, group: Group, choice: Choice) -> list[Spin]:
    """The bodies of a cluster that are spins."""
    parents = {body.parent for body in model.bodies}
    held = {model.frame(name).body for c in cs.declared for name in c.frames}
    found, offsets = [], dict(zip(choice.dependent, choice.offsets, strict=True))
    for index in group.bodies:
        body = model.bodies[index]
        joint = body.joint
        is_rotor = isinstance(joint.type, Revolute) and joint.v.start in choice.dependent
        if is_rotor and index not in parents and index not in held:
            axis = np.asarray(joint.type.axis)
            uneven = _unevenness(body.inertia, axis)
            if uneven is not None:
                moment, R, k = float(axis @ body.inertia.matrix @ axis), body.placement.rotation, (
                    joint.v.start
                )  # fmt: skip
                spin = Spin(index, body.parent, R @ axis, moment, R @ uneven, k, offsets[k])
                found.append(spin)
    return found


def _unevenness(inertia: Inertia, axis: np.ndarray) -> np.ndarray | None:
    """e of a body that turns about a principal axis through its centre of mass; else None."""
    matrix, x = inertia.matrix, inertia.center
    across = np.eye(3) - np.outer(axis, axis)
    largest = np.abs(matrix).max()
    off_axis = inertia.mass * np.linalg.norm(across @ x) * np.linalg.norm(x)
    if off_axis > _EQUAL * max(largest, inertia.mass * float(x @ x)):
        return None
    if np.linalg.norm(across @ matrix @ axis) > _EQUAL * largest:
        return None
    moments, directions = np.linalg.eigh(
        across @ matrix @ across + 2 * largest * np.outer(axis, axis)
    )
    if moments[1] - moments[0] <= _EQUAL * largest:
        return np.zeros(3)
    return np.sqrt(moments[1] - moments[0]) * directions[:, 1]


def gear_of(model: Model, group: Group, choice: Choice, spins: Sequence[Spin]) -> float | None:
    """N J of a link with one motor on what carries it, about the same axis; else None.

    N is the rotor's rate to the joint's, negative where the axes are opposite.
    """
    links = [index for index in group.bodies if index not in {spin.body for spin in spins}]
    if len(links) != 1 or len(spins) != 1 or choice.G is None or spins[0].carrier != group.handle:
        return None
    if spins[0].uneven.any():
        return None
    body = model.bodies[links[0]]
    if not isinstance(body.joint.type, Revolute):
        return None
    axis = body.placement.rotation @ np.asarray(body.joint.type.axis)
    if np.linalg.norm(np.cross(axis, spins[0].axis)) > _EQUAL:
        return None
    return float(choice.G[0, 0]) * spins[0].inertia * round(axis @ spins[0].axis)


def lumped(model: Model, spins: list[Spin]) -> Model:
    """The model with the mass of rotors in the bodies that carry them."""
    bodies = list(model.bodies)
    for spin in spins:
        rotor = bodies[spin.body]
        bodies[spin.body] = replace(rotor, inertia=Inertia())
        if spin.carrier >= 0:
            carrier = bodies[spin.carrier]
            moved = rotor.inertia.moved(rotor.placement)
            even = moved.matrix - np.outer(spin.uneven, spin.uneven)
            even = Inertia(moved.mass, moved.center, even)
            bodies[spin.carrier] = replace(carrier, inertia=carrier.inertia + even)
    rest = (model.frames, model.constraints, model.shapes, model.gravity)
    return Model(model.name, bodies, *rest)
