"""Kernels as machine code: lane types, memory, entries, the cache. All that knows Numba."""
