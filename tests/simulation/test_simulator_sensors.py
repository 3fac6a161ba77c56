"""What simulators tell: reactions, accelerations, metrics, and what goes wrong."""

import warnings

import numpy as np
import pytest

import delassus as dl


def two_rods(**limits):
    """Two rods of 1 kg and 1 m, one below the other, that turn about y."""
    b = dl.ModelBuilder("rods")
    matrix = np.diag([1.0, 1.0, 0.01]) / 12
    for name, parent, at in (("upper", "world", 0.0), ("lower", "upper", -1.0)):
        b.add_body(
            name, parent, dl.Revolute((0, 1, 0)), (0, 0, at),
            mass=1.0, com=(0, 0, -0.5), inertia=matrix, **limits,
        )  # fmt: skip
    return b.build()


def falling(height=1.0, **more):
    b = dl.ModelBuilder("ball")
    b.add_body("ball", joint=dl.Free(), mass=1.0, inertia=0.004 * np.eye(3))
    b.add_shape(dl.Shape("ball", "ball", "collision", "sphere", size=(0.1,)))
    sim = dl.Simulator(b.build(), **more)
    q = sim.model.neutral()
    q[2] = height
    sim.reset(q)
    return sim


def test_joints_that_hang_carry_what_is_below_them():
    sim = dl.Simulator(two_rods(), ground=False)
    rec = sim.rollout(50, sensors=True)
    assert sim.joint_names == ["upper_joint", "lower_joint"]
    # The force of a joint is in axes of its own, whose z is that of the joint.
    assert np.linalg.norm(sim.reaction("upper_joint")[:3]) == pytest.approx(2 * 9.81, rel=1e-6)
    assert np.linalg.norm(sim.reaction("lower_joint")[:3]) == pytest.approx(9.81, rel=1e-6)
    assert np.abs(sim.reactions[:, 3:]).max() < 1e-6
    assert np.array_equal(rec.reactions[-1], sim.reactions)
    with pytest.raises(dl.UnknownNameError, match="lower_joint"):
        sim.reaction("lower_joind")


def test_reactions_of_a_moving_chain_are_those_of_maximal_coordinates():
    model = two_rods()
    sim = dl.Simulator(model, dt=1e-5, ground=False)
    q, v = np.array([0.7, -0.4]), np.array([1.0, 2.0])
    sim.reset(q, v)
    sim.rollout(3)
    found = sim.system.accelerations(q, v, np.zeros(2))
    for k in range(2):
        expected = np.linalg.norm(found.wrenches[k, :3])
        assert np.linalg.norm(sim.reactions[k, :3]) == pytest.approx(expected, rel=1e-3)


def test_accelerations_of_a_fall_are_gravity():
    sim = falling(ground=False)
    rec = sim.rollout(10)
    assert sim.accelerations[2] == pytest.approx(-9.81)
    assert rec.accelerations[:, 2] == pytest.approx(-9.81)
    with pytest.raises(dl.SettingError, match="sensors=True"):
        rec.reactions  # noqa: B018


def test_sensors_are_recorded_in_files(tmp_path):
    sim = dl.Simulator(two_rods(), ground=False, worlds=2)
    sim.reset([0.3, 0.1])
    rec = sim.rollout(5, control=[0.5, 0.2], record=str(tmp_path / "a.rec"), sensors=True)
    found = dl.Recording.load(tmp_path / "a.rec")
    assert rec.torques.shape == (2, 5, 2)
    for name in ("reactions", "torques", "actuator_forces", "accelerations"):
        assert np.array_equal(getattr(found, name), getattr(rec, name))


def test_metrics_of_a_resting_ball_are_small():
    sim = falling(height=0.1)
    sim.rollout(20)
    told = sim.metrics
    for name in ("natural_map", "dual", "complementarity", "joint_error", "limit_error"):
        assert told[name] < 1e-6
    assert told["contacts"] == 1
    assert told["passes"] == 1


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_diverging_world_is_named_with_its_bodies_and_others_go_on():
    sim = falling(worlds=3, on_error="record", ground=False)
    push = np.zeros((3, 20, 6))
    push[1, 4:, 0] = 1e12
    rec = sim.rollout(20, control=push)
    (failure,) = sim.failures
    assert (failure.kind, failure.world, failure.step) == ("diverged", 1, 5)
    assert failure.time == pytest.approx(5e-3)
    assert "ball" in failure.where
    assert np.isfinite(rec.q[[0, 2]]).all()
    assert np.isfinite(rec.q[1, :4]).all()
    assert np.isnan(rec.q[1, 4:]).all()
    sim.rollout(5)
    sim.step()
    assert len(sim.failures) == 1  # it is told once
    sim.reset()
    assert np.isfinite(sim.rollout(5).q).all()


def test_deep_contacts_are_told_once_with_their_bodies():
    sim = falling(height=0.02, bounds=dl.Bounds(penetration=0.03), on_error="record")
    sim.rollout(5)
    for _ in range(3):
        sim.step()
    (failure,) = sim.failures
    assert (failure.kind, failure.step, failure.world) == ("penetration", 1, None)
    assert failure.where == "world and ball"
    assert failure.value == pytest.approx(0.08, abs=1e-3)
    with pytest.warns(RuntimeWarning, match=r"penetrate by 0.08 m at 0.0010 s, step 1"):
        falling(height=0.02).step()
    with pytest.raises(dl.SimulationError, match="world and ball") as error:
        falling(height=0.02, on_error="strict").rollout(5)
    assert error.value.recording.q.shape == (5, 7)


