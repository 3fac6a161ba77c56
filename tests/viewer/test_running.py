"""A simulator in the viewer: buttons, controls, choices, and what is shown of it."""

import numpy as np
import pytest

import delassus as dl
from delassus.viewer.forces import GROUPS
from delassus.viewer.motion import body_poses
from delassus.viewer.running import control_ranges

from .browser import PATIENCE, until


@pytest.fixture
def model():
    return dl.robots.figure("box_on_plane").model


def arm(**values):
    b = dl.ModelBuilder("arm")
    b.add_body("rod", joint=dl.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -1), **values)
    return b.build()


@pytest.fixture
def fourbar(shown):
    """A viewer of four bars that stand still, the simulator, and the slider of the crank."""
    sim = dl.Simulator(dl.robots.figure("fourbar_free").model)
    viewer = shown(sim.model, simulator=sim, port=8700)
    return viewer, sim, controls(viewer)["crank_joint"]


def angle(sim, joint):
    return sim.q[sim.model.joint(joint).q][0]


def controls(viewer):
    """The sliders of a panel, by label."""
    handles = viewer.server.gui._gui_input_handle_from_uuid.values()
    return {h.label: h for h in handles}


def test_steps_are_made_and_taken_back(shown, model):
    sim = dl.Simulator(model, worlds=2)
    start = sim.q.copy()
    viewer = shown(model, simulator=sim, port=8700)
    assert viewer.worlds == 2
    runner = viewer.shown
    assert runner.advance(7) == 7
    assert sim.time == pytest.approx(7 * sim.dt)
    runner.reset()
    assert sim.time == 0.0 and np.array_equal(sim.q, start)


def test_steps_are_those_of_the_simulator_alone(shown, model):
    sim, alone = dl.Simulator(model), dl.Simulator(model)
    shown(model, simulator=sim, port=8700).shown.advance(50)
    assert np.array_equal(sim.q, alone.rollout(50).q[-1])


def test_what_a_program_does_is_shown(shown, model):
    sim = dl.Simulator(model)
    viewer = sim.view(port=8700)
    try:
        sim.rollout(300)
        viewer.shown.show()
        wanted = body_poses(model, sim.q[None]).positions[0, 0]
        viewer.stage.show("frames", True)
        assert np.allclose(viewer.stage.frames.batched_positions[0], wanted, atol=1e-6)
    finally:
        viewer.close()


def test_forces_are_shown_and_can_be_hidden(shown, model):
    sim = dl.Simulator(model)
    sim.rollout(1500)
    viewer = shown(model, simulator=sim, port=8700)
    viewer.shown.show()
    arrows, cones = (viewer.stage._arrows[group] for group in GROUPS[:2])
    assert arrows.points.shape == (4, 2, 3) and arrows.visible and cones.visible
    assert np.allclose(arrows.points[:, 0], sim.contacts["point"], atol=1e-5)
    viewer.shown.show_group(GROUPS[0], False)
    viewer.shown.show()
    assert not arrows.visible and cones.visible


def test_a_cone_is_as_wide_as_friction_allows(shown, model):
    sim = dl.Simulator(model, friction=0.5)
    sim.rollout(1500)
    viewer = shown(model, simulator=sim, port=8700)
    viewer.shown.show()
    corners = viewer.stage._arrows[GROUPS[1]].vertices.reshape(-1, 3, 3)
    edges = corners[:, 1] - corners[:, 0]
    mu = sim.contacts["friction"][0]
    assert np.allclose(np.hypot(edges[:, 0], edges[:, 1]), mu * edges[:, 2], rtol=1e-4)


def test_sliders_are_the_controls_of_steps(shown):
    motor = dl.Actuator("motor", "rod_joint", control_range=(-3, 3))
    sim = dl.Simulator(arm(inertia=0.1 * np.eye(3)), actuators=[motor], ground=False)
    viewer = shown(sim.model, simulator=sim, port=8700)
    assert control_ranges(sim) == [("motor", -3.0, 3.0)]
    slider = controls(viewer)["motor"]
    slider.value = 2.0
    viewer.shown.advance(1)
    assert sim.actuator_forces[0] == pytest.approx(2.0)


