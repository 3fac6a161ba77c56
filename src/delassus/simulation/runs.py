"""The states of all worlds, and the compiled steps that move them."""

from __future__ import annotations

from itertools import cycle
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..compile import Repeated, evaluate_checked
from ..maximal import MaximalSystem
from ..model.model import Model
from .actuation.drives import Drives
from .collision.geometry import Geometry
from .collision.outside import moved
from .forming import choose_form
from .kernels import (
    DIVERGED,
    OUTCOME,
    SIMULATIONS,
    SLOTS,
    SMOOTH_SIMULATIONS,
    TORN,
    UNSTEERED,
)
from .step import EULER, RK4, SETTING, WHOLE
from .structure.world import World
from .told.metrics import METRIC
from .touching import Touching


class Settings(NamedTuple):
    """What all steps are asked for: whole numbers without the slots; numbers of rows, of solvers.

    See `step.WHOLE`, `step.SETTING` and `contact.laws.request.OPTION`. `is_swept` is whether the
    solver is one that sweeps over cone rows.
    """

    whole: list[int]
    numbers: np.ndarray
    options: np.ndarray
    is_swept: bool


class Run(NamedTuple):
    """What steps have told: (worlds, steps, ...), NaN where a world has not got to.

    `sensed` is of each step, or of the last only. `ended` are worlds that diverged, and after how
    many steps; `unsteered` those whose control could not be used. `torn` are, of those that ended
    with a joint torn open, a row of it and its error.
    """

    trace: np.ndarray
    metrics: np.ndarray
    sensed: np.ndarray
    ended: list[tuple[int, int]]
    unsteered: list[tuple[int, int]]
    torn: dict[int, tuple[int, float]]


class Steering(NamedTuple):
    """The address of a function for controls, or 0, and the time: `start` + `before` dt."""

    controller: int
    start: float
    before: int


NOT_STEERED = Steering(0, 0.0, 0)


class Turn(NamedTuple):
    """Memory for what one step tells, and the parts of it that are looked at."""

    told: list[np.ndarray]
    state: np.ndarray
    v: np.ndarray
    metrics: np.ndarray
    sensed: np.ndarray
    reasons: np.ndarray

    @classmethod
    def of(cls, told: list[np.ndarray], nq: int) -> Turn:
        """The parts of `Worlds._outputs` of a step."""
        state, trace, metrics, sensed, outcome = told
        parts = trace[:, 0, nq:], metrics[:, 0], sensed[:, 0], outcome[:, OUTCOME.reason]
        return cls(told, state, *parts)


