"""The class Simulator: worlds of one model that move in steps of time."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import flag, instance, positive_integer, real_array
from ..contact.solving import solver_request
from ..errors import DivergenceError, SettingError, ShapeError
from ..maximal import MaximalSystem, Stabilization
from ..maximal.settings import step_size
from ..model.model import Model
from ..model.parts.names import known_name
from .collision.geometry import Geometry
from .collision.materials import Material
from .collision.outside import moved
from .collision.shapes import ground_plane, has_plane
from .projection import on_loops
from .recording import Recording
from .step import DIVERGED, EULER, METRIC, MIDPOINT, OUTCOME, SLOTS, simulate
from .structure import World
from .touching import Touching

INTEGRATORS = {"euler": EULER, "midpoint": MIDPOINT}
ON_ERROR = ("raise", "warn", "record")
SOLVERS = ("auto",)
_MARGIN = 2e-3  # contacts closer than this have rows
_CHUNK = 1000  # steps of a call, between two reports of progress


class Projection(NamedTuple):
    """By how much `reset` has changed what was given, so that joints hold."""

    position: float
    velocity: float


class Simulator:
    """One world, or many, of a model in maximal coordinates.

    >>> sim = dl.Simulator(model)
    >>> sim.reset(q)
    >>> rec = sim.rollout(1000)

    `ground` is whether there is a plane z = 0, in a model that has no plane of the world itself.
    `friction` and `restitution` are those of shapes that say nothing of it. `meshes` is with what
    meshes collide, by their convex hulls: "planes", "all" or "none". `stiffness` and
    `damping` are those of servos, a number for each degree of freedom, or one: they are part of a
    step's equations, and pull towards `control` (see `step`). `on_error` is what happens where a
    world diverges: "raise", "warn", or "record" only. With `worlds` all arrays have an axis more,
    of that length.
    """

    def __init__(
        self,
        model: Model,
        dt: float = 1e-3,
        coordinates: str = "maximal",
        integrator: str = "midpoint",
        solver: str = "auto",
        ground: bool = True,
        worlds: int | None = None,
        *,
        stiffness: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        friction: float = 0.8,
        restitution: float = 0.0,
        tolerance: float = 1e-6,
        joint_tolerance: float = 1e-9,
        max_iterations: int = 200,
        stabilization: Stabilization | None = None,
        contact_slots: int = 16,
        meshes: str = "planes",
        on_error: str = "raise",
        threads: int | None = None,
    ):
        self.model = instance("the model of a Simulator", model, Model)
        self.dt = step_size(dt)
        known_name("coordinates", coordinates, ("maximal",))
        self.integrator = known_name("integrator", integrator, INTEGRATORS)
        self.solver = known_name("the solver of a Simulator", solver, SOLVERS)
        self.worlds = None if worlds is None else positive_integer("worlds", worlds)
        self.on_error = known_name("on_error", on_error, ON_ERROR)
        self.threads = threads
        self.gains = np.stack([self._per_dof("stiffness", stiffness)] * 2, axis=1)
        self.gains[:, 1] = self._per_dof("damping", damping)
        self._check_servos()
        material = Material(friction, restitution)
        has_ground = flag("ground", ground) and not has_plane(model)
        surroundings = [ground_plane(material)] if has_ground else []
        self._geometry = Geometry(model, surroundings, materials=material, meshes=meshes)
        self._touching = Touching(self._geometry, _MARGIN)
        self._warn_of_shapes()
        self._request = solver_request(solver, tolerance, max_iterations)
        if stabilization is None:
            erp = 0.0 if self.integrator == "midpoint" else 0.1
            stabilization = Stabilization(joints=erp, contacts=0.1, depenetration_speed=1.0)
        self.stabilization = instance("stabilization", stabilization, Stabilization)
        numbers = [*self.stabilization.packed(self.dt), _MARGIN, float(joint_tolerance)]
        self._settings = np.array(numbers)
        self._build(positive_integer("contact_slots", contact_slots))
        self.time = 0.0
        self.failures: list[str] = []
        self.reset(model.neutral())

    # --- structure --------------------------------------------------------------------------------

    def _build(self, slots: int) -> None:
        """The world's structure with so many slots for contacts."""
        self.system = MaximalSystem(self.model, contact_slots=slots)
        self._world = World(self.system, self._geometry)
        chosen = INTEGRATORS[self.integrator]
        self._whole = np.array([*self._request.limits, chosen, slots], np.int64)

    def _warn_of_shapes(self) -> None:
        """Name the shapes that do not collide, or not with all others."""
        for message in self._geometry.remarks():
            warnings.warn(message, UserWarning, stacklevel=3)

    def _per_dof(self, what: str, given: ArrayLike) -> np.ndarray:
        x = real_array(what, given)
        if x.shape not in ((), (self.model.nv,)):
            raise ShapeError(f"{what} must be a number or have shape ({self.model.nv},)")
        if not (np.isfinite(x).all() and (x >= 0.0).all()):
            raise SettingError(f"{what} must be finite and not negative")
        return np.broadcast_to(x, (self.model.nv,)).copy()

    def _check_servos(self) -> None:
        for joint in self.model.joints:
            if joint.nq != joint.nv and self.gains[joint.v, 0].any():
                raise SettingError(
                    f"joint {joint.name!r} has a stiffness, but only joints whose coordinates are "
                    "as many as their velocities can have one"
                )

    # --- state ------------------------------------------------------------------------------------

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> Projection:
        """Start anew at q and v, projected onto joints; returns by how much that changed them."""
        q, v = self._states("q", q, self.model.nq), self._states("v", v, self.model.nv)
        given_q, given_v = q, v
        q, v = on_loops(self.model, q, v)
        poses, twists = self.system.state(q, v)
        many = [self._world.start(*x) for x in zip(poses, twists, q, strict=True)]
        self._states_now = np.stack(many)
        self._metrics = np.zeros((len(many), METRIC.size))
        self._v = v.copy()
        self.time = 0.0
        moved = 0.0
        if not np.array_equal(q, given_q):
            moved = np.abs(self.model.difference(given_q, q)).max()
        return Projection(float(moved), float(np.abs(v - given_v).max(initial=0.0)))

    def _states(self, what: str, given: ArrayLike | None, count: int) -> np.ndarray:
        """Numbers of all worlds, from those of one or of all."""
        n = self.worlds or 1
        x = np.zeros(count) if given is None else real_array(what, given)
        if x.shape not in ((count,), (n, count)) or (x.ndim == 2 and self.worlds is None):
            shape = f"({count},)" if self.worlds is None else f"({count},) or ({n}, {count})"
            raise ShapeError(f"{what} must have shape {shape}, got {x.shape}")
        if not np.isfinite(x).all():
            raise ShapeError(f"{what} must be finite")
        return np.broadcast_to(x, (n, count)).copy()

    @property
    def q(self) -> np.ndarray:
        """Coordinates, (nq,) or (worlds, nq)."""
        n = 19 * self.system.n_bodies
        return self._shown(self._states_now[:, n : n + self.model.nq].copy())

    @property
    def v(self) -> np.ndarray:
        """Velocities, (nv,) or (worlds, nv)."""
        return self._shown(self._v.copy())

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        """What is known of the last step, by name."""
        names = METRIC._fields[:-1]
        return {name: self._shown(self._metrics[:, k].copy()) for k, name in enumerate(names)}

    @property
    def contacts(self) -> np.ndarray | list[np.ndarray]:
        """The present contacts, as an array of records; of many worlds a list of such arrays.

        Fields: `first` and `second`, names of bodies; `first_shape` and `second_shape`; `point`,
        `normal` from the first to the second, `distance`, `friction`; `force` on the second, that
        of the last step, in world axes. Contacts that are new since then have no force yet.
        """
        n, slots = self.system.n_bodies, self._world.dimensions["n_slots"]
        found = []
        for state in self._states_now:
            count = int(state[-4 * slots - 1])
            ids, reactions = state[-4 * slots :], state[-3 * slots :].reshape(-1, 3)
            poses = state[: 7 * n].reshape(n, 7)
            found.append(self._touching.contacts(poses, ids[:count], reactions[:count], self.dt))
        return found[0] if self.worlds is None else found

    def _shown(self, x: np.ndarray) -> np.ndarray:
        return x[0] if self.worlds is None else x

    def state(self) -> dict[str, np.ndarray]:
        """All that the future depends on."""
        return {
            "numbers": self._states_now.copy(),
            "v": self._v.copy(),
            "metrics": self._metrics.copy(),
            "time": np.array(self.time),
            "contact_slots": np.array(self.system.contact_slots),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a state of `state`, of this simulator or of one like it."""
        slots = int(state["contact_slots"])
        if slots != self.system.contact_slots:
            self._build(slots)
        numbers = np.array(state["numbers"], float)
        wanted = (self.worlds or 1, self._world.dimensions["n_state"])
        if numbers.shape != wanted:
            raise ShapeError(f"the state is of another simulator: {numbers.shape}, not {wanted}")
        self._states_now = numbers
        self._v, self._metrics = np.array(state["v"]), np.array(state["metrics"])
        self.time = float(state["time"])

    # --- steps ------------------------------------------------------------------------------------

    def step(self, control: ArrayLike | None = None) -> None:
        """One step. `control` are torques, and targets where a servo has a stiffness, (nv,)."""
        self._run(self._controls(control, 1), None)

    def rollout(
        self,
        steps: int,
        control: ArrayLike | Callable | None = None,
        progress: bool = False,
        record: str | None = None,
        contacts: bool = False,
    ) -> Recording:
        """Many steps; what happens is returned, and written to the file `record` as it happens.

        `control` is an array (nv,), (steps, nv), or with a first axis of worlds, or a function of
        this simulator that returns the control of the next step. `contacts` is whether contacts of
        each step are recorded too, which is slower: Python looks at each step.
        """
        steps = positive_integer("steps", steps)
        made = Recording.start(self, record, flag("contacts", contacts))
        bar = _Progress(steps, flag("progress", progress))
        with made.closing():
            if callable(control):
                for _ in range(steps):
                    self._run(self._controls(control(self), 1), made)
                    bar.advance(1)
            else:
                given = self._controls(control, steps)
                chunk = 1 if contacts or self._geometry.outside else _CHUNK
                for start in range(0, steps, chunk):
                    part = given[:, start : start + chunk]
                    self._run(part, made)
                    bar.advance(part.shape[1])
        bar.close()
        return made

    def _controls(self, given: ArrayLike | None, steps: int) -> np.ndarray:
        """Generalised forces (worlds, steps, nv): torques, and stiffness times targets."""
        nv, n = self.model.nv, self.worlds or 1
        u = np.zeros(nv) if given is None else real_array("control", given)
        allowed = [(nv,), (steps, nv)] + [(n, nv), (n, steps, nv)] * (self.worlds is not None)
        if u.shape not in allowed:
            raise ShapeError(f"control must have one of the shapes {allowed}, got {u.shape}")
        if not np.isfinite(u).all():
            raise SettingError("control has numbers that are not finite")
        if u.shape == (n, nv) and self.worlds is not None and (steps != n or steps == 1):
            u = u[:, None]
        u = np.broadcast_to(u, (n, steps, nv))
        has_servo = self.gains[:, 0] > 0.0
        return np.where(has_servo, self.gains[:, 0] * u, u)

    def _run(self, control: np.ndarray, recording: Recording | None) -> None:
        """Steps of all worlds; where slots do not suffice, worlds go on with more of them."""
        steps = control.shape[1]
        n = len(control)
        trace = np.full((n, steps, self.model.nq + self.model.nv), np.nan)
        metrics = np.full((n, steps, METRIC.size), np.nan)
        begun = np.zeros(n, int)
        active = np.arange(n)
        while len(active):
            left = steps - begun[active].min()
            again = []
            for first in sorted(set(begun[active])):
                own = active[begun[active] == first]
                self._call(own, control[own, first:], trace, metrics, begun, again)
            del left
            active = np.array(again, int)
            if len(active):
                self._grow()
        self.time += steps * self.dt
        self._v = np.where(
            np.isfinite(trace[:, -1, self.model.nq :]), trace[:, -1, self.model.nq :], self._v
        )
        self._metrics = metrics[:, -1]
        if recording is not None:
            recording.add(self, trace, metrics)

    def _call(self, own, control, trace, metrics, begun, again) -> None:
        """Steps of some worlds that all start at the same tick."""
        first, steps = begun[own[0]], control.shape[1]
        nothing = np.zeros((self.model.n_bodies, 6))
        ticks = np.zeros(steps, np.int64)
        outside = self._outside(own)
        if outside is None:
            again.extend(own)
            return
        inputs = (
            self._states_now[own], np.ascontiguousarray(control), self.gains[None], nothing[None],
            outside, self._settings[None], self._request.options[None],
        )  # fmt: skip
        after, found, told, outcome = simulate(
            self._world, inputs, None, self.threads, (self._whole, ticks)
        )
        self._states_now[own] = after
        for k, world in enumerate(own):
            done, reason = int(outcome[k, OUTCOME.steps]), int(outcome[k, OUTCOME.reason])
            trace[world, first : first + done] = found[k, :done]
            metrics[world, first : first + done] = told[k, :done]
            begun[world] += done
            if reason == SLOTS:
                again.append(world)
            elif reason == DIVERGED:
                self._fail(world, self.time + (first + done) * self.dt)

    def _outside(self, own: np.ndarray) -> np.ndarray | None:
        """Contacts from outside of kernels, for one step; None if slots do not suffice."""
        numbers = np.zeros((len(own), self._world.dimensions["n_outside"]))
        if self._geometry.outside:
            n = self.system.n_bodies
            half = 0.5 * self.dt if self.integrator == "midpoint" else 0.0
            for row, state in zip(numbers, self._states_now[own], strict=True):
                poses, twists = state[: 7 * n].reshape(n, 7), state[7 * n : 13 * n].reshape(n, 6)
                found = self._touching.outside.contacts(moved(poses, twists, half), _MARGIN)
                if len(found) > self.system.contact_slots:
                    return None
                row[0], row[1 : 1 + found.size] = len(found), found.ravel()
        return numbers

    def _grow(self) -> None:
        """Twice as many slots for contacts; states are kept."""
        old, slots = self._world.dimensions["n_slots"], 2 * self.system.contact_slots
        self._build(slots)
        before = self._states_now
        size = before.shape[1] - 4 * old
        grown = np.zeros((len(before), self._world.dimensions["n_state"]))
        grown[:, : size + old] = before[:, : size + old]
        grown[:, size + slots : size + slots + 3 * old] = before[:, size + old :]
        self._states_now = grown

    def _fail(self, world: int, time: float) -> None:
        where = "" if self.worlds is None else f"world {world} "
        message = f"{where}diverged at {time:.4f} s: velocities are not finite or beyond all bounds"
        self.failures.append(message)
        if self.on_error == "raise":
            raise DivergenceError(message)
        if self.on_error == "warn":
            warnings.warn(message, RuntimeWarning, stacklevel=4)

    def view(self, **options: Any) -> Any:
        """Show the worlds as they are now in a browser (extra `viewer`).

        The viewer that is returned moves them by `.update(sim.q)`.

        Options are those of `delassus.viewer.view`: host and port.
        """
        # The viewer stands above this layer, and is imported only where it is asked for.
        return importlib.import_module("delassus.viewer").view(self.model, self.q, **options)

    def __repr__(self) -> str:
        many = "" if self.worlds is None else f"{self.worlds} worlds of "
        return (
            f"<Simulator: {many}{self.model.name!r}, {self.integrator}, dt {self.dt:g} s, "
            f"at {self.time:.3f} s>"
        )


class _Progress:
    """A progress bar, or none."""

    def __init__(self, total: int, is_shown: bool):
        self.bar = None
        if is_shown:
            from tqdm import tqdm

            self.bar = tqdm(total=total, unit="step")

    def advance(self, count: int) -> None:
        if self.bar is not None:
            self.bar.update(count)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
