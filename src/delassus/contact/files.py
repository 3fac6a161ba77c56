"""Problems in files.

An .npz file of `save` has the arrays delassus, free_velocity, bounds, friction, compliance and
target, the numbers n_joint_rows and n_limit_rows, and `format`, the number of this layout. What is
saved loads as it was, to the last bit.

FCLib's HDF5 files have a group fclib_local with a sparse matrix W, the vectors q and mu, and the
number spacedim; contacts have the rows N, T1, T2. They are read with h5py.
"""

from __future__ import annotations

import zipfile
from os import PathLike

import numpy as np

from ..checks import file_path
from ..errors import FileFormatError, MissingDependencyError, MissingFileError
from .problem import Problem

FORMAT = 1
_ARRAYS = ("delassus", "free_velocity", "bounds", "friction", "compliance", "target")
_NUMBERS = ("n_joint_rows", "n_limit_rows")


def save(problem: Problem, path: str | PathLike) -> None:
    """Write a problem to an .npz file."""
    parts = {name: getattr(problem, name) for name in (*_ARRAYS, *_NUMBERS)}
    with file_path(path).open("wb") as file:
        np.savez_compressed(file, format=FORMAT, **parts)


def load(path: str | PathLike) -> Problem:
    """Read a problem from an .npz file of `save`, or from an HDF5 file of FCLib."""
    place = file_path(path)
    if not place.is_file():
        raise MissingFileError(f"there is no file {place}")
    if place.suffix.lower() in (".hdf5", ".h5"):
        return _load_fclib(place)
    try:
        with np.load(place, allow_pickle=False) as found:
            given = {name: found[name] for name in found.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FileFormatError(f"{place} is no problem file: {error}") from None
    missing = [name for name in ("format", *_ARRAYS, *_NUMBERS) if name not in given]
    if missing:
        raise FileFormatError(f"{place} is no problem file: it has no {', '.join(missing)}")
    if int(given["format"]) != FORMAT:
        raise FileFormatError(
            f"{place} has layout {int(given['format'])}, this version reads layout {FORMAT}"
        )
    counts = {name: int(given[name]) for name in _NUMBERS}
    return Problem(**{name: given[name] for name in _ARRAYS}, **counts)


def _load_fclib(place) -> Problem:
    try:
        import h5py
    except ImportError:
        raise MissingDependencyError(
            "FCLib's files are read with h5py: pip install 'delassus[fclib]'"
        ) from None
    try:
        with h5py.File(place, "r") as file:
            group = file["fclib_local"]
            dimension = int(np.ravel(group["spacedim"])[0])
            W = _sparse(group["W"])
            q, mu = np.ravel(group["vectors/q"]), np.ravel(group["vectors/mu"])
    except (OSError, KeyError) as error:
        raise FileFormatError(f"{place} has no local problem of FCLib: {error}") from None
    if dimension != 3:
        raise FileFormatError(f"{place} is a problem in {dimension} dimensions, not in three")
    # Rows N, T1, T2 become T1, T2, N.
    order = np.arange(len(q)).reshape(-1, 3)[:, [1, 2, 0]].ravel()
    return Problem(W[np.ix_(order, order)], q[order], friction=mu)


def _sparse(group) -> np.ndarray:
    """A matrix of CSparse's layout: triplets, or compressed by columns (nz = -1) or rows (-2)."""
    m, n, nz = (int(np.ravel(group[name])[0]) for name in ("m", "n", "nz"))
    p, i, x = (np.ravel(group[name]) for name in ("p", "i", "x"))
    if nz >= 0:
        rows, columns, x = i[:nz], p[:nz], x[:nz]
    else:
        outer = np.repeat(np.arange(len(p) - 1), np.diff(p))
        inner, x = i[: p[-1]], x[: p[-1]]
        rows, columns = (inner, outer) if nz == -1 else (outer, inner)
    found = np.zeros((m, n))
    np.add.at(found, (rows, columns), x)
    return found
