"""The usual size of rows: how large damping and residuals are is told relative to it.

A row may be in metres, radians or counts of an encoder, and act on grams or tons. So the default
damping of a row is a small part of its own diagonal entry of the Delassus matrix J M^-1 J^T (see
`request.damping_rows`), and its residual counts by its length in J. Both are known to an order of
magnitude, from the model alone: as means over a few random configurations, the same in each
process.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import FLOAT64, evaluate_plainly, is_compiled
from ...dynamics.crba import crba
from .jacobian import evaluate_rows

_SAMPLES = 3
# Up to this many degrees of freedom plain Python is faster than to load a compiled kernel.
_FEW = 150
# Rows share a damping as long as their diagonals are within this factor, so that redundant rows of
# the same kind share forces evenly.
_SHARED = 100.0
# Numbers of a row count as at least this part of the largest of its constraint, where a radian
# counts as so many metres. Those of rows across a planar loop, which links cannot move, are zero.
_LEAST, _METRES = 1e-2, 0.3


class RowScales(NamedTuple):
    """Usual diagonal entries of J M^-1 J^T, and usual lengths of the rows of J, (size,) each."""

    diagonal: np.ndarray
    lengths: np.ndarray


def find_scales(cs) -> RowScales:
    """The scales of all rows, from some configurations of the model."""
    if cs.size == 0:
        return RowScales(np.ones(0), np.ones(0))
    model = cs.model
    q = model.random_configuration(np.random.default_rng(0), _SAMPLES)
    J, M = _matrices(cs, q)
    lengths = np.sqrt(np.mean(np.sum(J * J, axis=-1), axis=0))
    response = np.linalg.solve(M, J.swapaxes(-1, -2))
    diagonal = np.mean(np.sum(J * response.swapaxes(-1, -2), axis=-1), axis=0)
    return RowScales(_shared(_at_least(cs, diagonal, 2)), _at_least(cs, lengths, 1))


def _matrices(cs, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J and M of some states."""
    v = np.zeros((len(q), cs.model.nv))
    if (is_compiled() and cs.model.nv > _FEW) or cs.model.tree is not cs.model:
        return evaluate_rows(cs, (q, v))[0], crba(cs.model, (q,))
    return evaluate_plainly(evaluate_rows, cs, (q, v))[0], evaluate_plainly(crba, cs.model, (q,))[0]


def _at_least(cs, x: np.ndarray, power: int) -> np.ndarray:
    """x with larger numbers for rows that links can hardly move, or not at all.

    They are in units of the rows to a power.
    """
    metres = np.where(_turns(cs), _METRES**power, 1.0)
    even = _positive(x * metres)
    for rows in cs.slices:
        even[rows] = np.maximum(even[rows], _LEAST * even[rows].max(initial=0.0))
    return even / metres


def _shared(x: np.ndarray) -> np.ndarray:
    """Geometric means of numbers that are near each other, parted where they are most apart."""
    order = np.argsort(x)
    result, groups = np.empty_like(x), [order]
    while groups:
        group = groups.pop()
        logs = np.log(x[group])
        if logs[-1] - logs[0] <= np.log(_SHARED):
            result[group] = np.exp(logs.mean())
        else:
            at = int(np.argmax(np.diff(logs))) + 1
            groups += [group[:at], group[at:]]
    return result


def _turns(cs) -> np.ndarray:
    """Which rows are angles."""
    found = cs.paths(FLOAT64).records
    angles = [np.arange(piece["count"]) >= piece["pushes"] for piece in found]
    return np.concatenate(angles) if len(angles) else np.zeros(0, bool)


def _positive(x: np.ndarray) -> np.ndarray:
    """x with the geometric mean of its positive numbers, or 1, in place of zeros and NaN."""
    good = np.isfinite(x) & (x > 1e-12 * np.nanmax(x, initial=0.0))
    return np.where(good, x, np.exp(np.log(x[good]).mean()) if good.any() else 1.0)
