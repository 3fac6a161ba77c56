"""What the data say: sentences, and tables of joints as rows and of where Gauss-Seidel wins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ....contact import SOLVERS
from ...contact.profiles import CCP
from ...reporting.tables import Column, Record, Table, named, numbers
from ..categories import CATEGORIES
from .tables import is_solved, mean, median, of_mode, times_by_solver

_HEAVY = 0.5  # joint rows as a part of all rows, from which on a sample is heavy with joints
_MARGIN = 0.95
ADMM = tuple(n for n in SOLVERS if n.startswith("admm") and n not in CCP)
GAUSS_SEIDEL = tuple(n for n in SOLVERS if n.startswith(("pgs", "nbgs", "raisim")) and n not in CCP)


def is_heavy(record: Record) -> bool:
    """Whether joints have most of the rows, and something else has rows too."""
    return record["rows"] > record["joint_rows"] >= _HEAVY * record["rows"]


def joints_table(records: Sequence[Record]) -> Table:
    """Solvers on samples heavy with joints: joints eliminated, and as rows that are iterated on."""
    heavy = [r for r in records if is_heavy(r)]
    found = []
    for solver in SOLVERS:
        told: Record = {"solver": solver}
        for mode in ("cold", "split"):
            own = [r for r in of_mode(heavy, mode) if r["solver"] == solver]
            good = [r for r in own if is_solved(r)]
            told |= {
                "samples": len(own),
                mode: mean(is_solved(r) for r in own),
                f"{mode}_iterations": median(r["iterations"] for r in good),
                f"{mode}_microseconds": median(r["microseconds"] for r in good),
            }
        found.append(told)
    columns = [
        *named("solver", "samples"),
        *numbers(".3f", cold="eliminated", split="split"),
        *numbers(".0f", cold_iterations="iterations, eliminated", split_iterations="split",
                 cold_microseconds="microseconds, eliminated", split_microseconds="split"),
    ]  # fmt: skip
    note = (
        "Samples with contacts or limits, half of whose rows or more are joints. Shares solved to\n"
        '1e-6, cold; eliminated is the default, split is joints="split".'
    )
    return Table("joints", "Samples heavy with joints", columns, found, note)


def fastest(records: Sequence[Record]) -> list[str | None]:
    """The solver that solves each sample first; None if no solver does."""
    times = times_by_solver(records)
    names = list(times)
    t = np.array([[np.inf if x is None else x for x in times[n]] for n in names])
    if t.size == 0:
        return []
    return [names[k] if np.isfinite(best) else None
            for k, best in zip(t.argmin(axis=0), t.min(axis=0), strict=True)]  # fmt: skip


def wins_table(records: Sequence[Record]) -> Table:
    """How often each solver is the fastest, by categories and where joints are iterated on."""
    found = []
    for mode in ("cold", "warm", "split"):
        for category in ("all", *CATEGORIES):
            own = [
                r
                for r in of_mode(records, mode)
                if category == "all" or category in r["categories"]
            ]
            won = fastest(own)
            if won:
                shares = {n: won.count(n) / len(won) for n in SOLVERS if n not in CCP}
                sweeps = sum(shares[n] for n in GAUSS_SEIDEL)
                head = {"mode": mode, "category": category, "samples": len(won)}
                found.append({**head, "gauss_seidel": sweeps, **shares})
    columns = [
        *named("mode", "category", "samples"),
        Column("gauss_seidel", "Gauss-Seidel", ".2f"),
        *numbers(".2f", **{n: n for n in SOLVERS if n not in CCP}),
    ]
    note = f"Gauss-Seidel: {', '.join(GAUSS_SEIDEL)} together."
    return Table("wins", "Share of samples that a solver solves the fastest", columns, found, note)


def sentences(records: Sequence[Record], simulated: Sequence[Record]) -> Iterator[str]:
    """What a reader wants to know first, each with its number."""
    if not records:
        return
    ncp = [n for n in SOLVERS if n not in CCP]
    solved = {n: mean(is_solved(r) for r in of_mode(records, "cold") if r["solver"] == n)
              for n in ncp}  # fmt: skip
    order = sorted(ncp, key=lambda n: -solved[n])
    shown = [f"{n} {_percent(solved[n])}" for n in order]
    yield f"Most samples are solved, cold, by {', '.join(shown[:3])}; fewest by {shown[-1]}."
    yield from _joints(records)
    yield from _wins(records)
    won = fastest(of_mode(records, "cold"))
    yield f"Solved by no solver, cold: {won.count(None)} of {len(won)} samples."
    by_driver = [r for r in simulated if r["driver"] == "auto" and "joint_error" in r]
    if by_driver:
        worst = max(by_driver, key=lambda r: r["joint_error"])
        least = min(by_driver, key=lambda r: r["converged"])
        yield (
            f"Whole simulations by auto: joints open by {worst['joint_error']:.0e} m at most "
            f"({worst['system']}); steps converged {_percent(least['converged'])} at least "
            f"({least['system']})."
        )


def _joints(records: Sequence[Record]) -> Iterator[str]:
    own = {r["solver"]: r for r in joints_table(records).records if r["samples"]}
    if not own:
        return
    count = next(iter(own.values()))["samples"]
    for key, text in (("cold", "eliminated"), ("split", 'split (joints="split")')):
        shares = ", ".join(f"{n} {_percent(own[n][key])}" for n in ADMM)
        yield f"ADMM with joints {text} solves, of {count} samples heavy with joints: {shares}."
    below = [n for n in ADMM if own[n]["cold"] < _MARGIN]
    if below:
        yield f"Below {_percent(_MARGIN)} with joints eliminated: {', '.join(below)}."


def _wins(records: Sequence[Record]) -> Iterator[str]:
    own = [r for r in wins_table(records).records if r["mode"] == "cold"]
    named_best = sorted(own, key=lambda r: -r["gauss_seidel"])
    shown = ", ".join(f"{r['category']} {_percent(r['gauss_seidel'])}" for r in named_best[:4])
    yield f"Gauss-Seidel solvers are the fastest that solve a sample, cold, in: {shown}."
    everything = next(r for r in own if r["category"] == "all")
    best = max((n for n in SOLVERS if n not in CCP), key=lambda n: everything[n])
    yield f"No solver wins everywhere: the most wins, {_percent(everything[best])}, has {best}."


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
