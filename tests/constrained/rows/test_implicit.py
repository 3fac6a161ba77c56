"""Constraints that are Python functions of joint coordinates."""

import pickle

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import ALL_PURPOSE, four_bar
from delassus.model.edit import reduce
from delassus.model.parts.constraints import Polynomial
from trees import random_states, random_tree, relative

pytestmark = pytest.mark.uncompiled

JOINTS = ("crank_joint", "coupler_joint", "rocker_joint")
# Types whose velocities are the derivatives of their coordinates.
TYPES = [
    lambda rng: dl.Revolute(rng.standard_normal(3)),
    lambda rng: dl.Cylindrical(rng.standard_normal(3)),
    lambda rng: dl.Helical(rng.standard_normal(3), rng.normal()),
    lambda rng: dl.Universal(rng.standard_normal(3), rng.standard_normal(3)),
    lambda rng: dl.Translation(),
    lambda rng: dl.Prismatic(rng.standard_normal(3)),
]


def meeting(q):
    """By how much the tips of coupler and rocker are apart."""
    crank, coupler, rocker = q
    bend = crank + coupler
    return (
        0.3 * np.cos(crank) + 0.8 * np.cos(bend) - 0.6 * np.cos(rocker) - 0.9,
        0.3 * np.sin(crank) + 0.8 * np.sin(bend) - 0.6 * np.sin(rocker),
    )


def wavy(x):
    """Two rows of all entries."""
    return [np.sin(x) @ np.cos(2.0 * x[::-1]) - 0.3, np.exp(0.1 * x[0] * x[-1]) - x @ x]


def tree_and_rows(seed=3):
    """A tree, and rows of some of its joints between rows of frames."""
    model = random_tree(seed, bodies=7, types=TYPES)
    names = [model.joint_names[k] for k in (5, 0, 3)]
    rows = [dl.Implicit(wavy, names), dl.Connect("f4", "f6"), dl.Implicit(wavy, names[:2])]
    return model, dl.Constraints(model, rows)


def along(cs, q, v, function):
    """The derivative of a function of q along v, by differences."""
    h = 1e-6
    forth, back = (function(cs.model.integrate(q, s * h * v)) for s in (1.0, -1.0))
    return (forth - back) / (2.0 * h)


@pytest.mark.parametrize("method", ALL_PURPOSE)
def test_a_loop_as_a_function_moves_as_the_loop_itself(method):
    model = four_bar()
    loop = dl.Constraints(model, [dl.Connect("coupler_tip", "rocker_tip")])
    written = dl.Constraints(model, [dl.Implicit(meeting, JOINTS)])
    q, v, tau = random_states(model, 0, 5)
    expected = dl.constrained_dynamics(model, q, v, tau, loop, method=method)
    found = dl.constrained_dynamics(model, q, v, tau, written, method=method)
    np.testing.assert_allclose(found.acceleration, expected.acceleration, atol=1e-6)
    alone = dl.constrained_dynamics(model, q[3], v[3], tau[3], written, method=method)
    np.testing.assert_allclose(alone.acceleration, found.acceleration[3], atol=1e-9)


def test_rows_of_a_loop_as_a_function_are_those_of_the_loop():
    model = four_bar()
    loop = dl.Constraints(model, [dl.Connect("coupler_tip", "rocker_tip")])
    written = dl.Constraints(model, [dl.Implicit(meeting, JOINTS)])
    q, v, _ = random_states(model, 1, 4)
    sign = np.array([1.0, -1.0])  # turning about y lowers the tip
    assert relative(written.jacobian(q), sign[:, None] * loop.jacobian(q)[:, ::2]) < 1e-13
    assert relative(written.velocity(q, v), sign * loop.velocity(q, v)[:, ::2]) < 1e-13
    assert relative(written.drift(q, v), sign * loop.drift(q, v)[:, ::2]) < 1e-13
    assert relative(written.position_error(q), sign * loop.position_error(q)[:, ::2]) < 1e-13


def test_derivatives_are_those_of_the_function():
    model, cs = tree_and_rows()
    assert [s.stop - s.start for s in cs.slices] == [2, 3, 2]
    q, v, _ = random_states(model, 2)
    assert relative(cs.jacobian(q) @ v, cs.velocity(q, v)) < 1e-12
    assert relative(along(cs, q, v, cs.position_error), cs.velocity(q, v)) < 1e-7
    assert relative(along(cs, q, v, lambda x: cs.velocity(x, v)), cs.drift(q, v)) < 1e-7


def test_arguments_come_in_the_order_of_the_names():
    model, cs = tree_and_rows()
    q, _, _ = random_states(model, 3)
    names = cs.declared[0].joints
    x = np.concatenate([q[model.joint(name).q] for name in names])
    np.testing.assert_allclose(cs.position_error(q)[:2], wavy(x), atol=1e-13)


def test_functions_stand_beside_other_constraints():
    """The sparse method against dense matrices, where several programs have registers."""
    model, cs = tree_and_rows()
    q, v, tau = random_states(model, 4, 6)
    expected = dl.constrained_dynamics(model, q, v, tau, cs, method="dense")
    found = dl.constrained_dynamics(model, q, v, tau, cs)
    assert found.converged.all()
    assert relative(found.acceleration, expected.acceleration) < 1e-7
    assert relative(found.multipliers, expected.multipliers) < 1e-6


