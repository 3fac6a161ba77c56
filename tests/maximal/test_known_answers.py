"""Steps with contact whose answers are known in closed form, or were published."""

import numpy as np
import pytest

import delassus as dl
from delassus import contact
from delassus.maximal import Contact, MaximalSystem, Stabilization
from maximal.stepping import World


def block(mass=1.0, half=(0.1, 0.1, 0.05), gravity=(0.0, 0.0, -9.81)):
    x, y, z = np.square(2 * np.array(half))
    b = dl.ModelBuilder("block", gravity=gravity)
    inertia = mass / 12 * np.diag([y + z, x + z, x + y])
    b.add_body("block", joint=dl.Free(), mass=mass, inertia=inertia)
    points = [
        ("block", np.array([sx * half[0], sy * half[1], -half[2]]))
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    return b.build(), points


def placed(model, z):
    q = model.neutral()
    q[2] = z
    return q


@pytest.mark.parametrize("angle", [10.0, 25.0, 28.0, 40.0])
def test_a_block_slides_on_an_incline_if_it_is_steeper_than_friction_holds(angle):
    mu, t = 0.5, np.deg2rad(angle)
    model, points = block(gravity=(9.81 * np.sin(t), 0.0, -9.81 * np.cos(t)))
    world = World(model, placed(model, 0.05), points=points, mu=mu)
    for _ in range(50):
        assert world.step().converged
    expected = max(0.0, 9.81 * (np.sin(t) - mu * np.cos(t))) * 50e-3
    assert world.twists[0, 0] == pytest.approx(expected, abs=1e-6)


def test_a_sliding_block_stops_after_the_distance_of_the_school_book():
    mu, v0 = 0.4, 0.5
    model, points = block()
    v = np.array([v0, 0, 0, 0, 0, 0.0])
    world = World(model, placed(model, 0.05), v, points, mu=mu)
    for _ in range(200):
        world.step()
    assert np.abs(world.twists).max() < 1e-7
    # Euler's steps are ahead by half a step of the first velocity.
    assert world.poses[0, 0] == pytest.approx(v0**2 / (2 * mu * 9.81), abs=v0 * 1e-3)


def test_friction_does_not_bend_the_path_of_a_block():
    model, points = block()
    v = np.array([0.3, 0.4, 0, 0, 0, 0.0])
    world = World(model, placed(model, 0.05), v, points, mu=0.3)
    for _ in range(100):
        world.step()
    assert world.poses[0, 1] / world.poses[0, 0] == pytest.approx(4 / 3, abs=1e-7)


@pytest.mark.parametrize("angle", [0.0, 60.0])
def test_a_plate_that_is_pulled_under_balls(angle):
    b = dl.ModelBuilder("plate and balls")
    b.add_body("plate", joint=dl.Free(), mass=10.0, inertia=np.diag([1.0, 1.0, 2.0]))
    r = 0.05
    for k in range(25):
        b.add_body(f"ball_{k}", joint=dl.Free(), mass=1.0, inertia=0.4 * r**2 * np.eye(3))
    model = b.build()
    system = MaximalSystem(model, contact_slots=29)
    q = model.neutral()
    for k in range(25):
        q[7 * (k + 1) : 7 * (k + 1) + 3] = 0.2 * (k % 5 - 2), 0.2 * (k // 5 - 2), r
    up = (0.0, 0.0, 1.0)
    contacts = [
        Contact("world", "plate", (x, y, 0.0), normal=up, friction=0.4)
        for x in (-0.5, 0.5)
        for y in (-0.5, 0.5)
    ]
    contacts += [
        Contact("plate", f"ball_{k}", (*q[7 * k + 7 : 7 * k + 9], 0.0), normal=up, friction=0.8)
        for k in range(25)
    ]
    direction = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle)), 0.0])
    wrenches = np.zeros((26, 6))
    wrenches[0, :3] = 150.0 * direction
    dt = 1e-3
    dual = system.dual_problem(
        *system.state(q, np.zeros(model.nv)), dt, contacts=contacts, wrenches=wrenches,
        stabilization=Stabilization(penetration_margin=0.0),
    )  # fmt: skip
    r = contact.solve(dual.problem, tolerance=1e-10)
    assert r.converged
    a = dual.twists(r.reactions)[:, :3] / dt
    assert np.allclose(a[0], 0.7385 * direction, atol=1e-4)
    assert np.allclose(a[1:], 0.2110 * direction, atol=1e-4)


