"""The usual size of rows: how large damping and residuals are is told relative to it.

A row may be in metres, radians or counts of an encoder, and act on grams or tons. So the default
damping of a row is a small part of its own diagonal entry of the Delassus matrix J M^-1 J^T (see
`request.damping_rows`), and its residual counts by its length in J. What gravity does to a row
tells what rounding leaves of it where forces balance. All are known to an order of magnitude, from
the model alone: as means over a few random configurations, the same in each process.

A row is measured by itself and by the others of its constraint, never by rows of other constraints:
these may act on bodies 1e14 times as heavy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import FLOAT64, evaluate_plainly, is_compiled
from ...dynamics.crba import crba
from ...dynamics.rnea import rnea
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
    """Usual diagonal entries of J M^-1 J^T; lengths of the rows of J; what gravity does to rows.

    The last is the sum of the magnitudes of all terms in J M^-1 b. (size,) each. `joint_weight` is
    what forces of gravity on joints are at most, (nv,).
    """

    diagonal: np.ndarray
    lengths: np.ndarray
    weight: np.ndarray
    joint_weight: np.ndarray

    def of(self, rows: np.ndarray) -> RowScales:
        """Those of some rows."""
        return RowScales(*(x[rows] for x in self[:3]), self.joint_weight)


def find_scales(cs) -> RowScales:
    """The scales of all rows, from some configurations of the model."""
    if cs.size == 0:
        return RowScales(np.ones(0), np.ones(0), np.ones(0), np.zeros(cs.model.nv))
    model = cs.model
    q = model.random_configuration(np.random.default_rng(0), _SAMPLES)
    J, M, b = matrices(cs, q)
    lengths = np.sqrt(np.mean(np.sum(J * J, axis=-1), axis=0))
    response = np.linalg.solve(M, J.swapaxes(-1, -2))
    diagonal = np.mean(np.sum(J * response.swapaxes(-1, -2), axis=-1), axis=0)
    weight = np.sum(np.abs(response.swapaxes(-1, -2) * b[..., None, :]), axis=-1).max(axis=0)
    joints = np.nan_to_num(most_weight(model, M).max(axis=0))
    weight = np.where(np.isfinite(weight), weight, 0.0)
    return RowScales(_shared(_at_least(cs, diagonal, 2)), _at_least(cs, lengths, 1), weight, joints)


def matrices(cs, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """J, M and the forces of gravity of some states."""
    model, v = cs.model, np.zeros((len(q), cs.model.nv))
    if model.tree is not model:
        M = crba(model, (q,))
        return evaluate_rows(cs, (q, v))[0], M, most_weight(model, M)
    none = np.zeros((len(q), model.n_bodies, 6))
    b = evaluate_plainly(rnea, model, (q, v, v, none))[0]
    if is_compiled() and model.nv > _FEW:
        return evaluate_rows(cs, (q, v))[0], crba(model, (q,)), b
    return evaluate_plainly(evaluate_rows, cs, (q, v))[0], evaluate_plainly(crba, model, (q,))[0], b


def most_weight(model, M: np.ndarray) -> np.ndarray:
    """What forces of gravity are at most: |g| sqrt(M_kk m), by Cauchy and Schwarz's inequality.

    m is what a degree of freedom carries; on an embedding, all that there is.
    """
    bodies = model.tree.bodies
    carried = np.array([body.inertia.mass for body in bodies])
    for i in range(len(bodies) - 1, -1, -1):
        if bodies[i].parent >= 0:
            carried[bodies[i].parent] += carried[i]
    if model.tree is model:
        mass = np.zeros(model.nv)
        for i, body in enumerate(bodies):
            mass[body.joint.v] = carried[i]
    else:
        mass = np.full(model.nv, sum(body.inertia.mass for body in bodies))
    gravity = np.linalg.norm(model.tree.gravity)
    return np.sqrt(np.diagonal(M, axis1=-2, axis2=-1) * mass) * gravity


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
    good = np.isfinite(x) & (x > 0.0)
    return np.where(good, x, np.exp(np.log(x[good]).mean()) if good.any() else 1.0)
