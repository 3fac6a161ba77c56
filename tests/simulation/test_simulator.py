"""Worlds that move: energy, momentum, contact, states that come back, many at once."""

import math

import numpy as np
import pytest

import delassus as dl
from delassus.simulation.collision import geometry


def crank_rocker():
    """Ground, crank, coupler, rocker 0.30, 0.10, 0.30, 0.25 m; masses 0.2, 0.6, 0.5 kg."""
    b, y = dl.ModelBuilder("crank_rocker"), (0, 1, 0)

    def bar(name, parent, at, along, mass):
        length = np.linalg.norm(along)
        unit = np.array(along) / length
        matrix = mass * length**2 / 12 * (np.eye(3) - np.outer(unit, unit)) + 1e-6 * np.eye(3)
        middle = 0.5 * np.array(along)
        b.add_body(name, parent, dl.Revolute(y), at, mass=mass, com=middle, inertia=matrix)

    crank, pivot = np.array([0.1, 0, 0]), np.array([0.3, 0, 0])
    x = (0.3**2 - 0.25**2 + 0.2**2) / 0.4
    tip = crank + np.array([x, 0, math.sqrt(0.3**2 - x * x)])
    bar("crank", "world", np.zeros(3), crank, 0.2)
    bar("coupler", "crank", crank, tip - crank, 0.6)
    bar("rocker", "world", pivot, tip - pivot, 0.5)
    b.add_frame("coupler_end", "coupler", tip - crank)
    b.add_frame("rocker_end", "rocker", tip - pivot)
    b.add_constraint(dl.Closure(dl.Revolute(y), "coupler_end", "rocker_end"))
    model = b.build()
    emb = dl.embed(model, independent=["crank_joint"])
    return model, emb.spanning([math.radians(20)])  # about y, this is 20 degrees downwards


def ball(radius=0.1):
    b = dl.ModelBuilder("ball")
    b.add_body("ball", joint=dl.Free(), mass=1.0, inertia=0.4 * radius**2 * np.eye(3))
    b.add_shape(dl.Shape("ball", "ball", "collision", "sphere", size=(radius,)))
    model = b.build()
    q = model.neutral()
    q[2] = radius
    return model, q


def total_energy(rec):
    return rec.metrics["kinetic_energy"] + rec.metrics["potential_energy"]


def test_a_passive_crank_rocker_keeps_its_energy_and_its_loop():
    model, q = crank_rocker()
    sim = dl.Simulator(model, dt=2.5e-3, ground=False)
    assert sim.reset(q).position < 1e-9
    rec = sim.rollout(24_000)  # a minute
    energy, largest = total_energy(rec), rec.metrics["kinetic_energy"].max()
    assert np.abs(energy - dl.potential_energy(model, q)).max() < 1e-5 * largest
    assert rec.metrics["joint_error"].max() < 5e-5
    assert rec.metrics["joint_error"][-4000:].max() < 1.01 * rec.metrics["joint_error"][:4000].max()


def test_euler_loses_energy():
    model, q = crank_rocker()
    sim = dl.Simulator(model, dt=2.5e-3, integrator="euler", ground=False)
    sim.reset(q)
    rec = sim.rollout(2000)
    lost = total_energy(rec)[-1] - dl.potential_energy(model, q)
    assert lost < -0.1 * rec.metrics["kinetic_energy"].max()


def test_a_free_body_that_spins_keeps_energy_and_momentum():
    b = dl.ModelBuilder("body", gravity=(0, 0, 0))
    matrix = np.diag([1.0, 2.0, 2.8])
    b.add_body("body", joint=dl.Free(), mass=1.0, inertia=matrix)
    model = b.build()
    sim = dl.Simulator(model, ground=False)
    sim.reset(model.neutral(), np.array([0, 0, 0, 0.1, 3.0, 0.1]))
    rec = sim.rollout(20_000)
    kinetic = rec.metrics["kinetic_energy"]
    assert np.abs(kinetic / kinetic[0] - 1).max() < 1e-3
    momentum = [
        dl.centroidal_momentum_matrix(model, q)[3:] @ v
        for q, v in zip(rec.q[::500], rec.v[::500], strict=True)
    ]
    momentum = np.array(momentum)
    assert np.abs(momentum - momentum[0]).max() < 1e-3 * np.linalg.norm(momentum[0])


