"""What it costs to begin: importing, the first result, and the memory of a large batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from ...compile.native.cache import FOLDER_VARIABLE
from ...errors import DelassusError
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings

_TRIES = 3
_MEBIBYTE = 2**20

_IMPORT = "import delassus"
_FIRST_RESULT = """
import delassus
from delassus import robots
import numpy as np
model = robots.load("panda")
zero = np.zeros(model.nv)
delassus.inverse_dynamics(model, model.neutral(), zero, zero)
"""
_TIMED = """
import time
start = time.perf_counter()
{}
print(time.perf_counter() - start)
"""
_MEMORY = """
import json
import numpy as np
import delassus
from delassus import robots
from delassus.benchmarks.machine import resident_memory

model = robots.load("panda")
rng = np.random.default_rng(0)
names = ("inverse_dynamics", "forward_dynamics")
few = rng.random((3, 1024, model.nv))
for name in names:
    getattr(delassus, name)(model, *few)
q, v, x, out = (np.empty(({states}, model.nv)) for _ in range(4))
for array in (q, v, x, out):
    rng.random(out=array)
before = resident_memory()
for name in names:
    getattr(delassus, name)(model, q, v, x, out=out)
after = resident_memory()
extra = None if before is None else max(after[1] - before[0], 0)
print(json.dumps([sum(array.nbytes for array in (q, v, x, out)), extra]))
"""


def jobs(settings: Settings) -> list[Job]:
    """Jobs that run in processes of their own."""
    return [
        Job("import time", _import),
        Job("first result, warm cache", _warm),
        Job("first result, cold cache", _cold),
        Job("memory", lambda: _memory(settings.memory_states)),
    ]


def _import() -> dict[str, object]:
    seconds = min(_seconds(_IMPORT) for _ in range(_TRIES))
    return {"what": "import delassus", "seconds": seconds}


def _warm() -> dict[str, object]:
    seconds = min(_seconds(_FIRST_RESULT) for _ in range(_TRIES))
    return {"what": "import, load panda, first inverse dynamics, warm cache", "seconds": seconds}


def _cold() -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        seconds = _seconds(_FIRST_RESULT, {FOLDER_VARIABLE: folder})
    return {"what": "the same with an empty cache: compiles one kernel", "seconds": seconds}


def _memory(states: int) -> dict[str, object]:
    arrays, extra = json.loads(_run(_MEMORY.format(states=states)))
    return {
        "what": f"inverse and forward dynamics of {states:,} panda states",
        "arrays_mebibytes": arrays / _MEBIBYTE,
        "extra_mebibytes": None if extra is None else extra / _MEBIBYTE,
    }


def _seconds(script: str, environment: dict[str, str] | None = None) -> float:
    return float(_run(_TIMED.format(script), environment))


def _run(script: str, environment: dict[str, str] | None = None) -> str:
    """What a script prints last in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    if done.returncode:
        raise DelassusError(f"a part of the benchmark failed:\n{done.stderr}")
    return done.stdout.splitlines()[-1]


def tables(records: Sequence[dict]) -> list[Table]:
    """A table of times and one of memory."""
    *times, memory = records
    return [
        Table(
            "startup",
            "Time to begin, in a fresh interpreter",
            [Column("what", ""), Column("seconds", "seconds", ".2f")],
            times,
        ),
        Table(
            "memory",
            "Peak memory in MiB: the arrays of inputs and results, and what comes on top",
            [
                Column("what", ""),
                Column("arrays_mebibytes", "arrays", ".0f"),
                Column("extra_mebibytes", "extra", ".1f"),
            ],
            [memory],
        ),
    ]
