"""Axes and quaternions of any length are scaled to unit length; a zero one is an error."""

import math

import numpy as np
import pytest

import delassus as dl
from delassus import mujoco as conversion
from delassus.model.formats import load
from delassus.spatial.transform import rotation_from_quaternion

pytestmark = pytest.mark.uncompiled

each_length = pytest.mark.parametrize("length", [1e-200, 1e-9, 1.0, 3.0, 1e99, 1e200])
UNIT = (0.0, math.sqrt(0.5), math.sqrt(0.5))


@each_length
@pytest.mark.parametrize("kind", [dl.Revolute, dl.Prismatic, dl.Helical, dl.Cylindrical, dl.Planar])
def test_axes_of_joints(kind, length):
    assert kind([0.0, length, length]).axis == pytest.approx(UNIT, abs=1e-15)
    with pytest.raises(dl.ModelError, match="axis must not be zero"):
        kind([0.0, 0.0, 0.0])


@each_length
def test_axes_of_universal_joints(length):
    joint = dl.Universal([length, 0.0, 0.0], [0.0, 0.0, -length])
    assert (joint.first, joint.second) == ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0))


@each_length
def test_quaternions_of_rotations(length):
    assert np.allclose(rotation_from_quaternion(0, 0, length, length) @ [1, 0, 0], [0, 1, 0])


@each_length
@pytest.mark.parametrize("joint", [dl.Spherical(), dl.Free()], ids=["spherical", "free"])
def test_quaternions_of_joints(joint, length):
    start = joint.quaternion
    q = np.array([*np.arange(1.0, 1.0 + start), length, 0.0, 0.0, length])
    unit = np.array([*q[:start], math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)])
    builder = dl.ModelBuilder()
    builder.add_body("a", joint=joint, mass=1.0, inertia=np.eye(3), stiffness=1.0, rest=q)
    model = builder.build()
    assert np.allclose(model.joints[0].data.rest, unit, rtol=0.0, atol=1e-15)
    assert np.allclose(model.normalize(q), unit, rtol=0.0, atol=1e-15)
    assert np.allclose(model.normalize([q, unit, 2.0 * q])[:, start:], unit[start:])
    turned = joint.displacement(q).rotation
    assert np.allclose(turned, joint.displacement(unit).rotation)
    locked = dl.reduce(model, {"a_joint": q}).frame("a")
    assert np.allclose(locked.placement.rotation, turned)
    velocity = np.arange(1.0, 1.0 + joint.nv)
    assert np.allclose(
        conversion.to_qvel(model, q, velocity), conversion.to_qvel(model, unit, velocity)
    )


def test_zero_quaternions_of_joints():
    with pytest.raises(dl.ModelError, match="body 'a': the quaternion of rest must not be zero"):
        dl.ModelBuilder().add_body("a", joint=dl.Spherical(), rest=[0, 0, 0, 0])
    builder = dl.ModelBuilder()
    builder.add_body("a", joint=dl.Spherical(), mass=1.0)
    model = builder.build()
    with pytest.raises(dl.ModelError, match="joint 'a_joint': the quaternion is zero"):
        dl.reduce(model, {"a_joint": [0, 0, 0, 0]})
    assert np.isnan(model.normalize([0, 0, 0, 0])).all()  # states are not looked at


URDF = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">
 <origin quat_xyzw="{turn} 0 0 {turn}"/><parent link="a"/><child link="b"/>
 <axis xyz="0 {axis} {axis}"/></joint></robot>"""
SDF = """<sdf version="1.9"><model name="m">
 <link name="a"><inertial><mass>1</mass></inertial></link>
 <link name="b"><inertial><mass>1</mass></inertial>
 <pose rotation_format="quat_xyzw">0 0 0 {turn} 0 0 {turn}</pose></link>
 <joint name="j" type="revolute"><parent>a</parent><child>b</child>
 <axis><xyz>0 {axis} {axis}</xyz></axis></joint></model></sdf>"""
each_format = pytest.mark.parametrize("text", [URDF, SDF], ids=["urdf", "sdf"])


@each_length
@each_format
@pytest.mark.filterwarnings("ignore::delassus.ModelFileWarning")
def test_axes_and_quaternions_of_files(write, text, length):
    model = load(write(text.format(axis=length, turn=length)))
    assert model.joint("j").type.axis == pytest.approx(UNIT, abs=1e-15)
    assert np.allclose(model.bodies[0].placement.rotation @ [0, 1, 0], [0, 0, 1])


@each_format
def test_zero_axes_and_quaternions_of_files(write, text):
    with pytest.raises(dl.FileFormatError, match=r"name=\"[jb]\".*the quaternion is zero"):
        load(write(text.format(axis=1, turn=0)))
    with pytest.raises(dl.FileFormatError, match=r"name=\"j\".*the axis is zero"):
        load(write(text.format(axis=0, turn=1)))


@pytest.mark.parametrize("axis", ["[0.0, 1e200, 1e200]", "[0.0, 1e-200, 1e-200]"])
def test_axes_of_saved_models(write, tmp_path, axis):
    builder = dl.ModelBuilder()
    builder.add_body("a", joint=dl.Revolute([1, 0, 0]))
    builder.build().save(tmp_path / "model")
    text = (tmp_path / "model").read_text()
    model = load(write(text.replace("[1.0, 0.0, 0.0]", axis, 1)))
    assert model.joints[0].type.axis == pytest.approx(UNIT, abs=1e-15)
    with pytest.raises(dl.FileFormatError, match="axis must not be zero"):
        load(write(text.replace("[1.0, 0.0, 0.0]", "[0.0, 0.0, 0.0]", 1)))
