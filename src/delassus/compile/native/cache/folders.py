"""Where compiled kernels are kept: a folder that nobody but this user can write to.

Files of the cache are unpickled, and their machine code is run. So whoever can write to the folder
can run code as this user. A folder that belongs to another user, or that others can write to, is
neither read nor written. This matters most for the folder for temporary files, where everybody may
have made a folder of the expected name.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import warnings
from pathlib import Path

FOLDER_VARIABLE = "DELASSUS_CACHE_DIR"
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept in the usual folder, or a file there cannot be used."""


def find_folder(name: str) -> Path | None:
    """The folder `name` in the user's cache or, with a warning, in the folder for temporary files.

    It is made if needed. Without a folder that can be used the answer is None, with a warning.
    """
    try:
        preferred = _preferred_root()
    except RuntimeError:  # there is no home
        preferred, why = None, "this user has no home"
    else:
        try:
            # The user may have put a link there, to another disk for instance.
            preferred.mkdir(0o700, parents=True, exist_ok=True)
            return _private_folder(preferred.resolve(), name)
        except OSError as error:
            why = _explain(error)
    place = f"in {preferred} ({why})" if preferred else f"({why})"
    problem = f"compiled kernels cannot be kept {place}"
    remedy = f"Set {FOLDER_VARIABLE} to a folder that only you can write to."
    user = os.geteuid() if hasattr(os, "geteuid") else "cache"
    fallback = Path(tempfile.gettempdir()) / f"delassus-{user}"
    try:
        found = _private_folder(fallback, name)
    except OSError as error:
        _warn(f"{problem}, nor in {fallback} ({_explain(error)}); they are not kept. {remedy}")
        return None
    _warn(f"{problem}; using {found}. {remedy}")
    return found


def _preferred_root() -> Path:
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "delassus"


def _private_folder(root: Path, name: str) -> Path:
    for folder in (root, root / name):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(0o700)
        _check_folder(folder)  # perhaps somebody else made it
    return root / name


def _check_folder(folder: Path) -> None:
    """Raise an OSError unless this is a folder, and no link, that only this user can write to."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{folder} is no folder")
    check_owner(status, folder)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} cannot be written to")


def check_owner(status: os.stat_result, path: Path) -> None:
    """Raise an OSError unless a file or folder belongs to this user, and others cannot write."""
    if not hasattr(os, "geteuid"):  # Windows: temporary folders and homes are of one user
        return
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user")
    if status.st_mode & _OTHERS_MAY_WRITE:
        raise PermissionError(f"others can write to {path}; `chmod go-w {path}` forbids it")


def _explain(error: OSError) -> str:
    return error.strerror or str(error)


def _warn(message: str) -> None:
    warnings.warn(message, CacheWarning, stacklevel=2)