class Worlds:
    """So many worlds of a model. Where slots for contacts do not suffice, they get more."""

    def __init__(
        self,
        model: Model,
        geometry: Geometry,
        drives: Drives,
        settings: Settings,
        count: int,
        slots: int,
        threads: int | None,
    ):
        self.model, self.geometry, self.drives = model, geometry, drives
        self.count, self.threads = count, threads
        self.margin, self.dt = settings.numbers[SETTING.margin], settings.numbers[SETTING.dt]
        self.touching = Touching(geometry, self.margin)
        self._lengths: dict[int, np.ndarray] = {}
        self.ask(settings, slots)
        self.switches = np.ones((1, self.world.dimensions["n_switches"]))
        nothing = np.zeros((count, model.n_bodies, 7)), np.zeros((count, model.n_bodies, 6))
        self.start(*nothing, np.zeros((count, model.nq)), np.zeros((count, model.nv)))

    def ask(self, settings: Settings, slots: int) -> None:
        """What steps are asked for from now on, with so many slots for contacts."""
        self.settings = settings
        self._numbers, self._options = settings.numbers[None], settings.options[None]
        self.build(slots)

    def build(self, slots: int) -> None:
        """The world's structure with so many slots for contacts."""
        is_swept = self.settings.is_swept
        self.system = MaximalSystem(self.model, contact_slots=slots)
        form = "rows"
        if not is_swept:
            form = choose_form(self.system, self.geometry, self.settings.numbers)
        self.world = World(self.system, self.geometry, self.drives, form)
        is_smooth = self.settings.whole[WHOLE.integrator] == RK4
        way = "sweeps" if is_swept else form
        self._kernel = (SMOOTH_SIMULATIONS if is_smooth else SIMULATIONS)[way]
        self._whole = np.array([*self.settings.whole, slots, 0], np.int64)
        self._one_step: Repeated | None = None

    def start(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        """Begin anew at states, without reactions."""
        many = [self.world.start(*x) for x in zip(poses, twists, q, strict=True)]
        self.states = np.stack(many)
        self.v, self.before = v.copy(), v.copy()
        self.metrics = np.zeros((self.count, METRIC.size))
        self.sensed = np.zeros((self.count, self.world.dimensions["n_sensed"]))
        self.is_alive, self.are_all_alive = np.ones(self.count, bool), True

    def revive(self, own, poses, twists, q, v) -> None:
        """Some worlds that have ended begin anew at states, without reactions."""
        many = [self.world.start(*x) for x in zip(poses, twists, q, strict=True)]
        self.states[own] = np.stack(many)
        self.v, self.before = self.v.copy(), self.before.copy()  # a viewer may be reading them
        self.v[own] = self.before[own] = v
        self.metrics, self.sensed = self.metrics.copy(), self.sensed.copy()
        self.metrics[own] = self.sensed[own] = 0.0
        self.is_alive[own] = True
        self.are_all_alive = bool(self.is_alive.all())

    def use(self, model: Model) -> None:
        """Go on with a model that differs in numbers only."""
        self.model = model
        self.build(self.system.contact_slots)

    def place(self, own, poses, twists, q, v) -> None:
        """Move some worlds to other states; reactions, contacts and accelerations stay."""
        n = self.system.n_bodies
        self.before[own] += v - self.v[own]
        self.states[own, : 7 * n] = poses.reshape(len(own), -1)
        for start in (7 * n, 13 * n):
            self.states[own, start : start + 6 * n] = twists.reshape(len(own), -1)
        self.states[own, 19 * n : 19 * n + self.model.nq] = q
        self.v[own] = v

    def poses(self, world: int) -> np.ndarray:
        """Poses of the bodies of a world, (n_bodies, 7)."""
        n = self.system.n_bodies
        return self.states[world, : 7 * n].reshape(n, 7)

    def twists(self, world: int) -> np.ndarray:
        """Velocities of the bodies of a world, (n_bodies, 6)."""
        n = self.system.n_bodies
        return self.states[world, 7 * n : 13 * n].reshape(n, 6)

    @property
    def q(self) -> np.ndarray:
        """Coordinates, (worlds, nq)."""
        n = 19 * self.system.n_bodies
        return self.states[:, n : n + self.model.nq]

    # --- steps ------------------------------------------------------------------------------------

    def step(self, control: np.ndarray, pushes: np.ndarray) -> bool:
        """One step of all worlds, which must be alive. Returns whether it was made.

        If it was not, nothing has changed. Steps take turns in what they write to: from another
        thread a viewer may read what the last one told, while the next one is made.
        """
        if self._one_step is None:
            self._prepare_one_step()
        outside, seconds = self._none_outside, 0.0
        if self.geometry.outside:
            outside, seconds = self._outside(np.arange(self.count))
            if outside is None:
                return False
        turn = self._turn
        self._one_step(
            self.states, self._unread, control, pushes, outside, self.switches, self._numbers,
            self._options, *turn.told,
        )  # fmt: skip
        if any(turn.reasons.tolist()):  # of a few numbers, faster than NumPy's
            return False
        if self.geometry.outside:
            turn.metrics[:, METRIC.collision_time] += seconds
        self.before, self.v, self.states = self.v, turn.v, turn.state
        self.metrics, self.sensed = turn.metrics, turn.sensed
        self._turn = next(self._turns)
        return True

    def _prepare_one_step(self) -> None:
        """Look at all that `step` needs and that does not change from one to the next."""
        shared = (self._whole, *[self._ticks(1)] * 4)
        self._one_step = Repeated(self._kernel, self.world, shared, self.count, self.threads)
        self._none_outside = np.zeros((self.count, self.world.dimensions["n_outside"]))
        self._unread = np.zeros_like(self.v)  # velocities, for functions that give controls
        # One is written while two are known: that of the last step, and of that before.
        turns = [Turn.of(self._outputs(self.count, 1, 1), self.model.nq) for _ in range(3)]
        self._turns = cycle(turns)
        self._turn = next(self._turns)

    def run(
        self,
        control: np.ndarray,
        pushes: np.ndarray,
        steps: int,
        is_felt: bool,
        steering: Steering = NOT_STEERED,
    ) -> Run:
        """Steps of all worlds that are alive.

        Controls are (1 or worlds, 1 or steps, n), and so are wrenches; what is felt is kept of all
        steps, or of the last.
        """
        outputs = self._outputs(self.count, steps, steps if is_felt else 1)[1:4]
        run = Run(*outputs, [], [], {})
        for told in outputs:
            told[...] = np.nan
        begun, active = np.zeros(self.count, int), np.flatnonzero(self.is_alive)
        while len(active):
            again: list[int] = []
            for first in np.unique(begun[active]):
                own = active[begun[active] == first]
                parts = (_part(control, own, first), _part(pushes, own, first))
                now = steering._replace(before=steering.before + int(first))
                again += self._advance(own, parts, run, begun, now)
            active = np.array(again, int)
            if again:
                self.grow()
        self._take_last(run)
        return run

    def _advance(
        self, own: np.ndarray, given: tuple, run: Run, begun: np.ndarray, steering: Steering
    ) -> list[int]:
        """Steps of worlds that have all done as many. Returns those that need more slots."""
        first, steps = begun[own[0]], run.trace.shape[1]
        felt = steps - first if run.sensed.shape[1] == steps else 1
        outside, seconds = self._outside(own)
        if outside is None:
            return own.tolist()
        told = self._outputs(len(own), steps - first, felt)
        v = run.trace[own, first - 1, self.model.nq :] if first > 0 else self.v[own]
        self._call(own, (v, *given, outside), steps - first, told, steering)
        told[2][:, 0, METRIC.collision_time] += seconds
        self.states[own] = told[0]
        again = []
        for k, world in enumerate(own):
            done, reason = told[4][k, OUTCOME.steps], told[4][k, OUTCOME.reason]
            end = first + int(done)
            run.trace[world, first:end] = told[1][k, : end - first]
            run.metrics[world, first:end] = told[2][k, : end - first]
            if felt > 1:
                run.sensed[world, first:end] = told[3][k, : end - first]
            elif end == steps:
                run.sensed[world, -1] = told[3][k, -1]
            begun[world] = end
            if reason == SLOTS:
                again.append(int(world))
            elif reason in (DIVERGED, TORN):
                if reason == TORN:
                    metrics = told[2][k, int(done)]
                    row, error = int(metrics[METRIC.joint_row]), float(metrics[METRIC.joint_error])
                    run.torn[int(world)] = row, error
                run.ended.append((int(world), end))
            elif reason == UNSTEERED:
                run.unsteered.append((int(world), end))
            if reason in (DIVERGED, UNSTEERED, TORN):
                self.is_alive[world] = self.are_all_alive = False
        return again

    def _outputs(self, count: int, steps: int, felt: int) -> list[np.ndarray]:
        """Memory for all that steps tell."""
        n = self.world.dimensions
        return [
            np.empty((count, n["n_state"])),
            np.empty((count, steps, n["n_trace"])),
            np.empty((count, steps, METRIC.size)),
            np.empty((count, felt, n["n_sensed"])),
            np.empty((count, OUTCOME.size)),
        ]

    def _call(
        self,
        own: np.ndarray,
        given: tuple,
        steps: int,
        told: list[np.ndarray],
        steering: Steering,
    ) -> None:
        """Call the kernel for some worlds."""
        v, control, pushes, outside = given
        whole, numbers = self._whole.copy(), self._numbers.copy()
        whole[WHOLE.controller] = steering.controller
        numbers[0, SETTING.start], numbers[0, SETTING.before] = steering[1:]
        states = self.states[own]
        switches = self.switches if len(self.switches) == 1 else self.switches[own]
        lengths = steps, control.shape[1], pushes.shape[1], told[3].shape[1]
        shared = (whole, *map(self._ticks, lengths))
        given = np.ascontiguousarray(v), control, pushes, outside
        rows = [states, *given, switches, numbers, self._options, *told]
        evaluate_checked(self._kernel, self.world, shared, rows, len(states), self.threads)

    def _outside(self, own: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        """Contacts from outside of kernels, for one step, and the seconds that each world took.

        The contacts are None if slots do not suffice.
        """
        numbers = np.zeros((len(own), self.world.dimensions["n_outside"]))
        seconds = np.zeros(len(own))
        if self.geometry.outside:
            half = 0.0 if self._whole[WHOLE.integrator] == EULER else 0.5 * self.dt
            for k, (row, world) in enumerate(zip(numbers, own, strict=True)):
                begin = perf_counter()
                poses = moved(self.poses(world), self.twists(world), half)
                found = self.touching.outside.contacts(poses, self.margin)
                if len(found) > self.system.contact_slots:
                    return None, seconds
                row[0], row[1 : 1 + found.size] = len(found), found.ravel()
                seconds[k] = perf_counter() - begin
        return numbers, seconds

    def contacts(self, world: int) -> np.ndarray:
        """The present contacts of a world: see `Simulator.contacts`."""
        state, slots = self.states[world], self.system.contact_slots
        count = int(state[-4 * slots - 1])
        ids, reactions = state[-4 * slots :], state[-3 * slots :].reshape(-1, 3)
        return self.touching.contacts(self.poses(world), ids[:count], reactions[:count], self.dt)

    def _ticks(self, count: int) -> np.ndarray:
        """An array of so many whole numbers: its length tells kernels how many steps there are."""
        if count not in self._lengths:
            self._lengths[count] = np.zeros(count, np.int64)
        return self._lengths[count]

    def _take_last(self, run: Run) -> None:
        """Keep what the last step told of worlds that made it."""
        alive, nq = self.is_alive, self.model.nq
        before = run.trace[:, -2, nq:] if run.trace.shape[1] > 1 else self.v
        self.before = np.where(alive[:, None], before, self.before)
        self.v = np.where(alive[:, None], run.trace[:, -1, nq:], self.v)
        self.metrics, self.sensed = run.metrics[:, -1].copy(), run.sensed[:, -1].copy()

    def grow(self) -> None:
        """Twice as many slots for contacts; states are kept."""
        old, before = self.system.contact_slots, self.states
        slots = 2 * old
        self.build(slots)
        size = before.shape[1] - 4 * old
        grown = np.zeros((len(before), self.world.dimensions["n_state"]))
        grown[:, : size + old] = before[:, : size + old]
        grown[:, size + slots : size + slots + 3 * old] = before[:, size + old :]
        self.states = grown


def _part(given: np.ndarray, own: np.ndarray, first: int) -> np.ndarray:
    """What some worlds are given from a step on, in C order."""
    mine = given if len(given) == 1 else given[own]
    return np.ascontiguousarray(mine if mine.shape[1] == 1 else mine[:, first:])
