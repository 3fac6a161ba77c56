"""Velocities of all bodies by those of degrees of freedom: joints of the tree hold by themselves.

    u = S w + u_0        w: velocities of degrees of freedom        J_t S = 0,  J_t u_0 + c = 0

J_t are the rows of joints of the tree, c what is added to their velocities. All motions and forces
of a tree are about one point, the centre of mass of its first body, and in world axes: then a body
moves as the one that carries it, and nothing has to be moved from body to body.

| symbol | here | what it is |
| --- | --- | --- |
| T_j | tree.motions | six motions across a joint: one for each of its rows, which has the |
|     |              | velocity 1 while the others have 0; S are those of degrees of freedom |
| u_0 | tree.offsets | motions of bodies with w = 0: a joint's rows have the velocities -c |
| I_b | tree.composites | mass, first and second moments of body b and all that it carries |
| S^T M S | A | mass matrix of degrees of freedom, by composite rigid bodies |
| S^T f | forces | of forces f on bodies |
| F_b | tree.wrenches | sum of the forces on body b and all that it carries |

A motion is (velocity of what is at the point, angular velocity), a wrench (force, moment about the
point). All sweeps take a time that is linear in the number of bodies, but S^T M S, which takes one
for each two degrees of freedom of which one carries the other.
"""

from __future__ import annotations

from ...compile import function, layout, routine
from ...contact.operators.blocks import add_scaled6, dot6
from ...maximal.rows.blocks import joint_row
from ...maximal.rows.bodies import BODY
from ...maximal.rows.joints import JOINT
from ...maximal.structure.packed import SIDE
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    put3,
    put6,
    scale,
    subtract,
    symmetric_times,
)

MOTIONS = 36  # numbers of T of one joint
COMPOSITE = 10  # mass, first moment, second moments
TREE = layout(
    arms=("tree_bodies", 3),
    motions=("tree_bodies", MOTIONS),
    offsets=("tree_bodies", SIDE),
    composites=("tree_bodies", COMPOSITE),
    wrenches=("tree_bodies", SIDE),
)


# --- motions --------------------------------------------------------------------------------------


@function
def six(a, b):
    """Six numbers of two vectors."""
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@function
def put_arms(model, bodies, arms):
    """From the point of its tree to the centre of mass of each body."""
    for b in range(1, len(model.bodies)):
        root = get3(bodies, model.roots[b - 1] * BODY.size + BODY.r)
        put3(arms, 3 * (b - 1), subtract(get3(bodies, b * BODY.size + BODY.r), root))


@function
def about_point(arm, wrench):
    """A wrench about a centre of mass, about the point of its tree."""
    f, n = (wrench[0], wrench[1], wrench[2]), (wrench[3], wrench[4], wrench[5])
    return six(f, add_cross(n, arm, f))


@function
def at_center(arm, motion):
    """A motion by the velocity of a centre of mass."""
    v, omega = (motion[0], motion[1], motion[2]), (motion[3], motion[4], motion[5])
    return six(add_cross(v, omega, arm), omega)


@function
def dual_axes(a, b, c):
    """Three vectors, of which each has the product 1 with one of the given, 0 with the others."""
    x = cross(b, c)
    s = 1.0 / dot(a, x)
    return scale(s, x), scale(s, cross(c, a)), scale(s, cross(a, b))


@function
def find_row(joint, is_angular, number):
    """The place of a linear or an angular row in the record of a joint, in the order of rows.

    Linear rows come first, among those that are constrained as among those that are free.
    """
    linear, free_linear = 0, 0
    for i in range(3):
        linear = linear + joint.linear[i]
        free_linear = free_linear + joint.free_linear[i]
    first, count = (linear, joint.rows - linear) if is_angular else (0, linear)
    free = joint.rows + (free_linear if is_angular else 0)
    return first + number if number < count else free + number - count


@routine
def put_motions(model, work):
    """Arms of all bodies, and T of all joints of the tree"""
    tree = work.op.tree
    put_arms(model, work.bodies, tree.arms)
    for j in range(len(model.bodies) - 1):
        put_motions_of(model, j, get3(tree.arms, 3 * j), work.joints, tree.motions)


