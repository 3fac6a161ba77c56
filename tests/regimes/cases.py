"""How many cases a regime is tried with: few in `make test`, many in `make regimes`.

A regime is a family of problems (light and heavy, slow and fast, near and far from singular), not
one example. Its test draws cases by a seed and states what holds for all of them. In `make test`
the seeds are always the same ones; `make regimes` draws new ones each time, and prints those that
fail.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

IS_LARGE = os.environ.get("DELASSUS_REGIMES") == "large"


def generated(small: int, large: int) -> Callable:
    """A test of one case by its `seed`, for so many seeds."""

    def decorate(test: Callable) -> Callable:
        sized = settings(
            max_examples=large if IS_LARGE else small,
            derandomize=not IS_LARGE,
            database=None,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],  # a smaller seed is no simpler case
            suppress_health_check=list(HealthCheck),
        )
        return sized(given(seed=st.integers(0, 2**32 - 1))(test))

    return decorate


def seeds(small: int, large: int) -> list[int]:
    """So many seeds, for a test that states how often something may happen in many cases."""
    rng = np.random.default_rng(None if IS_LARGE else 0)
    return [int(seed) for seed in rng.integers(2**32, size=large if IS_LARGE else small)]
