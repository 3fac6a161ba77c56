"""Rows of constraints: the wrench that each exerts, its velocity, its drift, its error.

A row asks for a velocity of zero between two links. It is a unit wrench on the one link, and the
opposite one on the other (Featherstone 2008, Ch. 8): the velocity is that wrench times the motion
of the one link less that of the other, and its column at a degree of freedom is the wrench times S.
The drift is the acceleration that remains where joints do not accelerate: gamma = dJ/dt v.

Wrenches are in world axes. Each is taken about the origin of the tree of the link that it acts on,
as all vectors are (see `dynamics.links`): two trees have two origins, and the world its own.
"""

from __future__ import annotations

from ..compile import atan2, function, part, slots, sqrt
from ..compile.programs import implicit_registers, run_program
from ..dynamics.joints import joint_placement
from ..dynamics.links import MOVING, PLACEMENT
from ..spatial.groups import quaternion_log
from ..spatial.quaternions import from_rotation
from ..spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    compose,
    cross,
    dot,
    get3,
    get9,
    put3,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from .pieces import CONNECT, COUPLING, DISTANCE, IMPLICIT, PERPENDICULAR, TILT_AND_TWIST

# A row: moment and force on the link of `frame`, and what is taken from the link of `other`.
ROW = slots(n=3, f=3, other_n=3, other_f=3, velocity=1, drift=1, error=1)


def rows_work(n: dict[str, int]) -> int:
    """Memory of all rows, and of the registers of recorded functions behind it."""
    return n["m"] * ROW.size + n["registers"]


@function
def rows_end(model):
    """Where the memory of the rows ends."""
    if len(model.pieces) == 0:
        return 0
    last = model.pieces[len(model.pieces) - 1]
    return count_rows(model) * ROW.size + last.registers + last.register_count


@function
def count_rows(model):
    """m"""
    if len(model.pieces) == 0:
        return 0
    last = model.pieces[len(model.pieces) - 1]
    return last.row + last.count


@function
def put_rows(model, piece, q, v, with_error, work, size, rows):
    """All that is to know of the rows of a piece between frames, or of joint coordinates.

    Errors that take arithmetic of their own are left out, as zeros, if not asked for.
    """
    if piece.kind == COUPLING:
        put_coupling(model, piece, q, v, rows)
    elif piece.kind == IMPLICIT:
        put_implicit(model, piece, q, v, rows)
    else:
        put_rows_between(model, piece, q, with_error, work, size, rows)


@function
def put_coupling(model, piece, q, v, rows):
    """A sum of joint coordinates: no wrench, and no drift."""
    at = piece.row * ROW.size
    term = model.terms[piece.first_term]
    error, velocity = term.coefficient * q[term.q], term.coefficient * v[term.v]
    for t in range(piece.first_term + 1, piece.first_term + piece.term_count):
        term = model.terms[t]
        error = error + term.coefficient * q[term.q]
        velocity = velocity + term.coefficient * v[term.v]
    rows[at + ROW.error] = error - piece.rest
    rows[at + ROW.velocity] = velocity
    rows[at + ROW.drift] = 0.0


@function
def piece_registers(model, piece, rows):
    """The registers of a piece's recorded function."""
    return part(rows, count_rows(model) * ROW.size + piece.registers)


@function
def put_implicit(model, piece, q, v, rows):
    """phi, dphi/dx v and v^T (d^2 phi / dx^2) v; the Jacobian stays in the registers."""
    n, m = piece.term_count, piece.count
    at, registers = implicit_registers(n, m), piece_registers(model, piece, rows)
    for t in range(n):
        term = model.terms[piece.first_term + t]
        registers[at.x + t] = q[term.q]
        registers[at.v + t] = v[term.v]
    run_program(model.code, piece.program, piece.to_bias, model.constants, registers)
    for k in range(m):
        velocity = registers[at.jacobian + k * n] * registers[at.v]
        for t in range(1, n):
            velocity = velocity + registers[at.jacobian + k * n + t] * registers[at.v + t]
        bias, error = registers[at.bias + k], registers[at.value + k]
        put_state(rows, piece.row + k, velocity, bias, error)


@function
def put_rows_between(model, piece, q, with_error, work, size, rows):
    """The rows of a piece between two frames."""
    frame, other = model.frames[piece.frame], model.frames[piece.other]
    p, p_other = frame_position(frame, work, size), frame_position(other, work, size)
    shift = tree_shift(model, piece, q)
    apart = subtract(add(p, shift), p_other)
    at, other_at = frame.link * size, other.link * size
    if piece.kind == CONNECT:
        put_connect(piece, work, at, other_at, p, p_other, apart, rows)
    elif piece.kind == DISTANCE:
        put_distance(piece, work, at, other_at, p, p_other, apart, rows)
    elif piece.kind == PERPENDICULAR:
        R, R_other = frame_rotation(frame, work, size), frame_rotation(other, work, size)
        put_perpendicular(piece, work, at, other_at, R, R_other, rows)
    else:
        R = frame_rotation(frame, work, size)
        e_linear, e_angular = rotate_back(R, apart), (0.0, 0.0, 0.0)
        if with_error:
            e_angular = rotation_error(piece, R, frame_rotation(other, work, size))
        p_there = add(p, shift)
        put_relative(piece, work, at, other_at, R, p, p_there, e_linear, e_angular, rows)


