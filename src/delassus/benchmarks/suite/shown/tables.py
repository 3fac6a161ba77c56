"""Tables of samples: what solvers solve, how fast, ranked by categories, and profiles.

A run solves a sample if the natural map of the nonlinear problem is at most 1e-6, computed from the
reactions that it returned. pgs-ccp and admm-ccp solve the convex problem: where something slides
they cannot reach it, so `own` tells what they solve of theirs, and profiles leave them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .... import contact
from ...contact.profiles import CCP, ratios
from ...reporting.tables import Column, Record, Table, named, numbers
from ..categories import CATEGORIES
from ..solving import MODES, TOLERANCE

ROUNDING = 1.0 + 1e-6  # of a natural map that is computed twice
_LEVELS = (1e-2, 1e-4, 1e-6, 1e-8)
_TAUS = (1, 2, 5, 10, 100)


def is_solved(record: Record, key: str = "natural_map") -> bool:
    """Whether a run has solved its sample; with the key "own" by the solver's own law."""
    return record[key] <= ROUNDING * TOLERANCE


def of_mode(records: Iterable[Record], mode: str) -> list[Record]:
    """Records of a mode; samples without joints have none in the mode "split"."""
    return [r for r in records if r["mode"] == mode]


def samples_table(index: dict[str, list[dict]]) -> Table:
    """How many samples each system has in each category."""
    records = [
        {
            "system": system,
            "samples": len(own),
            "rows": f"{min(x['rows'] for x in own)} to {max(x['rows'] for x in own)}",
            "density": max(x["density"] for x in own),
            "condition": max(x["condition"] for x in own),
            **{c: sum(c in x["categories"] for x in own) for c in CATEGORIES},
        }
        for system, own in index.items()
        if own
    ]
    columns = [
        *named("system", "samples", "rows"),
        *numbers(".2f", density="density"),
        *numbers(".0e", condition="condition"),
        *named(*CATEGORIES),
    ]
    note = (
        "A sample may have several categories. Density: rows by 6 n_b, the largest; condition of\n"
        "D, the largest, zero eigenvalues left out. limits: a category of ours."
    )
    return Table("samples", "Samples", columns, records, note)


def solvers_table(records: Sequence[Record], mode: str) -> Table:
    """What each solver does with all samples in one mode."""
    found = []
    for solver in contact.SOLVERS:
        own = [r for r in of_mode(records, mode) if r["solver"] == solver]
        good = [r for r in own if is_solved(r)]
        found.append(
            {
                "solver": solver,
                "samples": len(own),
                "solved": mean(is_solved(r) for r in own),
                "own": mean(is_solved(r, "own") for r in own),
                "iterations": median(r["iterations"] for r in good),
                "microseconds": median(r["microseconds"] for r in good),
                **{k: median(r[k] for r in own) for k in _RESIDUALS},
                "worst": max((r["natural_map"] for r in own), default=None),
            }
        )
    columns = [
        *named("solver", "samples"),
        *numbers(".3f", solved="solved", own="own law solved"),
        *numbers(".0f", iterations="iterations", microseconds="microseconds"),
        *numbers(".0e", **{k: k.replace("_", " ") for k in _RESIDUALS}, worst="worst"),
    ]
    note = "Iterations and microseconds are medians of solved samples, residuals of all samples."
    return Table(f"solvers_{mode}", f"All samples, {MODES[mode]}", columns, found, note)


_RESIDUALS = ("dual", "complementarity", "natural_map")


def ranking_table(records: Sequence[Record], mode: str) -> Table:
    """Solvers of each category, by the share that they solve, then by time."""
    found = []
    for category in CATEGORIES:
        own = [r for r in of_mode(records, mode) if category in r["categories"]]
        if not own:
            continue
        times = times_by_solver(own)
        r = dict(zip(times, ratios(list(times.values())), strict=True))
        order = sorted(r, key=lambda name: (-np.mean(np.isfinite(r[name])), _typical(r[name])))
        shares = {name: float(np.mean(np.isfinite(r[name]))) for name in r}
        best = [f"{n} {100 * shares[n]:.0f} %, {_typical(r[n]):.1f}" for n in order[:3]]
        found.append(
            {
                "category": category,
                "samples": len(next(iter(times.values()))),
                **{f"place_{k + 1}": text for k, text in enumerate(best)},
                **shares,
            }
        )
    columns = [
        *named("category", "samples"),
        *(Column(f"place_{k}", f"place {k}") for k in (1, 2, 3)),
        *numbers(".2f", **{n: n for n in contact.SOLVERS if n not in CCP}),
    ]
    note = (
        "Places: by the share solved, then by the geometric mean of time / time of the fastest,\n"
        "over what a solver solves, which stands behind it. Other columns: shares solved."
    )
    return Table(f"ranking_{mode}", f"By category, {MODES[mode]}", columns, found, note)


