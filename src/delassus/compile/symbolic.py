"""Kernels on CasADi symbols: expressions, functions, operation counts.

Every public function takes symbols in place of arrays, `casadi.SX` columns or NumPy arrays of them.
`symbolic` makes a `casadi.Function` of it; `operation_count` counts what that function does.

A trace has no numbers to test. So it contains all iterations that a function is allowed to make,
and none of the extra steps that rare states need (see `language.operations.presume`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import items, shown
from ..errors import DataTypeError, MissingDependencyError, ShapeError, UnknownNameError
from ..extras import install_command

# Arguments of public functions that may be symbols, and their shapes for one state.
_SHAPES = {
    "q": ("nq",),
    "q0": ("nq",),
    "q1": ("nq",),
    "v": ("nv",),
    "a": ("nv",),
    "tau": ("nv",),
    "u": ("nu",),
    "dq": ("nv",),
    "dv": ("nv",),
    "da": ("nv",),
    "dtau": ("nv",),
    "w": ("nv",),
    "x": ("nv",),
    "external_forces": ("n_bodies", 6),
}


def _casadi():
    try:
        import casadi
    except ImportError:
        raise MissingDependencyError(f"symbols need CasADi: {install_command('casadi')}") from None
    return casadi


def is_symbolic(x) -> bool:
    """Whether an argument is a CasADi expression or an array that holds one."""
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(is_symbolic(e) for e in x.flat)
    return type(x).__module__.startswith("casadi")


def trace(kernel, model, inputs, shared) -> list:
    """Run a kernel's source on symbols; outputs are SX, or arrays of SX beyond two dimensions."""
    arguments = kernel.signature.inputs
    input_shapes, output_shapes = kernel.shapes(model, shared)
    states = [
        _flat_symbols(a, x, shape)
        for a, x, shape in zip(arguments, inputs, input_shapes, strict=True)
    ]
    outputs = [np.zeros(int(np.prod(shape)), object) for shape in output_shapes]
    work = kernel.work_memory(model, np.dtype(object))
    arrays = model.arrays(kernel.signature.model, np.dtype(np.float64))
    kernel.function(arrays, *shared, *states, *outputs, work)
    return [_as_symbol(x, shape) for x, shape in zip(outputs, output_shapes, strict=True)]


def _flat_symbols(a, x, shape) -> np.ndarray:
    casadi = _casadi()
    size = int(np.prod(shape))
    if isinstance(x, casadi.MX):
        raise DataTypeError(
            f"{a.name} is a casadi.MX; make a function of SX with dl.symbolic and call it with MX"
        )
    if isinstance(x, (casadi.SX, casadi.DM)):
        # CasADi stores by columns, the library by rows.
        flat = np.array(casadi.vertsplit(casadi.vec(casadi.SX(x).T)), object) if x.numel() else []
        flat = np.array(flat, object)
    else:
        flat = np.array(x, object).reshape(-1)
    if a.optional and flat.size == 0:
        return flat
    if flat.size != size:
        raise ShapeError(f"{a.name} must have {size} entries for this model, got {flat.size}")
    return flat


def _as_symbol(x: np.ndarray, shape):
    casadi = _casadi()
    if len(shape) > 2:
        return x.reshape(shape)
    rows, columns = (*shape, 1, 1)[:2]
    return (
        casadi.reshape(casadi.vertcat(*x), columns, rows).T if columns > 1 else casadi.vertcat(*x)
    )


def symbolic(
    function: Callable,
    model,
    *,
    with_external_forces: bool = False,
    outputs: Sequence[str] | None = None,
    **options,
):
    """A `casadi.Function` of a public function for one state of a model.

    Its arguments are those of the function, in order: `symbolic(dl.forward_dynamics, model)` takes
    q, v and tau, and external forces (n_bodies, 6) if asked for. Further options go to the function
    unchanged: `symbolic(dl.frame_jacobian, model, frame="tip")`. If a function has several results,
    `outputs` names those to keep. The trace contains all iterations that the options allow.
    """
    casadi = _casadi()
    if not callable(function):
        raise DataTypeError(
            f"expected a function such as dl.forward_dynamics, got {shown(function)}"
        )
    if not hasattr(model, "dimensions"):
        raise DataTypeError(f"expected a Model, got {type(model).__name__}")
    if outputs is not None:
        outputs = items("outputs", [outputs] if isinstance(outputs, str) else outputs, str)
    names, symbols = [], []
    for name in inspect.signature(function).parameters:
        if name in options or name not in _SHAPES:
            continue
        if name == "external_forces" and not with_external_forces:
            continue
        extents = [model.dimensions.get(e, e) for e in _SHAPES[name]]
        names.append(name)
        symbols.append(casadi.SX.sym(name, *extents))
    if not names:
        raise DataTypeError(f"{function!r} has no argument that could be a symbol")
    result = function(model, **dict(zip(names, symbols, strict=True)), **options)
    results = _named_results(result)
    for name in outputs or ():
        if name not in results:
            known = ", ".join(map(repr, results))
            raise UnknownNameError(f"{function.__name__} gives {known}, not {name!r}")
    kept = {name: results[name] for name in outputs or results}
    flat = [casadi.vertcat(*r.ravel()) if isinstance(r, np.ndarray) else r for r in kept.values()]
    return casadi.Function(function.__name__, symbols, flat, names, list(kept))


def _named_results(result) -> dict[str, object]:
    """The results of a function, by name."""
    if hasattr(result, "_fields"):
        return {name: getattr(result, name) for name in result._fields}
    return {"result": result}


@dataclass(frozen=True)
class OperationCount:
    """Scalar operations of one evaluation; multiplications by zero and one are not counted."""

    add: int
    mul: int
    div: int
    sqrt: int
    trig: int
    other: int

    @property
    def total(self) -> int:
        """All operations."""
        return self.add + self.mul + self.div + self.sqrt + self.trig + self.other


def operation_count(function: Callable, model, **options) -> OperationCount:
    """Count the operations of a public function on a model, as the papers count them.

    Options are those of `symbolic` and of the function. With `outputs`, only operations that these
    results need are counted: `outputs=("acceleration", "multipliers")` leaves out the residuals.
    """
    casadi = _casadi()
    kinds = {
        "add": ("OP_ADD", "OP_SUB", "OP_TWICE"),
        "mul": ("OP_MUL", "OP_SQ"),
        "div": ("OP_DIV", "OP_INV"),
        "sqrt": ("OP_SQRT",),
        "trig": ("OP_SIN", "OP_COS", "OP_TAN", "OP_ASIN", "OP_ACOS", "OP_ATAN", "OP_ATAN2"),
    }
    kind_of = {getattr(casadi, op): kind for kind, ops in kinds.items() for op in ops}
    free = {casadi.OP_CONST, casadi.OP_INPUT, casadi.OP_OUTPUT, casadi.OP_ASSIGN, casadi.OP_NEG}
    traced = symbolic(function, model, **options)
    counts = dict.fromkeys([*kinds, "other"], 0)
    for k in range(traced.n_instructions()):
        op = traced.instruction_id(k)
        if op not in free:
            counts[kind_of.get(op, "other")] += 1
    return OperationCount(**counts)
