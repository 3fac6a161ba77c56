"""Times of embedded forward dynamics, beside solvers, robots without rotors, and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from timeit import Timer

import numpy as np

from ... import Constraints, Embedding, Model, constrained_dynamics, embed
from ..comparing.algorithms import FORWARD_DYNAMICS, result_array
from ..comparing.algorithms import own_timer as tree_timer
from ..comparing.methods import evaluate, own_timer, peer_timer
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..peers.constraints import dynamics_calls
from ..peers.pinocchio import PinocchioPeer
from ..reporting.checks import Limit
from ..reporting.tables import Findings, Record, Table, named, numbers
from ..runner import Part
from . import plots
from .counting import EMBEDDED, SOLVERS
from .problems import PROBLEMS, ClosedStates, LoopProblem

BATCH, SINGLE, DIFFERENCES = "times_batch", "times_single", "differences"
ROTOR_FREE = "rotor-free"
# Pinocchio's functions, with the damping and the fewest iterations by which they come close to
# embedded: constraintDynamics to 1e-10, lcaba to 1e-8, as it loses digits by springs.
PEERS = {"constraintDynamics": (1e-12, 1), "lcaba": (1e-6, 2)}
_LOOP_STATES = 512  # in a loop over Pinocchio's calls; its time per state does not depend on it
_LABELS = {name: name for name in (ROTOR_FREE, EMBEDDED, *SOLVERS, *PEERS)}


def _table(key: str, title: str, format: str, note: str = "") -> Table:
    labels = {k: x for k, x in _LABELS.items() if key != DIFFERENCES or k in (*SOLVERS, *PEERS)}
    return Table(
        key, title, [*named("problem", "nv", "rows"), *numbers(format, **labels)], note=note
    )


TABLES = (
    _table(
        BATCH, "Forward dynamics with loops: microseconds a state in batches, one core", ".2f",
        "embedded: accelerations of independent joints. Solvers: those of all joints of the\n"
        "spanning tree, multipliers and residuals, with the default settings, until converged.\n"
        "rotor-free: forward dynamics of the robot without rotors. Pinocchio: loops over calls,\n"
        "accelerations copied to their places, with the fewest iterations that come close. Loops\n"
        "of four-bars are closed at points, by three rows. In time of the processor.",
    ),
    _table(
        SINGLE, "Forward dynamics with loops: microseconds for one state, from Python", ".2f",
        "All with new results, Pinocchio's copied to its place.",
    ),
    _table(
        DIFFERENCES, "Accelerations: largest difference to embedded, relative", ".0e",
        "Of independent joints.",
    ),
)  # fmt: skip


def measure(problem: LoopProblem, settings: Settings) -> Findings:
    """One record per table."""
    embedding = embed(problem.make())
    states = ClosedStates.random(embedding, problem.configurations, settings.states, settings.seed)
    contest = Contest(problem, embedding)
    batch, differences = contest.race(states, settings)
    single, _ = contest.race(states.first(), settings)
    what = {"problem": problem.label, "nv": embedding.nv, "rows": contest.constraints.size}
    found = {BATCH: batch, SINGLE: single, DIFFERENCES: differences}
    return {key: [what | record] for key, record in found.items()}


class Contest:
    """Contestants for a mechanism with loops."""

    def __init__(self, problem: LoopProblem, embedding: Embedding):
        self.embedding = embedding
        self.constraints: Constraints = problem.constraints(embedding.model)
        self.rotor_free: Model | None = problem.rotor_free and problem.rotor_free()
        self.peer = PinocchioPeer.from_model(embedding.model) if problem.has_peer else None

    def race(self, states: ClosedStates, settings: Settings) -> tuple[Record, Record]:
        """Microseconds per state of all contestants; for a batch their differences to embedded."""
        few = states.first(_LOOP_STATES) if states.embedded.is_batch else states
        theirs = {name: np.zeros_like(few.spanning.v) for name in PEERS if self.peer}
        timers = self._own_timers(states) | {
            name: self._peer_timer(name, few.spanning, out) for name, out in theirs.items()
        }
        times = best_times(timers, settings, processor_clock())
        microseconds = {
            name: MICROSECONDS * seconds / (few if name in PEERS else states).count
            for name, seconds in times.items()
        }
        if not states.embedded.is_batch:
            return microseconds, {}
        return microseconds, self._differences(few, theirs)

    def _own_timers(self, states: ClosedStates) -> dict[str, Timer]:
        mechanisms = {ROTOR_FREE: self.rotor_free, EMBEDDED: self.embedding}
        timers = {
            name: _forward_timer(mechanism, states.embedded)
            for name, mechanism in mechanisms.items()
            if mechanism is not None
        }
        return timers | {
            solver: own_timer(
                constrained_dynamics, self.constraints, states.spanning, method=solver
            )
            for solver in SOLVERS
        }

    def _peer_timer(self, name: str, states: States, out: np.ndarray) -> Timer:
        call = dynamics_calls(self.peer, self.constraints, *PEERS[name])[name]
        return peer_timer(call, states.for_peer(self.peer), out)

    def _differences(self, states: ClosedStates, theirs: dict[str, np.ndarray]) -> Record:
        """Differences to embedded, of all joints that are independent."""
        forward: Callable = FORWARD_DYNAMICS.function
        expected = forward(self.embedding, *vars(states.embedded).values())
        found = {
            solver: evaluate(
                constrained_dynamics, self.constraints, states.spanning, method=solver
            ).acceleration
            for solver in SOLVERS
        }
        found |= {name: self.peer.from_velocity(x) for name, x in theirs.items()}
        independent = self.embedding.independent_dofs
        differences = {
            name: largest_difference(a[:, independent], expected) for name, a in found.items()
        }
        return differences | {"largest": max(differences[solver] for solver in SOLVERS)}


def _forward_timer(mechanism: Model | Embedding, states: States) -> Timer:
    """Forward dynamics of one state with new results, or of a batch into existing arrays."""
    if not states.is_batch:
        return tree_timer(FORWARD_DYNAMICS, mechanism, states, None)
    out = result_array(FORWARD_DYNAMICS, states)
    return tree_timer(FORWARD_DYNAMICS, mechanism, states, out, threads=1)


PART = Part(
    "times",
    cases=lambda _: [(problem,) for problem in PROBLEMS],
    measure=measure,
    tables=TABLES,
    limits=[
        Limit(DIFFERENCES, name, f"{{problem}}, {name}: differs from embedded by {{{name}:.1e}}")
        for name in (*SOLVERS, "constraintDynamics")
    ],
    plots={"times": plots.times},
)
