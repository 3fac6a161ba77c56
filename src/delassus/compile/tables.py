"""Tables by which compiled entries find a model's arrays: one address instead of many arguments.

A table is a list of 64-bit integers: the address of NumPy's class of arrays, by which entries tell
arrays from other objects; the extents of the model; address and length of each array and of the
work memory; then where each part of the kernel's work memory starts.
"""

from __future__ import annotations

import threading
from numbers import Integral
from typing import ClassVar

import numpy as np

from .native.entries import ARRAY_CLASS, FIRST_EXTENT

_DOUBLE = np.dtype(np.float64)


class Table:
    """A table for compiled entries, and the arrays that it points to, which it keeps alive."""

    def __init__(self, arrays: tuple, extents: dict[str, int], work: np.ndarray, starts: list[int]):
        self.arrays, self.work = arrays, work
        words = [0] * FIRST_EXTENT
        words[ARRAY_CLASS] = id(np.ndarray)
        words += [extents[name] for name in type(arrays).dimensions]
        for array in (*arrays, work):
            words += [array.ctypes.data, array.size]
        self.words = np.array([*words, *starts], np.int64)
        self.address = int(self.words.ctypes.data)


class Unwrapped(np.recarray):
    """A record array that refuses negative indices, as compiled kernels do not have them."""

    def __getitem__(self, index):
        if isinstance(index, Integral) and index < 0:
            raise IndexError(f"a kernel asks for entry {index} of one of the model's arrays")
        return super().__getitem__(index)


class Tabulated:
    """Base class of objects that kernels can be called with, such as models and constraints.

    A subclass has `dimensions`: extents by name. A kernel declares a class of arrays that it reads,
    called `kind` here, such as ModelArrays. That class makes the arrays from the object by
    `kind.pack(object, dtype)`, and may add extents by `kind.sizes(object)`.

    `kernels` maps a kernel to another one that replaces it for objects of the class. So an object
    of an upper layer can be passed to functions that take a model.
    """

    dimensions: dict[str, int]
    kernels: ClassVar[dict] = {}

    def __init__(self):
        self._tables: dict = {}
        self._arrays: dict = {}
        self._extents: dict = {}
        self._making = threading.Lock()
        self.argument_shapes: dict = {}  # by kernel
        # By kernel, what the short way of `Kernel.__call__` needs. For one state: entries by the
        # number of inputs, address of the table, shapes of outputs. For float64 batches: a `Batch`.
        self.prepared: dict = {}
        self.prepared_batches: dict = {}

    def kernel_for(self, kernel):
        """The kernel to run for this object where `kernel` is called."""
        return self.kernels.get(kernel, kernel)

    def serve(self, kernel, inputs: tuple, out, threads, shared):
        """The outputs of a kernel for this object, if it has a way of its own; else None."""
        return None

    def extents(self, kind: type) -> dict[str, int]:
        """All extents, by name, for kernels that read arrays of this kind."""
        if kind not in self._extents:
            more = kind.sizes(self) if hasattr(kind, "sizes") else {}
            self._extents[kind] = {**self.dimensions, **more}
        return self._extents[kind]

    def _packed(self, kind: type, dtype: np.dtype) -> tuple:
        """The arrays of this kind, in one precision."""
        key = kind, dtype
        if key not in self._arrays:
            packed = zip(kind.pack(self, dtype), kind.array_types(dtype), strict=True)
            self._arrays[key] = kind(*(np.ascontiguousarray(a, t) for a, t in packed))
        return self._arrays[key]

    def arrays(self, kind: type, dtype: np.dtype) -> tuple:
        """The arrays of this kind, for kernels that run as plain Python."""
        with self._making:
            return kind(*(a.view(Unwrapped) for a in self._packed(kind, dtype)))

    def table(self, kernel, dtype: np.dtype) -> Table:
        """The table for batches, without work memory: each thread has its own."""
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
        """The table for one state in float64, with work memory for this kernel."""
        with self._making:
            if kernel not in self._tables:
                work = np.empty(kernel.work.size(self.extents(kernel.signature.model)))
                self._tables[kernel] = self._table(kernel, _DOUBLE, work)
            return self._tables[kernel]

    def __getstate__(self):
        state = self.__dict__.copy()
        for name in Tabulated().__dict__:  # not pickled: made again when needed
            del state[name]
        return state

    def __setstate__(self, state):
        Tabulated.__init__(self)
        self.__dict__.update(state)
