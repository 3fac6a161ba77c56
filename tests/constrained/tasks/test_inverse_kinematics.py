"""Configurations at which frames are at targets."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import four_bar, standing
from delassus.constrained.tasks.inverse_kinematics import inverse_kinematics
from delassus.errors import ConvergenceError


def poses(model, q, frame):
    placed = dl.forward_kinematics(model, q, frame)
    return placed.rotation[..., 0, :, :], placed.translation[..., 0, :]


def test_a_hand_reaches_poses():
    model = dl.robots.load("panda")
    goal = model.random_configuration(0)
    R, p = poses(model, goal, "panda_hand")
    starts = model.integrate(
        np.tile(goal, (5, 1)), 0.3 * np.random.default_rng(1).normal(size=(5, model.nv))
    )
    q = inverse_kinematics(model, starts, {"panda_hand": dl.Transform(R, p)})
    found = poses(model, q, "panda_hand")
    np.testing.assert_allclose(found[0], np.broadcast_to(R, (5, 3, 3)), atol=1e-7)
    np.testing.assert_allclose(found[1], np.broadcast_to(p, (5, 3)), atol=1e-7)
    alone = inverse_kinematics(model, starts[0], {"panda_hand": dl.Transform(R, p)})
    np.testing.assert_allclose(alone, q[0], atol=1e-6)


def test_constraints_hold_while_a_frame_moves():
    """The base of a robot goes down and aside, its feet stay."""
    feet = standing("solo12")
    model = feet.model
    start = model.neutral()
    start[7:] = np.tile([0.0, 0.7, -1.4], 4)
    frames = [f"{leg}_FOOT" for leg in ("FL", "FR", "HL", "HR")]
    at = {frame: poses(model, start, frame)[1] for frame in frames}
    base = poses(model, start, "base_link")[1] + [0.02, 0.01, -0.03]
    q = inverse_kinematics(model, start, {**at, "base_link": base})
    for frame, goal in {**at, "base_link": base}.items():
        np.testing.assert_allclose(poses(model, q, frame)[1], goal, atol=1e-7)
    level = dl.Constraints(model, [dl.Gear("FL_KFE", "FR_KFE", 1.0)])
    q = inverse_kinematics(model, start, {"base_link": base}, constraints=level)
    assert np.abs(level.position_error(q)).max() < 1e-8


def test_small_steps_are_of_the_least_kinetic_energy():
    model = dl.robots.load("panda")
    q = model.random_configuration(2)
    shift = np.array([1e-5, -2e-5, 1e-5])
    here = poses(model, q, "panda_hand")[1]
    x = model.difference(
        q, inverse_kinematics(model, q, {"panda_hand": here + shift}, tolerance=1e-12)
    )
    J = dl.frame_jacobian(model, q, "panda_hand", "aligned")[:3]
    Mi = dl.inverse_mass_matrix(model, q)
    least = Mi @ J.T @ np.linalg.solve(J @ Mi @ J.T, shift)
    np.testing.assert_allclose(x, least, atol=1e-2 * np.abs(least).max())


def test_what_is_out_of_reach_is_an_error():
    model = four_bar()
    with pytest.raises(ConvergenceError, match="remains"):
        inverse_kinematics(model, model.neutral(), {"crank_tip": [0.0, 0.0, 5.0]})


def test_wrong_arguments():
    model = four_bar()
    q = model.neutral()
    with pytest.raises(dl.UnknownNameError, match="no frame 'nose'"):
        inverse_kinematics(model, q, {"nose": [0.0, 0.0, 0.0]})
    for wrong in (None, {}, [("crank_tip", [0, 0, 0])]):
        with pytest.raises(dl.DataTypeError, match="targets map names"):
            inverse_kinematics(model, q, wrong)
    with pytest.raises(dl.DelassusError):
        inverse_kinematics(model, q, {"crank_tip": [0.0, 1.0]})
    with pytest.raises(dl.ShapeError, match="q must have shape"):
        inverse_kinematics(model, q[:2], {"crank_tip": [0.0, 0.0, 0.3]})
    with pytest.raises(dl.ModelError, match="another model"):
        constraints = dl.Constraints(four_bar())
        inverse_kinematics(model, q, {"crank_tip": [0.0, 0.0, 0.3]}, constraints=constraints)
