"""What happens to each system: a drop, targets of servos over time, a push.

A run of a system lasts two seconds in steps of 1 ms, and differs from others by its seed.

- Free systems are dropped from a height, tilted and turning, so that they fall without a contact,
  land on one corner or foot, and then on several.
- Targets of servos swing about those of the start, each with a phase of its own, growing over half
  a second. They bring joints to their limits.
- A push along the ground, a part of the weight, acts on the first body for 0.3 s.

Samples are drawn from runs that may swing wider, so that covers touch. Such a run can end badly: a
foot of `iron_man` is folded into its own thigh by a servo that knows no end of its force, and jams
there. That is a hard sample, but no simulation that says how well a solver drives a mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import robots

DT = 1e-3
STEPS = 2000
_GROWING = 0.5  # s, until targets swing fully
_PUSH_BEGINS, _PUSH_ENDS = 1.0, 1.3  # s


@dataclass(frozen=True)
class Scenario:
    """What happens to a system; seeds draw directions and phases."""

    height: float = 0.0  # m above the start
    tilt: float = 0.0  # rad at the start
    spin: float = 0.0  # rad/s at the start
    swing: float = 0.0  # rad, of targets
    wide: float = 0.0  # rad, of targets in runs that samples are drawn from, if more than `swing`
    frequency: float = 1.0  # Hz
    push: float = 0.0  # of the weight


SCENARIOS = {
    "box_on_plane": Scenario(height=0.1, tilt=0.3, spin=1.0, push=1.5),
    "boxes_fixed": Scenario(height=0.1, tilt=0.3, spin=1.0, push=1.5),
    "nunchuk": Scenario(height=0.2, tilt=0.5, spin=2.0, push=0.5),
    "fourbar_fixed": Scenario(swing=0.6, frequency=1.5),
    "fourbar_free": Scenario(height=0.2, tilt=0.5, spin=1.0, swing=0.5, push=0.5),
    "arm7d": Scenario(swing=2.0),
    "quadruped": Scenario(height=0.1, tilt=0.2, swing=0.35, frequency=2.0, push=0.5),
    "bdx": Scenario(height=0.1, tilt=0.1, swing=0.3, push=0.3),
    "lima": Scenario(height=0.1, tilt=0.1, swing=0.3, push=0.3),
    "misha": Scenario(swing=1.2),
    "walker": Scenario(height=0.05, tilt=0.1, swing=0.2, push=0.2),
    "gazelle": Scenario(swing=0.5, wide=1.0),
    "iron_man": Scenario(swing=0.7, wide=1.5),
}


@dataclass(frozen=True, eq=False)
class Script:
    """A run of a system: where it starts, and controls and wrenches of all steps."""

    figure: robots.figures.Figure
    q: np.ndarray
    v: np.ndarray
    controls: np.ndarray
    wrenches: np.ndarray


def script(name: str, seed: int, steps: int = STEPS, is_wide: bool = False) -> Script:
    """The run of a system and a seed, over so many steps of 1 ms; a wide one is for samples."""
    figure, scenario = robots.figure(name, seed), SCENARIOS[name]
    model, rng = figure.model, np.random.default_rng([seed, list(SCENARIOS).index(name)])
    angle = rng.uniform(0.0, 2.0 * np.pi)
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    phases = rng.uniform(0.0, 2.0 * np.pi, model.nu)
    q, v = figure.start.copy(), np.zeros(model.nv)
    if figure.ours.base == "free":
        step = np.zeros(model.nv)
        step[2], step[3:6] = scenario.height, scenario.tilt * along
        q = model.integrate(q, step)
        v[3:6] = scenario.spin * rng.standard_normal(3)
    times = DT * np.arange(steps)
    swing = max(scenario.swing, scenario.wide) if is_wide else scenario.swing
    grown = swing * np.minimum(times / _GROWING, 1.0)
    swings = np.sin(2.0 * np.pi * scenario.frequency * times[:, None] + phases) - np.sin(phases)
    # Controls of a model without actuators are forces: there are none.
    home = model.keyframes["home"].u
    controls = home + grown[:, None] * swings if model.nu else np.zeros((steps, model.nv))
    weight = 9.81 * sum(body.inertia.mass for body in model.bodies)
    wrenches = np.zeros((steps, model.n_bodies, 6))
    is_pushed = (times >= _PUSH_BEGINS) & (times < _PUSH_ENDS)
    wrenches[is_pushed, 0, :3] = scenario.push * weight * along
    return Script(figure, q, v, controls, wrenches)
