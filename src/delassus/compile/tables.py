"""A model's arrays as compiled entries find them: a table of extents, addresses and lengths."""

from __future__ import annotations

import threading
from numbers import Integral

import numpy as np

_DOUBLE = np.dtype(np.float64)


class Table:
    """Keeps arrays alive, and the table that tells compiled code where they are."""

    def __init__(self, arrays: tuple, dimensions: dict[str, int], work: np.ndarray):
        self.arrays, self.work = arrays, work
        words = [dimensions[name] for name in type(arrays).dimensions]
        for array in (*arrays, work):
            words += [array.ctypes.data, array.size]
        self.words = np.array(words, np.int64)
        self.address = int(self.words.ctypes.data)


class Unwrapped(np.recarray):
    """An array whose fields are attributes, without negative indices: compiled code has none."""

    def __getitem__(self, index):
        if isinstance(index, Integral) and index < 0:
            raise IndexError(f"a kernel asks for entry {index} of one of the model's arrays")
        return super().__getitem__(index)


class Tabulated:
    """Base of what kernels can be called with: gives its arrays as tables.

    A subclass has `dimensions`, the extents that kernels' arguments are made of, and
    `pack(kind, dtype)`, its arrays in one precision. `kind` is the tuple of arrays that a kernel
    reads, for which there may be a choice; they are converted to the types that it names.
    """

    dimensions: dict[str, int]

    def __init__(self):
        self._tables: dict = {}
        self._making = threading.Lock()
        # By kernel: the shapes of its arguments; and what the evaluation of one state needs, the
        # address of a table and the shapes of the outputs. By kernel and precision: what that of a
        # batch needs.
        self.argument_shapes: dict = {}
        self.prepared: dict = {}

    def pack(self, kind: type, dtype: np.dtype) -> tuple:
        """The arrays that kernels read, in one precision."""
        raise NotImplementedError

    def table(self, kind: type, dtype: np.dtype) -> Table:
        """The table for batches, whose work memory belongs to the threads."""
        with self._making:
            return self._table(kind, dtype)

    def _table(self, kind: type, dtype: np.dtype) -> Table:
        key = kind, dtype
        if key not in self._tables:
            packed = zip(self.pack(kind, dtype), kind.array_types(dtype), strict=True)
            arrays = kind(*(np.ascontiguousarray(a, t) for a, t in packed))
            self._tables[key] = Table(arrays, self.dimensions, np.empty(0, dtype))
        return self._tables[key]

    def arrays(self, kind: type, dtype: np.dtype) -> tuple:
        """The same arrays for kernels that run as plain Python."""
        return kind(*(a.view(Unwrapped) for a in self.table(kind, dtype).arrays))

    def prepare(self, kernel, shared=()) -> int:
        """Address of the table for one state of doubles, with work memory of the kernel's own."""
        with self._making:
            if kernel not in self.prepared:
                work = np.empty(kernel.work(self.dimensions))
                arrays = self._table(kernel.signature.model, _DOUBLE).arrays
                table = Table(arrays, self.dimensions, work)
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
