"""Energy and momentum of passive motion: fast spin, chaos, and loops through dead points."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import delassus as dl

MOMENTS = np.array([0.02, 0.03, 0.04])


def free_body(moments=MOMENTS, mass=1.0):
    b = dl.ModelBuilder("body", gravity=(0, 0, 0))
    b.add_body("body", joint=dl.Free(), mass=mass, inertia=np.diag(moments))
    return b.build()


def rod(b, name, parent, place, along, mass, length):
    """A bar with a hinge about y at its start."""
    along = np.array(along, float)
    inertia = mass * length**2 * ((np.eye(3) - np.outer(along, along)) / 12 + 1e-4 * np.eye(3))
    b.add_body(
        name, parent, dl.Revolute((0, 1, 0)), place, mass=mass, com=0.5 * length * along,
        inertia=inertia,
    )  # fmt: skip


def double_pendulum(masses=(1.0, 1.0), lengths=(1.0, 1.0)):
    """It starts stretched out, level."""
    b = dl.ModelBuilder("double_pendulum")
    rod(b, "upper", "world", (0, 0, 0), (1, 0, 0), masses[0], lengths[0])
    rod(b, "lower", "upper", (lengths[0], 0, 0), (1, 0, 0), masses[1], lengths[1])
    return b.build()


def four_bars(count, length=1.0, mass=1.0):
    """IFToMM's chain of parallelograms, which passes its dead points twice in each turn."""
    b = dl.ModelBuilder("four_bars")
    for k in range(count + 1):
        rod(b, f"crank{k}", "world", (k * length, 0, 0), (0, 0, 1), mass, length)
        b.add_frame(f"tip{k}", f"crank{k}", (0, 0, length))
    for k in range(count):
        rod(b, f"coupler{k}", f"crank{k}", (0, 0, length), (1, 0, 0), mass, length)
        b.add_frame(f"end{k}", f"coupler{k}", (length, 0, 0))
        b.add_constraint(dl.Closure(dl.Revolute((0, 1, 0)), f"end{k}", f"tip{k + 1}"))
    model, v = b.build(), []
    for joint in model.joints:
        v.append(1.0 / length if joint.name.startswith("crank") else -1.0 / length)
    return model, np.array(v)


def energies(model, q, v, seconds, **options):
    """Energy at each step, less that at the first, and the largest kinetic energy."""
    sim = dl.Simulator(model, ground=False, **options)
    sim.reset(q, v)
    told = sim.rollout(round(seconds / sim.dt)).metrics
    kinetic = told["kinetic_energy"]
    total = kinetic + told["potential_energy"]
    return np.abs(total - total[0]).max(), kinetic.max()


# --- spin -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["midpoint", "euler"])
@pytest.mark.parametrize("angle", [0.01, 0.1, 0.59, 3.0, 30.0])
def test_a_free_body_keeps_energy_and_momentum_at_any_rate_of_spin(integrator, angle):
    model, direction = free_body(), np.array([0.6, -0.48, 0.64])
    sim = dl.Simulator(model, ground=False, integrator=integrator)
    sim.reset(model.neutral(), np.concatenate([np.zeros(3), angle / sim.dt * direction]))
    rec = sim.rollout(1000)
    kinetic = rec.metrics["kinetic_energy"]
    np.testing.assert_allclose(kinetic, kinetic[0], rtol=1e-11)
    turns = Rotation.from_quat(rec.q[:, 3:7]).as_matrix()
    momentum = np.einsum("kij,kj->ki", turns, MOMENTS * rec.v[:, 3:])
    np.testing.assert_allclose(
        momentum, np.tile(momentum[0], (1000, 1)), atol=1e-11 * angle / sim.dt
    )


def test_dzhanibekovs_body_flips_when_euler_says():
    start = np.array([0.01, 6.0, 0.01])

    def euler(t, w):
        return np.cross(MOMENTS * w, w) / MOMENTS

    def side(t, w):
        return w[1]

    exact = solve_ivp(euler, (0, 12), start, rtol=1e-11, atol=1e-12, events=side).t_events[0]
    model = free_body()
    sim = dl.Simulator(model, ground=False)
    sim.reset(model.neutral(), np.concatenate([np.zeros(3), start]))
    rec = sim.rollout(12_000)
    flips = rec.time[1:][np.diff(np.sign(rec.v[:, 4])) != 0]
    assert len(exact) >= 2
    np.testing.assert_allclose(flips, exact, atol=5e-3)


