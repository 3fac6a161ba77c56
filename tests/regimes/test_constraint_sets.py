"""Random sets of constraints: what `converged` says, against extended precision.

Redundant and contradicting rows of all kinds, on trees of which half are ordinary and the others
have masses, sizes and coefficients that are up to 1e12 apart.
"""

from __future__ import annotations

import collections

import numpy as np
import pytest

import delassus as dl

from . import higher
from .cases import seeds
from .sets import random_case

ALL = ("dense", "caba", "prox-ltl", "prox-ltls")
OPEN = ("prox-pv", "pv-early")  # for constraints between a body and the world
# Singular values of scaled rows, relative to the largest, which double precision may take for zero.
UNSURE = (1e-13, 3e-7)
# Rows that contradict each other beside directions that joints hardly move, and multipliers that
# lose digits as they grow without effect: methods once told that they had converged, and had not.
HARD = (1220, 1283, 5012, 5150, 5202)


class Verdict:
    """What is known of a case, and how far solutions are from it."""

    def __init__(self, case):
        self.case = case
        cs, q, v = case.constraints, case.q, case.v
        model = cs.model
        self.M, self.J = dl.mass_matrix(model, q), cs.jacobian(q)
        self.force = case.tau - dl.bias_forces(model, q, v)
        self.target = case.desired - cs.drift(q, v)
        self.reference = higher.solve(self.M, self.J, self.force, self.target)
        part = self.reference.singular / self.reference.singular.max(initial=1e-300)
        self.is_unsure = bool(np.any((part > UNSURE[0]) & (part < UNSURE[1])))
        terms = np.abs(self.target) + np.abs(self.J) @ np.abs(self.reference.free)
        self.holds = not np.any(np.abs(self.reference.stays) > 1e-12 * terms)

    def is_right(self, solution) -> bool:
        """Whether rows that can hold do, each on its own scale, and the equations of motion."""
        M, J, reference = self.M, self.J, self.reference
        a = np.array(solution.acceleration, higher.Real)
        multipliers = np.array(solution.multipliers, higher.Real)
        if not (np.isfinite(a).all() and np.isfinite(multipliers).all()):
            return False
        missing = M @ a - self.force - J.T @ multipliers
        terms = np.abs(M) @ np.abs(a) + np.abs(self.force) + np.abs(J.T) @ np.abs(multipliers)
        roots = np.sqrt(np.diag(M).astype(higher.Real))
        before, after = np.abs(reference.free), np.abs(reference.acceleration)
        usual = 1e-9 * np.linalg.norm(roots * (before + after))
        # In free fall terms cancel; they are as large as weights.
        terms = terms + self.case.constraints.scales.joint_weight + usual * roots
        rounding = 1e-6 * usual * roots  # 1e-15 of what is usual at joints of the same size
        if np.any(np.abs(missing) > 1e-8 * terms + rounding):
            return False
        r = np.abs(J @ a - self.target - reference.stays)
        terms = np.abs(J) @ (np.abs(a) + np.abs(reference.free))
        terms = terms + np.abs(self.target) + np.abs(reference.stays)
        lengths = 3e-3 * self.case.constraints.scales.lengths  # for the tolerance, which is 1e-10
        # A row that is ignored leaves an acceleration that is wrong in all digits.
        size = before + after + usual / roots + 1e-300
        wrong = np.max(np.abs(a - reference.acceleration) / size)
        return wrong < 1e-6 or (wrong < 5e-2 and bool(np.all(r <= 1e-7 * (terms + lengths))))


def counted(methods, cases, only_world=False):
    """For each method: seeds of false converged, of false negatives, and how many could hold."""
    found = {name: collections.defaultdict(list) for name in methods}
    for seed in cases:
        case = random_case(seed, only_world)
        verdict = Verdict(case)
        for name in methods:
            solution = dl.constrained_dynamics(
                case.constraints.model, case.q, case.v, case.tau, case.constraints,
                desired=case.desired, method=name,
            )  # fmt: skip
            if solution.converged and not verdict.is_unsure and not verdict.is_right(solution):
                found[name]["false"].append(seed)
            if verdict.holds and not verdict.is_unsure:
                found[name]["all"].append(seed)
                if not solution.converged:
                    found[name]["negative"].append(seed)
    return found


def check(found):
    for name, lists in found.items():
        assert not lists["false"], (name, "converged, and wrong", lists["false"])
        allowed = 0 if len(lists["all"]) < 100 else 0.01 * len(lists["all"])
        assert len(lists["negative"]) <= allowed, (name, "not converged", lists["negative"])


def test_what_has_converged_holds_and_what_can_hold_converges():
    check(counted(ALL, seeds(40, 2000)))


def test_what_hard_cases_tell():
    check(counted(ALL, HARD))


@pytest.mark.slow
def test_the_same_between_bodies_and_the_world():
    check(counted(OPEN, seeds(40, 1000), only_world=True))
