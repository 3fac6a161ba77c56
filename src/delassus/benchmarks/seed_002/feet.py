"""Times with feet held: loops embedded and feet by the hybrid, beside solvers on the tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ... import Connect, Constraints, Model, Weld, constrained_dynamics, embed, robots
from ...model.parts.constraints import Constraint
from ..comparing.methods import evaluate, own_timer
from ..measuring.settings import Settings
from ..measuring.states import largest_difference
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..reporting.checks import Limit
from ..reporting.tables import Findings, Record, Table, named, numbers
from ..runner import Part
from .counting import SOLVERS
from .problems import ClosedStates, anywhere

FEET_BATCH, FEET_SINGLE = "feet_batch", "feet_single"
HYBRID = "hybrid"
_NAMES = {name: name for name in (HYBRID, *SOLVERS)}


@dataclass(frozen=True)
class Standing:
    """A robot with rotors, and constraints that hold all its feet."""

    label: str
    make: Callable[[], Model]
    feet: tuple[Constraint, ...]

    def __str__(self) -> str:
        return self.label


STANDING = (
    Standing(
        "Mini Cheetah, 4 points",
        robots.mini_cheetah,
        tuple(Connect(f"{leg}_knee") for leg in ("FR", "FL", "HR", "HL")),
    ),
    Standing(
        "MIT Humanoid, 2 feet",
        robots.mit_humanoid,
        (Weld("right_ankle"), Weld("left_ankle")),
    ),
)


def _table(key: str, title: str) -> Table:
    columns = [*named("problem", "nv", "rows"), *numbers(".2f", **_NAMES)]
    columns += [*numbers(".2f", faster="best / hybrid"), *numbers(".0e", difference="difference")]
    return Table(
        key,
        title,
        columns,
        note="hybrid: rotors embedded, accelerations of independent joints, multipliers of feet.\n"
        "Solvers: accelerations of all joints, multipliers of feet and gears. All until\n"
        "converged, with the default settings. difference: of the hybrid to caba, relative.",
    )


TABLES = (
    _table(FEET_BATCH, "With feet held: microseconds a state in batches, one core"),
    _table(FEET_SINGLE, "With feet held: microseconds for one state, from Python"),
)


def measure(robot: Standing, settings: Settings) -> Findings:
    """One record per table."""
    embedding = embed(robot.make())
    states = ClosedStates.random(embedding, anywhere, settings.states, settings.seed)
    return {
        FEET_BATCH: [_race(robot, embedding, states, settings)],
        FEET_SINGLE: [_race(robot, embedding, states.first(), settings)],
    }


def _race(robot: Standing, embedding, states: ClosedStates, settings: Settings) -> Record:
    """Microseconds per state of all contestants, and how far results are apart."""
    model = embedding.model
    held = Constraints(embedding, robot.feet)
    everything = Constraints(model, [*robot.feet, *model.constraints])
    timers = {HYBRID: own_timer(constrained_dynamics, held, states.embedded)} | {
        name: own_timer(constrained_dynamics, everything, states.spanning, method=name)
        for name in SOLVERS
    }
    times = best_times(timers, settings, processor_clock())
    found = {name: MICROSECONDS * seconds / states.count for name, seconds in times.items()}
    own = evaluate(constrained_dynamics, held, states.embedded).acceleration
    other = evaluate(constrained_dynamics, everything, states.spanning, method="caba")
    return {
        "problem": robot.label,
        "nv": embedding.nv,
        "rows": held.size,
        **found,
        "faster": min(found[name] for name in SOLVERS) / found[HYBRID],
        "difference": largest_difference(other.acceleration[..., embedding.independent_dofs], own),
    }


PART = Part(
    "times with feet held",
    cases=lambda _: [(robot,) for robot in STANDING],
    measure=measure,
    tables=TABLES,
    limits=[
        Limit(key, "difference", "{problem}: the hybrid differs from caba by {difference:.1e}")
        for key in (FEET_BATCH, FEET_SINGLE)
    ],
)
