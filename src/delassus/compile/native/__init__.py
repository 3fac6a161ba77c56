"""Kernels as machine code: lane types, memory, entries, the cache. Only this folder uses Numba."""
