"""Functions of users that kernels call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from .batch import is_compiled
from .language.operations import callbacks


class Callback:
    """A user's function f(t, q, v, u), compiled by itself when its address is asked for.

    It lives as long as this object.
    """

    def __init__(self, function: Callable):
        self.function = function

    @cached_property
    def _compiled(self) -> Any:
        from .native.callbacks import compiled_callback

        return compiled_callback(self.function)

    @property
    def address(self) -> int:
        """What `call_at` takes."""
        if is_compiled():
            return self._compiled.address
        callbacks[id(self)] = self.function
        return id(self)
