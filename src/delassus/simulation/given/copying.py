"""Copies of a simulator: by `copy`, by pickle, and so for other processes.

Kernels, tables and memory belong to a process. A copy is made anew from what the simulator was
asked for, and goes on from its state.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


class Copies:
    """The part of `Simulator` that copies it. No copy shares anything that changes.

    A copy has the state, switches and failures of the original. It has no `recording`, and no
    viewer shows it.
    """

    _asked_for: dict[str, Any]  # arguments of `Simulator`
    _own_names: frozenset[str]  # of attributes; classes derived from `Simulator` may have more
    state: Callable[[], dict[str, np.ndarray]]

    def __copy__(self) -> Any:
        made, (kind, asked, *rest) = self.__reduce__()
        return made(kind, asked, *copy.deepcopy(rest))

    def __deepcopy__(self, memo: dict) -> Any:
        made, (kind, asked, *rest) = self.__reduce__()
        return made(kind, asked, *copy.deepcopy(rest, memo))  # models never change: they are shared

    def __reduce__(self) -> tuple:
        own = vars(self)
        choice = own["_choice"]
        asked = self._asked_for | {
            "integrator": choice.integrator,
            "solver": choice.solver,
            "solver_parameters": choice.parameters,
            "on_error": own["on_error"],
        }
        state = None if own["_why_not_ready"] else self.state()
        more = {name: x for name, x in own.items() if name not in self._own_names}
        return remade, (type(self), asked, state, list(own["failures"]), more)


def as_asked_for(method: Callable, given: dict[str, Any], **instead: Any) -> dict[str, Any]:
    """The arguments of a constructor among its local variables, safe from later changes."""
    names = [name for name in inspect.signature(method).parameters if name != "self"]
    return {name: copy.copy(given[name]) for name in names} | instead


def remade(kind: type, asked: dict, state: dict | None, failures: list, more: dict) -> Any:
    """A simulator from what one before was asked for, in the state of that."""
    simulator = next(k for k in kind.__mro__ if k.__module__.startswith(_PACKAGE))
    made = kind.__new__(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not collide was told of the first one
        simulator.__init__(made, **asked)
    if state is not None:
        made.set_state(state)
    vars(made).update(more)
    made.failures = failures
    return made


_PACKAGE = __name__.split(".")[0] + "."
