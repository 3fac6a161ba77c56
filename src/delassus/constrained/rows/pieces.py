"""What declared constraints are made of: pieces of a few kinds, each with rows of its own.

A row restrains joints on the paths from the world to the two links that the piece is between, or
the joints that it names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile.recorded.programs import ImplicitProgram
from ...errors import ModelError
from ...model.model import Model
from ...model.parts.constraints import (
    Closure,
    Connect,
    Constraint,
    Coupling,
    Distance,
    Gear,
    Implicit,
    Weld,
)
from ...model.parts.joints import (
    Cylindrical,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
    moves_by_velocities,
)
from ...spatial.transform import rotation_to_axis

# Kinds of pieces. Directions are the frame's axes unless said otherwise.
CONNECT = 0  # the difference of two points, in the world's axes
RELATIVE = 1  # rows of the motion of a frame relative to another, a basis of up to six
PERPENDICULAR = 2  # the cosine of the angle between an axis of each frame
DISTANCE = 3  # between two points
COUPLING = 4  # a sum of joint coordinates
IMPLICIT = 5  # a recorded function of joint coordinates

# How a RELATIVE piece measures rotations: as a rotation vector, or as the tilt of an axis about
# which the frames may turn, and the angle about it.
ROTATION_VECTOR = 0
TILT_AND_TWIST = 1


class Recorded(NamedTuple):
    """The program of a recorded function."""

    instructions: np.ndarray
    constants: np.ndarray
    to_bias: int
    registers: int


class Piece(NamedTuple):
    """A piece before its rows have numbers."""

    kind: int
    count: int
    frame: str = ""
    other: str = ""
    basis: np.ndarray | None = None
    measure: int = ROTATION_VECTOR
    axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    other_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rest: float = 0.0
    terms: tuple[tuple[str, float], ...] = ()
    program: Recorded | None = None


def pieces(model: Model, constraint: Constraint) -> list[Piece]:
    """What a declared constraint is made of."""
    match constraint:
        case Connect(frame, other):
            return [Piece(CONNECT, 3, frame, other)]
        case Weld(frame, other):
            return [Piece(RELATIVE, 6, frame, other, np.eye(6))]
        case Distance(frame, other, length):
            return [Piece(DISTANCE, 1, frame, other, rest=length)]
        case Gear(joint, other, ratio, offset):
            return [Piece(COUPLING, 1, terms=((joint, 1.0), (other, -ratio)), rest=offset)]
        case Coupling(coefficients, offset):
            return [Piece(COUPLING, 1, terms=tuple(coefficients.items()), rest=offset)]
        case Closure(joint_type, frame, other):
            return closure_pieces(joint_type, frame, other)
        case Implicit(function, joints):
            return [implicit_piece(model, function, joints)]
    raise ModelError(f"constraints of type {type(constraint).__name__} cannot be solved")


def closure_pieces(joint: JointType, frame: str, other: str) -> list[Piece]:
    """The motions that a joint does not allow, in the frame's axes."""
    rows = np.eye(6)
    linear, angular = rows[:3], rows[3:]
    match joint:
        case Spherical():
            return [Piece(RELATIVE, 3, frame, other, linear)]
        case Translation():
            return [Piece(RELATIVE, 3, frame, other, angular)]
        case Universal(first, second):
            cosine = float(np.dot(first, second))
            return [
                Piece(RELATIVE, 3, frame, other, linear),
                Piece(PERPENDICULAR, 1, frame, other, axis=second, other_axis=first, rest=cosine),
            ]
    x, y, z = rotation_to_axis(np.array(joint.axis)).T  # z is the joint's axis
    across, along = np.array([x, y]) @ linear, z[None] @ linear
    tilt, twist = np.array([x, y]) @ angular, z[None] @ angular
    match joint:
        case Revolute():
            basis, measure = [linear, tilt], TILT_AND_TWIST
        case Prismatic():
            basis, measure = [across, angular], ROTATION_VECTOR
        case Cylindrical():
            basis, measure = [across, tilt], TILT_AND_TWIST
        case Planar():
            basis, measure = [along, tilt], TILT_AND_TWIST
        case Helical():
            basis, measure = [across, along - joint.pitch * twist, tilt], TILT_AND_TWIST
        case _:
            raise ModelError(f"a closure by {type(joint).__name__} cannot be solved")
    basis = np.concatenate(basis)
    return [Piece(RELATIVE, len(basis), frame, other, basis, measure, axis=tuple(z))]


def implicit_piece(model: Model, function, joints: tuple[str, ...]) -> Piece:
    """A function of the coordinates of joints, recorded."""
    for joint in map(model.joint, joints):
        if not moves_by_velocities(joint.type):
            raise ModelError(
                f"Implicit takes joints whose velocities are the derivatives of their coordinates, "
                f"but {joint.name!r} is {type(joint.type).__name__}"
            )
    program = ImplicitProgram(function, sum(model.joint(name).nq for name in joints))
    recorded = Recorded(
        program.instructions, program.constants, program.ends["bias"], program.slots.size
    )
    return Piece(IMPLICIT, program.m, terms=tuple((name, 1.0) for name in joints), program=recorded)
