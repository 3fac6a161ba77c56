"""From which size on which method takes the fewest operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..reporting.conclusions import Fact
from ..reporting.tables import Column, Findings, Record, Table, named, numbers
from ..runner import Derived
from .counting import CONTESTANTS, EMBEDDED, SOLVERS


def find_crossovers(findings: Findings) -> list[Record]:
    """One record per series of mechanisms that grow in one size."""
    series = [
        ("Fig. 8", "growth", ("family", "branches"), "depth"),
        ("Fig. 10", "locality", ("kind", "depth"), "loop"),
    ]
    return [
        {"figure": figure} | _crossover(list(own), keys, size)
        for figure, table, keys, size in series
        for _, own in groupby(findings[table], key=lambda r, keys=keys: [r[k] for k in keys])
    ]


def _crossover(records: Sequence[Record], keys: tuple[str, str], size: str) -> Record:
    """Which contestant takes the fewest operations, and where solvers fall below embedding."""
    name, number = (records[0][key] for key in keys)
    return {
        "mechanism": f"{name}, {keys[1]} {number}",
        "size": size,
        "fewest": ", ".join(_runs(records, size)),
        **{solver: falls_below(records, solver, size) for solver in SOLVERS},
    }


def fewest(record: Record) -> str:
    """The contestant that takes the fewest operations."""
    return min((c for c in CONTESTANTS if record.get(c) is not None), key=record.__getitem__)


def falls_below(records: Sequence[Record], solver: str, size: str) -> int | None:
    """The size from which on a solver takes fewer operations than embedding; None if there is none.

    Where the largest mechanism was not counted, nothing is known of what is larger.
    """
    found = None
    for record in records:
        count = record.get(solver)
        if count is None or count >= record[EMBEDDED]:
            found = None
        elif found is None:
            found = record[size]
    return found


def _runs(records: Sequence[Record], size: str) -> Iterator[str]:
    """Such as "embedded 1 to 4", then "caba 6 to 8"."""
    for name, own in groupby(records, key=fewest):
        sizes = [r[size] for r in own]
        span = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
        yield f"{name} {span}"


def conclude(findings: Findings) -> Iterator[Fact]:
    """In how many mechanisms embedding takes the fewest operations, by figure."""
    for name, table, label in (
        ("fewest_by_depth", "growth", "loops of a few bodies (Fig. 8)"),
        ("fewest_by_loop", "locality", "one loop of growing size (Fig. 10)"),
    ):
        records = findings[table]
        own = sum(fewest(r) == EMBEDDED for r in records)
        line = f"{label}: embedded takes the fewest operations in {own} of {len(records)}"
        yield Fact(name, {"embedded": own, "of": len(records)}, line)


CROSSOVERS = Derived(
    Table(
        "crossovers",
        "Which takes the fewest operations, and from which size on solvers fall below embedded",
        [
            *named("figure", "mechanism", "size"),
            Column("fewest", "fewest, by size"),
            *numbers("", **{solver: f"{solver} from" for solver in SOLVERS}),
        ],
        note="Of embedded and all solvers. -: at no size that was counted.",
    ),
    find_crossovers,
)
