"""A simulator in the browser: it runs on buttons, by controls of sliders, with forces and plots.

While it stands still, sliders move the joints of one world; while it runs, they follow.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

import numpy as np

from ..contact import SOLVERS
from ..errors import DelassusError
from ..simulation.choosing import INTEGRATORS
from ..simulation.simulator import Simulator
from .forces import GROUPS, Contacts, Reactions
from .motion import Motion, Placing
from .plots import RESIDUALS, Plots
from .sliders import Pose, Slider, Sliders
from .stage import Stage

SPEEDS = ("0.1", "0.25", "0.5", "1", "2")
_SHARE = 0.5  # of the time between two pictures that steps may take
_MOST_CONTROLS = 64  # sliders
_MOST_SEEN = 12  # sliders of a folder that is open at first
_HISTORY = 600  # points of plots
_BETWEEN_POINTS, _BETWEEN_PLOTS, _BETWEEN_SLIDERS = 0.02, 0.25, 0.1  # s
_FREE = 10.0  # range of a control whose model says nothing of it
_NOTHING = -1.0, np.zeros((0, 0))  # time and configuration that no simulator has


class Runner:
    """Shows a simulator on a stage wherever it gets to, and makes its steps if asked to.

    A program may go on stepping the simulator itself, while the panel does not run it.
    """

    def __init__(self, stage: Stage, place: Placing, sim: Simulator):
        self.stage, self.sim, self._place = stage, sim, place
        self._start = sim.state()
        self._lock = threading.RLock()
        self.is_running, self._seen = False, _NOTHING
        self._joints: Sliders | None = None
        self._reactions: Reactions | None = None
        self._shown = {group: group != GROUPS[2] for group in GROUPS}
        self.control = np.array(sim.default_control)
        names = ("kinetic_energy", "potential_energy", *RESIDUALS)
        self._history = {name: deque(maxlen=_HISTORY) for name in ("time", *names)}
        self._drawn_at, self._followed_at = 0.0, 0.0
        self._buttons = {
            "Run": lambda: self.run(True),
            "Pause": lambda: self.run(False),
            "Step": lambda: self.advance(1),
            "Reset": self.reset,
        }

    @property
    def groups(self) -> dict[str, bool]:
        """Groups of forces, and whether they are shown at first."""
        return dict(self._shown)

    def show_group(self, group: str, is_shown: bool) -> None:
        """Switch a group of forces."""
        self._shown[group] = is_shown
        self._seen = _NOTHING

    # --- panel ------------------------------------------------------------------------------------

    def add_panel(self, gui: Any) -> None:
        """Buttons, choices, controls and plots."""
        with gui.add_folder("Simulation"):
            buttons = gui.add_button_group("", tuple(self._buttons))
            self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
            self._clock = gui.add_text("time, s", "0.000", disabled=True)
            self._told = gui.add_text("state", "paused", disabled=True)
            self._add_choice(gui, "integrator", tuple(INTEGRATORS))
            self._add_choice(gui, "solver", tuple(SOLVERS))
        buttons.on_click(lambda _: self._buttons[buttons.value]())
        self._add_controls(gui)
        self._add_joints(gui)
        with gui.add_folder("Plots"):
            self._plots = Plots(gui)

    def _add_choice(self, gui: Any, what: str, names: tuple[str, ...]) -> None:
        """A list to choose from, for `Simulator.use`."""
        choice = gui.add_dropdown(what, names, initial_value=getattr(self.sim, what))

        def chosen(_) -> None:
            with self._lock:
                try:
                    self.sim.use(**{what: choice.value})
                except DelassusError as error:
                    self._tell(str(error))
                    choice.value = getattr(self.sim, what)

        choice.on_update(chosen)

    def _add_controls(self, gui: Any) -> None:
        """A slider for each control."""
        if not len(self.control):
            return
        with gui.add_folder("Controls", expand_by_default=len(self.control) <= _MOST_SEEN):
            for k, (name, lower, upper) in enumerate(control_ranges(self.sim)[:_MOST_CONTROLS]):
                start = float(np.clip(self.control[k], lower, upper))
                handle = gui.add_slider(name, lower, upper, (upper - lower) / 1000.0, start)

                def moved(_, k=k, handle=handle) -> None:
                    self.control[k] = handle.value

                handle.on_update(moved)

    # --- joints -----------------------------------------------------------------------------------

    def _add_joints(self, gui: Any) -> None:
        """A slider for each joint, if there is one world."""
        many = np.atleast_2d(self.sim.q)
        if len(many) == 1:
            pose = Pose(self.sim.model, many[0])
            self._joints = Sliders(gui, pose, self._move, self._lock, _MOST_SEEN)

    def _move(self, slider: Slider, value: float) -> bool:
        """Move a joint of a simulation that stands still; velocities stay, as joints allow."""
        pose, q, held = self._joints.pose, np.ravel(self.sim.q), self.sim._held()
        if self.is_running or not np.isfinite(q).all():
            return False
        pose.q = q
        if [*map(id, held)] != [*map(id, pose.held)]:  # some were switched
            pose.hold(self.sim.model, held)
        if not pose.set(slider, value):
            return False
        try:
            self.sim.q = pose.q
        except DelassusError as error:
            pose.q = q
            self._tell(str(error))
            return False
        pose.q = np.ravel(self.sim.q)
        self.show()
        return True

    def _follow(self) -> None:
        """Joints' sliders stand where the joints are, a few times a second."""
        now = time.perf_counter()
        if self._joints is None or now - self._followed_at < _BETWEEN_SLIDERS:
            return
        self._followed_at = now
        with self._lock:
            q = np.ravel(self.sim.q)
            if np.isfinite(q).all():
                self._joints.follow(q)

    # --- steps ------------------------------------------------------------------------------------

    def run(self, is_running: bool) -> None:
        """Go on with the simulation, or stop."""
        self._since = time.perf_counter()
        self.is_running = is_running
        if self._joints is not None:
            self._joints.enable(not is_running)
        self._tell("running" if is_running else "paused")

    def advance(self, steps: int, until: float = np.inf) -> int:
        """Make steps, as many as there is time for; returns how many."""
        with self._lock:
            for k in range(steps):
                try:
                    self.sim.step(self.control)
                except DelassusError as error:
                    self.run(False)
                    self._tell(str(error))
                    return k
                if time.perf_counter() > until:
                    return k + 1
        return steps

    def reset(self) -> None:
        """Back to where the simulator was at first."""
        with self._lock:
            self.run(False)
            self.sim.set_state(self._start)
            for values in self._history.values():
                values.clear()
            self._seen = _NOTHING

    def tick(self) -> None:
        """Make the steps that are due, and show the state, if it is another one."""
        if self.is_running:
            now = time.perf_counter()
            due = (now - self._since) * float(self._speed.value) / self.sim.dt
            most = 0.1 / self.sim.dt  # where it is too slow, it is slower than real time
            steps = int(min(due, most))
            if steps > 0:
                made = self.advance(steps, now + _SHARE / 60.0)
                is_late = made < steps or due > most
                self._since = now if is_late else now - (due - steps) * self.sim.dt
        then, q = self._seen
        if self.sim.time != then or not np.array_equal(np.atleast_2d(self.sim.q), q):
            self.show()
        self._follow()

    # --- pictures ---------------------------------------------------------------------------------

    def show(self) -> None:
        """Show the present state."""
        with self._lock:
            many = np.atleast_2d(self.sim.q)
            self._seen = self.sim.time, many
            if not np.isfinite(many).all():
                return
            motion = self._place(many)
            with self.stage.server.atomic():
                self.stage.move(motion)
                self._show_forces(motion)
                self._clock.value = f"{self.sim.time:.3f}"
            self._keep()

    def _show_forces(self, motion: Motion) -> None:
        contacts = []
        if self._shown[GROUPS[0]] or self._shown[GROUPS[1]]:
            told = self.sim.contacts
            contacts = [Contacts.of(x) for x in (told if self.sim.worlds else [told])]
        self.stage.show_contacts(contacts, self._shown)
        arrows = [np.zeros((0, 2, 3))]
        if self._shown[GROUPS[2]]:
            if self._reactions is None:
                self._reactions = Reactions(self.sim.model)
            felt = self.sim.reactions.reshape(len(motion.positions), -1, 6)
            points, forces = self._reactions.in_world(motion, felt)
            points = points + self.stage.offsets[:, None]
            arrows += [self.stage.drawn.arrows(*x) for x in zip(points, forces, strict=True)]
        self.stage.show_arrows(GROUPS[2], np.concatenate(arrows))

    def _keep(self) -> None:
        """A point of the plots, and the plots themselves a few times a second."""
        times, now = self._history["time"], self.sim.time
        if now <= 0.0 or (times and 0.0 <= now - times[-1] < _BETWEEN_POINTS):
            return
        metrics = self.sim.metrics
        times.append(now)
        for name, values in self._history.items():
            if name != "time":
                values.append(float(np.ravel(metrics[name])[0]))
        if time.perf_counter() - self._drawn_at > _BETWEEN_PLOTS:
            self._drawn_at = time.perf_counter()
            told = {name: np.array(values) for name, values in self._history.items()}
            self._plots.show(told.pop("time"), told, now)

    def _tell(self, text: str) -> None:
        self._told.value = text


