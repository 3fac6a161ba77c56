"""The disk cache of compiled kernels.

Numba's own disk cache looks only at the file of the outermost function. So, after a change of a
helper in another file, it would load old code. Here the name of an entry's file has a hash of all
that its machine code is made of: the kernel's function with all that it refers to, the entry's own
source, and the compile layer (see `contents`). The name of the folder has a hash of the versions of
Numba, llvmlite, NumPy and Python, and of the processor. If any of them changes, the name changes.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from .. import cpu
from . import files
from .contents import Untraceable, contents_hash, files_hash, is_of_package, reached_functions
from .folders import FOLDER_VARIABLE, CacheWarning, find_folder

__all__ = [
    "FOLDER_VARIABLE",
    "CacheWarning",
    "NotKept",
    "announce",
    "attach",
    "entry_key",
    "estimated_seconds",
    "folder",
    "kept_entries",
]

_ENDING = ".kernel"
_COMPILE_LAYER = __name__.rpartition(".native.")[0]
# The compile layer is hashed by its files. Here, when it is imported, they are still what is in
# memory. If they have changed when an entry is saved, then nobody knows what made that entry.
_LAYER_HASH = files_hash(_COMPILE_LAYER)
# Roughly, on a Neoverse-N1 core. A fast core of a desktop takes half of it.
_SECONDS_A_FUNCTION = 0.13
# Settings of Numba that change machine code.
_SETTINGS = (
    *("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE"),
    *("BOUNDSCHECK", "DEBUGINFO_DEFAULT"),
)


class NotKept(Exception):
    """An entry cannot be kept, as its changes would go unnoticed."""


@cache
def fingerprint() -> str:
    """A short hash of all that machine code depends on besides the code of this package."""
    import llvmlite
    import numba
    import numpy

    parts = (
        numba.__version__,
        llvmlite.__version__,
        numpy.__version__,
        sys.implementation.cache_tag,
        cpu.name(),
        cpu.features(),
        str(cpu.vector_bytes()),
        *(f"{name}={getattr(numba.config, name, None)}" for name in _SETTINGS),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def folder() -> Path | None:
    """The folder for this environment, created if needed; None if there can be none."""
    return find_folder(fingerprint())


def kept_entries() -> set[str]:
    """Names of the compiled entries in the folder."""
    where = folder()
    return {path.name.partition(".")[0] for path in where.glob(f"*{_ENDING}")} if where else set()


def entry_key(function: Callable, *others) -> str:
    """A short hash of all that an entry of a kernel is made of; `NotKept` if there can be none."""
    if not is_of_package(function.__module__):
        raise NotKept("it is not of the package")
    if _LAYER_HASH is None:
        raise NotKept("the files of the package cannot be read")
    try:
        return contents_hash(_LAYER_HASH, function, *others)[:16]
    except Untraceable as error:
        raise NotKept(f"its code refers to {error}") from None


def estimated_seconds(kernel_function: Callable) -> float:
    """About how long it takes to compile an entry of a kernel."""
    return _SECONDS_A_FUNCTION * len(reached_functions(kernel_function))


is_quiet = False  # whether compilations are not announced


def announce(entry: str, kernel_function: Callable, not_kept: str = "") -> None:
    """Print that an entry is being compiled, about how long it takes, and where it is kept."""
    if is_quiet:
        return
    seconds = estimated_seconds(kernel_function)
    about = f"about {max(round(seconds, -1 if seconds > 10 else 0), 1):.0f} s"
    if not_kept or folder() is None:
        kept = f"{about} in each process; not kept" + f": {not_kept}" * bool(not_kept)
    else:
        kept = f"once, {about}; kept in {folder()}"
    message = f"delassus: compiling {entry}, for {cpu.name()} ({kept})"
    print(message, file=sys.stderr, flush=True)


def attach(dispatcher, key: str, before_compiling: Callable[[], None]) -> None:
    """Make a dispatcher load its one entry from the folder, or compile it and save it there."""
    from numba.core.caching import NullCache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps

    where, name = folder(), dispatcher.py_func.__name__
    path = where and where / f"{name}.{key}{_ENDING}"

    class Cache(NullCache):
        def load_overload(self, sig, target_context):
            found = path and files.read(path)
            if found is not None:
                target_context.refresh()
                try:
                    return CompileResult._rebuild(target_context, *found)
                except Exception as error:
                    files.reject(path, f"{type(error).__name__}: {error}")
            before_compiling()
            return None

        def save_overload(self, sig, data):
            # Code with addresses in it works in this process only.
            if path is None or data.library.has_dynamic_globals:
                return
            if files_hash(_COMPILE_LAYER) == _LAYER_HASH:
                files.write(path, dumps(data._reduce()))
                files.remove_older(where, name)

    dispatcher._cache = Cache()
