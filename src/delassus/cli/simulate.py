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
from ..model.parts.keyframes import STARTS
from ..simulation.choosing import INTEGRATORS
from ..simulation.collision.meshes import MESHES
from ..simulation.given.placing import (
    CLEARANCE,
    base_height,
    beyond_limits,
    clearance,
    within_limits,
    without_limits,
)
from ..simulation.simulator import Simulator
from ..simulation.solution.impacts import IMPACTS
from ..simulation.told.failures import DIVERGED, Failure
from ..simulation.told.recording import Recording
from .models import add_model_arguments, find_model
from .paths import check_writable

DIVERGENCE = 1  # the exit code where a world diverged
HOME = STARTS[0]  # the keyframe that a file means as its start
_MOST_FAILURES = 5  # to print
_TOUCHING = 1e-3  # m that something may be in the ground at the start


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
    parser.add_argument(
        "--height", type=float, metavar="Z", help="base at this z (default: just above the ground)"
    )


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
    parser.add_argument("--impact", choices=IMPACTS, default="newton", help="the law of impacts")
    parser.add_argument("--worlds", type=int, metavar="N", help="as many alike, on all cores")


def run(options: argparse.Namespace) -> int:
    """Simulate, print a summary, and return 1 if a world diverged."""
    steps = _steps(options.duration, options.dt)
    if options.html is not None:
        check_writable(Path(options.html))  # before the work is done
    model, q = _planned(_model(options), options)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sim = _simulator(model, options)
    for warning in told:
        print(f"warning: {warning.message}", file=sys.stderr)
    sim, control = _start(sim, q, options)
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
        impact=options.impact,
        solver=options.solver,
        ground=options.ground,
        worlds=options.worlds,
        friction=options.friction,
        restitution=options.restitution,
        meshes=options.meshes,
        on_error="record",
    )


def _planned(model: Model, options: argparse.Namespace) -> tuple[Model, np.ndarray | None]:
    """Where a model without a start begins: within limits, loops closed. None if it has a start."""
    if options.keyframe is not None or any(name in model.keyframes for name in STARTS):
        return model, None
    q = within_limits(model, model.neutral())
    beyond = beyond_limits(model, q)
    if beyond:
        _warn(
            f"loops cannot be closed within the limits of {', '.join(beyond)}, which are left out"
        )
        model = without_limits(model, beyond)
    return model, q


def _start(
    sim: Simulator, q: np.ndarray | None, options: argparse.Namespace
) -> tuple[Simulator, np.ndarray]:
    """Reset to q, or to a keyframe, above the ground; returns the simulator and its controls.

    Without a keyframe the lowest point is just above the ground. A start in the ground is lifted
    out of it, but for one that a file calls "home".
    """
    sim.reset(q, keyframe=options.keyframe)
    control, v = sim.default_control, np.atleast_2d(sim.v)[0]
    start, at = np.atleast_2d(sim.q)[0].copy(), base_height(sim.model)
    if at is not None:
        is_home = options.keyframe is not None or HOME in sim.model.keyframes
        start[at] = _height(sim, start, at, q is None, is_home, options.height)
    elif options.height is not None:
        raise SettingError("--height is for models whose base moves freely; see --floating-base")
    elif q is not None and clearance(sim.system, sim.geometry, start) < -_TOUCHING:
        _warn(f"{sim.model.name} is fixed and reaches below z = 0: there is no ground")
        options.ground = False
        sim = _simulator(sim.model, options)
    sim.reset(start, v)
    return sim, control


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


def _height(
    sim: Simulator, q: np.ndarray, at: int, has_start: bool, is_home: bool, asked: float | None
) -> float:
    """The height of the base to start at."""
    given = float(q[at]) if asked is None else asked
    if not math.isfinite(given):
        raise SettingError(f"--height must be a finite number, got {given:g}")
    q = q.copy()
    q[at] = given
    above = clearance(sim.system, sim.geometry, q)
    if not math.isfinite(above):  # nothing to stand on
        return given
    just_above = given + CLEARANCE - above
    if asked is None:
        return given if has_start and (is_home or above >= 0.0) else just_above
    if above < -_TOUCHING:
        _warn(
            f"bodies penetrate by {-above:.3g} m at --height {asked:g}, in the ground: starting at "
            f"{just_above:.4g}"
        )
        return just_above
    return asked


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
