"""`delassus demo`: a first look at what the library does."""

from __future__ import annotations

import argparse
from pathlib import Path

from .paths import check_writable


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo",
        help="let two mechanisms with loops fall, and write a page that plays it",
        description="Let Cassie and a generated walker fall and settle, compare solvers on the "
        "contact problems of that, and write one page with animations and plots.",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("demo.html"), metavar="FILE",
        help="the page (default: %(default)s)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    from ..benchmarks.demo import demonstrate

    check_writable(options.output)
    return demonstrate(options.output)
