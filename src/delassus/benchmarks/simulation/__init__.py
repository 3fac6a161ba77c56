"""Whole steps of the simulator: beside MuJoCo, by themselves, and how well they are solved."""

from __future__ import annotations

from ..peers.mujoco import mujoco
from ..reporting.conclusions import Spread
from ..runner import Benchmark
from . import calls, faith, race

__all__ = ["SIMULATION"]

SIMULATION = Benchmark(
    name="simulation",
    description="steps of mechanisms with hard contact, and MuJoCo",
    title="Simulation of mechanisms with hard contact",
    parts=(race.PART, faith.PART, calls.PART),
    conclusions=(Spread("steps", race.RACE.key, "ratio", "MuJoCo's time of a step / ours"),),
    needs=(mujoco,),
)
