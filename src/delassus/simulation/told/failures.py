"""What goes wrong in a simulation, with the time, the world, and the names of what it is about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import number
from ...errors import DivergenceError, SettingError, SimulationError
from ...maximal.system import MaximalSystem
from ...model.model import Model
from .metrics import METRIC

DIVERGED, NOT_CONVERGED, UNSTEERED = "diverged", "not converged", "control"
INEXACT = "natural map"
LEFT, DEEP, APART, BEYOND = "joint velocity", "penetration", "joint error", "joint limit"
# Kinds by the metric that tells of them; these metrics stand one after the other.
_WATCHED = {
    "natural_map": INEXACT,
    "relative_natural_map": NOT_CONVERGED,
    "joint_velocity": LEFT,
    "joint_error": APART,
    "penetration": DEEP,
    "limit_error": BEYOND,
}
_FIRST = METRIC.natural_map
WATCHED = slice(_FIRST, _FIRST + len(_WATCHED))
_DEEP, _APART = list(_WATCHED).index("penetration"), list(_WATCHED).index("joint_error")
_FASTEST = 1e6
# m, of bodies that bounds are meant for: contacts of larger ones may be deeper, joints of longer
# links open by more. Bodies below the second size may not be as deep: at most by half of it.
_LARGE, _SMALL = 0.5, 0.1
_MOST_NAMES = 3


@dataclass(frozen=True)
class Bounds:
    """What a step may reach before it counts as a failure; infinity switches a check off.

    `relative_natural_map` is that of the contact solver, relative to the velocities and reactions
    of the step, and `natural_map` the one in N s and m/s, which no number fits for all masses;
    `joint_velocity` is what joints have left in m/s or rad/s, `joint_error` a distance or an angle
    by which they are pulled apart, `penetration` the depth of a contact, and `limit_error` by how
    much a coordinate is beyond its limit.

    Where bodies are larger than half a metre, or links longer, `penetration` and `joint_error` grow
    with them: 0.05 m stands for a tenth of them. Bodies smaller than 0.1 m may be as deep as that
    part of their size which `penetration` is of 0.1 m.

    A joint that is open by more than `torn` of the largest link of the model, or by more than so
    many radians, for ten steps in succession, ends the world, as velocities do that are not finite.
    Soft joints may be open.
    """

    natural_map: float = float("inf")
    joint_velocity: float = 0.1
    joint_error: float = 0.05
    penetration: float = 0.05
    limit_error: float = 0.05
    torn: float = 0.05
    relative_natural_map: float = 0.01

    def __post_init__(self) -> None:
        for name in (*_WATCHED, "torn"):
            value = number(f"the bound of {name}", getattr(self, name))
            if not value >= 0.0:
                raise SettingError(f"the bound of {name} must not be negative, got {value}")
            object.__setattr__(self, name, value)

    def packed(self) -> np.ndarray:
        """The bounds in the order of the metrics."""
        return np.array([getattr(self, name) for name in _WATCHED])


def largest_link(model: Model) -> float:
    """The largest distance in a body between its joint, its centre of mass and a joint it carries.

    Only bodies that joints hold count; 1 m where there is nothing to measure.
    """
    lengths = [0.0]
    for body in model.bodies:
        lengths.append(float(np.linalg.norm(body.inertia.center)))
        if body.parent >= 0:
            lengths.append(float(np.linalg.norm(body.placement.translation)))
    return max(lengths) or 1.0


@dataclass(frozen=True)
class Failure:
    """Something that went wrong: its kind, the step and the time, the world, where, how much.

    Kinds are "diverged", "control", "not converged", "natural map", "joint velocity",
    "joint error", "penetration" and "joint limit". The time is that at the end of the step. `where`
    names bodies or joints, or says what a control did.
    """

    kind: str
    time: float
    step: int
    world: int | None
    where: str
    value: float

    def __str__(self) -> str:
        who = "" if self.world is None else f"world {self.world}: "
        what = {
            DIVERGED: "diverged",
            UNSTEERED: "a control cannot be used",
            NOT_CONVERGED: f"contacts are not solved, the relative natural map is {self.value:.3g}",
            INEXACT: f"contacts did not converge, the natural map is {self.value:.3g}",
            LEFT: f"joints did not converge, one moves apart at {self.value:.3g}",
            DEEP: f"bodies penetrate by {self.value:.3g} m",
            APART: f"a joint is pulled apart by {self.value:.3g}",
            BEYOND: f"a joint is beyond its limit by {self.value:.3g}",
        }[self.kind]
        about = f" ({self.where})" if self.where else ""
        return f"{who}{what} at {self.time:.4f} s, step {self.step}{about}"


def error_of(failures: list[Failure], recording: object) -> SimulationError:
    """The exception for failures."""
    kind = DivergenceError if any(f.kind == DIVERGED for f in failures) else SimulationError
    more = f"; and {len(failures) - 1} more, see sim.failures" if len(failures) > 1 else ""
    return kind(f"{failures[0]}{more}", tuple(failures), recording)


class Watch:
    """Looks for failures in what steps tell. What is out of bounds is told when it begins."""

    def __init__(
        self,
        bounds: Bounds,
        system: MaximalSystem,
        worlds: int,
        is_many: bool,
        sizes: np.ndarray | None = None,
    ):
        self.bounds, self.system, self.is_many = bounds.packed(), system, is_many
        self.bounds[_APART] *= max(1.0, largest_link(system.model) / _LARGE)
        sizes = np.full(system.n_bodies + 1, _LARGE) if sizes is None else sizes
        self.depths = np.maximum(np.minimum(1.0, sizes / _SMALL), sizes / _LARGE)
        self.row_names = [
            x.name for x in (*system.joints, *system.couplings) for _ in range(x.rows)
        ]
        self.outside = np.zeros((worlds, len(_WATCHED)), bool)
        self._bounds, self._is_outside = self.bounds.tolist(), [False] * len(_WATCHED)
        self._bounds[_DEEP] *= min(1.0, self.depths.min())

    def is_calm(self, told: np.ndarray) -> bool:
        """Whether `look` has nothing to find in one step of one world; False if in doubt."""
        if len(told) > 1:
            return False
        watched = told.tolist()[0][WATCHED]
        return [x > y for x, y in zip(watched, self._bounds, strict=True)] == self._is_outside

    def look(self, metrics: np.ndarray, first: int, start: float, dt: float) -> list[Failure]:
        """Failures in metrics (worlds, steps, ...) of steps from number `first` on."""
        is_outside = metrics[:, :, WATCHED] > self.bounds  # NaN of failed worlds is not
        is_outside[:, :, _DEEP] = self._are_deep(metrics)
        if not (self.outside.any() or is_outside.any()):
            return []
        found = []
        for world, k in zip(*np.nonzero(is_outside.any(axis=1) & ~self.outside), strict=True):
            step = int(np.argmax(is_outside[world, :, k]))
            told = metrics[world, step]
            kind = list(_WATCHED.values())[k]
            where, value = self._where(kind, told), float(told[_FIRST + k])
            time, who = start + (first + step + 1) * dt, int(world) if self.is_many else None
            found.append(Failure(kind, time, first + step + 1, who, where, value))
        self.outside = is_outside[:, -1].copy()
        self._is_outside = self.outside[0].tolist()
        return found

    def forget(self, worlds: np.ndarray) -> None:
        """Worlds that begin anew, of which nothing was told yet."""
        self.outside[worlds] = False
        self._is_outside = self.outside[0].tolist()

    def _are_deep(self, metrics: np.ndarray) -> np.ndarray:
        """Whether contacts are deeper than the smaller of their bodies may be."""
        ends = metrics[:, :, [METRIC.deepest_a, METRIC.deepest_b]]
        ends = np.where(np.isfinite(ends), ends, 0).astype(int)
        bounds = self.bounds[_DEEP] * self.depths[ends].min(axis=-1)
        return metrics[:, :, METRIC.penetration] > bounds

    def diverged(self, world: int, twists: np.ndarray, step: int, time: float) -> Failure:
        """The failure of a world with these twists (n_bodies, 6)."""
        largest = np.abs(twists).max(axis=1)
        bad = np.flatnonzero(~(largest < _FASTEST))
        names = [self.system.model.bodies[i].name for i in bad[:_MOST_NAMES]]
        more = f" and {len(bad) - _MOST_NAMES} more" if len(bad) > _MOST_NAMES else ""
        where = "velocities of " + ", ".join(names) + more
        who = world if self.is_many else None
        return Failure(DIVERGED, time, step, who, where, float(largest.max()))

    def torn(self, world: int, row: int, error: float, step: int, time: float) -> Failure:
        """The failure of a world in which a row of a joint is open by such an error."""
        who = world if self.is_many else None
        where = f"{self.row_names[row]} is open by {error:.3g}"
        return Failure(DIVERGED, time, step, who, where, error)

    def _where(self, kind: str, told: np.ndarray) -> str:
        """The names of what a failure is about."""
        if kind == APART:
            return self.row_names[int(told[METRIC.joint_row])]
        if kind == BEYOND:
            limit = self.system.limits[int(told[METRIC.limit])]
            return self.system.joints[limit.joint].name
        if kind == DEEP:
            ends = int(told[METRIC.deepest_a]), int(told[METRIC.deepest_b])
            names = [self.system.model.bodies[i - 1].name if i > 0 else "world" for i in ends]
            return " and ".join(names)
        return f"{int(told[METRIC.contacts])} contacts, {int(told[METRIC.iterations])} iterations"
