"""SDF: poses and frames, joint types, loops, gearboxes, and the same dynamics as other formats."""

import warnings

import numpy as np
import pytest

import delassus as dl
from delassus import robots

INERTIAL = """<inertial><pose>0 0.1 0.2 0.3 0 0</pose><mass>2</mass>
 <inertia><ixx>0.3</ixx><ixy>0.01</ixy><iyy>0.2</iyy><izz>0.25</izz></inertia></inertial>"""


def sdf(*elements: str, version: str = "1.7", around: str = "{}") -> str:
    model = '<model name="test">' + "\n".join(elements) + "</model>"
    return f'<sdf version="{version}">' + around.format(model) + "</sdf>"


def link(name: str, pose: str = "0 0 0 0 0 0", relative_to: str = "", inside: str = "") -> str:
    at = f'<pose relative_to="{relative_to}">{pose}</pose>'
    return f'<link name="{name}">{at}{INERTIAL}{inside}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def axis(xyz: str = "0 0 1", inside: str = "", tag: str = "axis", attributes: str = "") -> str:
    return f"<{tag}><xyz {attributes}>{xyz}</xyz>{inside}</{tag}>"


def placements(model, q=None):
    """The pose of every frame in the world."""
    poses = dl.forward_kinematics(model, model.neutral() if q is None else q)
    names = model.frame_names
    return {n: dl.Transform(poses.rotation[i], poses.translation[i]) for i, n in enumerate(names)}


def test_links_are_where_the_file_puts_them_when_joints_are_at_zero(read):
    text = sdf(
        "<pose>0 0 5 0 0 0.5</pose>",
        link("base", "1 0 0 0 0 0"),
        link("arm", "0 2 0 0.1 0.2 0.3"),
        link("tool", "0 0 3 1 0 0", relative_to="arm"),
        '<frame name="tip" attached_to="tool"><pose>0 0 1 0 0 0</pose></frame>',
        '<frame name="mark"><pose>7 0 0 0 0 0</pose></frame>',
        joint("shoulder", "base", "arm", "ball", "<pose>0 0 0.5 0.4 0 0</pose>"),
        joint("wrist", "arm", "tip", "revolute", '<pose relative_to="arm"/>' + axis("1 0 0")),
    )
    model = read(text)
    world = dl.Transform.from_rpy([0, 0, 5], [0, 0, 0.5])
    arm = world @ dl.Transform.from_rpy([0, 2, 0], [0.1, 0.2, 0.3])
    tool = arm @ dl.Transform.from_rpy([0, 0, 3], [1, 0, 0])
    at = placements(model)
    assert at["base"].is_close(world @ dl.Transform.from_rpy([1, 0, 0]))
    assert at["arm"].is_close(arm)
    assert at["tool"].is_close(tool)
    assert at["tip"].is_close(tool @ dl.Transform.from_rpy([0, 0, 1]))
    assert at["shoulder"].is_close(arm @ dl.Transform.from_rpy([0, 0, 0.5], [0.4, 0, 0]))
    assert at["wrist"].is_close(arm)
    assert model.frame("mark").body == -1


def test_a_joint_turns_its_link_about_the_joints_own_origin(read):
    text = sdf(
        link("base"),
        link("arm"),
        joint("j", "base", "arm", inside="<pose>1 0 0 0 0 0</pose>" + axis()),
    )
    at = placements(read(text), [np.pi])
    np.testing.assert_allclose(at["arm"].translation, [2, 0, 0], atol=1e-15)
    np.testing.assert_allclose(at["j"].translation, [1, 0, 0], atol=1e-15)


@pytest.mark.parametrize("floating", [False, True])
def test_an_sdf_file_and_the_same_robot_in_urdf_have_the_same_dynamics(read, floating):
    urdf_link = """<link name="{}"><inertial><origin xyz="0 0.1 0.2" rpy="0.3 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.3" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link>"""
    urdf_joint = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>
      <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 0.6 0.8"/></joint>"""
    urdf = '<robot name="test">' + "".join(urdf_link.format(n) for n in ("base", "a", "b"))
    urdf += urdf_joint.format("x", "revolute", "base", "a")
    urdf += urdf_joint.format("y", "prismatic", "a", "b") + "</robot>"
    text = sdf(
        link("base"),
        link("a", "1 2 3 0.1 0.2 0.3", "base"),
        link("b", "1 2 3 0.1 0.2 0.3", "a"),
        joint("x", "base", "a", "revolute", axis("0 0.6 0.8")),
        joint("y", "a", "b", "prismatic", axis("0 0.6 0.8")),
    )
    one, other = read(urdf, floating_base=floating), read(text, floating_base=floating)
    assert one.joint_names == other.joint_names
    rng = np.random.default_rng(0)
    q, v = one.random_configuration(rng), rng.standard_normal(one.nv)
    np.testing.assert_allclose(dl.mass_matrix(one, q), dl.mass_matrix(other, q), atol=1e-12)
    np.testing.assert_allclose(dl.bias_forces(one, q, v), dl.bias_forces(other, q, v), atol=1e-11)


