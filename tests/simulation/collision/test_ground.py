"""Which models stand on a ground that their files do not have."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import delassus as dl
from delassus.model.formats import ModelFileWarning
from delassus.simulation.collision.shapes import GROUND

URDF = """<robot name="ball"><link name="base"/><link name="ball">
 <inertial><mass value="1"/>
 <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
 <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
 <joint name="slide" type="prismatic"><parent link="base"/><child link="ball"/><axis xyz="0 0 1"/>
 <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""

LINK = """<model name="ball"><link name="ball"><inertial><mass>1</mass></inertial>
 <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
 </link></model>"""

CART = """<mujoco><worldbody>{ground}
 <body name="cart"><joint name="slider" type="slide" axis="1 0 0"/>
 <geom type="capsule" size="0.1 0.1" euler="0 90 0" contype="1"/>
 <body name="pole"><joint name="hinge" axis="0 1 0" range="-90 90" limited="true"/>
 <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.05"/></body></body></worldbody>
 <actuator><motor joint="slider" gear="100" ctrlrange="-3 3" ctrllimited="true"/></actuator>
</mujoco>"""
PLANE = '<geom name="floor" type="plane" size="1 1 1" pos="0 0 -1"/>'


def read(tmp_path, text):
    path = tmp_path / "model.xml"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelFileWarning)
        return dl.load(path)


def has_added_ground(model, **settings):
    sim = dl.Simulator(model, threads=1, **settings)
    return any(GROUND in shape.names for shape in sim._worlds.geometry.shapes)


def built():
    b = dl.ModelBuilder("ball")
    b.add_body("ball", joint=dl.Free(), mass=1.0, inertia=np.eye(3))
    b.add_shape(dl.Shape("s", "ball", "collision", "sphere", size=[0.1]))
    return b.build()


def test_models_of_robots_alone_stand_on_the_ground(tmp_path):
    robots = built(), read(tmp_path, URDF), read(tmp_path, f"<sdf version='1.7'>{LINK}</sdf>")
    for model in robots:
        assert not model.describes_world
        assert has_added_ground(model)
        assert not has_added_ground(model, ground=False)


def test_a_file_that_describes_its_world_has_the_ground_that_it_has(tmp_path):
    pytest.importorskip("mujoco", reason="MJCF is read by MuJoCo")
    world = f"<sdf version='1.7'><world name='w'>{LINK}</world></sdf>"
    for text in (CART.format(ground=""), CART.format(ground=PLANE), world):
        model = read(tmp_path, text)
        assert model.describes_world
        assert not has_added_ground(model)
        assert has_added_ground(model, ground=True) == (PLANE not in text)
        assert has_added_ground(model.replace(describes_world=False)) == (PLANE not in text)


def test_a_cart_that_moves_at_the_height_zero_is_free(tmp_path):
    pytest.importorskip("mujoco", reason="MJCF is read by MuJoCo")
    sim = dl.Simulator(read(tmp_path, CART.format(ground="")), threads=1)
    rec = sim.rollout(200, control=np.array([0.1]))
    assert not sim.failures
    assert not rec.metrics["contacts"].any()
    assert sim.q[0] > 0.01


def test_what_a_model_says_of_its_world_stays_with_it(tmp_path):
    robot = built()
    world = robot.replace(describes_world=True)
    path = tmp_path / "saved.json"
    for model in (robot, world):
        model.save(path)
        kept = model.describes_world
        assert dl.load(path).describes_world == kept
        assert pickle.loads(pickle.dumps(model)).describes_world == kept
        assert copy.deepcopy(model).describes_world == kept
        assert model.replace(name="other").describes_world == kept
        assert dl.reduce(model, {}).describes_world == kept
    # A gripper brings no world along; what is attached to the world does.
    assert dl.attach(world, robot, "ball", prefix="b_").describes_world
    assert not dl.attach(robot, world, "ball", prefix="b_").describes_world
    assert dl.attach(robot, world, "world", prefix="b_").describes_world


def test_ground_is_true_false_or_none():
    with pytest.raises(dl.DataTypeError, match="ground"):
        dl.Simulator(built(), ground="yes")
    with pytest.raises(dl.DataTypeError, match="describes_world"):
        built().replace(describes_world=1)
