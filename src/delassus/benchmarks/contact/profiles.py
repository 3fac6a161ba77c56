"""Performance profiles of the solvers (Dolan and More, 2002).

    r_ps = t_ps / min over s of t_ps        rho_s(tau) = share of problems p with r_ps <= tau

Times of runs that failed are infinite, and do not count in the minimum. rho_s(1) is the share of
problems on which a solver is the fastest. rho_s for large tau is the share that it solves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ... import contact
from ..reporting.conclusions import Fact
from ..reporting.tables import Column, Findings, Record, Table, numbers
from ..runner import Derived

_TAUS = (1, 2, 5, 10, 100)
CCP = tuple(name for name in contact.SOLVERS if "ccp" in name)
MODES = {"cold": "cold", "warm": "warm started"}


def ratios(times: Sequence[Sequence[float | None]]) -> np.ndarray:
    """r_ps, (solvers, problems); problems that no solver solves are infinite for all."""
    t = np.array([[np.inf if x is None else x for x in own] for own in times], float)
    fastest = t.min(axis=0)
    return np.where(np.isfinite(t), t / np.where(np.isfinite(fastest), fastest, 1.0), np.inf)


def solver_ratios(findings: Findings, mode: str) -> dict[str, np.ndarray]:
    """r_ps of the solvers of the complementarity problem with Coulomb's law."""
    own = [r for r in findings[f"microseconds_{mode}"] if r["solver"] not in CCP]
    found = ratios([r["values"] for r in own])
    return {r["solver"]: x for r, x in zip(own, found, strict=True)}


def records(findings: Findings) -> list[Record]:
    """One record per solver and mode."""
    return [
        {
            "mode": mode,
            "solver": name,
            **{f"tau_{tau}": float(np.mean(r <= tau)) for tau in _TAUS},
            "solved": float(np.mean(np.isfinite(r))),
            "all_at": float(r.max()) if np.isfinite(r).all() else None,
        }
        for mode in MODES
        for name, r in solver_ratios(findings, mode).items()
    ]


def conclude(findings: Findings) -> Iterator[Fact]:
    """Who is the fastest, and how often."""
    for mode, label in MODES.items():
        own = [r for r in findings["profiles"] if r["mode"] == mode and r["tau_1"] > 0.0]
        own = sorted(own, key=lambda r: -r["tau_1"])
        shown = ", ".join(f"{r['solver']} {100.0 * r['tau_1']:.0f} %" for r in own)
        wins = {r["solver"]: r["tau_1"] for r in own}
        yield Fact(f"fastest_{mode}", wins, f"the fastest, {label}: {shown}")


PROFILES = Derived(
    Table(
        "profiles",
        "Performance profiles: share of problems solved within tau times the fastest solver's time",
        [
            *(Column(key) for key in ("mode", "solver")),
            *numbers(".2f", **{f"tau_{tau}": f"tau {tau}" for tau in _TAUS}, solved="solved"),
            Column("all_at", "all at tau", ".1f"),
        ],
        note="all at tau: the smallest tau at which all problems are solved. The solvers of the\n"
        "convex problem are left out, as that is another problem.",
    ),
    records,
)
