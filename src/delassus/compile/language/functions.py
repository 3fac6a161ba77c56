"""The decorators `function` and `routine`, for functions that kernels call."""

from __future__ import annotations

from collections.abc import Callable

marked: list[Callable] = []  # functions that are not yet registered with Numba
routines: set[str] = set()  # names of functions that kernels call, and do not have inside them


def function(f: Callable) -> Callable:
    """Mark a plain Python function as part of kernels.

    Called from Python, it runs uncompiled. Called from a compiled kernel, it is compiled for the
    numbers of that kernel, floats or lanes. Numba is imported only when a kernel is compiled.
    """
    marked.append(f)
    return f


def routine(f: Callable) -> Callable:
    """Mark a large function of kernels, which stays a function of its own in machine code.

    All others become part of their callers, once for each call. That is what small ones want; but
    the time of LLVM's passes grows faster than the code that they see at once. A simulation's step,
    with twenty routines in it, compiles in a third of that time, and is as fast.
    """
    routines.add(full_name(f))
    return function(f)


def full_name(f: Callable) -> str:
    """The name of a function with that of its module."""
    return f"{f.__module__}.{f.__qualname__}"
