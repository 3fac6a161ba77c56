"""What the tables say in a few lines, and whether the results are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..report import Table
from ..settings import Settings
from ..timing import mean_and_least

LARGEST_DIFFERENCE = 1e-9
# For each name in the summary: the table and entry it is taken from, and what people read.
_RATIOS = {
    "batch": ("batch", "ratio", "batch, against Pinocchio's fastest path"),
    "batch_against_loop": ("batch", "loop_ratio", "batch, against a loop over calls"),
    "batch_against_function": (
        "batch", "function_ratio", "batch, against its batch function with one thread"
    ),
    "single": ("single", "ratio", "one state"),
    "two_threads": ("scaling", "thread_ratio", "two threads, against one"),
    "float32": ("scaling", "float32_ratio", "float32, against float64"),
}  # fmt: skip
_SHORT, _LONG = 100, 1000  # joints


def conclude(
    tables: Mapping[str, Table], settings: Settings
) -> tuple[dict[str, object], list[str], list[str]]:
    """Numbers for programs, the same as lines for people, and what is wrong."""
    summary: dict[str, object] = {}
    lines = []
    for name, (table, key, label) in _RATIOS.items():
        mean, least = mean_and_least(tables[table].records, key)
        summary[name] = {"geometric_mean": mean, "smallest": least}
        lines.append(f"{label}: geometric mean {mean:.2f}, smallest {least:.2f}")
    if {_SHORT, _LONG} <= set(settings.chain_lengths):
        growth = _growth(tables["growth"].records)
        summary["growth"] = growth
        lines += [f"{_LONG} joints against {_SHORT}, {what}: {x:.1f}" for what, x in growth.items()]
    compared = [*tables["single"].records, *tables["batch"].records]
    summary["largest_difference"] = max(record["difference"] for record in compared)
    lines.append(f"largest difference to Pinocchio: {summary['largest_difference']:.1e}")
    return summary, lines, _failures(compared, tables["growth"].records)


def _growth(records: Sequence[Mapping]) -> dict[str, float]:
    """How many times longer a long chain takes than a short one."""
    times = {(r["algorithm"], r["joints"]): r for r in records}
    return {
        f"{algorithm}, {label}": (_LONG * times[algorithm, _LONG][key])
        / (_SHORT * times[algorithm, _SHORT][key])
        for algorithm in dict.fromkeys(r["algorithm"] for r in records)
        for key, label in (("single_nanoseconds", "one state"), ("batch_nanoseconds", "batch"))
    }


def _failures(compared: Sequence[Mapping], chains: Sequence[Mapping]) -> list[str]:
    wrong = [
        f"{r['robot']}, {r['algorithm']}: differs from Pinocchio by {r['difference']:.1e}"
        for r in compared
        if not r["difference"] <= LARGEST_DIFFERENCE
    ]
    return wrong + [
        f"chain of {r['joints']}, {r['algorithm']}: the residual is {r['residual']:.1e}"
        for r in chains
        if not r["residual"] <= LARGEST_DIFFERENCE
    ]
