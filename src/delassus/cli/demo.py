"""`delassus demo`: a first look at what the library does, in under a minute."""

from __future__ import annotations

import argparse


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo",
        help="evaluate real robots and compare with Pinocchio",
        description="Evaluate real robots and compare results and speed with Pinocchio.",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    from ..benchmarks.demo import demonstrate

    return demonstrate()
