"""How many steps are made in one call of a kernel, and Ctrl-C while they are made."""

from __future__ import annotations

import signal
import threading
from time import perf_counter
from types import FrameType, TracebackType

_MOST = 1000  # steps of a call
_LONGEST = 0.5  # s, what a call should take, so that Ctrl-C and a crash cost little


class Pace:
    """Steps of the next call: at most a second of the simulation, about half a second of work."""

    def __init__(self, dt: float, is_single: bool):
        self._most = 1 if is_single else max(1, min(_MOST, int(1.0 / dt + 0.5)))
        self.steps = self._most
        self._begun = perf_counter()

    def advance(self) -> None:
        """Tell that a call was made."""
        now = perf_counter()
        share = _LONGEST / max(now - self._begun, 1e-9)
        self.steps = max(1, min(self._most, int(self.steps * min(share, 10.0))))
        self._begun = now


class Uninterrupted:
    """A block that Ctrl-C ends only once it is done, so that time, states and recording agree.

    A second Ctrl-C ends it at once. Other handlers of the signal are left alone, and so are
    threads other than the main one, which it does not reach.
    """

    def __enter__(self) -> Uninterrupted:
        self._is_asked = False
        is_main = threading.current_thread() is threading.main_thread()
        self._is_held = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._is_held:
            signal.signal(signal.SIGINT, self._remember)
        return self

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self._is_asked:
            raise KeyboardInterrupt
        self._is_asked = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_held:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._is_asked and kind is None:
            raise KeyboardInterrupt
