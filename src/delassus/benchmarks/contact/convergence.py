"""How the natural map falls over iterations: one problem of each kind, all solvers."""

from __future__ import annotations

import numpy as np

from ... import contact
from ..measuring.settings import Settings
from ..reporting.checks import FINITE, Limit
from ..reporting.tables import Column, Findings, Record, Table, named, numbers
from ..runner import Part
from . import plots
from .problems import samples
from .solvers import TOLERANCE

SHOWN = ("box sliding", "feet sliding", "stack", "heavy stack", "mass ratios", "mixed")
MOST = 2000  # iterations
TARGET = 1e-9  # natural map at which a curve ends
_POINTS = 150  # of a curve

TABLE = Table(
    "convergence",
    f"Iterations until the natural map is {TOLERANCE:.0e}, cold, one problem of a kind",
    [
        *named("problem", "rows"),
        *numbers("d", **{name: name for name in contact.SOLVERS}),
        Column("curves", is_shown=False),
    ],
    note=f"At most {MOST} iterations; a sweep, an iteration of ADMM and a step of Newton's method\n"
    "cost differently. Where there is none, the solver does not get there.",
)


def measure(kind: str, settings: Settings) -> Findings:
    """One record: the curve of each solver, and when it reaches the tolerance."""
    (first,) = samples(kind, 1, settings.seed)
    record: Record = {"problem": kind, "rows": first.problem.n_rows, "curves": {}, "ends": []}
    for name in contact.SOLVERS:
        found = contact.solve(first.problem, name, TARGET, MOST, record=True)
        below = np.flatnonzero(found.history <= TOLERANCE)
        record[name] = int(below[0]) + 1 if below.size else None
        record["curves"][name] = _thinned(found.history)
        record["ends"].append(found.residuals.natural_map)
    return {"convergence": [record]}


def _thinned(history: np.ndarray) -> dict[str, list]:
    """Iterations and natural maps, at most some points of them, the last one included."""
    places = np.unique(np.geomspace(1, max(len(history), 1), _POINTS).round().astype(int))
    places = places[: len(history)]
    return {"iterations": places.tolist(), "natural_map": history[places - 1].tolist()}


PART = Part(
    "convergence",
    cases=lambda _: [(kind,) for kind in SHOWN],
    measure=measure,
    tables=[TABLE],
    limits=[Limit("convergence", "ends", "{problem}: a natural map is no number", FINITE)],
    plots={"convergence": plots.convergence},
)
