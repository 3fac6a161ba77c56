"""Derivatives by automatic differentiation: CasADi's, of our own dynamics traced on its symbols."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import Model
from ..comparing.algorithms import Algorithm
from ..measuring.states import States
from ..peers.packages import casadi


def differentiate(algorithm: Algorithm, model: Model) -> Callable:
    """A `casadi.Function` of q, v and x: derivatives with respect to them, of one state."""
    module = casadi()
    sizes = {"q": model.nq, "step": model.nv, "v": model.nv, "x": model.nv}
    q, step, v, x = (module.SX.sym(name, size) for name, size in sizes.items())
    value = algorithm.function(model, model.integrate(q, step), v, x)
    along = [module.jacobian(value, y) for y in (step, v, x)]
    return module.Function("derivatives", [q, v, x], module.substitute(along, [step], [0 * step]))


def evaluate(derivatives: Callable, states: States) -> tuple[np.ndarray, ...]:
    """The derivatives of a batch, state by state."""
    rows = zip(states.q, states.v, states.x, strict=True)
    found = [[matrix.full() for matrix in derivatives(*row)] for row in rows]
    return tuple(np.array(matrices) for matrices in zip(*found, strict=True))
