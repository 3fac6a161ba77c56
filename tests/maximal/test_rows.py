"""Rows of joints, loops and couplings: their errors, Jacobians and degrees of freedom."""

import pickle

import numpy as np
import pytest

import delassus as dl
from delassus.maximal.system import MaximalSystem
from maximal.mechanisms import COUPLINGS, LOOPS, coupled, looped, moved
from trees import random_states, random_tree

pytestmark = pytest.mark.uncompiled

SYSTEMS = {
    **{f"tree {seed}": lambda seed=seed: tree(seed) for seed in range(3)},
    **{kind: lambda kind=kind: looped(kind) for kind in LOOPS},
    **{kind: lambda kind=kind: coupled(COUPLINGS[kind]) for kind in COUPLINGS},
}


def tree(seed):
    model = random_tree(seed, 9)
    return (model, *random_states(model, seed)[:2])


@pytest.mark.parametrize("name", SYSTEMS)
def test_joints_hold_at_states_of_the_tree(name):
    model, q, v = SYSTEMS[name]()
    system = MaximalSystem(model)
    poses, twists = system.state(q, v)
    assert np.abs(system.joint_errors(poses, q)).max() < 1e-10
    assert np.abs(system.jacobian(poses, q) @ twists.ravel()).max() < 1e-10
    Ja = system.coordinate_jacobian(poses, q)
    assert np.allclose(Ja @ twists.ravel(), v, atol=1e-12)


@pytest.mark.parametrize("name", SYSTEMS)
def test_jacobians_are_the_rates_of_errors(name):
    model, q, v = SYSTEMS[name]()
    system = MaximalSystem(model)
    poses, _ = system.state(q, v)
    J = system.jacobian(poses, q)
    h = 1e-5
    for x in np.random.default_rng(0).standard_normal((6, J.shape[1])):
        twists = x.reshape(-1, 6)
        ahead, behind = moved(poses, twists, h), moved(poses, twists, -h)
        rate = (system.joint_errors(ahead, q) - system.joint_errors(behind, q)) / (2 * h)
        assert np.allclose(J @ x, rate, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_coordinates_move_by_their_velocities(seed):
    # Along motions that joints allow: elsewhere a coordinate is a matter of definition.
    model, q, v = tree(seed)
    system, h = MaximalSystem(model), 1e-6
    (ahead, _), (behind, _) = (
        system.state(model.integrate(q, h * v), v),
        system.state(model.integrate(q, -h * v), v),
    )
    none = np.zeros((system.n_bodies, 6))
    q_ahead, q_behind = (system.coordinates(x, none, q)[0] for x in (ahead, behind))
    assert np.allclose(model.difference(q_behind, q_ahead) / (2 * h), v, atol=1e-6)


def test_a_universal_joint_has_four_rows_whatever_its_axes():
    builder = dl.ModelBuilder("u", gravity=(0, 0, 0))
    joint = dl.Universal([1.0, 0.0, 0.0], [1.0, 1.0, 0.0])  # at 45 degrees
    builder.add_body("body", joint=joint, mass=1.0, inertia=np.eye(3))
    system = MaximalSystem(builder.build())
    assert system.n_joint_rows == 4
    poses, twists = system.state([0.4, -0.7], [1.5, -2.0])
    J = system.jacobian(poses)
    assert np.allclose(np.linalg.norm(J[:, 3:], axis=1)[3], 1.0)  # the row about both axes' normal
    assert np.abs(J @ twists.ravel()).max() < 1e-14


@pytest.mark.parametrize("joint", [dl.Revolute([0, 0, 1]), dl.Prismatic([0, 0, 1])])
def test_errors_of_rotations_grow_up_to_half_a_turn(joint):
    builder = dl.ModelBuilder("torn")
    builder.add_body("body", joint=joint, mass=1.0, inertia=np.eye(3))
    system = MaximalSystem(builder.build())
    poses, _ = system.state([0.0], [0.0])
    for angle in (0.1, 1.0, 2.0, 3.0, 3.14):
        turned = moved(poses, np.array([[0.0, 0.0, 0.0, angle, 0.0, 0.0]]))
        error = np.linalg.norm(system.joint_errors(turned))
        assert np.isclose(error, 2.0 * np.sin(angle / 2.0), rtol=1e-5)


def test_a_system_can_be_pickled():
    model, q, v = looped("Universal")
    system = MaximalSystem(model)
    poses, _ = system.state(q, v)
    again = pickle.loads(pickle.dumps(system))
    assert np.array_equal(again.state(q, v)[0], poses)
    assert np.array_equal(again.jacobian(poses, q), system.jacobian(poses, q))


def test_a_weld_to_the_world_can_be_said_from_either_side():
    builder = dl.ModelBuilder("held")
    builder.add_body("body", joint=dl.Free(), mass=1.0, inertia=np.eye(3))
    builder.add_frame("grip", "body", [0.1, 0.2, 0.3])
    model = builder.build()
    q, zero = model.neutral(), np.zeros(6)
    q[:3] = [-0.1, -0.2, -0.3]
    forces = []
    for first, second in (("grip", "world"), ("world", "grip")):
        system = MaximalSystem(model, [dl.Weld(first, second)])
        found = system.accelerations(q, zero, zero)
        assert np.abs(found.twist_rates).max() < 1e-12
        forces.append(found.wrenches[1])
    assert np.allclose(forces[0], -forces[1], atol=1e-12)
    assert np.allclose(forces[0][:3], -model.gravity)