def control_ranges(sim: Simulator) -> list[tuple[str, float, float]]:
    """Name, lowest and highest value of the slider of each control."""
    model, found = sim.model, []
    if model.nu > 0:
        for actuator in model.actuators:
            lower, upper = actuator.control_range or actuator.force_range or (-np.inf, np.inf)
            if actuator.control_range is None and actuator.kind != "torque":
                lower, upper = _of_servo(model, actuator)
            found.append((actuator.name, *_finite(lower, upper)))
        return found
    targets = sim._worlds.drives.actuators["bias"][:, 1] < 0.0
    for joint in model.joints:
        for k in range(joint.nv):
            name = joint.name if joint.nv == 1 else f"{joint.name} {k}"
            limit = float(model.effort_limit[joint.v.start + k])
            lower, upper = -limit, limit
            if targets[joint.v.start + k]:
                lower, upper = float(joint.data.lower[k]), float(joint.data.upper[k])
                lower, upper = max(lower, -np.pi), min(upper, np.pi)
            found.append((name, *_finite(lower, upper)))
    return found


def _of_servo(model: Any, actuator: Any) -> tuple[float, float]:
    """The range of a servo's target: that of its joint; of a tendon a turn."""
    if len(actuator.joints) > 1:
        return -np.pi, np.pi
    data = model.joint(actuator.joint).data
    if actuator.kind == "velocity":
        limit = float(data.velocity_limit[0])
        return -limit, limit
    lower, upper = float(data.lower[0]), float(data.upper[0])
    return (lower, upper) if np.isfinite([lower, upper]).all() else (-np.pi, np.pi)


def _finite(lower: float, upper: float) -> tuple[float, float]:
    lower, upper = float(lower), float(upper)
    if not np.isfinite(lower) or not np.isfinite(upper) or not lower < upper:
        return -_FREE, _FREE
    return lower, upper
