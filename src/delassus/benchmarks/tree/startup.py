"""Time to import and to the first result, and the memory of a large batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from ... import DelassusError
from ...compile.native.cache import FOLDER_VARIABLE
from ..measuring.settings import Settings
from ..reporting.tables import Column, Findings, Table, numbers
from ..runner import Part

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
from delassus.benchmarks.measuring.machine import resident_memory

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

TIMES = Table(
    "startup",
    "Time to begin, in a fresh interpreter",
    [Column("what", ""), *numbers(".2f", seconds="seconds")],
)
MEMORY = Table(
    "memory",
    "Peak memory in MiB: the arrays of inputs and results, and what comes on top",
    [
        Column("what", ""),
        *numbers(".0f", arrays_mebibytes="arrays"),
        *numbers(".1f", extra_mebibytes="extra"),
    ],
)


def _import(_: Settings) -> Findings:
    seconds = min(seconds_of(_IMPORT) for _ in range(_TRIES))
    return _time("import delassus", seconds)


def _warm(_: Settings) -> Findings:
    seconds = min(seconds_of(_FIRST_RESULT) for _ in range(_TRIES))
    return _time("import, load panda, first inverse dynamics, warm cache", seconds)


def _cold(_: Settings) -> Findings:
    with tempfile.TemporaryDirectory() as folder:
        seconds = seconds_of(_FIRST_RESULT, {FOLDER_VARIABLE: folder})
    return _time(
        "import, load panda, first inverse dynamics, empty cache: one kernel is compiled", seconds
    )


def _memory(settings: Settings) -> Findings:
    states = settings.memory_states
    arrays, extra = json.loads(_run(_MEMORY.format(states=states)))
    record = {
        "what": f"inverse and forward dynamics of {states:,} panda states",
        "arrays_mebibytes": arrays / _MEBIBYTE,
        "extra_mebibytes": None if extra is None else extra / _MEBIBYTE,
    }
    return {"memory": [record]}


_MEASURES = {
    "import time": _import,
    "first result, warm cache": _warm,
    "first result, cold cache": _cold,
    "memory": _memory,
}


def measure(what: str, settings: Settings) -> Findings:
    """One record: a time, or the memory of a batch."""
    return _MEASURES[what](settings)


def _time(what: str, seconds: float) -> Findings:
    return {"startup": [{"what": what, "seconds": seconds}]}


def seconds_of(script: str, environment: dict[str, str] | None = None) -> float:
    """How long a script takes in a fresh interpreter."""
    return float(_run(_TIMED.format(script), environment))


def _run(script: str, environment: dict[str, str] | None = None) -> str:
    """The last line that a script prints in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip
    if done.returncode:
        raise DelassusError(f"a part of the benchmark failed:\n{done.stderr}")
    return done.stdout.splitlines()[-1]


PART = Part(
    "start", cases=lambda _: [(what,) for what in _MEASURES], measure=measure,
    tables=[TIMES, MEMORY],
)  # fmt: skip
