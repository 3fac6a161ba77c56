"""States of a system of bodies from coordinates of a tree, and back. O(n).

| symbol     | here           | what it is                                                      |
| ---------- | -------------- | --------------------------------------------------------------- |
| s_i, (20)  | poses          | centre of mass and quaternion of each body, in world axes       |
| u_i, (20)  | twists         | velocity of the centre of mass and angular velocity, world axes |
| q, v       | q, v           | coordinates and velocities of the joints of a tree              |
|            | near           | coordinates close by: angles and quaternions are not unique     |
| R_j X_j    | R_base, R_joint | axes of a joint's frame on its base and on its follower        |
| J_a, (64)  | `put_velocities` | v = J_a u                                                     |
"""

from __future__ import annotations

from ..compile import function, kernel, layout
from ..spatial.quaternions import from_rotation
from ..spatial.vectors import add, add_cross, compose, get3, get9, put3, put4, rotate, subtract
from .rows.bodies import (
    BODY,
    POSE,
    TWIST,
    center,
    place_bodies,
    place_world,
    point_velocity,
    put_body,
    put_motion,
)
from .rows.joints import (
    JOINT,
    base_frame,
    displacement,
    motion_across,
    place_joint,
    put_coordinates,
    put_velocities,
    transposed,
)
from .structure.packed import SystemArrays

BODIES = layout(bodies=("n_places", BODY))
JOINTS = layout(BODIES, joints=("n_joints", JOINT))


@function
def place_follower(system, j, q, v, bodies):
    """Place the body that joint j of the tree carries, and store its motion."""
    joint = system.joints[j]
    R_base, p_base = base_frame(joint, bodies)
    turned, moved = displacement(joint, q)
    R_joint, p = compose(R_base, turned), add(p_base, rotate(R_base, moved))
    R = compose(R_joint, transposed(get9(joint.rotation, 0)))
    r = subtract(p, rotate(R, get3(joint.position, 0)))
    put_body(system, joint.follower, R, r, bodies)
    base = joint.base_body * BODY.size
    linear, angular = motion_across(joint, R_base, R_joint, q, v)
    arm = subtract(p, center(bodies, joint.base_body))
    linear = add(point_velocity(bodies, joint.base_body, arm), linear)
    omega = add(get3(bodies, base + BODY.omega), angular)
    put_motion(joint.follower, add_cross(linear, omega, subtract(r, p)), omega, bodies)


@kernel(
    SystemArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"poses": "n_bodies 7", "twists": "n_bodies 6"},
    work=BODIES,
    lanes=False,
    label="maximal state",
)
def maximal_state(system, q, v, poses, twists, work):
    """Poses and twists of all bodies: joint i of the tree carries body i + 1"""
    bodies = work.bodies
    place_world(system, bodies)
    for j in range(len(system.bodies) - 1):
        place_follower(system, j, q, v, bodies)
        at = (j + 1) * BODY.size
        put3(poses, j * POSE.size, get3(bodies, at + BODY.r))
        put4(poses, j * POSE.size + POSE.quaternion, from_rotation(get9(bodies, at + BODY.R)))
        put3(twists, j * TWIST.size, get3(bodies, at + BODY.v))
        put3(twists, j * TWIST.size + TWIST.omega, get3(bodies, at + BODY.omega))


@function
def place_all(system, poses, twists, near, q, v, work):
    """Bodies and joints at a state, and q and v of the tree's joints."""
    place_bodies(system, poses, twists, work.bodies)
    for j in range(len(system.joints)):
        seen = place_joint(system, j, near, work.bodies, work.joints)
        if j < len(system.bodies) - 1:
            put_coordinates(system.joints[j], seen, near, q)
            put_velocities(system.joints[j], work.bodies, work.joints, j * JOINT.size, v)


@kernel(
    SystemArrays,
    inputs={"poses": "n_bodies 7", "twists": "n_bodies 6", "near": "nq"},
    outputs={"q": "nq", "v": "nv"},
    work=JOINTS,
    lanes=False,
    label="tree coordinates",
)
def tree_coordinates(system, poses, twists, near, q, v, work):
    """q nearest to `near`, and v = J_a u"""
    place_all(system, poses, twists, near, q, v, work)
