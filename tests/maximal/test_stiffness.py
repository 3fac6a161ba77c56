"""The structured stiffness of joints is J^T S^-1 J, in blocks."""

import numpy as np
import pytest

from delassus.compile import kernel
from delassus.maximal.assembly import STATE, place_system
from delassus.maximal.stiffness import Places, add_joint, push_joint
from delassus.maximal.structure.packed import SystemArrays
from delassus.maximal.system import MaximalSystem
from maximal.mechanisms import LOOPS, looped
from trees import random_states, random_tree

pytestmark = pytest.mark.uncompiled


@kernel(
    SystemArrays,
    inputs={
        "poses": "n_bodies 7",
        "twists": "n_bodies 6",
        "near": "nq",
        "stiffness": "2",
        "weights": "nv",
        "impulses": "n_rows",
    },
    outputs={"blocks": "n_joints 4 36", "momentum": "n_bodies 6"},
    work=STATE,
    lanes=False,
)
def joint_stiffness_blocks(
    system, poses, twists, near, stiffness, weights, impulses, blocks, momentum, work
):
    """Blocks of base, follower, and between with either as rows, of each joint on its own"""
    place_system(system, poses, twists, near, work)
    k = (stiffness[0], stiffness[1])
    for i in range(6 * (len(system.bodies) - 1)):
        momentum[i] = 0.0
    for j in range(len(system.joints)):
        at = 144 * j
        add_joint(system, j, k, weights, work.joints, blocks, Places(at, at + 36, at + 72, 1))
        none = Places(-1, -1, at + 108, 0)
        add_joint(system, j, k, weights, work.joints, blocks, none)
        push_joint(system, j, impulses, work.joints, momentum)


@pytest.mark.parametrize("name", ["tree 0", "tree 1", *LOOPS])
def test_blocks_of_joints_are_products_of_their_rows(name):
    if name.startswith("tree"):
        model = random_tree(int(name[-1]), 9)
        q, v, _ = random_states(model, 0)
    else:
        model, q, v = looped(name)
    system = MaximalSystem(model)
    poses, twists = system.state(q, v)
    k_linear, k_angular, dt = 7.0, 3.0, 0.02
    rng = np.random.default_rng(0)
    impulses = rng.standard_normal(system.dimensions["n_rows"])
    weights, stiffness = system.dof_weights(dt), np.array([k_linear, k_angular])
    blocks, momentum = joint_stiffness_blocks(
        system, (poses, twists, q, stiffness, weights, impulses)
    )
    J, Ja = system.jacobian(poses, q), system.coordinate_jacobian(poses, q)
    row = 0
    for j, joint in enumerate(system.joints):
        ends = [slice(6 * (body - 1), 6 * body) for body in (joint.base, joint.follower)]
        rows = J[row : row + joint.rows]
        is_linear = np.abs(rows[:, ends[1]][:, :3]).max(axis=1, initial=0.0) > 1e-12
        k = np.where(is_linear, k_linear, k_angular)
        own = slice(joint.v, joint.v + joint.nv)
        stacked = np.concatenate([rows, Ja[own]])
        K = stacked.T @ (np.concatenate([k, weights[own]])[:, None] * stacked)
        base, follower, between, other = blocks[j].reshape(4, 6, 6)
        assert np.allclose(follower, K[ends[1], ends[1]], atol=1e-11)
        if joint.base > 0:
            assert np.allclose(base, K[ends[0], ends[0]], atol=1e-11)
            assert np.allclose(between, K[ends[0], ends[1]], atol=1e-11)
            assert np.allclose(other, K[ends[1], ends[0]], atol=1e-11)
        row += joint.rows
    expected = J[:row].T @ impulses[:row]
    assert np.allclose(momentum.ravel(), expected, atol=1e-12)
