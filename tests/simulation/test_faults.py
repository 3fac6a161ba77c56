"""What a simulation survives: killed processes, Ctrl-C, broken files, overlaps that stay."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import delassus as dl


def ball():
    b = dl.ModelBuilder("ball")
    b.add_body("ball", joint=dl.Free(), mass=1.0, inertia=0.004 * np.eye(3))
    b.add_shape(dl.Shape("ball", "ball", "collision", "sphere", size=(0.1,)))
    return b.build()


def thrown(**more):
    sim = dl.Simulator(ball(), restitution=0.5, **more)
    q = sim.model.neutral()
    q[2] = 0.3
    sim.reset(q, [0.5, 0.2, 0, 3.0, 0, 1.0])
    return sim


RESTART = """
import sys
import numpy as np
import delassus as dl

sim = dl.Simulator(dl.load(sys.argv[1]), restitution=0.5)
with np.load(sys.argv[2]) as state:
    sim.set_state(state)
rec = sim.rollout(200)
np.savez(sys.argv[3], q=rec.q, v=rec.v, time=rec.time)
"""


def test_another_process_goes_on_from_a_state_in_a_file_to_the_last_bit(tmp_path):
    model, state, result = (tmp_path / name for name in ("ball.json", "state.npz", "rest.npz"))
    sim = thrown()
    sim.model.save(model)
    sim.rollout(300)
    np.savez(state, **sim.state())
    subprocess.run([sys.executable, "-c", RESTART, model, state, result], check=True, timeout=600)
    here = sim.rollout(200)
    with np.load(result) as there:
        for name in ("q", "v", "time"):
            assert np.array_equal(there[name], getattr(here, name))


RECORD = """
import sys
import numpy as np
import delassus as dl

sim = dl.Simulator(dl.load(sys.argv[1]), restitution=0.5)
q = sim.model.neutral()
q[2] = 0.3
sim.reset(q, [0.5, 0.2, 0, 3.0, 0, 1.0])
sim.rollout(10_000_000, record=sys.argv[2])
"""


def test_a_killed_process_leaves_all_but_the_last_second(tmp_path):
    model, path = tmp_path / "ball.json", tmp_path / "run.rec"
    ball().save(model)
    child = subprocess.Popen([sys.executable, "-c", RECORD, model, path])
    try:
        while not path.exists() or path.stat().st_size < 400_000:
            assert child.poll() is None  # it ends by itself, later
            time.sleep(0.01)
    finally:
        child.kill()
        child.wait()
    found = dl.Recording.load(path)
    assert len(found) >= 1000
    again = thrown().rollout(len(found))
    assert np.array_equal(found.q, again.q)
    assert np.array_equal(found.time, again.time)


@pytest.mark.parametrize(("dt", "lost"), [(0.01, 100), (0.001, 1000)])
def test_parts_of_a_file_are_a_second_at_most(tmp_path, dt, lost):
    path = tmp_path / "run.rec"
    rec = thrown(dt=dt).rollout(2 * lost + lost // 2, record=str(path))
    path.write_bytes(path.read_bytes()[:-1])
    found = dl.Recording.load(path)
    assert len(rec) - lost <= len(found) < len(rec)
    assert np.array_equal(found.q, rec.q[: len(found)])


def test_blocks_that_did_not_reach_the_disk_end_a_recording(tmp_path):
    path = tmp_path / "run.rec"
    sim = thrown()
    rec = sim.rollout(10, control=lambda sim: sim.default_control, record=str(path))
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(4096))
    assert np.array_equal(dl.Recording.load(path).q, rec.q)
    path.write_bytes(whole[:-500] + bytes(500))
    assert np.array_equal(dl.Recording.load(path).q, rec.q[:9])


def test_recordings_of_another_version_are_refused_with_the_reason(tmp_path):
    path = tmp_path / "run.rec"
    path.write_bytes(b"delassus recording 7\nand more")
    with pytest.raises(dl.FileFormatError, match="recording of version 7, and this reads version"):
        dl.Recording.load(path)
    path.write_bytes(b"delassus")
    with pytest.raises(dl.FileFormatError, match="is no recording"):
        dl.Recording.load(path)


@pytest.fixture
def with_ctrl_c():
    """Processes that a script starts in the background ignore Ctrl-C; this one does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("worlds", [None, 3])
def test_ctrl_c_ends_a_rollout_between_steps_and_keeps_what_was_made(tmp_path, with_ctrl_c, worlds):
    path = tmp_path / "run.rec"
    sim = thrown(worlds=worlds)
    sim.rollout(1)  # compiled
    sim.reset()
    start = sim.state()
    stop = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    stop.start()
    with pytest.raises(KeyboardInterrupt) as error:
        sim.rollout(3_000_000, record=str(path))  # a minute or more
    stop.join()
    rec, steps = sim.recording, len(sim.recording)
    if hasattr(error.value, "__notes__"):
        assert f"the {steps} steps" in error.value.__notes__[0]
    assert steps > 0
    assert sim.time == pytest.approx(1e-3 * steps)
    assert np.array_equal(dl.Recording.load(path).q, rec.q)
    assert np.array_equal(rec.q[..., -1, :], sim.q)
    other = thrown(worlds=worlds)
    other.set_state(start)
    other.rollout(steps)
    assert np.array_equal(sim.rollout(10).q, other.rollout(10).q)


def test_overlaps_that_joints_do_not_let_part_stay_and_do_no_harm():
    """A cart on a rail, 0.1 m deep in the ground, that can only move along it."""
    b = dl.ModelBuilder("cart")
    b.add_body("cart", joint=dl.Prismatic((1, 0, 0)), mass=1.0, inertia=0.01 * np.eye(3))
    b.add_shape(dl.Shape("cart", "cart", "collision", "box", size=(0.4, 0.3, 0.2)))
    sim = dl.Simulator(b.build(), friction=0.0, on_error="record")
    rec = sim.rollout(500, control=[2.0])
    assert {failure.kind for failure in sim.failures} == {"penetration"}
    assert rec.metrics["natural_map"].max() < 1e-6
    assert rec.metrics["joint_error"].max() < 1e-9
    assert sim.v[0] == pytest.approx(2.0 * 0.5, rel=1e-6)


def test_parting_is_tried_again_where_joints_did_not_allow_it():
    """A box deep in the ground, on a rail that is taken away."""
    b = dl.ModelBuilder("box on a rail")
    b.add_body("box", joint=dl.Free(), mass=1.0, inertia=0.01 * np.eye(3))
    b.add_shape(dl.Shape("box", "box", "collision", "box", size=(0.4, 0.3, 0.2)))
    b.add_constraint(dl.Closure(dl.Prismatic((1, 0, 0)), "world", "box"))
    sim = dl.Simulator(b.build(), on_error="record")
    metrics = sim.rollout(600).metrics
    assert metrics["natural_map"].max() < 1e-6
    assert metrics["joint_error"].max() < 1e-9
    iterations = metrics["iterations"]
    assert np.flatnonzero(iterations > 10).tolist() == [0, 16, 47, 108, 229, 470]
    assert np.median(iterations) <= 1
    sim.disable(0)
    state = sim.state()
    assert sim.rollout(1000).metrics["penetration"][-1] <= 1e-6
    assert sim.q[2] == pytest.approx(0.1, abs=2e-6)
    q = sim.q
    sim.set_state(state)
    sim.rollout(1000)
    assert np.array_equal(sim.q, q)
