"""The decorator `function`, for functions that kernels call."""

from __future__ import annotations

from collections.abc import Callable

marked: list[Callable] = []  # functions that are not yet registered with Numba


def function(f: Callable) -> Callable:
    """Mark a plain Python function as part of kernels.

    Called from Python, it runs uncompiled. Called from a compiled kernel, it is compiled for the
    numbers of that kernel, floats or lanes. Numba is imported only when a kernel is compiled.
    """
    marked.append(f)
    return f
