"""A progress bar of steps, or none."""

from __future__ import annotations

from types import TracebackType


class Progress:
    """A bar while a `with` block runs, if it is to be shown."""

    def __init__(self, total: int, is_shown: bool):
        self.bar = None
        if is_shown:
            from tqdm import tqdm

            self.bar = tqdm(total=total, unit="step")

    def advance(self, count: int) -> None:
        """Tell of steps that were made."""
        if self.bar is not None:
            self.bar.update(count)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.close()
