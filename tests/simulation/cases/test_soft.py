"""Soft contacts: as deep as their law and MuJoCo have it; damping takes bounces away."""

import mujoco
import numpy as np
import pytest

import delassus as dl
from delassus.maximal import Softening, Stabilization
from simulation.cases.solids import GRAVITY, add_solid, inertia_of, solid

MARGIN = 1e-6  # overlap without effect
SOFT = {
    "as MuJoCo's default": Softening(),
    "slow": Softening(time_constant=0.05, damping_ratio=0.5),
    "deep": Softening(
        impedance=0.5, impedance_at_width=0.5, width=0.01, time_constant=0.06, damping_ratio=1.0
    ),
}


def impedance(soft, depth):
    """d at a depth, for the power 2 and the midpoint 1/2."""
    x = min(depth / soft.width, 1.0)
    y = 2.0 * x * x if x <= 0.5 else 1.0 - 2.0 * (1.0 - x) ** 2
    return soft.impedance + y * (soft.impedance_at_width - soft.impedance)


def resting_depth(soft, load):
    """k r = (1 - d) / d load, for the acceleration that a row bears, by its own mobility."""
    low, high = 0.0, 1.0
    for _ in range(100):
        depth = 0.5 * (low + high)
        d = impedance(soft, depth)
        k = d / (soft.impedance_at_width * soft.time_constant * soft.damping_ratio) ** 2
        low, high = (depth, high) if k * depth < (1.0 - d) / d * load else (low, depth)
    return depth


def resting(model, q, soft, time=2.0, **options):
    """The simulator after some time; what it warns of is that bodies are deep."""
    sim = dl.Simulator(model, soft_contacts=soft, on_error="record", **options)
    sim.reset(q)
    rec = sim.rollout(round(time / sim.dt))
    assert rec.metrics["natural_map"].max() <= 1e-6
    return sim


@pytest.mark.parametrize("name", SOFT)
@pytest.mark.parametrize("integrator", ["midpoint", "euler"])
def test_a_box_sinks_by_the_depth_of_the_law_and_a_hard_one_does_not(name, integrator):
    size, mass, soft = np.array([0.4, 0.3, 0.2]), 2.0, SOFT[name]
    model, q = solid("box", tuple(size), mass)
    sim = resting(model, q, soft, integrator=integrator)
    x, y, _ = 0.5 * size
    Ix, Iy, _ = np.diag(inertia_of("box", mass, size))
    mobility = 1.0 / mass + y * y / Ix + x * x / Iy  # of a corner, along the normal
    depth = resting_depth(soft, mobility * mass * GRAVITY / 4)
    assert q[2] - sim.q[2] == pytest.approx(depth + MARGIN, abs=1e-8)
    assert depth > 1e-4
    assert sim.contacts["force"][:, 2].sum() == pytest.approx(mass * GRAVITY, rel=1e-5)
    hard = resting(model, q, False, integrator=integrator, time=0.2)
    assert 0.9 * MARGIN - 1e-8 < q[2] - hard.q[2] < MARGIN + 1e-8


def write_ball(path, soft, height):
    solref = f"{soft.time_constant} {soft.damping_ratio}"
    solimp = f"{soft.impedance} {soft.impedance_at_width} {soft.width}"
    path.write_text(
        f"""<mujoco><option timestep="0.001" cone="elliptic" tolerance="1e-12"/>
        <default><geom solref="{solref}" solimp="{solimp} 0.5 2" friction="0.8"/></default>
        <worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 {height}"><freejoint/>
        <geom type="sphere" size="0.1" mass="2"/></body></worldbody></mujoco>"""
    )
    return path


