"""What a reader noticed about a file: gathered while reading, told in few warnings at the end."""

from __future__ import annotations

import warnings
from collections import Counter

_LISTED = 8  # items that a warning names before it only counts them


class ModelFileWarning(UserWarning):
    """A model file was read, but holds something that was ignored or that looks wrong."""


class Report:
    """Collects what is worth telling about one file."""

    def __init__(self, file: str):
        self.file = file
        self._ignored: Counter[str] = Counter()
        self._remarks: dict[str, list[str]] = {}

    def ignore(self, what: str, count: int = 1) -> None:
        """Something in the file that has no meaning here, such as `<gazebo>`."""
        self._ignored[what] += count

    def remark(self, subject: str, item: str) -> None:
        """Something odd: remarks on one subject become one warning that lists the items."""
        self._remarks.setdefault(subject, []).append(item)

    def messages(self) -> list[str]:
        """The warnings' texts."""
        result = [f"{self.file}: {subject}: {_list(x)}" for subject, x in self._remarks.items()]
        if self._ignored:
            counts = [f"{what} ({count})" for what, count in sorted(self._ignored.items())]
            result.append(f"{self.file}: ignored {', '.join(counts)}")
        return result

    def issue(self, stacklevel: int = 2) -> None:
        """Warn of everything that was collected."""
        for message in self.messages():
            warnings.warn(message, ModelFileWarning, stacklevel=stacklevel + 1)


def _list(items: list[str]) -> str:
    more = len(items) - _LISTED
    return ", ".join(items[:_LISTED]) + (f" and {more} more" if more > 0 else "")
