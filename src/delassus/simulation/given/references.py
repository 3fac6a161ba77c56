"""References of constraints: positions that they were told to hold at while a simulation runs.

They are rows of numbers, one for each constraint, NaN where it holds as the model declares it. Of a
gear the first number is its offset; of a constraint between frames they are a rotation and a
translation, the placement of the frame at which `other` is taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...dynamics.kinematics import forward_kinematics
from ...errors import SettingError
from ...model.model import Model
from ...model.parts.constraints import Closure, Connect, Gear, Weld
from ...model.parts.elements import Frame
from ...spatial.transform import Transform

_NUMBERS = 12
_ORTHOGONAL = 1e-6
_BETWEEN_FRAMES = (Closure, Connect, Weld)


def as_declared(model: Model) -> np.ndarray:
    """References of which there are none yet."""
    return np.full((len(model.constraints), _NUMBERS), np.nan)


def reference_at(model: Model, number: int, q: np.ndarray) -> np.ndarray:
    """The reference at which a constraint of a model holds at a configuration."""
    given, row = model.constraints[number], np.full(_NUMBERS, np.nan)
    if isinstance(given, Gear):
        joint, other = (q[model.joint(x).q.start] for x in given.joints)
        row[0] = joint - given.ratio * other
    elif isinstance(given, _BETWEEN_FRAMES):
        rotation, translation = forward_kinematics(model, q, [given.frame, given.other])
        here, there = (Transform(rotation[k], translation[k]) for k in range(2))
        placement = model.frame(given.other).placement @ there.inverse() @ here
        row[:9], row[9:] = placement.rotation.ravel(), placement.translation
    else:
        raise SettingError(f"a {type(given).__name__} cannot be referred to a position")
    return row


def check_references(model: Model, references: np.ndarray) -> None:
    """Whether rows that come from outside can be references of a model's constraints."""
    for number in np.flatnonzero(~np.isnan(references).all(axis=1)):
        given, row = model.constraints[number], references[number]
        if isinstance(given, Gear):
            is_one = np.isfinite(row[0])
        elif isinstance(given, _BETWEEN_FRAMES) and np.isfinite(row).all():
            R = row[:9].reshape(3, 3)
            is_one = np.abs(R @ R.T - np.eye(3)).max() < _ORTHOGONAL and np.linalg.det(R) > 0.0
        else:
            is_one = False
        if not is_one:
            raise SettingError(f"constraint {number} of the state has no usable reference")


def referred(model: Model, references: np.ndarray) -> Model:
    """A model as declared, with constraints that hold at references instead."""
    frames, constraints = list(model.frames), list(model.constraints)
    for number in np.flatnonzero(~np.isnan(references[:, 0])):
        given, row = constraints[number], references[number]
        if isinstance(given, Gear):
            constraints[number] = replace(given, offset=float(row[0]))
        else:
            name = f"{given.other} (reference of constraint {number})"
            placement = Transform(row[:9].reshape(3, 3), row[9:])
            frames.append(Frame(name, model.frame(given.other).body, placement))
            constraints[number] = replace(given, other=name)
    return model.replace(frames=frames, constraints=constraints)
