"""MJCF: actuators, contacts, keyframes and gravity compensation are those of MuJoCo."""

from pathlib import Path

import numpy as np
import pytest

import delassus as dl
from delassus import mujoco as conversion
from delassus.model.formats import ModelFileWarning

mujoco = pytest.importorskip("mujoco")

# Joints of all kinds, in every place, with geoms and sites to act on.
BODIES = """<worldbody><geom name="floor" type="plane" size="1 1 0.1" friction="0.4"/>
 <body name="base" pos="1 2 3" euler="10 0 0"><freejoint name="root"/>
  <geom name="box" type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
  <body name="arm" pos="0.3 0 0"><joint name="ball" type="ball"/>
   <geom name="rod" type="capsule" size="0.05 0.3" pos="0 0 0.2"/>
   <body name="hand" pos="0 0 0.4" gravcomp="0.25"><joint name="hinge" axis="0 1 0" ref="20"/>
    <geom name="palm" size="0.1"/><site name="tip"/>
    <body name="finger" pos="0 0.1 0"><joint name="slide" type="slide" axis="1 0 0"/>
     <geom name="nail" size="0.02"/></body></body>
  </body></body></worldbody>"""


HOOKED = BODIES.replace("</worldbody>", '<site name="hook" pos="0 0 5"/></worldbody>')
CABLE = """<tendon><fixed name="cable"><joint joint="hinge" coef="2"/>
 <joint joint="slide" coef="-0.5"/></fixed></tendon>"""
OTHERS = """<tendon><fixed name="stiff" stiffness="3"><joint joint="slide" coef="1"/></fixed>
 <spatial name="rope"><site site="tip"/><site site="hook"/></spatial></tendon>"""


def mjcf(actuators: str = "", more: str = "", bodies: str = BODIES) -> str:
    return f"<mujoco>{bodies}<actuator>{actuators}</actuator>{more}</mujoco>"


def assert_forces_are_mujocos(model, path):
    """qfrc_actuator at random states and controls, in this library's velocities."""
    reference = mujoco.MjModel.from_xml_path(str(path))
    assert model.nu == reference.nu
    assert_same_forces(model, reference, list(range(model.nu)))


def assert_same_forces(model, reference, controls):
    """The same, of a model that has `controls` of MuJoCo's only."""
    data, rng = mujoco.MjData(reference), np.random.default_rng(0)
    balls = [j.q for j in model.joints if isinstance(j.type, dl.Spherical)]
    for scale in (1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 100.0, 100.0):  # the last ones pass all ranges
        q, v = model.random_configuration(rng), rng.standard_normal(model.nv)
        u = scale * rng.standard_normal(model.nu)
        # Versions of MuJoCo differ in what servos of ball joints do beyond half a turn.
        for ball in balls:
            q[ball] = q[ball] * [0.1, 0.1, 0.1, 1.0] + [0.0, 0.0, 0.0, np.sign(q[ball][3])]
            q[ball] /= np.linalg.norm(q[ball])
        data.qpos, data.qvel = conversion.to_qpos(model, q), conversion.to_qvel(model, q, v)
        data.ctrl[controls] = u
        for i in np.flatnonzero(reference.actuator_actadr >= 0):  # as filters end at
            lower, upper = reference.actuator_ctrlrange[i]
            is_limited = reference.actuator_ctrllimited[i]
            target = np.clip(data.ctrl[i], lower, upper) if is_limited else data.ctrl[i]
            data.act[reference.actuator_actadr[i]] = target
        mujoco.mj_forward(reference, data)
        T = np.array([conversion.to_qvel(model, q, e) for e in np.eye(model.nv)]).T
        expected = T.T @ data.qfrc_actuator
        largest = np.abs(expected).max()
        assert largest > 0.0
        found = dl.actuator_forces(model, q, v, u)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * max(largest, 1.0))


