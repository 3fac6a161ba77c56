"""What constraint rows measure: their velocity J v, their drift gamma = dJ/dt v, their error.

The drift is the acceleration of a row if joints do not accelerate. Functions here read motions of
links with zero joint acceleration, from records that start with the slots of MOVING (see
`dynamics.steps.links`); `wrenches` has the wrenches of the same rows.
"""

from __future__ import annotations

from ...compile import atan2, function, routine, sincos, sqrt
from ...compile.recorded.programs import implicit_registers, run_program
from ...dynamics.steps.points import frame_position, frame_rotation, motion_at, point_motion
from ...spatial.groups import quaternion_log
from ...spatial.quaternions import from_rotation
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    compose,
    cross,
    dot,
    get3,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from .pieces import CONNECT, COUPLING, DISTANCE, IMPLICIT, PERPENDICULAR, TILT_AND_TWIST
from .wrenches import ROW, piece_registers, put_wrenches, tree_shift


@routine
def put_rows(model, piece, q, v, with_error, links, size, work):
    """Wrenches, velocities, drifts and errors of the rows of a piece.

    Without `with_error`, rotation errors of RELATIVE pieces are zero, to save their arithmetic.
    """
    if piece.kind == COUPLING:
        measure_coupling(model, piece, q, v, work.rows)
    elif piece.kind == IMPLICIT:
        measure_implicit(model, piece, q, v, work)
    else:
        put_wrenches(model, piece, q, False, links, size, work)
        measure_between(model, piece, q, with_error, links, size, work.rows)


@function
def measure_coupling(model, piece, q, v, rows):
    """sum of c_i q_i - rest, a sum of joint coordinates: no wrench, and no drift."""
    term = model.terms[piece.first_term]
    error, velocity = term.coefficient * q[term.q], term.coefficient * v[term.v]
    for t in range(piece.first_term + 1, piece.first_term + piece.term_count):
        term = model.terms[t]
        error = error + term.coefficient * q[term.q]
        velocity = velocity + term.coefficient * v[term.v]
    put_measures(rows, piece.row, velocity, 0.0 * velocity, error - piece.rest)


@function
def measure_implicit(model, piece, q, v, work):
    """phi, dphi/dx v and v^T (d^2 phi / dx^2) v; the Jacobian stays in the registers."""
    n, m = piece.term_count, piece.count
    at, registers = implicit_registers(n, m), piece_registers(piece, work)
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
        put_measures(work.rows, piece.row + k, velocity, bias, error)


@function
def measure_between(model, piece, q, with_error, links, size, rows):
    """Velocities, drifts and errors of the rows of a piece between two frames."""
    frame, other = model.frames[piece.frame], model.frames[piece.other]
    p, p_other = frame_position(frame, links, size), frame_position(other, links, size)
    p_there = add(p, tree_shift(model, piece, q))
    apart = subtract(p_there, p_other)
    at, other_at = frame.link * size, other.link * size
    if piece.kind == CONNECT:
        measure_connect(piece, links, at, other_at, p, p_other, apart, rows)
    elif piece.kind == DISTANCE:
        measure_distance(piece, links, at, other_at, p, p_other, apart, rows)
    elif piece.kind == PERPENDICULAR:
        R, R_other = frame_rotation(frame, links, size), frame_rotation(other, links, size)
        measure_perpendicular(piece, links, at, other_at, R, R_other, rows)
    else:
        R = frame_rotation(frame, links, size)
        error = rotate_back(R, apart), (0.0, 0.0, 0.0)
        if with_error:
            error = error[0], rotation_error(piece, R, frame_rotation(other, links, size))
        measure_relative(piece, links, at, other_at, R, p, p_there, error, rows)


@function
def put_measures(rows, row, velocity, drift, error):
    """Store velocity, drift and error of a row."""
    at = row * ROW.size
    rows[at + ROW.velocity] = velocity
    rows[at + ROW.drift] = drift
    rows[at + ROW.error] = error


