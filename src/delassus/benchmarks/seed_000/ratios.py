"""The ratios that the paper claims, those to Pinocchio of the same run, and bars for ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..methods import DYNAMICS, INVERSE
from ..ratio import Ratio
from ..report import Column, Table
from ..timing import geometric_mean
from .contests import BATCH, SINGLE
from .growth import COUNTS, LINEAR
from .problems import COMPARED, FINGERTIPS, LARGEST, PROBLEMS, QUADRUPED

# The methods that are divided: dynamics (Table II, Fig. 1), then inverses (Table III, Fig. 5).
_PAIRS = {"dynamics": ("prox-ltl", "caba"), "inverse": ("ltl", "caba-osim")}
_FUNCTIONS = {"dynamics": DYNAMICS, "inverse": INVERSE}
# Against Pinocchio: the contest, its function, our method, and least means alone and in batches.
_AGAINST = (
    ("dynamics", "constraintDynamics", "caba", {SINGLE: 2.0, BATCH: 8.0}),
    ("dynamics", "lcaba", "caba", {SINGLE: 1.2, BATCH: 5.0}),
    ("inverse", "computeDampedDelassusMatrixInverse", "caba-osim", {SINGLE: 1.2, BATCH: 5.0}),
    ("inverse", "computeDelassusMatrix", "caba-osim", {}),
)
_LEAST_OF_A_MEAN = 0.75  # that no single case may fall below
_LABELS = {SINGLE: "one state", BATCH: "batches"}
# Growth is looked at from so many links on; by how much the time a link may vary.
_FROM, _FLAT = 90, 1.25
# Least ratios of operations, and the problems that they are asked of.
_LEAST_OPERATIONS = {
    ("dynamics", QUADRUPED.label): 1.25,  # a fifth fewer
    **{("dynamics", problem.label): 2.0 for problem in (FINGERTIPS, LARGEST)},
    **{("inverse", problem.label): 3.0 for problem in (FINGERTIPS, LARGEST)},
}


def find_ratios(tables: Mapping[str, Table]) -> list[Ratio]:
    """All ratios for which both times were measured."""
    found = [*_between_methods(tables), *_against_pinocchio(tables), *_growth(tables)]
    if "operations" in tables:
        found += _operations(tables["operations"].records)
    return found


def _between_methods(tables: Mapping[str, Table]) -> Iterator[Ratio]:
    """How much longer factorisations take than recursions."""
    for k, (key, (slow, fast)) in enumerate(_PAIRS.items()):
        for mode in (BATCH, SINGLE):
            times = _by_problem(tables[f"{key}_{mode}"])
            for problem in PROBLEMS:
                own = times[problem.label]
                if slow in own and fast in own:
                    yield Ratio(
                        problem.label,
                        f"{key}: {slow} / {fast}, {_LABELS[mode]}",
                        own[slow] / own[fast],
                        paper=problem.paper[k] if problem.paper else None,
                        bar=problem.bars[k] if mode == BATCH else None,
                    )


def _against_pinocchio(tables: Mapping[str, Table]) -> Iterator[Ratio]:
    """Cases, their mean and the least of them."""
    for key, theirs, ours, bars in _AGAINST:
        for mode in (SINGLE, BATCH):
            times = _by_problem(tables[f"{key}_{mode}"])
            if ours not in times[COMPARED[0].label]:
                continue
            what = f"{key}: Pinocchio's {theirs} / {ours}, {_LABELS[mode]}"
            cases = {p.label: times[p.label][theirs] / times[p.label][ours] for p in COMPARED}
            for label, ratio in cases.items():
                yield Ratio(label, what, ratio)
            bar = bars.get(mode)
            least = None if bar is None else _LEAST_OF_A_MEAN * bar
            yield Ratio("all", f"mean of {what}", geometric_mean(cases.values()), bar=bar)
            yield Ratio("all", f"least of {what}", min(cases.values()), bar=least)


def _by_problem(table: Table) -> dict[str, Mapping]:
    return {record["problem"]: record for record in table.records}


def _growth(tables: Mapping[str, Table]) -> Iterator[Ratio]:
    """By how much the time a link varies among large mechanisms."""
    records = [r for r in tables["growth"].records if r["method"] == LINEAR and r["links"] >= _FROM]
    for family in dict.fromkeys(r["family"] for r in records):
        for count in COUNTS:
            own = [r for r in records if r["family"] == family and r["iterations"] == count]
            if len(own) < 2:
                continue  # one size tells nothing
            for mode in (SINGLE, BATCH):
                times = [r[f"{mode}_nanoseconds"] for r in own]
                what = f"{LINEAR}, iterations {count}: longest / shortest time a link"
                ratio = max(times) / min(times)
                what = f"{what}, {_LABELS[mode]}"
                yield Ratio(family, what, ratio, bar=_FLAT, is_ceiling=True)


def _operations(records: Sequence[Mapping]) -> Iterator[Ratio]:
    """How many more operations factorisations take than recursions."""
    counts = {(r["problem"], r["function"], r["method"]): r["total"] for r in records}
    for label in dict.fromkeys(r["problem"] for r in records):
        for key, pair in _PAIRS.items():
            slow, fast = (counts.get((label, _FUNCTIONS[key], method)) for method in pair)
            if slow and fast:
                bar = _LEAST_OPERATIONS.get((key, label))
                yield Ratio(label, f"operations: {pair[0]} / {pair[1]}", slow / fast, bar=bar)


def table(ratios: Sequence[Ratio]) -> Table:
    """A row a ratio."""
    columns = [
        Column("robot", "problem"), Column("what", ""),
        Column("ours", "ours", ".2f"),
        Column("paper", "paper", ".2f"),
        Column("sense", "bar"), Column("bar", "", ".2f"),
        Column("verdict", ""),
    ]  # fmt: skip
    note = (
        "paper: Sathya and Carpentier 2024, of times in Tables II and III, whose humanoid with\n"
        "hands is another one. The means are geometric."
    )
    records = [ratio.record() for ratio in ratios]
    return Table("ratios", "Ratios of times, and the bars for ours", columns, records, note)