ACTUATORS = {
    "motor": '<motor joint="hinge" gear="3"/>',
    "motor within ranges": '<motor joint="hinge" gear="-3" ctrlrange="-1 2" forcerange="-1 0.5"/>',
    "motor of a ball": '<motor joint="ball" gear="1 2 3"/>',
    "motor of a ball in the parent": '<motor jointinparent="ball" gear="1 2 3"/>',
    "torque on a free body": '<motor joint="root" gear="0 0 0 1 2 3"/>',
    "force on a free body": '<motor joint="root" gear="1 2 3 0 0 0"/>',
    "wrench in the world": '<motor jointinparent="root" gear="1 2 3 4 5 6"/>',
    "position": '<position joint="hinge" kp="20" kv="2" gear="3" ctrlrange="-2 1"/>',
    "position by damping ratio": '<position joint="slide" kp="20" dampratio="0.7"/>',
    "position within ranges": '<position joint="slide" kp="20" kv="2" gear="-3" ctrlrange="-2 1"'
    ' forcerange="-40 10"/>',
    "position of a ball": '<position joint="ball" kp="20" kv="3" gear="1 4 3"/>',
    "position of a ball in the parent": '<position jointinparent="ball" kp="2" gear="6 0 1"/>',
    "velocity": '<velocity joint="slide" kv="5" gear="0.5" forcerange="-1 2"/>',
    "velocity within ranges": '<velocity joint="hinge" kv="5" gear="-2" ctrlrange="-1 2"'
    ' forcerange="-8 6"/>',
    "velocity of a free body": '<velocity jointinparent="root" kv="2" gear="1 2 3 4 5 6"/>',
    "general": '<general joint="hinge" gainprm="7"/>',
    "general servo": '<general joint="hinge" gainprm="7" biastype="affine" biasprm="1 -20 -3"/>',
    "general servo within ranges": '<general joint="hinge" gear="-2" gainprm="7" biastype="affine"'
    ' biasprm="1 -20 -3" ctrlrange="-1 2" forcerange="-30 20"/>',
    "general damper": '<general joint="slide" gainprm="7" biastype="affine" biasprm="1 0 -3"/>',
    "general constant": '<general joint="slide" gainprm="7" biastype="affine" biasprm="2 0 0"/>',
    "motor of a tendon": '<motor tendon="cable" gear="3" ctrlrange="-1 2"/>',
    "position of a tendon": '<position tendon="cable" kp="20" kv="2" gear="-3" ctrlrange="-2 1"'
    ' forcerange="-40 10"/>',
    "several": '<motor joint="hinge"/><position joint="hinge" kp="5"/><motor joint="slide"/>',
}


@pytest.mark.parametrize("kind", ACTUATORS)
def test_forces_are_those_of_mujoco(read, write, kind):
    text = mjcf(ACTUATORS[kind], CABLE if "tendon" in kind else "")
    assert_forces_are_mujocos(read(text), write(text))


def test_forces_in_mujocos_own_test_model_are_those_of_mujoco():
    path = Path(mujoco.__file__).parent / "testdata" / "model.xml"
    if not path.exists():
        pytest.skip("this version of MuJoCo comes without it")
    with pytest.warns(ModelFileWarning, match="not represented, left out"):
        model = dl.load(path)
    reference = mujoco.MjModel.from_xml_path(str(path))
    controls = [int(name.removeprefix("actuator_")) for name in model.actuator_names]
    assert len(controls) >= 4
    for i in set(range(reference.nu)) - set(controls):
        reference.actuator_gainprm[i] = reference.actuator_biasprm[i] = 0.0
    assert_same_forces(model, reference, controls)


@pytest.mark.parametrize(
    ("limits", "actuators"),
    [
        ("-2 2", '<motor joint="hinge" gear="3"/><motor joint="hinge"/>'),
        ("-2 0.5", '<motor joint="hinge" gear="3"/>'),
        ("-2 0.5", '<motor joint="hinge" gear="-3" forcerange="-0.1 4"/>'),
        ("0.5 2", '<motor joint="hinge" gear="3" forcerange="-4 0.1"/>'),
    ],
)
def test_a_joint_limits_what_its_actuators_do(read, write, limits, actuators):
    limited = BODIES.replace('name="hinge"', f'name="hinge" actuatorfrcrange="{limits}"')
    text = mjcf(actuators, bodies=limited)
    assert_forces_are_mujocos(read(text), write(text))


