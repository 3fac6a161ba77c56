"""Properties of the processor: name, features, width of vectors, how it writes to memory."""

from __future__ import annotations

import os
from functools import cache

from ...errors import SettingError

VECTOR_BYTES_VARIABLE = "DELASSUS_VECTOR_BYTES"
_ALLOWED_VECTOR_BYTES = (16, 32, 64)
CACHE_LINE_BYTES = 64  # some processors have longer lines


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
    """Whether a store first reads its cache line, even if the whole line is then overwritten.

    Assumed for x86, as measured on Intel, and for no other processor.
    """
    return "+sse2" in features()


@cache
def vector_bytes() -> int:
    """Bytes of a block of lanes: those of a vector, as a wider block does not fit in registers.

    The environment variable DELASSUS_VECTOR_BYTES (16, 32 or 64) overrides it.
    """
    chosen = os.environ.get(VECTOR_BYTES_VARIABLE)
    if chosen is not None:
        if chosen not in map(str, _ALLOWED_VECTOR_BYTES):
            raise SettingError(
                f"{VECTOR_BYTES_VARIABLE} must be one of {_ALLOWED_VECTOR_BYTES}, got {chosen!r}"
            )
        return int(chosen)
    # AVX-512 has vectors of 64 bytes. Robots become 1.1 to 1.4 times as fast by them, but a block
    # takes twice the work memory, so that trees of 400 links and more become slower.
    return 32 if "+avx2" in features() else 16


def lanes(itemsize: int) -> int:
    """Number of lanes in a block, for numbers of `itemsize` bytes."""
    return vector_bytes() // itemsize