def test_a_ball_that_loses_nothing_jumps_as_high_as_before():
    b = dl.ModelBuilder("ball")
    b.add_body("ball", joint=dl.Free(), mass=0.5, inertia=1e-3 * np.eye(3))
    model = b.build()
    world = World(
        model, placed(model, 0.2), points=[("ball", np.zeros(3))], restitution=1.0, mu=0.0, dt=1e-3
    )
    highest = []
    falling = True
    for _ in range(3000):
        before = world.twists[0, 2]
        world.step()
        if before > 0 >= world.twists[0, 2]:
            highest.append(world.poses[0, 2])
        falling = falling and before <= 0
    assert not falling
    assert len(highest) >= 5
    assert np.abs(np.array(highest) - 0.2).max() < 4e-3  # Euler gains or loses half a step each


def test_restitution_reflects_the_velocity_of_a_contact_that_closes():
    model, points = block()
    system = MaximalSystem(model, contact_slots=4)
    q = placed(model, 0.05)
    v = np.array([0, 0, -1.0, 0, 0, 0])
    contacts = [
        Contact("world", name, (*at[:2], 0.0), normal=(0, 0, 1), friction=0.3, restitution=0.6)
        for name, at in points
    ]
    dual = system.dual_problem(*system.state(q, v), 1e-4, contacts=contacts)
    r = contact.solve(dual.problem, tolerance=1e-12)
    assert dual.twists(r.reactions)[0, 2] == pytest.approx(0.6, abs=1e-9)


def test_a_disc_in_a_sheath_is_lifted_by_the_convex_law_only():
    # Friction at two sides, pulled along at speed v: the convex law opens a gap of h mu v a step.
    model, _ = block(gravity=(0.0, 0.0, 0.0))
    system = MaximalSystem(model, contact_slots=1)
    mu, speed = 0.3, 1.0
    q, v = placed(model, 0.05), np.array([speed, 0, -0.01, 0, 0, 0])
    touching = [Contact("world", "block", (0.0, 0.0, 0.05), normal=(0, 0, 1), friction=mu)]
    dual = system.dual_problem(*system.state(q, v), 1e-3, contacts=touching)
    for law, rise in (("ncp", 0.0), ("ccp", mu)):
        r = contact.solve(dual.problem, tolerance=1e-12, law=law)
        assert r.converged
        assert r.velocity[2] == pytest.approx(rise * np.hypot(*r.velocity[:2]), abs=1e-9)


def test_a_standing_figure_needs_few_iterations_from_step_to_step():
    model = dl.robots.walker()
    q = placed(model, 0.94)
    frames = {f.name: f for f in model.frames}
    points = []
    for shape in model.shapes:
        frame = frames[shape.frame]
        at = np.subtract(frame.placement.translation, (0.0, 0.0, 0.004))
        points.append((model.bodies[frame.body].name, at))
    world = World(model, q, points=points, dt=1e-3)
    moved = ("yaw", "roll", "crank", "rotor", "foot", "toe")
    world.gains = np.zeros((model.nv, 2))
    for joint in model.joints:
        if any(word in joint.name for word in moved):
            world.gains[joint.v.start] = 60.0, 3.0
    world.options = {"solver": "auto", "tolerance": 1e-6}
    iterations = {"admm-ncp-sa": [], "newton": []}
    for _ in range(40):
        dual, touching = world.problem()
        start = world.warm(dual, touching)
        for solver, counts in iterations.items():
            r = contact.solve(dual.problem, solver, 1e-6, warm_start=start)
            counts.append(r.iterations if r.converged else np.inf)
        assert world.step().converged
    assert np.median(iterations["admm-ncp-sa"]) <= 15
    assert np.median(iterations["newton"]) <= 3
    assert np.mean(np.isfinite(iterations["newton"])) > 0.9
    assert np.abs(world.system.joint_errors(world.poses)).max() < 1e-5