@function
def put_three_measures(rows, row, velocity, drift, error):
    """Store velocities, drifts and errors of three rows from one on."""
    put_measures(rows, row, velocity[0], drift[0], error[0])
    put_measures(rows, row + 1, velocity[1], drift[1], error[1])
    put_measures(rows, row + 2, velocity[2], drift[2], error[2])


@function
def measure_connect(piece, links, at, other_at, p, p_other, apart, rows):
    """p - p_other, in the world's axes"""
    u, a = point_motion(links, at, p)
    u_other, a_other = point_motion(links, other_at, p_other)
    put_three_measures(rows, piece.row, subtract(u, u_other), subtract(a, a_other), apart)


@function
def measure_distance(piece, links, at, other_at, p, p_other, apart, rows):
    """|p - p_other| - length"""
    u, a = point_motion(links, at, p)
    u_other, a_other = point_motion(links, other_at, p_other)
    d, a = subtract(u, u_other), subtract(a, a_other)
    distance = sqrt(dot(apart, apart))
    x = scale(1.0 / distance, apart)
    velocity = dot(x, d)
    drift = dot(x, a) + (dot(d, d) - velocity * velocity) / distance
    put_measures(rows, piece.row, velocity, drift, distance - piece.rest)


@function
def measure_perpendicular(piece, links, at, other_at, R, R_other, rows):
    """x . y - cosine, for an axis x of the frame and one y of the other"""
    none = (0.0, 0.0, 0.0)
    omega, _, alpha, _ = motion_at(links, at, none)
    omega_other, _, alpha_other, _ = motion_at(links, other_at, none)
    x, y = rotate(R, get3(piece.axis, 0)), rotate(R_other, get3(piece.other_axis, 0))
    n = cross(x, y)
    n_rate = add_cross(cross(cross(omega, x), y), x, cross(omega_other, y))
    turn = subtract(omega, omega_other)
    drift = dot(subtract(alpha, alpha_other), n) + dot(turn, n_rate)
    put_measures(rows, piece.row, dot(turn, n), drift, dot(x, y) - piece.rest)


@function
def measure_relative(piece, links, at, other_at, R, p, p_there, error, rows):
    """The motion of the frame relative to the other, at its origin and in its own axes.

    `error` is its position and its rotation in the other, linear and angular.
    """
    omega, u, alpha, a = motion_at(links, at, p)
    omega_other, u_other, alpha_other, a_other = motion_at(links, other_at, p_there)
    turn, move = subtract(omega, omega_other), subtract(u, u_other)
    # The other's motion is seen from axes that move with the frame: v x v_other.
    alpha = add_cross(subtract(alpha, alpha_other), omega, omega_other)
    a = add_cross(add_cross(subtract(a, a_other), omega, u_other), u, omega_other)
    turn, move = rotate_back(R, turn), rotate_back(R, move)
    alpha, a = rotate_back(R, alpha), rotate_back(R, a)
    if piece.is_plain:
        put_three_measures(rows, piece.row, move, a, error[0])
        if piece.count == 6:
            put_three_measures(rows, piece.row + 3, turn, alpha, error[1])
    else:
        for k in range(piece.count):
            f, n = get3(piece.basis, 6 * k), get3(piece.basis, 6 * k + 3)
            velocity, drift = dot(f, move) + dot(n, turn), dot(f, a) + dot(n, alpha)
            missed = dot(f, error[0]) + dot(n, error[1])
            if k == piece.screw:
                missed = nearest_turn(missed, piece.pitch)
            put_measures(rows, piece.row + k, velocity, drift, missed)


@function
def nearest_turn(missed, pitch):
    """The error of a screw whose turns are counted by its advance: at most half a turn's worth.

    Poses tell an angle up to whole turns only. Those that fit the advance best are taken.
    """
    s, c = sincos(missed / pitch)
    return pitch * atan2(s, c)


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
