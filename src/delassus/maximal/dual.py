"""The dual problem of one step with dense matrices: slow, to check others and for solvers.

v+ = D lambda + v_f with D = J A^-1 J^T and v_f = J A^-1 g + E v- + v_B, Eqs. (11), (80), (94).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..contact import Problem
from ..errors import ModelError
from .rows.blocks import PAIR
from .rows.contacts import CONTACT, contact_mode
from .rows.limits import ACTIVE
from .structure.packed import SIDE, has_inertia

_RANK = 1e-9  # rows whose singular values are below this part of the largest are redundant
_NO_MASS = 1e-13  # motions whose mass is below this part of the largest have none


class Element(NamedTuple):
    """A joint, coupling, limit, bounded row or contact: its rows, bodies and blocks of J.

    Bodies are numbered as in the model, -1 is the world. `blocks` are (bodies, height, 6).
    """

    row: int
    height: int
    bodies: tuple[int, ...]
    blocks: np.ndarray


class PrimalProblem(NamedTuple):
    """A u+ = g + J^T lambda in blocks: A is M and J_a^T weights J_a.

    - inertia: 6x6 blocks of M, (n_bodies, 6, 6)
    - momentum: g, (n_bodies, 6)
    - elements: blocks of J in the order of rows
    - weights, free_blocks: of each degree of freedom, its weight and its row of J_a for the base
      and the follower of its joint, (nv, 2, 6)
    - velocity, residual, bias, compliance, target: of each row, as those of a DualProblem
    """

    inertia: np.ndarray
    momentum: np.ndarray
    elements: list[Element]
    weights: np.ndarray
    free_blocks: np.ndarray
    velocity: np.ndarray
    residual: np.ndarray
    bias: np.ndarray
    compliance: np.ndarray
    target: np.ndarray


@dataclass(frozen=True, eq=False)
class DualProblem:
    """K* contains (D + R) lambda + v_f + v_r + Gamma, lambda is in K, and they are orthogonal.

    Rows are joints, limits, bounded ones, then contacts (t1, t2, n). Reactions are impulses.

    - delassus, free_velocity: D and v_f
    - n_joint_rows, n_limit_rows: counts of rows; a row for each of `bounds`, three for a `friction`
    - bounds: largest impulses of rows of dry friction
    - compliance, target: the diagonal of R, and v_r
    - jacobian, primal, momentum: J, A and g of the primal problem A u+ = g + J^T lambda
    - velocity, residual, bias: v-, position errors, and E v- + v_B of each row
    - limits: number of each limit's coordinate in q, and +1 for a lower limit, -1 for an upper one
    """

    delassus: np.ndarray
    free_velocity: np.ndarray
    n_joint_rows: int
    n_limit_rows: int
    bounds: np.ndarray
    friction: np.ndarray
    compliance: np.ndarray
    target: np.ndarray
    jacobian: np.ndarray
    primal: np.ndarray
    momentum: np.ndarray
    velocity: np.ndarray
    residual: np.ndarray
    bias: np.ndarray
    limits: list[tuple[int, float]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.free_velocity)

    @property
    def problem(self) -> Problem:
        """The problem as `contact.solve` takes it."""
        return Problem(
            self.delassus,
            self.free_velocity,
            self.n_joint_rows,
            self.n_limit_rows,
            self.bounds,
            self.friction,
            self.compliance,
            self.target,
            check=False,
        )

    def twists(self, reactions: np.ndarray) -> np.ndarray:
        """u+ = A^-1 (g + J^T lambda), (n_bodies, 6)."""
        pushed = self.momentum.ravel() + self.jacobian.T @ reactions
        return np.linalg.solve(self.primal, pushed).reshape(-1, SIDE)

    def modes(self, velocity: np.ndarray, reactions: np.ndarray, tolerance: float = 1e-9) -> list:
        """(46): OPEN, STICK or SLIP of each contact, at velocities and reactions of all rows."""
        first = self.size - 3 * len(self.friction)
        return [
            contact_mode(*(x[at : at + 3] for x in (velocity, reactions)), mu, tolerance)
            for at, mu in zip(range(first, self.size, 3), self.friction, strict=True)
        ]


def find_elements(system, blocks, active, contacts) -> list[Element]:
    """All joints, couplings, active limits, bounded rows and contacts, in the order of rows."""
    ends = [(j.rows, (j.base, j.follower)) for j in system.joints]
    ends += [(c.rows, tuple(c.bodies(system.joints))) for c in system.couplings]
    sizes = [SIDE * height * len(bodies) for height, bodies in ends]
    starts = list(np.cumsum([0, *sizes]))
    at = starts.pop()
    carrier = {k: (j.base, j.follower) for j in system.joints for k in range(j.v, j.v + j.nv)}
    for i, record in enumerate(active):
        joint = system.joints[system.limits[int(record[ACTIVE.limit])].joint]
        ends.append((1, (joint.base, joint.follower)))
        starts.append(at + PAIR * i)
    at += PAIR * len(system.limits)
    for i, k in enumerate(system.bounded):
        ends.append((1, carrier[k]))
        starts.append(at + PAIR * i)
    at += PAIR * len(system.bounded)
    for c, record in enumerate(contacts):
        ends.append((3, (int(record[CONTACT.a]), int(record[CONTACT.b]))))
        starts.append(at + 3 * PAIR * c)
    found, row = [], 0
    for (height, bodies), start in zip(ends, starts, strict=True):
        sides = blocks[start : start + SIDE * height * len(bodies)]
        own = tuple(body - 1 for body in bodies)
        found.append(Element(row, height, own, sides.reshape(len(bodies), height, SIDE)))
        row += height
    return found


def dense_jacobian(system, elements: list[Element]) -> np.ndarray:
    """J of elements, (rows, 6 n_bodies)."""
    J = np.zeros((sum(e.height for e in elements), SIDE * system.n_bodies))
    for row, height, bodies, blocks in elements:
        for body, side in zip(bodies, blocks, strict=True):
            if body >= 0:
                J[row : row + height, SIDE * body : SIDE * (body + 1)] += side
    return J


def free_jacobian(system, free_blocks: np.ndarray) -> np.ndarray:
    """J_a with v = J_a u, (nv, 6 n_bodies)."""
    J = np.zeros((system.nv, SIDE * system.n_bodies))
    for joint in system.joints:
        for k in range(joint.v, joint.v + joint.nv):
            sides = free_blocks[k].reshape(2, SIDE)
            for body, side in zip((joint.base, joint.follower), sides, strict=True):
                if body > 0:
                    J[k, SIDE * (body - 1) : SIDE * body] = side
    return J


def block_diagonal(inertia: np.ndarray) -> np.ndarray:
    """M of the blocks of all bodies."""
    n = len(inertia)
    M = np.zeros((n, SIDE, n, SIDE))
    M[np.arange(n), :, np.arange(n), :] = inertia
    return M.reshape(SIDE * n, SIDE * n)


def check_masses(system) -> None:
    """Raise an error for a body whose mass matrix has no inverse."""
    for body in system.model.bodies:
        if body.inertia.mass <= 0.0 or not has_inertia(body.inertia.matrix):
            raise ModelError(
                f"body {body.name!r} has no mass or no rotational inertia, so joint rows have no "
                'Delassus matrix: ask for joints="eliminated"'
            )


def solve_bodies(A, J, R, force, rows) -> tuple[np.ndarray, np.ndarray]:
    """u and the shortest lambda with A u = force + J^T lambda and J u + R lambda = rows.

    A and J may be singular: bodies without mass, rows that depend on each other. Soft rows are
    stiffness. The others split u into what they see, J^+ rows, and N z, which they do not: the
    condition of J is not squared.
    """
    soft = R > 0.0
    weighted = J[soft].T / R[soft]
    A, force = A + weighted @ J[soft], force + weighted @ rows[soft]
    u, hard = _solve_rigid(A, J[~soft], force, rows[~soft])
    reactions = np.zeros_like(rows)
    reactions[~soft] = hard
    reactions[soft] = ((rows[soft] - J[soft] @ u).T / R[soft]).T
    return u, reactions


def _solve_rigid(A, J, force, rows) -> tuple[np.ndarray, np.ndarray]:
    """`solve_bodies` where no row is soft."""
    diagonal = np.diagonal(A)
    # In units in which all bodies have about the same mass.
    T = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, diagonal.max(initial=1e-300)))
    A, J, force = T[:, None] * A * T, J * T, (force.T * T).T
    U, sigma, V = np.linalg.svd(J)
    rank = int(np.sum(sigma > _RANK * sigma.max(initial=0.0)))
    U, sigma, seen, N = U[:, :rank], sigma[:rank], V[:rank], V[rank:].T
    free = np.linalg.pinv(N.T @ A @ N, rcond=_NO_MASS, hermitian=True)
    u, reactions = np.zeros_like(force), np.zeros_like(rows)
    for _ in range(2):  # the second time for what rounding has left
        missing = force + J.T @ reactions - A @ u
        step = seen.T @ ((U.T @ (rows - J @ u)).T / sigma).T
        step = step + N @ (free @ (N.T @ (missing - A @ step)))
        u = u + step
        reactions = reactions - U @ ((seen @ (missing - A @ step)).T / sigma).T
    return (u.T * T).T, reactions


def make_problem(J, A, primal: PrimalProblem, counts: tuple[int, int], more: dict) -> DualProblem:
    """The problem of all rows; `counts` are those of joint and limit rows."""
    X = np.linalg.solve(A, np.column_stack([J.T, primal.momentum.ravel()]))
    return _problem(J, A, primal, J @ X[:, :-1], X[:, -1], (0, *counts), more)


def make_eliminated(
    J, A, primal: PrimalProblem, counts: tuple[int, int], more: dict
) -> DualProblem:
    """The problem of all rows but those of joints, which hold whatever the reactions are.

    u+ = u_f + X lambda solves the equations of motion together with all joint rows.
    """
    m = counts[0]
    wanted = np.zeros((m, 1 + len(J) - m))
    wanted[:, 0] = -primal.bias[:m] - primal.target[:m]
    forces = np.column_stack([primal.momentum.ravel(), J[m:].T])
    X, _ = solve_bodies(A, J[:m], primal.compliance[:m], forces, wanted)
    return _problem(J, A, primal, J[m:] @ X[:, 1:], X[:, 0], (m, 0, counts[1]), more)


def _problem(J, A, primal, D, u, counts, more) -> DualProblem:
    """The problem of rows from the first of `counts` on; u is the motion without reactions."""
    first, n_joint_rows, n_limit_rows = counts
    J, bias = J[first:], primal.bias[first:]
    return DualProblem(
        delassus=0.5 * (D + D.T),
        free_velocity=J @ u + bias,
        n_joint_rows=n_joint_rows,
        n_limit_rows=n_limit_rows,
        compliance=primal.compliance[first:],
        target=primal.target[first:],
        jacobian=J,
        primal=A,
        momentum=primal.momentum,
        velocity=primal.velocity[first:],
        residual=primal.residual[first:],
        bias=bias,
        **more,
    )
