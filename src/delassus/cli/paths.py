"""Paths that commands write to."""

from __future__ import annotations

from pathlib import Path

from ..errors import FileAccessError


def check_writable(path: Path) -> None:
    """Find out before the work is done whether its result can be written."""
    is_new = not path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a"):
            pass
        if is_new:
            path.unlink()  # so that nothing is left where the work fails
    except OSError as error:
        raise FileAccessError(f"{str(path)!r} cannot be written: {error.strerror}") from None
