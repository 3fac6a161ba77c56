"""Actuators as parts of a model: checks, names, and what attach, reduce and replace keep."""

import numpy as np
import pytest

import delassus as dl


def legs(*actuators: dl.Actuator) -> dl.ModelBuilder:
    builder = dl.ModelBuilder("legs")
    for name in ("left", "right"):
        builder.add_body(name, joint_name=f"{name}_hip", mass=1.0)
    builder.add_body("trunk", joint=dl.Planar(), mass=1.0, joint_name="base")
    for actuator in actuators:
        builder.add_actuator(actuator)
    return builder


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "muscle"}, "its kind must be one of 'torque'"),
        ({"gear": []}, "gear takes one to six finite numbers"),
        ({"gear": [1.0] * 7}, "gear takes one to six finite numbers"),
        ({"gear": np.inf}, "gear takes one to six finite numbers"),
        ({"stiffness": 1.0}, "only a position servo has a stiffness"),
        ({"damping": 1.0}, "only servos have a damping"),
        ({"kind": "position", "stiffness": -1.0}, "stiffness must not be negative"),
        ({"control_range": (1, -1)}, "control_range must be a lower and an upper"),
        ({"force_range": (0, np.nan)}, "force_range must be two numbers"),
        ({"force_range": 3.0}, "force_range must be two numbers"),
        ({"scale": np.nan}, "scale must be a finite number"),
        ({"in_parent": 1}, "in_parent must be True or False"),
    ],
)
def test_wrong_numbers_are_errors_that_name_actuator_and_joint(given, message):
    with pytest.raises(dl.DelassusError, match="actuator 'm' of joint 'left_hip': " + message):
        dl.Actuator("m", "left_hip", **given)


@pytest.mark.parametrize(
    ("actuator", "message"),
    [
        (dl.Actuator("m", "left_hop"), "names the joint 'left_hop'.*did you mean 'left_hip'"),
        (dl.Actuator("m", "left_hip", gear=[1, 2]), "gear takes 1 number, got 2"),
        (dl.Actuator("m", "base"), "'base' is Planar, whose gear takes 3 numbers, got 1"),
        (dl.Actuator("m", "left_hip", in_parent=True), "whose axes its motion does not turn"),
        (
            dl.Actuator("m", "base", "position", gear=[1, 0, 0], stiffness=1.0),
            "no length that a position servo could hold",
        ),
    ],
)
def test_an_actuator_must_fit_its_joint(actuator, message):
    with pytest.raises(dl.DelassusError, match=message):
        legs(actuator).build()


def test_several_actuators_on_one_joint_but_one_of_a_name():
    first, second = dl.Actuator("a", "left_hip"), dl.Actuator("b", "left_hip")
    model = legs(first, second).build()
    assert model.actuators == (first, second)
    assert (model.nu, model.actuator_names) == (2, ["a", "b"])
    assert "2 actuators" in str(model)
    with pytest.raises(dl.ModelError, match="two of the actuator name 'a'"):
        legs(first, dl.Actuator("a", "right_hip")).build()
    with pytest.raises(dl.ModelError, match="expected an Actuator"):
        dl.ModelBuilder().add_actuator("a")
