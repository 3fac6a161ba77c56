"""Assembly of one step: rows with their blocks and biases; inertia, momentum and forces of bodies.

Tsounis et al., Eqs. (56) to (74), (80), (94). A step solves

    A u+ = g + J^T lambda,    v+ = J u+ + bias

| paper         | here                | what it is                                                |
| ------------- | ------------------- | --------------------------------------------------------- |
| J             | blocks              | Jacobian of all rows (67), see `rows.blocks`              |
| J_a           | free blocks         | Jacobian of all degrees of freedom (64), v = J_a u        |
| M             | inertia             | a 6x6 block of each body (57)                             |
| M + implicit  | A                   | and J_a^T w J_a, w the weight of a degree of freedom      |
| M u- + dt h   | momentum, g         | (72), with armature and forces of joints                  |
| w_gc, w_e     | gyroscopic, wrenches | gravity and gyroscopic terms (59), external wrenches     |

Armature is inertia of the motion across a joint. Springs and dampers are implicit: their forces are
those at the end of the step, so they add dt (damping + dt stiffness) to the weight.
"""

from __future__ import annotations

from ..compile import function, kernel, layout, routine
from ..model.configuration import difference
from ..spatial.vectors import get3, get6, put3, symmetric_times
from .conversion import JOINTS, place_all
from .rows.biases import SETTINGS, bias_contact, bias_joint_row, bias_limit_row
from .rows.blocks import PAIR, ROW, measure_joint, put_free_pair, put_joint
from .rows.bodies import BODY, TWIST, gyroscopic
from .rows.contacts import CONTACT, CONTACT_BLOCKS, put_contact
from .rows.couplings import put_coupling
from .rows.drifts import free_drift
from .rows.limits import find_active, put_bounded, put_limit
from .structure.packed import SIDE, SystemArrays

# Bodies and joints at a state, coordinates and velocities of the tree, how far springs are
# stretched, and registers of recorded functions.
# `rotors` are the velocities that armatures have before those of bodies change: see `put_rotors`.
STATE = layout(JOINTS, q="nq", v="nv", stretch="nv", rotors="nv", registers="registers")

_put_difference = difference.function


@routine
def place_system(system, poses, twists, near, work):
    """Bodies, joints and coordinates at a state."""
    place_all(system, poses, twists, near, work.q, work.v, work)


# --- rows -----------------------------------------------------------------------------------------


@function
def joint_rows(system):
    """Number of rows of joints and couplings."""
    if len(system.couplings) > 0:
        last = system.couplings[len(system.couplings) - 1]
        return last.row + last.rows
    if len(system.joints) == 0:
        return 0
    return system.joints[len(system.joints) - 1].row + system.joints[len(system.joints) - 1].rows


@function
def rows_before(system, first):
    """Number of rows of joints before joint `first`."""
    return system.joints[first - 1].row + system.joints[first - 1].rows if first > 0 else 0


@function
def joint_blocks(system):
    """Number of numbers of the blocks of joints and couplings."""
    if len(system.couplings) > 0:
        last = system.couplings[len(system.couplings) - 1]
        return last.block + SIDE * last.rows * last.body_count
    return PAIR * joint_rows(system)


@routine
def put_joint_rows(system, first, settings, work, blocks, rows):
    """Blocks and rows of joints and couplings, with their biases.

    Joints before `first` hold by themselves: they have no blocks.
    """
    for j in range(first):
        measure_joint(system, j, work.bodies, work.joints, rows)
    for j in range(first, len(system.joints)):
        put_joint(system, j, work.bodies, work.joints, blocks, rows)
    for c in range(len(system.couplings)):
        put_coupling(system, c, work, blocks, rows)
    for row in range(joint_rows(system)):
        bias_joint_row(settings, rows, row)


@routine
def put_limit_rows(system, settings, work, blocks, rows, active):
    """Blocks and rows of limits within the margin, and of dry friction; returns the next row."""
    row, at = joint_rows(system), joint_blocks(system)
    count = find_active(system, work.q, settings[SETTINGS.limit_margin], active)
    for i in range(count):
        put_limit(system, i, active, work, blocks, at + PAIR * i, rows, row + i)
        bias_limit_row(settings, rows, row + i)
    at += PAIR * len(system.limits)
    put_bounded(system, work, blocks, at, rows, row + count)
    return row + count + len(system.bounded)


@routine
def put_contact_rows(system, contacts, count, settings, work, blocks, rows, row):
    """Blocks and rows of contacts, from `row` on."""
    at = joint_blocks(system) + PAIR * (len(system.limits) + len(system.bounded))
    for c in range(count):
        start = at + CONTACT_BLOCKS * c
        put_contact(system, contacts, c, work.bodies, blocks, start, rows, row + 3 * c)
        bias_contact(contacts, c, settings, rows, row + 3 * c)


@kernel(
    SystemArrays,
    inputs={
        "poses": "n_bodies 7",
        "twists": "n_bodies 6",
        "near": "nq",
        "contacts": f"n_slots {CONTACT.size}",
        "count": "1",
        "settings": f"{SETTINGS.size} common",
    },
    outputs={"blocks": "n_blocks", "rows": f"n_rows {ROW.size}", "active": "n_limits 2"},
    work=STATE,
    lanes=False,
    label="rows of a step",
)
def step_rows(system, poses, twists, near, contacts, count, settings, blocks, rows, active, work):
    """Blocks and rows of joints, limits, dry friction and contacts; see ROW and ACTIVE"""
    place_system(system, poses, twists, near, work)
    put_joint_rows(system, 0, settings, work, blocks, rows)
    row = put_limit_rows(system, settings, work, blocks, rows, active)
    put_contact_rows(system, contacts, int(count[0]), settings, work, blocks, rows, row)


