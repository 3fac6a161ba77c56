"""A first look: Cassie and a walker fall, touch down and settle; solvers on the problems of that.

| file | what it has |
| --- | --- |
| `mechanisms` | the two mechanisms, where they start, and their servos |
| `falls` | a fall that is simulated, and what it tells |
| `contest` | dual problems of steps, and solvers on them |
| `plots` | energy, loops, forces; convergence |
| `page` | the page that has all of it |
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from ..measuring.machine import processor
from ..peers.packages import package
from .contest import compare, prepare, problems
from .falls import Fall, fall, told
from .mechanisms import MECHANISMS
from .page import write

__all__ = ["demonstrate"]

_LARGEST_ERROR = 1e-3  # m, of a joint: a fall is good below it


def demonstrate(path: Path) -> int:
    """Simulate, compare, write the page; 1 if a mechanism diverges or does not hold together."""
    package("matplotlib", "plots need Matplotlib")
    begun = time.perf_counter()
    print(
        f"Delassus {version('delassus')} on {processor()}: two mechanisms fall and settle.\n"
        "The first run compiles, which takes one to three minutes; later ones take seconds.\n",
        flush=True,
    )
    # A second process compiles the contest while this one compiles the simulator.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        prepared = pool.submit(prepare)
        falls = []
        for make in MECHANISMS:
            falls.append(fall(make()))
            print(told(falls[-1]), flush=True)
        samples = {one.mechanism.title: problems(one) for one in falls}
        prepared.result()
    found = compare(samples)
    print(f"\n{found.table}\n")
    write(path, falls, found)
    print(f"{time.perf_counter() - begun:.0f} s. Open in a browser: {path.resolve()}")
    print("Next: delassus simulate walker --html run.html, delassus bench, delassus --help")
    return _verdict(falls)


def _verdict(falls: list[Fall]) -> int:
    """0 if all is well, else 1, and the reason on standard error."""
    code = 0
    for one in falls:
        reasons = [str(f) for f in one.failures]
        if not one.joint_error <= _LARGEST_ERROR:
            reasons.append(f"joints are open by {one.joint_error:.1e} m")
        for reason in reasons:
            print(f"delassus: FAILED: {one.mechanism.title}: {reason}", file=sys.stderr)
            code = 1
    return code
