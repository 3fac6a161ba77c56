"""Velocities after impacts."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import four_bar, random_loops, repeated, standing
from delassus.constrained.tasks.impacts import impact
from trees import random_states, relative

each_restitution = pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])


@pytest.fixture(params=["loops", "feet", "redundant"])
def constraints(request):
    if request.param == "loops":
        return random_loops(0)
    feet = standing("solo12")
    return feet if request.param == "feet" else repeated(feet)


@each_restitution
def test_velocities_turn_and_momentum_is_balanced(constraints, restitution):
    cs, model = constraints, constraints.model
    q, v, _ = random_states(model, 0, 4)
    found = impact(model, q, v, cs, restitution=restitution)
    goal = -restitution * cs.velocity(q, v)
    np.testing.assert_allclose(cs.velocity(q, found.velocity), goal, atol=1e-9)
    change = dl.mass_matrix_product(model, q, found.velocity - v)
    pushed = np.einsum("kij,ki->kj", cs.jacobian(q), found.impulse)
    assert relative(pushed, change) < 1e-8


@each_restitution
def test_energy_does_not_grow(constraints, restitution):
    model = constraints.model
    q, v, _ = random_states(model, 1, 4)
    found = impact(model, q, v, constraints, restitution=restitution)
    before = dl.kinetic_energy(model, q, v)
    lost = before - dl.kinetic_energy(model, q, found.velocity)
    np.testing.assert_allclose(found.energy_loss, lost, atol=1e-9)
    bound = 1e-9 * before.max()
    assert (lost > -bound).all()
    if restitution == 1.0:
        assert (np.abs(lost) < bound).all()
    else:
        assert (lost > bound).all()


def test_nothing_happens_where_nothing_is_violated():
    cs = standing("solo12")
    q, v, _ = random_states(cs.model, 2)
    once = impact(cs.model, q, v, cs)
    again = impact(cs.model, q, once.velocity, cs)
    np.testing.assert_allclose(again.velocity, once.velocity, atol=1e-10)
    assert once.velocity.shape == v.shape
    assert once.energy_loss.shape == ()
    none = impact(cs.model, q, v, dl.Constraints(cs.model, []))
    assert np.array_equal(none.velocity, v)
    assert none.energy_loss == 0.0


def test_a_ball_bounces():
    builder = dl.ModelBuilder()
    builder.add_body("ball", joint=dl.Prismatic(), mass=2.0)
    model = builder.build()
    cs = dl.Constraints(model, [dl.Coupling({"ball_joint": 1.0})])
    found = impact(model, [0.0], [-3.0], cs, restitution=0.5)
    assert found.velocity == pytest.approx([1.5])
    assert found.impulse == pytest.approx([9.0])
    assert found.energy_loss == pytest.approx(9.0 - 2.25)


def test_a_state_that_is_not_a_number_spoils_no_other():
    model = four_bar()
    cs = dl.Constraints(model)
    q, v, _ = random_states(model, 3, 3)
    expected = impact(model, q, v, cs)
    q[1, 0] = np.nan
    found = impact(model, q, v, cs)
    assert np.isnan(found.velocity[1]).all()
    assert np.array_equal(found.velocity[[0, 2]], expected.velocity[[0, 2]])


@pytest.mark.parametrize("restitution", [-0.1, 1.1, np.nan, "much", True])
def test_wrong_restitution(restitution):
    model = four_bar()
    with pytest.raises(dl.DelassusError, match="restitution must be"):
        impact(model, np.zeros(3), np.zeros(3), dl.Constraints(model), restitution=restitution)


def test_wrong_arguments():
    model = four_bar()
    cs = dl.Constraints(model)
    with pytest.raises(dl.ShapeError, match="v must have shape"):
        impact(model, np.zeros(3), np.zeros(2), cs)
    with pytest.raises(dl.ModelError, match="another model"):
        impact(four_bar(), np.zeros(3), np.zeros(3), cs)