# --- bodies ---------------------------------------------------------------------------------------


@function
def put_weights(system, gains, dt, weights):
    """armature + dt (damping + dt stiffness) of each degree of freedom, with gains of its motor.

    `gains` are a stiffness and a damping for each: the implicit part of a controller whose force at
    the start of the step is part of tau.
    """
    for k in range(len(system.dofs)):
        stiffness = system.stiffness[k] + gains[2 * k]
        damping = system.damping[k] + gains[2 * k + 1]
        weights[k] = system.armature[k] + dt * (damping + dt * stiffness)


@function
def put_rotors(system, dt, work):
    """v - dt dJ_a/dt u, as the joint's velocity is J_a u+ + dt dJ_a/dt u at the end of the step."""
    for k in range(len(system.dofs)):
        work.rotors[k] = work.v[k]
        if system.armature[k] > 0.0:
            dof = system.dofs[k]
            place = dof.place - system.joints[dof.joint].rows
            drift = free_drift(system, dof.joint, place, work.bodies, work.joints)
            work.rotors[k] = work.v[k] - dt * drift


@function
def dof_impulse(system, k, tau, dt, work):
    """Momentum of the armature of degree of freedom k, and dt times its force at the start."""
    impulse = dt * (tau[k] - system.stiffness[k] * work.stretch[k])
    return impulse + system.armature[k] * work.rotors[k]


@function
def put_inertia(system, i, bodies, inertia, at):
    """(57): the 6x6 block of body i, by rows, from `at` on."""
    A, mass = get6(bodies, i * BODY.size + BODY.I), system.bodies[i].mass
    for k in range(36):
        inertia[at + k] = 0.0
    for k in range(3):
        inertia[at + 7 * k] = mass
    put3(inertia, at + 21, (A[0], A[1], A[2]))
    put3(inertia, at + 27, (A[1], A[3], A[4]))
    put3(inertia, at + 33, (A[2], A[4], A[5]))


@function
def put_momentum(system, i, wrenches, dt, bodies, momentum, at):
    """M u- + dt (w_g + w_e) of body i, without gyroscopic terms, six numbers from `at` on."""
    body, mass = i * BODY.size, system.bodies[i].mass
    wrench, A = (i - 1) * SIDE, get6(bodies, body + BODY.I)
    v = get3(bodies, body + BODY.v)
    spin = symmetric_times(A, get3(bodies, body + BODY.omega))
    for k in range(3):
        force = mass * system.gravity[k] + wrenches[wrench + k]
        momentum[at + k] = mass * v[k] + dt * force
        momentum[at + 3 + k] = spin[k] + dt * wrenches[wrench + 3 + k]


@function
def add_gyroscopic(i, dt, bodies, momentum, at):
    """Add - dt omega x I omega of body i to its momentum: the term of the start of the step."""
    turning = gyroscopic(bodies, i)
    for k in range(3):
        momentum[at + 3 + k] = momentum[at + 3 + k] - dt * turning[k]


@function
def add_dof_impulses(system, tau, dt, work, free_blocks, momentum):
    """Add J_a^T (armature rotor + dt force) of all joints to the momentum of the bodies."""
    _put_difference(system, system.rest, work.q, work.stretch, work)
    for k in range(len(system.dofs)):
        put_free_pair(system, k, work.joints, free_blocks, PAIR * k)
        joint = system.joints[system.dofs[k].joint]
        impulse = dof_impulse(system, k, tau, dt, work)
        for i in range(SIDE):
            if joint.base_body > 0:
                at = (joint.base_body - 1) * SIDE + i
                momentum[at] += impulse * free_blocks[PAIR * k + i]
            momentum[(joint.follower - 1) * SIDE + i] += impulse * free_blocks[PAIR * k + SIDE + i]


@kernel(
    SystemArrays,
    inputs={
        "poses": "n_bodies 7",
        "twists": "n_bodies 6",
        "near": "nq",
        "tau": "nv",
        "wrenches": "n_bodies 6",
        "dt": "1 common",
    },
    outputs={"inertia": "n_bodies 6 6", "momentum": "n_bodies 6", "free_blocks": "nv 12"},
    work=STATE,
    lanes=False,
    label="momentum of a step",
)
def step_momentum(
    system, poses, twists, near, tau, wrenches, dt, inertia, momentum, free_blocks, work
):
    """M, g = M u- + dt h, and the blocks of J_a"""
    place_system(system, poses, twists, near, work)
    for i in range(1, len(system.bodies)):
        put_inertia(system, i, work.bodies, inertia, 36 * (i - 1))
        put_momentum(system, i, wrenches, dt[0], work.bodies, momentum, TWIST.size * (i - 1))
        add_gyroscopic(i, dt[0], work.bodies, momentum, TWIST.size * (i - 1))
    put_rotors(system, dt[0], work)
    add_dof_impulses(system, tau, dt[0], work, free_blocks, momentum)
