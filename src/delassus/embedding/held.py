"""Constraints on an embedding: rows as functions of y, and checks of what they are between."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ..compile import is_symbolic
from ..constrained.delassus.matrices import INVERSE_KERNELS, MATRIX_KERNELS
from ..constrained.derivatives.dynamics import prox_derivatives
from ..constrained.rows.constraints import Constraints
from ..constrained.rows.jacobian import evaluate_rows
from ..constrained.rows.pieces import COUPLING
from ..dynamics.arguments import deliver
from ..errors import DataTypeError, ModelError
from .algorithms.hybrid import hybrid, hybrid_delassus
from .coordinates import as_kernels_take
from .derivatives import differentiate_held

if TYPE_CHECKING:
    from ..compile import Kernel
    from .embedding import Embedding

_on_tree: WeakKeyDictionary = WeakKeyDictionary()


def rows_on_tree(cs: Constraints) -> Constraints:
    """The constraints of an embedding, as rows of its spanning tree."""
    if cs not in _on_tree:
        _on_tree[cs] = Constraints(cs.model.tree, cs.declared, stabilization=cs.stabilization)
    return _on_tree[cs]


def check_held(emb: Embedding, cs: Constraints) -> None:
    """Raise an error for rows at bodies that are no links, or at joints that follow from others."""
    model, found = emb.model, cs.paths(np.dtype(float))
    rotors = {spin.body for part in emb.structure for spin in part.spins}
    driven = {
        k for part in emb.structure if part.is_driven for k in part.choice.independent
    }  # fmt: skip
    free = set(map(int, emb.independent_dofs)) - driven
    joints = {k: j.name for j in model.joints for k in range(j.v.start, j.v.stop)}
    for record, group in zip(found.records, found.groups, strict=True):
        what = type(cs.declared[group]).__name__
        if record["kind"] < COUPLING:
            for name in ("frame", "other"):
                link = found.arrays.frames[record[name]]["link"]
                body = int(found.arrays.links[link]["body"]) if link > 0 else -1
                if body in rotors:
                    raise ModelError(
                        f"{what} is at the rotor {model.bodies[body].name!r}, which the embedding "
                        "has as a spin of the link that carries it; embed it with the other "
                        "constraints, or hold the link"
                    )
        else:
            first = int(record["first_term"])
            for term in found.terms[first : first + record["term_count"]]:
                if int(term["v"]) not in free:
                    raise ModelError(
                        f"{what} is between joints of several clusters: joint "
                        f"{joints[int(term['v'])]!r} follows from others; embed the constraint "
                        "with the others, or name independent joints in it: "
                        f"{', '.join(emb.independent_joints)}"
                    )


def serve_rows(
    emb: Embedding, cs: Constraints, kernel: Kernel, inputs: tuple, out, threads, shared
) -> list | None:
    """Outputs of kernels on constraints, for states of the embedding."""
    if any(map(is_symbolic, inputs)):
        if kernel in (hybrid, hybrid_delassus):
            return None
        raise DataTypeError(
            f"{kernel.label} takes numbers on an embedding, not symbols: only constrained_dynamics "
            "takes both. Trace it on Constraints(emb.model, ...)"
        )
    if kernel is evaluate_rows:
        return list(deliver(_rows(emb, cs, inputs, threads), out))
    if kernel is hybrid:
        return _serve_hybrid(emb, cs, inputs, out, threads, shared)
    if kernel is hybrid_delassus:
        return None
    if kernel is prox_derivatives:
        return list(deliver(tuple(differentiate_held(emb, cs, inputs, threads, shared)), out))
    if kernel in MATRIX_KERNELS.values():
        return list(deliver((_delassus(emb, cs, inputs[0], threads),), out))
    if kernel in INVERSE_KERNELS.values():
        q, damping = inputs
        G = _delassus(emb, cs, q, threads)
        damped = G + damping[..., None] * np.eye(cs.size)
        return list(deliver((np.linalg.inv(damped),), out))
    raise DataTypeError(
        f"{kernel.label} takes constraints on a model, not on an embedding: give it emb.model and "
        "Constraints(emb.model, emb.all_constraints(constraints.declared)), with emb.spanning(y)"
    )


def _rows(emb: Embedding, cs: Constraints, inputs: tuple, threads) -> tuple[np.ndarray, ...]:
    """J, velocity, drift and error of rows, as functions of y and y'."""
    q = emb.spanning(inputs[0])
    yd = np.asarray(emb.independent_velocity(inputs[1]), float)
    G, g = emb.motions(q, yd, threads)
    v = np.einsum("...ij,...j->...i", G, yd)
    J, velocity, drift, error = evaluate_rows(rows_on_tree(cs), (q, v), None, threads)
    return J @ G, velocity, drift + np.einsum("...ij,...j->...i", J, g), error


def _delassus(emb: Embedding, cs: Constraints, q, threads) -> np.ndarray:
    q = as_kernels_take(emb, q)
    return hybrid_delassus(cs, (q, np.zeros((*q.shape[:-1], emb.nv), q.dtype)), None, threads)


def _serve_hybrid(emb: Embedding, cs, inputs, out, threads, shared) -> list | None:
    """The hybrid for states that are not as its kernel takes them: spanning q, v or tau."""
    q, v, tau, *rest = inputs
    lengths = [np.shape(x)[-1:] for x in (q, v, tau)]
    if lengths == [(emb.nq,), (emb.nv,), (emb.nv,)]:
        return None
    spans = emb.is_spanning_velocity("v", v)
    own = as_kernels_take(emb, q)
    yd = emb.independent_velocity(v)
    G = g = None
    if spans or emb.is_spanning_velocity("tau", tau):
        G, g = emb.motions(q, yd, threads)
        if np.shape(tau)[-1] != emb.nv:
            tau = np.einsum("...ij,...i->...j", G, np.asarray(tau, float))
    a, multipliers, info = hybrid(cs, (own, yd, tau, *rest), None, threads, shared)
    if spans:
        a = np.einsum("...ij,...j->...i", G, a) + g
    return list(deliver((a, multipliers, info), out))
