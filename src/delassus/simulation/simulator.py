"""The class Simulator: worlds of one model that move in steps of time."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import flag, instance, positive_integer
from ..errors import ConvergenceError, DataTypeError, DelassusError, SettingError
from ..maximal import MaximalSystem, Softening, Stabilization
from ..model.model import Model
from ..model.parts.actuators import Actuator
from ..model.parts.names import known_name
from .actuation.drives import Drives, drives_of, generalised_forces
from .choosing import Choice, Choosing
from .collision.geometry import Geometry
from .given.attributes import ON_ERROR, Attributes
from .given.colliding import contact_request, what_collides
from .given.controls import CompiledControl
from .given.copying import Copies, as_asked_for
from .given.pacing import Pace, Uninterrupted
from .given.progress import Progress
from .given.references import as_declared, check_references
from .given.requests import over_steps, per_degree_of_freedom
from .given.starting import Projection, chosen_start, on_joints, states_of
from .given.states import checked_state
from .runs import NOT_STEERED, Run, Steering, Worlds
from .sensing import Sensors
from .switching import Switches
from .told.failures import DIVERGED, UNSTEERED, Bounds, Failure, Watch, error_of, largest_link
from .told.metrics import without_times
from .told.recording import Recording


class Simulator(Choosing, Sensors, Switches, Copies, Attributes):
    """One world, or many, of a model in maximal coordinates.

    >>> sim = dl.Simulator(model)
    >>> sim.reset(q)
    >>> rec = sim.rollout(1000)

    Controls are those of `actuators`, by default the model's; if there are none, they are forces
    along the degrees of freedom. Then `stiffness` and `damping`, a number for each or one for all,
    make servos of these: where there is a stiffness, the control is a target.

    `integrator` and `solver` may change later, by `use`. `solver` is one of `dl.contact.SOLVERS`,
    and `solver_parameters` are those that `dl.contact.solve` takes for it, `law` included. Without
    `max_iterations` it is 200 for "auto", else what the solver has by itself.

    With `displacement` bodies are moved after each step so that joints are closed.

    `impact` is the law by which contacts bounce: "newton" (velocities turn around, of all contacts
    at once), "poisson" (impulses grow by 1 + e), or "sequential" (one pair of bodies after another,
    as in a cradle of spheres). None of them gives energy.

    `ground` is whether there is a plane z = 0, in a model that has no plane of the world itself; by
    default not in one that `describes_world`, as an MJCF file or a <world> of SDF does.
    `friction` and `restitution` are those of shapes that say nothing of it. Contacts are hard, but
    for `soft_contacts`: with True the softness of surfaces counts, a `maximal.Softening` is also
    that of surfaces that say nothing of it. `meshes` is with what meshes collide, by their convex
    hulls: "planes", "all" or "none". With `worlds` all arrays have an axis more, of that length.
    What goes wrong (`bounds` tells what counts as such) is in `failures`; `on_error` is what
    happens then: "raise" raises where a world diverges and warns of all else, "strict" raises
    always, "warn" never, "record" does neither.
    """

    def __init__(
        self,
        model: Model,
        dt: float = 1e-3,
        coordinates: str = "maximal",
        integrator: str = "midpoint",
        solver: str = "auto",
        ground: bool | None = None,
        worlds: int | None = None,
        *,
        actuators: Iterable[Actuator] | None = None,
        stiffness: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        friction: float = 0.8,
        restitution: float = 0.0,
        tolerance: float = 1e-6,
        joint_tolerance: float = 1e-9,
        max_iterations: int | None = None,
        solver_parameters: Mapping[str, Any] | None = None,
        stabilization: Stabilization | None = None,
        displacement: bool = False,
        impact: str = "newton",
        soft_contacts: bool | Softening = False,
        contact_slots: int = 16,
        meshes: str = "planes",
        bounds: Bounds | None = None,
        on_error: str = "raise",
        threads: int | None = None,
    ):
        given, others = dict(locals()), set(vars(self))
        model = instance("the model of a Simulator", model, Model)
        self.model = model if actuators is None else model.replace(actuators=actuators)
        self._declared, self._references = self.model, as_declared(self.model)
        known_name("coordinates", coordinates, ("maximal",))
        self.bounds = Bounds() if bounds is None else instance("bounds", bounds, Bounds)
        self._choice = Choice(
            dt, integrator, solver, solver_parameters, tolerance, joint_tolerance, max_iterations,
            stabilization, displacement, impact, self.model.nu > 0, self.bounds.torn,
            largest_link(self.model),
        ).checked()  # fmt: skip
        self.worlds = None if worlds is None else positive_integer("worlds", worlds)
        self.on_error = known_name("on_error", on_error, ON_ERROR)
        material, soft = contact_request(
            friction, restitution, soft_contacts, self.stabilization, self.dt
        )
        self._worlds = Worlds(
            self.model,
            what_collides(self.model, ground, material, soft, meshes),
            self._drives(stiffness, damping),
            self._choice.settings(),
            self.worlds or 1,
            positive_integer("contact_slots", contact_slots),
            threads,
        )
        self.failures: list[Failure] = []
        self.recording: Recording | None = None
        self._no_pushes = np.zeros((1, 1, self.model.n_bodies, 6))
        self._default = np.zeros((1, 1, self.n_controls))
        self._begin(0.0)
        try:
            self.reset()
        except ConvergenceError as error:  # another start may close its loops
            self._why_not_ready = str(error)
        # From here on only what may change can be set.
        declared = {"model": self._declared, "actuators": None}
        self._asked_for = as_asked_for(Simulator.__init__, given, **declared)
        self._own_names = frozenset(vars(self)) - others

    # --- structure --------------------------------------------------------------------------------

    @property
    def system(self) -> MaximalSystem:
        """The bodies and their rows."""
        return self._worlds.system

    @property
    def geometry(self) -> Geometry:
        """The shapes that collide, and the pairs that can touch."""
        return self._worlds.geometry

    @property
    def n_controls(self) -> int:
        """Numbers of the control of a step: `model.nu`, or `model.nv` without actuators."""
        return len(self._worlds.drives.actuators)

    def _drives(self, stiffness: ArrayLike, damping: ArrayLike) -> Drives:
        kp = per_degree_of_freedom("stiffness", stiffness, self.model.nv)
        kv = per_degree_of_freedom("damping", damping, self.model.nv)
        if self.model.nu > 0:
            if kp.any() or kv.any():
                raise SettingError(
                    "stiffness and damping are for models without actuators: this one has "
                    f"{self.model.nu}; give actuators=() or actuators=dl.servos(...)"
                )
            return drives_of(self.model)
        for joint in self.model.joints:
            if joint.nq != joint.nv and kp[joint.v].any():
                raise SettingError(
                    f"joint {joint.name!r} has a stiffness, but only joints whose coordinates are "
                    "as many as their velocities can have one"
                )
        return generalised_forces(self.model, kp, kv)

    # --- state ------------------------------------------------------------------------------------

    def reset(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        keyframe: str | None = None,
    ) -> Projection:
        """Start anew at q and v, projected onto joints; returns by how much that changed them.

        Without q it is the `keyframe` of that name, else the one called "home", else "qpos0" (where
        an MJCF file places free bodies), else the neutral configuration. The controls of a keyframe
        are those of steps that are given none.
        """
        start = chosen_start(self.model, q, v, keyframe)
        n = self.worlds
        given_q = states_of("q", start.q, self.model.nq, n)
        given_v = states_of("v", start.v, self.model.nv, n)
        q, v = on_joints(self._constraints(), given_q, given_v, n)
        self._worlds.start(*self.system.state(q, v), q, v)
        self._default = np.zeros((1, 1, self.n_controls))
        if self.model.nu > 0:
            self._default[...] = start.u
        self._begin(start.time)
        moved = 0.0
        if not np.array_equal(q, given_q):
            moved = np.abs(self.model.difference(given_q, q)).max()
        return Projection(float(moved), float(np.abs(v - given_v).max(initial=0.0)))

    def _begin(self, time: float) -> None:
        """Count steps from a time on."""
        self._start, self._steps, self._why_not_ready = time, 0, ""
        count = self._worlds.count
        sizes = self._worlds.geometry.body_sizes()
        self._watch = Watch(self.bounds, self.system, count, self.worlds is not None, sizes)

    @property
    def time(self) -> float:
        """The time at the end of the last step."""
        return self._start + self._steps * self.dt

    @property
    def default_control(self) -> np.ndarray:
        """The control of steps that are given none: that of the keyframe of `reset`, or zero."""
        return self._default[0, 0].copy()

    def state(self) -> dict[str, np.ndarray]:
        """All that the future depends on, and what is known of the last step, times apart."""
        worlds = self._worlds
        return {
            "numbers": worlds.states.copy(),
            "v": worlds.v.copy(),
            "before": worlds.before.copy(),
            "metrics": without_times(worlds.metrics),
            "sensed": worlds.sensed.copy(),
            "is_alive": worlds.is_alive.copy(),
            "switches": worlds.switches.copy(),
            "references": self._references.copy(),
            "default": self._default.copy(),
            "time": np.array([self._start, self._steps]),
            "contact_slots": np.array(self.system.contact_slots),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a state of `state`, of this simulator or of one like it.

        Constraints that `enable` has told to hold `here` do so from then on. A state that does not
        fit is an error, and changes nothing.
        """
        given = checked_state(state, self.state(), self.system.n_bodies)
        check_references(self._declared, given["references"])
        worlds, slots = self._worlds, given["contact_slots"]
        self._refer(given["references"])
        if slots != self.system.contact_slots:
            worlds.build(slots)
        worlds.states, self._default = given["numbers"], given["default"]
        for name in ("v", "before", "metrics", "sensed", "is_alive", "switches"):
            setattr(worlds, name, given[name])
        worlds.are_all_alive = bool(worlds.is_alive.all())
        start, steps = given["time"]
        self._begin(start)
        self._steps = steps

    # --- steps ------------------------------------------------------------------------------------

    def step(self, control: ArrayLike | None = None, wrenches: ArrayLike | None = None) -> None:
        """One step. `control` and `wrenches` are those of `rollout`, without the axis of steps."""
        given, pushes = self._given(control, wrenches, 1)
        worlds = self._worlds
        if not self._why_not_ready and worlds.are_all_alive and worlds.step(given, pushes):
            vars(self)["_steps"] += 1  # which is faster than to set an attribute
            if not self._watch.is_calm(worlds.metrics):
                told = worlds.metrics[:, None]
                self._tell(self._watch.look(told, self._steps - 1, self._start, self.dt))
        else:
            self._advance(given, pushes, 1, None)

    def rollout(
        self,
        steps: int,
        control: ArrayLike | Callable[[Simulator], ArrayLike] | CompiledControl | None = None,
        progress: bool = False,
        record: str | None = None,
        *,
        wrenches: ArrayLike | None = None,
        sensors: bool = False,
        contacts: bool = False,
    ) -> Recording:
        """Many steps; what happens is returned, and written to the file `record` as it happens.

        `control` is an array (n_controls,), (steps, n_controls), or with a first axis of worlds; or
        a function of this simulator that returns the control of the next step; or one of
        `compiled_control`, with which no Python is between steps. Without one it is
        `default_control`. `wrenches` are (n_bodies, 6), with the same axes before: force and moment
        on each body in its own axes and about its origin, as in `forward_dynamics`. With `sensors`
        the recording has reactions of joints and forces of actuators; with `contacts` those of each
        step, which is slower, as Python looks at each step.
        """
        steps = positive_integer("steps", steps)
        made = self.recording = Recording.start(
            self, record, flag("sensors", sensors), flag("contacts", contacts)
        )
        bar = Progress(steps, flag("progress", progress))
        law = control if isinstance(control, CompiledControl) else None
        control = None if law is not None else control
        with made.closing(), bar:
            if callable(control):
                for k in range(steps):
                    wrench = wrenches
                    if wrenches is not None:
                        shape = (self.model.n_bodies, 6)
                        whole = over_steps("wrenches", wrenches, shape, steps, self.worlds)
                        wrench = whole[:, k if whole.shape[1] > 1 else 0]
                        wrench = wrench[0] if len(wrench) == 1 else wrench
                    self._advance(*self._asked(control, wrench, made), 1, made)
                    bar.advance(1)
            else:
                given, pushes = self._given(control, wrenches, steps)
                pace, start = Pace(self.dt, bool(contacts or self._worlds.geometry.outside)), 0
                while start < steps:
                    count = min(pace.steps, steps - start)
                    part = slice(start, start + count)
                    self._advance(_chunk(given, part), _chunk(pushes, part), count, made, law)
                    start += count
                    pace.advance()
                    bar.advance(count)
        return made

    def _given(
        self, control: ArrayLike | None, wrenches: ArrayLike | None, steps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Controls and wrenches, (1 or worlds, 1 or steps, ...)."""
        given, pushes, n = self._default, self._no_pushes, self.worlds
        if control is not None:
            given = over_steps("control", control, self._default.shape[2:], steps, n)
        if wrenches is not None:
            pushes = over_steps("wrenches", wrenches, self._no_pushes.shape[2:], steps, n)
        return given, pushes

    def _asked(self, control: Callable, wrenches: Any, made: Recording) -> tuple:
        """Controls from a function, and wrenches. Errors tell when, and that all before is kept."""
        when = f"the control of step {self._steps + 1}, at {self.time:.4f} s"
        kept = "sim.recording has the {} steps before"
        try:
            given = control(self)
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"in {when}; {kept.format(len(made))}")
            raise
        try:
            if given is None and self.n_controls > 0:
                raise DataTypeError(
                    f"{getattr(control, '__name__', 'the function')} returned None: return an "
                    f"array of {self.n_controls} numbers, such as sim.default_control"
                )
            return self._given(given, wrenches, 1)
        except DelassusError as error:
            raise type(error)(f"{when}: {error}; {kept.format(len(made))}") from None

    def _advance(
        self,
        control: np.ndarray,
        pushes: np.ndarray,
        steps: int,
        made: Recording | None,
        law: CompiledControl | None = None,
    ) -> None:
        """Steps of all worlds, what they tell, and what goes wrong."""
        if self._why_not_ready:
            raise ConvergenceError(f"reset to another state first: {self._why_not_ready}")
        is_felt = made is not None and made.has_sensors
        steering = Steering(law.address, self._start, self._steps) if law else NOT_STEERED
        with Uninterrupted():
            run = self._worlds.run(control, pushes, steps, is_felt, steering)
            found = self._failures(run) + self._unsteered(run, law)
            self._steps += steps
            if made is not None:
                numbers = np.arange(self._steps - steps + 1, self._steps + 1)
                times = self._start + numbers * self.dt
                made.add(times, run, self.contacts if made.has_contacts else None)
            self._tell(found)

    def _failures(self, run: Run) -> list[Failure]:
        """What went wrong in steps that were just made."""
        found = []
        for world, done in run.ended:
            step = self._steps + done + 1
            time = self._start + step * self.dt
            if world in run.torn:
                found.append(self._watch.torn(world, *run.torn[world], step, time))
            else:
                twists = self._worlds.twists(world)
                found.append(self._watch.diverged(world, twists, step, time))
        return found + self._watch.look(run.metrics, self._steps, self._start, self.dt)

    def _unsteered(self, run: Run, law: CompiledControl | None) -> list[Failure]:
        """Worlds whose control could not be used."""
        found = []
        for world, done in run.unsteered:
            step, who = self._steps + done, None if self.worlds is None else world
            time, q, v = self._start + step * self.dt, self._worlds.q[world], self._worlds.v[world]
            if done > 0:
                v = run.trace[world, done - 1, self.model.nq :]
            what = law.fault(time, q, v, self.default_control)
            found.append(Failure(UNSTEERED, time + self.dt, step + 1, who, what, np.nan))
        return found

    def _tell(self, found: list[Failure]) -> None:
        """Keep failures, and do with them what `on_error` says."""
        self.failures += found
        is_over = self.on_error == "raise" and any(f.kind in (DIVERGED, UNSTEERED) for f in found)
        if found and (is_over or self.on_error == "strict"):
            raise error_of(found, self.recording)
        if self.on_error in ("raise", "warn"):
            for failure in found:
                warnings.warn(str(failure), RuntimeWarning, stacklevel=4)

    def view(self, **options: Any) -> Any:
        """Show the worlds in a browser, wherever they get to (extra `viewer`).

        The page has buttons that run the simulation, and sliders for its controls. Options are
        those of `delassus.viewer.view`: host and port.
        """
        # The viewer stands above this layer, and is imported only where it is asked for.
        viewer = importlib.import_module("delassus.viewer")
        return viewer.view(self.model, simulator=self, **options)

    def __repr__(self) -> str:
        many = "" if self.worlds is None else f"{self.worlds} worlds of "
        return (
            f"<Simulator: {many}{self.model.name!r}, {self.integrator}, dt {self.dt:g} s, "
            f"at {self.time:.3f} s>"
        )


def _chunk(given: np.ndarray, part: slice) -> np.ndarray:
    """Steps of controls or wrenches; all if these are the same in all steps."""
    return given if given.shape[1] == 1 else given[:, part]
