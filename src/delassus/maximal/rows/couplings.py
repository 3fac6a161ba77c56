"""Rows between coordinates of joints: phi(q) = 0, of a weighted sum or a recorded function.

| symbol      | here                  | what it is                                                |
| ----------- | --------------------- | --------------------------------------------------------- |
| phi         | ROW.residual          | what the coupling asks to be zero                         |
| dphi/dq_t   | slope                 | its derivative by the coordinate of a term                |
| J_a, (64)   | f, n_row, arms        | the row of a coordinate, as force and moment at its joint |
| dJ/dt u     | `coupling_drift`      | how fast J u changes while twists do not                  |
| J           | blocks                | sum of slopes times rows of coordinates                   |
"""

from __future__ import annotations

from ...compile import clear, function, part
from ...compile.recorded.programs import implicit_registers, run_program
from ...spatial.vectors import add_cross
from ..structure.packed import SIDE
from .blocks import ROW, joint_arms, joint_row, put_measures
from .bodies import side_mobility, side_velocity
from .drifts import free_drift


@function
def put_coupling(system, c, work, blocks, rows):
    """Blocks of coupling c, and velocity, error and mobility of its rows."""
    coupling = system.couplings[c]
    height = SIDE * coupling.rows
    clear(part(blocks, coupling.block), height * coupling.body_count)
    if coupling.is_sum == 0:
        run_coupling(system, coupling, work.q, work.v, work.registers)
    for k in range(coupling.rows):
        put_slopes(system, coupling, k, work, blocks)
        velocity, mobility = 0.0, 0.0
        for b in range(coupling.body_count):
            body, at = system.pulled[coupling.first_body + b].body, coupling.block + SIDE * k
            velocity += side_velocity(work.bodies, body, blocks, at + height * b)
            mobility += side_mobility(system, work.bodies, body, blocks, at + height * b)
        put_measures(rows, coupling.row + k, velocity, mobility)
        residual = coupling_error(system, coupling, k, work)
        rows[(coupling.row + k) * ROW.size + ROW.residual] = residual


@function
def run_coupling(system, coupling, q, v, memory):
    """phi, dphi/dq and v^T d2phi/dq2 v of a recorded function, which stay in its registers."""
    at = implicit_registers(coupling.term_count, coupling.rows)
    registers = part(memory, coupling.registers)
    for t in range(coupling.term_count):
        term = system.terms[coupling.first_term + t]
        registers[at.x + t] = q[term.q]
        registers[at.v + t] = v[term.v]
    constants = system.program_constants
    run_program(system.code, coupling.program, coupling.to_bias, constants, registers)


@function
def coupling_error(system, coupling, k, work):
    """phi_k(q)"""
    if coupling.is_sum == 0:
        at = implicit_registers(coupling.term_count, coupling.rows)
        return work.registers[coupling.registers + at.value + k]
    error = -coupling.offset
    for t in range(coupling.first_term, coupling.first_term + coupling.term_count):
        error += system.terms[t].coefficient * work.q[system.terms[t].q]
    return error


@function
def slope_of(system, coupling, k, t, registers):
    """dphi_k/dq_t"""
    n = coupling.term_count
    if coupling.is_sum == 0:
        slopes = coupling.registers + implicit_registers(n, coupling.rows).jacobian
        return registers[slopes + n * k + t]
    return system.terms[coupling.first_term + t].coefficient


@function
def coupling_drift(system, coupling, k, work):
    """v^T d2phi_k/dq2 v + sum of slopes times drifts of coordinates, right after `put_coupling`."""
    drift = 0.0
    if coupling.is_sum == 0:
        at = implicit_registers(coupling.term_count, coupling.rows)
        drift = work.registers[coupling.registers + at.bias + k]
    for t in range(coupling.term_count):
        dof = system.dofs[system.terms[coupling.first_term + t].v]
        place = dof.place - system.joints[dof.joint].rows
        slope = slope_of(system, coupling, k, t, work.registers)
        drift += slope * free_drift(system, dof.joint, place, work.bodies, work.joints)
    return drift


@function
def put_slopes(system, coupling, k, work, blocks):
    """Add dphi_k/dq_t times the row of each coordinate to the blocks of its bodies."""
    for t in range(coupling.term_count):
        term = system.terms[coupling.first_term + t]
        slope = slope_of(system, coupling, k, t, work.registers)
        dof = system.dofs[term.v]
        f, n_row = joint_row(work.joints, dof.joint, dof.place)
        arm_base, arm = joint_arms(work.joints, dof.joint)
        at, height = coupling.block + SIDE * k, SIDE * coupling.rows
        if term.base_place >= 0:
            add_side(blocks, at + height * term.base_place, -slope, f, n_row, arm_base)
        if term.place >= 0:
            add_side(blocks, at + height * term.place, slope, f, n_row, arm)


@function
def add_side(blocks, at, weight, f, n, arm):
    """Add weight (f, n + arm x f) to six numbers of blocks."""
    moment = add_cross(n, arm, f)
    for i in range(3):
        blocks[at + i] += weight * f[i]
        blocks[at + 3 + i] += weight * moment[i]
