"""Models as they are named on the command line: a file, or a robot's name."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .. import robots
from ..errors import MissingFileError, UnknownNameError
from ..model.formats import read
from ..model.model import Model
from ..model.parts.names import closest


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the positional FILE|ROBOT and how its base moves."""
    parser.add_argument(
        "model",
        metavar="FILE|ROBOT",
        help="a URDF, SDF, MJCF or saved file, or a robot's name such as panda or talos",
    )
    parser.add_argument(
        "--floating-base",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="let the root body move freely (default: as fits the robot, no for files)",
    )


def find_model(name: str, floating_base: bool | None = None) -> tuple[Model, list[str]]:
    """The model of a file, a figure or a named robot, and what its reader warns of.

    A name that both have, such as "walker", is that of the figure: it has servos and a start.
    """
    if _is_file_name(name):
        model, report = read(name, floating_base=bool(floating_base))
        return model, report.messages()
    if name in robots.suite() and floating_base is None:
        return robots.figure(name).model, []
    try:
        file = robots.path(name)
    except UnknownNameError:
        near = closest(name, [*robots.names(), *robots.suite()])
        raise UnknownNameError(
            f"there is neither a file nor a robot called {name!r}{near}"
        ) from None
    except MissingFileError:  # it is built by a function
        return robots.load(name, floating_base), []
    _, report = read(file)
    return robots.load(name, floating_base), report.messages()


def _is_file_name(name: str) -> bool:
    return Path(name).is_file() or os.sep in name or Path(name).suffix != ""
