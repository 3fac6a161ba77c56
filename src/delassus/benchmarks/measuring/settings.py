"""How much a benchmark measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Sizes that all benchmarks share; the defaults are those of a full run."""

    states: int = 4096  # in a batch
    repeats: int = 15  # turns of each contestant, at least; the fastest one counts
    turn_seconds: float = 0.002  # of a turn, at least: short calls are repeated
    match_seconds: float = 0.6  # of all turns of all contestants together, at least
    chain_states: int = 256  # in a batch of long chains
    chain_lengths: tuple[int, ...] = (10, 30, 100, 300, 1000)
    difference_states: int = 256  # in a batch of finite differences
    memory_states: int = 1_000_000
    contact_problems: int = 8  # of each kind; eight times as many beside Pinocchio
    simulation_share: float = 1.0  # of the seconds that are simulated
    suite_systems: tuple[str, ...] = ()  # of the benchmark suite; all if none is named
    suite_samples: int = 40  # of each category of a system, at most
    suite_seeds: int = 2  # runs of each system that samples are drawn from
    seed: int = 0
    count_operations: bool = False  # of all methods for constraints: takes some minutes

    @classmethod
    def quick(cls) -> Settings:
        """Small sizes: the numbers are right, the times are rough."""
        return cls(
            states=1024,
            repeats=3,
            turn_seconds=0.001,
            match_seconds=0.0,
            chain_states=64,
            chain_lengths=(100, 1000),
            difference_states=64,
            memory_states=100_000,
            contact_problems=2,
            simulation_share=0.1,
            suite_systems=("box_on_plane", "fourbar_free", "arm7d"),
            suite_samples=3,
            suite_seeds=1,
        )
