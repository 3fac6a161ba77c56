"""Derivatives of embedded dynamics.

Where G is constant, tau = G^T ID(q, G y', G y''), and each derivative is that of the spanning tree,
projected by G. Elsewhere G and g change with y. The accelerations of all joints are then those that
the constraints of the clusters leave, whose derivatives by q and v are known (see
`constrained.derivatives`), and along the motion of the cluster

    d y''/dy = a_q G + a_v d(G y')/dy,    d y''/dy' = a_v G

What is second in the velocities, g(y') = B(y', y'), is also how G changes: d(G y')/dy_k is
B(y', e_k), which follows from g alone, as B(x, y) = (g(x + y) - g(x - y)) / 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ..constrained.derivatives.dynamics import (
    constrained_dynamics_derivatives,
    prox_derivatives,
)
from ..constrained.rows.constraints import Constraints
from ..constrained.rows.request import request
from ..dynamics.aba import forward_dynamics
from ..dynamics.derivatives.aba import aba_derivatives
from ..dynamics.derivatives.rnea import rnea_derivatives
from ..dynamics.rnea import inverse_dynamics
from ..errors import DataTypeError
from ..model.parts.joints import moves_by_velocities
from .composed import evaluate_on_tree

if TYPE_CHECKING:
    from .embedding import Embedding

DERIVATIVES = (rnea_derivatives, aba_derivatives)


def differentiate(emb: Embedding, kernel, inputs, threads) -> list[np.ndarray]:
    """What a kernel of DERIVATIVES gives, by independent coordinates, velocities, and the rest."""
    q, v, x, *forces = inputs
    v, x = np.asarray(emb.independent_velocity(v), float), np.asarray(x, float)
    inputs = (emb.spanning(q), v, x, *forces)
    if kernel is aba_derivatives:
        return _of_accelerations(emb, inputs, threads)
    if emb.is_constant:
        return evaluate_on_tree(emb, rnea_derivatives, inputs, threads, ())
    tau = inverse_dynamics(emb, *inputs, threads=threads)
    dq, dv, dtau = _of_accelerations(emb, (*inputs[:2], tau, *forces), threads)
    M = np.linalg.inv(dtau)
    return [-M @ dq, -M @ dv, M]


def _of_accelerations(emb: Embedding, inputs, threads) -> list[np.ndarray]:
    """Derivatives of y'' by y, y' and tau."""
    q, v, tau, *forces = inputs
    if emb.is_constant:
        a = forward_dynamics(emb, *inputs, threads=threads)
        dq, dv, M = evaluate_on_tree(emb, rnea_derivatives, (q, v, a, *forces), threads, ())
        inverse = np.linalg.inv(M)
        return [-inverse @ dq, -inverse @ dv, inverse]
    _check_joints(emb)
    own = emb.independent_dofs
    G, _ = emb.motions(q, v, threads)
    wide = np.zeros((*tau.shape[:-1], emb.model.nv))
    wide[..., own] = tau
    velocities = np.einsum("...ij,...j->...i", G, v)
    found = constrained_dynamics_derivatives(
        emb.model, q, velocities, wide, emb.constraints, *forces, threads=threads
    )
    by_q, by_v = found.dq[..., own, :], found.dv[..., own, :]
    dq = by_q @ G + by_v @ _velocity_change(emb, q, v, threads)
    return [dq, by_v @ G, found.dtau[..., own, :][..., own]]


def differentiate_held(emb: Embedding, cs, inputs, threads, limits) -> list[np.ndarray]:
    """What `prox_derivatives` gives, of y'' and of the multipliers of rows that hold.

    Held and embedded rows together are constraints of the spanning tree. Its derivatives are taken
    along the motions that the embedded ones leave.
    """
    _check_joints(emb)
    q, v, tau, requests, options, *forces = inputs
    q, v = emb.spanning(q), np.asarray(emb.independent_velocity(v), float)
    own, m = emb.independent_dofs, cs.size
    both = _rows_of_both(emb, cs)
    wide = np.zeros((*q.shape[:-1], emb.model.nv))
    wide[..., own] = tau
    asked = np.array(request(both, None, None, None, 0.0, q)[0])
    asked = np.array(np.broadcast_to(asked, (*q.shape[:-1], *asked.shape[-2:])))
    asked[..., :m, :] = requests
    G, _ = emb.motions(q, v, threads)
    state = q, np.einsum("...ij,...j->...i", G, v), wide, asked, np.asarray(options, float)
    dq, dv, dtau, *rows, info = prox_derivatives(both, (*state, *forces), None, threads, limits)
    change = _velocity_change(emb, q, v, threads)
    result = []
    for by_q, by_v, by_tau in (
        (x[..., own, :] for x in (dq, dv, dtau)),
        (x[..., :m, :] for x in rows),
    ):
        result += [by_q @ G + by_v @ change, by_v @ G, by_tau[..., own]]
    return [*result, info]


_both: WeakKeyDictionary = WeakKeyDictionary()


def _rows_of_both(emb: Embedding, cs: Constraints) -> Constraints:
    """Held rows, then embedded ones, on the spanning tree."""
    if cs not in _both:
        declared = [*cs.declared, *emb.constraints.declared]
        _both[cs] = Constraints(emb.model, declared, stabilization=cs.stabilization)
    return _both[cs]


def _velocity_change(emb: Embedding, q: np.ndarray, v: np.ndarray, threads) -> np.ndarray:
    """d(G y')/dy, (..., spanning nv, nv)."""
    result = np.zeros((*v.shape[:-1], emb.model.nv, emb.nv))
    for part in emb.structure:
        if part.choice.G is None:
            for k in emb.inner[list(part.choice.independent)]:
                unit = np.zeros(emb.nv)
                unit[k] = 1.0
                ahead, behind = emb.motions(q, v + unit, threads), emb.motions(q, v - unit, threads)
                rows = list(part.choice.dependent)
                result[..., rows, k] = (ahead[1] - behind[1])[..., rows] / 4.0
    return result


def _check_joints(emb: Embedding) -> None:
    for part in emb.structure:
        for body in part.group.bodies if part.choice.G is None else ():
            joint = emb.model.joints[body]
            if not moves_by_velocities(joint.type):
                raise DataTypeError(
                    f"derivatives of clusters need joints whose velocities are rates of coordinates"
                    f", and joint {joint.name!r} is not one"
                )
