"""A kernel: an algorithm's function with its arguments declared, and all the ways to run it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from ..errors import DataTypeError
from . import batch
from .language.functions import function
from .language.signature import Signature, argument
from .language.slots import Layout, layout
from .native import entries
from .tables import Tabulated

_kernels: dict[str, Kernel] = {}
_compiling = threading.Lock()
_empty = np.empty

NO_MEMORY = layout()

FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)


# What a call raises on the short way whose arguments do not fit: it is then made with care, which
# converts them, or says what is wrong.
_DOES_NOT_FIT = (KeyError, IndexError, TypeError, AttributeError, ValueError)


class Kernel:
    """An algorithm that can be called with a model and arrays; `kernel` declares one."""

    def __init__(self, function: Callable, signature: Signature, label: str):
        self.function = function
        self.signature = signature
        self.work = signature.work
        self.label = label
        self._has_one_output = len(signature.outputs) == 1
        self._axes = len(signature.inputs[0].shape)  # of the first input, for one state
        self.shared_matters = any("len" in str(e) for a in signature.outputs for e in a.shape)
        # The entries for one state by the number of inputs, and those for batches by precision.
        self._single: dict[int, Callable] = {}
        self._batch: dict[np.dtype, Callable] = {}

    def __call__(self, model, inputs: tuple, out=None, threads: int | None = None, shared=()):
        """Evaluate for one state or for many; return the output, or a list of several.

        The short way hands everything as it is to a compiled entry, which checks arrays itself:
        that is what keeps the latency low. What does not fit there (lists, wrong shapes, a first
        call) is for `batch.evaluate`.
        """
        try:
            if inputs[0].ndim == self._axes:
                if threads is None or (type(threads) is int and threads > 0):
                    entries, address, shapes = model.prepared[self]
                    entry = entries[len(inputs)]
                    if self.shared_matters:
                        shapes = self.shapes(model, shared)[1]
                    if self._has_one_output:
                        output = _empty(shapes[0]) if out is None else out
                        if entry(address, *shared, *inputs, output) == 0:
                            return output
                    else:
                        outputs = [*map(_empty, shapes)] if out is None else out
                        if entry(address, *shared, *inputs, *outputs) == 0:
                            return outputs
            else:
                given = (out,) if self._has_one_output and out is not None else out
                outputs = model.prepared_batches[self].run(inputs, given, threads, shared)
                if outputs is not None:
                    return outputs[0] if self._has_one_output else outputs
        except _DOES_NOT_FIT:
            pass
        return self._call_with_care(model, inputs, out, threads, shared)

    def _call_with_care(self, model, inputs: tuple, out, threads: int | None, shared):
        """Evaluate with every argument looked at, converted, or rejected with a reason."""
        if not isinstance(model, Tabulated):
            raise DataTypeError(f"expected a Model, got {type(model).__name__}")
        if self._has_one_output and out is not None:
            out = (out,)
        serving = model.kernel_for(self)
        outputs = batch.evaluate(serving, model, inputs, out, threads, shared)
        for prepared in (model.prepared, model.prepared_batches):
            if serving in prepared:
                prepared[self] = prepared[serving]
        return outputs[0] if self._has_one_output else outputs

    def prepare(self, model, shared=()) -> int:
        """Keep what calls for one state need; return the address of the model's table."""
        address = model.table_for_one_state(self).address
        # NumPy makes an array of one axis faster from a number than from a tuple.
        shapes = [s[0] if len(s) == 1 else s for s in self.shapes(model, shared)[1]]
        model.prepared[self] = self._single, address, shapes
        return address

    def shapes(self, model, shared=()) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The shapes for one state of the inputs, and of the outputs."""
        key = (self, *map(len, shared)) if shared else self
        try:
            return model.argument_shapes[key]
        except KeyError:
            s = self.signature
            known_extents = model.extents(s.model)
            known = tuple(
                [s.extents(a, known_extents, shared) for a in arguments]
                for arguments in (s.inputs, s.outputs)
            )
            model.argument_shapes[key] = known
            return known

    def work_memory(self, model, dtype: np.dtype, fill=0.0):
        """The parts of work memory that the plain Python function takes, for one state."""
        extents = model.extents(self.signature.model)
        return self.work.divide(np.full(self.work.size(extents), fill, dtype), extents)

    def single(self, with_optional: bool = False) -> Callable:
        """The compiled entry for one state of doubles, with the optional inputs or without."""
        count = len(self.signature.inputs) if with_optional else self.signature.required
        with _compiling:
            if count not in self._single:
                self._single[count] = entries.single(
                    self.label, self.function, self.signature, FLOAT64, with_optional
                )
            return self._single[count]

    def batch(self, dtype: np.dtype) -> Callable:
        """The compiled entry for many states."""
        with _compiling:
            if dtype not in self._batch:
                made = entries.batch(self.label, self.function, self.signature, dtype)
                self._batch[dtype] = made
            return self._batch[dtype]

    def __repr__(self) -> str:
        return f"<kernel {self.label}({', '.join(self.signature.names)})>"


def kernel(
    model: type,
    *,
    inputs: dict[str, str],
    outputs: dict[str, str],
    work: Layout = NO_MEMORY,
    shared: tuple[str, ...] = (),
    label: str = "",
) -> Callable[[Callable], Kernel]:
    """Declare an algorithm as a kernel.

    `model` is the tuple of arrays that the function reads the model from. `inputs` and `outputs`
    give each array's shape a state, as in "nv", "nv nv", "n_bodies 6 optional" or "nv common".
    `shared` names integer arrays that are the same for all states. `work` is the layout of the work
    memory of a state. The function is called as
    `f(model, *shared, *inputs, *outputs, work)`, all arrays flat. Outputs of two axes and more come
    to it as zeros; it must write the same entries of them for every state.
    """

    def declare(f: Callable) -> Kernel:
        function(f)
        signature = Signature(
            model,
            tuple(shared),
            tuple(argument(*item) for item in inputs.items()),
            tuple(argument(*item) for item in outputs.items()),
            work,
        )
        made = Kernel(f, signature, label or f.__name__)
        if f.__name__ in _kernels:
            raise ValueError(f"there are two kernels named {f.__name__}")
        _kernels[f.__name__] = made
        return made

    return declare


def kernels() -> dict[str, Kernel]:
    """All declared kernels by name."""
    return dict(_kernels)
