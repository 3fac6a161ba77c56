"""The disk cache of compiled kernels.

Numba's own disk cache looks only at the file of the outermost function. So, after a change of a
helper in another file, it would load old code. Here the folder's name is a hash of all sources that
kernels may be made of, of the versions of Numba, llvmlite, NumPy and Python, and of the processor.
If any of them changes, the folder changes.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from .. import cpu
from . import files
from .folders import FOLDER_VARIABLE, CacheWarning, find_folder

__all__ = ["FOLDER_VARIABLE", "CacheWarning", "announce", "attach", "covers", "folder"]

_ENDING = ".kernel"
_PACKAGE = Path(__file__).resolve().parents[3]
# Folders of the package without code of kernels.
_WITHOUT_KERNELS = ("benchmarks", "cli", "viewer", "model/formats")


def source_hash(package: Path = _PACKAGE) -> str:
    """A hash of all sources that kernels may be made of, by relative path and content."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith(_WITHOUT_KERNELS):
            continue
        digest.update(name.encode() + b"\0")
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()


@cache
def fingerprint() -> str:
    """A short hash of all that compiled code depends on."""
    import llvmlite
    import numba
    import numpy

    parts = (
        source_hash(),
        numba.__version__,
        llvmlite.__version__,
        numpy.__version__,
        sys.implementation.cache_tag,
        cpu.name(),
        cpu.features(),
        str(cpu.vector_bytes()),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def folder() -> Path | None:
    """The folder for kernels of this version, created if needed; None if there can be none."""
    return find_folder(fingerprint())


def kept_entries() -> set[str]:
    """Names of the compiled entries in the folder."""
    where = folder()
    return {path.name.partition(".")[0] for path in where.glob(f"*{_ENDING}")} if where else set()


_said: set[str] = set()


def announce(kernel: str, is_kept: bool = True) -> None:
    """Print that a kernel is being compiled, once for each kernel."""
    if kernel not in _said:
        _said.add(kernel)
        where = "not kept: it is not of the package"
        if is_kept:
            where = f"once; kept in {folder()}" if folder() else "not kept"
        print(
            f"delassus: compiling {kernel} for {cpu.name()} ({where})",
            file=sys.stderr,
            flush=True,
        )


def covers(function: Callable) -> bool:
    """Whether a function's source is part of `source_hash`, that is, of this package."""
    return Path(function.__code__.co_filename).resolve().is_relative_to(_PACKAGE)


def attach(dispatcher, label: str, prepare: Callable[[], None]) -> None:
    """Make a dispatcher load its one entry from the folder, or compile it and save it there.

    Before it compiles, this is announced and `prepare` is called.
    """
    from numba.core.caching import NullCache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps

    where = folder()
    path = where and where / f"{dispatcher.py_func.__name__}{_ENDING}"

    class Cache(NullCache):
        def load_overload(self, sig, target_context):
            found = path and files.read(path)
            if found is not None:
                target_context.refresh()
                try:
                    return CompileResult._rebuild(target_context, *found)
                except Exception as error:
                    files.reject(path, f"{type(error).__name__}: {error}")
            announce(label)
            prepare()
            return None

        def save_overload(self, sig, data):
            # Code with addresses in it works in this process only.
            if path and not data.library.has_dynamic_globals:
                files.write(path, dumps(data._reduce()))

    dispatcher._cache = Cache()
