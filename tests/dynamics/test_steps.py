"""Steps that algorithms share, run as plain Python on their own."""

import numpy as np
import pytest

import delassus as dl
from delassus.compile import FLOAT64
from delassus.dynamics import crba
from delassus.dynamics.steps.bodies import composite_times
from delassus.dynamics.steps.links import (
    MOVING,
    SUBSPACE,
    move_link,
    place_links,
    start_at_rest,
)
from delassus.dynamics.steps.points import (
    frame_pose,
    frame_position,
    motion_at,
    point_motion,
    tree_origin,
)
from delassus.dynamics.steps.subspaces import across_joint, put_mass_row
from delassus.model.packed import ModelArrays
from delassus.spatial.vectors import get3, get6, put9
from trees import random_states, random_tree, relative

pytestmark = pytest.mark.uncompiled


def moving_links(model, q, v):
    """A model's arrays, and records of its links and degrees of freedom without acceleration."""
    arrays = model.arrays(ModelArrays, FLOAT64)
    links = np.full(len(arrays.links) * MOVING.size, np.nan)
    dofs = np.full(model.nv * SUBSPACE.size, np.nan)
    start_at_rest(links, (0.0, 0.0, 0.0))
    put9(links, MOVING.R, np.eye(3).ravel())
    place_links(arrays, q, links, MOVING.size, dofs, SUBSPACE.size)
    for i in range(1, len(arrays.links)):
        move_link(arrays.links[i], i, v, links, MOVING.size, dofs, SUBSPACE.size)
    return arrays, links, dofs


def root_of(arrays, i):
    while arrays.links[i].parent > 0:
        i = arrays.links[i].parent
    return i


@pytest.mark.parametrize("seed", range(5))
def test_frames_are_where_forward_kinematics_puts_them(seed):
    model = random_tree(seed, bodies=7)
    q, v, _ = random_states(model, seed)
    arrays, links, _ = moving_links(model, q, v)
    placed = dl.forward_kinematics(model, q)
    for k, frame in enumerate(arrays.frames[:-1]):
        R, p = frame_pose(frame, links, MOVING.size)
        p = np.add(p, tree_origin(arrays, root_of(arrays, frame.link), q))
        assert relative(np.reshape(R, (3, 3)), placed.rotation[k]) < 1e-13
        assert relative(p, placed.translation[k]) < 1e-13


@pytest.mark.parametrize("seed", range(5))
def test_points_of_links_move_as_frames_do(seed):
    model = random_tree(seed, bodies=7)
    q, v, _ = random_states(model, seed)
    arrays, links, _ = moving_links(model, q, v)
    for name, frame in zip(model.frame_names, arrays.frames[:-1], strict=True):
        at, p = frame.link * MOVING.size, frame_position(frame, links, MOVING.size)
        velocity, acceleration = point_motion(links, at, p)
        expected = dl.frame_velocity(model, q, v, name, "aligned")
        assert relative(velocity, expected[:3]) < 1e-12
        assert relative(motion_at(links, at, p)[0], expected[3:]) < 1e-12
        still = np.zeros(model.nv)
        expected = dl.frame_acceleration(model, q, v, still, name, "aligned", classical=True)
        assert relative(acceleration, expected[:3]) < 1e-11


def test_the_world_does_not_move():
    model = random_tree(1, bodies=3)
    q, v, _ = random_states(model, 1)
    arrays, links, _ = moving_links(model, q, v)
    world = arrays.frames[len(arrays.frames) - 1]
    assert frame_position(world, links, MOVING.size) == (0.0, 0.0, 0.0)
    assert point_motion(links, 0, (1.0, 2.0, 3.0)) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert tree_origin(arrays, 0, q) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("is_mirrored", [False, True])
@pytest.mark.parametrize("margin", [0, 3])
def test_rows_of_the_mass_matrix_fit_matrices_of_any_pitch(margin, is_mirrored):
    model = random_tree(4, bodies=9)
    q, *_ = random_states(model, 4)
    arrays, nv = model.arrays(ModelArrays, FLOAT64), model.nv
    work = crba.crba.work_memory(model, FLOAT64, np.nan)
    crba.composite_inertias(arrays, q, work.links, work.dofs)
    M = np.zeros((nv, nv + margin))
    for i, link in enumerate(arrays.links):
        at, mass = i * crba.LINK.size, link.subtree_mass
        for k in range(link.v, link.v + link.nv):
            S = get3(work.dofs, k * SUBSPACE.size), get3(work.dofs, k * SUBSPACE.size + 3)
            inertia = get6(work.links, at + crba.LINK.I), get3(work.links, at + crba.LINK.h)
            n, f = composite_times(*inertia, mass, *S)
            put_mass_row(
                arrays, k, n, f, work.dofs, SUBSPACE.size, M.reshape(-1), nv + margin, is_mirrored
            )
    expected = dl.mass_matrix(model, q) - np.diag(arrays.armature)
    expected = expected if is_mirrored else np.tril(expected)
    assert relative(M[:, :nv], expected) < 1e-13
    assert not M[:, nv:].any()


def test_motion_across_a_joint_is_the_sum_of_its_columns():
    model = random_tree(6, bodies=8)
    q, v, _ = random_states(model, 6)
    arrays, _, dofs = moving_links(model, q, v)
    columns = dofs.reshape(model.nv, SUBSPACE.size)
    for link in arrays.links[1:]:
        own = slice(link.v, link.v + link.nv)
        found = np.concatenate(across_joint(link, v, dofs, SUBSPACE.size))
        assert relative(found, v[own] @ columns[own]) < 1e-14
