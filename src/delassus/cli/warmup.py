"""`delassus warmup`: compile every kernel now rather than at its first use."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from ..compile import is_compiled, kernels
from ..compile.native import cache
from ..compile.workers import available_cores
from ..errors import DelassusError, UnknownNameError


class Task(NamedTuple):
    """An entry to compile: the kernel's name, and what the entry is for."""

    kernel: str
    entry: str

    def __str__(self) -> str:
        return f"{kernels()[self.kernel].label}, {self.entry}"


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "warmup",
        help="compile all kernels now, so that no first call has to wait",
        description="Compile all kernels, or those named, and keep them in the cache.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="kernels, such as mass_matrix")
    parser.add_argument("--jobs", type=_positive, help="processes to compile with (all cores)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compile, and say how long it took and where the result is."""
    if not is_compiled():
        raise DelassusError("compilation is switched off by DELASSUS_COMPILE=0")
    names = _select(options.names)
    folder = cache.folder()
    if folder is None:
        raise DelassusError("there is no folder to keep compiled kernels in")
    tasks = in_order(names)
    start = time.perf_counter()
    failures = _compile_all(tasks, min(options.jobs or available_cores(), len(tasks)))
    seconds = time.perf_counter() - start
    for failure in failures:
        print(f"delassus: FAILED: {failure}", file=sys.stderr)
    ready = "1 kernel" if len(names) == 1 else f"{len(names)} kernels"
    outcome = f"{len(failures)} of {len(tasks)} entries failed" if failures else f"{ready} ready"
    print(f"{outcome} in {seconds:.1f} s, kept in {folder}")
    return 1 if failures else 0


def in_order(names: Sequence[str]) -> list[Task]:
    """All entries of kernels, those that take longest first: so no long one is left at the end."""
    known = kernels()
    longest_first = sorted(names, key=lambda name: -cache.estimated_seconds(known[name].function))
    return [Task(name, entry) for name in longest_first for entry in known[name].compilations()]


def compile_entry(task: Task) -> Task:
    """Compile one entry of one kernel, or find it in the cache."""
    kernels()[task.kernel].compilations()[task.entry]()
    return task


def _select(wanted: Sequence[str]) -> list[str]:
    labels = {kernel.label: name for name, kernel in kernels().items()}
    for name in wanted:
        if name not in labels:
            known = ", ".join(sorted(labels))
            raise UnknownNameError(f"no kernel is called {name!r}; there are {known}")
    return [labels[name] for name in wanted or labels]


def _compile_all(tasks: list[Task], jobs: int) -> list[str]:
    """Compile all entries; return what failed, and why."""
    from tqdm import tqdm

    failures = []
    with tqdm(total=len(tasks), unit="entry", disable=None, leave=False, file=sys.stderr) as bar:
        for number, (task, error) in enumerate(_completed(tasks, jobs), start=1):
            if error is not None:
                failures.append(f"{task}: {type(error).__name__}: {error}")
            bar.set_description(str(task))
            bar.update()
            if bar.disable:  # this is no terminal
                print(f"delassus: {number} of {len(tasks)}: {task}", file=sys.stderr, flush=True)
    return failures


def _completed(tasks: list[Task], jobs: int) -> Iterator[tuple[Task, Exception | None]]:
    """Each entry once it is done, with the error if it failed."""
    if jobs == 1:
        _be_quiet()
        try:
            for task in tasks:
                yield task, _error_of(compile_entry, task)
        finally:
            _be_quiet(False)
        return
    # Numba compiles under a global lock, so only processes share the work.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=_be_quiet) as pool:
        submitted = {pool.submit(compile_entry, task): task for task in tasks}
        for future in as_completed(submitted):
            yield submitted[future], _error_of(future.result)


def _error_of(call, *arguments) -> Exception | None:
    try:
        call(*arguments)
    except BrokenProcessPool:
        return DelassusError("a process was ended from outside; fewer --jobs need less memory")
    except Exception as error:
        return error
    return None


def _be_quiet(is_quiet: bool = True) -> None:
    """Leave out the announcements of the compiler: the progress tells the same."""
    cache.is_quiet = is_quiet


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number