def test_velocities_are_in_the_axes_of_the_body_at_the_end_of_a_step():
    model, q = ball()
    model = model.replace(gravity=(0.0, 0.0, 0.0))
    sim = dl.Simulator(model, dt=0.01, ground=False)
    sim.reset(q, [3.0, 0.0, 0.0, 0.0, 4.0, 5.0])
    rec = sim.rollout(20)
    R = dl.forward_kinematics(model, rec.q, ["ball"]).rotation[:, 0]
    thrown = np.einsum("nij,nj->ni", R, rec.v[:, :3])
    assert np.abs(thrown - [3.0, 0.0, 0.0]).max() < 1e-12


def test_bodies_are_moved_by_setting_q_and_v():
    model, q = ball()
    sim = dl.Simulator(model)
    sim.reset(q)
    sim.rollout(10)
    assert len(sim.contacts) == 1
    up = q.copy()
    up[2] = 1.0
    sim.q = up
    assert np.array_equal(sim.q, up)
    assert len(sim.contacts) == 0
    assert sim.time == pytest.approx(0.01)
    sim.v = [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    sim.step()
    assert sim.q[2] == pytest.approx(1.0 + 0.002 - 0.5 * 9.81e-6, abs=1e-9)
    sim.q = q
    assert len(sim.contacts) == 1
    with pytest.raises(dl.ShapeError, match=r"q must have shape \(7,\)"):
        sim.q = q[:3]
    with pytest.raises(dl.ShapeError, match="v must be finite"):
        sim.v = np.full(6, np.nan)


def test_a_configuration_that_is_set_closes_loops():
    model, q = crank_rocker()
    sim = dl.Simulator(model, ground=False, worlds=2)
    sim.q = q + 1e-3
    error = dl.Constraints(model, model.constraints).position_error(sim.q)
    assert np.abs(error).max() < 1e-10
    assert 1e-5 < np.abs(sim.q - q).max() < 1e-2


def test_a_ball_that_slides_begins_to_roll():
    model, q = ball()
    sim = dl.Simulator(model, friction=0.3)
    sim.reset(q, np.array([1.0, 0, 0, 0, 0, 0]))
    rec = sim.rollout(500)
    end = rec.v[-1]
    assert np.linalg.norm(end[:3]) == pytest.approx(5 / 7, abs=3e-3)
    omega = np.linalg.norm(end[3:])
    # The ball rests a millionth of a metre deep, by the margin of contacts.
    assert omega * 0.1 == pytest.approx(np.linalg.norm(end[:3]), abs=1e-5)


def test_a_figure_with_loops_stands_on_its_feet():
    model = dl.robots.walker()
    q = model.neutral()
    q[2] = 0.945
    moved = ("yaw", "roll", "crank", "rotor", "foot", "toe")
    chosen = np.zeros(model.nv)
    for joint in model.joints:
        if any(word in joint.name for word in moved):
            chosen[joint.v.start] = 1.0
    sim = dl.Simulator(model, stiffness=60 * chosen, damping=3 * chosen)
    sim.reset(q)
    rec = sim.rollout(500)
    told = rec.metrics
    assert np.mean(told["natural_map"] <= 1e-6) > 0.98
    assert told["natural_map"].max() < 1e-3
    assert told["joint_error"].max() < 1e-5
    assert told["contacts"][-1] == 12
    assert rec.q[-1, 2] > 0.92


def test_states_come_back_without_a_difference_in_any_bit(tmp_path):
    model, q = ball()
    sim = dl.Simulator(model, restitution=0.5)
    q[2] = 0.3
    sim.reset(q, np.array([0.5, 0.2, 0, 3.0, 0, 1.0]))
    sim.rollout(300)
    kept = sim.state()
    first = sim.rollout(200)
    other = dl.Simulator(model, restitution=0.5)
    other.set_state(kept)
    second = other.rollout(200)
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first.v, second.v)
    steps = dl.Simulator(model, restitution=0.5)
    steps.set_state(kept)
    for _ in range(200):
        steps.step()
    assert np.array_equal(steps.q, first.q[-1])


