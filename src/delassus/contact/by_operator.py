"""ADMM with an operator that is any Python object, such as a user's own.

The iterations are Python's. `by_springs` has compiled ones, for operators that offer springs.

The operator has `size`, `multiply(x)`: D x, `set_damping(S)`, `solve(x)`: (D + S)^-1 x, and
`diagonal_blocks()`. Joint rows stand in the same solution, with a damping eps that is small, and
are corrected by what they still lack in each iteration:

    (D + S) x = -v_f - s + S y + z        cone rows, S = eta + rho w
    (D + eps) x = -v_f + eps x            joint rows

So joints carry no penalty, and nothing is split off for them. Symbols are those of `solvers.admm`.
"""

from __future__ import annotations

import copy

import numpy as np

from ..errors import ShapeError
from .laws.relative import IMMOVABLE
from .plain import (
    closing_size,
    de_saxce,
    held_velocity,
    natural_map,
    project,
    project_dual_cone,
    relative_natural_map,
)
from .problem import Problem
from .solvers.admm import FIXED, SPECTRAL

# eps of joint rows, relative to their diagonal. The sweeps of operators take 1 / eps as the
# stiffness of a spring, which rounds off as many digits.
JOINT_DAMPING = 1e-6
PASSES = 20  # after the last iteration, for joints


def weights_of(p: Problem, is_scaled: bool) -> np.ndarray:
    """w of each row, one for the three rows of a contact."""
    w = p.delassus_diagonal()
    if not (w >= 0.0).all():
        raise ShapeError("the diagonal of the operator has an entry that is negative or NaN")
    w = w + p.compliance
    joints = slice(0, p.n_joint_rows)
    largest = w[joints].max(initial=0.0)
    w[joints] = np.where(w[joints] > IMMOVABLE * largest, w[joints], largest)
    w = np.where(w > 0.0, w, 1.0)
    if not is_scaled:
        w[p.n_joint_rows :] = 1.0
    first = p.n_rows - 3 * p.n_contacts
    w[first:] = np.repeat(w[first:].reshape(-1, 3).mean(axis=1), 3)
    return w


def _largest_eigenvalue(p: Problem, w: np.ndarray, iterations: int, least: float) -> float:
    """Of w^-1/2 D w^-1/2 over cone rows; `least` if it is smaller."""
    root = np.sqrt(w)
    x = np.ones(p.n_rows)
    x[: p.n_joint_rows] = 0.0
    found = least
    for _ in range(iterations):
        y = p.operator.multiply(x / root) / root
        y[: p.n_joint_rows] = 0.0
        size = np.linalg.norm(y)
        if not size > 0.0:
            break
        found = max(found, float(x @ y / (x @ x)))
        x = y / size
    return found


def solve_by_operator(
    p: Problem, start: np.ndarray, law: str, given: dict[str, float]
) -> tuple[np.ndarray, int, list[float]]:
    """Reactions, the number of iterations, and the natural map after each of them."""
    w = weights_of(p, bool(given["precondition"]))
    rule, growth = int(given["adaptation"]), given["growth"]
    rho, eta = given["rho"], given["eta"]
    if rule == SPECTRAL:
        kappa = _largest_eigenvalue(p, w, int(given["power_iterations"]), eta) / eta
        rho = 0.5 * eta * kappa ** (0.5 + given["first_exponent"])
        growth = kappa ** given["exponent"]
    cones = slice(p.n_joint_rows, None)
    penalty = w.copy()
    penalty[: p.n_joint_rows] *= JOINT_DAMPING
    operator = copy.copy(p.operator)

    def factor() -> np.ndarray:
        penalty[cones] = (rho + eta) * w[cones]
        operator.set_damping(penalty + p.compliance)
        return rho * w

    free = p.free_velocity + p.target
    is_ncp = law == "ncp"
    x = y = project(p, start)
    z = _first_dual(p, y, is_ncp)
    S = factor()
    best, found, history, held = np.inf, y, [], held_velocity(p)
    for step in range(int(given["iterations"])):
        right = penalty * x - free
        right[cones] += S[cones] * (y - x)[cones] + z[cones]
        if is_ncp:
            right -= de_saxce(p, z)
        x = operator.solve(right)
        relaxed = given["relaxation"] * x + (1.0 - given["relaxation"]) * y
        old, inside = y, relaxed.copy()
        inside[cones] -= z[cones] / S[cones]
        y = project(p, inside)
        z[cones] = (S * (y - inside))[cones]
        is_kept = given["record"] > 0
        history.append(float(np.abs(natural_map(p, y, law)).max()) if is_kept else 0.0)
        relative = relative_natural_map(p, y, law, held)
        if relative < best:
            best, found = relative, y
        if best <= given["tolerance"]:
            break
        if rule != FIXED and (step + 1) % int(given["every"]) == 0:
            root = np.sqrt(w)
            velocity = max(_largest(p, z / root), _largest(p, free / root))
            size = max(velocity, _largest(p, root * y) / given["large"])
            primal = velocity * _largest(p, root * (x - y))
            change = size * _largest(p, S * (y - old) / root)
            if primal > given["ratio"] * change:
                rho *= growth
                S = factor()
            elif change > given["ratio"] * primal:
                rho /= growth
                S = factor()
    tolerance = 0.1 * given["tolerance"] * closing_size(p, held, law)
    return _with_joints(p, found, operator, w, tolerance), len(history), history


def _largest(p: Problem, values: np.ndarray) -> float:
    """The largest absolute value of cone rows."""
    return np.max(np.abs(values[p.n_joint_rows :]), initial=0.0)


def _first_dual(p: Problem, y: np.ndarray, is_ncp: bool) -> np.ndarray:
    """z from the velocity of y."""
    v = p.augmented_velocity(y)
    if is_ncp:
        v = v + de_saxce(p, v)
    first = p.n_rows - 3 * p.n_contacts
    z = v.copy()
    z[: p.n_joint_rows] = 0.0
    limits = slice(p.n_joint_rows, p.n_joint_rows + p.n_limit_rows)
    z[limits] = np.maximum(v[limits], 0.0)
    z[first:] = project_dual_cone(p.friction, v[first:].reshape(-1, 3)).ravel()
    return z


def _with_joints(p: Problem, reactions, operator, w, tolerance: float) -> np.ndarray:
    """Correct the reactions of joints, with those of cones as they are."""
    joints = slice(0, p.n_joint_rows)
    if not p.n_joint_rows:
        return reactions
    # With a penalty that large, reactions of cones do not move.
    stiff = w * 1e6
    stiff[joints] = JOINT_DAMPING * w[joints]
    operator.set_damping(stiff)
    best, found = np.inf, reactions
    for _ in range(PASSES):
        v = p.augmented_velocity(reactions)
        worst = np.abs(v[joints] / np.sqrt(w[joints])).max()
        if worst < best:
            best, found = worst, reactions
        if worst <= tolerance:
            break
        right = np.zeros(p.n_rows)
        right[joints] = v[joints]
        reactions = reactions.copy()
        reactions[joints] -= operator.solve(right)[joints]
    return found
