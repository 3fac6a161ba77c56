"""Derivatives of constrained dynamics where rows are redundant, by singular values. O((n + m)^3).

The products of `derivatives.dynamics` need G^+, which proximal iterations cannot tell from rounding
where rows are redundant or nearly so. Here the parts that are multiplied come from a kernel, and
the inverse from `factor.least_squares`, as in `solvers.dense`:

    da = L^-T (y + x)    y = -L^-1 F    A (y + x) = -C in the least-squares sense

Multipliers are then the shortest in the norm of the damping W: W multipliers = J z for some z. As q
moves, this stays so by a part of dmultipliers that has no effect on the motion:

    E (dJ z - W T)    E = N (N^T W N)^-1 N^T    J^T N = 0

| symbol | here | what |
| --- | --- | --- |
| F, C | F_q, F_v; C_q, C_v | derivatives of M a + b - J^T multipliers, and of J a + gamma - a* |
| T | turns | how multipliers of a CONNECT, which are along fixed axes, turn with the links |
"""

from __future__ import annotations

import numpy as np

from ...compile import clear, kernel, layout
from ...dynamics.crba import mass_matrix
from ...dynamics.derivatives.rnea import DOF, LINK, put_forces, vary_links, vary_subtrees
from ...dynamics.steps.points import place_world
from ...model.parts.joints import Free
from ..factor.equations import SYSTEM, put_equations
from ..factor.least_squares import LeastSquares, cholesky, transposed
from ..rows.packed import ConstrainedArrays
from ..rows.request import INFO, OPTIONS, REQUEST, converged, target_acceleration
from ..rows.wrenches import count_rows
from ..solvers.dense import solve
from .forces import add_changes, add_turns, push_links
from .inverse import padded
from .products import PRODUCTS, multiply
from .variation import VARIATIONS, square, vary_pieces


@kernel(
    ConstrainedArrays,
    inputs={
        "q": "nq",
        "v": "nv",
        "a": "nv",
        "multipliers": "m",
        "options": f"{OPTIONS.size} common",
        "external_forces": "n_bodies 6 optional",
    },
    outputs={
        "dq": "nv nv",
        "dv": "nv nv",
        "rows_dq": "m nv",
        "rows_dv": "m nv",
        "forces_dq": "nv nv",
        "turns": "m nv",
    },
    work=layout(
        PRODUCTS,
        VARIATIONS,
        solution=SYSTEM,
        P=square,
        L=lambda n: n["m"] * n["nv"],
        X=lambda n: padded(n["m"]) ** 2,
        unused=lambda n: n["m"] * n["nv"],
    ),
    label="parts of constrained_dynamics_derivatives",
)
def derivative_parts(
    model, q, v, a, multipliers, options, external_forces,
    dq, dv, rows_dq, rows_dv, forces_dq, turns, work,
):  # fmt: skip
    """What `derivatives.dynamics` gives with -1 for P and for G^+, and 0 for L."""
    nv, m, links = len(model.armature), count_rows(model), work.varied.links
    for k in range(nv):
        work.a[k] = a[k]
    for t in range(m):
        work.multipliers[t] = multipliers[t]
    put_equations(model, q, v, v, external_forces, True, work.solution)
    vary_links(model, q, v, work.a, work.varied)
    place_world(links)
    vary_pieces(model, q, options, work)
    put_forces(model, external_forces, links)
    for c in range(len(model.pieces)):
        push_links(model, c, work.wrenches, links, LINK.size)
    vary_subtrees(model, work.F_q, work.F_v, work.P, False, work.varied)
    clear(work.P, nv * nv)
    clear(work.L, m * nv)
    clear(work.unused, m * nv)
    clear(work.X, padded(m) * padded(m))
    for k in range(nv):
        work.P[k * nv + k] = -1.0
    for t in range(m):
        work.X[t * padded(m) + t] = -1.0
    none = 0.0 * q[0]
    for t in range(nv * nv):
        dq[t], dv[t], forces_dq[t] = none, none, none
    for t in range(m * nv):
        rows_dq[t], rows_dv[t], turns[t] = none, none, none
    multiply(model, q, v, (work.P, work.L, work.X), (dq, dv, rows_dq, rows_dv), work)
    dofs = work.varied.dofs
    for c in range(len(model.pieces)):
        add_changes(model, c, dofs, DOF.size, work.P, work.L, forces_dq, work.unused, work)
        add_turns(model, c, dofs, DOF.size, turns, work)