@function
def tree_shift(model, piece, q):
    """From the origin of the other's tree to that of the frame's."""
    shift = subtract(tree_origin(model, piece.root, q), tree_origin(model, piece.other_root, q))
    if piece.root == piece.other_root:
        shift = (0.0, 0.0, 0.0)
    return shift


@function
def frame_position(frame, work, size):
    """Position of a frame; that of the world's from its own origin, others from the tree's."""
    return point_position(frame, frame_offset(frame, work, size), work, size)


@function
def point_position(frame, r, work, size):
    """The same of a point that is at r from the origin of a frame's link."""
    if frame.link > 0:
        r = add(get3(work, frame.link * size + PLACEMENT.p), r)
    return r


@function
def frame_offset(frame, work, size):
    """Position of a frame from its link's origin."""
    r = get3(frame.position, 0)
    if frame.link > 0:
        r = rotate(get9(work, frame.link * size + PLACEMENT.R), r)
    return r


@function
def frame_rotation(frame, work, size):
    """Rotation of a frame."""
    return compose(get9(work, frame.link * size + PLACEMENT.R), get9(frame.rotation, 0))


@function
def frame_pose(frame, work, size):
    """Rotation and position of a frame."""
    return frame_rotation(frame, work, size), frame_position(frame, work, size)


@function
def tree_origin(model, root, q):
    """Where a tree's origin is in the world: at its first link's."""
    p = (0.0, 0.0, 0.0)
    if root > 0:
        _, p = joint_placement(model.links[root], q)
    return p


@function
def motion_at(work, at, p):
    """Angular and linear velocity, then acceleration, of a link at a point p."""
    omega, alpha = get3(work, at + MOVING.omega), get3(work, at + MOVING.alpha)
    u, a = get3(work, at + MOVING.u), get3(work, at + MOVING.a)
    if at > 0:  # the world moves alike everywhere
        u, a = add_cross(u, omega, p), add_cross(a, alpha, p)
    return omega, u, alpha, a


@function
def put_wrench(rows, row, other, n, f, p, p_other):
    """A moment n and a force f that act at p on the one link, at p_other on the other.

    What acts on the world, where `other` is 0, is of no interest.
    """
    at = row * ROW.size
    put3(rows, at + ROW.n, add_cross(n, p, f))
    put3(rows, at + ROW.f, f)
    if other > 0:
        put3(rows, at + ROW.other_n, add_cross(n, p_other, f))
        put3(rows, at + ROW.other_f, f)


@function
def put_state(rows, row, velocity, drift, error):
    """What a row moves by, drifts by, and misses by."""
    at = row * ROW.size
    rows[at + ROW.velocity] = velocity
    rows[at + ROW.drift] = drift
    rows[at + ROW.error] = error


@function
def put_states(rows, row, velocity, drift, error):
    """The same of three rows from one on."""
    put_state(rows, row, velocity[0], drift[0], error[0])
    put_state(rows, row + 1, velocity[1], drift[1], error[1])
    put_state(rows, row + 2, velocity[2], drift[2], error[2])


@function
def point_motion(work, at, p):
    """Velocity and acceleration of the point of a link that is at p."""
    omega, u, _, a = motion_at(work, at, p)
    return u, add_cross(a, omega, u)


@function
def put_pushes(rows, row, other, p, p_other):
    """The wrenches of three rows that push along the world's axes, at p and at p_other."""
    none = (0.0, 0.0, 0.0)
    put_wrench(rows, row, other, none, (1.0, 0.0, 0.0), p, p_other)
    put_wrench(rows, row + 1, other, none, (0.0, 1.0, 0.0), p, p_other)
    put_wrench(rows, row + 2, other, none, (0.0, 0.0, 1.0), p, p_other)


@function
def put_points(rows, row, other, p, p_other):
    """Of the same rows only where they push: in the place of the first one's moments."""
    at = row * ROW.size
    put3(rows, at + ROW.n, p)
    if other > 0:
        put3(rows, at + ROW.other_n, p_other)


@function
def put_connect(piece, work, at, other_at, p, p_other, apart, rows):
    """p - p_other, in the world's axes"""
    u, a = point_motion(work, at, p)
    u_other, a_other = point_motion(work, other_at, p_other)
    put_pushes(rows, piece.row, other_at, p, p_other)
    put_states(rows, piece.row, subtract(u, u_other), subtract(a, a_other), apart)


