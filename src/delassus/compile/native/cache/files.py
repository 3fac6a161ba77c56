"""Files with one compiled entry each: a mark, a checksum, and what Numba needs to load the entry.

A file that is damaged, or that is none of these, is no error: the caller compiles again and
replaces it. Neither is a full disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import tempfile
import warnings
from pathlib import Path

from .folders import CacheWarning, check_owner

_MARK = b"delassus kernel 1\n"
_CHECKSUM_BYTES = hashlib.sha256().digest_size
_START = len(_MARK) + _CHECKSUM_BYTES


class Damaged(Exception):
    """A file does not hold what it should."""


def read(path: Path) -> object | None:
    """What was written to a file; None if there is no file, or, with a warning, no good one."""
    try:
        with path.open("rb") as file:
            check_owner(os.fstat(file.fileno()), path)
            content = file.read()
        found = _unpack(content)
    except FileNotFoundError:
        return None
    except OSError as error:
        reject(path, error.strerror or str(error))
    except Damaged as error:
        reject(path, str(error))
    else:
        with contextlib.suppress(OSError):
            os.utime(path)  # for `remove_older`
        return found
    return None


def _unpack(content: bytes) -> object:
    checksum, payload = content[len(_MARK) : _START], content[_START:]
    if not content.startswith(_MARK) or hashlib.sha256(payload).digest() != checksum:
        raise Damaged("it is damaged")
    try:
        return pickle.loads(payload)
    except Exception as error:
        raise Damaged(f"it cannot be unpickled: {error}") from None


def reject(path: Path, why: str) -> None:
    """Warn that a file is not used."""
    warnings.warn(
        f"the compiled kernel in {path} cannot be used ({why}); it is compiled and kept anew",
        CacheWarning,
        stacklevel=2,
    )


_failures: set[Path] = set()  # folders that could not be written to


def write(path: Path, payload: bytes) -> bool:
    """Write a file as a whole or not at all; return whether it could be written.

    A folder that cannot be written to, as the disk is full for instance, gives one warning.
    """
    content = _MARK + hashlib.sha256(payload).digest() + payload
    try:
        _replace(path, content)
    except OSError as error:
        if path.parent not in _failures:
            _failures.add(path.parent)
            warnings.warn(
                f"compiled kernels cannot be kept in {path.parent} ({error.strerror or error}); "
                "they are compiled again in the next process",
                CacheWarning,
                stacklevel=2,
            )
        return False
    return True


def _replace(path: Path, content: bytes) -> None:
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(made, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(made)
        raise


def remove_older(folder: Path, name: str, keep: int = 8) -> None:
    """Remove all files `name.*` but those used last.

    Each of them is the same entry compiled from other sources. Several are kept, as installations
    and checkouts of the package may share the folder.
    """
    with contextlib.suppress(OSError):  # another process removes the same files, for instance
        found = sorted(folder.glob(f"{name}.*"), key=lambda path: path.stat().st_mtime)
        for path in found[:-keep]:
            path.unlink()
