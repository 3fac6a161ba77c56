"""Functions of a model on an embedding: which kernel does them, for states of either kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..compile import is_symbolic
from ..dynamics.aba import aba
from ..dynamics.arguments import deliver
from ..dynamics.crba import crba
from ..dynamics.derivatives.aba import aba_derivatives
from ..dynamics.minverse import minverse
from ..dynamics.rnea import rnea
from ..errors import DataTypeError
from .algorithms.aba import embedded_aba
from .algorithms.projected import CONSTANT
from .algorithms.rnea import embedded_rnea
from .composed import PROJECTED, evaluate_on_tree
from .coordinates import as_kernels_take
from .derivatives import DERIVATIVES, differentiate
from .structure.packed import EmbeddedArrays
from .structure.projection import ProjectedArrays

if TYPE_CHECKING:
    from ..compile import Kernel
    from .embedding import Embedding

# Kernels of a model, and those that take their place.
KERNELS = {aba: embedded_aba, rnea: embedded_rnea}


def serve(
    emb: Embedding, kernel: Kernel, inputs: tuple, out, threads, shared: tuple
) -> list | None:
    """Outputs of a kernel on y, or on spanning states; None if a kernel takes these as they are."""
    if any(map(is_symbolic, inputs)):
        _check_symbols(emb, kernel)
        return None
    if kernel in KERNELS:
        found = _dynamics(emb, kernel, inputs, threads)
    elif emb.is_constant and kernel in CONSTANT:
        found = _constant(emb, kernel, inputs, threads)
    elif kernel is minverse:
        found = (np.linalg.inv(crba(emb, inputs, None, threads)),)
    elif kernel in DERIVATIVES:
        found = differentiate(emb, kernel, inputs, threads)
    elif kernel in PROJECTED:
        found = evaluate_on_tree(emb, kernel, inputs, threads, shared)
    elif kernel.signature.model in (EmbeddedArrays, ProjectedArrays):
        found = None
    else:
        raise DataTypeError(
            f"{kernel.label} takes a model, not an embedding: give it emb.model, with "
            "emb.spanning(y) and emb.spanning_velocity(y, yd)"
        )
    return None if found is None else list(deliver(tuple(found), out))


def _check_symbols(emb: Embedding, kernel: Kernel) -> None:
    """Raise an error for a kernel that is put together of calls with numbers."""
    is_kernel = kernel in KERNELS or (emb.is_constant and kernel in CONSTANT)
    if not (is_kernel or kernel.signature.model in (EmbeddedArrays, ProjectedArrays)):
        raise DataTypeError(
            f"{kernel.label} takes numbers on this embedding, not symbols: only forward_dynamics "
            "and inverse_dynamics take both. Trace it on the spanning tree, emb.model, and "
            "multiply by emb.G(q); or trace constrained_dynamics(emb.model, ...)"
        )


def _are_as_taken(emb: Embedding, q, *velocities) -> bool:
    """Whether a state has the lengths that kernels take."""
    are_own = all(np.shape(x)[-1:] == (emb.nv,) for x in velocities)
    return np.shape(q)[-1:] == (emb.nq,) and are_own


def _constant(emb: Embedding, kernel: Kernel, inputs: tuple, threads) -> tuple | None:
    """Outputs of kernels of `algorithms.projected`."""
    q, velocities, forces = inputs[0], inputs[1:3], inputs[3:]
    if kernel is not aba_derivatives and _are_as_taken(emb, q, *velocities):
        return None
    own = as_kernels_take(emb, q)
    if kernel is aba_derivatives:
        velocities = velocities[0], aba(emb, (own, *velocities, *forces), None, threads)
    velocities = map(emb.independent_velocity, velocities)
    found = CONSTANT[kernel](emb, (own, *velocities, *forces), None, threads)
    return (found,) if kernel is crba else found


def _dynamics(emb: Embedding, kernel: Kernel, inputs: tuple, threads) -> tuple | None:
    """Forward or inverse dynamics; where velocities are of all joints, so is what comes out."""
    q, v, x, *forces = inputs
    if _are_as_taken(emb, q, v, x):
        return None
    spans = emb.is_spanning_velocity("v", v)
    x_spans = emb.is_spanning_velocity("tau" if kernel is aba else "a", x)
    yd, own = emb.independent_velocity(v), as_kernels_take(emb, q)
    G, g = emb.motions(q, yd, threads) if kernel is aba and (spans or x_spans) else (None, None)
    if x_spans and kernel is aba:
        x = np.einsum("...ij,...i->...j", G, np.asarray(x, float))
    elif x_spans:
        x = emb.independent_velocity(x)
    found = KERNELS[kernel](emb, (own, yd, x, *forces), None, threads)
    if spans and kernel is aba:
        found = np.einsum("...ij,...j->...i", G, found) + g
    elif spans:
        wide = np.zeros((*found.shape[:-1], emb.model.nv))
        wide[..., emb.independent_dofs] = found
        found = wide
    return (found,)