TURN = "<screw_thread_pitch>0.5</screw_thread_pitch>"


@pytest.mark.parametrize(
    ("kind", "inside", "expected"),
    [
        ("revolute", axis("0 1 0"), dl.Revolute((0, 1, 0))),
        ("continuous", axis("0 1 0"), dl.Revolute((0, 1, 0))),
        ("prismatic", axis("0 1 0"), dl.Prismatic((0, 1, 0))),
        ("ball", "", dl.Spherical()),
        ("universal", axis("1 0 0") + axis("0 1 0", tag="axis2"), dl.Universal()),
        ("revolute2", axis("1 0 0") + axis("0 1 0", tag="axis2"), dl.Universal()),
        ("screw", axis() + TURN, dl.Helical((0, 0, 1), 0.25 / np.pi)),
        ("screw", axis() + "<thread_pitch>-4</thread_pitch>", dl.Helical((0, 0, 1), 0.25)),
    ],
)  # fmt: skip
def test_joint_types(read, kind, inside, expected):
    model = read(sdf(link("base"), link("arm"), joint("j", "base", "arm", kind, inside)))
    assert model.joint("j").type == expected


@pytest.mark.parametrize(
    ("version", "inside", "expected"),
    [
        ("1.7", axis("1 0 0"), (1, 0, 0)),
        ("1.7", axis("1 0 0", attributes='expressed_in="__model__"'), (0, -1, 0)),
        ("1.7", axis("1 0 0", attributes='expressed_in="base"'), (-1, 0, 0)),
        ("1.6", axis("1 0 0", "<use_parent_model_frame>1</use_parent_model_frame>"), (0, -1, 0)),
        ("1.6", axis("1 0 0", "<use_parent_model_frame>0</use_parent_model_frame>"), (1, 0, 0)),
        ("1.4", axis("1 0 0"), (0, -1, 0)),
    ],
)
def test_axes_are_given_in_the_joints_frame_or_in_the_one_that_is_named(
    read, version, inside, expected
):
    turn = "0 0 0 0 0 1.5707963267948966"
    text = sdf(
        link("base", "0 0 0 0 0 -1.5707963267948966"),
        link("arm", turn),
        joint("j", "base", "arm", inside=inside),
        version=version,
    )
    np.testing.assert_allclose(read(text).joint("j").type.axis, expected, atol=1e-15)


def test_limits_springs_and_friction(read):
    inside = """<limit><lower>-1</lower><upper>1e16</upper><effort>-1</effort><velocity>3</velocity>
      </limit><dynamics><damping>0.1</damping><friction>0.2</friction>
      <spring_stiffness>4</spring_stiffness><spring_reference>0.5</spring_reference></dynamics>"""
    text = sdf(link("base"), link("arm"), joint("j", "base", "arm", inside=axis(inside=inside)))
    data = read(text).joint("j").data
    assert (data.lower[0], data.upper[0]) == (-1, np.inf)
    assert (data.effort_limit[0], data.velocity_limit[0]) == (np.inf, 3)
    assert (data.damping[0], data.friction[0]) == (0.1, 0.2)
    assert (data.stiffness[0], data.rest[0]) == (4, 0.5)


def test_the_first_joint_of_a_link_is_in_the_tree_and_later_ones_close_loops(read):
    text = sdf(
        link("base"),
        link("a", "1 0 0 0 0 0"),
        link("b", "0 1 0 0 0 0"),
        link("c", "1 1 0 0 0 0"),
        joint("ja", "base", "a", inside=axis()),
        joint("jb", "base", "b", inside=axis()),
        joint("jc", "a", "c", inside=axis()),
        joint("pin", "b", "c", inside="<pose>0 0 0.5 0 0 0</pose>" + axis()),
        joint("ball", "b", "c", "ball"),
        joint("weld", "b", "c", "fixed"),
    )
    model = read(text)
    assert model.joint_names == ["ja", "jc", "jb"]
    assert model.constraints == (
        dl.Closure(dl.Revolute((0, 0, 1)), "pin_successor", "pin_predecessor"),
        dl.Connect("ball_successor", "ball_predecessor"),
        dl.Weld("weld_successor", "weld_predecessor"),
    )
    at = placements(model)
    for name in ("pin", "ball", "weld"):
        assert at[f"{name}_successor"].is_close(at[f"{name}_predecessor"])
    np.testing.assert_allclose(at["pin_successor"].translation, [1, 1, 0.5])


