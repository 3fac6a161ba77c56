"""Pinocchio's ADMM for contacts, on problems that are given by a dense Delassus matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import contact
from .packages import pinocchio

# Its own tolerances, loosest first: which of them reaches a natural map depends on the problem.
TOLERANCES = (1e-6, 5e-7, 2e-7, 1e-7, 5e-8, 2e-8)
MOST_ITERATIONS = 7000
_RELATIVE = 1e-3  # relative tolerances by the absolute ones, which then decide


@dataclass(frozen=True)
class Choice:
    """How Pinocchio's solver is set up: its rule of the penalty, and Anderson's acceleration."""

    rule: str  # OSQP or SPECTRAL
    memory: int  # of Anderson's acceleration, 0 without
    is_velocity_guessed: bool = False  # warm starts only

    def settings(self, tolerance: float) -> Any:
        """The settings for a tolerance."""
        pin = pinocchio()
        made = pin.ADMMSolverSettings()
        made.absolute_feasibility_tol = made.absolute_complementarity_tol = tolerance
        made.relative_feasibility_tol = made.relative_complementarity_tol = _RELATIVE * tolerance
        made.max_iterations = MOST_ITERATIONS
        made.admm_update_rule = getattr(pin.ADMMUpdateRule, self.rule)
        made.anderson_capacity = self.memory
        return made


CHOICES = tuple(Choice(rule, memory) for rule in ("OSQP", "SPECTRAL") for memory in (0, 5))


class ContactPeer:
    """One problem of contacts as Pinocchio takes it. All objects are built before any timing."""

    def __init__(self, problem: contact.Problem):
        pin = pinocchio()
        if problem.n_rows != 3 * problem.n_contacts:
            raise ValueError("Pinocchio's solver is compared on problems of contacts only")
        self.problem = problem
        self.operator = pin.DelassusOperatorDense(problem.delassus)
        self.free_velocity = problem.free_velocity.copy()
        self.models, self.datas = _contacts(tuple(problem.friction.tolist()))
        self.solver = pin.ADMMConstraintSolver(problem.n_rows)
        self.result = pin.ADMMSolverResult()

    def solve(self, settings: Any) -> None:
        """Solve from nothing: a result without a guess starts from zero."""
        self.solver.solve(
            self.operator, self.free_velocity, self.models, self.datas, settings, self.result
        )

    def solve_from(self, settings: Any, guess: np.ndarray, velocity: np.ndarray | None) -> None:
        """Solve from reactions and, if they are given, velocities; a guess counts for one call."""
        self.result.setConstraintImpulseGuess(guess)
        if velocity is not None:
            self.result.setConstraintVelocityGuess(velocity)
        self.solver.solve(
            self.operator, self.free_velocity, self.models, self.datas, settings, self.result
        )

    def natural_map(self) -> float:
        """The relative natural map of what was found last, by the same function as for ours."""
        reactions = np.array(self.result.retrieveConstraintImpulses())
        if not np.isfinite(reactions).all():
            return np.inf
        return contact.residuals(self.problem, reactions).relative_natural_map


def _contacts(friction: Sequence[float]) -> tuple[Any, Any]:
    """Contact models with these coefficients; where they are does not matter for a dense matrix."""
    pin = pinocchio()
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(joint, pin.Inertia.Identity(), pin.SE3.Identity())
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for mu in friction:
        point = pin.PointContactConstraintModel(model, joint, pin.SE3.Identity())
        point.setFriction(mu)
        models.append(pin.ConstraintModel(point))
        datas.append(models[len(models) - 1].createData())
    return models, datas
