"""Models, recordings and simulators in a browser, served to this machine by viser."""

from __future__ import annotations

import logging
import socket
import threading
import time

import numpy as np
from numpy.typing import ArrayLike

from ..checks import instance, real_array
from ..errors import DataTypeError, ModelError, SettingError, ShapeError
from ..model.model import Model
from ..simulation.simulator import Simulator
from ..simulation.told.recording import Recording
from .access.guard import guarded_server
from .motion import Placing, shown_states
from .playing import Player
from .running import Runner
from .scene import Scene
from .sliders import Pose, Slider, Sliders
from .stage import Stage

HOST, PORT = "127.0.0.1", 8080
_TRIED = 100  # ports
_START = "home"  # the keyframe that a model is shown at, if it has one
_PERIOD = 1.0 / 60.0  # s between two pictures
_REST = 1.0  # of the time that a picture took, at least, before the next


def view(
    model: Model,
    q: ArrayLike | None = None,
    recording: Recording | None = None,
    simulator: Simulator | None = None,
    *,
    host: str = HOST,
    port: int = PORT,
) -> Viewer:
    """Show a model in a browser: at q, (nq,) or (worlds, nq), a recording, or a simulator.

    One configuration has sliders that move its joints within limits, loops closed; a recording has
    a slider for its time; a simulator has buttons to run it, and is shown wherever it gets to. The
    joints of one world that stands still have sliders, too. Only this machine can look, unless
    `host` says otherwise. The viewer stays until it is closed, or Python ends.
    """
    instance("model", model, Model)
    if simulator is not None:
        instance("simulator", simulator, Simulator)
        if simulator.model is not model:
            raise ModelError(f"the simulator is of another model than {model.name!r}")
        states = np.atleast_2d(simulator.q)
    elif recording is not None:
        over_time = shown_states(recording, model)
        states = over_time[:, 0]
    else:
        states = _states(model, q)
    viewer = Viewer(model, states, host, port)
    if simulator is not None:
        viewer.add(Runner(viewer.stage, viewer.place, simulator))
    elif recording is not None:
        viewer.add(Player(viewer.stage, viewer.place, over_time, recording))
    else:
        viewer.add_groups({}, None)
        if len(states) == 1:
            viewer.add_sliders(Pose(model, states[0]))
    return viewer


def _states(model: Model, q: ArrayLike | None) -> np.ndarray:
    """Configurations of all worlds, (worlds, nq)."""
    if q is None:
        known = model.keyframes
        return (known[_START].q if _START in known else model.neutral())[None]
    given = real_array("q", q)
    if given.shape[-1:] != (model.nq,) or given.ndim not in (1, 2) or not np.isfinite(given).all():
        raise ShapeError(f"q must be finite numbers of shape ({model.nq},) or (worlds, {model.nq})")
    return np.atleast_2d(given)


class Viewer:
    """A page that shows worlds of one model; `update` moves them."""

    def __init__(self, model: Model, states: np.ndarray, host: str, port: int):
        self.model, self.scene, self.place = model, Scene.of(model), Placing(model)
        self.host, self.port = host, free_port(host, port)
        if self.port != port:
            print(f"port {port} is in use: taking {self.port}")
        self.server = guarded_server(host, self.port)
        self.port = self.server.get_port()
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        gui.set_panel_label(model.name)
        self.worlds = len(states)
        self.stage = Stage(self.server, self.scene, self.worlds)
        self.pose: Pose | None = None  # that sliders move
        self.shown: Player | Runner | None = None
        self._is_open = True
        self._thread: threading.Thread | None = None
        motion = self.place(states)
        self.stage.move(motion)
        self.stage.look(motion)

    def __reduce__(self) -> tuple:
        raise DataTypeError("a viewer cannot be copied or pickled: open another one by `view`")

    @property
    def url(self) -> str:
        """Where to look."""
        return f"http://{self.host}:{self.port}"

    def close(self) -> None:
        """End the server."""
        self._is_open = False
        if self._thread is not None:
            self._thread.join(5.0)
        self.server.stop()

    def wait(self) -> None:
        """Stay until the program is interrupted."""
        while self._is_open:
            time.sleep(0.5)

    def update(self, q: ArrayLike) -> None:
        """Move the worlds to configurations, (nq,) or (worlds, nq)."""
        self.stage.move(self.place(_states(self.model, q)))

    def add(self, shown: Player | Runner) -> None:
        """Show a recording or a simulator, as its panel asks."""
        shown.add_panel(self.server.gui)
        self.add_groups(shown.groups, shown)
        self.shown = shown
        self._thread = threading.Thread(target=self._go_on, args=(shown,), daemon=True)
        self._thread.start()

    def _go_on(self, shown: Player | Runner) -> None:
        """Pictures, at most 60 a second, with a rest between two of them."""
        while self._is_open:
            begin = time.perf_counter()
            try:
                shown.tick()
            except Exception:
                if self._is_open:  # not one of a server that has ended meanwhile
                    logging.getLogger(__name__).exception("the viewer stops showing")
                return
            spent = time.perf_counter() - begin
            time.sleep(max(_PERIOD - spent, _REST * spent))

    # --- controls ---------------------------------------------------------------------------------

    def add_groups(self, forces: dict[str, bool], shown: Player | Runner | None) -> None:
        """Boxes that switch what is shown, and the list of what cannot be."""
        gui = self.server.gui
        switches = [(name, on, self.stage.show) for name, on in self.stage.groups.items()]
        if shown is not None:
            switches += [(name, on, shown.show_group) for name, on in forces.items()]
        with gui.add_folder("Show"):
            for name, is_on, switch in [*switches, ("frames", False, self.stage.show)]:
                box = gui.add_checkbox(name, is_on)
                box.on_update(lambda _, n=name, b=box, switch=switch: switch(n, b.value))
        if self.scene.missing:
            listed = "\n".join(f"- {text}" for text in self.scene.missing)
            gui.add_markdown(f"{len(self.scene.missing)} meshes are not shown:\n{listed}")

    def add_sliders(self, pose: Pose) -> None:
        """A slider for each joint that a person may move."""

        def move(slider: Slider, value: float) -> bool:
            is_moved = pose.set(slider, value)
            self.update(pose.q)
            return is_moved

        self.pose = pose
        Sliders(self.server.gui, pose, move, threading.RLock())


def free_port(host: str, port: int) -> int:
    """The port, or the next one that is free."""
    for candidate in range(port, min(port + _TRIED, 65536)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as test:
            test.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                test.bind((host, candidate))
            except (OSError, OverflowError):
                continue
            return candidate
    raise SettingError(f"no port from {port} to {port + _TRIED - 1} is free at {host}")
