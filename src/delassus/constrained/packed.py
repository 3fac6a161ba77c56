"""The form of constraints that kernels read: a model's arrays and a few more.

Every declared constraint becomes pieces of a few kinds, each with rows of its own. A row restrains
joints on the paths from the world to the two links that the piece is between, or the joints that it
names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile.programs import ImplicitProgram, concatenate
from ..errors import ModelError
from ..model.constraints import (
    Closure,
    Connect,
    Constraint,
    Coupling,
    Distance,
    Gear,
    Implicit,
    Weld,
)
from ..model.joints import (
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
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.transform import rotation_to_axis

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


def piece_type(real: np.dtype) -> np.dtype:
    """One piece of a constraint, with floating-point numbers of the given type."""
    return np.dtype(
        [
            ("kind", np.int64),
            ("row", np.int64),  # the first of its rows
            ("count", np.int64),  # of its rows
            ("block", np.int64),  # the first of its rows where each piece has a multiple of three
            ("height", np.int64),  # of its rows there
            ("path", np.int64),  # the first of its steps
            ("length", np.int64),  # of its path
            ("panel", np.int64),  # where its numbers start among those of all pieces and steps
            ("frame", np.int64),
            ("other", np.int64),
            ("root", np.int64),  # link that starts the tree of each frame, 0 in the world
            ("other_root", np.int64),
            ("first_term", np.int64),
            ("term_count", np.int64),
            ("measure", np.int64),  # ROTATION_VECTOR or TILT_AND_TWIST
            ("program", np.int64),  # the first instruction of its function
            ("to_bias", np.int64),  # how many instructions make phi, its Jacobian and its bias
            ("to_end", np.int64),  # how many there are
            ("registers", np.int64),  # its first among those of all pieces
            ("register_count", np.int64),
            ("basis", real, (36,)),  # a row of six for each row: linear, then angular
            ("axis", real, (3,)),
            ("other_axis", real, (3,)),
            ("rest", real),  # the length, cosine or sum that is asked for
        ],
        align=True,
    )


def step_type(real: np.dtype) -> np.dtype:
    """A degree of freedom that a piece restrains, or that carries one that it does.

    The weight is 1 or -1 on the way to the frame or the other, 0 on the way to both, and in a
    COUPLING the coefficient. In an IMPLICIT piece it is 1 at joints that the function takes, `term`
    is the number of the argument, and what only carries these has 0 and -1.
    """
    return np.dtype([("dof", np.int64), ("weight", real), ("term", np.int64)], align=True)


def term_type(real: np.dtype) -> np.dtype:
    """A joint coordinate in a COUPLING or an IMPLICIT piece."""
    return np.dtype([("q", np.int64), ("v", np.int64), ("coefficient", real)], align=True)


# Two pieces, the first not before the other, that meet in some steps.
MEETING = np.dtype([(name, np.int64) for name in ("piece", "other", "first", "count")])
SHARED_STEP = np.dtype([(name, np.int64) for name in ("dof", "place", "other_place")])


class ConstrainedArrays(NamedTuple):
    """What kernels know of a model and of constraints on it."""

    links: np.ndarray
    frames: np.ndarray
    dof_parent: np.ndarray
    chain_start: np.ndarray
    dof_end: np.ndarray
    gravity: np.ndarray
    armature: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    pieces: np.ndarray
    terms: np.ndarray
    steps: np.ndarray  # paths of the pieces, each from the last degree of freedom to the first
    meetings: np.ndarray  # of two pieces: what they share of their paths
    shared_steps: np.ndarray  # where on both paths
    code: np.ndarray  # instructions of all recorded functions, see `compile.programs`
    constants: np.ndarray  # that they use

    dimensions = ("nq", "nv", "n_bodies", "m", "size")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (piece_type(real), term_type(real), step_type(real), MEETING, SHARED_STEP)
        return (*ModelArrays.array_types(real), *own, np.dtype(np.int64), real)


assert ConstrainedArrays._fields[: len(ModelArrays._fields)] == ModelArrays._fields


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


# Rows of a piece are worked on by three.
ROWS = 3


def pack(model: Model, parts: list[Piece], real: np.dtype) -> ConstrainedArrays:
    """A model's arrays and those of the pieces, in one precision."""
    arrays = model.pack(real)
    records = np.zeros(len(parts), piece_type(real))
    terms: list[tuple[int, int, float]] = []
    paths: list[dict[int, tuple[float, int]]] = []
    for record, part in zip(records, parts, strict=True):
        _fill(record, part)
        if part.terms:
            own = _terms(model, part)
            record["first_term"], record["term_count"] = len(terms), len(own)
            terms += own
            paths.append(_joints_path(arrays, own))
        else:
            paths.append(_frames_path(model, arrays, record, part))
    records["length"] = [len(path) for path in paths]
    records["height"] = -(-records["count"] // ROWS) * ROWS
    for place, size in (("row", "count"), ("block", "height"), ("path", "length")):
        records[place] = _starts(records[size])
    records["panel"] = _starts(records["height"] * records["length"])
    records["registers"] = _starts(records["register_count"])
    programs = [part.program for part in parts if part.program is not None]
    code, constants, records["program"][records["kind"] == IMPLICIT] = concatenate(programs)
    steps = [(dof, *step) for path in paths for dof, step in path.items()]
    return ConstrainedArrays(
        *arrays,
        records,
        np.array(terms, term_type(real)),
        np.array(steps, step_type(real)),
        *_meetings(paths),
        code,
        constants.astype(real),
    )


def _fill(record, part: Piece) -> None:
    """What a piece's record says without the model."""
    for name in ("kind", "count", "measure", "axis", "other_axis", "rest"):
        record[name] = getattr(part, name)
    if part.basis is not None:
        record["basis"][: part.basis.size] = part.basis.ravel()
    if part.program is not None:
        record["to_bias"] = part.program.to_bias
        record["to_end"] = len(part.program.instructions)
        record["register_count"] = part.program.registers


def _starts(counts: np.ndarray) -> np.ndarray:
    """Where each of some runs begins that follow each other."""
    return np.cumsum(counts) - counts


def sizes(arrays: ConstrainedArrays) -> dict[str, int]:
    """Extents of work memory: rows by threes, rows times steps of all pieces, registers."""
    records = arrays.pieces
    return {
        "blocks": int(records["height"].sum()),
        "panels": int((records["height"] * records["length"]).sum()),
        "registers": int(records["register_count"].sum()),
    }


def readable(arrays: ConstrainedArrays) -> ConstrainedArrays:
    """The same arrays with fields as attributes, for kernels that run as plain Python."""
    return ConstrainedArrays(*(a.view(np.recarray) if a.dtype.names else a for a in arrays))


def _terms(model: Model, part: Piece) -> list[tuple[int, int, float]]:
    """Where the coordinates of a piece's joints are in q and v, and their coefficients."""
    found = []
    for name, coefficient in part.terms:
        joint = model.joint(name)
        if part.kind == COUPLING and joint.nv != 1:
            raise ModelError(
                f"joint {name!r} has {joint.nv} degrees of freedom; a coupling is between joints "
                "of one"
            )
        found += [(joint.q.start + k, joint.v.start + k, coefficient) for k in range(joint.nv)]
    return found


def _frames_path(model: Model, arrays: ModelArrays, record, part: Piece) -> dict:
    """Where the two frames of a piece are, and the steps of its path with their weights."""
    links, tips = arrays.links, []
    for side, name in (("", part.frame), ("other_", part.other)):
        index = model.frame_index(name)
        link = int(arrays.frames[index]["link"])
        record["other" if side else "frame"] = index
        tips.append(int(links[link]["v"] + links[link]["nv"] - 1))
        while links[link]["parent"] > 0:
            link = int(links[link]["parent"])
        record[side + "root"] = link
    if tips[0] == tips[1]:
        raise ModelError(
            f"frames {part.frame!r} and {part.other!r} are on the same body: a constraint between "
            "them restrains nothing"
        )
    one, other = (set(_carriers(arrays.dof_parent, tip)) for tip in tips)
    steps = {k: (float(k in one) - float(k in other), -1) for k in one | other}
    return dict(sorted(steps.items(), reverse=True))


def _joints_path(arrays: ModelArrays, terms) -> dict[int, tuple[float, int]]:
    """The steps to all joints of a piece, with their coefficients and numbers among its terms."""
    steps = {k: (0.0, -1) for _, v, _ in terms for k in _carriers(arrays.dof_parent, v)}
    steps.update({v: (coefficient, t) for t, (_, v, coefficient) in enumerate(terms)})
    return dict(sorted(steps.items(), reverse=True))


def _carriers(dof_parent: np.ndarray, k: int) -> list[int]:
    """A degree of freedom and those that carry it, up to the world."""
    path = []
    while k >= 0:
        path.append(int(k))
        k = dof_parent[k]
    return path


def _meetings(paths: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of pieces whose paths share steps, and these steps."""
    meetings, shared = [], []
    places = [{k: place for place, k in enumerate(path)} for path in paths]
    for c, own in enumerate(places):
        for d, other in enumerate(places[: c + 1]):
            common = [(k, place, other[k]) for k, place in own.items() if k in other]
            if common:
                meetings.append((c, d, len(shared), len(common)))
                shared += common
    return np.array(meetings, MEETING), np.array(shared, SHARED_STEP)
