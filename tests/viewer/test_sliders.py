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


def rocker(**right):
    """Two arms of 1 m, 3 m apart, whose tips a rod of 1.2 m joins."""
    b = dl.ModelBuilder("rocker")
    given = {"left": {"independent": True}, "right": {"independent": False, **right}}
    for name, x, sign in (("left", 0.0, 1.0), ("right", 3.0, -1.0)):
        b.add_body(name, "world", dl.Revolute(), (x, 0, 0), mass=1.0, **given[name])
        b.add_frame(f"{name}_tip", name, (sign, 0, 0))
    b.add_constraint(dl.Distance("left_tip", "right_tip", 1.2))
    return b.build()


def test_where_loops_cannot_close_nothing_moves():
    """The arms cannot point apart."""
    model = rocker()
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


def test_joints_beyond_their_limits_may_come_back_but_go_no_further():
    """A simulation can leave a joint there."""
    model = rocker()
    q = dl.close_loops(model, [0.3, 0.3], dl.Constraints(model))
    pose = Pose(rocker(upper=q[1] - 0.01), q)
    (slider,) = pose.sliders()
    away, back = (q[0] + step for step in (0.05, -0.05))
    other = dl.close_loops(model, [away, q[1]], dl.Constraints(model), fixed="left_joint")
    if other[1] < q[1]:
        away, back = back, away
    assert not pose.set(slider, away)
    assert pose.set(slider, back) and pose.q[1] < q[1]


def test_an_angle_without_limits_keeps_its_turns():
    b = dl.ModelBuilder("wheel")
    b.add_body("wheel", mass=1.0)
    pose = Pose(b.build(), [10.0])
    (slider,) = pose.sliders()
    shown = slider.shown(pose.q[0])
    assert np.isclose(shown, 10.0 - 4 * np.pi) and slider.lower <= shown <= slider.upper
    assert pose.set(slider, shown + 0.1) and np.isclose(pose.q[0], 10.1)