def test_springs_of_loop_joints_are_told_of(read):
    spring = axis(inside="<dynamics><spring_stiffness>1</spring_stiffness></dynamics>")
    text = sdf(
        link("base"),
        link("a"),
        joint("first", "base", "a", inside=axis()),
        joint("second", "base", "a", inside=spring),
    )
    assert len(read(text, warns="springs and damping are left out: second").constraints) == 1


def test_joints_in_a_circle_keep_the_first_and_close_the_loop_by_the_last(read):
    text = sdf(
        link("a"),
        link("b"),
        joint("down", "a", "b", inside=axis()),
        joint("up", "b", "a", inside=axis()),
    )
    model = read(text)
    assert model.joint_names == ["down"]
    assert model.constraints[0].frames == ("up_successor", "up_predecessor")


GEARBOX = """<gearbox_reference_body>base</gearbox_reference_body>
 <gearbox_ratio>0.1</gearbox_ratio>"""


def geared(motor_axis: str, child: str, *more: str) -> str:
    return sdf(
        *(link(name) for name in ("base", "motor", "a", "b")),
        joint("jm", "base", "motor", inside=axis(motor_axis)),
        joint("ja", "base", "a", inside=axis("0 0 1")),
        joint("jb", "a", "b", inside=axis("0 0 1")),
        joint("gear", "motor", child, "gearbox", GEARBOX + axis("0 0 1")),
        *more,
    )


def test_a_gearbox_relates_the_angles_from_its_reference_body(read):
    """SDF says: child angle = -ratio * parent angle."""
    assert read(geared("0 0 1", "a")).constraints == (dl.Gear("ja", "jm", -0.1),)
    assert read(geared("0 0 -1", "a")).constraints == (dl.Gear("ja", "jm", 0.1),)
    (coupling,) = read(geared("0 0 1", "b")).constraints
    assert coupling.coefficients == {"jb": 1.0, "ja": 1.0, "jm": 0.1}


def test_a_gearbox_about_other_axes_is_an_error(read):
    with pytest.raises(dl.FileFormatError, match=r'name="gear".*does not turn about'):
        read(geared("0 1 0", "a"))


def test_mimic_axes_become_gears(read):
    mimic = '<mimic joint="ja"><multiplier>2</multiplier><offset>1</offset>'
    mimic = axis(inside=mimic + "<reference>3</reference></mimic>")
    text = sdf(
        *(link(name) for name in ("base", "a", "b")),
        joint("ja", "base", "a", inside=axis()),
        joint("jb", "base", "b", inside=mimic),
    )
    assert read(text).constraints == (dl.Gear("jb", "ja", 2.0, -5.0),)


def test_a_world_around_the_model_gives_gravity(read):
    world = '<world name="w"><gravity>0 0 -1.6</gravity>{}</world>'
    assert read(sdf(link("base"), around=world)).gravity[2] == -1.6


def test_the_base_is_fixed_or_free_or_hangs_on_the_world(read):
    free = sdf(link("base", "0 0 1 0 0 0"))
    assert read(free).nv == 0
    assert read(free, floating_base=True).joint_names == ["root_joint"]
    held = sdf(link("base", "0 0 1 0 0 0"), joint("lift", "world", "base", "prismatic", axis()))
    assert read(held).joint_names == ["lift"]
    model = read(held, floating_base=True, warns="held the base in the world.*: lift")
    assert model.joint_names == ["root_joint"]


def test_links_that_nothing_carries_move_freely(read):
    model = read(sdf(link("base"), link("ball")), warns="move freely: ball")
    assert model.joint("ball_joint").type == dl.Free()


def test_a_link_without_inertial_has_the_mass_that_sdf_gives_it(read):
    text = sdf(link("base"), '<link name="arm"/>', joint("j", "base", "arm", inside=axis()))
    model = read(text, warns="1 kg.*: arm")
    assert model.mass == 1.0


def test_poses_may_be_quaternions_or_in_degrees(read):
    text = sdf(
        link("base"),
        '<frame name="a"><pose rotation_format="quat_xyzw">1 2 3 0 0 1 1</pose></frame>',
        '<frame name="b"><pose degrees="true">1 2 3 0 0 90</pose></frame>',
    )
    model = read(text)
    assert model.frame("a").placement.is_close(model.frame("b").placement, 1e-12)


