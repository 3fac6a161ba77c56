"""URDF: every joint type, the data of joints and links, frames, and what is reported."""

import numpy as np
import pytest

import delassus as dl
from delassus.model.formats import ModelFileWarning, load

LIMIT = '<limit lower="-1" upper="2" effort="30" velocity="4"/>'


def robot(*elements: str) -> str:
    return '<robot name="test">' + "\n".join(elements) + "</robot>"


def link(name: str, mass: float | None = None, inside: str = "") -> str:
    inertial = (
        ""
        if mass is None
        else f'<inertial><mass value="{mass}"/><origin xyz="0 0 0.5"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    return f'<link name="{name}">{inertial}{inside}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = LIMIT) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def one_joint(kind: str, inside: str = "") -> str:
    return robot(link("base"), link("arm", 1.0), joint("j", "base", "arm", kind, inside))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("revolute", dl.Revolute((0, 1, 0))),
        ("continuous", dl.Revolute((0, 1, 0))),
        ("prismatic", dl.Prismatic((0, 1, 0))),
        ("planar", dl.Planar((0, 1, 0))),
        ("floating", dl.Free()),
    ],
)
def test_joint_types(read, kind, expected):
    model = read(one_joint(kind, '<axis xyz="0 1 0"/>'))
    assert model.joint("j").type == expected


def test_the_default_axis_is_x(read):
    assert read(one_joint("revolute", LIMIT)).joint("j").type.axis == (1, 0, 0)


def test_limits_and_passive_data(read):
    data = read(one_joint("revolute", LIMIT + '<dynamics damping="0.1" friction="0.2"/>'))
    assert (data.lower[0], data.upper[0]) == (-1, 2)
    assert (data.effort_limit[0], data.velocity_limit[0]) == (30, 4)
    assert data.joint("j").data.damping[0] == 0.1
    assert data.joint("j").data.friction[0] == 0.2


def test_a_joint_without_a_limit_element_has_no_limits(read):
    model = read(one_joint("revolute"))
    assert model.upper[0] == np.inf
    assert model.effort_limit[0] == np.inf


def test_absent_bounds_are_zero_as_urdf_says_and_are_told_of(read):
    model = read(one_joint("revolute", '<limit effort="1" velocity="1"/>'), warns="zero: j")
    assert model.lower[0] == model.upper[0] == 0


def test_origins_are_positions_and_fixed_axis_angles(read):
    model = read(one_joint("revolute", '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'))
    expected = dl.Transform.from_rpy([1, 2, 3], [0.1, 0.2, 0.3])
    assert model.body("arm").placement.is_close(expected, 1e-15)


def test_origins_may_be_quaternions(read):
    model = read(one_joint("revolute", '<origin xyz="1 2 3" quat_xyzw="0 0 1 1"/>'))
    expected = dl.Transform.from_rpy([1, 2, 3], [0, 0, np.pi / 2])
    assert model.body("arm").placement.is_close(expected, 1e-15)


@pytest.mark.parametrize("attributes", ['quat_xyzw="0 0 0 0"', 'quat_xyzw="0 0 0 1" rpy="0 0 0"'])
def test_bad_quaternions_are_errors(read, attributes):
    with pytest.raises(dl.FileFormatError, match="<origin"):
        read(one_joint("revolute", f"<origin {attributes}/>"))


def test_inertias_are_turned_to_the_axes_of_their_link(read):
    inertial = (
        '<inertial><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1.5" iyz="0" izz="2"/></inertial>'
    )
    text = robot(link("base"), link("arm", inside=inertial), joint("j", "base", "arm"))
    inertia = read(text).body("arm").inertia
    np.testing.assert_allclose(inertia.matrix, np.diag([1.5, 1.0, 2.0]), atol=1e-15)
    np.testing.assert_array_equal(inertia.center, [0, 0, 1])


