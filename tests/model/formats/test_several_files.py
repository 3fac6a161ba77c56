"""Several files that make one model: the root link of each is a link of those before it."""

import warnings

import numpy as np
import pytest

import delassus as dl

MASS = """<inertial><origin xyz="0.1 0 0"/><mass value="{mass}"/>
 <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>"""


def link(name: str, mass: float = 0.0) -> str:
    return f'<link name="{name}">{MASS.format(mass=mass) if mass else ""}</link>'


def joint(parent: str, child: str, at: str = "1 0 0", attributes: str = "") -> str:
    return (
        f'<joint name="to_{child}" type="continuous" {attributes}><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{at}"/><axis xyz="0 0 1"/></joint>'
    )


def robot(name: str, *elements: str) -> str:
    return f'<robot name="{name}">' + "".join(elements) + "</robot>"


TRUNK = [link("base"), link("trunk", 5.0), joint("base", "trunk"), joint("trunk", "neck"),
         link("neck", 0.5)]  # fmt: skip


def leg(side: str) -> list[str]:
    """A link and its motor on the trunk, at a place of their own."""
    at = "0.3 0.2 0" if side == "left" else "0.3 -0.2 0"
    return [
        link(f"{side}_thigh", 1.0),
        joint("trunk", f"{side}_thigh", at),
        link(f"{side}_rotor", 0.1),
        joint("trunk", f"{side}_rotor", at, 'independent="false"'),
        f'<coupling><predecessor link="{side}_thigh"/><successor link="{side}_rotor"/>'
        '<ratio value="6"/></coupling>',
    ]


@pytest.fixture
def parts(write):
    """Paths of the files of a trunk and of two legs that hang on it."""
    texts = [robot("walker", *TRUNK)]
    texts += [robot(f"{side}_leg", link("trunk"), *leg(side)) for side in ("left", "right")]
    return [write(text, f"part{k}.urdf") for k, text in enumerate(texts)]


@pytest.mark.parametrize("floating", [False, True])
def test_parts_make_the_same_model_as_one_file(parts, write, floating):
    whole = dl.load(
        write(robot("walker", *TRUNK, *leg("left"), *leg("right"))), floating_base=floating
    )
    model = dl.load(parts, floating_base=floating)
    assert model.name == "walker"
    assert model.joint_names == whole.joint_names
    assert model.constraints == whole.constraints
    assert sorted(model.frame_names) == sorted(whole.frame_names)
    assert [j.independent for j in model.joints] == [j.independent for j in whole.joints]
    q = whole.random_configuration(np.random.default_rng(0))
    np.testing.assert_allclose(dl.mass_matrix(model, q), dl.mass_matrix(whole, q), atol=1e-12)


def test_one_file_may_stand_in_a_list(parts):
    assert dl.load(parts[:1]).joint_names == ["to_trunk", "to_neck"]
    assert dl.load(iter(parts)).n_bodies == 6


def test_parts_may_hang_on_parts(parts, write):
    foot = write(robot("foot", link("left_thigh"), link("foot"), joint("left_thigh", "foot")),
                 "foot.urdf")  # fmt: skip
    model = dl.load([*parts, foot])
    assert model.body("foot").parent == model.body_index("left_thigh")


def test_the_mass_of_a_link_in_two_files_is_added_up_and_warned_of(parts, write):
    tail = robot("tail", link("trunk", 2.0), link("tail", 0.3), joint("trunk", "tail"))
    with pytest.warns(dl.ModelFileWarning, match=r"tail\.urdf: links with mass in .*: trunk"):
        model = dl.load([parts[0], write(tail, "tail.urdf")])
    assert model.body("trunk").inertia.mass == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (robot("arm", link("trunc"), link("arm"), joint("trunc", "arm")),
         r"root link 'trunc' is no link of .*dl\.attach.*did you mean 'trunk'"),
        (robot("arm", link("trunk"), link("neck"), joint("trunk", "neck")),
         r"both models have the body 'neck'; give a prefix, .* to dl\.attach"),
        (robot("arm", link("trunk"), link("hand", -1.0), joint("trunk", "hand")),
         r":1: <link name=\"hand\">.*mass"),
    ],
)  # fmt: skip
def test_errors_name_the_file(parts, write, text, message):
    with pytest.raises(dl.FileFormatError, match=r"^arm\.urdf" + ".*" + message):
        dl.load([parts[0], write(text, "arm.urdf")])


def test_a_list_holds_files():
    with pytest.raises(dl.DataTypeError, match="at least one file"):
        dl.load([])
    with pytest.raises(dl.DataTypeError, match=r"a string or a Path, got 3"):
        dl.load([3])


def test_a_root_at_another_place_is_attached_where_its_link_is(parts, write):
    """In SDF the root link may stand anywhere in its world."""
    text = """<sdf version="1.7"><model name="arm"><link name="trunk"><pose>0 0 3 0 0 0</pose>
     <inertial><mass>0</mass></inertial></link>
     <link name="arm"><pose>0 1 3 0 0 0</pose></link>
     <joint name="to_arm" type="revolute"><parent>trunk</parent><child>arm</child>
     <axis><xyz>0 0 1</xyz></axis></joint>
     <joint name="stand" type="fixed"><parent>world</parent><child>trunk</child></joint>
     </model></sdf>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # links without inertia
        model = dl.load([parts[0], write(text, "arm.sdf")])
    np.testing.assert_allclose(model.body("arm").placement.translation, [0, 1, 0], atol=1e-12)
