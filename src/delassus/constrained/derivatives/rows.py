"""C: derivatives of the accelerations of constraint rows by q and v.

With the variations S, Psi, Phi, Xi of degree of freedom j (see `dynamics.derivatives.variations`),
the acceleration of a row with stabilisation, J a + gamma + kd J v + kp e, has the derivatives

    by q_j:  W . Phi_j + W' . Psi_j + W'' . S_j        by v_j:  W . Xi_j + W' . S_j

where j carries the frame. W is the row's wrench. Where j carries the other link, the derivatives
for the wrench on that link are subtracted. The velocity of a row is the rate of its error, except
for RELATIVE rows, and then

    W' = 2 dW/dt + kd W                   W'' = d2W/dt2 + kd dW/dt + kp W

as the second time derivative of W . S shows. A RELATIVE row is W . (a - a_other + v x v_other) with
a wrench that is constant in the frame's axes, and its error has a wrench E of its own:

    W' = (v + v_other) x* W + kd W        W'' = (a_other + v_other x* v + kd v_other) x* W + kp E

| symbols | here | what |
| --- | --- | --- |
| W | ROW.n, .f; ROW.other_n, .other_f | wrench of a row on its two links |
| W', W'' | RATE, by `put_rates` | n, f and second_n, second_f |
| S, Psi, Phi, Xi | VARIATION | of a degree of freedom |
| C | C_q, C_v, by `put_row_derivatives` | by panels |
"""

from __future__ import annotations

from ...compile import function, select, slots, sqrt
from ...compile.recorded.programs import implicit_registers, run_program
from ...dynamics.derivatives.variations import VARIATION
from ...dynamics.steps.points import frame_pose, motion_at, point_motion
from ...spatial.groups import quaternion_log
from ...spatial.jacobians import log_functions, rotational_block
from ...spatial.motions import cross_force
from ...spatial.quaternions import from_rotation
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    put3,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from ..rows.measures import relative_rotation
from ..rows.pieces import CONNECT, COUPLING, DISTANCE, IMPLICIT, PERPENDICULAR, TILT_AND_TWIST
from ..rows.wrenches import ROW, piece_registers, tree_shift

# W' and W'' of a row: for the link of `frame`, then for that of `other`.
RATE = slots(n=3, f=3, second_n=3, second_f=3, other=12)


@function
def put_rates(model, piece, q, a, multipliers, gains, links, size, rates, work):
    """W' and W'' of a piece between frames; all derivatives of an IMPLICIT piece's function.

    `gains` are kp and kd. `work` has the registers of recorded functions.
    """
    if piece.kind == IMPLICIT:
        run_implicit(model, piece, a, multipliers, work)
    elif piece.kind != COUPLING:
        put_rates_between(model, piece, q, gains, links, size, rates)


@function
def put_rates_between(model, piece, q, gains, links, size, rates):
    """W' and W'' of the rows of a piece between frames."""
    frame, other = model.frames[piece.frame], model.frames[piece.other]
    R, p = frame_pose(frame, links, size)
    R_other, p_other = frame_pose(other, links, size)
    there = add(p, tree_shift(model, piece, q))
    apart = subtract(there, p_other)
    at, other_at = frame.link * size, other.link * size
    if piece.kind == CONNECT:
        put_connect_rates(piece, links, at, p, gains, rates, 0)
        put_connect_rates(piece, links, other_at, p_other, gains, rates, RATE.other)
    elif piece.kind == DISTANCE:
        put_distance_rates(piece, links, at, other_at, p, p_other, apart, gains, rates)
    elif piece.kind == PERPENDICULAR:
        put_perpendicular_rates(piece, links, at, other_at, R, R_other, gains, rates)
    else:
        poses = (R, p, R_other, there, apart)
        put_relative_rates(piece, links, at, other_at, poses, gains, rates)


@function
def put_rate(rates, at, n, f, second_n, second_f):
    """Store W' and W'' of a row, for one of its links."""
    put3(rates, at + RATE.n, n)
    put3(rates, at + RATE.f, f)
    put3(rates, at + RATE.second_n, second_n)
    put3(rates, at + RATE.second_f, second_f)


@function
def put_holonomic_rate(rates, at, gains, W, W1, W2):
    """W' = 2 dW/dt + kd W, W'' = d2W/dt2 + kd dW/dt + kp W, from moments and forces of each."""
    kp, kd = gains
    n, f = W
    n1, f1 = W1
    n2, f2 = W2
    put_rate(
        rates,
        at,
        add_scaled(scale(2.0, n1), kd, n),
        add_scaled(scale(2.0, f1), kd, f),
        add_scaled(add_scaled(n2, kd, n1), kp, n),
        add_scaled(add_scaled(f2, kd, f1), kp, f),
    )


@function
def put_connect_rates(piece, links, at, p, gains, rates, side):
    """W is a force along an axis of the world at a point p: only p moves."""
    u, a = point_motion(links, at, p)
    put_axis_rate(rates, piece.row * RATE.size + side, gains, p, u, a, (1.0, 0.0, 0.0))
    put_axis_rate(rates, (piece.row + 1) * RATE.size + side, gains, p, u, a, (0.0, 1.0, 0.0))
    put_axis_rate(rates, (piece.row + 2) * RATE.size + side, gains, p, u, a, (0.0, 0.0, 1.0))


