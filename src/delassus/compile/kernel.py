"""Kernels: plain Python functions with declared arguments, and the ways to run them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

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


# Errors of the short way of a call where arguments do not fit. The call is then repeated by
# `_call_with_care`, which converts the arguments, or says what is wrong with them.
_DOES_NOT_FIT = (KeyError, IndexError, TypeError, AttributeError, ValueError)


def _take_all(model) -> bool:
    """Arrays that do not tell what they are packed from are packed from anything."""
    return True


class Kernel:
    """An algorithm that can be called with a model and arrays; `kernel` declares one."""

    def __init__(self, function: Callable, signature: Signature, label: str):
        self.function = function
        self.signature = signature
        self.work = signature.work
        self.label = label
        self._has_one_output = len(signature.outputs) == 1
        self._axes = len(signature.inputs[0].shape)  # axes of the first input for one state
        # Whether shapes of outputs depend on the lengths of shared arrays.
        self.shared_matters = any("len" in str(e) for a in signature.outputs for e in a.shape)
        # Compiled entries: for one state by the number of inputs, for batches by precision.
        self._single: dict[int, Callable] = {}
        self._batch: dict[np.dtype, Callable] = {}

    def __call__(self, model, inputs: tuple, out=None, threads: int | None = None, shared=()):
        """Evaluate for one state or for many; return the output, or a list of several.

        The short way passes all arguments unchanged to a compiled entry, which checks the arrays
        itself: this keeps the latency low. Arguments that do not fit there (lists, wrong shapes),
        and the first call of all, go to `batch.evaluate`.
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
        """Check every argument, convert it or raise an error that says why not, then evaluate."""
        if not isinstance(model, Tabulated):
            raise DataTypeError(f"expected a Model, got {type(model).__name__}")
        if self._has_one_output and out is not None:
            out = (out,)
        outputs = model.serve(self, inputs, out, threads, shared)
        if outputs is not None:
            return outputs[0] if self._has_one_output else outputs
        serving = model.kernel_for(self)
        if not getattr(serving.signature.model, "takes", _take_all)(model):
            raise DataTypeError(f"expected a Model, got {type(model).__name__}")
        outputs = batch.evaluate(serving, model, inputs, out, threads, shared)
        for prepared in (model.prepared, model.prepared_batches):
            if serving in prepared:
                prepared[self] = prepared[serving]
        return outputs[0] if self._has_one_output else outputs

    def prepare(self, model, shared=()) -> int:
        """Store what later calls for one state need; return the address of the model's table."""
        address = model.table_for_one_state(self).address
        # NumPy makes an array of one axis faster from a number than from a tuple.
        shapes = [s[0] if len(s) == 1 else s for s in self.shapes(model, shared)[1]]
        model.prepared[self] = self._single, address, shapes
        return address

    def shapes(self, model, shared=()) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Shapes of all inputs, and of all outputs, for one state."""
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
        """Work memory for one state, divided into its parts, for the plain Python function."""
        extents = model.extents(self.signature.model)
        return self.work.divide(np.full(self.work.size(extents), fill, dtype), extents)

    def single(self, with_optional: bool = False) -> Callable:
        """The compiled entry for one state in float64, with the optional inputs or without."""
        count = len(self.signature.inputs) if with_optional else self.signature.required
        with _compiling:
            if count not in self._single:
                self._single[count] = entries.single(
                    self.label, self.function, self.signature, FLOAT64, with_optional
                )
            return self._single[count]

    def batch(self, dtype: np.dtype) -> Callable:
        """The compiled entry for batches in one precision."""
        with _compiling:
            if dtype not in self._batch:
                made = entries.batch(self.label, self.function, self.signature, dtype)
                self._batch[dtype] = made
            return self._batch[dtype]

    def is_loaded(self, dtype: np.dtype) -> bool:
        """Whether the entry for batches was used before, so that to call it costs no compiling."""
        return dtype in self._batch

    def compilations(self) -> dict[str, Callable[[], Callable]]:
        """The functions that compile each entry of the kernel, by what the entry is for."""
        s = self.signature
        found = {
            entries.describe_single(s, with_optional): partial(self.single, with_optional)
            for with_optional in (False, True)[: 1 + (len(s.inputs) > s.required)]
        }
        return found | {
            entries.describe_batch(dtype): partial(self.batch, dtype)
            for dtype in (FLOAT64, FLOAT32)
        }

    def __repr__(self) -> str:
        return f"<kernel {self.label}({', '.join(self.signature.names)})>"


def kernel(
    model: type,
    *,
    inputs: dict[str, str],
    outputs: dict[str, str],
    work: Layout = NO_MEMORY,
    shared: tuple[str, ...] = (),
    lanes: bool = True,
    label: str = "",
) -> Callable[[Callable], Kernel]:
    """Declare an algorithm as a kernel.

    `model` is the class of the arrays that the function reads, such as ModelArrays. `inputs` and
    `outputs` give the shape of each array for one state: "nv", "nv nv", "n_bodies 6 optional" or
    "nv common" (see `language.signature.Argument`). `shared` names integer arrays that are the same
    for all states. `work` is the layout of the work memory for one state. With `lanes=False`
    batches are evaluated state by state: the function may branch on numbers, and inputs that are
    optional it cannot have.

    The function is called as `f(model, *shared, *inputs, *outputs, work)`, with flat arrays. An
    output of two or more axes is filled with zeros before the call, and the function must write the
    same entries of it for every state.
    """

    def declare(f: Callable) -> Kernel:
        function(f)
        signature = Signature(
            model,
            tuple(shared),
            tuple(argument(*item) for item in inputs.items()),
            tuple(argument(*item) for item in outputs.items()),
            work,
            lanes,
        )
        if not lanes and signature.required < len(signature.inputs):
            raise ValueError(f"the kernel {f.__name__} has no lanes, so no optional inputs either")
        made = Kernel(f, signature, label or f.__name__)
        if f.__name__ in _kernels:
            raise ValueError(f"there are two kernels named {f.__name__}")
        _kernels[f.__name__] = made
        return made

    return declare


def kernels() -> dict[str, Kernel]:
    """All declared kernels by name."""
    return dict(_kernels)
