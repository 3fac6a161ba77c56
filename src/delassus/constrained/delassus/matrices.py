"""The Delassus matrix and its damped inverse: two functions, and the methods they choose from."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...compile import FLOAT32, FLOAT64
from ...errors import ModelError
from ...model.model import Model
from ..factor.ltl import ltl_delassus, ltl_inverse
from ..recursion.plan import ArticulatedArrays
from ..rows.checks import (
    AUTO,
    check_constraints,
    check_method,
    fitting,
    is_single,
    state_count,
)
from ..rows.constraints import Constraints
from ..rows.request import damping_rows
from .caba_osim import caba_osim, caba_osimf, pv_osimf
from .pv_osim import efpa, pv_osim, pv_osim_inverse, pv_osimr

MATRIX_KERNELS = {"pv-osim": pv_osim, "pv-osimr": pv_osimr, "efpa": efpa, "ltl": ltl_delassus}
INVERSE_KERNELS = {
    "pv-osim": pv_osim_inverse,
    "caba-osim": caba_osim,
    "caba-osimf": caba_osimf,
    "pv-osimf": pv_osimf,
    "ltl": ltl_inverse,
}
DELASSUS_METHODS = tuple(MATRIX_KERNELS)
DELASSUS_INVERSE_METHODS = tuple(INVERSE_KERNELS)
# Methods whose springs must not couple links.
_SPRINGS = ("caba-osim", "caba-osimf")


def delassus_matrix(
    model: Model,
    q: ArrayLike,
    constraints: Constraints,
    *,
    method: str = AUTO,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """J M^-1 J^T, (..., size, size): the accelerations of rows under unit forces along them.

    It is the inverse of the operational-space inertia. All methods take all constraints: "pv-osim"
    is the fastest where constraints are few, "pv-osimr" where they are many on long limbs, "efpa"
    and "ltl" are there for comparison.
    """
    cs = check_constraints(model, constraints)
    kernel = MATRIX_KERNELS[_name(method, DELASSUS_METHODS)]
    return kernel(cs, (q,), out, threads)


def delassus_inverse(
    model: Model,
    q: ArrayLike,
    constraints: Constraints,
    damping: float | ArrayLike,
    *,
    method: str = AUTO,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """(J M^-1 J^T + damping)^-1, (..., size, size): the damped operational-space inertia.

    `damping` is positive: one number, one for each row, or one for each state and row. "pv-osim"
    and "ltl" take all constraints and are as exact as the matrix allows. "caba-osim" and
    "caba-osimf" never factorise a matrix, but take only constraints with the world, and springs of
    stiffness 1 / damping cost them digits: an error of about 1e-15 / damping, in the units of the
    inverse. "pv-osimf" loses as many where a branch of a free base is singular by itself, as a
    straight leg is.
    """
    cs = check_constraints(model, constraints)
    name = _name(method, DELASSUS_INVERSE_METHODS)
    if name in _SPRINGS:
        check_uncoupled(cs, name)
    return INVERSE_KERNELS[name](cs, (q, damping_of(cs, damping, q)), out, threads)


def damping_of(cs: Constraints, damping, q) -> np.ndarray:
    """The damping of each row, for one state or a batch as q is."""
    is_usual = type(q) is np.ndarray and q.dtype is FLOAT64
    real = FLOAT64 if is_usual or not is_single((q,)) else FLOAT32
    if damping is None or type(damping) is float:
        key = damping, real
        one = cs.requests.get(key)
        if one is None:
            one = damping_rows(cs, damping, None, real)
            cs.remember(key, one)
        if is_usual and q.ndim == 1:
            return one
    else:
        one = damping_rows(cs, damping, state_count(q), real)
    return fitting(one, 1, real, q)


def _name(method: str, methods: tuple[str, ...]) -> str:
    """The name of a method; for AUTO, the first of `methods`."""
    return methods[0] if check_method(method, methods) == AUTO else method


def check_uncoupled(cs: Constraints, method: str) -> None:
    """Raise an error if springs along the rows would couple links."""
    if cs.extents(ArticulatedArrays)["cross_blocks"] > 0:
        others = [name for name in DELASSUS_INVERSE_METHODS if name not in _SPRINGS]
        raise ModelError(
            f"method {method!r} takes only constraints of one moving link with the world, not loops"
            f" and couplings of joints; use {' or '.join(map(repr, others))}"
        )
