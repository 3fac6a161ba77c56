"""The class MaximalSystem: the bodies of a model in maximal coordinates, with all their rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ..checks import instance, items, positive_integer
from ..compile import Tabulated
from ..constrained.rows.constraints import Constraints
from ..errors import ModelError
from ..model.model import Model
from ..model.parts.constraints import Constraint
from ..spatial.constant import Immutable
from .conversion import maximal_state, tree_coordinates
from .structure.couplings import MaximalCoupling, couplings
from .structure.joints import MaximalJoint, loop_joints, tree_joints
from .structure.limits import find_bounded, find_limits
from .structure.packed import SIDE


class MaximalSystem(Immutable, Tabulated):
    """The bodies of a model by their poses and twists; joints and loops are rows between them.

    A pose is the position of the centre of mass and the quaternion (x, y, z, w) of the body's axes,
    a twist the velocity of the centre of mass and the angular velocity, all in world axes. Joint i
    of the first `n_bodies` joints is that of the model's body i; loops come after them, then
    couplings of coordinates. `contact_slots` is how many contacts a step can have.
    """

    _instead = "; make a new one"

    def __init__(
        self,
        model: Model,
        constraints: Constraints | Iterable[Constraint] | None = None,
        *,
        contact_slots: int = 32,
    ):
        super().__init__()
        self.model: Model = instance("the model of a MaximalSystem", model, Model)
        declared = _declared(model, constraints)
        self.joints: list[MaximalJoint] = tree_joints(model)
        self.couplings: list[MaximalCoupling] = []
        for number, constraint in enumerate(declared):
            made = loop_joints(model, number, constraint)
            coupled = couplings(model, number, constraint)
            if not made and not coupled:
                kind = type(constraint).__name__
                raise ModelError(f"constraints of type {kind} have no rows between bodies")
            self.joints += made
            self.couplings += coupled
        self.limits, self.bounded = find_limits(model), find_bounded(model)
        self.contact_slots = positive_integer("contact_slots", contact_slots)
        self.n_bodies, self.nq, self.nv = model.n_bodies, model.nq, model.nv
        self.n_joint_rows = sum(x.rows for x in (*self.joints, *self.couplings))
        self.dimensions = {**model.dimensions, **self._sizes()}
        self._is_made = True

    def _sizes(self) -> dict[str, int]:
        """Extents of arrays and of work memory."""
        dynamic = len(self.limits) + len(self.bounded) + 3 * self.contact_slots
        own = sum(2 * j.rows for j in self.joints)
        own += sum(c.rows * len(c.bodies(self.joints)) for c in self.couplings)
        programs = [c.program for c in self.couplings if c.program is not None]
        return {
            "n_places": self.n_bodies + 1,
            "n_joints": len(self.joints),
            "n_rows": self.n_joint_rows + dynamic,
            "n_blocks": SIDE * (own + 2 * dynamic),
            "n_slots": self.contact_slots,
            "n_limits": len(self.limits),
            "registers": sum(p.slots.size for p in programs),
        }

    def state(
        self, q: ArrayLike, v: ArrayLike, *, threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poses (..., n_bodies, 7) and twists (..., n_bodies, 6) of the bodies at q and v."""
        poses, twists = maximal_state(self, (q, v), None, threads)
        return poses, twists

    def coordinates(
        self,
        poses: ArrayLike,
        twists: ArrayLike,
        near: ArrayLike | None = None,
        *,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """q and v of the tree's joints.

        Angles and quaternions are those nearest to the configuration `near`. Without it angles are
        within a half turn of zero, but those of screws, whose turns are counted by their advance.
        """
        if near is None:
            near = np.full((*np.shape(poses)[:-2], self.nq), np.nan)
        q, v = tree_coordinates(self, (poses, twists, near), None, threads)
        return q, v

    def __repr__(self) -> str:
        return (
            f"<MaximalSystem of {self.model.name!r}: {self.n_bodies} bodies, {len(self.joints)} "
            f"joints, {self.n_joint_rows} rows>"
        )


def _declared(model: Model, constraints) -> tuple[Constraint, ...]:
    """The constraints that are asked for: those of the model, of a `Constraints`, or of a list."""
    if constraints is None:
        return model.constraints
    if isinstance(constraints, Constraints):
        if constraints.model is not model:
            raise ModelError("the constraints are on another model than the system's")
        return constraints.declared
    return items("constraints", constraints, Constraint)
