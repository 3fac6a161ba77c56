"""Constraint embedding: the measurements of Chignoli, Adrian, Kim and Wensing.

A Propagation Perspective on Recursive Forward Dynamics for Systems with Kinematic Loops, 2023,
Sec. VI: Figs. 8, 10, 12 and 13; and times, which the paper leaves out.
"""

from __future__ import annotations

from ..peers.packages import casadi
from ..reporting.conclusions import Largest
from ..runner import Benchmark
from . import crossovers, feet, growth, locality, motors, ratios, times, torques

__all__ = ["SEED_002"]

SEED_002 = Benchmark(
    name="seed-002",
    description="constraint embedding against solving for constraints",
    title="Constraint embedding (Chignoli, Adrian, Kim and Wensing 2023)",
    parts=(
        growth.PART,
        locality.PART,
        motors.PART,
        torques.PART,
        times.PART,
        feet.PART,
    ),
    derived=(crossovers.CROSSOVERS, ratios.RATIOS),
    conclusions=(
        crossovers.conclude,
        motors.conclude,
        torques.conclude,
        ratios.conclude,
        Largest("largest_difference", [times.DIFFERENCES], "largest", "difference to embedded"),
    ),
    needs=(casadi,),
)
