"""MJCF: the same numbers as MuJoCo, and conversions of states both ways."""

import builtins

import numpy as np
import pytest

import delassus as dl
from delassus import mujoco as conversion
from delassus.model.formats import load

mujoco = pytest.importorskip("mujoco")

CHAIN = """<mujoco model="chain"><option gravity="1 2 -9"/><worldbody>
 <body name="a" pos="0 0 1" euler="10 20 30">
  <joint name="ja" type="hinge" axis="0 1 1" pos="0.1 0.2 0.3" armature="0.2" range="-90 90"/>
  <geom type="box" size="0.1 0.2 0.3"/><site name="mark" pos="0 0 0.3" euler="0 90 0"/>
  <body name="holder" pos="0.2 0 0"><geom size="0.1" pos="0 0.1 0"/>
   <body name="b" pos="0.5 0 0" euler="0 40 0">
    <joint name="jb" type="slide" axis="1 2 0" ref="0.25" stiffness="5" springref="0.5"/>
    <geom type="capsule" size="0.05 0.3" pos="0 0 0.2"/></body></body>
  <body name="c" pos="0 0.5 0">
   <joint name="jc" type="hinge" axis="1 0 0" ref="35" damping="0.1" frictionloss="0.3"
    actuatorfrcrange="-2 3"/>
   <geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
 </body></worldbody></mujoco>"""

SEVERAL = """<mujoco><worldbody><body name="body" pos="0 1 0" euler="0 0 90">
  <joint name="x" type="slide" axis="1 0 0" pos="0.3 0 0"/>
  <joint name="y" type="hinge" axis="0 1 0" pos="0 0.4 0.1" ref="20"/>
  <joint name="z" type="hinge" axis="0 0 1" pos="0.2 0 0"/>
  <geom type="cylinder" size="0.1 0.4" pos="0.1 0.2 0"/>
  <body><joint name="last" type="ball" pos="0 0 0.1"/><geom size="0.2" pos="0.1 0 0.1"/></body>
 </body></worldbody></mujoco>"""

FREE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 0.1"/>
 <body name="base" pos="1 2 3" euler="10 0 0"><freejoint name="root"/>
  <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
  <body name="arm" pos="0.3 0 0"><joint name="ball" type="ball"/>
   <geom type="capsule" size="0.05 0.3" pos="0 0 0.2"/>
   <body name="hand" pos="0 0 0.4"><joint name="hinge" axis="0 1 0"/><geom size="0.1"/></body>
  </body></body>
 <body name="second" pos="0 0 9"><joint type="free"/><geom type="box" size="0.1 0.2 0.3"/></body>
 </worldbody></mujoco>"""


def matrix_of_velocities(model, q):
    """The matrix T with qvel = T v."""
    return np.array([conversion.to_qvel(model, q, e) for e in np.eye(model.nv)]).T


def rate_of_velocities(model, q, v):
    """The part of MuJoCo's acceleration that a change of axes makes: dT/dt v."""
    result = np.zeros(model.nv)
    for joint in model.joints:
        if joint.type == dl.Free():
            linear, angular = v[joint.v][:3], v[joint.v][3:]
            result[joint.v.start : joint.v.start + 3] = np.cross(angular, linear)
    return matrix_of_velocities(model, q) @ result


@pytest.mark.parametrize("text", [CHAIN, SEVERAL, FREE])
def test_mass_matrix_and_bias_forces_are_those_of_mujoco(read, write, text):
    model = read(text)
    reference = mujoco.MjModel.from_xml_path(str(write(text)))
    state = mujoco.MjData(reference)
    assert (model.nq, model.nv) == (reference.nq, reference.nv)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = model.random_configuration(rng), rng.standard_normal(model.nv)
        state.qpos, state.qvel = conversion.to_qpos(model, q), conversion.to_qvel(model, q, v)
        mujoco.mj_forward(reference, state)
        matrix = full_mass_matrix(reference, state)
        T = matrix_of_velocities(model, q)
        np.testing.assert_allclose(dl.mass_matrix(model, q), T.T @ matrix @ T, atol=1e-10)
        bias = T.T @ (state.qfrc_bias + matrix @ rate_of_velocities(model, q, v))
        np.testing.assert_allclose(dl.bias_forces(model, q, v), bias, atol=1e-10)
        poses = dl.forward_kinematics(model, q)
        for i in range(1, reference.nbody):
            name = reference.body(i).name
            if name:
                at = poses.translation[model.frame_index(name)]
                np.testing.assert_allclose(at, state.xpos[i], atol=1e-12)


def full_mass_matrix(reference, state):
    """MuJoCo's mass matrix, whichever way its version hands it out."""
    matrix = np.zeros((reference.nv, reference.nv))
    try:
        mujoco.mj_fullM(reference, matrix, state.qM)
    except (TypeError, AttributeError):
        mujoco.mj_fullM(reference, state, matrix)
    return matrix


