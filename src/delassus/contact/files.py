"""Problems in files.

An .npz file of `save` has the arrays delassus, free_velocity, bounds, friction, compliance and
target, the numbers n_joint_rows and n_limit_rows, and `format`, the number of this layout. What is
saved loads as it was, to the last bit.

FCLib's HDF5 files have a group fclib_local with a sparse matrix W, the vectors q and mu, and the
number spacedim; contacts have the rows N, T1, T2. They are read with h5py.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from ..checks import file_path
from ..errors import FileFormatError, MissingDependencyError
from ..extras import install_command
from ..files import (
    ARRAYS,
    arrays_of,
    blaming,
    content_of,
    largest,
    too_large,
    whole_number,
    writing,
)
from .problem import Problem

FORMAT = 1
_ARRAYS = ("delassus", "free_velocity", "bounds", "friction", "compliance", "target")
_NUMBERS = ("n_joint_rows", "n_limit_rows")


def save(problem: Problem, path: str | PathLike) -> None:
    """Write a problem to an .npz file."""
    place = file_path(path)
    parts = {name: getattr(problem, name) for name in (*_ARRAYS, *_NUMBERS)}
    with writing(place), place.open("wb") as file:
        np.savez_compressed(file, format=FORMAT, **parts)


def load(path: str | PathLike) -> Problem:
    """Read a problem from an .npz file of `save`, or from an HDF5 file of FCLib.

    Arrays that unpack to more than 256 MiB, or to more than the file's own size if that is larger,
    are refused; the environment variable DELASSUS_LARGEST_FILE sets another number of MiB.
    """
    place = file_path(path)
    if place.suffix.lower() in (".hdf5", ".h5"):
        return _load_fclib(place)
    given = arrays_of(content_of(place), place, "is no problem file")
    missing = [name for name in ("format", *_ARRAYS, *_NUMBERS) if name not in given]
    if missing:
        raise FileFormatError(f"{place} is no problem file: it has no {', '.join(missing)}")
    with blaming(place, "is no problem file"):
        layout = whole_number(given, "format")
    if layout != FORMAT:
        raise FileFormatError(f"{place} has layout {layout}, this version reads layout {FORMAT}")
    with blaming(place, "holds no problem"):
        counts = {name: whole_number(given, name) for name in _NUMBERS}
        return Problem(**{name: given[name] for name in _ARRAYS}, **counts)


def _load_fclib(place) -> Problem:
    try:
        import h5py
    except ImportError:
        raise MissingDependencyError(
            f"FCLib's files are read with h5py: {install_command('fclib')}"
        ) from None
    content_of(place)  # which tells what cannot be read at all
    with blaming(place, "has no local problem of FCLib"), h5py.File(place, "r") as file:
        group = file["fclib_local"]
        dimension = _count(group, "spacedim")
        if dimension != 3:
            raise FileFormatError(f"{place} is a problem in {dimension} dimensions, not in three")
        W = _sparse(group["W"])
        q, mu = _vector(group, "vectors/q"), _vector(group, "vectors/mu")
        if len(W) != len(q) or len(q) != 3 * len(mu):
            raise ValueError(f"W has {len(W)} rows, q has {len(q)} and mu {len(mu)} numbers")
        # Rows N, T1, T2 become T1, T2, N.
        order = np.arange(len(q)).reshape(-1, 3)[:, [1, 2, 0]].ravel()
        return Problem(W[np.ix_(order, order)], q[order], friction=mu)


def _vector(group, name: str) -> np.ndarray:
    """The numbers of a data set, whose size is looked at before it is read."""
    found = group[name]
    if found.dtype.kind not in "iuf":
        raise ValueError(f"{name} holds no numbers")
    size, most = found.size * found.dtype.itemsize, largest(ARRAYS)
    if size > max(most, _size_of(group)):
        raise ValueError(too_large(size, most))
    return np.ravel(found[()])


def _size_of(group) -> int:
    """Bytes of the file of a group."""
    return Path(group.file.filename).stat().st_size


def _count(group, name: str) -> int:
    """The whole number that a data set begins with."""
    found = _vector(group, name)
    if not len(found) or found[0] != np.trunc(found[0]):
        raise ValueError(f"{name} is no whole number")
    return int(found[0])


def _places(group, name: str) -> np.ndarray:
    """Whole numbers with a sign, whatever a file has."""
    found = _vector(group, name)
    if found.dtype.kind == "f":
        raise ValueError(f"{name} holds no whole numbers")
    return found.astype(np.int64)


def _sparse(group) -> np.ndarray:
    """A matrix of CSparse's layout: triplets, or compressed by columns (nz = -1) or rows (-2)."""
    m, n, nz = (_count(group, name) for name in ("m", "n", "nz"))
    if m != n or m < 0:
        raise ValueError(f"W is no square matrix: {m} by {n}")
    size, most = 8 * m * n, largest(ARRAYS)
    if size > max(most, _size_of(group)):
        raise ValueError(too_large(size, most))
    p, i = (_places(group, name) for name in ("p", "i"))
    x = _vector(group, "x")
    if nz >= 0:
        rows, columns, x = i[:nz], p[:nz], x[:nz]
    else:
        if len(p) != n + 1 or p[0] != 0 or (np.diff(p) < 0).any():
            raise ValueError("the columns of W do not follow each other")
        outer = np.repeat(np.arange(n), np.diff(p)) if p[-1] <= len(i) else i[:0]
        inner, x = i[: p[-1]], x[: p[-1]]
        rows, columns = (inner, outer) if nz == -1 else (outer, inner)
    if not len(rows) == len(columns) == len(x):
        raise ValueError(f"W has {len(x)} numbers for {len(rows)} rows and {len(columns)} columns")
    if len(x) < nz:
        raise ValueError(f"W has {len(x)} numbers, not {nz}")
    for places in (rows, columns):
        if (places < 0).any() or (places >= n).any():
            raise ValueError(f"W has a number at a place beyond {m} by {n}")
    found = np.zeros((m, n))
    np.add.at(found, (rows, columns), x)
    return found
