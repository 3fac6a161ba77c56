"""Evaluation of a kernel for one state or many: checks, conversion, blocks of lanes, threads."""

from __future__ import annotations

import itertools
import math
import os
import sys
import threading
from functools import cache

import numpy as np

from ..checks import has_shared_entries, shown
from ..errors import DataTypeError, ShapeError
from . import workers
from .language.signature import Argument
from .native import cpu
from .native.writing import how_to_write
from .symbolic import is_symbolic, trace

COMPILE_VARIABLE = "DELASSUS_COMPILE"
# Threads take chunks of states: not too few states, as taking a chunk costs time; and several
# chunks for each thread, so that all threads finish at nearly the same time.
_LEAST_CHUNK = 64
_LEAST_CHUNK_WITHOUT_LANES = 1  # such kernels iterate, and take far longer for a state
_CHUNKS_A_THREAD = 4
_DOUBLE = np.dtype(np.float64)


@cache
def is_compiled() -> bool:
    """Whether kernels are compiled; DELASSUS_COMPILE=0 runs them as plain Python."""
    return os.environ.get(COMPILE_VARIABLE, "1").lower() not in ("0", "false", "no", "off")


def is_single_usable() -> bool:
    """Whether the entry for one state may run: it uses the model's work memory under the GIL."""
    return is_compiled() and getattr(sys, "_is_gil_enabled", lambda: True)()


def evaluate(kernel, model, inputs, out, threads, shared):
    """Check and convert all arguments, evaluate for one state or a batch; return the outputs."""
    signature = kernel.signature
    input_shapes, output_shapes = kernel.shapes(model, shared)
    left_out = [np.empty((0, *shape[1:])) for shape in input_shapes[len(inputs) :]]
    inputs = (*inputs, *left_out)
    if any(map(is_symbolic, inputs)):
        return trace(kernel, model, inputs, shared)
    thread_count = _thread_count(threads)
    arrays, dtype = _as_arrays(signature.inputs, inputs)
    count = _batch_size(signature.inputs, arrays, input_shapes)
    lead = () if count is None else (count,)
    wanted = [lead + shape for shape in output_shapes]
    outputs = _outputs(signature.outputs, out, wanted, dtype)
    if out is not None:
        _check_overlap(signature, arrays, outputs)

    are_direct = [_is_direct(o, dtype) for o in outputs]
    targets = [
        o.view(np.ndarray) if is_direct else np.empty(o.shape, dtype)
        for o, is_direct in zip(outputs, are_direct, strict=True)
    ]
    if count is None and dtype == _DOUBLE and is_single_usable():
        _run_single(kernel, model, shared, arrays, targets, has_all=not left_out)
    elif count != 0:
        shapes = [*input_shapes, *output_shapes]
        rows = [_as_rows(x, shape) for x, shape in zip([*arrays, *targets], shapes, strict=True)]
        run = _run_compiled if is_compiled() else _run_uncompiled
        run(kernel, model, shared, rows, dtype, count or 1, thread_count)
    for given, target, is_direct in zip(outputs, targets, are_direct, strict=True):
        if not is_direct:
            given[...] = target
    return outputs


def evaluate_checked(kernel, model, shared, rows, n: int, threads: int | None = None) -> None:
    """Evaluate n states. All arrays are known to fit: nothing is checked or converted.

    `rows` are inputs and outputs: float64 arrays in C order, with a row for each state, or one row
    for all where an input is common.
    """
    run = _run_compiled if is_compiled() else _run_uncompiled
    run(kernel, model, shared, rows, _DOUBLE, n, _thread_count(threads))


class Repeated:
    """`evaluate_checked` again and again with other arrays: all else is looked at once.

    Work memory is its own: one thread at a time may call it.
    """

    def __init__(self, kernel, model, shared, n: int, threads: int | None = None):
        self._all = kernel, model, shared, n, _thread_count(threads)
        self._entry = None
        if is_compiled():
            batch = _batch_of(kernel, model, shared, _DOUBLE)
            if batch.chunk(n, self._all[-1]) >= n:
                self._entry, self._first = batch.entry, (batch.address, *shared)
                memory = lined_up(batch.memory, _DOUBLE)
                self._last = memory, True, *how_to_write(n * batch.staged_bytes), 0, n

    def __call__(self, *rows) -> None:
        """Evaluate; `rows` are those of `evaluate_checked`."""
        if self._entry is not None:
            self._entry(*self._first, *rows, *self._last)
        else:
            kernel, model, shared, n, threads = self._all
            evaluate_checked(kernel, model, shared, rows, n, threads)


