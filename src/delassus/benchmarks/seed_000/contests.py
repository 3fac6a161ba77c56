"""All our methods against each other and Pinocchio's functions: one state, and batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ... import Constraints, DelassusError, constrained_dynamics, delassus_inverse, mass_matrix
from ..comparing.methods import evaluate, methods, own_timer, peer_timer, proximal_methods
from ..comparing.problems import DAMPING, ITERATIONS, PROXIMAL, Problem
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..peers.constraints import PeerCall, dynamics_calls, inverse_calls
from ..peers.pinocchio import PinocchioPeer
from ..reporting.checks import LARGEST_DIFFERENCE, Limit
from ..reporting.tables import Findings, Record, Table, named, numbers
from ..runner import Derived, Part
from . import plots
from .problems import PAPER, PROBLEMS

BATCH, SINGLE, DIFFERENCES = "batch", "single", "differences"
_LOOP_STATES = 512  # in a loop over Pinocchio's calls; its time per state does not depend on it
_Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Contest:
    """All methods of one of our functions against each other and against Pinocchio's functions.

    `value` takes the array that is compared from a result of ours, and `differences` tells how far
    the arrays of all contestants are from those of the `reference`. `one_state` picks the state for
    calls on one state.
    """

    key: str
    title: str
    function: Callable
    options: Mapping[str, object]
    value: Callable
    one_state: Callable[[Constraints, Sequence[str], States], States]
    peers: Sequence[str]
    calls: Callable[[PinocchioPeer, Constraints], Mapping[str, PeerCall]]
    reference: str
    differences: Callable[[Constraints, PinocchioPeer, States, _Arrays, _Arrays], Record]
    note: str

    def measure(self, problem: Problem, settings: Settings) -> Findings:
        """One record per table: times in batches, times for one state, and differences."""
        constraints, peer = problem.pair()
        states = States.random(constraints.model, settings.states, settings.seed)
        names = self.able(constraints, states.first())
        one = self.one_state(constraints, names, states)
        single, _ = self.race(names, constraints, peer, one, settings)
        batch, differences = self.race(names, constraints, peer, states, settings)
        found = {BATCH: batch, SINGLE: single, DIFFERENCES: differences}
        what = {"problem": problem.label, "nv": constraints.model.nv, "rows": constraints.size}
        return {f"{self.key}_{mode}": [what | record] for mode, record in found.items()}

    def able(self, constraints: Constraints, state: States) -> list[str]:
        """The methods that can solve a problem; the others raise an error."""
        names = []
        for name in methods(self.function.__name__):
            try:
                self.evaluate(name, constraints, state)
            except DelassusError:
                continue
            names.append(name)
        return names

    def evaluate(self, method: str, constraints: Constraints, states: States) -> np.ndarray:
        """The array that a method of ours finds."""
        found = evaluate(self.function, constraints, states, method=method, **self.options)
        return self.value(found)

    def race(
        self,
        names: Sequence[str],
        constraints: Constraints,
        peer: PinocchioPeer,
        states: States,
        settings: Settings,
    ) -> tuple[dict[str, float], Record]:
        """Microseconds per state of all contestants; for a batch also their differences."""
        looped = states.first(_LOOP_STATES) if states.is_batch else states
        ours = {name: self.evaluate(name, constraints, looped) for name in names}
        calls = self.calls(peer, constraints)
        theirs = {name: np.zeros(ours[names[0]].shape) for name in calls}
        timers = {
            name: own_timer(self.function, constraints, states, method=name, **self.options)
            for name in names
        }
        timers |= {
            name: peer_timer(call, looped.for_peer(peer), theirs[name])
            for name, call in calls.items()
        }
        times = best_times(timers, settings, processor_clock())
        microseconds = {
            name: MICROSECONDS * seconds / (looped if name in calls else states).count
            for name, seconds in times.items()
        }
        if not states.is_batch:
            return microseconds, {}
        return microseconds, self.differences(constraints, peer, looped, ours, theirs)

    def tables(self) -> list[Table]:
        """Tables of batches, of one state and of differences, with one row per problem."""
        titles = {
            BATCH: f"{self.title}: microseconds a state in batches, one core",
            SINGLE: f"{self.title}: microseconds for one state, from Python",
            DIFFERENCES: f"{self.title}: largest difference to {self.reference}, relative",
        }
        names = [*methods(self.function.__name__), *self.peers]
        return [
            Table(
                f"{self.key}_{mode}",
                title,
                [
                    *named("problem", "nv", "rows"),
                    *numbers(".0e" if mode == DIFFERENCES else ".2f", **{n: n for n in names}),
                ],
                note=self.note if mode == BATCH else "",
            )
            for mode, title in titles.items()
        ]

    def part(self, limits: Sequence[Limit]) -> Part:
        """The contest as a part of the benchmark."""
        return Part(
            self.key,
            cases=lambda _: [(problem,) for problem in PROBLEMS],
            measure=self.measure,
            tables=self.tables(),
            limits=limits,
            plots={self.key: partial(plots.times, self.title, self.key)},
        )

    def beside_paper(self, table: str) -> Derived:
        """A table of our times beside those of a table of the paper."""
        names = next(iter(PAPER[self.key].values()))
        layout = Table(
            f"{self.key}_paper",
            f"{self.title}: microseconds a state, ours and the paper's ({table})",
            [*named("problem", "times"), *numbers(".2f", **{name: name for name in names})],
            note="paper: Sathya and Carpentier 2024, from C++ on a Core i9-13950HX. Its arm is a\n"
            "KUKA iiwa, its humanoid with hands an Atlas with two Shadow Hands.",
        )
        return Derived(layout, self._beside_paper)

    def _beside_paper(self, findings: Findings) -> list[Record]:
        """Three records per problem: our batch, our one state, and the paper."""
        sources = {
            "ours, batch": _by_problem(findings[f"{self.key}_{BATCH}"]),
            "ours, one state": _by_problem(findings[f"{self.key}_{SINGLE}"]),
            "paper": PAPER[self.key],
        }
        return [
            {name: found[problem].get(name) for name in paper}
            | {"problem": problem, "times": label}
            for problem, paper in PAPER[self.key].items()
            for label, found in sources.items()
        ]


def _by_problem(records: Sequence[Record]) -> dict[str, Record]:
    return {record["problem"]: record for record in records}


def _hardest(constraints: Constraints, names: Sequence[str], states: States) -> States:
    """A state for which all proximal methods need all iterations that they are allowed."""
    some = states.first(_LOOP_STATES)
    counts = [
        evaluate(constrained_dynamics, constraints, some, method=name, **PROXIMAL).iterations
        for name in proximal_methods()
        if name in names
    ]
    return some.at(int(np.argmax(np.min(counts, axis=0))))


def _from_pinocchio(
    constraints: Constraints, peer: PinocchioPeer, states: States, ours: _Arrays, theirs: _Arrays
) -> Record:
    """Differences to `constraintDynamics`, which does the same number of iterations."""
    theirs = {name: peer.from_velocity(x) for name, x in theirs.items()}
    expected = theirs["constraintDynamics"]
    return {name: largest_difference(x, expected) for name, x in {**ours, **theirs}.items()}


def _from_dense(
    constraints: Constraints, peer: PinocchioPeer, states: States, ours: _Arrays, theirs: _Arrays
) -> Record:
    """Differences to a dense inverse.

    Pinocchio's rows have other axes than ours, so that its eigenvalues are compared.
    """
    J, M = constraints.jacobian(states.q), mass_matrix(constraints.model, states.q)
    G = J @ np.linalg.solve(M, J.swapaxes(-1, -2))
    expected = np.linalg.inv(G + DAMPING * np.eye(constraints.size))
    values = np.linalg.eigvalsh(expected)
    return {name: largest_difference(x, expected) for name, x in ours.items()} | {
        name: largest_difference(np.linalg.eigvalsh(x), values) for name, x in theirs.items()
    }


DYNAMICS_CONTEST = Contest(
    key="dynamics",
    title="Constrained dynamics",
    function=constrained_dynamics,
    options=PROXIMAL,
    value=lambda solution: solution.acceleration,
    one_state=_hardest,
    peers=("constraintDynamics", "lcaba"),
    calls=lambda peer, constraints: dynamics_calls(peer, constraints, DAMPING, ITERATIONS),
    reference="constraintDynamics",
    differences=_from_pinocchio,
    note=f"Damping {DAMPING:g}, at most {ITERATIONS} proximal iterations, tolerance 0; methods\n"
    "without iterations solve once. Pinocchio: loops over its calls. In time of the processor.\n"
    "lcaba of Pinocchio 4.1 is wrong in every second call where frames are welded, see the\n"
    "differences: something stays in its data. Its time is not affected.",
)
INVERSE_CONTEST = Contest(
    key="inverse",
    title="Damped Delassus inverse",
    function=delassus_inverse,
    options={"damping": DAMPING},
    value=lambda inverse: inverse,
    one_state=lambda constraints, names, states: states.first(),
    peers=("computeDampedDelassusMatrixInverse", "computeDelassusMatrix"),
    calls=lambda peer, constraints: inverse_calls(peer, constraints, DAMPING),
    reference="a dense inverse",
    differences=_from_dense,
    note="Pinocchio: computeDampedDelassusMatrixInverse, which from Python lacks the call that\n"
    "prepares it, so that it leaves out the rows' sweeps and gives a multiple of the unit matrix\n"
    "(see the differences): a lower bound of its time. computeDelassusMatrix with springs gives\n"
    "the inverse by one subtraction in NumPy; its time has both.",
)

# Methods that are less accurate than the others: they add springs of stiffness 1 / damping, or
# invert a limb that may be singular by itself.
_LOSING = ("caba-osim", "caba-osimf", "pv-osimf")
# Their differences may be this many times those of Pinocchio, which adds springs too.
_LOSS = 10.0


def inverse_limit(method: str, record: Record) -> float:
    """How far an inverse may be from the dense one."""
    if method not in _LOSING:
        return LARGEST_DIFFERENCE
    return max(LARGEST_DIFFERENCE, _LOSS * record["computeDelassusMatrix"])


DYNAMICS_PART = DYNAMICS_CONTEST.part(
    [
        Limit("dynamics_differences", name, f"{{problem}}, {name}: differs by {{{name}:.1e}}")
        for name in proximal_methods()
    ]
)
INVERSE_PART = INVERSE_CONTEST.part(
    [
        Limit(
            "inverse_differences",
            name,
            f"{{problem}}, {name}: the inverse differs by {{{name}:.1e}}",
            partial(inverse_limit, name),
        )
        for name in methods(delassus_inverse.__name__)
    ]
)
