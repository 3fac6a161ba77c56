"""Constrained dynamics and Delassus matrices: the measurements of Sathya and Carpentier.

Constrained Articulated Body Dynamics Algorithms, 2024, Sec. VIII: Tables II and III, Figs. 1 to 5.
"""

from __future__ import annotations

from ..runner import Benchmark
from . import contests, convergence, growth, operations, ratios

__all__ = ["SEED_000"]

SEED_000 = Benchmark(
    name="seed-000",
    description="constrained dynamics by all methods",
    title="Constrained dynamics by all methods (Sathya and Carpentier 2024)",
    parts=(
        contests.DYNAMICS_PART,
        contests.INVERSE_PART,
        convergence.PART,
        growth.PART,
        operations.PART,
    ),
    derived=(
        contests.DYNAMICS_CONTEST.beside_paper("Table II"),
        contests.INVERSE_CONTEST.beside_paper("Table III"),
        ratios.RATIOS,
    ),
    conclusions=(ratios.conclude, convergence.conclude),
)
