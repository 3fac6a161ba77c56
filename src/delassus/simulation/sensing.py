"""What a simulator tells of its last step: coordinates, metrics, sensors. q and v can be set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..checks import shown
from ..constrained.rows.constraints import Constraints
from ..errors import ConvergenceError, SettingError, UnknownNameError
from ..model.model import Model
from ..model.parts.names import closest
from .given.starting import on_joints, states_of
from .runs import Worlds
from .told.failures import Watch
from .told.metrics import METRIC_NAMES


class Sensors:
    """The part of `Simulator` that tells of states. With `worlds` all arrays have an axis more.

    `sim.q = q` and `sim.v = v` move bodies to where joints hold; reactions and time stay. Worlds
    that have diverged begin anew at q, at rest. What is read cannot be written to, as a change of
    one coordinate alone opens loops: take `q = sim.q.copy()`, change it, and set `sim.q = q`.
    """

    model: Model
    dt: float
    worlds: int | None
    _worlds: Worlds
    _constraints: Callable[[], Constraints]
    _watch: Watch
    _why_not_ready: str

    def _shown(self, x: np.ndarray) -> np.ndarray:
        """A copy, without the axis of worlds if there is one world only."""
        return x[0].copy() if self.worlds is None else x.copy()

    @property
    def q(self) -> np.ndarray:
        """Coordinates, (nq,), which cannot be written to: see `Sensors`."""
        return _constant(self._shown(self._worlds.q))

    @q.setter
    def q(self, q: ArrayLike) -> None:
        q, v = states_of("q", q, self.model.nq, self.worlds), self._worlds.v.copy()
        v[~self._worlds.is_alive] = 0.0  # those that have diverged begin anew
        self._place(np.arange(self._worlds.count), q, v)
        self._why_not_ready = ""

    @property
    def v(self) -> np.ndarray:
        """Velocities, (nv,), which cannot be written to: see `Sensors`."""
        return _constant(self._shown(self._worlds.v))

    @v.setter
    def v(self, v: ArrayLike) -> None:
        if self._why_not_ready:
            raise ConvergenceError(f"reset to another state first: {self._why_not_ready}")
        v, own = states_of("v", v, self.model.nv, self.worlds), self._worlds.is_alive
        if not own.any():
            raise SettingError(
                "all worlds have diverged: give them coordinates first, by sim.q = q"
            )
        self._place(np.flatnonzero(own), self._worlds.q[own].copy(), v[own])

    def _place(self, own: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        """Move worlds to states near these, at which joints hold."""
        worlds = self._worlds
        q, v = on_joints(self._constraints(), q, v, self.worlds)
        poses, twists = worlds.system.state(q, v)
        is_ended = ~worlds.is_alive[own]
        if is_ended.any():
            parts = (own, poses, twists, q, v)
            worlds.revive(*(x[is_ended] for x in parts))
            self._watch.forget(own[is_ended])
        worlds.place(own, poses, twists, q, v)

    @property
    def accelerations(self) -> np.ndarray:
        """Change of velocities in the last step by its time, (nv,)."""
        return self._shown((self._worlds.v - self._worlds.before) / self.dt)

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        """What is known of the last step, by name."""
        told = self._worlds.metrics
        return {name: self._shown(told[:, k]) for k, name in enumerate(METRIC_NAMES)}

    @property
    def contacts(self) -> np.ndarray | list[np.ndarray]:
        """The present contacts, as an array of records; of many worlds a list of such arrays.

        Fields: `first` and `second`, names of bodies; `first_shape` and `second_shape`; `point`,
        `normal` from the first to the second, `distance`, `friction`; `force` on the second, that
        of the last step, in world axes. Contacts that are new since then have no force yet.
        """
        found = [self._worlds.contacts(world) for world in range(self._worlds.count)]
        return found[0] if self.worlds is None else found

    @property
    def joint_names(self) -> list[str]:
        """Names of all joints that have reactions: those of the tree, then loops."""
        return [joint.name for joint in self._worlds.system.joints]

    @property
    def reactions(self) -> np.ndarray:
        """Force and moment of each joint on the body it carries, (n_joints, 6), in N and N m.

        They act at the joint's frame on that body (of loops: at `frame`), in the axes of its frame
        on the other body. They are those of the constraint: torques of actuators are apart.
        """
        n = 6 * len(self._worlds.system.joints)
        return self._shown(self._worlds.sensed[:, :n].reshape(self._worlds.count, -1, 6))

    def reaction(self, joint: str) -> np.ndarray:
        """The reaction of one joint, (6,): see `reactions`."""
        names = self.joint_names
        if not isinstance(joint, str) or joint not in names:
            raise UnknownNameError(f"there is no joint {shown(joint)}{closest(joint, names)}")
        return self.reactions[..., names.index(joint), :]

    @property
    def actuator_forces(self) -> np.ndarray:
        """Force of each actuator within its range, (n_controls,)."""
        first = 6 * len(self._worlds.system.joints)
        return self._shown(self._worlds.sensed[:, first : -self.model.nv or None])

    @property
    def torques(self) -> np.ndarray:
        """What actuators do along each degree of freedom, within its effort limit, (nv,)."""
        n = self._worlds.sensed.shape[1]
        return self._shown(self._worlds.sensed[:, n - self.model.nv :])


def _constant(x: np.ndarray) -> np.ndarray:
    """An array that cannot be written to."""
    x.flags.writeable = False
    return x