def test_a_fast_top_precesses_at_the_textbook_rate_and_keeps_its_height():
    # Moments of inertia across and along its axis, about the tip; steady precession has
    # across cos(tilt) rate^2 - along spin rate + m g arm = 0.
    mass, arm, across, along, spin, tilt = 0.5, 0.1, 6e-3, 5e-4, 1000.0, 0.5
    moments = np.array([across - mass * arm**2, across - mass * arm**2, along])
    b = dl.ModelBuilder("top")
    b.add_body("top", joint=dl.Spherical(), mass=mass, com=(0, 0, arm), inertia=np.diag(moments))
    model, turn = b.build(), Rotation.from_euler("y", tilt)
    rates = np.roots([across * np.cos(tilt), -along * spin, mass * 9.81 * arm])
    rate = rates[np.abs(rates).argmin()]
    omega = turn.inv().apply([0, 0, rate])
    omega[2] = spin
    sim = dl.Simulator(model, ground=False)
    sim.reset(turn.as_quat(), omega)
    rec = sim.rollout(3000)
    axes = Rotation.from_quat(rec.q).apply([0, 0, 1])
    heights = axes[:, 2]
    angles = np.unwrap(np.arctan2(axes[:, 1], axes[:, 0]))
    measured = (angles[-1] - angles[0]) / (rec.time[-1] - rec.time[0])
    assert measured == pytest.approx(rate, rel=5e-3)
    assert np.abs(heights - np.cos(tilt)).max() < 2e-3
    total = rec.metrics["kinetic_energy"] + rec.metrics["potential_energy"]
    assert np.abs(total - total[0]).max() < 1e-9 * rec.metrics["kinetic_energy"].max()


# --- chaos and dead points ------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 5e-3])
@pytest.mark.parametrize(("masses", "lengths"), [((1, 1), (1, 1)), ((0.3, 2.0), (0.2, 0.5))])
def test_midpoint_keeps_the_energy_of_a_double_pendulum_for_a_minute(masses, lengths, dt):
    model = double_pendulum(masses, lengths)
    error, kinetic = energies(model, model.neutral(), None, 60.0, dt=dt)
    assert error < 1e-9 * kinetic


@pytest.mark.parametrize("dt", [2.5e-4, 1e-3, 5e-3])
@pytest.mark.parametrize(("count", "length", "mass"), [(1, 1.0, 1.0), (2, 1.0, 1.0), (2, 0.3, 5.0)])
def test_midpoint_keeps_the_energy_of_parallelograms_through_dead_points(count, length, mass, dt):
    model, v = four_bars(count, length, mass)
    error, kinetic = energies(model, model.neutral(), v, 10.0, dt=dt)
    assert error < 1e-6 * kinetic


@pytest.mark.slow
@pytest.mark.parametrize("count", [10, 40])
def test_midpoint_keeps_the_energy_of_many_parallelograms(count):
    model, v = four_bars(count)
    error, _ = energies(model, model.neutral(), v, 10.0, dt=1e-3)
    assert error < 1e-2


def test_rk4_keeps_the_energy_of_a_double_pendulum_and_of_parallelograms():
    model = double_pendulum()
    error, kinetic = energies(model, model.neutral(), None, 60.0, integrator="rk4")
    assert error < 2.7e-7 * kinetic  # ten times what MuJoCo's has
    model, v = four_bars(1)
    error, _ = energies(model, model.neutral(), v, 10.0, integrator="rk4")
    assert error < 3.5e-4


def test_rk4_gives_a_body_that_tumbles_fast_to_midpoint():
    model = free_body()
    sim = dl.Simulator(model, ground=False, integrator="rk4")
    sim.reset(model.neutral(), np.array([0, 0, 0, 1000.0, 800.0, 900.0]))
    kinetic = sim.rollout(1000).metrics["kinetic_energy"]
    np.testing.assert_allclose(kinetic, kinetic[0], rtol=1e-10)
