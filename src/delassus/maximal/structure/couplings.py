"""Couplings: rows between coordinates of joints, of any number of bodies.

A coupling is phi(q) = 0 with phi a weighted sum (Gear, Coupling) or a recorded function (Implicit,
which a polynomial of an MJCF file is too). Its velocity is the sum of dphi/dq_t times the velocity
of each coordinate, so it pulls at the two bodies of every joint that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...compile.recorded.programs import ImplicitProgram
from ...errors import ModelError
from ...model.model import Model
from ...model.parts.constraints import Constraint, Coupling, Gear, Implicit
from ...model.parts.joints import moves_by_velocities
from .joints import MaximalJoint


@dataclass(frozen=True, eq=False)
class MaximalCoupling:
    """Rows between coordinates: for each its index in q, in v, and the coefficient of a sum."""

    name: str
    terms: tuple[tuple[int, int, float], ...]
    offset: float = 0.0
    program: ImplicitProgram | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return 1 if self.program is None else self.program.m

    def bodies(self, joints: Sequence[MaximalJoint]) -> list[int]:
        """The bodies that it pulls at, without the world."""
        ends = (
            end
            for joint in joints
            for _, v, _ in self.terms
            if joint.v <= v < joint.v + joint.nv
            for end in (joint.base, joint.follower)
        )
        return sorted({end for end in ends if end > 0})


def couplings(model: Model, number: int, constraint: Constraint) -> list[MaximalCoupling]:
    """The coupling of a constraint between joints; none for one between frames."""
    name = f"{type(constraint).__name__} {number}"
    match constraint:
        case Gear(joint, other, ratio, offset):
            terms = {joint: 1.0, other: -ratio}
        case Coupling(coefficients, offset):
            terms = coefficients
        case Implicit(function, names):
            terms = dict.fromkeys(names, 1.0)
            for each in names:
                _check_rates(model, name, each)
            program = ImplicitProgram(function, sum(model.joint(each).nq for each in names))
            return [MaximalCoupling(name, _terms(model, terms), program=program)]
        case _:
            return []
    for each in terms:
        if model.joint(each).nv != 1:
            raise ModelError(
                f"{name}: joint {each!r} has {model.joint(each).nv} degrees of freedom; a coupling "
                "is between joints of one"
            )
    return [MaximalCoupling(name, _terms(model, terms), offset)]


def _check_rates(model: Model, name: str, joint: str) -> None:
    """Raise an error unless the velocities of a joint are the rates of its coordinates."""
    kind = model.joint(joint).type
    if not moves_by_velocities(kind):
        raise ModelError(
            f"{name}: joint {joint!r} is {type(kind).__name__}, whose velocities are not the "
            "derivatives of its coordinates"
        )


def _terms(model: Model, coefficients) -> tuple[tuple[int, int, float], ...]:
    """Index in q, index in v and coefficient of every coordinate of the named joints."""
    return tuple(
        (joint.q.start + k, joint.v.start + k, float(c))
        for name, c in coefficients.items()
        for joint in (model.joint(name),)
        for k in range(joint.nv)
    )
