"""`delassus simulate`: move a model for some seconds, and tell how it went."""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from ..contact import SOLVERS
from ..errors import SettingError
from ..model.formats.report import ModelFileWarning
from ..model.model import Model
from ..model.parts.joints import Free
from ..simulation.choosing import INTEGRATORS
from ..simulation.collision.meshes import MESHES
from ..simulation.simulator import Simulator
from ..simulation.told.failures import DIVERGED, Failure
from ..simulation.told.recording import Recording
from .models import add_model_arguments, find_model
from .paths import check_writable

DIVERGENCE = 1  # the exit code where a world diverged
_MOST_FAILURES = 5  # to print


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "simulate",
        help="simulate a model with contact, and record it",
        description="Simulate a model from a keyframe or its neutral configuration. The exit code "
        "is 1 if a world diverges.",
    )
    add_model_arguments(parser)
    _add_start(parser)
    _add_settings(parser)
    parser.add_argument("--record", metavar="FILE", help="write a recording, as it happens")
    parser.add_argument("--html", metavar="FILE", help="write a page that plays in a browser")
    parser.add_argument("--no-progress", action="store_true", help="show no progress bar")
    parser.set_defaults(run=run)


def _add_start(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keyframe", metavar="NAME", help='start there (default: "home", if any)')
    parser.add_argument("--height", type=float, metavar="Z", help="start with the base at this z")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--duration", type=float, default=5.0, metavar="S", help="seconds (5)")
    parser.add_argument("--dt", type=float, default=1e-3, metavar="S", help="step (0.001 s)")
    parser.add_argument("--integrator", choices=tuple(INTEGRATORS), default="midpoint")
    parser.add_argument("--solver", choices=tuple(SOLVERS), default="auto")
    parser.add_argument(
        "--ground",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="a plane z = 0, if the model has none (default: yes, but not in MJCF files and worlds "
        "of SDF, which have a ground or mean none)",
    )
    parser.add_argument("--meshes", choices=tuple(MESHES), default="planes", help="what they touch")
    parser.add_argument(
        "--friction", type=float, default=0.8, help="where the model has none (0.8)"
    )
    parser.add_argument("--restitution", type=float, default=0.0, help="likewise (0)")
    parser.add_argument("--worlds", type=int, metavar="N", help="as many alike, on all cores")


def run(options: argparse.Namespace) -> int:
    """Simulate, print a summary, and return 1 if a world diverged."""
    steps = _steps(options.duration, options.dt)
    if options.html is not None:
        check_writable(Path(options.html))  # before the work is done
    model = _model(options)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sim = _simulator(model, options)
    for warning in told:
        print(f"warning: {warning.message}", file=sys.stderr)
    control = _start(sim, options)
    _compile(sim, control)
    begin = time.perf_counter()
    rec = sim.rollout(steps, control, not options.no_progress, options.record)
    seconds = time.perf_counter() - begin
    print(_speed(sim, steps, seconds))
    print(_quality(rec))
    if options.record is not None:
        print(f"recorded: {options.record}")
    if options.html is not None:
        rec.to_html(options.html, model)
        print(f"written: {options.html}")
    return _tell_failures(sim)


def _steps(duration: float, dt: float) -> int:
    """Steps that make up a duration; the simulator checks dt itself."""
    if not (math.isfinite(duration) and duration > 0.0):
        raise SettingError(f"--duration must be positive, got {duration:g}")
    return max(1, round(duration / dt)) if dt > 0.0 else 1


def _model(options: argparse.Namespace) -> Model:
    """The model that is named; what its reader warns of is printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelFileWarning)  # they come as messages
        model, messages = find_model(options.model, options.floating_base)
    for message in messages:
        print(f"warning: {message}", file=sys.stderr)
    return model


def _simulator(model: Model, options: argparse.Namespace) -> Simulator:
    return Simulator(
        model,
        dt=options.dt,
        integrator=options.integrator,
        solver=options.solver,
        ground=options.ground,
        worlds=options.worlds,
        friction=options.friction,
        restitution=options.restitution,
        meshes=options.meshes,
        on_error="record",
    )


def _start(sim: Simulator, options: argparse.Namespace) -> np.ndarray:
    """Reset to the keyframe, and lift the base; returns the keyframe's controls."""
    sim.reset(keyframe=options.keyframe)
    control = sim.default_control
    if options.height is None:
        return control
    joint = sim.model.joints[0] if sim.model.joints else None
    if joint is None or not isinstance(joint.type, Free):
        raise SettingError("--height is for models whose base moves freely; see --floating-base")
    q, v = np.array(sim.q), np.array(sim.v)
    q[..., joint.q.start + 2] = options.height
    sim.reset(q, v)
    return control


def _compile(sim: Simulator, control: np.ndarray) -> None:
    """Make a step and forget it, so that compiling counts as no time of the simulation."""
    start = sim.state()
    sim.rollout(1, control)
    sim.set_state(start)
    sim.failures.clear()


def _speed(sim: Simulator, steps: int, seconds: float) -> str:
    """How long it took."""
    each = seconds / (steps * (sim.worlds or 1))
    many = "" if sim.worlds is None else f"{sim.worlds} worlds of "
    return (
        f"{many}{sim.model.name}: {steps * sim.dt:g} s in {steps} steps of {1e3 * sim.dt:g} ms, "
        f"{sim.integrator}; took {seconds:.2f} s, {1e6 * each:.0f} µs a step, "
        f"{sim.dt / each:.1f} times real time"
    )


def _quality(rec: Recording) -> str:
    """Contacts at the end, and the largest errors of all steps that did not diverge."""
    told = rec.metrics
    if np.isnan(told["contacts"]).all():
        return "all worlds diverged in their first step"
    steps = np.atleast_2d(told["contacts"])
    at_end = [world[np.isfinite(world)][-1] for world in steps if np.isfinite(world).any()]
    few, many = min(at_end), max(at_end)
    count = f"{few:.0f}" if few == many else f"{few:.0f} to {many:.0f}"
    return (
        f"contacts at the end {count}; at most: natural map {np.nanmax(told['natural_map']):.2g}, "
        f"joints apart by {np.nanmax(told['joint_error']):.2g}, "
        f"penetration {np.nanmax(told['penetration']):.2g} m"
    )


def _tell_failures(sim: Simulator) -> int:
    """Print what went wrong, divergence first, and return the exit code."""
    ended = [f for f in sim.failures if f.kind == DIVERGED]
    others = [f for f in sim.failures if f.kind != DIVERGED]
    _print_some("delassus: ", ended)
    _print_some("warning: ", others)
    return DIVERGENCE if ended else 0


def _print_some(head: str, failures: list[Failure]) -> None:
    for failure in failures[:_MOST_FAILURES]:
        print(f"{head}{failure}", file=sys.stderr)
    if len(failures) > _MOST_FAILURES:
        print(f"{head}and {len(failures) - _MOST_FAILURES} more", file=sys.stderr)
