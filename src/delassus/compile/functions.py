"""The decorator of everything that kernels are made of, and the options they are compiled with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

# Kernels hold no references that would have to be counted, and only kernels call their functions:
# without the code for both they compile in 0.6 of the time.
_LEAN = {"forceinline": True, "_nrt": False, "no_cfunc_wrapper": True}
# No flag here assumes that NaN and infinity do not occur: a user's NaN must come out as NaN.
FAST = {"fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy", **_LEAN}
# Code whose order of operations carries its accuracy.
EXACT = {"fastmath": {"contract"}, "error_model": "numpy", **_LEAN}

_functions: list[Callable] = []  # marked, and not yet known to Numba


def function(f: Callable) -> Callable:
    """Mark a plain Python function as part of kernels.

    Called from Python it runs as it stands; called from a compiled kernel it is compiled for the
    kernel's kind of number. Nothing is compiled, and Numba is not imported, before it is needed.
    """
    _functions.append(f)
    return f


def install() -> None:
    """Make all functions known to Numba that were marked since the last call."""
    from numba.extending import register_jitable

    _install_operations()
    while _functions:
        register_jitable(**FAST)(_functions.pop(0))


@cache
def _install_operations() -> None:
    from . import operations

    operations.install(EXACT, FAST)
