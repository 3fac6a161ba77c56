"""What the processor offers: its name, the width of its vectors, how it writes."""

from __future__ import annotations

import os
from functools import cache

from ...errors import SettingError

VECTOR_BYTES_VARIABLE = "DELASSUS_VECTOR_BYTES"
_ALLOWED_VECTOR_BYTES = (16, 32, 64)
CACHE_LINE_BYTES = 64  # on some processors a line has more


@cache
def name() -> str:
    """LLVM's name of the processor the kernels are compiled for."""
    from llvmlite import binding

    return binding.get_host_cpu_name() or "generic"


@cache
def features() -> str:
    """LLVM's list of the processor's features, as one string."""
    from llvmlite import binding

    try:
        return binding.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM cannot tell on this platform
        return ""


@cache
def reads_before_writing() -> bool:
    """Whether an ordinary store reads the line it is for, even one that is then written in full.

    Measured on Intel only; what is not x86 counts as if it did not.
    """
    return "+sse2" in features()


@cache
def vector_bytes() -> int:
    """Width of a lane block in bytes: that of a vector, because a wider one spills registers.

    The environment variable DELASSUS_VECTOR_BYTES (16, 32 or 64) overrides it.
    """
    chosen = os.environ.get(VECTOR_BYTES_VARIABLE)
    if chosen is not None:
        if chosen not in map(str, _ALLOWED_VECTOR_BYTES):
            raise SettingError(
                f"{VECTOR_BYTES_VARIABLE} must be one of {_ALLOWED_VECTOR_BYTES}, got {chosen!r}"
            )
        return int(chosen)
    # AVX-512 has vectors of 64 bytes, but a block of them has twice the memory: small robots gain,
    # large ones lose.
    return 32 if "+avx2" in features() else 16


def lanes(itemsize: int) -> int:
    """Number of states that one lane block holds, for numbers of this size."""
    return vector_bytes() // itemsize
