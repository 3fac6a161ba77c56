"""Functions of users, compiled by themselves, that kernels call by their addresses.

So a kernel need not be compiled anew for each of them. Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
from numba import types

from . import operations

_NUMBERS = types.CPointer(types.float64)
# t, then q, v and u with their lengths.
_SIGNATURE = types.int64(types.float64, *[x for _ in range(3) for x in (_NUMBERS, types.int64)])


def compiled_callback(f: Callable):
    """f(t, q, v, u) as a function for `call_at`, which returns 1 if f raised, else 0.

    Unlike functions of kernels, f gets arrays, whose indices are tested.
    """
    operations.install()
    inner = numba.njit(boundscheck=True)(f)

    @numba.cfunc(_SIGNATURE)
    def outer(t, q, nq, v, nv, u, nu):
        try:
            inner(t, numba.carray(q, nq), numba.carray(v, nv), numba.carray(u, nu))
        except Exception:
            return 1
        return 0

    return outer
