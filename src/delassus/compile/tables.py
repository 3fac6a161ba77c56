"""A model's arrays as compiled entries find them: a table of extents, addresses and lengths."""

from __future__ import annotations

import numpy as np


class Table:
    """Keeps the arrays of one precision alive and gives the address of their table."""

    def __init__(self, arrays: tuple, dimensions: dict[str, int], work_size: int, dtype):
        self.arrays = arrays
        self.work = np.empty(work_size, dtype)
        words = [dimensions[name] for name in type(arrays).dimensions]
        for array in (*arrays, self.work):
            if not array.flags.c_contiguous:
                raise ValueError("a model's arrays must be contiguous")
            words += [array.ctypes.data, array.size]
        self.words = np.array(words, np.int64)
        self.address = int(self.words.ctypes.data)
