"""Conclusions: what tables say in a few numbers, for programs and as lines for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .tables import Findings


@dataclass(frozen=True)
class Fact:
    """A conclusion: a value for programs, and a line for people."""

    name: str
    value: object
    line: str


@dataclass(frozen=True)
class Spread:
    """Geometric mean and smallest of a ratio in the records of a table."""

    name: str
    table: str
    key: str
    label: str

    def __call__(self, findings: Findings) -> Iterator[Fact]:
        """The fact; ratios that were not measured are left out."""
        yield spread(
            self.name, self.label, (record.get(self.key) for record in findings[self.table])
        )


@dataclass(frozen=True)
class Largest:
    """The largest value of an entry in the records of some tables."""

    name: str
    tables: Sequence[str]
    key: str
    label: str

    def __call__(self, findings: Findings) -> Iterator[Fact]:
        """The fact; records without the entry are left out."""
        value = max(r[self.key] for table in self.tables for r in findings[table] if self.key in r)
        yield Fact(self.name, value, f"largest {self.label}: {value:.1e}")


def spread(name: str, label: str, ratios: Iterable[float | None]) -> Fact:
    """Geometric mean and smallest of some ratios; those that were not measured are None."""
    known = [ratio for ratio in ratios if ratio is not None]
    mean, smallest = geometric_mean(known), min(known)
    value = {"geometric_mean": mean, "smallest": smallest}
    return Fact(name, value, f"{label}: geometric mean {mean:.2f}, smallest {smallest:.2f}")


def geometric_mean(values: Iterable[float]) -> float:
    """The mean that treats a ratio of 2 and one of 1/2 alike."""
    logarithms = [math.log(x) for x in values]
    return math.exp(math.fsum(logarithms) / len(logarithms))
