"""Models and recordings in a browser, served to this machine by viser (extra `viewer`)."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import instance, real_array
from ..errors import MissingDependencyError, ModelError, SettingError, ShapeError
from ..model.model import Model
from ..simulation.told.recording import Recording
from ..spatial.transform import rotation_to_quaternion
from .motion import body_poses
from .scene import HIDDEN, Scene, Thing
from .sliders import Pose

HOST, PORT = "127.0.0.1", 8080
_TRIED = 100  # ports
_START = "home"  # the keyframe that a model is shown at, if it has one


def view(
    model: Model,
    q: ArrayLike | None = None,
    recording: Recording | None = None,
    *,
    host: str = HOST,
    port: int = PORT,
) -> Viewer:
    """Show a model in a browser: at q, (nq,) or (worlds, nq), or through a recording.

    One configuration has sliders that move its joints within limits, loops closed; a recording has
    a slider for its time. Only this machine can look, unless `host` says otherwise. The viewer
    stays until it is closed, or Python ends.
    """
    instance("model", model, Model)
    if recording is not None:
        instance("recording", recording, Recording)
        if (recording.nq, recording.nv) != (model.nq, model.nv):
            raise ModelError(f"the recording is of another model than {model.name!r}")
        states = recording.q if recording.is_many else recording.q[None]
        states = states[:, np.isfinite(states).all(axis=(0, 2))]
        if states.shape[1] == 0:
            raise ShapeError("the recording has no step whose numbers are finite")
    else:
        states = _states(model, q)[:, None]
    return Viewer(model, states, recording, host, port)


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

    def __init__(
        self, model: Model, states: np.ndarray, recording: Recording | None, host: str, port: int
    ):
        viser = _viser()
        self.model, self.scene = model, Scene.of(model)
        self.host, self.port = host, free_port(host, port)
        if self.port != port:
            print(f"port {port} is in use: taking {self.port}")
        self.server = viser.ViserServer(host=host, port=self.port, verbose=False)
        self.worlds = len(states)
        self._bodies: list[list[Any]] = []
        self._things: dict[str, list[Any]] = {}
        self._is_open = True
        self._build()
        self.update(states[:, 0])
        self._add_groups()
        if recording is not None:
            self._add_time(recording, states)
        elif self.worlds == 1:
            self._add_sliders(Pose(model, states[0, 0]))

    @property
    def url(self) -> str:
        """Where to look."""
        return f"http://{self.host}:{self.port}"

    def close(self) -> None:
        """End the server."""
        self._is_open = False
        self.server.stop()

    def wait(self) -> None:
        """Stay until the program is interrupted."""
        while self._is_open:
            time.sleep(0.5)

    def update(self, q: ArrayLike) -> None:
        """Move the worlds to configurations, (nq,) or (worlds, nq)."""
        motion = body_poses(self.model, _states(self.model, q))
        with self.server.atomic():
            for world, bodies in enumerate(self._bodies[: len(motion.positions)]):
                offset = self._offset(world)
                for k, frame in enumerate(bodies):
                    x, y, z, w = motion.quaternions[world, k]
                    frame.position = motion.positions[world, k] + offset
                    frame.wxyz = (w, x, y, z)

    # --- scene ------------------------------------------------------------------------------------

    def _offset(self, world: int) -> np.ndarray:
        side = int(np.ceil(np.sqrt(self.worlds)))
        return 3.0 * self.scene.reach() * np.array([world // side, world % side, 0.0])

    def _build(self) -> None:
        reach, scene = self.scene.reach(), self.server.scene
        scene.set_up_direction("+z")
        scene.add_grid("/ground", width=20 * reach, height=20 * reach, cell_size=0.5 * reach)
        for world in range(self.worlds):
            at = f"/world_{world}"
            scene.add_frame(at, show_axes=False, position=(0.0, 0.0, 0.0))
            length = 0.1 * reach
            self._bodies.append(
                [
                    scene.add_frame(
                        f"{at}/{k}", show_axes=False, axes_length=length, axes_radius=length / 20
                    )
                    for k in range(self.model.n_bodies)
                ]
            )
            for number, thing in enumerate(self.scene.things):
                self._add(at, number, thing, world)

    def _add(self, at: str, number: int, thing: Thing, world: int) -> None:
        triangles = _triangles(thing, self.scene.meshes)
        faces = np.arange(3 * len(triangles)).reshape(-1, 3)
        x, y, z, w = rotation_to_quaternion(thing.placement.rotation)
        in_world = thing.place < 0
        handle = self.server.scene.add_mesh_simple(
            f"{at}/thing_{number}" if in_world else f"{at}/{thing.place}/thing_{number}",
            vertices=triangles.reshape(-1, 3).astype(np.float32),
            faces=faces,
            color=thing.color[:3],
            opacity=None if thing.color[3] >= 1.0 else thing.color[3],
            flat_shading=thing.kind in ("box", "mesh"),
            wxyz=(w, x, y, z),
            position=thing.placement.translation + (self._offset(world) if in_world else 0.0),
            visible=thing.group not in HIDDEN,
        )
        self._things.setdefault(thing.group, []).append(handle)

    # --- controls ---------------------------------------------------------------------------------

    def _add_groups(self) -> None:
        gui = self.server.gui
        with gui.add_folder("Show"):
            for group, handles in self._things.items():
                box = gui.add_checkbox(group, group not in HIDDEN)
                box.on_update(lambda _, box=box, handles=handles: _show(handles, box.value))
            axes = gui.add_checkbox("frames", False)
            axes.on_update(lambda _: self._show_axes(axes.value))
        if self.scene.missing:
            listed = "\n".join(f"- {text}" for text in self.scene.missing)
            gui.add_markdown(f"{len(self.scene.missing)} meshes are not shown:\n{listed}")

    def _show_axes(self, is_shown: bool) -> None:
        for frame in (f for bodies in self._bodies for f in bodies):
            frame.show_axes = is_shown

    def _add_sliders(self, pose: Pose) -> None:
        gui, busy = self.server.gui, threading.Lock()
        with gui.add_folder("Joints"):
            for slider in pose.sliders():
                start = float(np.clip(pose.q[slider.q], slider.lower, slider.upper))
                step = (slider.upper - slider.lower) / 1000.0 or 1e-3
                handle = gui.add_slider(slider.label, slider.lower, slider.upper, step, start)

                def moved(_, slider=slider, handle=handle) -> None:
                    with busy:
                        is_moved = pose.set(slider, handle.value)
                        self.update(pose.q)
                    if not is_moved:  # loops do not reach so far: back to where they are
                        handle.value = float(pose.q[slider.q])

                handle.on_update(moved)

    def _add_time(self, recording: Recording, states: np.ndarray) -> None:
        gui, times = self.server.gui, recording.time
        last = states.shape[1] - 1
        with gui.add_folder("Time"):
            frame = gui.add_slider("step", 0, max(last, 1), 1, 0)
            speed = gui.add_slider("speed", 0.1, 2.0, 0.1, 1.0)
            plays = gui.add_checkbox("play", False)
            clock = gui.add_text("time, s", f"{times[0]:.3f}", disabled=True)

        def shown(_) -> None:
            k = min(int(frame.value), last)
            self.update(states[:, k])
            clock.value = f"{times[k]:.3f}"

        frame.on_update(shown)
        rate = last / max(times[last] - times[0], 1e-9)

        def play() -> None:
            while self._is_open:
                time.sleep(1.0 / 30.0)
                if plays.value:
                    following = int(frame.value) + max(1, round(rate * speed.value / 30.0))
                    frame.value = following if following <= last else 0
                    shown(None)

        threading.Thread(target=play, daemon=True).start()


def _show(handles: list[Any], is_shown: bool) -> None:
    for handle in handles:
        handle.visible = is_shown


def _triangles(thing: Thing, meshes: list[np.ndarray]) -> np.ndarray:
    """Triangles of a thing about its own placement."""
    import trimesh.creation as create

    size = thing.size
    match thing.kind:
        case "mesh":
            return meshes[thing.mesh] * np.array(size)
        case "box":
            return np.array(create.box(size).triangles)
        case "cylinder":
            return np.array(create.cylinder(size[0], size[1], sections=24).triangles)
        case "capsule":
            capsule = np.array(create.capsule(size[1], size[0], count=[16, 16]).triangles)
            middle = 0.5 * (capsule[..., 2].min() + capsule[..., 2].max())
            return capsule - np.array([0.0, 0.0, middle])
    ball = np.array(create.icosphere(subdivisions=2).triangles)
    return ball * (np.array(size) if thing.kind == "ellipsoid" else size[0])


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


def _viser() -> Any:
    try:
        import viser
    except ImportError:
        raise MissingDependencyError(
            "the viewer needs viser, which is not installed: pip install 'delassus[viewer]'"
        ) from None
    return viser
