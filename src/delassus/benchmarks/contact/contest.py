"""Times against Pinocchio's ADMM on the same dense problems, to the same natural map.

Pinocchio stops by residuals of its own. So of its tolerances each problem gets the loosest one that
reaches the natural map, for each rule of the penalty, with and without Anderson's acceleration, and
the fastest of these counts. Ours have one setting for all problems. All may take the same number of
iterations, and only problems that all solve are compared. Building objects takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from timeit import Timer

import numpy as np

from ... import contact
from ..measuring.settings import Settings
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..peers.contact import CHOICES, MOST_ITERATIONS, TOLERANCES, Choice, ContactPeer
from ..reporting.conclusions import geometric_mean
from ..reporting.tables import Column, Findings, Record, Table, named, numbers
from ..runner import Part
from . import plots
from .bodies import Sample, without_joints
from .problems import feet, scattered, stack
from .solvers import TOLERANCE, warm_start

OURS = ("auto", "admm-ncp-sa")
COLD, WARM = "contest_cold", "contest_warm"
_TIMES_AS_MANY = 8  # problems as of a kind elsewhere


def _eliminated(sample: Sample) -> Sample:
    return Sample(without_joints(sample.problem), without_joints(sample.before))


@dataclass(frozen=True)
class Field:
    """Problems of one size, with contacts only."""

    label: str
    make: Callable[[np.random.Generator], Sample]

    def __str__(self) -> str:
        return self.label

    def samples(self, settings: Settings) -> list[Sample]:
        """The problems; the same ones for a seed."""
        rng = np.random.default_rng([settings.seed, len(self.label)])
        count = _TIMES_AS_MANY * settings.contact_problems
        return [self.make(rng) for _ in range(count)]


FIELDS = (
    Field("feet at rest", lambda rng: _eliminated(feet(rng, 0.0))),
    Field("feet sliding", lambda rng: _eliminated(feet(rng, 0.5))),
    Field("stack of 3", lambda rng: stack(rng, 3, 1.0, 0.0)),
    Field("heavy stack of 3", lambda rng: stack(rng, 3, 100.0, 0.1)),
    Field("random, 8 contacts", lambda rng: scattered(rng, 8)),
    Field("random, 12 contacts", lambda rng: scattered(rng, 12)),
    Field("random, 20 contacts", lambda rng: scattered(rng, 20)),
)


def _table(key: str, title: str, note: str = "") -> Table:
    return Table(
        key,
        title,
        [
            *named("problems", "rows", "count"),
            *numbers(".0%", pinocchio_solved="Pinocchio solves"),
            *numbers(".0%", **{_solved(name): f"{name} solves" for name in OURS}),
            *numbers("d", all="all"),
            *numbers(".1f", pinocchio="Pinocchio"),
            *numbers(".1f", **{name: name for name in OURS}),
            *numbers(".1f", **{f"{name} batch": f"{name} batch" for name in OURS}),
            *numbers(".2f", **{_ratio(name): f"x {name}" for name in OURS}),
            *numbers(".2f", **{_ratio(f"{name} batch"): f"x {name} batch" for name in OURS}),
            *numbers(".2f", typical="typical"),
            Column("choices", is_shown=False),
        ],
        note=note,
    )


def _solved(name: str) -> str:
    """The key of the share of problems that one of our solvers solves."""
    return f"{name} solved"


def _ratio(name: str) -> str:
    """The key of Pinocchio's time divided by ours."""
    return f"ratio {name}"


TABLES = (
    _table(
        COLD,
        f"Microseconds a problem beside Pinocchio's ADMM, cold, to {TOLERANCE:.0e}",
        "Means over problems that all solve. One at a time, from Python; batch: all in one\n"
        "Problem, on one core. x: Pinocchio's mean divided by ours; above 1, ours is faster.\n"
        "typical: the geometric mean of the ratios of single problems, auto one at a time.\n"
        "Pinocchio gets for each problem the loosest tolerance that reaches a natural map of\n"
        "1e-6, and the fastest of OSQP and SPECTRAL with and without Anderson's acceleration.\n"
        f"At most {MOST_ITERATIONS} iterations for all.",
    ),
    _table(
        WARM,
        f"Microseconds a problem beside Pinocchio's ADMM, warm started, to {TOLERANCE:.0e}",
        "From the solution of a problem with twists that differ by 5 %, times 0.9; Pinocchio with\n"
        "and without velocities of that, the faster one.",
    ),
)


