"""`delassus info`: what a model consists of."""

from __future__ import annotations

import argparse

from .facts import facts
from .models import add_model_arguments, find_model


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "info",
        help="show a model's tree, mobility, masses, actuators and what would collide",
        description="Show a model's tree of bodies, its constraints and mobility, masses, "
        "actuators, keyframes, what would collide, and what its reader warns of.",
    )
    add_model_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the model."""
    model, warnings = find_model(options.model, options.floating_base)
    print(model)
    print(f"gravity: {' '.join(f'{x:g}' for x in model.gravity)} m/s²")
    for line in facts(model):
        print(line)
    for warning in warnings:
        print(f"warning: {warning}")
    return 0
