"""Times of all methods and of Pinocchio's functions for the same, one state and batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from timeit import Timer

import numpy as np

import delassus

from ...constrained.rows.constraints import Constraints
from ...errors import DelassusError
from .. import methods
from ..pinocchio_constraints import ConstrainedPeer, proximal_settings
from ..pinocchio_peer import PinocchioPeer, pinocchio
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States, largest_difference
from ..timing import best_times, processor_clock
from .problems import DAMPING, PROBLEMS, Problem, ordered_peer

ITERATIONS = 3
BATCH, SINGLE, DIFFERENCES = "batch", "single", "differences"
_LOOP_STATES = 512  # in a loop over Pinocchio's calls: its time a state does not depend on it
_MICROSECONDS = 1e6
_Scope = dict[str, object]
_Results = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Contest:
    """A function of ours, its call, and calls of Pinocchio's by name, with what they need.

    `differences` tells how far results are from what `reference` names: of ours, and Pinocchio's.
    """

    key: str
    title: str
    function: str
    inputs: tuple[str, ...]
    arguments: str
    reference: str
    differences: Callable[[Constraints, States, _Results, _Results], dict[str, float]]
    peers: Callable[[PinocchioPeer, Constraints], Mapping[str, tuple[str, _Scope]]]
    note: str

    def jobs(self, settings: Settings) -> list[Job]:
        """A job for each problem."""
        return [
            Job(f"{self.key}, {p.label}", lambda p=p: self.compare(p, settings)) for p in PROBLEMS
        ]

    def compare(self, problem: Problem, settings: Settings) -> dict[str, object]:
        """Microseconds a state of all contestants, alone and in batches, and their differences."""
        constraints, peer = problem.pair()
        states = States.random(constraints.model, settings.states, settings.seed)
        names = self.able(constraints, states.first())
        shape = self.result_shape(constraints)
        times = {}
        for mode, own in ((SINGLE, self.hardest(names, constraints, states)), (BATCH, states)):
            looped = own.first(_LOOP_STATES) if mode == BATCH else own
            calls = self.peers(peer, constraints)
            out = {name: np.zeros((*_lead(looped), *shape)) for name in calls}
            timers = {name: self.own_timer(name, constraints, own) for name in names}
            timers |= self.peer_timers(calls, looped.for_peer(peer), out)
            counts = {name: own.q.size if name in names else looped.q.size for name in timers}
            times[mode] = {
                name: _MICROSECONDS * seconds * constraints.model.nq / counts[name]
                for name, seconds in best_times(timers, settings).items()
            }
        found = {name: self.evaluate(name, constraints, looped) for name in names}
        theirs = {name: self.in_our_order(peer, x) for name, x in out.items()}
        return {
            "problem": problem.label, "nv": constraints.model.nv, "rows": constraints.size,
            **times, DIFFERENCES: self.differences(constraints, looped, found, theirs),
        }  # fmt: skip

    def hardest(self, names: list[str], constraints: Constraints, states: States) -> States:
        """A state that takes as many iterations as are allowed, if it is about iterations."""
        if self.function != methods.DYNAMICS:
            return states.first()
        some = states.first(_LOOP_STATES)
        counts = [
            delassus.constrained_dynamics(
                constraints.model, some.q, some.v, some.x, constraints, method=name,
                damping=DAMPING, tolerance=0.0, max_iterations=ITERATIONS,
            ).iterations
            for name in methods.proximal_methods()
            if name in names
        ]  # fmt: skip
        return some.at(int(np.argmax(np.min(counts, axis=0))))

    def able(self, constraints: Constraints, state: States) -> list[str]:
        """The methods that take a problem."""
        names = []
        for name in methods.methods(self.function):
            try:
                self.evaluate(name, constraints, state)
            except DelassusError:
                continue
            names.append(name)
        return names

    def evaluate(self, method: str, constraints: Constraints, states: States) -> np.ndarray:
        """What a method of ours finds."""
        scope = self.scope(method, constraints, states)
        result = eval(self.call(method), scope)
        return result.acceleration if self.function == methods.DYNAMICS else result

    def call(self, method: str, more: str = "") -> str:
        """The call of one of our methods, as source text."""
        return f"function(model, {self.arguments}, method={method!r}{more})"

    def scope(self, method: str, constraints: Constraints, states: States) -> _Scope:
        """What the call refers to."""
        return {
            "function": getattr(delassus, self.function),
            "model": constraints.model, "constraints": constraints, "damping": DAMPING,
            **vars(states),
        }  # fmt: skip

    def own_timer(self, method: str, constraints: Constraints, states: States) -> Timer:
        """A call of ours on one state, or on a batch by one thread into arrays that are there."""
        scope, more = self.scope(method, constraints, states), ""
        if states.q.ndim > 1:
            scope["out"], more = eval(self.call(method), scope), ", threads=1, out=out"
        return Timer(self.call(method, more), timer=processor_clock(), globals=scope)

    def peer_timers(
        self, calls: Mapping[str, tuple[str, _Scope]], states: States, out: _Results
    ) -> dict[str, Timer]:
        """Pinocchio on one state, or state by state; results are copied to `out`."""
        timers = {}
        for name, (call, scope) in calls.items():
            arrays = {"out": out[name], **vars(states)}
            arrays = {key: arrays[key] for key in ("out", *self.inputs)}
            loop = ""
            if states.q.ndim > 1:
                places = ", ".join(f"all_{key}" for key in arrays)
                loop = f"for {', '.join(arrays)} in zip({places}): "
                arrays = {f"all_{key}": array for key, array in arrays.items()}
            statement = f"{loop}out[:] = {call}"
            timers[name] = Timer(statement, timer=processor_clock(), globals=scope | arrays)
        return timers

    def result_shape(self, constraints: Constraints) -> tuple[int, ...]:
        """The shape of a result for one state."""
        if self.function == methods.DYNAMICS:
            return (constraints.model.nv,)
        return (constraints.size, constraints.size)

    def in_our_order(self, peer: PinocchioPeer, results: np.ndarray) -> np.ndarray:
        """Results of Pinocchio's as ours: rows of constraints have the same order in both."""
        return peer.from_velocity(results) if self.function == methods.DYNAMICS else results

    def tables(self, records: Sequence[dict[str, object]]) -> list[Table]:
        """A row a problem: batches, one state, differences."""
        titles = {
            BATCH: f"{self.title}: microseconds a state in batches, one core",
            SINGLE: f"{self.title}: microseconds for one state, from Python",
            DIFFERENCES: f"{self.title}: largest difference to {self.reference}, relative",
        }
        notes = {BATCH: self.note}
        made = []
        for mode, title in titles.items():
            names = dict.fromkeys(name for record in records for name in record[mode])
            columns = [Column("problem"), Column("nv"), Column("rows")]
            form = ".0e" if mode == DIFFERENCES else ".2f"
            columns += [Column(name, name, form) for name in names]
            rows = [{**record, **record[mode]} for record in records]
            made.append(Table(f"{self.key}_{mode}", title, columns, rows, notes.get(mode, "")))
        return made