@function
def put_motions_of(model, j, arm, joints, motions):
    """T of joint j, which carries body j + 1 with that arm.

    Angular rows have no force, so their motions come first; only screws have linear rows with
    moments, by which a turn moves along them.
    """
    joint = model.joints[j]
    l0, l1, l2 = find_row(joint, False, 0), find_row(joint, False, 1), find_row(joint, False, 2)
    a0, a1, a2 = find_row(joint, True, 0), find_row(joint, True, 1), find_row(joint, True, 2)
    (f0, m0), (f1, m1), (f2, m2) = (
        joint_row(joints, j, l0),
        joint_row(joints, j, l1),
        joint_row(joints, j, l2),
    )
    (_, n0), (_, n1), (_, n2) = (
        joint_row(joints, j, a0),
        joint_row(joints, j, a1),
        joint_row(joints, j, a2),
    )
    x, y, z = dual_axes(f0, f1, f2)
    u, v, w = dual_axes(n0, n1, n2)
    at, none = MOTIONS * j, (0.0, 0.0, 0.0)
    put6(motions, at + SIDE * l0, six(x, none))
    put6(motions, at + SIDE * l1, six(y, none))
    put6(motions, at + SIDE * l2, six(z, none))
    p = add(arm, get3(joints, j * JOINT.size + JOINT.arm))
    put6(motions, at + SIDE * a0, turn_motion(u, p, (x, y, z), (m0, m1, m2)))
    put6(motions, at + SIDE * a1, turn_motion(v, p, (x, y, z), (m0, m1, m2)))
    put6(motions, at + SIDE * a2, turn_motion(w, p, (x, y, z), (m0, m1, m2)))


@function
def turn_motion(omega, p, axes, moments):
    """The motion of a turn about an axis through p, along which linear rows do not move."""
    v = cross(p, omega)
    for i in range(3):
        v = add_scaled(v, -dot(moments[i], omega), axes[i])
    return six(v, omega)


@function
def motion_of(model, j, k, motions):
    """The motion of degree of freedom k, which is one of joint j."""
    joint = model.joints[j]
    return get6(motions, MOTIONS * j + SIDE * (joint.rows + k - joint.v))


@routine
def put_offsets(model, drift, work):
    """u_0 for rows with J_t u + drift = 0"""
    tree = work.op.tree
    for j in range(len(model.bodies) - 1):
        joint = model.joints[j]
        motion = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if joint.base_body > 0:
            motion = get6(tree.offsets, SIDE * (joint.base_body - 1))
        for r in range(joint.rows):
            c = drift[joint.row + r]
            motion = add_scaled6(motion, -c, get6(tree.motions, MOTIONS * j + SIDE * r))
        put6(tree.offsets, SIDE * j, motion)


@routine
def put_velocities(model, w, u, work):
    """u = S w + u_0, by the velocities of centres of mass; wrenches are used as memory."""
    tree = work.op.tree
    for j in range(len(model.bodies) - 1):
        joint, motion = model.joints[j], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if joint.base_body > 0:
            motion = get6(tree.wrenches, SIDE * (joint.base_body - 1))
        for k in range(joint.v, joint.v + joint.nv):
            x = w[model.dof_places[k]]
            motion = add_scaled6(motion, x, motion_of(model, j, k, tree.motions))
        put6(tree.wrenches, SIDE * j, motion)
        offset = get6(tree.offsets, SIDE * j)
        motion = add_scaled6(motion, 1.0, offset)
        put6(u, SIDE * j, at_center(get3(tree.arms, 3 * j), motion))


# --- the mass matrix ------------------------------------------------------------------------------


@function
def composite_of(model, b, c, bodies):
    """Mass, first moment and second moments of body b, with arm c, about the point of its tree."""
    m = model.bodies[b].mass
    A, square = get6(bodies, b * BODY.size + BODY.I), dot(c, c)
    return (
        m,
        m * c[0],
        m * c[1],
        m * c[2],
        A[0] + m * (square - c[0] * c[0]),
        A[1] - m * c[0] * c[1],
        A[2] - m * c[0] * c[2],
        A[3] + m * (square - c[1] * c[1]),
        A[4] - m * c[1] * c[2],
        A[5] + m * (square - c[2] * c[2]),
    )


