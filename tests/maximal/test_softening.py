"""Softened rows are springs and dampers."""

import numpy as np
import pytest

import delassus as dl
from delassus.maximal.rows.biases import SETTINGS
from delassus.maximal.rows.softening import impedance, shaped
from delassus.maximal.settings import Contact, Softening, Stabilization
from delassus.maximal.system import MaximalSystem
from maximal.mechanisms import ball, slider

pytestmark = pytest.mark.uncompiled


def d_at(residual, **parameters):
    packed = Stabilization(soft_contacts=Softening(**parameters)).packed(0.01)
    return impedance(packed, SETTINGS.contact_softening, residual)


def test_impedance_goes_from_one_limit_to_the_other():
    parameters = {"impedance": 0.2, "impedance_at_width": 0.8, "width": 0.1, "midpoint": 0.3}
    assert np.isclose(d_at(0.0, **parameters), 0.2)
    for beyond in (0.1, -0.1, 5.0):
        assert np.isclose(d_at(beyond, **parameters), 0.8)
    assert np.isclose(d_at(-0.05, **parameters), d_at(0.05, **parameters))
    assert np.isclose(d_at(0.05, power=1.0, **parameters), 0.5)
    assert np.isclose(d_at(0.05, impedance=0.6, impedance_at_width=0.6), 0.6)
    assert np.isclose(d_at(0.05, impedance=0.6, impedance_at_width=0.8, width=0.0), 0.7)


@pytest.mark.parametrize("power", [1.0, 2.0, 3.5])
@pytest.mark.parametrize("midpoint", [0.2, 0.5, 0.9])
def test_shapes_are_continuous_and_rise_from_zero_to_one(power, midpoint):
    x = np.linspace(0.0, 1.0, 2001)
    y = np.array([shaped(a, midpoint, power) for a in x])
    assert y[0] == 0.0 and np.isclose(y[-1], 1.0)
    assert (np.diff(y) > 0.0).all()
    assert np.diff(y).max() < 0.01
    if power > 1.0:
        assert np.isclose(shaped(midpoint, midpoint, power), midpoint)


def soft_step(x, v, dt, soft, gravity):
    """x, v and the impulse of a mass on a soft floor, after one step."""
    model = ball(gravity=(0.0, 0.0, -gravity))
    q = model.neutral()
    q[2] = x
    system = MaximalSystem(model)
    contact = Contact("world", "ball", [0, 0, x], [0, 0, 1], distance=x)
    options = Stabilization(penetration_margin=0.0, soft_contacts=soft)
    poses, twists = system.state(q, [0, 0, v, 0, 0, 0])
    problem = system.dual_problem(poses, twists, dt, contacts=[contact], stabilization=options)
    D = problem.delassus[2, 2] + problem.compliance[2]
    impulse = max(0.0, -(problem.free_velocity[2] + problem.target[2]) / D)
    v = problem.twists(np.array([0.0, 0.0, impulse]))[0, 2]
    return x + dt * v, v, impulse


@pytest.mark.parametrize(("ratio", "d"), [(1.0, 0.9), (0.3, 0.6), (2.0, 0.95)])
def test_a_mass_on_a_soft_contact_is_a_mass_spring_damper(ratio, d):
    """x'' = -(1 - d) g - d (b x' + k x), as long as the floor does not pull."""
    T, dt, gravity, steps = 0.05, 2e-5, 10.0, 150
    soft = Softening(impedance=d, impedance_at_width=d, time_constant=T, damping_ratio=ratio)
    b, k = 2.0 / (d * T), d / (d * T * ratio) ** 2
    x, v = -0.02, 0.0
    # The exact solution of the linear equation with constant force, by its matrix exponential.
    rest = -(1.0 - d) * gravity / (d * k)
    A = np.array([[0.0, 1.0], [-d * k, -d * b]])
    values, vectors = np.linalg.eig(A.astype(complex))
    start = np.linalg.solve(vectors, [x - rest, v])
    for _ in range(steps):
        x, v, impulse = soft_step(x, v, dt, soft, gravity)
        assert impulse > 0.0
    exact_x, exact_v = (vectors @ (np.exp(values * steps * dt) * start)).real
    assert abs(x - rest - exact_x) < 2e-3 * 0.02
    assert abs(v - exact_v) < 2e-3 * max(abs(exact_v), 0.1)


