"""What happened in a rollout: arrays over time, kept in memory and, if asked for, in a file.

A file is a sequence of parts, each an .npz of at most a thousand steps with its length before it.
So what was written before a crash can be read: a part that was cut off is left out, and all after
it, which a warning tells.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import struct
import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...checks import file_path, instance
from ...errors import (
    FileAccessError,
    FileFormatError,
    ModelError,
    SettingError,
)
from ...files import arrays_of, blaming, content_of, writing
from .metrics import METRIC, METRIC_NAMES
from .plotting import plotted

_KIND, _VERSION = b"delassus recording ", b"2"
_MARK = _KIND + _VERSION + b"\n"
_HEADER = ("name", "sizes", "joint_names", "first_v")  # arrays of the first part


class Sizes(NamedTuple):
    """Extents of the arrays of a recording, three flags, and the time of a step."""

    nq: int
    nv: int
    n_controls: int
    is_many: int
    has_sensors: int
    has_contacts: int
    dt: float


class Recording:
    """Time, coordinates, velocities and metrics of each step; sensors, if they were asked for.

    Arrays are (steps, ...), or (worlds, steps, ...) of many worlds.
    """

    def __init__(self, name: str, sizes: Sizes, joint_names: list[str], first_v: np.ndarray):
        instance("sizes", sizes, Sizes)
        self.name, self.sizes, self.joint_names = name, sizes, joint_names
        self.nq, self.nv = sizes.nq, sizes.nv
        self.is_many, self.has_sensors = bool(sizes.is_many), bool(sizes.has_sensors)
        self.has_contacts = bool(sizes.has_contacts)
        self.model: Any = None  # that of the simulator; files do not hold it
        self._first_v = first_v  # before the first step, (worlds, nv)
        self._parts: list[dict[str, np.ndarray]] = []
        self._steps = 0  # in all parts; to sum them up anew at each of many steps would be slow
        self._file: io.BufferedWriter | None = None
        self._path: str | PathLike | None = None

    @classmethod
    def start(
        cls,
        sim: Any,
        path: str | PathLike | None,
        has_sensors: bool = False,
        has_contacts: bool = False,
    ) -> Recording:
        """An empty recording of a simulator."""
        sizes = Sizes(
            sim.model.nq, sim.model.nv, sim.n_controls, int(sim.worlds is not None),
            int(has_sensors), int(has_contacts), sim.dt,
        )  # fmt: skip
        names = sim.joint_names if has_sensors else []
        made = cls(sim.model.name, sizes, names, np.array(sim.v, ndmin=2))
        made.model = sim.model
        if path is not None:
            made._path = path
            with writing(file_path(path)):
                made._open(file_path(path))
        return made

    def _open(self, path: Path) -> None:
        """Begin a file with what is known before the first step."""
        self._file = path.open("wb")
        self._file.write(_MARK)
        header = {
            "name": np.array(self.name),
            "sizes": np.array(self.sizes, float),
            "joint_names": np.array(self.joint_names, str),
            "first_v": self._first_v,
        }
        self._write_part(header)

    @contextlib.contextmanager
    def closing(self) -> Iterator[None]:
        """Close the file at the end, whatever happens."""
        try:
            yield
        except KeyboardInterrupt as error:
            if hasattr(error, "add_note"):  # from Python 3.11 on
                error.add_note(f"sim.recording has the {len(self)} steps before")
            raise
        finally:
            self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):  # all parts were flushed before
                file.close()

    def add(self, time: np.ndarray, run: Any, contacts: Any = None) -> None:
        """Add steps of all worlds that end at these times; contacts are those of one step."""
        part = {"time": time, "trace": run.trace, "metrics": run.metrics}
        if self.has_sensors:
            part["sensed"] = run.sensed
        if contacts is not None:
            part["contacts"] = _with_places(contacts, len(self), self.is_many)
        self._parts.append(part)
        self._steps += run.trace.shape[1]
        if self._file is not None:
            try:
                self._write_part(part)
            except OSError as error:
                self._close()
                made = len(self)
                raise FileAccessError(
                    f"recording to {self._path} ended at {time[0]:.4f} s: {error}. The file has "
                    f"the {made - len(time)} steps before that, and sim.recording all {made}"
                ) from None

    def _write_part(self, part: dict[str, np.ndarray]) -> None:
        memory = io.BytesIO()
        np.savez(memory, **part)
        content = memory.getvalue()
        self._file.write(struct.pack("<q", len(content)) + content)
        self._file.flush()

    def _every(self, name: str, columns: slice | int = slice(None)) -> np.ndarray:
        """Columns of all worlds and steps."""
        self._check_not_empty()
        return np.concatenate([p[name] for p in self._parts], axis=1)[:, :, columns]

    def _check_not_empty(self) -> None:
        if not self._parts:
            raise SettingError("the recording is empty: it ended before its first step")

    def _shown(self, x: np.ndarray) -> np.ndarray:
        return x if self.is_many else x[0]

    def _all(self, name: str, columns: slice | int = slice(None)) -> np.ndarray:
        return self._shown(self._every(name, columns))

    @property
    def time(self) -> np.ndarray:
        """The time at the end of each step."""
        self._check_not_empty()
        return np.concatenate([p["time"] for p in self._parts])

    @property
    def q(self) -> np.ndarray:
        """Coordinates at the end of each step."""
        return self._all("trace", slice(0, self.nq))

    @property
    def v(self) -> np.ndarray:
        """Velocities at the end of each step."""
        return self._all("trace", slice(self.nq, None))

    @property
    def accelerations(self) -> np.ndarray:
        """Change of velocities in each step by its time."""
        v = self._every("trace", slice(self.nq, None))
        before = np.concatenate([self._first_v[:, None], v[:, :-1]], axis=1)
        return self._shown((v - before) / self.sizes.dt)

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        """What is known of each step, by name."""
        return {name: self._all("metrics", k) for k, name in enumerate(METRIC_NAMES)}

    @property
    def reactions(self) -> np.ndarray:
        """Force and moment of each joint, (n_joints, 6) a step: see `Simulator.reactions`."""
        n = 6 * len(self.joint_names)
        sensed = self._felt(slice(0, n))
        return self._shown(sensed.reshape(*sensed.shape[:2], -1, 6))

    @property
    def actuator_forces(self) -> np.ndarray:
        """Force of each actuator within its range."""
        first = 6 * len(self.joint_names)
        return self._shown(self._felt(slice(first, first + self.sizes.n_controls)))

    @property
    def torques(self) -> np.ndarray:
        """What actuators do along each degree of freedom."""
        first = 6 * len(self.joint_names) + self.sizes.n_controls
        return self._shown(self._felt(slice(first, first + self.nv)))

    @property
    def contacts(self) -> np.ndarray:
        """Contacts of all steps, as one array of records: those of `Simulator.contacts`.

        Two fields more say of which `step`, from 0 on, and of which `world`.
        """
        if not self.has_contacts:
            raise SettingError("contacts were not recorded: give contacts=True to rollout")
        self._check_not_empty()
        return np.concatenate([p["contacts"] for p in self._parts])

    def _felt(self, columns: slice) -> np.ndarray:
        if not self.has_sensors:
            raise SettingError("the recording has no sensors: ask for rollout(..., sensors=True)")
        return self._every("sensed", columns)

    def __len__(self) -> int:
        return self._steps

    def save(self, path: str | PathLike) -> None:
        """Write the recording to a file."""
        try:
            with writing(file_path(path)):
                self._open(file_path(path))
                for part in self._parts:
                    self._write_part(part)
        finally:
            self._close()

    @classmethod
    def load(cls, path: str | PathLike) -> Recording:
        """Read a recording; a part that was cut off is left out, which a warning tells."""
        place = Path(file_path(path))
        content = content_of(place)
        if not content.startswith(_MARK):
            raise FileFormatError(f"{place} {_what_it_is(content)}")
        parts = _read_parts(content, len(_MARK), place)
        try:
            header = next(parts, None)
        except FileFormatError:
            header = None
        if header is None or not set(_HEADER) <= set(header):
            raise FileFormatError(f"{place} was cut off before its first part, and is empty")
        with blaming(place, "is a damaged recording"):
            made = _begun(cls, header)
        try:
            for part in parts:
                with blaming(place, "has a damaged part"):
                    made._take(part)
        except FileFormatError as error:
            told = f"{error}: the {len(made)} steps before it are read"
            warnings.warn(told, UserWarning, stacklevel=2)
        if not len(made):
            raise FileFormatError(f"{place} was cut off before its first step, and is empty")
        return made

    def _take(self, part: dict[str, np.ndarray]) -> None:
        """Add a part of a file, if all its arrays are those of so many steps and worlds."""
        sizes, worlds = self.sizes, len(self._first_v)
        steps = part["time"].size
        # Reactions of all joints, forces of actuators, and what they do along velocities.
        n_sensed = 6 * len(self.joint_names) + sizes.n_controls + sizes.nv
        wanted = {
            "time": (steps,),
            "trace": (worlds, steps, sizes.nq + sizes.nv),
            "metrics": (worlds, steps, METRIC.size),
            **({"sensed": (worlds, steps, n_sensed)} if self.has_sensors else {}),
        }
        for name, shape in wanted.items():
            found = part[name]
            if found.shape != shape or found.dtype != np.float64:
                raise ValueError(f"{name} has the shape {found.shape}, not {shape}")
        if self.has_contacts:
            known = {"step", "world"} <= set(part["contacts"].dtype.names or ())
            if not known or part["contacts"].ndim != 1:
                raise ValueError("its contacts are no table of contacts")
        if steps < 1 or not np.isfinite(part["time"]).all():
            raise ValueError("its times are none")
        self._parts.append(part)
        self._steps += steps

    def to_html(self, path: str | PathLike, model: Any = None, **options: Any) -> None:
        """Write a page that plays the recording in any browser, without a server or a network.

        A recording that was read from a file needs its model. Options are those of
        `delassus.viewer.to_html`.
        """
        if model is None and self.model is None:
            raise ModelError(
                "a recording from a file does not hold its model: to_html(path, model)"
            )
        # The viewer stands above this layer, and is imported only where it is asked for.
        viewer = importlib.import_module("delassus.viewer")
        viewer.to_html(self, path, self.model if model is None else model, **options)

    def plot(self, *names: str) -> Any:
        """A figure over time of all metrics, or of those named.

        Names are those of metrics; "q", "v", "accelerations", "torques", "actuator_forces" and
        "reactions", whose lines have the names of joints; and joints, for their coordinates.
        """
        return plotted(self, names)


def is_recording(path: str | PathLike) -> bool:
    """Whether a file is a recording, of whatever version."""
    place = Path(file_path(path))
    try:
        with place.open("rb") if place.is_file() else io.BytesIO() as file:
            return file.read(len(_KIND)) == _KIND
    except (OSError, ValueError):  # of names that no file can have
        return False


def _with_places(contacts: Any, step: int, is_many: bool) -> np.ndarray:
    """Contacts of all worlds with the numbers of their step and world."""
    found = []
    for world, table in enumerate(contacts if is_many else [contacts]):
        places = [("step", int), ("world", int)]
        placed = np.zeros(len(table), np.dtype([*places, *table.dtype.descr]))
        placed["step"], placed["world"] = step, world
        for name in table.dtype.names:
            placed[name] = table[name]
        found.append(placed)
    return np.concatenate(found)


def _what_it_is(content: bytes) -> str:
    """Why a file that does not start with the mark is not read."""
    if not content.startswith(_KIND):
        return "is no recording of this library"
    version = content[len(_KIND) :][:8].split(b"\n")[0].decode(errors="replace")
    return f"is a recording of version {version}, and this reads version {_VERSION.decode()}"


def _begun(kind: type[Recording], header: dict[str, np.ndarray]) -> Recording:
    """The recording of a file's first part, without steps."""
    *whole, dt = header["sizes"].tolist()
    sizes = Sizes(*map(int, whole), dt)
    if whole != list(sizes[:-1]) or min(whole) < 0 or not 0.0 < dt < np.inf:
        raise ValueError(f"its sizes are {header['sizes'].tolist()}")
    first, names = header["first_v"], header["joint_names"]
    if first.ndim != 2 or first.shape[1] != sizes.nv or first.dtype != np.float64 or not len(first):
        raise ValueError(f"first_v has the shape {first.shape} for {sizes.nv} velocities")
    if names.ndim != 1 or header["name"].ndim or not (sizes.is_many or len(first) == 1):
        raise ValueError("its names or worlds are not as many as its sizes say")
    return kind(str(header["name"]), sizes, list(map(str, names.tolist())), first)


def _read_parts(content: bytes, at: int, place: Path) -> Iterator[dict[str, np.ndarray]]:
    """Parts one after the other; an error for one that is not whole."""
    while at < len(content):
        if not any(content[at : at + 4096]) and not any(content[at:]):
            return  # blocks that were to be written after the last part
        size = struct.unpack_from("<q", content, at)[0] if at + 8 <= len(content) else -1
        at += 8
        if size <= 0 or at + size > len(content):
            raise FileFormatError(f"{place} was cut off, or is damaged, at byte {at - 8}")
        yield arrays_of(content[at : at + size], place, "has a damaged part")
        at += size
