"""The compiled solvers as the paper prints them: see `reference.printed`."""

from __future__ import annotations

from typing import Any

from ..compile import kernel
from .laws.request import OPTION
from .reference.printed import PRINTED, run_admm, run_sweeps
from .shape import ShapeArrays, counts_of

CALL: dict[str, Any] = {
    "shared": ("limits",),
    "inputs": {
        "delassus": "rows rows",
        "free_velocity": "rows",
        "coefficients": "rows",
        "warm_start": "rows",
        "sizes": "rows",
        "options": f"{OPTION.size} common",
    },
    "outputs": {"reactions": "rows", "iterations": "1", "history": "history"},
    "work": PRINTED,
    "lanes": False,
}


@kernel(ShapeArrays, label="contact by Gauss-Seidel as printed", **CALL)
def printed_sweeps(
    model, limits, delassus, free_velocity, coefficients, warm_start, sizes, options, reactions,
    iterations, history, work,
):  # fmt: skip
    """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f"""
    run_sweeps(
        counts_of(model), limits, delassus, free_velocity, coefficients, warm_start, sizes, options,
        reactions, iterations, history, work,
    )  # fmt: skip


@kernel(ShapeArrays, label="contact by ADMM as printed", **CALL)
def printed_admm(
    model, limits, delassus, free_velocity, coefficients, warm_start, sizes, options, reactions,
    iterations, history, work,
):  # fmt: skip
    """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f"""
    run_admm(
        counts_of(model), limits, delassus, free_velocity, coefficients, warm_start, options,
        reactions, iterations, history, work,
    )  # fmt: skip