def test_a_state_that_lacks_something_is_refused():
    sim = dl.Simulator(ball()[0])
    state = sim.state()
    del state["references"]
    with pytest.raises(dl.SettingError, match="no 'references'"):
        sim.set_state(state)


@pytest.mark.parametrize("worlds", [None, 2])
def test_steps_from_python_tell_what_those_of_a_rollout_do(worlds):
    model, q = ball()
    shallow = dl.Bounds(penetration=1e-3)
    one, many = (
        dl.Simulator(model, worlds=worlds, bounds=shallow, on_error="record") for _ in range(2)
    )
    push = np.zeros((120, 6))
    push[:, 0] = np.sin(0.1 * np.arange(120))
    q[2] = 0.09  # in the ground, at first and once again
    for sim in (one, many):
        sim.reset(q, [0.0, 0.0, 0.0, 0.0, 3.0, 0.0])
    many.rollout(60, push[:60])
    many.q = q
    many.rollout(60, push[60:])
    for k in range(120):
        if k == 60:
            one.q = q
        if k == 90:
            one.rollout(5, push[90:95])
            one.set_state(one.state())
        if not 90 <= k < 95:
            one.step(push[k].tolist() if k % 2 else push[k])
    assert len(one.failures) == 2 * (worlds or 1)
    assert one.failures == many.failures
    for told in ("q", "v", "accelerations", "reactions", "torques", "time"):
        assert np.array_equal(getattr(one, told), getattr(many, told))
    kept = one.state()
    assert all(np.array_equal(kept[name], x) for name, x in many.state().items())


def test_worlds_are_those_of_single_simulators_whatever_the_threads():
    model, q = ball()
    starts = np.tile(q, (5, 1))
    starts[:, 2] += 0.05 * np.arange(5)
    runs = []
    for threads in (1, 2):
        sim = dl.Simulator(model, worlds=5, threads=threads)
        sim.reset(starts)
        runs.append(sim.rollout(250).q)
    assert np.array_equal(*runs)
    one = dl.Simulator(model)
    one.reset(starts[3])
    assert np.array_equal(one.rollout(250).q, runs[0][3])


def test_contacts_beyond_the_slots_get_more_of_them():
    model = dl.robots.walker()
    q = model.neutral()
    q[2] = 0.945
    few, many, steps = (dl.Simulator(model, contact_slots=n) for n in (2, 16, 2))
    for sim in (few, many, steps):
        sim.reset(q)
    assert np.allclose(few.rollout(60).q, many.rollout(60).q, atol=1e-9)
    for _ in range(60):
        steps.step()
    assert np.array_equal(steps.q, few.q)
    assert few.system.contact_slots == steps.system.contact_slots >= 12