def test_joint_data_and_gravity(read):
    model = read(CHAIN)
    assert model.name == "chain"
    np.testing.assert_array_equal(model.gravity, [1, 2, -9])
    assert model.joint_names == ["ja", "jb", "jc"]
    assert model.joint("ja").data.armature[0] == 0.2
    np.testing.assert_allclose([model.lower[0], model.upper[0]], [-np.pi / 2, np.pi / 2])
    spring = model.joint("jb").data
    assert (spring.stiffness[0], spring.rest[0]) == (5, 0.5)
    data = model.joint("jc").data
    assert (data.damping[0], data.friction[0], data.effort_limit[0]) == (0.1, 0.3, 3)


def test_negative_damping_is_taken_as_none(read):
    """A robot that people use has such a joint."""
    text = CHAIN.replace('damping="0.1"', 'damping="-0.1"')
    model = read(text, warns="joints whose damping is negative, taken as none: jc")
    assert model.joint("jc").data.damping[0] == 0.0


def test_bodies_have_frames_sites_too_and_fixed_bodies_are_merged(read):
    model = read(CHAIN)
    assert model.frame_names == ["a", "holder", "b", "c", "mark"]
    assert model.body_names == ["a", "b", "c"]
    assert model.frame("holder").body == model.frame("mark").body == 0


def test_several_joints_of_one_body_make_bodies_without_mass(read):
    model = read(SEVERAL)
    assert model.body_names == ["body_x", "body_y", "body", "body_2"]
    assert [body.inertia.mass > 0 for body in model.bodies] == [False, False, True, True]


def test_geoms_become_shapes(read):
    model = read(FREE)
    floor, box, capsule, *_ = model.shapes
    assert (floor.kind, floor.frame, floor.role) == ("plane", "world", "collision")
    np.testing.assert_allclose(box.size, [0.2, 0.4, 0.6])
    np.testing.assert_allclose(capsule.size, [0.05, 0.6])
    ghost = FREE.replace('name="floor"', 'name="floor" contype="0" conaffinity="0"')
    assert read(ghost).shapes[0].role == "visual"


EQUALITIES = """<equality>
  <connect name="pin" body1="b" body2="c" anchor="0 0 0.1"/>
  <weld name="glue" body1="b" body2="c" anchor="0.1 0 0.2"/>
  <connect name="points" site1="mark" site2="other"/>
  <joint name="gear" joint1="ja" joint2="jc" polycoef="0.1 2 0 0 0"/>
  <joint name="hold" joint1="jb" polycoef="0.2 0 0 0 0"/>
  <joint name="curve" joint1="ja" joint2="jb" polycoef="0 1 2 0 0"/>
  <weld name="off" body1="a" body2="c" active="false"/></equality>"""


def test_equalities_become_constraints(write):
    text = CHAIN.replace('<geom type="ellipsoid"', '<site name="other"/><geom type="ellipsoid"')
    path = write(text.replace("</mujoco>", EQUALITIES + "</mujoco>"))
    with pytest.warns(UserWarning) as record:
        model = load(path)
    messages = " ".join(str(w.message) for w in record)
    assert "not active, left out: off" in messages
    pin, glue, points, gear, hold, curve = model.constraints
    assert pin == dl.Connect("pin_successor", "pin_predecessor")
    assert glue == dl.Weld("glue_successor", "glue_predecessor")
    assert points == dl.Connect("mark", "other")
    turn = np.radians(35)
    assert (gear.joint, gear.other, gear.ratio) == ("ja", "jc", 2.0)
    assert gear.offset == pytest.approx(0.1 - 2 * turn)
    assert hold.coefficients == {"jb": 1.0}
    assert hold.offset == pytest.approx(0.45)
    assert curve.joints == ("ja", "jb")
    assert curve.function(np.array([0.3, 0.4])) == pytest.approx(0.3 - 0.15 - 2 * 0.15**2)
    poses = dl.forward_kinematics(model, [0.0, 0.25, turn])
    for name in ("pin", "glue"):
        ends = [model.frame_index(f"{name}_{end}") for end in ("successor", "predecessor")]
        np.testing.assert_allclose(*poses.translation[ends], atol=1e-12)
    ends = [model.frame_index(f"glue_{end}") for end in ("successor", "predecessor")]
    np.testing.assert_allclose(*poses.rotation[ends], atol=1e-12)


def test_sensors_are_counted_in_a_warning(read):
    more = """<tendon><fixed><joint joint="ja" coef="1"/></fixed></tendon>
     <sensor><jointpos joint="ja"/></sensor>"""
    text = CHAIN.replace("</mujoco>", more + "</mujoco>")
    read(text, warns=r"ignored <sensor> \(1\)$")