@pytest.mark.parametrize("name", SOFT)
def test_a_ball_of_a_file_sinks_as_deep_and_swings_as_mujocos(tmp_path, name):
    path = write_ball(tmp_path / "ball.xml", SOFT[name], 0.15)
    peer = mujoco.MjModel.from_xml_path(str(path))
    data, theirs = mujoco.MjData(peer), []
    for _ in range(2000):
        mujoco.mj_step(peer, data)
        theirs.append(data.qpos[2])
    # The file says nothing of the default, which then is that of what says nothing.
    sim = dl.Simulator(dl.load(path), soft_contacts=Softening(), on_error="record")
    ours = sim.rollout(2000).q[:, 2]
    assert ours[-1] == pytest.approx(theirs[-1], abs=MARGIN + 1e-7)
    assert min(ours) == pytest.approx(min(theirs), abs=1e-3)
    hard = dl.Simulator(dl.load(path)).rollout(1000).q[:, 2]  # a file's softness is not asked for
    assert hard.min() > 0.1 - 2 * MARGIN


def rebound(soft, speed, load):
    """The largest upward speed of a mass that has fallen on a spring and damper."""
    d = soft.impedance
    b, k = 2.0 / (d * soft.time_constant), d / (d * soft.time_constant * soft.damping_ratio) ** 2
    x, v, h, most = 0.0, -speed, 1e-5, 0.0
    for _ in range(50_000):
        a = -(1.0 - d) * load - d * (b * v + k * x)
        if v > 0.0 and (a <= -load or x >= 0.0):  # it would pull
            break
        v += h * a
        x += h * v
        most = max(most, v)
    return most


@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.7])
def test_a_ball_bounces_from_soft_ground_by_the_damping_ratio(ratio):
    d = 0.9
    soft = Softening(
        impedance=d, impedance_at_width=d, time_constant=0.1, damping_ratio=ratio, width=0.001
    )
    model, q = solid("sphere", (0.1,), mass=2.0, height=0.1)
    # Restitution is of hard contacts.
    sim = dl.Simulator(model, dt=1e-4, soft_contacts=soft, restitution=0.9, on_error="record")
    sim.reset(q, [0, 0, -1.0, 0, 0, 0])
    speeds = sim.rollout(5000).v[:, 2]
    assert speeds.max() == pytest.approx(rebound(soft, 1.0, GRAVITY), rel=0.01)


def test_rows_of_many_bodies_are_as_soft_as_rows_by_bodies():
    builder = dl.ModelBuilder("many")
    add_solid(builder, "ball", "sphere", (0.1,), 2.0)
    parent = "world"
    for k in range(8):
        placement = (0, 0, 0.5) if k == 0 else (0.5, 0, 0)
        builder.add_body(
            f"link {k}",
            parent,
            joint=dl.Revolute((0, 1, 0)),
            placement=dl.Transform(np.eye(3), placement),
            mass=1.0,
            inertia=np.eye(3),
            stiffness=[1e4],
        )
        builder.add_shape(dl.Shape(f"s{k}", f"link {k}", "collision", "sphere", None, (0.05,)))
        parent = f"link {k}"
    model = builder.build()
    q = model.neutral()
    q[model.joint(model.body("ball").joint.name).q] = [-1.0, 0, 0.1, 0, 0, 0, 1]
    soft = SOFT["slow"]
    sim = resting(model, q, soft)
    assert sim._worlds.world.form == "joints"
    height = sim.q[model.joint(model.body("ball").joint.name).q][2]
    assert 0.1 - height == pytest.approx(resting_depth(soft, GRAVITY) + MARGIN, abs=1e-8)


def test_a_time_constant_below_two_steps_counts_as_two():
    model, q = solid("sphere", (0.1,), mass=2.0)
    sharp, two = Softening(time_constant=1e-5), Softening(time_constant=2e-3)
    depths = [q[2] - resting(model, q, soft, time=0.5).q[2] for soft in (sharp, two)]
    assert depths[0] == pytest.approx(depths[1], abs=1e-9)
    assert depths[0] == pytest.approx(resting_depth(two, GRAVITY) + MARGIN, abs=1e-8)


def test_soft_contacts_are_asked_for_in_one_place():
    model, _ = solid("sphere", (0.1,))
    with pytest.raises(dl.DelassusError, match="soft_contacts must be True, False or a Softening"):
        dl.Simulator(model, soft_contacts="yes")
    with pytest.raises(dl.SettingError, match="given soft_contacts itself"):
        dl.Simulator(model, stabilization=Stabilization(soft_contacts=Softening()))
