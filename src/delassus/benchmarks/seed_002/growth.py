"""Operations by the number of loops, all of the same size: Fig. 8 of the paper."""

from __future__ import annotations

from ... import robots
from ..measuring.settings import Settings
from ..reporting.tables import Findings, Table, named
from ..runner import Part
from . import plots
from .counting import NOTE, count_all, count_columns

# Families of mechanisms, and the depths that are counted.
FAMILIES = {
    "rotor pairs": (robots.rotor_pairs, (1, 2, 3, 5, 7, 10)),
    "belts": (robots.belts, (1, 2, 3, 5, 7)),
    "four-bars": (robots.four_bars, (1, 2, 3, 5, 7, 10)),
}
BRANCHES = (1, 2, 4, 6)
# Without the option --count: what takes seconds.
_FEW_BRANCHES, _SMALL_DEPTH = (2,), 5

TABLE = Table(
    "growth",
    "Operations by depth and branches of loops on a floating base (Fig. 8)",
    [*named("family", "branches", "depth", "bodies", "nv", "rows"), *count_columns()],
    note=NOTE,
)


def cases(settings: Settings) -> list[tuple[str, int, int]]:
    """Families with branches and depths; all of the paper's if counting was asked for."""
    every = settings.count_operations
    return [
        (family, branches, depth)
        for family, (_, depths) in FAMILIES.items()
        for branches in (BRANCHES if every else _FEW_BRANCHES)
        for depth in depths
        if every or depth <= _SMALL_DEPTH
    ]


def measure(family: str, branches: int, depth: int, settings: Settings) -> Findings:
    """One record: the operations of all contestants."""
    make, _ = FAMILIES[family]
    what = {"family": family, "branches": branches, "depth": depth}
    return {"growth": [what | count_all(make(branches, depth))]}


PART = Part(
    "operations", cases=cases, measure=measure, tables=[TABLE], plots={"growth": plots.growth}
)