TIED = """<tendon>
 <fixed name="one"><joint joint="ja" coef="2"/><joint joint="jb" coef="-3"/></fixed>
 <fixed name="two"><joint joint="jb" coef="0.5"/><joint joint="jc" coef="4"/></fixed></tendon>
 <equality><tendon name="held" tendon1="one" polycoef="0.1 0 0 0 0"/>
  <tendon name="tied" tendon1="one" tendon2="two" polycoef="0.2 1.5 0 0 0"/>
  <tendon name="curved" tendon1="one" tendon2="two" polycoef="0 0 1 0 0"/></equality>"""


def test_equalities_of_tendons_over_joints_become_couplings(read, write):
    text = CHAIN.replace("</mujoco>", TIED + "</mujoco>")
    model = read(text, warns="equality constraints of tendons or flexes, left out: curved")
    held, tied = model.constraints
    reference = mujoco.MjModel.from_xml_path(str(write(text)))
    data, rng = mujoco.MjData(reference), np.random.default_rng(0)
    q = rng.standard_normal(3)
    data.qpos = conversion.to_qpos(model, q)
    mujoco.mj_forward(reference, data)
    of_joint = dict(zip(model.joint_names, q, strict=True))
    for constraint, row in ((held, 0), (tied, 1)):
        length = sum(c * of_joint[name] for name, c in constraint.coefficients.items())
        assert length - constraint.offset == pytest.approx(data.efc_pos[row], abs=1e-12)


def test_a_floating_base_is_added_to_a_root_without_joints_only(read):
    rigid = '<mujoco><worldbody><body name="a"><geom size="1"/></body></worldbody></mujoco>'
    assert read(rigid).nv == 0
    assert read(rigid, floating_base=True).joint_names == ["root_joint"]
    assert read(FREE, floating_base=True).nv == read(FREE).nv
    with pytest.raises(dl.ModelError, match="floating base"):
        read(CHAIN, floating_base=True)


def test_what_mujoco_refuses_is_an_error_with_its_reason(read):
    with pytest.raises(dl.FileFormatError, match=r"robot\.urdf: MuJoCo cannot compile it: .*mass"):
        read('<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>')  # fmt: skip
    mesh = '<asset><mesh name="m" file="absent.stl"/></asset>'
    text = CHAIN.replace("<worldbody>", mesh + "<worldbody>")
    with pytest.raises(dl.FileFormatError, match=r"absent\.stl"):
        read(text)


def test_without_mujoco_the_error_says_what_to_install(write, monkeypatch):
    real = builtins.__import__

    def fail(name, *arguments, **more):
        if name == "mujoco":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", fail)
    with pytest.raises(dl.MissingDependencyError, match='pip install "mujoco>='):
        load(write(CHAIN))


@pytest.mark.parametrize("count", [None, 1, 4])
def test_conversions_are_each_others_inverse(read, count):
    model = read(FREE)
    rng = np.random.default_rng(1)
    q = model.random_configuration(rng, count)
    v = rng.standard_normal((*q.shape[:-1], model.nv))
    qpos, qvel = conversion.to_qpos(model, q), conversion.to_qvel(model, q, v)
    assert qpos.shape == q.shape
    np.testing.assert_array_equal(conversion.from_qpos(model, qpos), q)
    np.testing.assert_allclose(conversion.from_qvel(model, q, qvel), v, atol=1e-14)


def test_quaternions_and_velocities_change_as_documented():
    builder = dl.ModelBuilder()
    builder.add_body("base", joint=dl.Free())
    builder.add_body("arm", "base", dl.Revolute())
    model = builder.build()
    q = np.array([1, 2, 3, 0, 0, np.sqrt(0.5), np.sqrt(0.5), 7])
    np.testing.assert_array_equal(conversion.to_qpos(model, q)[3:7], q[[6, 3, 4, 5]])
    v = np.array([1.0, 0, 0, 4, 5, 6, 8])
    np.testing.assert_allclose(conversion.to_qvel(model, q, v), [0, 1, 0, 4, 5, 6, 8], atol=1e-15)
    assert conversion.to_qpos(model, q.astype(np.float32)).dtype == np.float32


def test_conversions_check_what_they_are_given():
    builder = dl.ModelBuilder()
    builder.add_body("base", joint=dl.Planar())
    planar = builder.build()
    with pytest.raises(dl.ModelError, match="Planar"):
        conversion.to_qpos(planar, [0, 0, 0])
    builder = dl.ModelBuilder()
    builder.add_body("base", joint=dl.Free())
    model = builder.build()
    with pytest.raises(dl.ShapeError, match=r"\(7,\)"):
        conversion.to_qpos(model, [0, 0, 0])
    with pytest.raises(dl.ShapeError, match="as many states"):
        conversion.to_qvel(model, np.ones((2, 7)), np.ones((3, 6)))
    with pytest.raises(dl.DataTypeError):
        conversion.from_qpos(model, ["a"] * 7)
