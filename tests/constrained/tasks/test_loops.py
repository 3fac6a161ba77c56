"""Configurations at which loops are closed."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import cassie, four_bar, random_loops, six_bar, standing
from delassus.constrained.tasks.loops import close_loops
from delassus.errors import ConvergenceError
from trees import random_tree


def error(constraints, q):
    return np.abs(constraints.position_error(q)).max()


@pytest.mark.parametrize("linkage", [four_bar, six_bar])
def test_loops_of_linkages_close_from_anywhere(linkage):
    model = linkage()
    cs = dl.Constraints(model)
    starts = model.random_configuration(np.random.default_rng(0), 20)
    q = close_loops(model, starts, cs)
    assert q.shape == starts.shape
    assert error(cs, q) <= 1e-10


def test_the_loops_of_a_robot_close_as_far_as_its_numbers_are_known():
    """Axes of its planar loops are parallel to some 1e-9 only."""
    model = cassie()
    cs = dl.Constraints(model)
    starts = model.random_configuration(np.random.default_rng(0), 20)
    assert error(cs, close_loops(model, starts, cs, tolerance=1e-7)) <= 1e-7


@pytest.mark.parametrize("seed", range(6))
def test_random_loops_close(seed):
    cs = random_loops(seed)
    q = close_loops(cs.model, cs.model.random_configuration(seed), cs)
    assert error(cs, q) <= 1e-10
    for joint in cs.model.joints:
        if (start := joint.type.quaternion) is not None:
            assert np.linalg.norm(q[joint.q][start : start + 4]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "joint",
    [
        dl.Revolute([0, 1, 1]), dl.Prismatic(), dl.Helical([1, 0, 0], 0.3), dl.Cylindrical(),
        dl.Universal(), dl.Spherical(), dl.Planar(), dl.Translation(),
    ],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
def test_closures_of_all_types(joint):
    model = random_tree(5, bodies=9, trees=0.0, branching=0.0)
    cs = dl.Constraints(model, [dl.Closure(joint, "f8", "f0"), dl.Distance("f3", "f6", 0.7)])
    q = close_loops(model, model.random_configuration(1), cs)
    assert error(cs, q) <= 1e-10


def test_a_state_of_a_batch_is_as_it_is_alone():
    model = four_bar()
    cs = dl.Constraints(model)
    starts = model.random_configuration(np.random.default_rng(1), 4)
    together = close_loops(model, starts, cs)
    for start, q in zip(starts, together, strict=True):
        np.testing.assert_allclose(close_loops(model, start, cs), q, atol=1e-9)


def test_a_closed_loop_stays_as_it_is():
    cs = standing("solo12")
    model = cs.model
    q = close_loops(model, model.neutral(), cs)
    assert np.array_equal(close_loops(model, q, cs), q)
    none = dl.Constraints(model, [])
    assert np.array_equal(close_loops(model, q, none), q)


def test_what_is_found_is_near():
    """A small disturbance of a closed loop is undone by a motion of about its size."""
    model = six_bar()
    cs = dl.Constraints(model)
    rng = np.random.default_rng(2)
    q = close_loops(model, model.random_configuration(rng), cs)
    nearby = q + 1e-4 * rng.standard_normal(model.nq)
    assert np.linalg.norm(close_loops(model, nearby, cs) - nearby) < 1.1 * np.linalg.norm(
        nearby - q
    )


def test_a_stretched_mechanism_bends():
    """All rods in a row: to first order no motion changes the distance that is wrong."""
    builder = dl.ModelBuilder("chain")
    for k in range(3):
        parent = f"l{k - 1}" if k else "world"
        builder.add_body(f"l{k}", parent, dl.Revolute([0, 1, 0]), [float(k > 0), 0, 0], mass=1.0)
    builder.add_frame("end", "l2", [1.0, 0.0, 0.0])
    model = builder.build()
    cs = dl.Constraints(model, [dl.Distance("end", "world", 2.0)])
    q = close_loops(model, model.neutral(), cs)
    assert error(cs, q) <= 1e-10


def test_fixed_joints_do_not_move():
    model = four_bar()
    cs = dl.Constraints(model)
    start = np.array([0.7, 0.3, -0.9])
    q = close_loops(model, start, cs, fixed=["crank_joint"])
    assert q[0] == start[0]
    assert error(cs, q) <= 1e-10
    assert close_loops(model, start, cs, fixed="crank_joint")[0] == start[0]
    with pytest.raises(dl.UnknownNameError, match="did you mean 'crank_joint'"):
        close_loops(model, start, cs, fixed=["crank_join"])
    with pytest.raises(ConvergenceError, match="remains"):
        close_loops(model, start, cs, fixed=model.joint_names)


def test_limits_are_respected():
    builder = dl.ModelBuilder("arm")
    for k, (lower, upper) in enumerate([(0.2, 0.4), (-3.0, 3.0), (-3.0, 3.0)]):
        at, parent = [float(k > 0), 0, 0], f"l{k - 1}" if k else "world"
        builder.add_body(f"l{k}", parent, dl.Revolute(), at, mass=1.0, lower=lower, upper=upper)
    builder.add_frame("end", "l2", [1.0, 0.0, 0.0])
    builder.add_frame("goal", "world", [0.0, 1.5, 0.0])
    model = builder.build()
    cs = dl.Constraints(model, [dl.Connect("end", "goal")])
    start = np.array([0.3, 0.4, 0.1])
    assert close_loops(model, start, cs)[0] < 0.2
    q = close_loops(model, start, cs, respect_limits=True)
    assert error(cs, q) <= 1e-10
    assert (model.lower <= q).all()
    assert (q <= model.upper).all()


def test_what_cannot_be_reached_is_an_error_that_tells_how_far_it_is():
    model = four_bar(closure=lambda a, b: dl.Distance(a, "world", 1.6))
    cs = dl.Constraints(model)
    with pytest.raises(ConvergenceError, match=r"error of up to 0\.5 remains") as caught:
        close_loops(model, [0.3, 0.2, 0.1], cs)
    assert isinstance(caught.value, (dl.DelassusError, RuntimeError))
    assert caught.value.error == pytest.approx(0.5, abs=1e-6)
    assert np.abs(cs.position_error(caught.value.q)) == pytest.approx(0.5, abs=1e-6)
    near = dl.Constraints(model, [dl.Distance("coupler_tip", "world", 1.0)])
    fine = close_loops(model, [0.3, 0.2, 0.1], near)
    with pytest.raises(ConvergenceError, match="of 1 of 2 states") as caught:
        close_loops(model, [fine, [np.nan, 0.0, 0.0]], near)
    assert np.array_equal(caught.value.q[0], fine)
    assert np.isnan(caught.value.error[1])


@pytest.mark.parametrize(
    ("options", "expected", "message"),
    [
        ({"tolerance": -1.0}, dl.DelassusError, "tolerance must be finite"),
        ({"tolerance": "small"}, dl.DataTypeError, "tolerance must be a number"),
        ({"max_iterations": 0}, dl.DelassusError, "max_iterations must be positive"),
        ({"max_iterations": 2.5}, dl.DataTypeError, "max_iterations must be an integer"),
    ],
)
def test_wrong_settings(options, expected, message):
    model = four_bar()
    with pytest.raises(expected, match=message):
        close_loops(model, model.neutral(), dl.Constraints(model), **options)


def test_wrong_arguments():
    model = four_bar()
    cs = dl.Constraints(model)
    with pytest.raises(dl.ShapeError, match="q must have shape"):
        close_loops(model, np.zeros(4), cs)
    with pytest.raises(dl.ModelError, match="another model"):
        close_loops(four_bar(), np.zeros(3), cs)
    with pytest.raises(dl.DataTypeError, match="expected Constraints"):
        close_loops(model, np.zeros(3), model.constraints)