def test_uneven_limits_of_several_actuators_are_warned_of(read):
    limited = BODIES.replace('name="hinge"', 'name="hinge" actuatorfrcrange="-2 1"')
    text = mjcf('<motor joint="hinge"/><motor joint="hinge"/>', bodies=limited)
    model = read(text, warns="several actuators with forces limited unevenly, taken as even: hinge")
    assert model.joint("hinge").data.effort_limit[0] == 2.0


def test_defaults_and_classes_are_mujocos(read):
    more = """<default><motor gear="5"/><default class="servo"><position kp="9" ctrlrange="-1 1"/>
     </default></default>"""
    model = read(mjcf('<motor joint="slide"/><position joint="hinge" class="servo"/>', more))
    motor, servo = model.actuators
    assert motor == dl.Actuator("actuator_0", "slide", gear=5.0)
    assert servo == dl.Actuator(
        "actuator_1", "hinge", "position", gear=5.0, stiffness=9.0, control_range=(-1, 1)
    )


def test_what_is_not_represented_is_named_in_one_warning(read):
    actuators = """<motor name="a" tendon="rope"/><motor name="b" site="tip"/>
     <motor name="c" joint="hinge"/><motor name="h" tendon="cable"/>
     <intvelocity name="d" joint="hinge" kp="1" actrange="-1 1"/>
     <position name="e" joint="hinge" timeconst="0.1"/><damper name="f" joint="hinge" kv="1"
     ctrlrange="0 1"/><muscle name="g" joint="slide" lengthrange="0 1"/>"""
    listed = r"left out: a \(tendon in space\), b \(site\), d \(integrator\), f \(a gain that"
    with pytest.warns(UserWarning) as caught:
        model = read(mjcf(actuators, CABLE + OTHERS, HOOKED), warns=listed + r".*\), g \(muscle\)")
    assert model.actuator_names == ["c", "h", "e"]
    assert model.actuators[1].joint == ("hinge", "slide")
    messages = " ".join(str(w.message) for w in caught)
    assert messages.count("not represented") <= 1
    assert "filters of controls, left out: these act at once: e" in messages
    assert "<spatial> of <tendon> (1)" in messages
    assert "springs, dampers, friction and limits of <tendon> (1)" in messages
    mixed = mjcf('<motor name="m" joint="root" gear="1 0 0 0 0 1"/>')
    assert read(mixed, warns=r"m \(a force in the world's axes").nu == 0


def test_gravity_compensation_is_a_force_at_the_centre_of_mass(read, write):
    text = mjcf()
    model = read(text)
    assert [b.gravity_compensation for b in model.bodies] == [0.0, 0.0, 0.25, 0.0]
    reference = mujoco.MjModel.from_xml_path(str(write(text)))
    data = mujoco.MjData(reference)
    q = model.random_configuration(1)
    data.qpos = conversion.to_qpos(model, q)
    mujoco.mj_forward(reference, data)
    held = [-b.gravity_compensation * b.inertia.mass * model.gravity for b in model.bodies]
    placed = dl.forward_kinematics(model, q, model.body_names)
    tau = np.zeros(model.nv)
    for body, force, R in zip(model.bodies, held, placed.rotation, strict=True):
        jacobian = dl.frame_jacobian(model, q, body.name)
        push = R.T @ force
        tau += jacobian.T @ np.concatenate([push, np.cross(body.inertia.center, push)])
    T = np.array([conversion.to_qvel(model, q, e) for e in np.eye(model.nv)]).T
    np.testing.assert_allclose(tau, T.T @ data.qfrc_gravcomp, atol=1e-10)


