"""Derivatives by finite differences: all evaluations of all states in one batch."""

from __future__ import annotations

import numpy as np

from ... import Model
from ..comparing.algorithms import Algorithm
from ..measuring.states import States

FORWARD_STEP = 2.0**-26
_CENTRAL_STEP = 2.0**-17


class FiniteDifferences:
    """Forward differences of f(q, v, x) for a batch of states, along the tangent space for q.

    A state takes 3 nv + 1 evaluations. All memory is made once, so that a call only computes.
    """

    def __init__(self, algorithm: Algorithm, model: Model, states: States, step: float):
        self.function = algorithm.function
        self.model, self.states, self.step = model, states, step
        count, nv = states.v.shape
        rows = 3 * nv + 1
        self.inputs = [np.empty((count, rows, n)) for n in (model.nq, nv, nv)]
        self.values = np.empty((count, rows, nv))
        self.unmoved, self.moved = np.empty((2, count, nv, model.nq))
        self.steps = np.tile(step * np.eye(nv), (count, 1))
        self.results = tuple(np.empty((3, count, nv, nv)))

    def __call__(self) -> tuple[np.ndarray, ...]:
        """The derivatives with respect to q, v and x."""
        self._step_inputs()
        flat = [x.reshape(-1, x.shape[-1]) for x in (*self.inputs, self.values)]
        self.function(self.model, *flat[:3], threads=1, out=flat[3])
        self.values -= self.values[:, :1].copy()
        self.values *= 1.0 / self.step
        nv = self.model.nv
        for k, result in enumerate(self.results):
            result[:] = self.values[:, 1 + k * nv : 1 + (k + 1) * nv].swapaxes(1, 2)
        return self.results

    def _step_inputs(self) -> None:
        """Row 0 as it is, then a row for each step along q, along v and along x."""
        q, v, x = self.inputs
        nv = self.model.nv
        q[:], v[:], x[:] = (y[:, None] for y in (self.states.q, self.states.v, self.states.x))
        self.unmoved[:] = self.states.q[:, None]
        unmoved, moved = (y.reshape(-1, self.model.nq) for y in (self.unmoved, self.moved))
        self.model.integrate(unmoved, self.steps, threads=1, out=moved)
        q[:, 1 : 1 + nv] = self.moved
        each = np.arange(nv)
        v[:, 1 + nv + each, each] += self.step
        x[:, 1 + 2 * nv + each, each] += self.step


def central_differences(
    algorithm: Algorithm, model: Model, states: States
) -> tuple[np.ndarray, ...]:
    """The mean of forward and backward differences, whose error is of second order."""
    forward = FiniteDifferences(algorithm, model, states, _CENTRAL_STEP)()
    backward = FiniteDifferences(algorithm, model, states, -_CENTRAL_STEP)()
    return tuple((x + y) / 2.0 for x, y in zip(forward, backward, strict=True))
