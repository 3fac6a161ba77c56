"""How much a benchmark measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Sizes that all benchmarks share; the defaults are those of a full run."""

    states: int = 4096  # in a batch
    repeats: int = 15  # of each measurement, of which the best counts
    least_seconds: float = 0.01  # that a measurement takes, by repeating short calls
    chain_states: int = 256  # in a batch of long chains
    chain_lengths: tuple[int, ...] = (10, 30, 100, 300, 1000)
    memory_states: int = 1_000_000
    seed: int = 0

    @classmethod
    def quick(cls) -> Settings:
        """Small sizes: the numbers are right, the times are rough."""
        return cls(
            states=1024,
            repeats=3,
            least_seconds=0.001,
            chain_states=64,
            chain_lengths=(100, 1000),
            memory_states=100_000,
        )
