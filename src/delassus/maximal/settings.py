"""What a step is asked for besides its state: stabilisation, softening, contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..checks import finite_number, finite_vector, instance, not_negative, number, shown
from ..errors import ModelError, SettingError, ShapeError
from ..model.model import Model
from ..model.parts.elements import WORLD
from ..model.parts.names import known_name
from ..spatial.constant import unit_vector
from .rows.biases import SETTINGS
from .rows.contacts import CONTACT, contact_frame
from .rows.softening import MUJOCO, PRINTED, SOFTENING

_LONG_STEP = 2.5e-3  # s; fast motion opens joints by the square of the step, for its time
_MOST_LONGER = 1e9  # times that, beyond which numbers would overflow
LAWS = {"mujoco": MUJOCO, "printed": PRINTED}
_ORTHOGONALITY = 1e-6


@dataclass(frozen=True)
class Softening:
    """Rows as springs and dampers with MuJoCo's parameters, see `rows.softening`.

    The impedance goes from `impedance` at residual zero to `impedance_at_width` at `width`, along a
    curve of `power` that bends at `midpoint`. Far from other rows a row decays with the time
    constant and the damping ratio. `law` is that of the regulation velocity: "mujoco" or "printed".
    """

    midpoint: float = 0.5
    power: float = 2.0
    width: float = 0.001
    impedance: float = 0.9
    impedance_at_width: float = 0.95
    time_constant: float = 0.02
    damping_ratio: float = 1.0
    law: str = "mujoco"

    def __post_init__(self) -> None:
        for name in SOFTENING._fields[1:-1]:
            object.__setattr__(self, name, finite_number(name, getattr(self, name)))
        known_name("the law of softening", self.law, LAWS)
        if not 0.0 < self.midpoint < 1.0:
            raise SettingError(f"midpoint must be between 0 and 1, got {self.midpoint}")
        if self.power < 1.0 or self.width < 0.0:
            raise SettingError(
                f"power must be at least 1 and width not negative, got {self.power}, {self.width}"
            )
        for name in ("impedance", "impedance_at_width"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise SettingError(
                    f"{name} must be above 0 and at most 1, got {getattr(self, name)}"
                )
        for name in ("time_constant", "damping_ratio"):
            if not getattr(self, name) > 0.0:
                raise SettingError(f"{name} must be positive, got {getattr(self, name)}")

    def packed(self) -> list[float]:
        """The numbers as kernels read them."""
        return [float(LAWS[self.law]), *(getattr(self, name) for name in SOFTENING._fields[1:-1])]


@dataclass(frozen=True)
class Stabilization:
    """How errors of positions are taken away, and when contacts bounce.

    - joints, limits, contacts: the part of an error that a step takes away
    - limit_margin: limits farther away than this have no row, in metres or radians
    - penetration_margin: overlap of contacts that is tolerated; rigid ones rest at 0.9 of it
      or more
    - depenetration_speed: the largest speed at which overlaps are taken away
    - restitution_speed: contacts that close more slowly do not bounce
    - joint_opening: where a rigid joint is open by more, in metres or radians, the simulator moves
      bodies so that all close; in steps beyond 2.5 ms by the square of their length more
    - soft_joints, soft_limits, soft_contacts: rows that are springs instead
    """

    joints: float = 0.01
    limits: float = 0.01
    contacts: float = 0.01
    limit_margin: float = 0.1
    penetration_margin: float = 1e-6
    depenetration_speed: float = np.inf
    restitution_speed: float = 1e-3
    joint_opening: float = 5e-5
    soft_joints: Softening | None = None
    soft_limits: Softening | None = None
    soft_contacts: Softening | None = None

    def __post_init__(self) -> None:
        for name in ("joints", "limits", "contacts", "limit_margin", "restitution_speed"):
            object.__setattr__(self, name, not_negative(name, getattr(self, name)))
        margin = finite_number("penetration_margin", self.penetration_margin)
        object.__setattr__(self, "penetration_margin", margin)
        speed = number("depenetration_speed", self.depenetration_speed)
        if not speed >= 0.0:
            raise SettingError(f"depenetration_speed must not be negative, got {speed}")
        opening = number("joint_opening", self.joint_opening)
        if not opening >= 0.0:
            raise SettingError(f"joint_opening must not be negative, got {opening}")
        for name in ("soft_joints", "soft_limits", "soft_contacts"):
            if getattr(self, name) is not None:
                instance(name, getattr(self, name), Softening)

    def packed(self, dt: float) -> np.ndarray:
        """The numbers as kernels read them, for a step of dt."""
        numbers = [dt, self.joints, self.limits, self.contacts, self.limit_margin]
        numbers += [self.penetration_margin, self.depenetration_speed, self.restitution_speed]
        opening = self.joint_opening if self.soft_joints is None else np.inf
        numbers += [opening * max(1.0, min(dt / _LONG_STEP, _MOST_LONGER)) ** 2]
        for soft in (self.soft_joints, self.soft_limits, self.soft_contacts):
            numbers += [0.0] * SOFTENING.size if soft is None else soft.packed()
        assert len(numbers) == SETTINGS.size
        return np.array(numbers)


@dataclass(frozen=True, eq=False)
class Contact:
    """A point where two bodies touch, or nearly so; the normal points from `first` to `second`.

    Bodies are named, or "world". `distance` is negative if they overlap. `frame` has the columns
    t1, t2 and normal; with a normal alone the tangents are chosen. `softening` is its own, in the
    place of that of all contacts.
    """

    first: str
    second: str
    point: ArrayLike
    normal: ArrayLike | None = None
    distance: float = 0.0
    friction: float = 0.0
    restitution: float = 0.0
    frame: ArrayLike | None = None
    softening: Softening | None = None

    def packed(self, model: Model) -> np.ndarray:
        """The numbers as kernels read them."""
        a, b = (0 if x == WORLD else model.body_index(x) + 1 for x in (self.first, self.second))
        what = f"contact of {self.first!r} and {self.second!r}"
        if a == b:
            raise ModelError(f"{what}: a body does not touch itself")
        restitution = not_negative(f"{what}: restitution", self.restitution)
        if restitution > 1.0:
            raise SettingError(f"{what}: restitution must be at most 1, got {restitution}")
        record = np.zeros(CONTACT.size)
        record[CONTACT.a], record[CONTACT.b] = a, b
        record[CONTACT.point : CONTACT.frame] = finite_vector(f"{what}: point", self.point, 3)
        record[CONTACT.frame : CONTACT.distance] = self._frame(what)
        record[CONTACT.distance] = finite_number(f"{what}: distance", self.distance)
        record[CONTACT.friction] = not_negative(f"{what}: friction", self.friction)
        record[CONTACT.restitution] = restitution
        if self.softening is not None:
            soft = instance(f"{what}: softening", self.softening, Softening)
            record[CONTACT.softening :] = soft.packed()
        return record

    def _frame(self, what: str) -> np.ndarray:
        """The frame by rows."""
        if self.frame is None:
            if self.normal is None:
                raise SettingError(f"{what}: it needs a normal or a frame")
            return np.array(contact_frame(unit_vector(f"{what}: normal", self.normal, 3)))
        frame = np.array(self.frame, float)
        if frame.shape != (3, 3):
            raise ShapeError(f"{what}: a frame is 3x3, got the shape {frame.shape}")
        if not np.abs(frame.T @ frame - np.eye(3)).max() <= _ORTHOGONALITY:
            raise SettingError(f"{what}: the columns of the frame are not orthonormal")
        return frame.ravel()


def packed_contacts(model: Model, contacts, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Contacts in as many slots, and their count."""
    found = [instance("a contact", c, Contact).packed(model) for c in contacts]
    if len(found) > slots:
        raise SettingError(
            f"there are {len(found)} contacts and {slots} slots: make the system with "
            f"contact_slots={len(found)} or more"
        )
    records = np.zeros((slots, CONTACT.size))
    records[: len(found)] = np.array(found).reshape(-1, CONTACT.size)
    return records, np.array([float(len(found))])


def step_size(dt: float) -> float:
    """A checked step size."""
    dt = finite_number("dt", dt)
    if not dt > 0.0:
        raise SettingError(f"dt must be positive, got {shown(dt)}")
    return dt