def test_ranges_of_sliders_are_those_of_joints():
    limited = arm(lower=-0.5, upper=0.7, effort_limit=4.0, inertia=0.1 * np.eye(3))
    assert control_ranges(dl.Simulator(limited, ground=False)) == [("rod_joint", -4.0, 4.0)]
    servo = dl.Simulator(limited, ground=False, stiffness=10.0)
    assert control_ranges(servo) == [("rod_joint", -0.5, 0.7)]


def test_a_slider_moves_a_joint_of_a_simulation_that_stands_still(fourbar):
    """Loops stay closed, and what is seen is where the simulator is."""
    viewer, sim, slider = fourbar
    viewer.stage.show("frames", True)
    for wanted in (0.2, 0.5):
        slider.value = wanted
        assert angle(sim, "crank_joint") == pytest.approx(wanted, abs=1e-8)
        assert np.abs(dl.Constraints(sim.model).position_error(sim.q)).max() < 1e-8
        seen = viewer.stage.frames.batched_positions
        assert np.allclose(seen, body_poses(sim.model, sim.q[None]).positions[0], atol=1e-6)
    assert abs(angle(sim, "rocker_joint")) > 0.02 and sim.time == 0.0


def test_a_slider_moves_joints_of_loops_that_are_switched_off_alone(fourbar):
    _, sim, slider = fourbar
    sim.disable(0)
    slider.value = 0.4
    assert angle(sim, "crank_joint") == 0.4 and angle(sim, "rocker_joint") == 0.0


def test_joints_have_no_sliders_in_many_worlds(shown):
    motor = dl.Actuator("motor", "rod_joint")
    sim = dl.Simulator(arm(), actuators=[motor], ground=False, worlds=2)
    assert "rod_joint" not in controls(shown(sim.model, simulator=sim, port=8700))


def test_sliders_follow_what_a_program_does(shown):
    """Also where the time stays."""
    motor = dl.Actuator("motor", "rod_joint")
    sim = dl.Simulator(arm(lower=-0.5, upper=0.7), actuators=[motor], ground=False)
    viewer = shown(sim.model, simulator=sim, port=8700)
    viewer.stage.show("frames", True)
    slider = controls(viewer)["rod_joint"]
    assert (slider.min, slider.max) == (-0.5, 0.7)
    sim.q = [0.3]
    until(lambda: slider.value == 0.3, PATIENCE, "the slider stands where the joint is")
    assert viewer.stage.frames.batched_wxyzs[0, 0] == pytest.approx(np.cos(0.15))
    slider.value = 0.9
    assert sim.q == 0.7


def test_while_a_simulation_runs_its_joints_are_not_moved(shown):
    motor = dl.Actuator("motor", "rod_joint")
    sim = dl.Simulator(arm(inertia=0.1 * np.eye(3)), actuators=[motor], ground=False)
    viewer = shown(sim.model, simulator=sim, port=8700)
    slider = controls(viewer)["rod_joint"]
    viewer.shown.run(True)
    assert slider.disabled
    slider.value = 0.5  # of a page that did not know it yet
    assert slider.value == 0.0 and sim.q == 0.0  # it hangs
    viewer.shown.run(False)
    assert not slider.disabled
    slider.value = 0.5
    assert sim.q == 0.5


def test_choices_switch_the_simulator(shown, model):
    sim = dl.Simulator(model)
    choices = controls(shown(model, simulator=sim, port=8700))
    assert set(choices["integrator"].options) == {"euler", "midpoint", "rk4"}
    assert choices["solver"].options == dl.contact.SOLVERS
    choices["integrator"].value = "euler"
    choices["solver"].value = "newton"
    assert (sim.integrator, sim.solver) == ("euler", "newton")


def test_a_world_that_diverges_stops_the_run_and_is_told(shown):
    model = arm(inertia=0.1 * np.eye(3))
    sim = dl.Simulator(model, ground=False)
    viewer = shown(model, simulator=sim, port=8700)
    sim.reset(v=[9e5])
    viewer.shown.control[:] = 1e12
    assert viewer.shown.advance(1000) < 1000
    assert "diverged" in controls(viewer)["state"].value


def test_metrics_that_were_read_are_not_those_of_later_steps(model):
    """A viewer reads them from another thread while a program makes steps."""
    sim = dl.Simulator(model)
    sim.rollout(5)
    sim.step()
    kept = sim._worlds.metrics
    before = kept.copy()
    sim.reset(v=[1.0, 0, 0, 0, 0, 0])
    sim.step()
    assert np.array_equal(kept, before) and not np.array_equal(sim._worlds.metrics, before)
