"""What motors cost: operations with and without them, Fig. 12 of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ... import Model, embed, forward_dynamics, inverse_dynamics, operation_count, robots
from ..measuring.settings import Settings
from ..reporting.checks import FINITE, Limit
from ..reporting.conclusions import Fact
from ..reporting.tables import Column, Findings, Table, named, numbers
from ..runner import Part
from . import plots


@dataclass(frozen=True)
class Motorized:
    """A robot with rotors; `paper` is by how many per cent its ABA without them is cheaper.

    `most` is what ours may be cheaper, and `most_inverse` how many times the operations of inverse
    dynamics without rotors the embedded one may take.
    """

    make: Callable[[str], Model]  # from how rotors are modelled
    paper: float
    most: float
    most_inverse: float = FINITE


ROBOTS = {
    "Mini Cheetah": Motorized(robots.mini_cheetah, 38.8, 10.0, most_inverse=1.3),
    "MIT Humanoid": Motorized(robots.mit_humanoid, 49.4, 18.0),
    "Tello": Motorized(robots.tello, 55.1, 25.0),
    "JVRC-1": Motorized(robots.jvrc1, 31.5, 31.5),
}

TABLE = Table(
    "motors",
    "Operations with motors embedded, and of the same robot without rotors (Fig. 12)",
    [
        *named("robot", "bodies", "nv"),
        *numbers(",", forward_rotor_free="FD: without rotors", forward_embedded="embedded"),
        *numbers(".2f", forward_ratio="ratio"),
        Column("saved", "fewer", ".1f", " %"),
        Column("paper_saved", "paper", ".1f", " %"),
        *numbers(",", inverse_rotor_free="ID: without rotors", inverse_embedded="embedded"),
        *numbers(".2f", inverse_ratio="ratio"),
    ],
    note="FD, ID: forward and inverse dynamics. fewer: what FD without rotors saves of the\n"
    "operations of the embedded one; paper: Chignoli et al. 2023, Fig. 12.",
)


def measure(robot: str, settings: Settings) -> Findings:
    """One record: operations with and without rotors."""
    own = ROBOTS[robot]
    model = own.make("bodies")
    mechanisms = {"rotor_free": own.make("none"), "embedded": embed(model)}
    record = {"robot": robot, "bodies": model.n_bodies, "nv": mechanisms["embedded"].nv}
    for key, function in (("forward", forward_dynamics), ("inverse", inverse_dynamics)):
        counts = {name: operation_count(function, m).total for name, m in mechanisms.items()}
        record |= {f"{key}_{name}": count for name, count in counts.items()}
        record[f"{key}_ratio"] = counts["embedded"] / counts["rotor_free"]
    record |= {"saved": 100.0 * (1.0 - 1.0 / record["forward_ratio"]), "paper_saved": own.paper}
    return {"motors": [record]}


def conclude(findings: Findings) -> Iterator[Fact]:
    """By how much dynamics without rotors is cheaper, of each robot."""
    found = {r["robot"]: r["saved"] for r in findings["motors"]}
    lines = [
        f"{r['robot']}: forward dynamics without rotors takes {r['saved']:.1f} % fewer operations "
        f"than embedded, in the paper {r['paper_saved']:.1f} %"
        for r in findings["motors"]
    ]
    yield Fact("saved_without_rotors", found, "\n".join(lines))


PART = Part(
    "motors",
    cases=lambda _: [(robot,) for robot in ROBOTS],
    measure=measure,
    tables=[TABLE],
    limits=[
        Limit(
            "motors", "saved", "{robot}: motors cost more than planned, {saved:.1f} %",
            lambda record: ROBOTS[record["robot"]].most,
        ),
        Limit(
            "motors", "inverse_ratio",
            "{robot}: inverse dynamics takes {inverse_ratio:.2f} times that without rotors",
            lambda record: ROBOTS[record["robot"]].most_inverse,
        ),
    ],
    plots={"motors": plots.motors},
)  # fmt: skip