def test_joints_are_depth_first_with_children_in_the_order_of_joint_elements(read):
    text = robot(
        *map(link, ["d", "c", "b", "a", "root"]),
        joint("to_b", "root", "b"),
        joint("to_d", "b", "d"),
        joint("to_a", "root", "a"),
        joint("to_c", "b", "c"),
    )
    assert read(text).joint_names == ["to_b", "to_d", "to_c", "to_a"]


def test_links_and_joints_have_frames_and_fixed_links_give_their_mass_to_parents(read):
    text = robot(
        link("base", 5.0),
        link("arm", 1.0),
        link("tool", 2.0),
        joint("j", "base", "arm"),
        joint("mount", "arm", "tool", "fixed", '<origin xyz="0 0 1"/>'),
    )
    model = read(text)
    assert model.frame_names == ["base", "arm", "tool", "j", "mount"]
    assert model.frame("base").body == model.frame("world").body == -1
    np.testing.assert_array_equal(model.frame("mount").placement.translation, [0, 0, 1])
    assert model.mass == 3.0
    assert model.frame("base").inertia.mass == 5.0


def test_a_joint_that_shares_its_name_with_a_link_has_no_frame_of_its_own(read):
    text = robot(link("base"), link("arm"), joint("arm", "base", "arm"))
    assert read(text).frame_names == ["base", "arm"]


def test_a_floating_base_comes_first(read):
    model = read(one_joint("revolute", LIMIT), floating_base=True)
    assert model.joint_names == ["root_joint", "j"]
    assert model.joint("root_joint").type == dl.Free()
    assert model.body_names == ["base", "arm"]
    assert "root_joint" in model.frame_names


def test_a_root_called_world_is_the_world(read):
    text = robot(link("world"), link("arm", 1.0), joint("j", "world", "arm"))
    model = read(text)
    assert (model.body_names, model.bodies[0].parent) == (["arm"], -1)
    floating = read(text, floating_base=True, warns="called: world_link")
    assert floating.body_names == ["world_link", "arm"]


def test_mimic_joints_stay_joints_and_become_gears(read):
    text = robot(
        *map(link, ["base", "a", "b"]),
        joint("first", "base", "a"),
        joint("second", "a", "b", inside='<mimic joint="first" multiplier="-2" offset="0.5"/>'),
    )
    model = read(text)
    assert model.nv == 2
    assert model.constraints == (dl.Gear("second", "first", -2.0, 0.5),)


def test_a_joint_that_mimics_a_fixed_one_is_held_at_the_offset(read):
    text = robot(
        *map(link, ["base", "a", "b"]),
        joint("first", "base", "a", "fixed"),
        joint("second", "a", "b", inside='<mimic joint="first" offset="0.5"/>'),
    )
    (constraint,) = read(text).constraints
    assert (constraint.coefficients, constraint.offset) == ({"second": 1.0}, 0.5)


def test_a_joint_that_mimics_none_moves_freely_and_is_told_of(read):
    model = read(one_joint("revolute", '<mimic joint="ghost"/>'), warns="ghost")
    assert model.constraints == ()


def test_axes_are_scaled_to_unit_length_with_a_warning_if_they_are_far_from_it(read):
    assert read(one_joint("revolute", '<axis xyz="0 0 1.0005"/>')).nv == 1
    model = read(one_joint("revolute", '<axis xyz="0 3 4"/>'), warns=r"unit length.*: j \(5\)")
    assert model.joint("j").type.axis == (0, 0.6, 0.8)


def test_links_need_no_mass_and_rotors_may_have_inertia_alone(read):
    assert read(one_joint("revolute")).mass == 1.0
    text = robot(link("base"), link("rotor", 0.0), joint("j", "base", "rotor"))
    assert read(text).body("rotor").inertia.mass == 0.0
    assert read(text).body("rotor").inertia.matrix[0, 0] == 1.0


SHAPES = """
<visual name="cover"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry>
 <material name="red"/></visual>
<visual><geometry><mesh filename="package://test_robot/meshes/arm.stl" scale="1 1 -1"/></geometry>
 <material name="blue"><color rgba="0 0 1 1"/></material></visual>
<collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision>
<collision><geometry><sphere radius="0.1"/></geometry></collision>
<collision><geometry><capsule radius="0.1" length="1"/></geometry></collision>
"""