def test_bodies_fixed_together_whose_gravcomp_differs_are_warned_of(read):
    fixed = BODIES.replace('<joint name="slide" type="slide" axis="1 0 0"/>', "")
    model = read(mjcf(bodies=fixed), warns="different gravcomp, of which the mean is taken: hand")
    assert 0.2 < model.body("hand").gravity_compensation < 0.25


KEYS = """<keyframe>
 <key name="home" time="2" qpos="1 2 3 0.5 0.5 -1 0.2 0.3 0.4 0.5 0.6 0.7 0.8"
  qvel="1 2 3 4 5 6 7 8 9 10 11" ctrl="5 6 7"/><key ctrl="1 1 1"/></keyframe>"""


def test_keyframes_place_bodies_where_mujoco_does(read, write):
    actuators = '<motor joint="hinge"/><motor site="tip"/><motor joint="slide"/>'
    text = mjcf(actuators, KEYS)
    model = read(text, warns=r"actuator_1 \(site\)")
    reference = mujoco.MjModel.from_xml_path(str(write(text)))
    data = mujoco.MjData(reference)
    assert list(model.keyframes) == ["home", "key_1"]
    for i, key in enumerate(model.keyframes.values()):
        mujoco.mj_resetDataKeyframe(reference, data, i)
        mujoco.mj_forward(reference, data)
        poses = dl.forward_kinematics(model, key.q)
        for k in range(1, reference.nbody):
            at = model.frame_index(reference.body(k).name)
            np.testing.assert_allclose(poses.translation[at], data.xpos[k], atol=1e-10)
            np.testing.assert_allclose(poses.rotation[at].ravel(), data.xmat[k], atol=1e-10)
        qvel = conversion.to_qvel(model, key.q, key.v)
        np.testing.assert_allclose(qvel, reference.key_qvel[i], atol=1e-12)
    home = model.keyframes["home"]
    assert (home.u.tolist(), home.time) == ([5.0, 7.0], 2.0)


def test_initial_poses_are_a_keyframe_where_there_is_no_home(read, write):
    body = '<body name="{}" pos="{}" quat="0 1 0 0"><freejoint/><geom size="1"/></body>'
    world = body.format("a", "1 2 3") + body.format("b", "4 5 6")
    text = f"<mujoco><worldbody>{world}</worldbody>{{}}</mujoco>"
    model = read(text.format(""))
    q = model.keyframes["qpos0"].q
    np.testing.assert_allclose(q, [1, 2, 3, 1, 0, 0, 0, 4, 5, 6, 1, 0, 0, 0], atol=1e-15)
    start = dl.Simulator(model, ground=False).q
    np.testing.assert_array_equal(start, q)
    qpos = " ".join(map(str, [0, 0, 1, 1, 0, 0, 0] * 2))
    for name, names in (("home", ["home"]), ("work", ["work", "qpos0"])):
        key = f'<keyframe><key name="{name}" qpos="{qpos}"/></keyframe>'
        assert list(read(text.format(key)).keyframes) == names
    at_zero = body.format("a", "0 0 0").replace("0 1 0 0", "1 0 0 0")
    assert not read(f"<mujoco><worldbody>{at_zero}</worldbody></mujoco>").keyframes


def test_a_base_that_is_freed_stays_in_keyframes_where_the_file_puts_it(read, write):
    text = """<mujoco><worldbody><body name="base" pos="1 2 3" euler="0 0 90"><geom size="1"/>
     <body name="arm" pos="0 0 1"><joint axis="0 1 0"/><geom size="1"/></body></body></worldbody>
     <keyframe><key name="k" qpos="0.3" qvel="2"/></keyframe></mujoco>"""
    fixed, floating = read(text), read(text, floating_base=True)
    poses = [dl.forward_kinematics(m, m.keyframes["k"].q, "arm") for m in (fixed, floating)]
    np.testing.assert_allclose(poses[0].translation, poses[1].translation, atol=1e-14)
    np.testing.assert_allclose(poses[0].rotation, poses[1].rotation, atol=1e-14)
    assert floating.keyframes["k"].v.tolist() == [0.0] * 6 + [2.0]