def systems_table(records: Sequence[Record], mode: str) -> Table:
    """Shares solved of each system."""
    systems = list(dict.fromkeys(r["system"] for r in records))
    found = []
    for system in systems:
        times = times_by_solver([r for r in of_mode(records, mode) if r["system"] == system])
        if times:
            solved = {n: np.array([x is not None for x in t]) for n, t in times.items()}
            shares = {n: float(np.mean(x)) for n, x in solved.items()}
            nobody = int(np.sum(~np.any(list(solved.values()), axis=0)))
            count = len(next(iter(times.values())))
            found.append({"system": system, "samples": count, "by_none": nobody, **shares})
    columns = [*named("system", "samples"), Column("by_none", "solved by none")]
    columns += numbers(".2f", **{n: n for n in contact.SOLVERS if n not in CCP})
    note = (
        "Solved by none: a contact may jam a mechanism, and then there need not be a solution by\n"
        "Coulomb's law; others may only be too hard."
    )
    return Table(f"systems_{mode}", f"Shares solved, {MODES[mode]}", columns, found, note)


def time_ratios(records: Sequence[Record], mode: str) -> dict[str, np.ndarray]:
    """r_ps of the solvers of the nonlinear problem, infinite where they fail."""
    times = times_by_solver(of_mode(records, mode))
    return dict(zip(times, ratios(list(times.values())), strict=True)) if times else {}


def profiles_table(records: Sequence[Record], mode: str) -> Table:
    """Performance profiles over time, at some tau."""
    found = [
        {"solver": name, **{f"tau_{tau}": float(np.mean(r <= tau)) for tau in _TAUS}}
        | {"all_at": float(r.max()) if np.isfinite(r).all() else None}
        for name, r in time_ratios(records, mode).items()
    ]
    columns = [Column("solver"), *numbers(".2f", **{f"tau_{t}": f"tau {t}" for t in _TAUS})]
    columns.append(Column("all_at", "all at tau", ".1f"))
    title = f"Share solved within tau times the fastest, {MODES[mode]}"
    return Table(f"profiles_{mode}", title, columns, found)


def accuracy_table(records: Sequence[Record], mode: str) -> Table:
    """Share of samples whose natural map is below some levels."""
    found = []
    for solver in contact.SOLVERS:
        own = [r["natural_map"] for r in of_mode(records, mode) if r["solver"] == solver]
        levels = {f"{x:.0e}": mean(n <= ROUNDING * x for n in own) for x in _LEVELS}
        found.append({"solver": solver, **levels})
    columns = [Column("solver"), *numbers(".2f", **{f"{x:.0e}": f"{x:.0e}" for x in _LEVELS})]
    title = f"Share of samples with a natural map below, asked for 1e-6, {MODES[mode]}"
    return Table(f"accuracy_{mode}", title, columns, found)


def samples_tables(index: dict, records: Sequence[Record]) -> list[Table]:
    """All tables of samples."""
    made = [samples_table(index)]
    for mode in MODES:
        makers = solvers_table, ranking_table, systems_table, profiles_table, accuracy_table
        made += [make(records, mode) for make in makers]
    return made


def times_by_solver(records: Sequence[Record]) -> dict[str, list[float | None]]:
    """Times of samples by solver, None where it failed; solvers of the convex problem left out."""
    found: dict[str, list[float | None]] = {}
    for r in records:
        if r["solver"] not in CCP:
            found.setdefault(r["solver"], []).append(r["microseconds"] if is_solved(r) else None)
    return found


def _typical(r: np.ndarray) -> float:
    known = r[np.isfinite(r)]
    return float(np.exp(np.mean(np.log(known)))) if len(known) else np.inf


def mean(values: Iterable) -> float | None:
    """Their mean, None if there are none."""
    known = list(values)
    return float(np.mean(known)) if known else None


def median(values: Iterable) -> float | None:
    """Their median, None if there are none."""
    known = list(values)
    return float(np.median(known)) if known else None