class Entry:
    """One problem, what Pinocchio and our solvers are asked, and who solves it."""

    def __init__(self, sample: Sample, is_warm: bool):
        self.problem, self.start = sample.problem, None
        self.peer = ContactPeer(self.problem)
        choices: Sequence[Choice] = CHOICES
        if is_warm:
            self.start = warm_start(sample)
            self.velocity = self.problem.velocity(self.start)
            choices = [*CHOICES, *(replace(c, is_velocity_guessed=True) for c in CHOICES)]
        found = ((c, self._loosest(c)) for c in choices)
        self.calls = {c: self._call(c, tol) for c, tol in found if tol is not None}
        self.solvers = [name for name in OURS if self.own(name).converged]

    def own(self, name: str) -> contact.Solution:
        """One of our solvers."""
        return contact.solve(self.problem, name, TOLERANCE, MOST_ITERATIONS, self.start)

    def _call(self, choice: Choice, tolerance: float) -> Callable[[], None]:
        settings, peer = choice.settings(tolerance), self.peer
        if self.start is None:
            return lambda: peer.solve(settings)
        velocity = self.velocity if choice.is_velocity_guessed else None
        return lambda: peer.solve_from(settings, self.start, velocity)

    def _loosest(self, choice: Choice) -> float | None:
        """The loosest of Pinocchio's tolerances that reaches the natural map."""
        for tolerance in TOLERANCES:
            self._call(choice, tolerance)()
            if self.peer.natural_map() <= TOLERANCE:
                return tolerance
        return None

    def times(self, settings: Settings) -> dict[object, float]:
        """Microseconds of all choices of Pinocchio, and of our solvers, which take turns."""
        timers = {choice: Timer(call) for choice, call in self.calls.items()}
        timers |= {name: Timer(lambda name=name: self.own(name)) for name in self.solvers}
        brief = replace(settings, repeats=min(settings.repeats, 5), match_seconds=0.0)
        found = best_times(timers, brief, processor_clock())
        return {name: MICROSECONDS * seconds for name, seconds in found.items()}


def measure(field: Field, settings: Settings) -> Findings:
    """One record per table."""
    samples = field.samples(settings)
    return {
        key: [_race(field, [Entry(x, key == WARM) for x in samples], settings)]
        for key in (COLD, WARM)
    }


def _race(field: Field, entries: Sequence[Entry], settings: Settings) -> Record:
    raced = [e for e in entries if e.calls and len(e.solvers) == len(OURS)]
    record: Record = {
        "problems": field.label,
        "rows": entries[0].problem.n_rows,
        "count": len(entries),
        "pinocchio_solved": float(np.mean([bool(e.calls) for e in entries])),
        **{_solved(x): float(np.mean([x in e.solvers for e in entries])) for x in OURS},
        "all": len(raced),
    }
    if not raced:
        return record
    times = [e.times(settings) for e in raced]
    best = [min(e.calls, key=t.get) for e, t in zip(raced, times, strict=True)]
    theirs = np.array([t[choice] for t, choice in zip(times, best, strict=True)])
    record["pinocchio"] = float(theirs.mean())
    record["choices"] = _counted(best)
    record["typical"] = geometric_mean(x / t["auto"] for x, t in zip(theirs, times, strict=True))
    for name in OURS:
        record[name] = float(np.mean([t[name] for t in times]))
        record[f"{name} batch"] = _batch_time(raced, name, settings)
        for own in (name, f"{name} batch"):
            record[_ratio(own)] = record["pinocchio"] / record[own]
    return record


def _counted(choices: Sequence[Choice]) -> dict[str, int]:
    """How often each choice of Pinocchio is the fastest."""
    names = [f"{c.rule}, Anderson {c.memory}" for c in choices]
    return {name: names.count(name) for name in sorted(set(names))}


def _batch_time(entries: Sequence[Entry], name: str, settings: Settings) -> float:
    """Microseconds a problem, all in one `Problem` on one core."""
    problem = contact.Problem(
        np.stack([e.problem.delassus for e in entries]),
        np.stack([e.problem.free_velocity for e in entries]),
        friction=np.stack([e.problem.friction for e in entries]),
    )
    start = None if entries[0].start is None else np.stack([e.start for e in entries])
    timer = Timer(
        lambda: contact.solve(problem, name, TOLERANCE, MOST_ITERATIONS, start, threads=1)
    )
    seconds = best_times({name: timer}, settings, processor_clock())[name]
    return MICROSECONDS * seconds / len(entries)


PART = Part(
    "against Pinocchio",
    cases=lambda _: [(field,) for field in FIELDS],
    measure=measure,
    tables=TABLES,
    plots={"contest": plots.contest},
)
