"""Forces of joints' dampers, dry friction and springs. O(n). No other function includes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, select
from ..model.configuration import difference
from ..model.model import Model
from ..model.packed import ModelArrays

_put_difference = difference.function


@function
def sign(x):
    """1, 0 or -1; x itself where it is not a number."""
    return select(x > 0.0, 1.0, select(x < 0.0, -1.0, x))


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"tau": "nv"},
    label="passive_forces",
)
def passive(model, q, v, tau, work):
    """-damping v - friction sign(v) - stiffness (q - rest)"""
    _put_difference(model, model.rest, q, tau, work)
    for k in range(len(model.armature)):
        spring = model.stiffness[k] * tau[k]
        tau[k] = -(model.damping[k] * v[k] + model.friction[k] * sign(v[k]) + spring)


def passive_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """-damping v - friction sign(v) - stiffness (q - rest): add it to tau of forward dynamics."""
    return passive(model, (q, v), out, threads)
