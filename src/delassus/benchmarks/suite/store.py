"""Files of a run. Each is written under another name first, so that none is ever half a file.

| file | what it holds |
| --- | --- |
| `samples/SYSTEM/NUMBER.npz` | a dual problem, as `contact.load` reads it |
| `samples/SYSTEM/starts.npz` | warm starts, by numbers of samples |
| `samples/SYSTEM/index.json` | what samples are; written last: without it sampling starts anew |
| `solutions/SYSTEM/NUMBER.SOLVER.npz` | reactions, metrics and times of a solver, in all modes |
| `simulations/SYSTEM.DRIVER.json` | what came of a whole simulation by a solver or MuJoCo |
| `sweeps/SYSTEM.json` | simulations by parameters of stabilisation and softening |
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ... import contact
from ...files import arrays_of, blaming, content_of

INDEX, STARTS = "index.json", "starts.npz"
_DAMAGED = "is damaged: delete it, and a run makes it anew"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` once it is written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, data: Any) -> None:
    """Write what JSON can hold."""
    with replacing(path) as part:
        part.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def read_json(path: Path, kind: type = dict) -> Any:
    """What `write_json` has written, of a kind; None where there is no such file."""
    if not path.is_file():
        return None
    with blaming(path, _DAMAGED):
        found = json.loads(content_of(path).decode("utf-8"))
        if not isinstance(found, kind):
            raise ValueError(f"it holds no {kind.__name__}")
        if kind is list and not all(isinstance(record, dict) for record in found):
            raise ValueError("it holds no records")
    return found


def write_arrays(path: Path, arrays: dict[str, np.ndarray], told: Any = None) -> None:
    """Write arrays, and what JSON can hold beside them."""
    with replacing(path) as part, part.open("wb") as file:
        np.savez(file, told=np.array(json.dumps(told)), **arrays)


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], Any]:
    """What `write_arrays` has written."""
    with blaming(path, _DAMAGED):
        arrays = arrays_of(content_of(path), path, _DAMAGED)
        return arrays, json.loads(str(arrays.pop("told")))


class Store:
    """The folder of a run."""

    def __init__(self, folder: Path):
        self.folder = folder

    def samples(self, system: str) -> list[dict] | None:
        """What the samples of a system are; None if they have not been drawn."""
        path = self.folder / "samples" / system / INDEX
        found = read_json(path, list)
        with blaming(path, _DAMAGED):
            for told in found or ():
                if not all(isinstance(told[name], int) for name in ("number", "contacts")):
                    raise ValueError("it does not number its samples")
        return found

    def sample_path(self, system: str, number: int) -> Path:
        """The file of a problem."""
        return self.folder / "samples" / system / f"{number:04d}.npz"

    def sample(self, system: str, number: int) -> tuple[contact.Problem, np.ndarray]:
        """A problem, and its warm start."""
        path = self.folder / "samples" / system / STARTS
        starts, _ = read_arrays(path)
        problem = contact.load(self.sample_path(system, number))
        with blaming(path, _DAMAGED):
            return problem, problem.check_rows("its start", starts[f"{number:04d}"])

    def write_samples(self, system: str, samples: list[tuple[dict, Any, np.ndarray]]) -> None:
        """Keep the samples of a system: what they are, problems, warm starts."""
        for told, problem, _ in samples:
            with replacing(self.sample_path(system, told["number"])) as part:
                problem.save(part)
        starts = {f"{told['number']:04d}": start for told, _, start in samples}
        write_arrays(self.folder / "samples" / system / STARTS, starts)
        write_json(self.folder / "samples" / system / INDEX, [told for told, *_ in samples])

    def solution_path(self, system: str, number: int, solver: str) -> Path:
        """The file of what a solver did with a problem."""
        return self.folder / "solutions" / system / f"{number:04d}.{solver}.npz"

    def simulation_path(self, system: str, driver: str) -> Path:
        """The file of a whole simulation of a system."""
        return self.folder / "simulations" / f"{system}.{driver}.json"

    def sweep_path(self, system: str) -> Path:
        """The file of a sweep over parameters."""
        return self.folder / "sweeps" / f"{system}.json"
