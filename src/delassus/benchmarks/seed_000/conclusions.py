"""What the tables say in a few lines, and whether the results are right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from ..methods import INVERSE, methods, proximal_methods
from ..ratio import Ratio
from ..report import Table

LARGEST_DIFFERENCE = 1e-9  # of accelerations after the same iterations
LARGEST_INVERSE_DIFFERENCE = 1e-9
# Inverses that lose digits by their nature: to stiff springs, and where a limb alone is singular.
_LOSING = ("caba-osim", "caba-osimf", "pv-osimf")
# Springs of 1 / damping take digits of an inverse: at most so many times what Pinocchio's lose.
_LOSS = 10.0


def conclude(
    tables: Mapping[str, Table], ratios: Sequence[Ratio]
) -> tuple[dict[str, object], list[str], list[str]]:
    """Numbers for programs, the same as lines for people, and what is wrong."""
    barred = [ratio for ratio in ratios if ratio.bar is not None]
    missed = [ratio for ratio in barred if ratio.verdict == "MISSED"]
    best = {
        mode: fastest(tables[f"dynamics_{mode}"].records, methods("constrained_dynamics"))
        for mode in ("batch", "single")
    }
    summary = {
        "bars": [ratio.record() for ratio in barred],
        "missed": len(missed),
        "fastest": best,
    }
    lines = [
        *map(str, barred),
        f"{len(barred) - len(missed)} of {len(barred)} bars hold",
        *(f"fastest method, {mode}: {_shares(found)}" for mode, found in best.items()),
        *(
            f"{r['method']}: median |J a + gamma| after 3 iterations {r['after_3']:.0e}"
            for r in tables["convergence"].records
        ),
    ]
    return summary, lines, failures(tables)


def fastest(records: Sequence[Mapping], names: Sequence[str]) -> dict[str, str]:
    """The method that takes the least time, by problem."""
    return {
        record["problem"]: min((n for n in names if n in record), key=record.__getitem__)
        for record in records
    }


def _shares(found: Mapping[str, str]) -> str:
    """In how many problems each method is the fastest."""
    counts = Counter(found.values())
    return ", ".join(f"{name} in {k} of {len(found)}" for name, k in counts.most_common())


def failures(tables: Mapping[str, Table]) -> list[str]:
    """All that is a wrong number rather than a slow one."""
    wrong = [
        f"{record['problem']}, {name}: differs by {record[name]:.1e}"
        for record in tables["dynamics_differences"].records
        for name in proximal_methods()
        if name in record and not record[name] <= LARGEST_DIFFERENCE
    ]
    wrong += [
        f"{record['problem']}, {name}: the inverse differs by {record[name]:.1e}"
        for record in tables["inverse_differences"].records
        for name in methods(INVERSE)
        if name in record and not record[name] <= inverse_limit(name, record)
    ]
    wrong += [
        f"{r['family']} of {r['links']}, {r['method']}: the residual is no number"
        for r in tables["growth"].records
        if r["residual"] is not None and not math.isfinite(r["residual"])
    ]
    return wrong + [
        f"convergence of {r['method']}: residuals are no numbers"
        for r in tables["convergence"].records
        if not all(math.isfinite(w["high"]) for w in r["whiskers"])
    ]


def inverse_limit(method: str, record: Mapping) -> float:
    """How far an inverse may be from the dense one."""
    if method not in _LOSING:
        return LARGEST_INVERSE_DIFFERENCE
    return max(LARGEST_INVERSE_DIFFERENCE, _LOSS * record["computeDelassusMatrix"])
