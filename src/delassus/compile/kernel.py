"""A kernel: an algorithm's function with its arguments declared, and all the ways to run it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from . import batch, entries, functions
from .signature import Signature, argument

_kernels: dict[str, Kernel] = {}
_compiling = threading.Lock()
_empty = np.empty

FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)


class Kernel:
    """An algorithm that can be called with a model and arrays; `kernel` declares one."""

    def __init__(self, function: Callable, signature: Signature, work: Callable, label: str):
        self.function = function
        self.signature = signature
        self.work = work
        self.label = label
        self._has_one_output = len(signature.outputs) == 1
        self.shared_matters = any("len" in str(e) for a in signature.outputs for e in a.shape)
        # The entries for one state by the number of inputs, and those for batches by precision.
        self._single: dict[int, Callable] = {}
        self.batch_entries: dict[np.dtype, Callable] = {}

    def __call__(self, model, inputs: tuple, out=None, threads: int | None = None, shared=()):
        """Evaluate for one state or for many; return the output, or a list of several.

        The first attempt hands everything as it is to the compiled entry for one state, which is
        what keeps the latency low. What does not fit there (batches, lists, wrong shapes, a first
        call) is for `batch.evaluate`.
        """
        try:
            if threads is None or (type(threads) is int and threads > 0):
                entry, (address, shapes) = self._single[len(inputs)], model.prepared[self]
                if self.shared_matters:
                    shapes = self.shapes(model, shared)[1]
                if self._has_one_output:
                    output = _empty(shapes[0]) if out is None else out
                    if entry(address, *shared, *inputs, output) == 0:
                        return output
                else:
                    outputs = [_empty(s) for s in shapes] if out is None else out
                    if entry(address, *shared, *inputs, *outputs) == 0:
                        return outputs
        except (KeyError, TypeError, AttributeError, ValueError):
            pass
        if self._has_one_output and out is not None:
            out = (out,)
        outputs = batch.evaluate(self, model, inputs, out, threads, shared)
        return outputs[0] if self._has_one_output else outputs

    def shapes(self, model, shared=()) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The shapes for one state of the inputs, and of the outputs."""
        key = (self, *map(len, shared)) if shared else self
        try:
            return model.argument_shapes[key]
        except KeyError:
            s = self.signature
            known = tuple(
                [s.extents(a, model.dimensions, shared) for a in arguments]
                for arguments in (s.inputs, s.outputs)
            )
            model.argument_shapes[key] = known
            return known

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
            if dtype not in self.batch_entries:
                made = entries.batch(self.label, self.function, self.signature, dtype)
                self.batch_entries[dtype] = made
            return self.batch_entries[dtype]

    def __repr__(self) -> str:
        return f"<kernel {self.label}({', '.join(self.signature.names)})>"


def kernel(
    model: type,
    *,
    inputs: dict[str, str],
    outputs: dict[str, str],
    work: Callable[[dict[str, int]], int],
    shared: tuple[str, ...] = (),
    label: str = "",
) -> Callable[[Callable], Kernel]:
    """Declare an algorithm as a kernel.

    `model` is the tuple of arrays that the function reads the model from. `inputs` and `outputs`
    give each array's shape a state, as in "nv", "nv nv", "n_bodies 6 optional" or "nv common".
    `shared` names integer arrays that are the same for all states. `work` tells how many numbers of
    work memory a state needs, given the model's dimensions. The function is called as
    `f(model, *shared, *inputs, *outputs, work)`, all arrays flat. Outputs of two axes and more come
    to it as zeros; it must write the same entries of them for every state.
    """

    def declare(f: Callable) -> Kernel:
        functions.function(f)
        signature = Signature(
            model,
            tuple(shared),
            tuple(argument(*item) for item in inputs.items()),
            tuple(argument(*item) for item in outputs.items()),
        )
        made = Kernel(f, signature, work, label or f.__name__)
        if f.__name__ in _kernels:
            raise ValueError(f"there are two kernels named {f.__name__}")
        _kernels[f.__name__] = made
        return made

    return declare


def kernels() -> dict[str, Kernel]:
    """All declared kernels by name."""
    return dict(_kernels)
