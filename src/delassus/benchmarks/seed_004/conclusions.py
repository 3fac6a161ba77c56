"""What the tables say in a few lines, and whether the results are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ratio import Ratio
from ..report import Table

LARGEST_DIFFERENCE = 1e-9
LARGEST_CENTRAL_DIFFERENCE = 1e-6


def conclude(
    tables: Mapping[str, Table], ratios: Sequence[Ratio]
) -> tuple[dict[str, object], list[str], list[str]]:
    """Numbers for programs, the same as lines for people, and what is wrong."""
    barred = [ratio for ratio in ratios if ratio.bar is not None]
    missed = sum(ratio.verdict == "MISSED" for ratio in barred)
    times, accuracy = tables["times"].records, tables["accuracy"].records
    largest = max(record["difference"] for record in times if "difference" in record)
    summary = {
        "bars": [ratio.record() for ratio in barred],
        "missed": missed,
        "largest_difference": largest,
    }
    lines = [
        *map(str, barred),
        f"{len(barred) - missed} of {len(barred)} bars hold",
        f"largest difference to Pinocchio: {largest:.1e}",
    ]
    return summary, lines, _failures(times, accuracy)


def _failures(times: Sequence[Mapping], accuracy: Sequence[Mapping]) -> list[str]:
    """All that is a wrong number rather than a slow one."""
    limits = {
        "difference": ("differs from Pinocchio", LARGEST_DIFFERENCE),
        "automatic_difference": ("differs from automatic differentiation", LARGEST_DIFFERENCE),
        "central_difference": ("differs from central differences", LARGEST_CENTRAL_DIFFERENCE),
        "pinocchio_central_difference": (
            "Pinocchio differs from central differences", LARGEST_CENTRAL_DIFFERENCE,
        ),
        "rest": ("depends on v at rest", 0.0),
    }  # fmt: skip
    return [
        f"{record['robot']}, {record['row']}: {what} by {record[key]:.1e}"
        for record in (*times, *accuracy)
        for key, (what, limit) in limits.items()
        if key in record and not record[key] <= limit
    ]
