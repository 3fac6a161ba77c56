"""The disk cache of compiled kernels.

Numba's own disk cache looks only at the file of the outermost function. So, after a change of a
helper in another file, it would load old code. Here the folder's name is a hash of all sources that
kernels may be made of, of the versions of Numba, llvmlite, NumPy and Python, and of the processor.
If any of them changes, the folder changes.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

from . import cpu

FOLDER_VARIABLE = "DELASSUS_CACHE_DIR"
_PACKAGE = Path(__file__).resolve().parent.parent.parent
# Folders of the package without code of kernels.
_WITHOUT_KERNELS = ("benchmarks", "cli", "viewer", "model/formats")


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept in the usual folder."""


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


def _preferred_root() -> Path:
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "delassus"


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def folder() -> Path:
    """The folder for kernels of this version, created if needed."""
    try:
        preferred = _preferred_root() / fingerprint()
    except RuntimeError:  # there is no home
        preferred = None
    if preferred is not None and _is_writable(preferred):
        return preferred
    fallback = (
        Path(tempfile.gettempdir())
        / f"delassus-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    )
    fallback = fallback / fingerprint()
    if not _is_writable(fallback):
        fallback = Path(tempfile.mkdtemp(prefix="delassus-"))
    warnings.warn(
        f"compiled kernels cannot be kept in {preferred}; using {fallback}. "
        f"Set {FOLDER_VARIABLE} to a writable folder to silence this.",
        CacheWarning,
        stacklevel=2,
    )
    return fallback


_said: set[str] = set()


def announce(kernel: str, is_kept: bool = True) -> None:
    """Print that a kernel is being compiled, once for each kernel."""
    if kernel not in _said:
        _said.add(kernel)
        where = f"once; kept in {folder()}" if is_kept else "not kept: it is not of the package"
        print(
            f"delassus: compiling {kernel} for {cpu.name()} ({where})",
            file=sys.stderr,
            flush=True,
        )


def covers(function: Callable) -> bool:
    """Whether a function's source is part of `source_hash`, that is, of this package."""
    return Path(function.__code__.co_filename).resolve().is_relative_to(_PACKAGE)


def attach(dispatcher, kernel: str, prepare: Callable[[], None]) -> None:
    """Make a dispatcher load from the folder and save to it.

    If the folder does not have what it needs, this is announced, and `prepare` is called before it
    compiles.
    """
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

    class Locator(_CacheLocator):
        def get_cache_path(self):
            return str(folder())

        def get_source_stamp(self):
            return fingerprint()

        def get_disambiguator(self):
            return "kernel"

        @classmethod
        def from_function(cls, py_func, py_file):
            return cls()

    class Implementation(CompileResultCacheImpl):
        _locator_classes = [Locator]

    class Cache(FunctionCache):
        _impl_class = Implementation

        def load_overload(self, sig, target_context):
            found = super().load_overload(sig, target_context)
            if found is None:
                announce(kernel)
                prepare()
            return found

    dispatcher._cache = Cache(dispatcher.py_func)