def test_as_printed_a_velocity_vanishes_in_one_step():
    for T in (0.01, 1.0):
        soft = Softening(impedance=1.0, impedance_at_width=1.0, time_constant=T, law="printed")
        _, v, _ = soft_step(-1e-9, -1.0, 1e-4, soft, gravity=0.0)
        assert abs(v) < 0.1
        gentle = Softening(impedance=1.0, impedance_at_width=1.0, time_constant=T)
        _, v, _ = soft_step(-1e-9, -1.0, 1e-4, gentle, gravity=0.0)
        assert np.isclose(v, -1.0 + 1e-4 * 2.0 / T, atol=1e-6)


def test_open_soft_contacts_do_not_push():
    soft = Softening(time_constant=0.05)
    _, v, impulse = soft_step(0.01, -0.1, 1e-3, soft, gravity=10.0)
    assert impulse == 0.0
    assert np.isclose(v, -0.1 - 10.0 * 1e-3)


def test_tangents_of_a_soft_contact_share_a_compliance():
    builder = dl.ModelBuilder("plate")
    builder.add_body("plate", joint=dl.Free(), mass=1.0, inertia=np.diag([0.01, 0.2, 0.3]))
    model = builder.build()
    system = MaximalSystem(model)
    contact = Contact("world", "plate", [0.3, 0.1, -0.2], [0, 0, 1], distance=-0.001)
    options = Stabilization(soft_contacts=Softening())
    state = system.state(model.neutral(), np.zeros(6))
    problem = system.dual_problem(*state, 1e-3, contacts=[contact], stabilization=options)
    D = np.diag(problem.delassus)
    assert not np.isclose(D[0], D[1])
    assert np.isclose(problem.compliance[0], problem.compliance[1])
    assert (problem.compliance > 0.0).all()


def test_a_contact_may_have_its_own_softening():
    model = ball()
    system = MaximalSystem(model)
    soft, stiff = Softening(time_constant=0.5), Softening(time_constant=0.01)
    for common in (None, stiff):
        contacts = [
            Contact("world", "ball", [0, 0, 0], [0, 0, 1], distance=-0.01, softening=own)
            for own in (soft, None)
        ]
        problem = system.dual_problem(
            *system.state(model.neutral(), np.zeros(6)),
            1e-3,
            contacts=contacts,
            stabilization=Stabilization(soft_contacts=common, penetration_margin=0.0),
        )
        k = 0.95 / (0.95 * 0.5) ** 2
        assert np.isclose(problem.target[2], 1e-3 * k * -0.01)
        assert np.isclose(problem.target[5], 0.0 if common is None else 2500.0 * problem.target[2])
        assert np.isclose(problem.compliance[5] > 0.0, common is not None)


def test_soft_joints_and_limits_give_way():
    system = MaximalSystem(slider(lower=0.0, upper=1.0))
    poses, twists = system.state([-0.01], [0.0])
    poses[0, 0] += 0.001
    soft = Softening(impedance=0.5, impedance_at_width=0.5, time_constant=0.1)
    options = Stabilization(soft_joints=soft, soft_limits=soft)
    problem = system.dual_problem(poses, twists, 1e-3, stabilization=options)
    assert np.allclose(problem.bias, 0.0)
    assert np.allclose(problem.compliance, np.diag(problem.delassus))  # (1 - d) / d is one
    k = 0.5 / (0.5 * 0.1) ** 2
    assert np.isclose(problem.target[-1], 1e-3 * k * -0.01)
    assert np.isclose(np.abs(problem.target[:5]).max(), 1e-3 * k * 0.001)
    reactions = np.zeros(6)
    less = system.dual_problem(
        poses, twists, 1e-3, stabilization=Stabilization(soft_joints=soft), joints="eliminated"
    )
    K = problem.delassus[:5, :5] + np.diag(problem.compliance[:5])
    reactions[:5] = np.linalg.solve(K, -problem.free_velocity[:5] - problem.target[:5])
    expected = problem.jacobian[5] @ problem.twists(reactions).ravel()
    assert np.isclose(less.free_velocity[0] - less.bias[0], expected, atol=1e-14)