def _thread_count(threads: int | None) -> int:
    if threads is None:
        return workers.available_cores()
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)):
        raise DataTypeError(f"threads must be None or a positive integer, got {shown(threads)}")
    if threads < 1:
        raise ShapeError(f"threads must be None or a positive integer, got {threads}")
    return int(threads)


def _as_arrays(arguments: tuple[Argument, ...], inputs) -> tuple[list, np.dtype]:
    """The inputs as arrays of one type: float32 if all that are given are float32, else float64."""
    if all(type(x) is np.ndarray and _is_readable(x, _DOUBLE) for x in inputs):
        return list(inputs), _DOUBLE
    arrays = [_as_array(a, x) for a, x in zip(arguments, inputs, strict=True)]
    given = [x for a, x in zip(arguments, arrays, strict=True) if not (a.optional and x.size == 0)]
    single = bool(given) and all(x.dtype == np.float32 for x in given)
    dtype = np.dtype(np.float32 if single else np.float64)
    return [x if _is_readable(x, dtype) else _copied(x, dtype) for x in arrays], dtype


def _copied(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy as kernels can read it; `np.array` would keep another mark of the byte order."""
    copy = np.empty(x.shape, dtype)
    copy[...] = x
    return copy


def _is_readable(x: np.ndarray, dtype: np.dtype) -> bool:
    return _is_direct(x, dtype) or _is_repeated(x, dtype)


def _is_repeated(x: np.ndarray, dtype: np.dtype) -> bool:
    """Whether an array is one contiguous state broadcast to a batch: it is read without a copy."""
    return x.ndim > 1 and len(x) > 1 and x.strides[0] == 0 and _is_direct(x[0], dtype)


def _as_array(a: Argument, x) -> np.ndarray:
    if isinstance(x, np.ma.MaskedArray):
        raise DataTypeError(f"{a.name} is a masked array; give an array with all its numbers")
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise ShapeError(f"{a.name} is not an array of numbers: {error}") from None
    if array.dtype == object or array.dtype.kind not in "fiu":
        raise DataTypeError(
            f"{a.name} must hold real numbers, got {array.dtype} from {type(x).__name__}"
        )
    return array


def _batch_size(arguments, arrays, shapes) -> int | None:
    """The number of states, None for one state without a batch axis."""
    counts = {}
    for a, x, shape in zip(arguments, arrays, shapes, strict=False):
        if a.optional and x.shape == (0, *shape[1:]):
            continue  # was left out
        if a.common and x.shape == (1, *shape):
            continue  # one row for any number of states
        if x.shape == shape:
            counts[a.name] = None
        elif x.ndim == len(shape) + 1 and x.shape[1:] == shape:
            counts[a.name] = x.shape[0]
        else:
            one = _show(shape)
            raise ShapeError(
                f"{a.name} must have shape {one} for one state or {_show(('N', *shape))} for N "
                f"states of this model, got {_show(x.shape)}"
            )
    if len(set(counts.values())) > 1:
        listing = ", ".join(
            f"{name} has {'no batch axis' if c is None else f'{c} states'}"
            for name, c in counts.items()
        )
        raise ShapeError(f"all inputs must have the same number of states, but {listing}")
    return next(iter(counts.values()))


def _show(shape) -> str:
    inner = ", ".join(map(str, shape))
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _outputs(arguments, out, shapes, dtype) -> list[np.ndarray]:
    if out is None:
        return [np.empty(shape, dtype) for shape in shapes]
    try:
        given = list(out)
    except Exception:
        raise DataTypeError(f"out must be arrays, got {type(out).__name__}") from None
    if len(given) != len(arguments):
        raise ShapeError(f"out must be {len(arguments)} arrays, got {len(given)}")
    for a, x, shape in zip(arguments, given, shapes, strict=True):
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
            kind = x.dtype if isinstance(x, np.ndarray) else type(x).__name__
            raise DataTypeError(f"out for {a.name} must be a floating-point array, got {kind}")
        if x.shape != shape:
            raise ShapeError(
                f"out for {a.name} must have shape {_show(shape)}, got {_show(x.shape)}"
            )
        if not x.flags.writeable:
            raise ShapeError(f"out for {a.name} is read-only")
        if has_shared_entries(x):
            raise ShapeError(
                f"entries of out for {a.name} share memory, as its strides are {x.strides}"
            )
    return given


def _check_overlap(signature, arrays, outputs) -> None:
    for a, x in zip(signature.inputs, arrays, strict=True):
        for o in outputs:
            if np.may_share_memory(x, o) and np.shares_memory(x, o):
                raise ShapeError(f"out overlaps the input {a.name}; inputs are never written to")
    for (a, x), (b, y) in itertools.combinations(zip(signature.outputs, outputs, strict=True), 2):
        if np.may_share_memory(x, y) and np.shares_memory(x, y):
            raise ShapeError(f"out for {a.name} and for {b.name} overlap; each needs its own array")


def _is_direct(x: np.ndarray, dtype: np.dtype) -> bool:
    flags = x.flags
    # Arrays of h5py are marked "<" where NumPy's own are "=", though both are the same.
    is_plain = x.dtype == dtype and x.dtype.byteorder == "="
    return is_plain and flags.c_contiguous and flags.aligned


def _as_rows(x: np.ndarray, shape) -> np.ndarray:
    """An array with a row for each state, one row for all, or no row if it was left out."""
    if x.ndim > len(shape):
        return x[:1] if _is_repeated(x, x.dtype) else x
    return x[None] if x.shape == shape else np.empty((0,) * (len(shape) + 1), x.dtype)


# --- plain Python ---------------------------------------------------------------------------------


def _run_uncompiled(kernel, model, shared, rows, dtype, n, thread_count) -> None:
    arrays = model.arrays(kernel.signature.model, dtype)
    work = kernel.work_memory(model, dtype)
    nothing = np.empty(0, dtype)
    with np.errstate(all="ignore"):
        for i in range(n):
            state = [x[i % len(x) :][:1].reshape(-1) if len(x) else nothing for x in rows]
            for a, x in zip(kernel.signature.states, state, strict=True):
                if a in kernel.signature.staged:
                    x[:] = 0.0
            kernel.function(arrays, *shared, *state, work)


def evaluate_plainly(kernel, model, inputs: tuple) -> list[np.ndarray]:
    """The outputs for a float64 batch by plain Python, for which nothing is compiled or loaded."""
    n = len(inputs[0])
    outputs = [np.empty((n, *shape)) for shape in kernel.shapes(model)[1]]
    _run_uncompiled(kernel, model, (), [*inputs, *outputs], _DOUBLE, n, 1)
    return outputs


# --- compiled -------------------------------------------------------------------------------------


def _run_single(kernel, model, shared, arrays, targets, has_all: bool) -> None:
    """Evaluate one state, and keep the entry and the model's table for the next call."""
    has_optional = has_all and len(kernel.signature.inputs) > kernel.signature.required
    entry, address = kernel.single(has_optional), kernel.prepare(model, shared)
    given = arrays if has_all else arrays[: kernel.signature.required]
    if entry(address, *shared, *given, *targets) != 0:
        raise AssertionError(f"{kernel.label} refused arguments that were checked")


class _Scratch(threading.local):
    """The work memory of each thread."""

    def __init__(self):
        self.arrays: dict[np.dtype, np.ndarray] = {}

    def array(self, size: int, dtype: np.dtype) -> np.ndarray:
        """An array of this thread's, with at least `size` numbers."""
        known = self.arrays.get(dtype)
        if known is None or known.size < size:
            known = self.arrays[dtype] = lined_up(size, dtype)
        return known


def lined_up(size: int, dtype: np.dtype) -> np.ndarray:
    """An array that starts at a cache line: in NumPy's arrays many vectors lie across two lines."""
    line = cpu.CACHE_LINE_BYTES
    memory = np.empty(size * dtype.itemsize + line, np.uint8)
    start = -memory.ctypes.data % line
    return memory[start : start + size * dtype.itemsize].view(dtype)


_scratch = _Scratch()


class Batch:
    """A kernel prepared for batches with one model, in one precision."""

    def __init__(self, kernel, model, shared, dtype: np.dtype):
        self.entry, self.dtype = kernel.batch(dtype), dtype
        self.address = model.table(kernel, dtype).address
        self.shapes = kernel.shapes(model, shared)[1]
        staged = sum(math.prod(s) for s in self.shapes if len(s) > 1)
        self.staged_bytes = staged * dtype.itemsize  # of matrices, for one state
        with_lanes = kernel.signature.lanes
        self.width = cpu.lanes(dtype.itemsize) if with_lanes else 1
        self.least_chunk = _LEAST_CHUNK if with_lanes else _LEAST_CHUNK_WITHOUT_LANES
        work = kernel.work.size(model.extents(kernel.signature.model))
        self.memory = (work + staged) * self.width
        inputs = kernel.signature.inputs
        self.left_out = [np.empty((0,) * (len(a.shape) + 1), dtype) for a in inputs]

    def run(self, inputs, out, threads, shared) -> list[np.ndarray] | None:
        """The outputs, if one thread is enough and the arrays fit unchanged; else None."""
        n = len(inputs[0])
        if not self._is_for_one_thread(n, threads):
            return None
        outputs = [np.empty((n, *s)) for s in self.shapes] if out is None else out
        arrays = (*inputs, *self.left_out[len(inputs) :], *outputs)
        return outputs if self.call(shared, arrays, False, n, 0, n) == 0 else None

    def call(self, shared, arrays, is_checked: bool, n: int, start: int, stop: int) -> int:
        """Evaluate states start..stop-1 of n; return 0, or 1 if the arrays do not fit."""
        scratch = _scratch.array(self.memory, self.dtype)
        how = how_to_write(n * self.staged_bytes)
        return self.entry(self.address, *shared, *arrays, scratch, is_checked, *how, start, stop)

    def _is_for_one_thread(self, n: int, threads: int | None) -> bool:
        """Whether one thread evaluates all of n > 0 states."""
        if threads is None:
            return 0 < n <= self.least_chunk
        is_number = type(threads) is int and threads > 0
        return is_number and (threads == 1 or n <= self.least_chunk) and n > 0

    def chunk(self, n: int, thread_count: int) -> int:
        """States of a chunk: whole blocks of lanes, so that results do not depend on threads."""
        if thread_count == 1 or n == 1:
            return n
        share = max(n // (thread_count * _CHUNKS_A_THREAD), self.least_chunk)
        return -(-share // self.width) * self.width


def _batch_of(kernel, model, shared, dtype) -> Batch:
    """The `Batch` of a kernel and a model; in float64 it is kept for later calls.

    Where outputs depend on the lengths of shared arrays, there is one for these lengths.
    """
    if dtype != _DOUBLE:
        return Batch(kernel, model, shared, dtype)
    key = (kernel, *map(len, shared)) if kernel.shared_matters else kernel
    if key not in model.prepared_batches:
        model.prepared_batches[key] = Batch(kernel, model, shared, dtype)
    return model.prepared_batches[key]


def _run_compiled(kernel, model, shared, rows, dtype, n, thread_count) -> None:
    batch = _batch_of(kernel, model, shared, dtype)
    chunk = batch.chunk(n, thread_count)
    if chunk >= n:
        batch.call(shared, rows, True, n, 0, n)
        return
    starts = itertools.count(0, chunk)  # threads share it without a lock: `next` is atomic
    # A chunk from `end` on would not fill a block of lanes: the chunk before it takes the rest.
    end = n - batch.width + 1

    def take_chunks() -> None:
        for start in starts:
            if start >= end:
                return
            stop = start + chunk if start + chunk < end else n
            batch.call(shared, rows, True, n, start, stop)

    workers.run(take_chunks, helpers=min(thread_count, -(-n // chunk)) - 1)
