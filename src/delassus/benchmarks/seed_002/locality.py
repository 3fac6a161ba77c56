"""Operations by the size of one loop between two chains: Fig. 10 of the paper."""

from __future__ import annotations

from ... import robots
from ..measuring.settings import Settings
from ..reporting.tables import Findings, Table, named
from ..runner import Part
from . import plots
from .counting import NOTE, count_all, count_columns

KINDS = ("coupling", "rod")
# Numbers of the links that are connected, by the depth of both chains.
LOOPS = {
    5: (1, 2, 3, 4, 5),
    10: (1, 2, 4, 6, 8),
    20: (1, 3, 6, 10, 15),
    40: (1, 4, 8, 14, 20),
}
_SMALL_DEPTH = 10  # of the chains that are counted without the option --count

TABLE = Table(
    "locality",
    "Operations by the link at which two chains are connected (Fig. 10)",
    [*named("kind", "depth", "loop", "bodies", "nv", "rows"), *count_columns()],
    note="loop: the number of the connected link in both chains: 2 loop bodies, with a rod one\n"
    "more, are one cluster.\n" + NOTE,
)


def cases(settings: Settings) -> list[tuple[str, int, int]]:
    """Kinds with depths and loops; all of the paper's if counting was asked for."""
    return [
        (kind, depth, loop)
        for kind in KINDS
        for depth, loops in LOOPS.items()
        for loop in loops
        if settings.count_operations or depth <= _SMALL_DEPTH
    ]


def measure(kind: str, depth: int, loop: int, settings: Settings) -> Findings:
    """One record: the operations of all contestants."""
    what = {"kind": kind, "depth": depth, "loop": loop}
    return {"locality": [what | count_all(robots.parallel_chains(depth, loop, kind))]}


PART = Part(
    "locality", cases=cases, measure=measure, tables=[TABLE], plots={"locality": plots.locality}
)