@function
def put_axis_rate(rates, at, gains, p, u, a, f):
    """W' and W'' of a force along a fixed axis f at a point p that moves by u and a."""
    none = (0.0, 0.0, 0.0)
    W, W1, W2 = (cross(p, f), f), (cross(u, f), none), (cross(a, f), none)
    put_holonomic_rate(rates, at, gains, W, W1, W2)


@function
def put_distance_rates(piece, links, at, other_at, p, p_other, apart, gains, rates):
    """W is a force along the line between the points, which moves and turns."""
    u, a = point_motion(links, at, p)
    u_other, a_other = point_motion(links, other_at, p_other)
    d1, d2 = subtract(u, u_other), subtract(a, a_other)
    inverse = 1.0 / sqrt(dot(apart, apart))
    x = scale(inverse, apart)
    speed = dot(x, d1)
    x1 = scale(inverse, add_scaled(d1, -speed, x))
    # x is a unit vector, so that x . x2 = -x1 . x1.
    x2 = scale(inverse, add_scaled(d2, -2.0 * speed, x1))
    x2 = add_scaled(x2, -dot(x1, x1) - dot(x, x2), x)
    row = piece.row * RATE.size
    put_line_rate(rates, row, gains, (p, u, a), (x, x1, x2))
    put_line_rate(rates, row + RATE.other, gains, (p_other, u_other, a_other), (x, x1, x2))


@function
def put_line_rate(rates, at, gains, point, force):
    """W = (p x x, x) and its rates, for a force x(t) at p(t), each with two derivatives."""
    p, u, a = point
    x, x1, x2 = force
    n, n1 = cross(p, x), add_cross(cross(p, x1), u, x)
    n2 = add_cross(add_cross(cross(p, x2), scale(2.0, u), x1), a, x)
    put_holonomic_rate(rates, at, gains, (n, x), (n1, x1), (n2, x2))


@function
def put_perpendicular_rates(piece, links, at, other_at, R, R_other, gains, rates):
    """W is a moment x cross y, of an axis of each frame."""
    x, x1, x2 = axis_motion(links, at, rotate(R, get3(piece.axis, 0)))
    y, y1, y2 = axis_motion(links, other_at, rotate(R_other, get3(piece.other_axis, 0)))
    n, n1 = cross(x, y), add_cross(cross(x1, y), x, y1)
    n2 = add_cross(add_cross(cross(x2, y), scale(2.0, x1), y1), x, y2)
    none, row = (0.0, 0.0, 0.0), piece.row * RATE.size
    put_holonomic_rate(rates, row, gains, (n, none), (n1, none), (n2, none))
    put_holonomic_rate(rates, row + RATE.other, gains, (n, none), (n1, none), (n2, none))


@function
def axis_motion(links, at, x):
    """An axis of a link, dx/dt = omega x x, and d2x/dt2"""
    omega, _, alpha, _ = motion_at(links, at, (0.0, 0.0, 0.0))
    rate = cross(omega, x)
    return x, rate, add_cross(cross(alpha, x), omega, rate)


@function
def put_relative_rates(piece, links, at, other_at, poses, gains, rates):
    """W is constant in the frame's axes.

    `poses`: rotation and position of the frame, rotation of the other frame, the frame's position
    about the origin of the other's tree, and the vector from the other frame to it.
    """
    R, p, R_other, p_there, apart = poses
    kp, kd = gains
    omega, u, _, _ = motion_at(links, at, p)
    omega_other, u_other, alpha_other, a_other = motion_at(links, other_at, p_there)
    both_omega, both_u = add(omega, omega_other), add(u, u_other)
    for k in range(piece.count):
        b_linear, b_angular = get3(piece.basis, 6 * k), get3(piece.basis, 6 * k + 3)
        f, n = rotate(R, b_linear), rotate(R, b_angular)
        n1, f1 = cross_force(both_omega, both_u, n, f)
        n1, f1 = add_scaled(n1, kd, n), add_scaled(f1, kd, f)
        n2, f2 = cross_force(alpha_other, a_other, n, f)
        # v_other x* (v x* W + kd W)
        x_n, x_f = cross_force(omega, u, n, f)
        x_n, x_f = add_scaled(x_n, kd, n), add_scaled(x_f, kd, f)
        x_n, x_f = cross_force(omega_other, u_other, x_n, x_f)
        n2, f2 = add(n2, x_n), add(f2, x_f)
        m = rotate(R, rotation_error_gradient(piece, R, R_other, b_angular))
        n2 = add_scaled(add_scaled(n2, kp, m), -kp, cross(apart, f))
        f2 = add_scaled(f2, kp, f)
        row = (piece.row + k) * RATE.size
        put_rate(rates, row, add_cross(n1, p, f1), f1, add_cross(n2, p, f2), f2)
        n1, n2 = add_cross(n1, p_there, f1), add_cross(n2, p_there, f2)
        put_rate(rates, row + RATE.other, n1, f1, n2, f2)


