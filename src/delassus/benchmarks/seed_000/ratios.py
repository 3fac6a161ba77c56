"""Ratios of times: between our methods beside the paper's, and of Pinocchio's times to ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ..comparing.methods import DYNAMICS, INVERSE, methods
from ..reporting.conclusions import Fact, spread
from ..reporting.figures import distinct
from ..reporting.ratios import Ratio, ratio_records, ratio_table
from ..reporting.tables import Findings, Record
from ..runner import Derived
from .contests import BATCH, SINGLE
from .growth import COUNTS, LINEAR
from .problems import COMPARED, LARGEST, PAPER, QUADRUPED

# Methods whose times are divided: dynamics (Table II, Fig. 1), then inverses (Table III, Fig. 5).
_PAIRS = {"dynamics": ("prox-ltl", "caba"), "inverse": ("ltl", "caba-osim")}
_FUNCTIONS = {"dynamics": DYNAMICS, "inverse": INVERSE}
# Pinocchio's functions by the algorithms of the first pair.
_PEER_PAIR = ("constraintDynamics", "lcaba")
# Ratios to Pinocchio: the contest, Pinocchio's function, our method.
_AGAINST = (
    ("dynamics", "constraintDynamics", "caba"),
    ("dynamics", "lcaba", "caba"),
    ("inverse", "computeDampedDelassusMatrixInverse", "caba-osim"),
    ("inverse", "computeDelassusMatrix", "caba-osim"),
)
_INEXACT = "pv-soft"  # takes one damped step
_LABELS = {SINGLE: "one state", BATCH: "batches"}
_FROM = 90  # links of the smallest mechanism in ratios of growth
# Sec. VIII-B, chains: "over 4x faster" for 100 links and one iteration.
_PAPER_LINKS, _PAPER_CHAIN = 100, 4.0
# Sec. VIII-B: "approximately 20 % fewer operations" for Go1; Sec. IX: "over 3x fewer operations".
_PAPER_OPERATIONS = {
    ("dynamics", QUADRUPED.label): 1.25,
    ("inverse", LARGEST.label): 3.0,
}


def find_ratios(findings: Findings) -> Iterator[Ratio]:
    """All ratios for which both times were measured."""
    yield from _between_methods(findings)
    yield from _against_pinocchio(findings)
    yield from _growth(findings)
    yield from _long_chain(findings)
    yield from _operations(findings)


def _between_methods(findings: Findings) -> Iterator[Ratio]:
    """How much longer factorisations take than recursions."""
    for key, (slow, fast) in _PAIRS.items():
        for mode in (BATCH, SINGLE):
            for record in findings[f"{key}_{mode}"]:
                problem = record["problem"]
                ours = _quotient(record, slow, fast)
                if ours is not None:
                    paper = _quotient(PAPER[key].get(problem, {}), slow, fast)
                    what = f"{key}: {slow} / {fast}, {_LABELS[mode]}"
                    yield Ratio(problem, what, ours, _quotient(record, *_PEER_PAIR), paper)


def _quotient(times: Mapping, slow: str, fast: str) -> float | None:
    """How much longer one takes than the other, None if one of them was not measured."""
    return times[slow] / times[fast] if slow in times and fast in times else None


def _against_pinocchio(findings: Findings) -> Iterator[Ratio]:
    """Pinocchio's time divided by ours."""
    labels = [problem.label for problem in COMPARED]
    for key, theirs, ours in _AGAINST:
        for mode in (SINGLE, BATCH):
            for record in findings[f"{key}_{mode}"]:
                if record["problem"] in labels:
                    what = _against(key, theirs, ours, mode)
                    yield Ratio(record["problem"], what, record[theirs] / record[ours])


def _against(key: str, theirs: str, ours: str, mode: str) -> str:
    return f"{key}: Pinocchio's {theirs} / {ours}, {_LABELS[mode]}"


def _growth(findings: Findings) -> Iterator[Ratio]:
    """How much the time per link varies among large mechanisms; 1 is perfectly proportional."""
    records = [r for r in findings["growth"] if r["method"] == LINEAR and r["links"] >= _FROM]
    for family in distinct(records, "family"):
        for count in COUNTS:
            own = [r for r in records if r["family"] == family and r["iterations"] == count]
            if len(own) < 2:
                continue  # one size tells nothing
            for mode in (SINGLE, BATCH):
                times = [r[f"{mode}_nanoseconds"] for r in own]
                what = f"{LINEAR}, iterations {count}: longest / shortest time a link"
                yield Ratio(family, f"{what}, {_LABELS[mode]}", max(times) / min(times))


def _long_chain(findings: Findings) -> Iterator[Ratio]:
    """How much longer a factorisation takes than the recursion for a long chain."""
    times = {
        r["method"]: r["single_nanoseconds"]
        for r in findings["growth"]
        if (r["family"], r["links"], r["iterations"]) == ("chain", _PAPER_LINKS, 1)
    }
    slow, fast = _PAIRS["dynamics"]
    ours = _quotient(times, slow, fast)
    if ours is not None:
        what = f"dynamics: {slow} / {fast}, one iteration, one state"
        theirs = _quotient(times, *_PEER_PAIR)
        yield Ratio(f"chain of {_PAPER_LINKS} links", what, ours, theirs, _PAPER_CHAIN)


def _operations(findings: Findings) -> Iterator[Ratio]:
    """How many more operations factorisations take than recursions, if they were counted."""
    records = findings.get("operations", ())
    counts = {(r["problem"], r["function"], r["method"]): r["total"] for r in records}
    for label in distinct(records, "problem"):
        for key, pair in _PAIRS.items():
            slow, fast = (counts.get((label, _FUNCTIONS[key], method)) for method in pair)
            if slow and fast:
                paper = _PAPER_OPERATIONS.get((key, label))
                yield Ratio(label, f"operations: {pair[0]} / {pair[1]}", slow / fast, paper=paper)


def conclude(findings: Findings) -> Iterator[Fact]:
    """Means of the ratios to Pinocchio, and which methods are the fastest."""
    for key, theirs, ours in _AGAINST:
        for mode in (SINGLE, BATCH):
            what = _against(key, theirs, ours, mode)
            values = [r["ours"] for r in findings["ratios"] if r["what"] == what]
            yield spread(f"{key}_{theirs}_{mode}", what, values)
    found = {mode: fastest(findings[f"dynamics_{mode}"]) for mode in (BATCH, SINGLE)}
    lines = [f"fastest exact method, {_LABELS[mode]}: {_shares(x)}" for mode, x in found.items()]
    yield Fact("fastest", found, "\n".join(lines))


def fastest(records: list[Record]) -> dict[str, str]:
    """The exact method of constrained dynamics that takes the least time, by problem."""
    names = [name for name in methods(DYNAMICS) if name != _INEXACT]
    return {
        record["problem"]: min((n for n in names if n in record), key=record.__getitem__)
        for record in records
    }


def _shares(found: Mapping[str, str]) -> str:
    """In how many problems each method is the fastest."""
    counts = Counter(found.values())
    return ", ".join(f"{name} in {k} of {len(found)}" for name, k in counts.most_common())


RATIOS = Derived(
    ratio_table(
        "paper: Sathya and Carpentier 2024, of times in Tables II and III, whose humanoid with\n"
        "hands is another one, and from the text: over 4 for the chain, about 1.25 and over 3 for\n"
        "operations. Pinocchio: its constraintDynamics / lcaba.",
        robot="problem",
    ),
    lambda findings: ratio_records(find_ratios(findings)),
)
