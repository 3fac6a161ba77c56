"""Functions for the controls of steps that are compiled, so that no Python is between steps."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...checks import shown
from ...compile import Callback
from ...errors import DataTypeError, SettingError

_ARGUMENTS = "t, q, v, u"


class CompiledControl:
    """A function for the control of a step: see `compiled_control`.

    Called from Python it is the function itself.
    """

    def __init__(self, function: Callable[[float, np.ndarray, np.ndarray, np.ndarray], None]):
        if not inspect.isfunction(function):
            raise DataTypeError(f"a control to compile must be a function, got {shown(function)}")
        name = function.__name__
        try:
            inspect.signature(function).bind(*range(4))
        except TypeError:
            raise SettingError(
                f"the control {name} must take {_ARGUMENTS}: time, coordinates, velocities, and "
                "the control that it writes"
            ) from None
        self.function, self.name = function, name
        self._callback = Callback(function)
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__

    def __copy__(self) -> CompiledControl:
        return self  # it never changes

    def __deepcopy__(self, memo: dict) -> CompiledControl:
        return self

    def __reduce__(self) -> str:
        """Pickle finds it by its name, as it does functions."""
        place: Any = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            place = getattr(place, part, None)
        if place is not self:
            raise DataTypeError(
                f"the control {self.name} cannot be pickled: only one that a module has under this "
                "name is found again by another process"
            )
        return self.__qualname__

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> None:
        self.function(t, q, v, u)

    @property
    def address(self) -> int:
        """What kernels call it by. It is compiled when this is first asked for."""
        try:
            return self._callback.address
        except Exception as error:  # one of Numba's, which only the compile layer knows
            raise SettingError(f"the control {self.name} cannot be compiled: {error}") from error

    def fault(self, t: float, q: np.ndarray, v: np.ndarray, u: ArrayLike) -> str:
        """What is wrong with the control at a state: found by the uncompiled function."""
        x = np.array(u, float)
        try:
            self.function(t, q.copy(), v.copy(), x)
        except Exception as error:
            return f"{self.name} raised {type(error).__name__}: {error}"
        bad = np.flatnonzero(~np.isfinite(x))
        return f"{self.name} gave {x[bad[0]]} as number {bad[0]}" if len(bad) else self.name

    def __repr__(self) -> str:
        return f"<compiled control {self.name}({_ARGUMENTS})>"


def compiled_control(
    function: Callable[[float, np.ndarray, np.ndarray, np.ndarray], None],
) -> CompiledControl:
    """A function f(t, q, v, u) that `Simulator.rollout` takes as control, compiled by Numba.

    It is called before each step, with the time, the coordinates and velocities of a world, and
    writes the control to `u`, which holds `default_control` before. Worlds over several threads
    call it at once, so it must keep nothing.

    >>> @dl.compiled_control
    ... def swing(t, q, v, u):
    ...     u[0] = 20.0 * (math.sin(3.0 * t) - q[0]) - 2.0 * v[0]
    """
    return CompiledControl(function)
