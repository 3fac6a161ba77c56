"""Constraints that are switched on and off while a simulation runs, as a clutch or a gripper is."""

from __future__ import annotations

import numpy as np

from ..checks import flag, shown
from ..constrained.rows.constraints import Constraints
from ..constrained.tasks.impacts import impact
from ..errors import SettingError, UnknownNameError
from ..model.model import Model
from ..model.parts.constraints import Constraint, Coupling, Gear, Implicit
from ..model.parts.names import closest
from .given.references import reference_at, referred
from .given.starting import Projection, close
from .runs import Worlds

_BETWEEN_JOINTS = (Gear, Coupling, Implicit)


class Switches:
    """The part of `Simulator` that switches constraints of its model, in all worlds at once."""

    model: Model
    worlds: int | None
    _worlds: Worlds
    _declared: Model  # without references
    _references: np.ndarray  # see `given.references`
    _last_held: Constraints | None = None

    @property
    def constraint_names(self) -> list[str]:
        """Names of the model's constraints, in their order."""
        system = self._worlds.system
        known = [*(x.name for x in system.joints[system.n_bodies :])]
        known += [x.name for x in system.couplings]
        return [known[place] for place in self._places()]

    def disable(self, name: str | int) -> None:
        """Let a constraint go; `name` is one of `constraint_names`, or its number."""
        self._worlds.switches[0, self._places()[self._number(name)]] = 0.0

    def enable(self, name: str | int, here: bool = False) -> Projection:
        """Let a constraint hold again; returns by how much positions and velocities changed.

        Positions are closed as in `reset`, unless `here`: then the present position is the new
        reference, of one world and a constraint between frames or a gear. Velocities change by
        an impact without bounce.
        """
        number = self._number(name)
        if flag("here", here):
            if self._worlds.count > 1:
                raise SettingError("here=True is for one world: each would need its own reference")
            references = self._references.copy()
            references[number] = reference_at(self._declared, number, self._worlds.q[0])
            self._refer(references)
        self._worlds.switches[0, self._places()[number]] = 1.0
        worlds = self._worlds
        own = np.flatnonzero(worlds.is_alive)
        before_q, before_v = worlds.q[own].copy(), worlds.v[own]
        cs = self._constraints()
        q = close(cs, before_q, self.worlds)
        v = np.asarray(impact(self.model, q, before_v, cs).velocity)
        worlds.place(own, *worlds.system.state(q, v), q, v)
        moved = np.abs(self.model.difference(before_q, q)).max(initial=0.0)
        return Projection(float(moved), float(np.abs(v - before_v).max(initial=0.0)))

    def _held(self) -> list[Constraint]:
        """Constraints that are switched on."""
        are_on = self._worlds.switches[0, self._places()]
        return [c for c, is_on in zip(self.model.constraints, are_on, strict=True) if is_on]

    def _constraints(self) -> Constraints:
        """Constraints that are switched on. They are kept: to make them takes a while."""
        held, kept = self._held(), self._last_held
        if kept is None or kept.model is not self.model or kept.declared != tuple(held):
            kept = self._last_held = Constraints(self.model, held)
        return kept

    def _number(self, name: str | int) -> int:
        names = self.constraint_names
        if isinstance(name, str) and name in names:
            return names.index(name)
        if isinstance(name, (int, np.integer)) and 0 <= name < len(names):
            return int(name)
        raise UnknownNameError(f"there is no constraint {shown(name)}{closest(name, names)}")

    def _places(self) -> list[int]:
        """Where the switch of each constraint is: those between joints come last."""
        given = self.model.constraints
        last = [isinstance(c, _BETWEEN_JOINTS) for c in given]
        order = sorted(range(len(given)), key=lambda k: last[k])
        return [order.index(k) for k in range(len(given))]

    def _refer(self, references: np.ndarray) -> None:
        """Let constraints hold at other references than before."""
        if not np.array_equal(references, self._references, equal_nan=True):
            model = referred(self._declared, references)
            self._worlds.use(model)
            self._references, vars(self)["model"] = references, model
