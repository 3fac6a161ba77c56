"""A model's arrays as compiled entries find them: a table of extents, addresses and lengths."""

from __future__ import annotations

import threading

import numpy as np

_DOUBLE = np.dtype(np.float64)


class Table:
    """Keeps arrays alive, and the table that tells compiled code where they are."""

    def __init__(self, arrays: tuple, dimensions: dict[str, int], work: np.ndarray):
        self.arrays, self.work = arrays, work
        words = [dimensions[name] for name in type(arrays).dimensions]
        for array in (*arrays, work):
            if not array.flags.c_contiguous:
                raise ValueError("a model's arrays must be contiguous")
            words += [array.ctypes.data, array.size]
        self.words = np.array(words, np.int64)
        self.address = int(self.words.ctypes.data)


class Tabulated:
    """Base of what kernels can be called with: gives its arrays as tables.

    A subclass has `dimensions`, the extents that kernels' arguments are made of, and `pack(dtype)`,
    its arrays in one precision.
    """

    dimensions: dict[str, int]

    def __init__(self):
        self._tables: dict = {}
        self._making = threading.Lock()
        # By kernel: the shapes of its arguments; and what the evaluation of one state needs, the
        # address of a table and the shapes of the outputs.
        self.argument_shapes: dict = {}
        self.prepared: dict = {}

    def pack(self, dtype: np.dtype) -> tuple:
        """The arrays that kernels read, in one precision."""
        raise NotImplementedError

    def table(self, dtype: np.dtype) -> Table:
        """The table for batches, whose work memory belongs to the threads."""
        with self._making:
            return self._table(dtype)

    def _table(self, dtype: np.dtype) -> Table:
        if dtype not in self._tables:
            self._tables[dtype] = Table(self.pack(dtype), self.dimensions, np.empty(0, dtype))
        return self._tables[dtype]

    def prepare(self, kernel, shared=()) -> int:
        """Address of the table for one state of doubles, with work memory of the kernel's own."""
        with self._making:
            if kernel not in self.prepared:
                work = np.empty(kernel.work(self.dimensions))
                table = Table(self._table(_DOUBLE).arrays, self.dimensions, work)
                self._tables[kernel] = table  # keeps it alive
                self.prepared[kernel] = table.address, kernel.shapes(self, shared)[1]
            return self.prepared[kernel][0]

    def __getstate__(self):
        state = self.__dict__.copy()
        for name in ("_tables", "_making", "argument_shapes", "prepared"):
            del state[name]
        return state

    def __setstate__(self, state):
        Tabulated.__init__(self)
        self.__dict__.update(state)
