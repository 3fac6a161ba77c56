"""Ratios of times, beside those of Pinocchio and of a paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from .tables import Column, Record, Table, numbers


@dataclass(frozen=True)
class Ratio:
    """A ratio of times: ours, and those of Pinocchio and of a paper for the same quantities."""

    robot: str
    what: str
    ours: float
    pinocchio: float | None = None
    paper: float | None = None


def ratio_table(note: str, robot: str = "robot") -> Table:
    """An empty table of ratios; `robot` is the heading of the first column."""
    columns = [
        Column("robot", robot),
        Column("what", ""),
        *numbers(".2f", ours="ours", pinocchio="Pinocchio", paper="paper"),
    ]
    return Table("ratios", "Ratios of times", columns, note=note)


def ratio_records(ratios: Iterable[Ratio]) -> list[Record]:
    """The records of a table of ratios."""
    return [asdict(ratio) for ratio in ratios]