def test_joints_pulled_apart_are_named():
    sim = dl.Simulator(
        two_rods(), dt=0.02, ground=False, bounds=dl.Bounds(joint_error=1e-4), on_error="record",
        stabilization=dl.maximal.Stabilization(joint_opening=1.0),
    )  # fmt: skip
    sim.reset([0.3, 0.1], [20.0, -30.0])
    sim.rollout(20)
    assert {f.kind for f in sim.failures} == {"joint error"}
    assert sim.failures[0].where in ("upper_joint", "lower_joint")


def test_a_start_beyond_limits_is_told_with_its_joint():
    sim = dl.Simulator(two_rods(lower=-0.5, upper=0.5), ground=False)
    sim.reset([0.3, 0.54])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step()
    sim.reset([-0.9, 0.7])
    with pytest.warns(RuntimeWarning, match=r"beyond its limit by 0.4\d* at 0.0010 s.*upper_joint"):
        sim.step()
    (failure,) = sim.failures
    assert (failure.kind, failure.step, failure.where) == ("joint limit", 1, "upper_joint")
    assert failure.value == pytest.approx(0.4, abs=1e-3)
    many = dl.Simulator(sim.model, ground=False, worlds=2, on_error="record")
    many.reset([[0.0, 0.7], [0.0, 0.0]])
    many.rollout(3)
    assert [(f.world, f.where) for f in many.failures] == [(0, "lower_joint")]


def test_controls_that_fail_keep_the_recording(tmp_path):
    sim = falling(ground=False)
    path = tmp_path / "run.rec"

    def failing(sim):
        if sim.time > 2.5e-3:
            raise RuntimeError("from the control")
        return np.zeros(6)

    with pytest.raises(RuntimeError, match="from the control"):
        sim.rollout(10, control=failing, record=str(path))
    assert len(sim.recording) == len(dl.Recording.load(path)) == 3
    for given, message in (
        (np.full(6, np.nan), "not finite: number 0"),
        (np.zeros(5), "one of the shapes"),
        (None, "returned None: return an array of 6 numbers"),
    ):
        with pytest.raises(dl.DelassusError, match=f"control of step .*{message}.*0 steps"):
            sim.rollout(2, control=lambda sim, x=given: x)


def test_a_full_disk_ends_the_recording_and_says_what_is_kept(tmp_path):
    sim = falling(ground=False)
    with pytest.raises(dl.FileAccessError, match="No space left"):
        sim.rollout(5, record="/dev/full")
    path = tmp_path / "run.rec"

    def control(sim):
        if sim.time > 2.5e-3:  # from now on the disk is full
            sim.recording._file = open("/dev/full", "wb")  # noqa: SIM115
        return np.zeros(6)

    with pytest.raises(dl.FileAccessError, match=r"at 0.0040 s.*the 3 steps.*recording all 4"):
        sim.rollout(10, control=control, record=str(path))
    assert len(dl.Recording.load(path)) == 3


def test_arrays_for_steps_or_worlds_are_not_guessed():
    sim = falling(worlds=3, ground=False)
    with pytest.raises(dl.ShapeError, match="could be that of 3 steps or of 3 worlds"):
        sim.rollout(3, control=np.zeros((3, 6)))
    sim.rollout(3, control=np.zeros((3, 3, 6)))
    sim.rollout(4, control=np.zeros((3, 6)))
    sim.step(np.zeros((3, 6)))


def test_loops_that_cannot_be_closed_are_named():
    b = dl.ModelBuilder("far")
    b.add_body("rod", joint=dl.Revolute((0, 1, 0)), mass=1.0, inertia=np.eye(3))
    b.add_frame("tip", "rod", (0, 0, -1.0))
    b.add_frame("wall", "world", (3.0, 0, 0))
    b.add_constraint(dl.Connect("tip", "wall"))
    sim = dl.Simulator(b.build(), ground=False)
    with pytest.raises(dl.ConvergenceError, match=r"cannot be closed .*'tip'.* an error of 2"):
        sim.reset([0.3])
    with pytest.raises(dl.ConvergenceError, match="reset to another state first"):
        sim.step()


def test_poses_come_back_to_the_last_bit_where_slots_run_out():
    b = dl.ModelBuilder("balls")
    for k in range(3):
        b.add_body(f"ball {k}", joint=dl.Free(), mass=1.0, inertia=0.004 * np.eye(3))
        b.add_shape(dl.Shape(f"s{k}", f"ball {k}", "collision", "sphere", size=(0.1,)))
    model = b.build()
    q = model.neutral().reshape(3, 7)
    q[:, 0], q[:, 2] = [0, 1, 2], [0.11, 0.12, 0.13]
    few, many = (dl.Simulator(model, contact_slots=n) for n in (1, 8))
    for sim in (few, many):
        sim.reset(q.ravel(), np.full(18, 0.3))
    assert np.array_equal(few.rollout(100).q, many.rollout(100).q)