def test_single_precision():
    model, cs = tree_and_rows()
    q, v, _ = random_states(model, 5, 4)
    found = cs.jacobian(q.astype(np.float32))
    assert found.dtype == np.float32
    assert relative(found, cs.jacobian(q)) < 1e-5
    assert relative(cs.drift(*(x.astype(np.float32) for x in (q, v))), cs.drift(q, v)) < 1e-4


def test_symbols():
    casadi = pytest.importorskip("casadi")
    model, cs = tree_and_rows()
    q = model.random_configuration(6)
    x = casadi.SX.sym("q", model.nq)
    error = cs.position_error(x)
    jacobian = casadi.Function("J", [x], [casadi.jacobian(error, x)])
    np.testing.assert_allclose(np.array(jacobian(q)), cs.jacobian(q), atol=1e-12)


def test_a_function_without_value_at_a_state_spoils_that_state_only():
    model = four_bar()
    cs = dl.Constraints(model, [dl.Implicit(lambda x: np.sqrt(x[0]) - x[1], JOINTS[:2])])
    q, v, tau = np.abs(random_states(model, 7, 6))
    expected = dl.constrained_dynamics(model, q, v, tau, cs)
    q[2, 0] = -0.1
    found = dl.constrained_dynamics(model, q, v, tau, cs)
    assert np.isnan(found.acceleration[2, :2]).all()  # the rocker is on its own
    assert np.isnan(cs.position_error(q)[2]).all()
    others = np.delete(np.arange(6), 2)
    assert np.array_equal(found.acceleration[others], expected.acceleration[others])
    assert not found.converged[2]


def test_constraints_of_functions_can_be_pickled():
    model = four_bar()
    cs = dl.Constraints(model, [dl.Implicit(meeting, JOINTS)])
    q = model.random_configuration(0)
    copy = pickle.loads(pickle.dumps(cs))
    assert np.array_equal(copy.position_error(q), cs.position_error(q))


@pytest.mark.parametrize(
    ("joint", "allowed"),
    [(t(np.random.default_rng(0)), True) for t in TYPES]
    + [(dl.Spherical(), False), (dl.Free(), False), (dl.Planar(), False)],
    ids=lambda x: type(x).__name__,
)
def test_joints_must_move_by_their_velocities(joint, allowed):
    builder = dl.ModelBuilder()
    builder.add_body("a", joint=joint, mass=1.0)
    model = builder.build()
    implicit = dl.Implicit(lambda x: x @ x - 1.0, "a_joint")
    if allowed:
        assert dl.Constraints(model, [implicit]).size == 1
        return
    with pytest.raises(dl.ModelError, match=f"velocities.*{type(joint).__name__}"):
        dl.Constraints(model, [implicit])
    builder.add_constraint(implicit)
    with pytest.raises(dl.ModelError, match=f"velocities.*{type(joint).__name__}"):
        builder.build()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: [], "no rows"),
        (lambda x: ["one"], "no expression"),
        (lambda x: [x[0], None], "no expression"),
        (lambda x: 1.0, "does not depend"),
        (lambda x: x[7], "cannot be recorded"),
        (lambda x, y: x, "cannot be recorded"),
        (lambda x: np.nan * x[0], "constant that is nan"),
    ],
)
def test_functions_that_cannot_be_constraints(function, message):
    with pytest.raises(dl.ModelError, match=message):
        dl.Constraints(four_bar(), [dl.Implicit(function, JOINTS)])


def test_names_must_be_joints_and_differ():
    with pytest.raises(dl.ModelError, match="twice"):
        dl.Implicit(meeting, ["a", "b", "a"])
    with pytest.raises(dl.UnknownNameError, match="did you mean 'crank_joint'"):
        dl.Constraints(four_bar(), [dl.Implicit(lambda x: x, ["krank_joint"])])


def test_locked_joints_become_numbers_of_the_function():
    model, cs = tree_and_rows()
    lock = {cs.declared[0].joints[1]: [0.3] * model.joint(cs.declared[0].joints[1]).nq}
    builder_model = dl.Model(
        model.name, model.bodies, model.frames, cs.declared, model.shapes, model.gravity
    )
    locked = reduce(builder_model, lock)
    rest = locked.random_configuration(0)
    q = model.neutral()
    for name in model.joint_names:
        q[model.joint(name).q] = lock[name] if name in lock else rest[locked.joint(name).q]
    full = cs.position_error(q)
    np.testing.assert_allclose(dl.Constraints(locked).position_error(rest), full, atol=1e-12)


def test_a_polynomial_between_two_joints():
    model = four_bar()
    curve = dl.Implicit(Polynomial((0.1, 2.0, -0.5, 0.25), 0.4), JOINTS[:2])
    q = model.random_configuration(0)
    y = q[1] - 0.4
    expected = q[0] - (0.1 + 2.0 * y - 0.5 * y**2 + 0.25 * y**3)
    np.testing.assert_allclose(dl.Constraints(model, [curve]).position_error(q), [expected])