@function
def rotation_error_gradient(piece, R, R_other, b):
    """d(b . error)/dw, as the frame turns by w in its own axes (see `measures.rotation_error`)"""
    E = relative_rotation(R, R_other)
    if piece.measure == TILT_AND_TWIST:
        x = get3(piece.axis, 0)
        y = rotate_back(R, rotate(R_other, x))
        k = 2.0 / (1.0 + dot(x, y))
        g = add_scaled(scale(k, cross(x, b)), -0.5 * k * k * dot(b, cross(y, x)), x)
        return add_scaled(cross(g, y), dot(b, x), twist_gradient(E, x))
    w = quaternion_log(from_rotation(E))
    _, terms = log_functions(dot(w, w))
    return rotate_back(rotational_block(terms, w), b)


@function
def twist_gradient(E, x):
    """The gradient of `measures.twist_angle`, the angle of a rotation about an axis x.

    It is zero where the angle is not defined.
    """
    trace = E[0] + E[4] + E[8]
    s = (E[7] - E[5], E[2] - E[6], E[3] - E[1])
    sine, cosine = dot(s, x), trace - 1.0
    square = sine * sine + cosine * cosine
    g = add_scaled(scale(sine, s), cosine, subtract(scale(trace, x), rotate(E, x)))
    return scale(1.0 / select(square > 0.0, square, 1.0 + square), g)


# --- columns --------------------------------------------------------------------------------------


@function
def put_row_derivatives(model, piece, gains, dofs, size, rates, C_q, C_v, work):
    """The panels of C of a piece, by q and by v."""
    rows = work.rows
    kp, kd = gains
    for place in range(piece.length):
        step = model.steps[piece.path + place]
        at, dof = piece.panel + place * piece.height, step.dof * size
        for r in range(piece.count):
            row, rate = (piece.row + r) * ROW.size, (piece.row + r) * RATE.size
            x, y = 0.0 * kp, 0.0 * kp
            if piece.kind == COUPLING:
                x, y = kp * step.weight, kd * step.weight
            elif piece.kind == IMPLICIT:
                if step.term >= 0:
                    x, y = vary_implicit(piece, step.term, r, kp, kd, work)
            elif step.weight > 0.0:
                x, y = vary_row(dofs, dof, rows, row + ROW.n, rates, rate)
            elif step.weight < 0.0:
                x, y = vary_row(dofs, dof, rows, row + ROW.other_n, rates, rate + RATE.other)
                x, y = -x, -y
            elif piece.kind == CONNECT:  # j carries both points, and turns the line between them
                x, y = vary_row(dofs, dof, rows, row + ROW.n, rates, rate)
                z, w = vary_row(dofs, dof, rows, row + ROW.other_n, rates, rate + RATE.other)
                x, y = x - z, y - w
            C_q[at + r] = x
            C_v[at + r] = y


@function
def run_implicit(model, piece, a, multipliers, work):
    """Run all of a recorded function's program; `put_rows` has put x and v into the registers."""
    at = implicit_registers(piece.term_count, piece.count)
    registers = piece_registers(piece, work)
    for t in range(piece.term_count):
        registers[at.a + t] = a[model.terms[piece.first_term + t].v]
    for r in range(piece.count):
        registers[at.w + r] = multipliers[piece.row + r]
    run_program(model.code, piece.program, piece.to_end, model.constants, registers)


@function
def vary_implicit(piece, term, r, kp, kd, work):
    """d(J a + bias)/dx + kd d(J v)/dx + kp J, and dbias/dv + kd J; bias is quadratic in v"""
    at = implicit_registers(piece.term_count, piece.count)
    registers = piece_registers(piece, work)
    entry = r * piece.term_count + term
    jacobian, by_v = registers[at.jacobian + entry], registers[at.bias_by_v + entry]
    x = registers[at.acceleration_by_x + entry] + kd * (0.5 * by_v) + kp * jacobian
    return x, by_v + kd * jacobian


@function
def vary_row(dofs, dof, rows, row, rates, rate):
    """W . Phi + W' . Psi + W'' . S, and W . Xi + W' . S"""
    n, f = get3(rows, row), get3(rows, row + 3)
    n1, f1 = get3(rates, rate + RATE.n), get3(rates, rate + RATE.f)
    n2, f2 = get3(rates, rate + RATE.second_n), get3(rates, rate + RATE.second_f)
    angular, linear = get3(dofs, dof + VARIATION.angular), get3(dofs, dof + VARIATION.linear)
    x = dot(n, get3(dofs, dof + VARIATION.phi_angular))
    x = x + dot(f, get3(dofs, dof + VARIATION.phi_linear))
    x = x + dot(n1, get3(dofs, dof + VARIATION.psi_angular))
    x = x + dot(f1, get3(dofs, dof + VARIATION.psi_linear))
    x = x + dot(n2, angular) + dot(f2, linear)
    y = dot(n, get3(dofs, dof + VARIATION.xi_angular))
    y = y + dot(f, get3(dofs, dof + VARIATION.xi_linear))
    y = y + dot(n1, angular) + dot(f1, linear)
    return x, y
