"""The options that kernels are compiled with. Importing this module imports Numba."""

from .pipeline import KernelCompiler

# Kernels need no reference counts, and their functions are called by kernels only. Without the code
# for both, they compile in 0.6 of the time.
_LEAN = {
    "pipeline_class": KernelCompiler,
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
# No flag lets the compiler assume that NaN and infinity do not occur: NaN in must give NaN out.
FAST = {"fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy", **_LEAN}
# For code whose accuracy depends on the order of operations.
EXACT = {"fastmath": {"contract"}, "error_model": "numpy", **_LEAN}
