"""How well steps are solved over seconds: natural maps, joint errors, energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..measuring.settings import Settings
from ..reporting.checks import Limit
from ..reporting.tables import Column, Findings, Table, numbers
from ..runner import Part
from .scenes import DT, Scene, effort, hanging, limp, walker


@dataclass(frozen=True)
class Story:
    """A scene, for how long, and how it starts: velocities by their place."""

    scene: Callable[[], Scene]
    seconds: float
    v: dict[int, float] = field(default_factory=dict)
    thrown: float = 0.0  # joint speeds at random, rad/s
    most_open: float = 1e-4  # joint error, m
    most_energy: float | None = None  # error of energy, of the largest kinetic energy


STORIES = {
    "stands": Story(walker, 10.0, most_open=1e-5),
    "slides": Story(walker, 10.0, {0: 1.0}),
    "is pushed over": Story(walker, 10.0, {1: 1.5}),
    "is thrown over": Story(walker, 10.0, {0: 2.0, 1: 1.5, 5: 2.0}),
    "collapses without servos": Story(limp, 10.0, most_open=2e-4),
    "hangs, let go": Story(hanging, 0.5, most_open=1e-5, most_energy=1e-4),
    "hangs, thrown": Story(hanging, 0.5, thrown=2.0, most_open=3e-5, most_energy=1e-3),
}

FAITH = Table(
    "faith",
    "The walking figure",
    [
        Column("story", ""),
        Column("steps", "steps"),
        Column("unsolved", "above 1e-6", ".2%"),
        *numbers(".1e", worst="worst natural map", open="joint error, m", energy="energy error"),
        *numbers(".1f", iterations="iterations"),
    ],
    note="energy error: of the largest kinetic energy, where nothing takes energy away.",
)


def measure(name: str, settings: Settings) -> Findings:
    """One record of a story; a quick run tells a tenth of it."""
    story = STORIES[name]
    scene = story.scene()
    steps = round(story.seconds / DT * min(1.0, settings.simulation_share))
    sim, v = scene.simulator(), np.zeros(scene.model.nv)
    for place, speed in story.v.items():
        v[place] = speed
    v += story.thrown * np.random.default_rng(settings.seed).uniform(-1.0, 1.0, len(v))
    sim.reset(scene.q, v)
    metrics = sim.rollout(steps, scene.control).metrics
    energy = metrics["kinetic_energy"] + metrics["potential_energy"]
    record = {
        "story": name,
        "steps": steps,
        **effort(metrics),
        "worst": float(metrics["natural_map"].max()),
        "open": float(metrics["joint_error"].max()),
        "energy": None,
        "most_open": story.most_open,
        "most_energy": story.most_energy,
    }
    if story.most_energy is not None:
        record["energy"] = float(np.ptp(energy) / metrics["kinetic_energy"].max())
    return {FAITH.key: [record]}


PART = Part(
    "stories",
    cases=lambda _: [(name,) for name in STORIES],
    measure=measure,
    tables=[FAITH],
    limits=[
        Limit(FAITH.key, "unsolved", "{story}: {unsolved:.1%} of the steps unsolved", 0.02),
        Limit(FAITH.key, "worst", "{story}: a natural map of {worst:.1e}", 1e-3),
        Limit(FAITH.key, "open", "{story}: joints open by {open:.1e} m", lambda r: r["most_open"]),
        Limit(
            FAITH.key, "energy", "{story}: an energy error of {energy:.1e}",
            lambda r: r["most_energy"],
        ),
    ],
)  # fmt: skip
