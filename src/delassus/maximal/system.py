"""The class MaximalSystem: the bodies of a model in maximal coordinates, with all their rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import finite_number, finite_vector, instance, items, positive_integer, real_array
from ..compile import FLOAT64, Tabulated
from ..constrained.rows.constraints import Constraints
from ..errors import ModelError, ShapeError
from ..model.model import Model
from ..model.parts.constraints import Constraint
from ..model.parts.names import known_name
from ..spatial.constant import Immutable
from .assembly import put_weights, step_momentum, step_rows
from .conversion import maximal_state, tree_coordinates
from .dual import (
    DualProblem,
    PrimalProblem,
    block_diagonal,
    check_masses,
    dense_jacobian,
    find_elements,
    free_jacobian,
    make_eliminated,
    make_problem,
)
from .gauss import MaximalAccelerations, accelerations
from .rows.blocks import ROW
from .rows.contacts import CONTACT
from .rows.limits import ACTIVE
from .settings import Contact, Stabilization, packed_contacts, step_size
from .structure.couplings import MaximalCoupling, couplings
from .structure.joints import MaximalJoint, loop_joints, tree_joints
from .structure.limits import Limit, find_bounded, find_limits
from .structure.packed import SIDE, SystemArrays


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
        joints, coupled = tree_joints(model), []
        for number, constraint in enumerate(declared):
            loops = loop_joints(model, number, constraint)
            between_joints = couplings(model, number, constraint)
            if not loops and not between_joints:
                kind = type(constraint).__name__
                raise ModelError(f"constraints of type {kind} have no rows between bodies")
            joints += loops
            coupled += between_joints
        self.joints: tuple[MaximalJoint, ...] = tuple(joints)
        self.couplings: tuple[MaximalCoupling, ...] = tuple(coupled)
        self.limits: tuple[Limit, ...] = tuple(find_limits(model))
        self.bounded: list[int] = find_bounded(model)
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
        inputs = (poses, twists, self._near(poses, near))
        q, v = tree_coordinates(self, inputs, None, threads)
        return q, v

    # --- rows at one state ------------------------------------------------------------------------

    def _rows(self, poses, twists, near, contacts=(), stabilization=None, dt=1.0) -> tuple:
        """Blocks, rows, active limits and contacts of a step from one state, as in kernels."""
        chosen = Stabilization() if stabilization is None else stabilization
        settings = instance("stabilization", chosen, Stabilization).packed(dt)
        records, count = packed_contacts(self.model, contacts, self.contact_slots)
        inputs = (poses, twists, self._near(poses, near), records, count, settings)
        blocks, rows, active = step_rows(self, inputs)
        return blocks, rows, active[active[:, ACTIVE.sign] != 0.0], records[: int(count[0])]

    def _near(self, poses: ArrayLike, near: ArrayLike | None) -> ArrayLike:
        """Coordinates that tell how often joints have turned; NaN where none are given."""
        if near is not None:
            return near
        return np.full((*real_array("poses", poses).shape[:-2], self.nq), np.nan)

    def jacobian(self, poses: ArrayLike, near: ArrayLike | None = None) -> np.ndarray:
        """J of joints and couplings at one state, (n_joint_rows, 6 n_bodies), Eq. (63)."""
        blocks, *_ = self._rows(poses, np.zeros((self.n_bodies, SIDE)), near)
        return dense_jacobian(self, find_elements(self, blocks, (), ()))[: self.n_joint_rows]

    def coordinate_jacobian(self, poses: ArrayLike, near: ArrayLike | None = None) -> np.ndarray:
        """J_a with v = J_a u at one state, (nv, 6 n_bodies), Eq. (64)."""
        none = np.zeros((self.n_bodies, SIDE))
        inputs = (poses, none, self._near(poses, near), np.zeros(self.nv), none, np.zeros(1))
        return free_jacobian(self, step_momentum(self, inputs)[2])

    def joint_errors(self, poses: ArrayLike, near: ArrayLike | None = None) -> np.ndarray:
        """By how much each row of joints and couplings is violated at one state, Eq. (21)."""
        _, rows, *_ = self._rows(poses, np.zeros((self.n_bodies, SIDE)), near)
        return rows[: self.n_joint_rows, ROW.residual]

    # --- problems ---------------------------------------------------------------------------------

    def primal_problem(
        self, poses: ArrayLike, twists: ArrayLike, dt: float, **options: Any
    ) -> PrimalProblem:
        """A u+ = g + J^T lambda of a step in blocks; options are those of `dual_problem`."""
        return self._primal(poses, twists, dt, **options)[0]

    def _primal(
        self,
        poses,
        twists,
        dt,
        *,
        near=None,
        tau=None,
        gains=None,
        wrenches=None,
        contacts=(),
        stabilization=None,
    ) -> tuple[PrimalProblem, np.ndarray, np.ndarray]:
        """The primal problem, the active limits and the contacts."""
        dt = step_size(dt)
        blocks, rows, active, slots = self._rows(
            poses, twists, near, tuple(contacts), stabilization, dt
        )
        tau = np.zeros(self.nv) if tau is None else tau
        wrenches = np.zeros((self.n_bodies, SIDE)) if wrenches is None else wrenches
        inputs = (poses, twists, self._near(poses, near), tau, wrenches, np.array([dt]))
        inertia, momentum, free_blocks = step_momentum(self, inputs)
        elements = find_elements(self, blocks, active, slots)
        measures = rows[: sum(e.height for e in elements)].T
        kept = (ROW.velocity, ROW.residual, ROW.bias, ROW.compliance, ROW.regulation)
        problem = PrimalProblem(
            inertia,
            momentum,
            elements,
            self.dof_weights(dt, gains),
            free_blocks.reshape(-1, 2, SIDE),
            *(measures[k].copy() for k in kept),
        )
        return problem, active, slots

    def dual_problem(
        self,
        poses: ArrayLike,
        twists: ArrayLike,
        dt: float,
        *,
        near: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        gains: ArrayLike | None = None,
        wrenches: ArrayLike | None = None,
        contacts: Iterable[Contact] = (),
        stabilization: Stabilization | None = None,
        joints: str = "rows",
    ) -> DualProblem:
        """v+ = D lambda + v_f of a step of dt from one state, Eqs. (80), (94).

        `tau` are forces along the degrees of freedom at the start of the step, `gains` a stiffness
        and a damping for each by which they change during the step. `wrenches` are forces and
        moments at the centres of mass in world axes. `near` are the last known coordinates of the
        tree. With `joints="eliminated"` the rows of joints and couplings hold always, and are left
        out.
        """
        known_name("joints", joints, ("rows", "eliminated"))
        primal, active, slots = self._primal(
            poses,
            twists,
            dt,
            near=near,
            tau=tau,
            gains=gains,
            wrenches=wrenches,
            contacts=contacts,
            stabilization=stabilization,
        )
        J, Ja = dense_jacobian(self, primal.elements), free_jacobian(self, primal.free_blocks)
        A = block_diagonal(primal.inertia) + Ja.T @ (primal.weights[:, None] * Ja)
        friction = np.concatenate([j.data.friction for j in self.model.joints] or [np.zeros(0)])
        more = {
            "bounds": dt * friction[self.bounded],
            "friction": slots[:, CONTACT.friction],
            "limits": [(self.limits[int(limit)].q, float(sign)) for limit, sign in active],
        }
        counts = self.n_joint_rows, len(active)
        if joints == "eliminated":
            return make_eliminated(J, A, primal, counts, more)
        check_masses(self)
        return make_problem(J, A, primal, counts, more)

    def dof_weights(self, dt: float, gains: ArrayLike | None = None) -> np.ndarray:
        """armature + dt (damping + dt stiffness) of each degree of freedom, with `gains` added.

        `gains` are a stiffness and a damping for each degree of freedom, (nv, 2).
        """
        dt = finite_number("dt", dt)
        added = np.zeros((self.nv, 2)) if gains is None else real_array("gains", gains)
        if added.shape != (self.nv, 2):
            raise ShapeError(f"gains must have shape {(self.nv, 2)}, got {added.shape}")
        weights = np.empty(self.nv)
        put_weights(self.arrays(SystemArrays, FLOAT64), added.ravel(), dt, weights)
        return weights

    def accelerations(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: ArrayLike | None = None,
    ) -> MaximalAccelerations:
        """u' and the shortest lambda with M u' = h + J^T lambda and J u' + dJ/dt u = 0, Eq. (73).

        `external_forces` are those of `forward_dynamics`. Springs, dampers and dry friction are not
        among the forces: see `passive_forces`.
        """
        q, v, tau = (
            finite_vector(name, x, count, ShapeError)
            for name, x, count in (("q", q, self.nq), ("v", v, self.nv), ("tau", tau, self.nv))
        )
        return accelerations(self, q, v, tau, external_forces)

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
