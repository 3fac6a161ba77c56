"""Constrained dynamics against Pinocchio: what Carpentier, Budhiraja and Mansard measured.

Proximal and Sparse Resolution of Constrained Dynamic Equations, RSS 2021, Sec. V and Fig. 2.
"""

from __future__ import annotations

from ..peers.packages import scipy
from ..reporting.conclusions import Largest, Spread
from ..runner import Benchmark
from . import convergence, derivatives, dynamics, factorization

__all__ = ["SEED_003"]

SEED_003 = Benchmark(
    name="seed-003",
    description="constrained dynamics against Pinocchio",
    title="Constrained dynamics against Pinocchio (Carpentier, Budhiraja and Mansard 2021)",
    parts=(dynamics.PART, derivatives.PART, factorization.PART, convergence.PART),
    conclusions=(
        Spread("batch", "dynamics", "batch_ratio", "batches, against Pinocchio's loop"),
        Spread("single", "dynamics", "single_ratio", "one state, against Pinocchio's call"),
        Spread("derivatives", "derivatives", "ratio", "derivatives, against Pinocchio's loop"),
        Spread("dense_factorization", "factorization", "dense_ratio", "factors, against LAPACK's"),
        Spread(
            "sparse_factorization", "factorization", "sparse_ratio", "factors, against a sparse LU"
        ),
        Largest("largest_difference", ["dynamics"], "difference", "difference to Pinocchio"),
    ),
    needs=(scipy,),
)
