"""`delassus simulate ROBOT`: named robots start above the ground, within limits."""

import argparse

import numpy as np
import pytest

import delassus as dl
from delassus.cli import _parser, simulate
from delassus.cli.models import find_model
from delassus.simulation.given.placing import (
    base_height,
    beyond_limits,
    clearance,
    within_limits,
    without_limits,
)

# All kinds: legged, with loops, with loops whose limits contradict them, arms that stand on the
# ground or reach below it, figures with a start of their own.
ROBOTS = ["hyq", "solo12", "iris", "cassie_reduced", "cassie_without_springs", "allegro_left"]
ROBOTS += ["panda", "ur3", "tiago_no_hand", "walker", "quadruped", "box_on_plane"]
KNOWN = {*dl.robots.names(), *dl.robots.suite()}  # without the collection there are fewer


def started(name, *more):
    """A robot as the command would begin to simulate it."""
    options = _parser().parse_args(["simulate", name, *more])
    assert isinstance(options, argparse.Namespace)
    model, _ = find_model(name)
    model, q = simulate._planned(model, options)
    return simulate._start(simulate._simulator(model, options), q, options)[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(KNOWN.intersection(ROBOTS)))
def test_robots_start_above_the_ground_within_limits_and_closed(name, capsys):
    sim = started(name)
    above = clearance(sim.system, sim.geometry, sim.q)
    assert above > -1e-6
    if base_height(sim.model) is not None and not sim.model.keyframes and np.isfinite(above):
        assert above == pytest.approx(1e-3, abs=1e-6)
    assert beyond_limits(sim.model, sim.q) == []
    if sim.model.constraints:
        cs = dl.Constraints(sim.model, sim.model.constraints)
        assert np.abs(cs.position_error(sim.q)).max() < 1e-6
    said = capsys.readouterr().err
    assert ("limits of left-tarsus-crank-joint" in said) == (name == "cassie_reduced")
    assert ("there is no ground" in said) == (name == "allegro_left")


@pytest.mark.filterwarnings("ignore")
def test_a_height_in_the_ground_is_raised(capsys):
    if "hyq" not in dl.robots.names():
        pytest.skip("the collection is not installed")
    sim = started("hyq", "--height", "0.1")
    assert clearance(sim.system, sim.geometry, sim.q) == pytest.approx(1e-3, abs=1e-6)
    assert "at --height 0.1, in the ground: starting at" in capsys.readouterr().err
    sim = started("hyq", "--height", "2")
    assert sim.q[2] == 2.0
    assert not capsys.readouterr().err


KINDS = {
    "sphere": ((0.1,), 0.1),
    "capsule": ((0.1, 0.6), 0.1 + 0.3),
    "cylinder": ((0.1, 0.6), 0.3),
    "box": ((0.2, 0.4, 0.6), 0.3),
    "ellipsoid": ((0.1, 0.2, 0.3), 0.3),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turned", [False, True])
def test_the_lowest_point_is_that_of_many_points_of_the_surface(kind, turned):
    size, reach = KINDS[kind]
    b = dl.ModelBuilder("one")
    b.add_body("body", joint=dl.Free(), mass=1.0, com=(0.05, 0.02, 0.1), inertia=np.eye(3))
    b.add_shape(dl.Shape("shape", "body", "collision", kind, size=size))
    sim = dl.Simulator(b.build())
    q = np.array([0.3, 0.2, 1.0, 0, 0, 0, 1.0])
    if turned:
        q[3:] = np.array([0.3, -0.5, 0.2, 0.7]) / np.linalg.norm([0.3, -0.5, 0.2, 0.7])
        x, y, z, w = q[3:]
        up = np.array([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)])
        c = reach if kind != "capsule" else 0.3
        flat = np.hypot(*up[:2])
        reach = {
            "sphere": 0.1,
            "capsule": 0.1 + c * abs(up[2]),
            "cylinder": 0.1 * flat + c * abs(up[2]),
            "box": np.abs(up) @ [0.1, 0.2, 0.3],
            "ellipsoid": np.linalg.norm(up * [0.1, 0.2, 0.3]),
        }[kind]
    assert clearance(sim.system, sim.geometry, q) == pytest.approx(1.0 - reach, abs=1e-9)


def test_limits_are_left_out_of_named_joints_only():
    b = dl.ModelBuilder("two")
    for name in "ab":
        b.add_body(name, joint=dl.Revolute((0, 0, 1)), lower=0.5, upper=1.0, joint_name=name)
    model = b.build()
    assert np.array_equal(within_limits(model, model.neutral()), [0.5, 0.5])
    assert beyond_limits(model, model.neutral()) == ["a", "b"]
    free = without_limits(model, ["a"])
    assert beyond_limits(free, model.neutral()) == ["b"]
    assert free.joint("a").data.lower[0] == -np.inf
