"""Functions of a model on an embedding: spanning states go in, what comes out is projected by G.

What a function of the tree gives for each degree of freedom, be it a force, a column of a Jacobian,
or a row and column of the mass matrix, is for independent velocities the sum over all joints that
move with them: each such axis is multiplied by G.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..dynamics.centroidal import find_center, momentum_matrix
from ..dynamics.crba import crba
from ..dynamics.energy import sum_kinetic_energy, weigh
from ..dynamics.kinematics import accelerate_frame, jacobian, move_frame, place_frames
from ..dynamics.passive import passive

if TYPE_CHECKING:
    from ..compile import Kernel
    from .embedding import Embedding

# Kernels whose outputs are projected. Their inputs are among q, v and a.
PROJECTED = (
    *(crba, place_frames, jacobian, move_frame, accelerate_frame),
    *(find_center, momentum_matrix, sum_kinetic_energy, weigh, passive),
)


def evaluate_on_tree(emb: Embedding, kernel: Kernel, inputs, threads, shared) -> list:
    """The outputs of a kernel for the spanning states of an embedding, projected by G."""
    names = [a.name for a in kernel.signature.inputs][: len(inputs)]
    given = dict(zip(names, inputs, strict=True))
    q = emb.spanning(given["q"])
    G, g = emb.motions(q, given.get("v"), threads)
    states = {**given, "q": q}
    if "v" in given:
        states["v"] = _times(G, emb.independent_velocity(given["v"]))
    if "a" in given:
        states["a"] = _times(G, emb.independent_velocity(given["a"])) + g
    found = kernel(emb.model, tuple(states[name] for name in names), None, threads, shared)
    found = [found] if len(kernel.signature.outputs) == 1 else found
    lead = q.ndim - 1
    return [
        _projected(x, [e == "nv" for e in a.shape], lead, G)
        for a, x in zip(kernel.signature.outputs, found, strict=True)
    ]


def _times(G: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", G, x)


def _projected(x, are_velocities: list[bool], lead: int, G: np.ndarray) -> np.ndarray:
    """x, each of whose axes that counts degrees of freedom is multiplied by G."""
    x = np.asarray(x)
    for axis, is_velocity in enumerate(are_velocities):
        if is_velocity:
            moved = np.moveaxis(x, lead + axis, -1)
            shape = moved.shape
            flat = moved.reshape(*shape[:lead], -1, shape[-1])
            moved = (flat @ G).reshape(*shape[:-1], G.shape[-1])
            x = np.moveaxis(moved, -1, lead + axis)
    return np.asarray(x, order="C")  # which leaves one number one number
