"""Ratios of times, and bars that they must reach."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Ratio:
    """A ratio of ours, others' for the same, and a bar that it must reach or not exceed."""

    robot: str
    what: str
    ours: float
    pinocchio: float | None = None
    paper: float | None = None
    bar: float | None = None
    is_ceiling: bool = False

    @property
    def verdict(self) -> str | None:
        """Whether the bar holds, if there is one."""
        if self.bar is None:
            return None
        holds = self.ours <= self.bar if self.is_ceiling else self.ours >= self.bar
        return "holds" if holds else "MISSED"

    @property
    def sense(self) -> str | None:
        """Which way the bar is meant."""
        return None if self.bar is None else "at most" if self.is_ceiling else "at least"

    def record(self) -> dict[str, object]:
        """What tables show."""
        return asdict(self) | {"sense": self.sense, "verdict": self.verdict}

    def __str__(self) -> str:
        return (
            f"{self.verdict}: {self.robot}, {self.what}: {self.ours:.2f}, "
            f"{self.sense} {self.bar:.2f} is asked"
        )