def test_recordings_are_read_again_and_survive_a_crash(tmp_path):
    model, q = ball()
    sim = dl.Simulator(model)
    sim.reset(q)
    path = tmp_path / "fall.rec"
    rec = sim.rollout(2500, record=str(path))
    found = dl.Recording.load(path)
    assert np.array_equal(found.q, rec.q)
    assert np.array_equal(found.time, rec.time)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    part = dl.Recording.load(path)
    assert 1500 <= len(part) < 2500  # all but the last second at most
    assert np.array_equal(part.q, rec.q[: len(part)])
    path.write_bytes(b"something else")
    with pytest.raises(dl.DelassusError, match="no recording"):
        dl.Recording.load(path)
    other = tmp_path / "saved.rec"
    rec.save(other)
    assert np.array_equal(dl.Recording.load(other).v, rec.v)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dt": 0.0}, "dt must be positive"),
        ({"integrator": "magic"}, "integrator"),
        ({"worlds": 0}, "worlds"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"stiffness": 1.0}, "joint 'ball_joint' has a stiffness"),
        ({"on_error": "shrug"}, "on_error"),
        ({"coordinates": "polar"}, "coordinates"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    model, _ = ball()
    with pytest.raises(dl.DelassusError, match=message):
        dl.Simulator(model, **arguments)


def test_bad_controls_and_states_are_named():
    model, q = ball()
    sim = dl.Simulator(model)
    with pytest.raises(dl.DelassusError, match="control must have one of the shapes"):
        sim.step(np.zeros(3))
    for number in (np.nan, np.inf):
        with pytest.raises(dl.DelassusError, match="not finite: number 0"):
            sim.step(np.full(6, number))
    with pytest.raises(dl.DelassusError, match="control must hold real numbers"):
        sim.step(np.zeros(6, complex))
    with pytest.raises(dl.DelassusError, match="control must hold real numbers"):
        sim.step(["0"] * 6)
    with pytest.raises(dl.DelassusError, match="wrenches must have one of the shapes"):
        sim.step(wrenches=np.zeros(6))
    with pytest.raises(dl.DelassusError, match="wrenches has numbers that are not finite: body 0"):
        sim.step(wrenches=[[0.0] * 5 + [np.nan]])
    with pytest.raises(dl.DelassusError, match="q must have shape"):
        sim.reset(np.zeros(3))
    with pytest.raises(dl.DelassusError, match="q must be finite"):
        sim.reset(np.full(7, np.nan))
    with pytest.raises(RuntimeError, match="from the control"):
        sim.rollout(3, control=failing)
    sim.reset(q)
    assert np.isfinite(sim.rollout(3).q).all()


def failing(sim):
    raise RuntimeError("from the control")


def test_a_world_that_diverges_says_when():
    model, q = ball()
    sim = dl.Simulator(model)
    sim.reset(q)
    push = np.zeros(6)
    push[0] = 1e12
    with pytest.raises(dl.DivergenceError, match=r"diverged at 0\.00"):
        sim.rollout(100, control=push)
    quiet = dl.Simulator(model, worlds=2, on_error="record")
    quiet.reset(q)
    both = np.zeros((2, 6))
    both[1] = push
    rec = quiet.rollout(50, control=np.repeat(both[:, None], 50, axis=1))
    assert len(quiet.failures) == 1
    assert np.isfinite(rec.q[0]).all()
    assert np.isnan(rec.q[1, -1]).all()


def test_shapes_that_do_not_collide_are_named_and_excluded_ones_pass_through(monkeypatch):
    b = dl.ModelBuilder("two balls")
    for name in ("upper", "lower"):
        b.add_body(name, joint=dl.Free(), mass=1.0, inertia=1e-2 * np.eye(3))
        b.add_shape(dl.Shape(name, name, "collision", "sphere", size=(0.1,)))
    model = b.build()
    q = model.neutral()
    q[2], q[9] = 0.4, 0.1
    touching, apart = (
        dl.Simulator(m)
        for m in (model, model.replace(contact_exclusions=[dl.ContactExclusion("upper", "lower")]))
    )
    for sim in (touching, apart):
        sim.reset(q)
        sim.rollout(400)
    assert touching.q[2] > 0.25
    assert apart.q[2] == pytest.approx(0.1, abs=1e-4)
    b.add_shape(dl.Shape("egg", "upper", "collision", "ellipsoid", size=(0.1, 0.1, 0.2)))
    monkeypatch.setattr(geometry, "can_read", lambda: False)
    with pytest.warns(UserWarning, match=r"do not touch each other .*: lower and egg"):
        dl.Simulator(b.build())
