"""What the tables say in a few lines, and whether the results are right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..ratio import Ratio
from ..report import Table
from ..timing import mean_and_least

LARGEST_DIFFERENCE = 1e-9
_LEAST_ALONE, _LEAST_MEAN, _LEAST_DERIVATIVES = 1.3, 6.0, 3.0


def conclude(tables: Mapping[str, Table]) -> tuple[dict[str, object], list[str], list[str]]:
    """Numbers for programs, the same as lines for people, and what is wrong."""
    compared = [
        record
        for name in ("dynamics", "derivatives", "factorization")
        for record in tables[name].records
    ]
    bars = find_bars(tables["dynamics"].records, tables["derivatives"].records)
    missed = sum(bar.verdict == "MISSED" for bar in bars)
    largest = max(record["difference"] for record in tables["dynamics"].records)
    dense, _ = mean_and_least(tables["factorization"].records, "dense_ratio")
    sparse, _ = mean_and_least(tables["factorization"].records, "sparse_ratio")
    summary = {
        "bars": [bar.record() for bar in bars],
        "missed": missed,
        "largest_difference": largest,
        "factorization": {"dense": dense, "sparse": sparse},
    }
    lines = [
        *map(str, bars),
        f"{len(bars) - missed} of {len(bars)} bars hold",
        f"factorisation in batches: {dense:.2f} times as fast as LAPACK's, "
        f"{sparse:.2f} times as a sparse one (geometric means)",
        f"largest difference to Pinocchio: {largest:.1e}",
    ]
    return summary, lines, failures(compared, tables["convergence"].records)


def find_bars(records: Sequence[Mapping], derivatives: Sequence[Mapping]) -> list[Ratio]:
    """Pinocchio's time divided by ours: the mean of batches, and the least of the others."""
    mean, _ = mean_and_least(records, "batch_ratio")
    _, alone = mean_and_least(records, "single_ratio")
    _, derived = mean_and_least(derivatives, "ratio")
    return [
        Ratio("all", "mean of Pinocchio's loop / our batch", mean, bar=_LEAST_MEAN),
        Ratio("all", "least of Pinocchio's call / our one state", alone, bar=_LEAST_ALONE),
        Ratio("all", "least of derivatives, loop / our batch", derived, bar=_LEAST_DERIVATIVES),
    ]


def failures(compared: Sequence[Mapping], convergence: Sequence[Mapping]) -> list[str]:
    """All that is a wrong number rather than a slow one."""
    wrong = [
        f"{r['problem']}: differs by {r['difference']:.1e}"
        for r in compared
        if not r["difference"] <= LARGEST_DIFFERENCE
    ]
    return wrong + [
        f"{r['problem']}, damping {r['damping']:g}: J^T r is no number"
        for r in convergence
        if not all(map(math.isfinite, r["gradients"]))
    ]
