"""Files that all layers read and write: what is wrong with one is told by one error that names it.

A damaged file must not crash, hang or fill the memory. So numbers of entries are looked at before
anything is made of them, and what a file unpacks to is bounded: see `largest`.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .checks import shown
from .errors import (
    DelassusError,
    FileAccessError,
    FileFormatError,
    MissingDependencyError,
    MissingFileError,
    SettingError,
)

LARGEST = "DELASSUS_LARGEST_FILE"  # an environment variable, in MiB
MIB = 2**20
ARRAYS = 256 * MIB  # bytes that the arrays of a small file may unpack to
_HEADER = 10_000  # characters of the description of an array


def largest(usual: int) -> int:
    """Bytes that are read of a file: `usual`, or what DELASSUS_LARGEST_FILE says in MiB."""
    given = os.environ.get(LARGEST)
    if given is None:
        return usual
    try:
        found = int(float(given) * MIB)
    except (ValueError, OverflowError):
        found = 0
    if found <= 0:
        raise SettingError(f"{LARGEST} is a number of MiB, got {given!r}")
    return found


def too_large(size: int, most: int) -> str:
    """What is said of a file that would take too much memory."""
    return (
        f"it holds {size / MIB:.6g} MiB, and at most {most / MIB:.6g} are read; set the "
        f"environment variable {LARGEST} to more MiB if it is meant"
    )


@contextmanager
def blaming(path: Any, what: str = "") -> Iterator[None]:
    """Whatever a damaged file leads to in this block is one error that names the file.

    `what` says what it was read as, such as "is no problem file". Errors that name a file already,
    and missing packages, go through as they are.
    """
    try:
        yield
    except (FileFormatError, MissingDependencyError, MissingFileError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MemoryError):
            reason = "there is too little memory for it"
        elif isinstance(error, KeyError) and not isinstance(error, DelassusError):
            reason = f"it has no {reason}"
        told = " ".join(filter(None, (str(path), what)))
        raise FileFormatError(f"{told}: {reason}") from None


def arrays_of(content: bytes, path: Any, what: str) -> dict[str, np.ndarray]:
    """The arrays of an .npz file's bytes."""
    with blaming(path, what), zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        # What is stored as it is may be of any size: then the file itself is as large.
        size, most = sum(entry.file_size for entry in entries), largest(ARRAYS)
        if size > max(most, len(content)):
            raise ValueError(too_large(size, most))
        names = [entry.filename.removesuffix(".npy") for entry in entries]
        if len(set(names)) < len(names):
            raise ValueError("two of its arrays have one name")
        return {name: _array(archive.read(e)) for name, e in zip(names, entries, strict=True)}


def _array(content: bytes) -> np.ndarray:
    """The array of an .npy file's bytes, whose size is looked at before there is one."""
    file, npy = io.BytesIO(content), np.lib.format
    readers: dict[tuple, Callable] = {
        (1, 0): npy.read_array_header_1_0,
        (2, 0): npy.read_array_header_2_0,
    }
    version = npy.read_magic(file)
    if version not in readers:
        raise ValueError(f"an array of the unknown version {version}")
    shape, is_fortran, kind = readers[version](file, max_header_size=_HEADER)
    if kind.hasobject:
        raise ValueError("an array of Python objects, which are not read")
    start = file.tell()
    if any(n < 0 for n in shape) or math.prod(shape) * kind.itemsize != len(content) - start:
        raise ValueError(f"an array of shape {shape} that has not as many numbers")
    found = np.frombuffer(content, kind, math.prod(shape), start) if len(content) > start else None
    if found is None:
        return np.zeros(shape, kind)
    return found.reshape(shape, order="F" if is_fortran else "C").copy()


def whole_number(arrays: Mapping[str, np.ndarray], name: str) -> int:
    """An array of one whole number."""
    found = np.asarray(arrays[name])
    if found.shape != () or found.dtype.kind not in "iuf" or found != np.trunc(found):
        raise ValueError(f"{name} is no whole number: {shown(found.tolist())}")
    return int(found)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What goes wrong while a file is written is told as an error of this library."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"there is no folder {str(path.parent)!r}") from None
    except (OSError, ValueError) as error:  # ValueErrors are of names that no file can have
        reason = getattr(error, "strerror", None) or error
        raise FileAccessError(f"{str(path)!r} cannot be written: {reason}") from None


def content_of(path: Path) -> bytes:
    """What a regular file holds, of whatever size."""
    try:
        if path.exists() and not path.is_file():  # reading it may never end
            raise FileFormatError(f"{path} cannot be read: not a regular file")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileFormatError(f"{path} cannot be read: {reason}") from None