def test_excluded_and_explicit_pairs(read):
    more = """<contact><exclude body1="hand" body2="world"/>
     <pair geom1="box" geom2="nail" friction="0.3 0.3 0.1 0 0" margin="0.02" solref="0.01 1"/>
     <pair geom1="box" geom2="palm" condim="1"/></contact>"""
    hidden = BODIES.replace('name="nail"', 'name="nail" contype="0" conaffinity="0"')
    force = r"ignored the force of margin= of <pair> \(1\)"
    model = read(mjcf(more=more, bodies=hidden), warns=force)
    (exclusion,) = model.contact_exclusions
    assert sorted(exclusion.frames) == ["hand", "world"]
    first, second = sorted(model.contact_pairs, key=lambda pair: -pair.friction)
    assert sorted(first.shapes) == ["box", "nail"]
    assert (first.friction, first.margin, first.softness[:2]) == (0.3, 0.02, (0.01, 1.0))
    assert (second.friction, second.softness) == (0.0, None)
    nail = next(shape for shape in model.shapes if shape.name == "nail")
    assert (nail.role, nail.surface.contype, nail.surface.conaffinity) == ("collision", 0, 0)


def test_geoms_keep_what_they_say_of_contacts(read):
    words = 'contype="6" conaffinity="0" friction="0.7" margin="0.01" priority="2" solref="0.03 1"'
    bodies = BODIES.replace('name="palm"', f'name="palm" {words}')
    model = read(mjcf(bodies=bodies), warns=r"ignored the force of margin= of <geom> \(1\)")
    surfaces = {shape.name: shape.surface for shape in model.shapes}
    assert surfaces["floor"] == dl.Surface(friction=0.4)
    softness = (0.03, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0)
    assert surfaces["palm"] == dl.Surface(6, 0, 0.7, None, softness, margin=0.01, priority=2)
    rolling = BODIES.replace('name="palm"', 'name="palm" condim="6"')
    read(mjcf(bodies=rolling), warns=r"ignored torsional and rolling friction of <geom> \(1\)")


@pytest.mark.parametrize(
    ("flag", "left_out"),
    [
        ("contact", {"shapes"}),
        ("limit", {"lower", "upper"}),
        ("frictionloss", {"friction"}),
        ("equality", {"constraints"}),
        ("constraint", {"shapes", "lower", "upper", "friction", "constraints"}),
        ("damper", {"damping"}),
        ("spring", {"stiffness"}),
    ],
)
def test_what_a_flag_switches_off_is_not_read(tmp_path, flag, left_out):
    def found(option):
        path = tmp_path / "robot.xml"
        path.write_text(f"""
            <mujoco><option>{option}</option><worldbody><body name="arm"><joint name="elbow"
              axis="0 1 0" range="-30 30" damping="2" stiffness="3" frictionloss="4"/>
              <geom size="0.1"/></body>
              <body name="hand"><joint name="wrist" axis="0 1 0"/><geom size="0.1"/></body>
            </worldbody><equality><joint joint1="elbow" joint2="wrist"/></equality></mujoco>""")
        model = dl.load(path)
        data = model.joint("elbow").data
        return {
            "shapes": [s.name for s in model.shapes if s.role == "collision"],
            "constraints": list(model.constraints),
            "lower": model.lower[0],
            "upper": model.upper[0],
            **{name: getattr(data, name)[0] for name in ("friction", "damping", "stiffness")},
        }

    whole, rest = found(""), found(f'<flag {flag}="disable"/>')
    assert {name for name in whole if not np.all(whole[name] == rest[name])} == left_out


def test_flags_that_are_not_followed_are_named(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text("""
        <mujoco><option><flag filterparent="disable" override="enable"/></option><worldbody>
        <body><joint/><geom size="0.1"/></body></worldbody></mujoco>""")
    with pytest.warns(dl.ModelFileWarning, match="filterparent= of <flag>.*override= of <flag>"):
        dl.load(path)
