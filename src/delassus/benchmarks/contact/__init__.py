"""Solvers of the dual problem of contact: robustness, convergence, profiles, and Pinocchio's ADMM.

The report of seed 001 compares solvers by such measurements on problems of its own robots. Here
problems are random bodies, boxes, feet and stacks.
"""

from __future__ import annotations

from ..reporting.conclusions import Spread
from ..runner import Benchmark
from . import contest, convergence, profiles, solvers

__all__ = ["CONTACT"]

_CONTESTS = {
    "cold": (contest.COLD, "auto", "cold, one at a time"),
    "cold_batch": (contest.COLD, "auto batch", "cold, ours in batches"),
    "cold_admm": (contest.COLD, "admm-ncp-sa", "cold, one at a time"),
    "cold_admm_batch": (contest.COLD, "admm-ncp-sa batch", "cold, ours in batches"),
    "warm": (contest.WARM, "auto", "warm, one at a time"),
    "warm_batch": (contest.WARM, "auto batch", "warm, ours in batches"),
}

CONTACT = Benchmark(
    name="contact",
    description="solvers of frictional contact, and Pinocchio's ADMM",
    title="Solvers of the dual problem of frictional contact",
    parts=(solvers.PART, convergence.PART, contest.PART),
    derived=(profiles.PROFILES,),
    conclusions=(
        solvers.conclude,
        profiles.conclude,
        *(
            Spread(key, table, f"ratio {name}", f"Pinocchio's ADMM / {name}, {label}")
            for key, (table, name, label) in _CONTESTS.items()
        ),
        Spread("cold_typical", contest.COLD, "typical", "the same of single problems, auto, cold"),
        Spread("warm_typical", contest.WARM, "typical", "the same of single problems, auto, warm"),
    ),
)
