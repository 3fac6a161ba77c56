"""A run of the suite: samples, simulations, sweeps, solutions; each is kept as it is made.

A run that was stopped, at whatever moment, goes on where it was: files that are there are not made
again. All but times comes out as without the stop.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from ... import contact, robots
from ...errors import DelassusError
from . import sampling, simulating, solving, sweeping
from .store import Store, read_arrays, read_json, write_json

_DRIVE, _SWEEP = 0.8, 20.0  # s, of a simulation and of a sweep
_THREADS = "OPENBLAS_NUM_THREADS"


@dataclass(frozen=True)
class Plan:
    """What is measured: so many samples of a category and system at most, from some seeds."""

    systems: tuple[str, ...]
    samples: int = 40
    seeds: int = 2


class Run:
    """A run in a folder, in `workers` processes, or in this one if there is only one."""

    def __init__(self, folder: Path, plan: Plan, workers: int = 1, is_quiet: bool = False):
        self.store, self.plan, self.workers = Store(folder), plan, workers
        self.is_quiet = is_quiet
        told = {**asdict(plan), "systems": list(plan.systems)}
        there = read_json(folder / "plan.json")
        if there is not None and there != told:
            raise DelassusError(
                f"{folder} has results of another plan ({there}): take another --output, or delete "
                "the folder"
            )
        write_json(folder / "plan.json", told)

    # --- pieces -----------------------------------------------------------------------------------

    def make_all(self) -> None:
        """Make all pieces that are not there."""
        folder, plan = self.store.folder, self.plan
        self._say(self.estimate())
        missing = [s for s in plan.systems if self.store.samples(s) is None]
        jobs = [(draw_samples, (folder, s, plan.seeds, plan.samples)) for s in missing]
        self._work("samples", jobs[::-1])  # the largest first
        self._work("simulations", [(simulating.simulate, (folder, *x)) for x in self._undriven()])
        missing = [s for s in self._swept() if not self.store.sweep_path(s).is_file()]
        self._work("sweeps", [(sweeping.sweep, (folder, s)) for s in missing])
        self._work("solutions", self._solutions())

    def _solutions(self) -> list[tuple[Callable, tuple]]:
        """A job for each sample that some solver has not been run on."""
        jobs, curved = [], set()
        for system, own in self.index().items():
            for told in own:
                has_curve = system not in curved and told["contacts"] > 1
                curved |= {system} if has_curve else set()
                missing = [
                    solver
                    for solver in contact.SOLVERS
                    if not self.store.solution_path(system, told["number"], solver).is_file()
                ]
                if missing:
                    jobs.append((solve_all, (self.store.folder, system, told, missing, has_curve)))
        return jobs

    def _undriven(self) -> list[tuple[str, str]]:
        """Systems and what drives them, that have not been simulated."""
        every = itertools.product(self.plan.systems, simulating.drivers())
        return [x for x in every if not self.store.simulation_path(*x).is_file()]

    def _swept(self) -> list[str]:
        """Systems that parameters are swept on; none in a short run of few systems."""
        is_whole = set(sweeping.SYSTEMS) <= set(self.plan.systems)
        return list(sweeping.SYSTEMS) if is_whole else []

    def index(self) -> dict[str, list[dict]]:
        """What samples are, by systems."""
        return {s: own for s in self.plan.systems if (own := self.store.samples(s)) is not None}

    def records(self) -> list[dict]:
        """One record for each run of a solver, of samples that all solvers have been run on."""
        found = []
        for system, told, solver, path in self._files():
            _, modes = read_arrays(path)
            head = {"system": system, **told, "solver": solver}
            found += [{**head, "mode": mode, **numbers} for mode, numbers in modes.items()]
        return found

    def curves(self) -> dict[str, dict[str, tuple]]:
        """Iterations and natural maps of solvers, for one sample of each system."""
        found: dict[str, dict[str, tuple]] = {}
        for system, own in self.index().items():
            told = next((x for x in own if x["contacts"] > 1), None)
            for solver in contact.SOLVERS if told is not None else ():
                path = self.store.solution_path(system, told["number"], solver)
                arrays = read_arrays(path)[0] if path.is_file() else {}
                if "curve" in arrays:
                    found.setdefault(system, {})[solver] = arrays["curve_at"], arrays["curve"]
        return found

    def simulations(self) -> list[dict]:
        """What came of whole simulations."""
        every = itertools.product(self.plan.systems, simulating.drivers())
        found = [read_json(self.store.simulation_path(*x)) for x in every]
        return [x for x in found if x is not None]

    def sweeps(self) -> list[dict]:
        """What came of simulations with other parameters."""
        found = [read_json(self.store.sweep_path(s), list) for s in self._swept()]
        return [record for own in found if own is not None for record in own]

    def _files(self) -> Iterator[tuple[str, dict, str, Path]]:
        """Files of samples that all solvers have been run on."""
        for system, own in self.index().items():
            for told in own:
                place, number = self.store.solution_path, told["number"]
                paths = {solver: place(system, number, solver) for solver in contact.SOLVERS}
                if all(path.is_file() for path in paths.values()):
                    yield from ((system, told, *item) for item in paths.items())

    # --- work -------------------------------------------------------------------------------------

    def estimate(self) -> str:
        """How long the rest of the run will take."""
        seconds = 0.0
        for system in self.plan.systems:
            rows = robots.figures.table.PAPER[system].rows
            own, each = self.store.samples(system), 0.09 + (rows / 170.0) ** 2
            count = 3 * self.plan.samples if own is None else len(own)
            seconds += 0.15 * each * count if own is None else 0.0
            done = list((self.store.folder / "solutions" / system).glob("[0-9]*.npz"))
            seconds += each * (count - len(done) / len(contact.SOLVERS))
        seconds += _DRIVE * len(self._undriven())
        seconds += sum(_SWEEP for s in self._swept() if not self.store.sweep_path(s).is_file())
        # Measured on two cores of a Xeon at 2.5 GHz; solvers take the most of it.
        minutes = seconds / self.workers / 60.0
        return f"suite: about {max(minutes, 0.1):.1f} minutes, in {self.store.folder}"

    def _say(self, text: str) -> None:
        if not self.is_quiet:
            print(text, file=sys.stderr, flush=True)

    def _work(self, title: str, jobs: Sequence[tuple[Callable, tuple]]) -> None:
        """Do jobs, with a bar; what is done is in files."""
        from tqdm import tqdm

        if not jobs:
            return
        bar = tqdm(total=len(jobs), desc=title, disable=True if self.is_quiet else None)
        with bar, _one_thread():
            if self.workers == 1:
                for function, arguments in jobs:
                    function(*arguments)
                    bar.update()
                return
            function, arguments = jobs[0]  # compiles what others then find compiled
            function(*arguments)
            bar.update()
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(self.workers, spawn, _leave_stopping) as pool:
                try:
                    for done in as_completed([pool.submit(f, *x) for f, x in jobs[1:]]):
                        done.result()
                        bar.update()
                except BaseException:  # jobs that run are still brought to their end
                    pool.shutdown(cancel_futures=True)
                    raise


def _leave_stopping() -> None:
    """Ctrl-C is for the process that waits, which then gives no more jobs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that are started meanwhile have linear algebra on one thread each."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before


def draw_samples(folder: Path, system: str, seeds: int, most: int) -> None:
    """Draw the samples of a system, and keep them."""
    Store(folder).write_samples(system, sampling.draw(system, seeds, most))


def solve_all(folder: Path, system: str, told: dict, solvers: list[str], has_curve: bool) -> float:
    """Run solvers on a sample, each of them kept when done; the seconds it took."""
    begun = time.perf_counter()
    for solver in solvers:
        solving.solve_sample(folder, system, told, solver, has_curve)
    return time.perf_counter() - begun
