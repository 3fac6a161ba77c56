"""Machine code for entries only, and not for each function that is inlined into them.

Numba makes a library of every function that it compiles: it links in the libraries of all functions
that are called, runs LLVM's passes over all of it, and makes machine code. The functions of a
kernel, up to 500, all end up inside its entry, and nobody runs the machine code of their own.

A `_LazyLibrary` keeps the code of its function as it is until somebody asks for its address, which
happens for entries only. Then it links in all that is called, directly or through others, once, and
LLVM's passes run over that once. Routines stay functions of their own, inside the module of the
entry.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import ClassVar

from numba.core import codegen, itanium_mangler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment

from ..language.functions import routines

# Internals of Numba that are relied upon. Where one is missing, Numba compiles in its own way.
_OF_LIBRARIES = (
    *("finalize", "get_pointer_to_function", "_ensure_finalized"),
    *("_optimize_functions", "_finalize_final_module", "_raise_if_finalized"),
    *("_get_module_for_linking",),
)
_OF_GENERATORS = (
    *("create_library", "set_env", "_library_class", "_engine"),
    *("_data_layout", "_module_pass_manager"),
)


class _LazyLibrary(codegen.JITCodeLibrary):
    """The code of one function, and no machine code before it is needed."""

    _passes: ClassVar[dict] = {}  # options of LLVM's passes over an entry and all that it calls
    _has_machine_code = False

    def get_pointer_to_function(self, name):
        # Numba asks all functions for their wrappers for Python, which only entries have.
        if not self._has_machine_code:
            if name not in self._defined_names():
                return 0
            self._ensure_finalized()
            self._link_all()
            self._make_machine_code()
        return super().get_pointer_to_function(name)

    def _defined_names(self) -> set[str]:
        return {f.name for f in self._final_module.functions if not f.is_declaration}

    def _optimize_functions(self, module):
        # Numba's option for this would compile a function again for callers with other options.
        kept = {f.name for f in _routines_in(module)}
        for f in module.functions:
            if not f.is_declaration:
                f.add_function_attribute("noinline" if f.name in kept else "alwaysinline")
        module.data_layout = self._codegen._data_layout  # the passes come with those of modules

    def finalize(self):
        """What Numba does here is left until machine code is needed."""
        self._raise_if_finalized()
        self._finalized = True

    def _link_all(self):
        """Link in all that is called, directly or through others, and optimise it."""
        for library in self._reached():
            self._reload_init.update(library._reload_init)
        self._link_into(self._final_module)
        # What only this module calls need not take arguments that it does not use.
        for f in _routines_in(self._final_module):
            f.linkage = "internal"
        passes, builder = self._codegen._module_pass_manager(**self._passes)
        passes.run(self._final_module, builder)
        self._final_module.verify()

    def _link_into(self, module) -> None:
        for library in self._reached():
            is_lazy = isinstance(library, _LazyLibrary)
            own = library._own_module() if is_lazy else library._get_module_for_linking()
            module.link_in(own, preserve=True)

    def _own_module(self):
        return super()._get_module_for_linking()

    def _get_module_for_linking(self):
        """For libraries of Numba's own kind, which link in no more than this."""
        if self._has_machine_code:
            return self._own_module()
        whole = self._own_module().clone()
        self._link_into(whole)
        return whole

    def _reached(self) -> list:
        """Libraries of all functions that are called. Those of Numba's own kind hold theirs."""
        found, left = {}, [self]
        while left:
            library = left.pop()
            if library not in found:
                found[library] = True
                left += library._linking_libraries if isinstance(library, _LazyLibrary) else []
        return [library for library in found if library is not self]

    def _finalize_final_module(self):
        """What is loaded has its machine code already."""
        self._make_machine_code()
        self._finalized = True

    def _make_machine_code(self):
        self._has_machine_code = True
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self.codegen.set_env(variable.name, environment)


class _ScalarLibrary(_LazyLibrary):
    """That of a kernel without lanes.

    LLVM packs numbers side by side, such as the six of a row of a block, into vectors: a step of
    simulation takes 0.9 of the time. Its vectors over turns of a loop bring nothing here.
    """

    _passes: ClassVar[dict] = {"opt": 2, "loop_vectorize": False, "slp_vectorize": True}


def _routines_in(module) -> list:
    """The routines (`@routine`) among the functions that a module defines."""
    beginnings = tuple(
        f"_Z{itanium_mangler.mangle_identifier(name).removesuffix('E')}{end}"
        for name in routines
        for end in "BE"
    )
    return [f for f in module.functions if not f.is_declaration and f.name.startswith(beginnings)]


@contextlib.contextmanager
def machine_code_for_entries_only(target_context, has_lanes: bool = True) -> Iterator[None]:
    """Let Numba make lazy libraries, unless its internals are not as expected.

    Without lanes, it is left to LLVM to find numbers that one instruction can compute together.
    """
    generator = target_context.codegen()
    with global_compiler_lock, _no_garbage_collection():
        if not _is_as_expected(generator):
            yield
            return
        set_env = generator.set_env

        def set_env_if_defined(name, environment):
            if generator._engine.is_symbol_defined(name):  # else there is no machine code yet
                set_env(name, environment)

        library = _LazyLibrary if has_lanes else _ScalarLibrary
        generator._library_class, generator.set_env = library, set_env_if_defined
        try:
            yield
        finally:
            del generator._library_class, generator.set_env


def _is_as_expected(generator) -> bool:
    return (
        all(hasattr(codegen.JITCodeLibrary, name) for name in _OF_LIBRARIES)
        and all(hasattr(generator, name) for name in _OF_GENERATORS)
        and generator._library_class is codegen.JITCodeLibrary
        and hasattr(generator._engine, "is_symbol_defined")
    )


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Numba keeps nearly all that it makes, so that a tenth of its time was a vain search."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