@function
def put_distance(piece, work, at, other_at, p, p_other, apart, rows):
    """|p - p_other| - length"""
    u, a = point_motion(work, at, p)
    u_other, a_other = point_motion(work, other_at, p_other)
    d, a = subtract(u, u_other), subtract(a, a_other)
    distance = sqrt(dot(apart, apart))
    x = scale(1.0 / distance, apart)
    velocity = dot(x, d)
    drift = dot(x, a) + (dot(d, d) - velocity * velocity) / distance
    put_wrench(rows, piece.row, other_at, (0.0, 0.0, 0.0), x, p, p_other)
    put_state(rows, piece.row, velocity, drift, distance - piece.rest)


@function
def put_perpendicular(piece, work, at, other_at, R, R_other, rows):
    """x . y - cosine, for an axis x of the frame and one y of the other"""
    none = (0.0, 0.0, 0.0)
    omega, _, alpha, _ = motion_at(work, at, none)
    omega_other, _, alpha_other, _ = motion_at(work, other_at, none)
    x, y = rotate(R, get3(piece.axis, 0)), rotate(R_other, get3(piece.other_axis, 0))
    n = cross(x, y)
    n_rate = add_cross(cross(cross(omega, x), y), x, cross(omega_other, y))
    turn = subtract(omega, omega_other)
    drift = dot(subtract(alpha, alpha_other), n) + dot(turn, n_rate)
    put_wrench(rows, piece.row, other_at, n, none, none, none)
    put_state(rows, piece.row, dot(turn, n), drift, dot(x, y) - piece.rest)


@function
def put_relative(piece, work, at, other_at, R, p, p_there, e_linear, e_angular, rows):
    """The motion of the frame relative to the other, at its origin and in its own axes."""
    omega, u, alpha, a = motion_at(work, at, p)
    omega_other, u_other, alpha_other, a_other = motion_at(work, other_at, p_there)
    turn, move = subtract(omega, omega_other), subtract(u, u_other)
    # The other's motion is seen from axes that move with the frame: v x v_other.
    alpha = add_cross(subtract(alpha, alpha_other), omega, omega_other)
    a = add_cross(add_cross(subtract(a, a_other), omega, u_other), u, omega_other)
    if piece.is_plain:
        put_plain_wrenches(rows, piece, other_at, R, p, p_there)
        put_plain_states(rows, piece, R, move, a, e_linear, turn, alpha, e_angular)
    else:
        for k in range(piece.count):
            b_linear, b_angular = get3(piece.basis, 6 * k), get3(piece.basis, 6 * k + 3)
            f, n = rotate(R, b_linear), rotate(R, b_angular)
            put_wrench(rows, piece.row + k, other_at, n, f, p, p_there)
            put_state(
                rows,
                piece.row + k,
                dot(f, move) + dot(n, turn),
                dot(f, a) + dot(n, alpha),
                dot(b_linear, e_linear) + dot(b_angular, e_angular),
            )


@function
def put_plain_wrenches(rows, piece, other, R, p, p_other):
    """Forces along the frame's axes, and moments about them if there are six rows."""
    none, row = (0.0, 0.0, 0.0), piece.row
    x, y, z = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
    put_wrench(rows, row, other, none, x, p, p_other)
    put_wrench(rows, row + 1, other, none, y, p, p_other)
    put_wrench(rows, row + 2, other, none, z, p, p_other)
    if piece.count == 6:
        put_wrench(rows, row + 3, other, x, none, none, none)
        put_wrench(rows, row + 4, other, y, none, none, none)
        put_wrench(rows, row + 5, other, z, none, none, none)


@function
def put_plain_states(rows, piece, R, move, a, e_linear, turn, alpha, e_angular):
    """What these rows move by, drift by, and miss by."""
    put_states(rows, piece.row, rotate_back(R, move), rotate_back(R, a), e_linear)
    if piece.count == 6:
        put_states(rows, piece.row + 3, rotate_back(R, turn), rotate_back(R, alpha), e_angular)


@function
def rotation_error(piece, R, R_other):
    """By how much the frame is turned in the other, in its own axes.

    As tilt and twist: the tilt t of the axis has length 2 tan(angle / 2), which ends at half a turn
    only; the twist is the angle about the axis.
    """
    if piece.measure == TILT_AND_TWIST:
        x = get3(piece.axis, 0)
        y = rotate_back(R, rotate(R_other, x))
        tilt = scale(2.0 / (1.0 + dot(x, y)), cross(y, x))
        return add_scaled(tilt, twist_angle(relative_rotation(R, R_other), x), x)
    return quaternion_log(from_rotation(relative_rotation(R, R_other)))


@function
def relative_rotation(R, R_other):
    """R_other^T R"""
    return compose(
        (
            R_other[0], R_other[3], R_other[6],
            R_other[1], R_other[4], R_other[7],
            R_other[2], R_other[5], R_other[8],
        ),
        R,
    )  # fmt: skip


@function
def twist_angle(R, x):
    """The angle of a rotation about an axis x."""
    sine = dot((R[7] - R[5], R[2] - R[6], R[3] - R[1]), x)
    return atan2(sine, R[0] + R[4] + R[8] - 1.0)