def replace(cs, inputs, matrices, is_simple, is_done, tolerance, threads) -> np.ndarray:
    """Write the derivatives of states that are not simple; returns which have converged."""
    single = np.ndim(is_simple) == 0
    chosen = np.flatnonzero(~np.atleast_1d(is_simple))
    count = np.size(is_simple)
    is_done = np.array(np.atleast_1d(is_done))
    own = []
    for x, ndim in zip(inputs, (1, 1, 1, 2, 1, 2), strict=False):
        x = np.asarray(x, float)
        own.append(x[chosen] if x.ndim > ndim and len(x) == count else x)
    if single:
        own = [x[None] if k in (0, 1, 2, 5) else x for k, x in enumerate(own)]
    found, info = _differentiate(cs, own, threads)
    for matrix, x in zip(matrices, found, strict=True):
        if single:
            matrix[...] = x[0]
        else:
            matrix[chosen] = x
    precision = np.finfo(matrices[0].dtype).eps
    told = info[..., INFO.rows], info[..., INFO.motion]
    is_done[chosen] = converged(*told, tolerance, precision) != 0
    return is_done[0] if single else is_done


def _differentiate(cs, inputs, threads) -> tuple[list[np.ndarray], np.ndarray]:
    """The six matrices of a batch, and INFO of its solutions."""
    model = cs.model
    q, v, tau, requests, options, *forces = inputs
    options = np.broadcast_to(options, (len(q), OPTIONS.size))
    damping = np.broadcast_to(requests[..., REQUEST.damping], (len(q), cs.size))
    target = target_acceleration(cs, q, v, requests[..., REQUEST.desired])
    target = np.broadcast_to(target, damping.shape)
    a, multipliers, info = solve(cs, q, v, tau, *forces or (None,), target, damping)
    good = np.isfinite(a).all(axis=-1) & np.isfinite(multipliers).all(axis=-1)
    F_q, F_v, C_q, C_v, turns = _parts(cs, (q, v, a, multipliers, options, *forces), threads)
    J, L = cs.jacobian(q, threads=threads), cholesky(mass_matrix(model, q, threads=threads))
    A = transposed(np.linalg.solve(L, transposed(J)))
    rows = LeastSquares(A, np.sqrt(cs.scales.diagonal))

    def respond(F, C):
        y = -np.linalg.solve(L, F)
        x = rows.solve(-C - A @ y)
        return np.linalg.solve(transposed(L), y + x), rows.forces(x, damping)

    dq, rows_dq = respond(F_q, C_q)
    dv, rows_dv = respond(F_v, C_v)
    one = np.broadcast_to(np.eye(model.nv), F_q.shape)
    dtau, rows_dtau = respond(-one, np.zeros_like(C_q))
    weighted = damping * multipliers
    z = np.linalg.solve(transposed(L), rows.solve(weighted[..., None]))[..., 0]
    plain = np.array(options)
    plain[..., OPTIONS.kp] = plain[..., OPTIONS.kd] = 0.0
    _, _, dJ, _, _ = _parts(cs, (q, np.zeros_like(v), z, weighted, plain), threads)
    rows_dq = rows_dq + turns + rows.without_effect(dJ - damping[..., None] * turns, damping)
    found = [dq, dv, dtau, rows_dq, rows_dv, rows_dtau]
    return [np.where(good[:, None, None], x, np.nan) for x in found], info


def _parts(cs, inputs, threads) -> tuple[np.ndarray, ...]:
    """F and C by q and v, and turns."""
    model = cs.model
    q = inputs[0]
    F_q, F_v, C_q, C_v, forces, turns = derivative_parts(cs, inputs, None, threads)
    M, J = mass_matrix(model, q, threads=threads), cs.jacobian(q, threads=threads)
    for body in model.bodies:
        k = body.joint.v.start
        if isinstance(body.joint.type, Free) and body.parent < 0 and not has_armature(body):
            # F = M H and C - J H are what kernels have, with -H in the place of F.
            for F, C, columns in ((F_q, C_q, slice(k, k + 6)), (F_v, C_v, slice(k, k + 3))):
                C[..., columns] = C[..., columns] - J @ F[..., columns]
                F[..., columns] = -M @ F[..., columns]
    return F_q + forces, F_v, C_q, C_v, turns


def has_armature(body) -> bool:
    """Whether a joint's motors have inertia."""
    return bool(np.any(body.joint.data.armature != 0.0))
