"""A model's arrays as compiled entries find them: a table of extents, addresses and lengths.

At its end it tells where the parts of the kernel's work memory start.
"""

from __future__ import annotations

import threading
from numbers import Integral
from typing import ClassVar

import numpy as np

_DOUBLE = np.dtype(np.float64)


class Table:
    """Keeps arrays alive, and the table that tells compiled code where they are."""

    def __init__(self, arrays: tuple, extents: dict[str, int], work: np.ndarray, starts: list[int]):
        self.arrays, self.work = arrays, work
        words = [extents[name] for name in type(arrays).dimensions]
        for array in (*arrays, work):
            words += [array.ctypes.data, array.size]
        self.words = np.array([*words, *starts], np.int64)
        self.address = int(self.words.ctypes.data)


class Unwrapped(np.recarray):
    """An array whose fields are attributes, without negative indices: compiled code has none."""

    def __getitem__(self, index):
        if isinstance(index, Integral) and index < 0:
            raise IndexError(f"a kernel asks for entry {index} of one of the model's arrays")
        return super().__getitem__(index)


class Tabulated:
    """Base of what kernels can be called with: gives its arrays as tables.

    A subclass has `dimensions`, extents by name. A kernel reads the tuple of arrays that it names:
    this class makes its arrays from the object, `kind.pack(object, dtype)`, and may know of more
    extents, `kind.sizes(object)`.

    Where a function calls a kernel, the object may have another one serve it: `kernels` of its
    class maps the one to the other. So an object of an upper layer can stand where a model does.
    """

    dimensions: dict[str, int]
    kernels: ClassVar[dict] = {}

    def __init__(self):
        self._tables: dict = {}
        self._arrays: dict = {}
        self._extents: dict = {}
        self._making = threading.Lock()
        self.argument_shapes: dict = {}  # by kernel
        # By kernel, what a call with arrays that fit needs: entries for one state by the number of
        # inputs, address of the table, shapes of outputs; and for batches of doubles a `Batch`.
        self.prepared: dict = {}
        self.prepared_batches: dict = {}

    def kernel_for(self, kernel):
        """The kernel that serves this object where another is called."""
        return self.kernels.get(kernel, kernel)

    def extents(self, kind: type) -> dict[str, int]:
        """All extents that kernels know which read arrays of a kind."""
        if kind not in self._extents:
            more = kind.sizes(self) if hasattr(kind, "sizes") else {}
            self._extents[kind] = {**self.dimensions, **more}
        return self._extents[kind]

    def _packed(self, kind: type, dtype: np.dtype) -> tuple:
        """Arrays of a kind in one precision."""
        key = kind, dtype
        if key not in self._arrays:
            packed = zip(kind.pack(self, dtype), kind.array_types(dtype), strict=True)
            self._arrays[key] = kind(*(np.ascontiguousarray(a, t) for a, t in packed))
        return self._arrays[key]

    def arrays(self, kind: type, dtype: np.dtype) -> tuple:
        """Arrays of a kind for kernels that run as plain Python."""
        with self._making:
            return kind(*(a.view(Unwrapped) for a in self._packed(kind, dtype)))

    def table(self, kernel, dtype: np.dtype) -> Table:
        """The table for batches, whose work memory belongs to the threads."""
        with self._making:
            key = kernel, dtype
            if key not in self._tables:
                self._tables[key] = self._table(kernel, dtype, np.empty(0, dtype))
            return self._tables[key]

    def _table(self, kernel, dtype: np.dtype, work: np.ndarray) -> Table:
        kind = kernel.signature.model
        extents = self.extents(kind)
        return Table(self._packed(kind, dtype), extents, work, kernel.work.starts(extents))

    def table_for_one_state(self, kernel) -> Table:
        """The table for one state of doubles, with work memory of the kernel's own."""
        with self._making:
            if kernel not in self._tables:
                work = np.empty(kernel.work.size(self.extents(kernel.signature.model)))
                self._tables[kernel] = self._table(kernel, _DOUBLE, work)
            return self._tables[kernel]

    def __getstate__(self):
        state = self.__dict__.copy()
        for name in Tabulated().__dict__:  # made anew where it is needed
            del state[name]
        return state

    def __setstate__(self, state):
        Tabulated.__init__(self)
        self.__dict__.update(state)
