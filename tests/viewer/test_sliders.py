"""Sliders move joints within limits, and loops stay closed."""

import numpy as np

import delassus as dl
from delassus.viewer.sliders import Pose


def test_joints_with_a_motor_have_sliders():
    figure = dl.robots.figure("gazelle")
    names = [s.joint for s in Pose(figure.model, figure.start).sliders()]
    assert len(names) == 23 and "l_knee_crank_joint" in names and "l_cannon_joint" not in names


def test_loops_stay_closed_while_a_crank_moves():
    figure = dl.robots.figure("misha")
    pose = Pose(figure.model, figure.start)
    slider = next(s for s in pose.sliders() if s.joint == "bow_crank_joint")
    for angle in np.linspace(0.0, 0.4, 5):
        assert pose.set(slider, angle)
        assert np.isclose(pose.q[slider.q], angle)
        assert np.abs(pose.constraints.position_error(pose.q)).max() < 1e-8
    assert abs(pose.q[figure.model.joint("trunk_joint").q][0]) > 0.1


def test_where_loops_cannot_close_nothing_moves():
    """Two arms of 1 m, 3 m apart, whose tips a rod of 1.2 m joins: they cannot point apart."""
    b = dl.ModelBuilder("rocker")
    for name, x, is_independent in (("left", 0.0, True), ("right", 3.0, False)):
        sign = 1.0 if name == "left" else -1.0
        b.add_body(name, "world", dl.Revolute(), (x, 0, 0), mass=1.0, independent=is_independent)
        b.add_frame(f"{name}_tip", name, (sign, 0, 0))
    b.add_constraint(dl.Distance("left_tip", "right_tip", 1.2))
    model = b.build()
    cs = dl.Constraints(model)
    pose = Pose(model, dl.close_loops(model, [0.3, 0.3], cs))
    (slider,) = pose.sliders()
    before = pose.q.copy()
    assert not pose.set(slider, 3.0)
    assert np.array_equal(pose.q, before)
    assert pose.set(slider, pose.q[0] + 0.05)


def test_values_beyond_limits_stop_there():
    b = dl.ModelBuilder("arm")
    b.add_body("rod", mass=1.0, lower=-0.5, upper=0.2)
    b.add_body("slide", "rod", dl.Prismatic(), mass=1.0, lower=0.3)
    pose = Pose(b.build(), [0.0, 0.3])
    first, second = pose.sliders()
    assert (first.lower, first.upper) == (-0.5, 0.2)
    assert second.lower == 0.3 and second.upper > 1.0
    assert pose.set(first, 3.0) and pose.q[0] == 0.2