def test_shapes(read):
    inside = """<visual name="v"><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box>
      </geometry><material><diffuse>1 0 0</diffuse></material></visual>
      <collision name="c"><geometry><plane><normal>1 0 0</normal></plane></geometry></collision>
      <collision name="m"><geometry><mesh><uri>model://x/y.stl</uri></mesh></geometry></collision>"""
    box, plane, mesh = read(sdf(link("base", inside=inside))).shapes
    assert (box.size, box.color, box.role) == ((1, 2, 3), (1, 0, 0, 1), "visual")
    np.testing.assert_allclose(plane.placement.rotation[:, 2], [1, 0, 0], atol=1e-15)
    assert (mesh.mesh, mesh.size) == ("model://x/y.stl", (1, 1, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (sdf(), "has no <link>"),
        (sdf(link("a"), link("a")), "two links"),
        (sdf(link("a"), "<model name='b'/>"), "flatten the file"),
        (sdf(link("a"), "<include><uri>x</uri></include>"), "flatten the file"),
        ('<sdf version="1.7"/>', "expected one <model>, got 0"),
        (sdf(link("a"), around="{0}{0}"), "expected one <model>, got 2"),
        (sdf(link("a"), version="one"), "version"),
        (sdf(link("a", relative_to="b"), link("b", relative_to="a")), "relative to itself"),
        (sdf(link("a", relative_to="ghost")), "no link, joint or frame 'ghost'"),
        (sdf(link("a"), joint("j", "a", "ghost", inside=axis())), "'ghost'"),
        (sdf(link("a"), joint("j", "a", "a", inside=axis())), "to itself"),
        (sdf(link("a"), link("b"), joint("j", "a", "b")), "needs a <axis>"),
        (sdf(link("a"), link("b"), joint("j", "a", "b", inside=axis("0 0 0"))), "axis is zero"),
        (sdf(link("a"), link("b"), joint("j", "a", "b", "wheel")), "unknown joint type"),
        (sdf(link("a"), link("b"), joint("j", "a", "b", "screw", axis())), "screw_thread_pitch"),
        (sdf(link("a").replace("<mass>2", "<mass>-2")), "mass is negative"),
        (sdf(link("a").replace("<mass>2", "<mass>two")), "expected a number, got 'two'"),
        (sdf("<frame name='f' attached_to='f'/>", link("a")), "itself in the end"),
    ],
)  # fmt: skip
def test_errors_name_file_and_line(read, text, message):
    with pytest.raises(dl.FileFormatError, match=r"^robot\.urdf:\d+: .*" + message):
        read(text)


@pytest.mark.parametrize(
    ("name", "nv", "constraints"),
    [("cassie", 44, 16), ("cassie_v2", 28, 4), ("cassie_simple", 32, 4), ("cassie_reduced", 28, 4)],
)
def test_cassie(name, nv, constraints):
    try:
        model = robots.load(name)
    except dl.MissingDependencyError:
        pytest.skip("example-robot-data is not installed")
    assert (model.nv, len(model.constraints)) == (nv, constraints)
    at = placements(model)
    for constraint in model.constraints:
        if constraint.frames:
            first, second = (at[frame] for frame in constraint.frames)
            np.testing.assert_allclose(first.translation, second.translation, atol=1e-12)


def collision(surface: str) -> str:
    sphere = "<geometry><sphere><radius>0.1</radius></sphere></geometry>"
    return f'<collision name="c">{sphere}<surface>{surface}</surface></collision>'


def test_heightmaps_are_named_as_left_out(read):
    form = "<geometry><heightmap><uri>hills.png</uri><size>9 9 2</size></heightmap></geometry>"
    inside = f'<collision name="hills"><pose>0 0 1 0 0 0</pose>{form}</collision>'
    told = "shapes left out, as images of heightmaps are not read: hills of land$"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # there is no other
        assert not read(sdf(link("land", inside=inside)), warns=told).shapes


def test_surfaces_say_how_shapes_touch(read):
    surface = """<friction><ode><mu>0.6</mu><mu2>0.6</mu2></ode></friction>
     <bounce><restitution_coefficient>0.3</restitution_coefficient></bounce>
     <contact><collide_bitmask>0x0a</collide_bitmask></contact>"""
    (shape,) = read(sdf(link("a", inside=collision(surface)))).shapes
    assert shape.surface == dl.Surface(10, 10, 0.6, 0.3)
    bullet = "<friction><bullet><friction>0.2</friction></bullet></friction>"
    (shape,) = read(sdf(link("a", inside=collision(bullet)))).shapes
    assert shape.surface == dl.Surface(friction=0.2)
    uneven = collision("<friction><ode><mu>0.6</mu><mu2>0.5</mu2></ode></friction>")
    read(sdf(link("a", inside=uneven)), warns="two coefficients of friction.* taken: c")
    negative = collision("<friction><ode><mu>-0.6</mu></ode></friction>")
    with pytest.raises(dl.FileFormatError, match="shape 'c': friction"):
        read(sdf(link("a", inside=negative)))


def test_a_link_without_gravity_has_its_weight_held(read):
    text = sdf(link("a", inside="<gravity>false</gravity>"))
    assert read(text, floating_base=True).bodies[0].gravity_compensation == 1.0
    heavy = text.replace("false", "true")
    assert read(heavy, floating_base=True).bodies[0].gravity_compensation == 0.0