def test_shapes(read):
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    shapes = read(robot(red, link("arm", inside=SHAPES))).shapes
    assert [s.kind for s in shapes] == ["box", "mesh", "cylinder", "sphere", "capsule"]
    assert [s.role for s in shapes] == ["visual"] * 2 + ["collision"] * 3
    assert [s.size for s in shapes] == [(1, 2, 3), (1, 1, -1), (0.1, 2), (0.1,), (0.1, 1)]
    assert [s.color for s in shapes[:2]] == [(1, 0, 0, 1), (0, 0, 1, 1)]
    assert shapes[0].name == "cover"
    assert {s.frame for s in shapes} == {"arm"}
    assert shapes[1].mesh == "package://test_robot/meshes/arm.stl"


def test_meshes_are_found_in_package_folders_beside_the_file_and_above_it(write):
    text = robot(link("arm", inside=SHAPES.replace('<material name="red"/>', "")))

    def mesh(path, **how):
        return load(path, **how).shapes[1].mesh

    stl = write(b"", "elsewhere/test_robot/meshes/arm.stl")
    path = write(text, "model/test_robot/urdf/robot.urdf")
    assert mesh(path) == "package://test_robot/meshes/arm.stl"
    assert mesh(path, package_dirs=stl.parents[2]) == str(stl)
    assert mesh(path, package_dirs=[stl.parents[1]]) == str(stl)
    near = write(b"", "model/test_robot/meshes/arm.stl")
    assert mesh(path) == str(near)
    relative = write(text.replace("package://test_robot/", "../"), "model/test_robot/urdf/b.urdf")
    assert mesh(relative) == str(near)
    absolute = write(text.replace("package://test_robot/meshes/arm.stl", f"file://{stl}"), "c.urdf")
    assert mesh(absolute) == str(stl)


def test_what_has_no_meaning_here_is_counted_in_one_warning(write):
    text = robot(
        link("base"),
        '<gazebo reference="base"><mu1>1</mu1></gazebo>',
        "<gazebo/><transmission><joint/></transmission>",
        '<xacro:macro xmlns:xacro="http://ros.org/wiki/xacro" name="leg"/>',
        link("arm").replace("<link", '<link type="big"'),
        joint("j", "base", "arm", inside=LIMIT + '<safety_controller k_velocity="1"/>'),
    )
    with pytest.warns(ModelFileWarning) as record:
        load(write(text))
    expected = (
        "robot.urdf: ignored <gazebo> (2), <safety_controller> (1), <transmission> (1), "
        "<xacro:macro> (1), type= of <link> (1)"
    )
    assert [str(w.message) for w in record] == [expected]


def test_warnings_point_at_the_caller(write):
    path = write(robot(link("base"), "<gazebo/>"))
    with pytest.warns(ModelFileWarning) as record:
        load(path)
    assert record[0].filename == __file__


