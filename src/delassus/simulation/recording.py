"""What happened in a rollout: arrays over time, kept in memory and, if asked for, in a file.

A file is a sequence of parts, each an .npz of at most a thousand steps with its length before it.
So what was written before a crash can be read: a part that was cut off is left out.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import struct
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import file_path
from ..errors import (
    FileAccessError,
    FileFormatError,
    MissingFileError,
    ModelError,
    SettingError,
)
from .step import METRIC

_MARK = b"delassus recording 1\n"


class Recording:
    """Time, coordinates, velocities and metrics of each step.

    Arrays are (steps, ...), or (worlds, steps, ...) of many worlds.
    """

    def __init__(self, name: str, nq: int, nv: int, is_many: bool, has_contacts: bool = False):
        self.name, self.nq, self.nv, self.is_many = name, nq, nv, is_many
        self.model: Any = None  # that of the simulator; files do not hold it
        self.has_contacts = has_contacts
        self._parts: list[dict[str, np.ndarray]] = []
        self._file: io.BufferedWriter | None = None

    @classmethod
    def start(cls, sim: Any, path: str | PathLike | None, has_contacts: bool = False) -> Recording:
        """An empty recording of a simulator."""
        sizes = sim.model.nq, sim.model.nv
        made = cls(sim.model.name, *sizes, sim.worlds is not None, has_contacts)
        made.model = sim.model
        if path is not None:
            try:
                made._file = file_path(path).open("wb")
                made._file.write(_MARK)
                made._write_part(
                    {
                        "name": np.array(made.name),
                        "sizes": np.array([made.nq, made.nv, int(made.is_many)]),
                    }
                )
            except OSError as error:
                raise FileAccessError(f"cannot record to {path}: {error}") from None
        return made

    @contextlib.contextmanager
    def closing(self) -> Iterator[None]:
        """Close the file at the end, whatever happens."""
        try:
            yield
        finally:
            if self._file is not None:
                self._file.close()
                self._file = None

    def add(self, sim: Any, trace: np.ndarray, metrics: np.ndarray) -> None:
        """Add steps of all worlds, the last of which was just done."""
        steps = trace.shape[1]
        time = sim.time - sim.dt * np.arange(steps - 1, -1, -1)
        part = {"time": time, "trace": trace, "metrics": metrics}
        if self.has_contacts:  # then parts are of one step
            part["contacts"] = _with_places(sim.contacts, len(self), self.is_many)
        self._parts.append(part)
        if self._file is not None:
            try:
                self._write_part(part)
            except OSError as error:
                raise FileAccessError(f"the recording could not be continued: {error}") from None

    def _write_part(self, part: dict[str, np.ndarray]) -> None:
        memory = io.BytesIO()
        np.savez(memory, **part)
        content = memory.getvalue()
        self._file.write(struct.pack("<q", len(content)) + content)
        self._file.flush()

    def _all(self, name: str, columns: slice | int = slice(None)) -> np.ndarray:
        axis = 0 if name == "time" else 1
        whole = np.concatenate([p[name] for p in self._parts], axis=axis)
        if name == "time":
            return whole
        whole = whole[:, :, columns]
        return whole if self.is_many else whole[0]

    @property
    def time(self) -> np.ndarray:
        """The time at the end of each step."""
        return self._all("time")

    @property
    def q(self) -> np.ndarray:
        """Coordinates at the end of each step."""
        return self._all("trace", slice(0, self.nq))

    @property
    def v(self) -> np.ndarray:
        """Velocities at the end of each step."""
        return self._all("trace", slice(self.nq, None))

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        """What is known of each step, by name."""
        return {name: self._all("metrics", k) for k, name in enumerate(METRIC._fields[:-1])}

    @property
    def contacts(self) -> np.ndarray:
        """Contacts of all steps, as one array of records: those of `Simulator.contacts`.

        Two fields more say of which `step`, from 0 on, and of which `world`.
        """
        if not all("contacts" in p for p in self._parts):
            raise SettingError("contacts were not recorded: give contacts=True to rollout")
        return np.concatenate([p["contacts"] for p in self._parts])

    def __len__(self) -> int:
        return sum(p["trace"].shape[1] for p in self._parts)

    def save(self, path: str | PathLike) -> None:
        """Write the recording to a file."""
        with file_path(path).open("wb") as file:
            self._file = file
            file.write(_MARK)
            sizes = np.array([self.nq, self.nv, int(self.is_many)])
            self._write_part({"name": np.array(self.name), "sizes": sizes})
            for part in self._parts:
                self._write_part(part)
            self._file = None

    @classmethod
    def load(cls, path: str | PathLike) -> Recording:
        """Read a recording; a part that was cut off is left out."""
        place = Path(file_path(path))
        if not place.is_file():
            raise MissingFileError(f"there is no file {place}")
        content = place.read_bytes()
        if not content.startswith(_MARK):
            raise FileFormatError(f"{place} is no recording of this version")
        parts = list(_read_parts(content, len(_MARK)))
        if not parts or "sizes" not in parts[0]:
            raise FileFormatError(f"{place} was cut off before its first part")
        nq, nv, is_many = parts[0]["sizes"].tolist()
        made = cls(str(parts[0]["name"]), nq, nv, bool(is_many))
        made._parts = parts[1:]
        return made

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
        """A figure of metrics over time: all, or those named."""
        import matplotlib.pyplot as plt

        chosen = names or METRIC._fields[:-1]
        figure, axes = plt.subplots(len(chosen), 1, sharex=True, figsize=(8, 1.6 * len(chosen)))
        for ax, name in zip(np.atleast_1d(axes), chosen, strict=True):
            ax.plot(self.time, np.atleast_2d(self.metrics[name]).T)
            ax.set_ylabel(name.replace("_", " "), fontsize=8)
        np.atleast_1d(axes)[-1].set_xlabel("time, s")
        figure.tight_layout()
        return figure


def is_recording(path: str | PathLike) -> bool:
    """Whether a file is a recording."""
    place = Path(file_path(path))
    if not place.is_file():
        return False
    with place.open("rb") as file:
        return file.read(len(_MARK)) == _MARK


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


def _read_parts(content: bytes, at: int) -> Iterator[dict[str, np.ndarray]]:
    while at + 8 <= len(content):
        (size,) = struct.unpack_from("<q", content, at)
        at += 8
        if size < 0 or at + size > len(content):
            return
        with np.load(io.BytesIO(content[at : at + size]), allow_pickle=False) as found:
            yield {name: found[name] for name in found.files}
        at += size
