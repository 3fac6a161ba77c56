"""Kernels and how they run. Only this part of the package imports Numba; see docs/compile.md."""

from .batch import Repeated, evaluate_checked, evaluate_plainly, is_compiled, is_single_usable
from .callbacks import Callback
from .kernel import FLOAT32, FLOAT64, Kernel, kernel, kernels
from .language.functions import function, routine
from .language.operations import (
    absolute,
    any_true,
    atan2,
    call_at,
    clear,
    clock,
    exp,
    far,
    log,
    maximum,
    minimum,
    near_sincos,
    part,
    present,
    presume,
    select,
    sincos,
    sqrt,
)
from .language.slots import Layout, either, layout, overlay, slots
from .native.cache import CacheWarning
from .symbolic import OperationCount, is_symbolic, operation_count, symbolic
from .tables import Tabulated

__all__ = [
    "FLOAT32",
    "FLOAT64",
    "CacheWarning",
    "Callback",
    "Kernel",
    "Layout",
    "OperationCount",
    "Repeated",
    "Tabulated",
    "absolute",
    "any_true",
    "atan2",
    "call_at",
    "clear",
    "clock",
    "either",
    "evaluate_checked",
    "evaluate_plainly",
    "exp",
    "far",
    "function",
    "is_compiled",
    "is_single_usable",
    "is_symbolic",
    "kernel",
    "kernels",
    "layout",
    "log",
    "maximum",
    "minimum",
    "near_sincos",
    "operation_count",
    "overlay",
    "part",
    "present",
    "presume",
    "routine",
    "select",
    "sincos",
    "slots",
    "sqrt",
    "symbolic",
]
