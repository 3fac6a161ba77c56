"""Tree dynamics: inverse and forward dynamics, the mass matrix and its inverse."""

from __future__ import annotations

from ..reporting.conclusions import Largest, Spread
from ..runner import Benchmark
from . import comparison, growth, scaling, startup

__all__ = ["TREE"]

TREE = Benchmark(
    name="tree",
    description="tree dynamics of real robots against Pinocchio",
    title="Tree dynamics against Pinocchio",
    parts=(comparison.PART, scaling.PART, growth.PART, startup.PART),
    conclusions=(
        Spread("batch", "batch", "ratio", "batch, against Pinocchio's fastest path"),
        Spread("batch_against_loop", "batch", "loop_ratio", "batch, against a loop over calls"),
        Spread(
            "batch_against_function", "batch", "function_ratio",
            "batch, against its batch function with one thread",
        ),
        Spread("single", "single", "ratio", "one state"),
        Spread("single_plain", "single", "plain_ratio", "one state, plain calls"),
        Spread("two_threads", "scaling", "thread_ratio", "two threads, against one"),
        Spread("float32", "scaling", "float32_ratio", "float32, against float64"),
        growth.conclude,
        Largest("largest_difference", ["single", "batch"], "difference", "difference to Pinocchio"),
    ),
)  # fmt: skip
