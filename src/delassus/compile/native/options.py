"""The options that kernels are compiled with."""

# Kernels hold no references that would have to be counted, and only kernels call their functions:
# without the code for both they compile in 0.6 of the time.
_LEAN = {"forceinline": True, "_nrt": False, "no_cfunc_wrapper": True}
# No flag here assumes that NaN and infinity do not occur: a user's NaN must come out as NaN.
FAST = {"fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy", **_LEAN}
# Code whose order of operations carries its accuracy.
EXACT = {"fastmath": {"contract"}, "error_model": "numpy", **_LEAN}
