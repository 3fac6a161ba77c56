"""The decorator of everything that kernels are made of."""

from __future__ import annotations

from collections.abc import Callable

marked: list[Callable] = []  # functions that the compiler has not been told of yet


def function(f: Callable) -> Callable:
    """Mark a plain Python function as part of kernels.

    Called from Python it runs as it stands; called from a compiled kernel it is compiled for the
    kernel's kind of number. Nothing is compiled, and Numba is not imported, before it is needed.
    """
    marked.append(f)
    return f