def _from_pinocchio(
    constraints: Constraints, states: States, ours: _Results, theirs: _Results
) -> dict[str, float]:
    """Differences to Pinocchio's constrained dynamics, which does the same iterations."""
    expected = theirs["constraintDynamics"]
    return {name: largest_difference(x, expected) for name, x in {**ours, **theirs}.items()}


def _from_dense(
    constraints: Constraints, states: States, ours: _Results, theirs: _Results
) -> dict[str, float]:
    """Differences to a dense inverse: of Pinocchio's, whose rows have other axes, eigenvalues'."""
    J, M = constraints.jacobian(states.q), delassus.mass_matrix(constraints.model, states.q)
    G = J @ np.linalg.solve(M, J.swapaxes(-1, -2))
    expected = np.linalg.inv(G + DAMPING * np.eye(constraints.size))
    values = np.linalg.eigvalsh(expected)
    return {name: largest_difference(x, expected) for name, x in ours.items()} | {
        name: largest_difference(np.linalg.eigvalsh(x), values) for name, x in theirs.items()
    }


def _lead(states: States) -> tuple[int, ...]:
    return states.q.shape[:-1]


def dynamics_peers(
    peer: PinocchioPeer, constraints: Constraints, iterations: int = ITERATIONS
) -> dict[str, tuple[str, _Scope]]:
    """The sparse factorisation, and the recursion that takes loops too."""
    module = pinocchio()
    call = "function(model, data, q, v, x, constraints, constraint_data, settings)"
    shared = {"settings": proximal_settings(DAMPING, iterations)}
    return {
        "constraintDynamics": (call, _peer_scope(
            module.constraintDynamics, ConstrainedPeer(peer, constraints)) | shared),
        "lcaba": (call, _peer_scope(module.lcaba, ordered_peer(peer, constraints)) | shared),
    }  # fmt: skip


def inverse_peers(peer: PinocchioPeer, constraints: Constraints) -> dict[str, tuple[str, _Scope]]:
    """The function for it, and that for the matrix with springs, of which it is made."""
    module = pinocchio()
    matrix = "function(model, data, q, constraints, constraint_data, {})"
    own = ConstrainedPeer(peer, constraints)
    springs = _peer_scope(module.computeDelassusMatrix, own)
    springs |= {"one": np.eye(constraints.size), "stiffness": 1.0 / DAMPING}
    return {
        "computeDampedDelassusMatrixInverse": (matrix.format("damping"), _peer_scope(
            module.computeDampedDelassusMatrixInverse, own) | {"damping": DAMPING}),
        "computeDelassusMatrix": (
            f"stiffness * (one - stiffness * {matrix.format('stiffness')})", springs),
    }  # fmt: skip


def _peer_scope(function: Callable, own: ConstrainedPeer) -> _Scope:
    return {"function": function, **vars(own)}


DYNAMICS_CONTEST = Contest(
    key="dynamics",
    title="Constrained dynamics",
    function=methods.DYNAMICS,
    inputs=("q", "v", "x"),
    arguments=f"q, v, x, constraints, damping=damping, tolerance=0.0, max_iterations={ITERATIONS}",
    reference="constraintDynamics",
    differences=_from_pinocchio,
    peers=dynamics_peers,
    note=f"Damping {DAMPING:g}, at most {ITERATIONS} proximal iterations, tolerance 0; methods\n"
    "without iterations solve once. Pinocchio: loops over its calls. In time of the processor.\n"
    "lcaba of Pinocchio 4.1 is wrong in every second call where frames are welded, see the\n"
    "differences: something stays in its data. Its time is not affected.",
)
INVERSE_CONTEST = Contest(
    key="inverse",
    title="Damped Delassus inverse",
    function=methods.INVERSE,
    inputs=("q",),
    arguments="q, constraints, damping",
    reference="a dense inverse",
    differences=_from_dense,
    peers=inverse_peers,
    note="Pinocchio: computeDampedDelassusMatrixInverse, which from Python lacks the call that\n"
    "prepares it, so that it leaves out the rows' sweeps and gives a multiple of the unit matrix\n"
    "(see the differences): a lower bound of its time. computeDelassusMatrix with springs gives\n"
    "the inverse by one subtraction in NumPy; its time has both.",
)
