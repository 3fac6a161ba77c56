"""`delassus bench`: run benchmarks, print their tables and write them to files."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from ..errors import DelassusError, UnknownNameError


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "bench",
        help="run benchmarks against other libraries",
        description="Run benchmarks; write tables, plots and JSON from the same run.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="benchmarks (default: all but suite)"
    )
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    parser.add_argument(
        "--output", type=Path, default=Path("bench-results"), metavar="DIR",
        help="folder for the results (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--quick", action="store_true",
        help="few states and repeats, so that times are rough; as long as kernels are not compiled "
        "yet, most of the time goes into compiling them",
    )  # fmt: skip
    parser.add_argument(
        "--count", action="store_true", help="count operations too where a benchmark can"
    )
    parser.add_argument(
        "--json-only", action="store_true", help="print and write only JSON, no tables or plots"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the chosen benchmarks; 1 if the results of one are wrong."""
    from ..benchmarks import BENCHMARKS, Settings

    if options.list:
        for benchmark in BENCHMARKS.values():
            print(f"{benchmark.name}  {benchmark.description}")
        return 0
    for name in options.names:
        if name not in BENCHMARKS:
            known = ", ".join(BENCHMARKS)
            raise UnknownNameError(f"no benchmark is called {name!r}; there are: {known}")
    _check_output(options.output)
    if options.quick:
        # Only JSON goes to the output that a program may read.
        print(_quick_note(), file=sys.stderr if options.json_only else sys.stdout, flush=True)
    settings = Settings.quick() if options.quick else Settings()
    settings = replace(settings, count_operations=options.count)
    failures = []
    for name in options.names or [n for n, b in BENCHMARKS.items() if not b.is_long]:
        result = BENCHMARKS[name].run(settings, options.output)
        failures += result.failures
        paths = result.save(options.output, json_only=options.json_only)
        if options.json_only:
            print(json.dumps(result.data(), indent=2))
        else:
            print(result)
            print("\nwritten: " + " ".join(map(str, paths)))
    for failure in failures:
        print(f"delassus: FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _quick_note() -> str:
    """A line on what a quick run spends its time on."""
    from ..benchmarks.measuring.machine import compiled_kernels
    from ..compile import is_compiled

    note = "quick run: few states and repeats, so that times are rough"
    if not is_compiled():
        return note
    compiled, known, folder = compiled_kernels()
    place = f", kept in {folder}" if folder else ""
    return (
        f"{note}; most of its time is compiling where kernels are not compiled yet: "
        f"{compiled} of {known} are{place}"
    )


def _check_output(folder: Path) -> None:
    """A run takes a minute: find out before it whether its results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DelassusError(f"cannot write results to {folder}: {error.strerror}") from None