@function
def momentum_of(composites, j, motion):
    """I_b motion of body b = j + 1, a wrench."""
    at = COMPOSITE * j
    m, h, A = composites[at], get3(composites, at + 1), get6(composites, at + 4)
    v, omega = (motion[0], motion[1], motion[2]), (motion[3], motion[4], motion[5])
    return six(add_cross(scale(m, v), omega, h), add_cross(symmetric_times(A, omega), h, v))


@routine
def put_composites(model, work):
    """I_b of all bodies"""
    tree = work.op.tree
    for j in range(len(model.bodies) - 1):
        own = composite_of(model, j + 1, get3(tree.arms, 3 * j), work.bodies)
        for t in range(COMPOSITE):
            tree.composites[COMPOSITE * j + t] = own[t]
    for j in range(len(model.bodies) - 2, -1, -1):
        base = model.joints[j].base_body
        for t in range(COMPOSITE if base > 0 else 0):
            at = COMPOSITE * (base - 1) + t
            tree.composites[at] = tree.composites[at] + tree.composites[COMPOSITE * j + t]


@routine
def add_mass_matrix(model, A, work):
    """A + S^T M S, where its numbers stand for each degree of freedom and those on its path"""
    motions, number = work.op.tree.motions, 0
    put_composites(model, work)
    for k in range(len(model.dofs)):
        j = model.dofs[k].joint
        first, end = model.dof_steps[k], model.paths[j].end
        wrench = momentum_of(work.op.tree.composites, j, get6(motions, model.steps[first].motion))
        for t in range(first, end):
            at = model.mass_places[number]
            A[at] = A[at] + dot6(get6(motions, model.steps[t].motion), wrench)
            number += 1


# --- forces ---------------------------------------------------------------------------------------


@function
def momentum_at_center(model, b, u, bodies):
    """M u of body b, about its centre of mass."""
    m, A = model.bodies[b].mass, get6(bodies, b * BODY.size + BODY.I)
    v, omega = (u[0], u[1], u[2]), (u[3], u[4], u[5])
    return six(scale(m, v), symmetric_times(A, omega))


@function
def add_to_bases(model, wrenches):
    """The sum of the wrenches on each body and on all that it carries."""
    for j in range(len(model.bodies) - 2, -1, -1):
        base = model.joints[j].base_body
        if base > 0:
            at = SIDE * (base - 1)
            put6(wrenches, at, add_scaled6(get6(wrenches, at), 1.0, get6(wrenches, SIDE * j)))


@routine
def put_forces_without(model, g, forces, work):
    """S^T (g - M u_0) in the places of degrees of freedom, of wrenches g about centres of mass"""
    tree = work.op.tree
    for j in range(len(model.bodies) - 1):
        arm = get3(tree.arms, 3 * j)
        u_0 = at_center(arm, get6(tree.offsets, SIDE * j))
        own = momentum_at_center(model, j + 1, u_0, work.bodies)
        wrench = add_scaled6(get6(g, SIDE * j), -1.0, own)
        put6(tree.wrenches, SIDE * j, about_point(arm, wrench))
    add_to_bases(model, tree.wrenches)
    for j in range(len(model.bodies) - 1):
        joint, wrench = model.joints[j], get6(tree.wrenches, SIDE * j)
        for k in range(joint.v, joint.v + joint.nv):
            x = dot6(motion_of(model, j, k, tree.motions), wrench)
            forces[model.dof_places[k]] = x


@routine
def put_reactions_within(model, u, g, reactions, work):
    """Impulses along rows of the tree: M u - g = J_t^T reactions, with all other forces in g"""
    tree = work.op.tree
    for j in range(len(model.bodies) - 1):
        own = momentum_at_center(model, j + 1, get6(u, SIDE * j), work.bodies)
        wrench = add_scaled6(own, -1.0, get6(g, SIDE * j))
        put6(tree.wrenches, SIDE * j, about_point(get3(tree.arms, 3 * j), wrench))
    add_to_bases(model, tree.wrenches)
    for j in range(len(model.bodies) - 1):
        joint, wrench = model.joints[j], get6(tree.wrenches, SIDE * j)
        for r in range(joint.rows):
            motion = get6(tree.motions, MOTIONS * j + SIDE * r)
            reactions[joint.row + r] = dot6(motion, wrench)
