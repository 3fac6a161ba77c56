"""The bytes of a file, if it is one that can be read."""

from __future__ import annotations

from pathlib import Path

from ...errors import FileFormatError, MissingFileError
from ...files import MIB, largest, too_large

_LARGEST = 64 * MIB  # bytes


def is_irregular(path: Path) -> bool:
    """Whether something is there that is not a regular file: reading it may never end."""
    try:
        return path.exists() and not path.is_file()
    except (OSError, ValueError):  # of a name that no file can have, or of a closed folder
        return False


def file_content(path: Path) -> bytes:
    """What a regular file of a sane size holds."""
    most = largest(_LARGEST)
    if is_irregular(path):
        raise FileFormatError(f"{path}: cannot be read: not a regular file")
    try:
        with open(path, "rb") as file:
            content = file.read(most + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"there is no file {str(path)!r}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileFormatError(f"{path}: cannot be read: {reason}") from None
    if len(content) > most:
        raise FileFormatError(f"{path.name}: {too_large(path.stat().st_size, most)}")
    if not content.strip():
        raise FileFormatError(f"{path.name}: the file is empty")
    return content
