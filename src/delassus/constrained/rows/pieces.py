"""Pieces: the parts that declared constraints are made of, of a few kinds.

A piece has one or more rows, which are equations between two frames, or between joints. A row
restrains the joints on the paths from the world to the two frames, or the joints that it names.
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
    Gimbal,
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

# Kinds of pieces, by what their rows measure. Vectors are in the axes of `frame` unless said
# otherwise.
CONNECT = 0  # difference of the origins of two frames, in the world's axes
RELATIVE = 1  # up to six components of the motion of `frame` relative to `other`
PERPENDICULAR = 2  # cosine of the angle between an axis of one frame and an axis of the other
DISTANCE = 3  # distance of the origins of two frames
COUPLING = 4  # weighted sum of joint coordinates
IMPLICIT = 5  # recorded function of joint coordinates

# How a RELATIVE piece measures the error of rotations: as a rotation vector; or as the tilt of an
# axis about which the frames may turn, and the angle about this axis.
ROTATION_VECTOR = 0
TILT_AND_TWIST = 1


class Recorded(NamedTuple):
    """The program of a recorded function."""

    instructions: np.ndarray
    constants: np.ndarray
    to_bias: int  # number of instructions up to the output `bias` (see `ImplicitProgram`)
    registers: int  # number of registers


class Piece(NamedTuple):
    """A piece of a declared constraint, before its rows are numbered."""

    kind: int
    count: int  # of rows
    frame: str = ""
    other: str = ""
    basis: np.ndarray | None = None  # of RELATIVE, for each row: linear, then angular components
    measure: int = ROTATION_VECTOR
    axis: tuple[float, float, float] = (0.0, 0.0, 0.0)  # in the axes of `frame`
    other_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)  # in the axes of `other`
    rest: float = 0.0  # the length, cosine or sum that the row prescribes
    screw: int = -1  # row of a Helical closure that couples advance and turn, if there is one
    pitch: float = 0.0  # its advance in metres a radian
    terms: tuple[tuple[str, float], ...] = ()  # names of joints, and coefficients
    program: Recorded | None = None


def pieces(model: Model, constraint: Constraint) -> list[Piece]:
    """The pieces of a declared constraint."""
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
    """Pieces that forbid all motions but those of a joint, in the frame's axes."""
    rows = np.eye(6)
    linear, angular = rows[:3], rows[3:]
    match joint:
        case Spherical() | Gimbal():
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
    piece = Piece(RELATIVE, len(basis), frame, other, basis, measure, axis=tuple(z))
    if isinstance(joint, Helical) and joint.pitch != 0.0:
        piece = piece._replace(screw=len(across), pitch=joint.pitch)
    return [piece]


def implicit_piece(model: Model, function, joints: tuple[str, ...]) -> Piece:
    """The piece of a function of joint coordinates, which is recorded as a program."""
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