def test_impossible_inertias_of_published_robots_load_with_one_warning(read):
    flat = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    text = robot(link("base"), link("a", 1.0), link("b", 1.0))
    text = text.replace("</robot>", joint("x", "base", "a") + joint("y", "a", "b") + "</robot>")
    model = read(text.replace(flat, flat.replace('izz="1"', 'izz="3"')), warns="triangle.*: a, b$")
    assert not model.body("a").inertia.is_physical()
    read(text.replace(flat, flat.replace('ixy="0"', 'ixy="1.2"')), warns="not positive: a, b$")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('mass value="1.0"', 'mass value="-1"', r"<link name=\"arm\">: <inertial>: .*negative"),
        ('ixx="1"', 'ixx="-1"', r"<link name=\"arm\">: <inertial>: .*negative"),
        ('ixy="0"', 'ixy="100"', r"<link name=\"arm\">: <inertial>: .*not positive"),
        ('ixx="1" ', "", r"<link name=\"arm\">: <inertial>: <inertia>: needs the attribute 'ixx'"),
        ('<mass value="1.0"/>', "", r"<link name=\"arm\">: <inertial>: needs a <mass>"),
        ('xyz="0 1 0"', 'xyz="0 0 0"', r"<joint name=\"j\">: <axis xyz>: the axis is zero"),
        ('xyz="0 1 0"', 'xyz="0 1"', r"<joint name=\"j\">: <axis xyz>: expected 3 numbers"),
        ('type="revolute"', 'type="hinge"', r"<joint name=\"j\">: unknown joint type 'hinge'"),
        ('type="revolute"', "", r"<joint name=\"j\">: needs the attribute 'type'"),
        ('parent link="base"', 'parent link="x"', r"<joint name=\"j\">: its parent link 'x' does"),
        ('child link="arm"', 'child link="x"', r"<joint name=\"j\">: its child link 'x' does"),
        ('child link="arm"', 'child link="base"', r"<joint name=\"j\">: connects .* to itself"),
        ('<parent link="base"/>', "", r"<joint name=\"j\">: needs a <parent>"),
        ('<link name="base"></link>', "", r"parent link 'base' does not exist"),
        ("</robot>", '<link name="arm"/></robot>', r"<link name=\"arm\">: there are two links"),
        ("</robot>", '<link name="free"/></robot>', r"<link name=\"free\">: a second root"),
        ("</robot>", '<link/></robot>', r"<link>: needs the attribute 'name'"),
        ('<robot name="test">', "<robot>", r"<robot>: needs the attribute 'name'"),
        ('lower="-1"', 'lower="3"', r"<joint name=\"j\">: .*lower limit"),
        ('effort="30"', 'effort="-3"', r"<joint name=\"j\">: .*effort_limit must not be negative"),
    ],
)  # fmt: skip
def test_errors_name_the_element(read, old, new, message):
    text = one_joint("revolute", LIMIT + '<axis xyz="0 1 0"/>')
    assert old in text
    with pytest.raises(dl.FileFormatError, match=r"^robot\.urdf:\d+: .*" + message):
        read(text.replace(old, new))


def test_a_robot_without_links_is_an_error(read):
    with pytest.raises(dl.FileFormatError, match="no <link>"):
        read('<robot name="a"></robot>')


def test_two_joints_of_one_name_are_an_error(read):
    text = robot(*map(link, "abc"), joint("j", "a", "b"), joint("j", "b", "c"))
    with pytest.raises(dl.FileFormatError, match="two joints"):
        read(text)


def test_a_link_with_two_parents_is_an_error_that_tells_of_loops(read):
    text = robot(
        *map(link, "abc"), joint("x", "a", "b"), joint("y", "a", "c"), joint("z", "b", "c")
    )
    with pytest.raises(dl.FileFormatError, match=r"<joint name=\"z\">.*child of joint 'y'.*<loop>"):
        read(text)


@pytest.mark.parametrize("root", ["", link("root")])
def test_cycles_are_named(read, root):
    text = robot(
        *map(link, "abc"), root, joint("x", "a", "b"), joint("y", "b", "c"), joint("z", "c", "a")
    )
    with pytest.raises(dl.FileFormatError, match="form a cycle: 'a' <- 'c' <- 'b' <- 'a'"):
        read(text)


def test_a_base_that_is_fixed_to_the_world_does_not_touch_the_link_on_it(read):
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    links = [link("base", 1.0, ball), link("arm", 1.0, ball), link("hand", 1.0, ball)]
    text = robot(*links, joint("j", "base", "arm"), joint("k", "arm", "hand"))
    assert read(text).contact_exclusions == (dl.ContactExclusion("base", "arm"),)
    assert read(text, floating_base=True).contact_exclusions == ()


def test_a_xacro_file_says_what_to_run(read):
    text = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
     <xacro:include filename="arm.xacro"/><xacro:arm/></robot>"""
    with pytest.raises(dl.FileFormatError, match="run `xacro "):
        read(text)
