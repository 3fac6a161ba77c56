"""`delassus warmup`: compile every kernel now rather than at its first use."""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from ..compile import FLOAT32, FLOAT64, is_compiled, kernels
from ..compile.native import cache
from ..errors import DelassusError, UnknownNameError

_ENTRIES = ("one state", "batch of float64", "batch of float32")


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
    tasks = [(name, entry) for name in names for entry in _ENTRIES]
    folder = cache.folder()
    if folder is None:
        raise DelassusError("there is no folder to keep compiled kernels in")
    start = time.perf_counter()
    _compile_all(tasks, min(options.jobs or os.cpu_count() or 1, len(tasks)))
    seconds = time.perf_counter() - start
    ready = "1 kernel" if len(names) == 1 else f"{len(names)} kernels"
    print(f"{ready} ready in {seconds:.1f} s, kept in {folder}")
    return 0


def compile_entry(name: str, entry: str) -> str:
    """Compile one entry of one kernel, or find it in the cache; return what was done."""
    kernel = kernels()[name]
    if entry == _ENTRIES[0]:
        kernel.single()
        if len(kernel.signature.inputs) > kernel.signature.required:
            kernel.single(with_optional=True)
    else:
        kernel.batch(FLOAT64 if entry == _ENTRIES[1] else FLOAT32)
    return f"{kernel.label}, {entry}"


def _select(wanted: Sequence[str]) -> list[str]:
    labels = {kernel.label: name for name, kernel in kernels().items()}
    for name in wanted:
        if name not in labels:
            known = ", ".join(sorted(labels))
            raise UnknownNameError(f"no kernel is called {name!r}; there are {known}")
    return [labels[name] for name in wanted or labels]


def _compile_all(tasks: list[tuple[str, str]], jobs: int) -> None:
    from tqdm import tqdm

    with tqdm(total=len(tasks), unit="entry", disable=None, leave=False, file=sys.stderr) as bar:
        quiet = contextlib.nullcontext() if bar.disable else _silent_announcements()
        with quiet:
            for done in _completed(tasks, jobs):
                bar.set_description(done)
                bar.update()


@contextlib.contextmanager
def _silent_announcements() -> Iterator[None]:
    """The bar already tells what the announcements of the compiler would."""
    with contextlib.redirect_stderr(io.StringIO()):
        yield


def _completed(tasks: list[tuple[str, str]], jobs: int) -> Iterator[str]:
    if jobs == 1:
        for task in tasks:
            yield compile_entry(*task)
        return
    # Numba compiles under a global lock, so only processes share the work.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=_silence) as pool:
        for future in as_completed([pool.submit(compile_entry, *task) for task in tasks]):
            yield future.result()


def _silence() -> None:
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - stays open as long as the process


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number
