"""Attributes of a simulator that cannot be set: errors say where that is asked for instead."""

from __future__ import annotations

import inspect
from typing import Any

from ...errors import ImmutableError
from ...model.parts.names import closest, known_name

ON_ERROR = ("raise", "strict", "warn", "record")
_LISTS = ("failures", "recording")
_CHOSEN = ("integrator", "solver", "solver_parameters")


class Attributes:
    """The part of `Simulator` that looks at what is set once it is made."""

    def __setattr__(self, name: str, value: Any) -> None:
        if "_own_names" in vars(self) and not name.startswith("_"):
            value = self._settable(name, value)
        object.__setattr__(self, name, value)

    def _settable(self, name: str, value: Any) -> Any:
        """A value that an attribute can take, or an error."""
        known = getattr(type(self), name, None)
        if (isinstance(known, property) and known.fset is not None) or name in _LISTS:
            return value
        if name == "on_error":
            return known_name(name, value, ON_ERROR)
        if name in _CHOSEN:
            raise ImmutableError(f"{name} is changed by sim.use({name}=...)")
        if name in self._asked_for:
            raise ImmutableError(f"{name} cannot be changed: give Simulator(..., {name}=...)")
        if name in self._own_names or known is not None:
            raise ImmutableError(f"{name} of a Simulator is told by it, and cannot be set")
        if name not in vars(self) and not self._is_derived():
            names = [n for n, _ in inspect.getmembers(type(self)) if not n.startswith("_")]
            near = closest(name, [*names, *self._asked_for])
            raise ImmutableError(f"a Simulator has no attribute {name!r}{near}")
        return value

    def _is_derived(self) -> bool:
        """Whether the class is one of a user's, which may have attributes of its own."""
        return not type(self).__module__.startswith(__name__.split(".")[0] + ".")
