"""URDF+: loop joints, couplings and independent coordinates."""

import numpy as np
import pytest

import delassus as dl


def chain(*joints: tuple[str, str, str, str]) -> str:
    """Links base, a, b, ... and joints (name, parent, child, attributes)."""
    links = {name for _, parent, child, _ in joints for name in (parent, child)}
    return "".join(f'<link name="{name}"/>' for name in sorted(links)) + "".join(
        f'<joint name="{name}" {attributes}><parent link="{parent}"/><child link="{child}"/>'
        '<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>'
        for name, parent, child, attributes in joints
    )


REVOLUTE = 'type="revolute"'
FOUR_BAR = chain(
    ("crank", "base", "link1", 'type="revolute" independent="true"'),
    ("coupler", "link1", "link2", 'type="revolute" independent="false"'),
    ("rocker", "base", "link3", REVOLUTE),
)
LOOP = """<loop name="pin" type="{type}">
 <predecessor link="link2"><origin xyz="1 0 0" rpy="0 0 1"/></predecessor>
 <successor link="link3"><origin xyz="0 1 0"/></successor>
 <axis xyz="0 0 1"/></loop>"""


def robot(*elements: str) -> str:
    return '<robot name="mechanism">' + "\n".join(elements) + "</robot>"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("revolute", dl.Closure(dl.Revolute((0, 0, 1)), "pin_successor", "pin_predecessor")),
        ("prismatic", dl.Closure(dl.Prismatic((0, 0, 1)), "pin_successor", "pin_predecessor")),
        ("spherical", dl.Connect("pin_successor", "pin_predecessor")),
        ("fixed", dl.Weld("pin_successor", "pin_predecessor")),
    ],
)
def test_loops_become_constraints_between_new_frames(read, kind, expected):
    warns = "ignored <axis>" if isinstance(expected, (dl.Connect, dl.Weld)) else None
    model = read(robot(FOUR_BAR, LOOP.format(type=kind)), warns=warns)
    assert model.constraints == (expected,)
    at = model.frame("pin_predecessor")
    assert at.body == model.body_index("link2")
    assert at.placement.is_close(dl.Transform.from_rpy([1, 0, 0], [0, 0, 1]))
    np.testing.assert_array_equal(model.frame("pin_successor").placement.translation, [0, 1, 0])


def test_independent_coordinates_are_remembered(read):
    model = read(robot(FOUR_BAR, LOOP.format(type="revolute")))
    assert [joint.independent for joint in model.joints] == [True, False, None]


def test_a_dependent_joint_that_nothing_ties_is_warned_of(read):
    """As in a file whose differentials URDF+ has no element for."""
    message = r"declared dependent that no loop or coupling ties, and that move freely: coupler$"
    model = read(robot(FOUR_BAR), warns=message)
    assert model.joint("coupler").independent is False


def coupling(predecessor: str, successor: str, ratio: object = 6) -> str:
    ends = f'<predecessor link="{predecessor}"/><successor link="{successor}"/>'
    return f'<coupling name="gear">{ends}<ratio value="{ratio}"/></coupling>'


LEG = chain(
    ("to_hip", "base", "hip", REVOLUTE),
    ("to_knee", "hip", "shank", REVOLUTE),
    ("to_cover", "shank", "cover", 'type="fixed"'),
    ("to_ankle", "cover", "foot", REVOLUTE),
    ("to_rotor", "hip", "rotor", REVOLUTE),
    ("to_sphere", "hip", "sphere", 'type="floating"'),
)


def test_a_rotor_turns_ratio_times_as_fast_as_its_link(read):
    model = read(robot(LEG, coupling("shank", "rotor")))
    assert model.constraints == (dl.Gear("to_rotor", "to_knee", 6.0),)


def test_shared_joints_cancel_and_fixed_ones_count_nothing(read):
    (constraint,) = read(robot(LEG, coupling("foot", "rotor"))).constraints
    assert constraint.coefficients == {"to_rotor": 1.0, "to_ankle": -6.0, "to_knee": -6.0}
    assert constraint.offset == 0.0


def test_a_link_may_be_coupled_to_its_own_ancestor(read):
    (constraint,) = read(robot(LEG, coupling("hip", "foot"))).constraints
    assert constraint.coefficients == {"to_ankle": 1.0, "to_knee": 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LOOP.format(type="magnetic").replace("link2", "hip").replace("link3", "foot"), "magnetic"),
        (LOOP.format(type="revolute"), "there is no link 'link2'"),
        (coupling("foot", "ghost"), "there is no link 'ghost'"),
        (coupling("foot", "rotor", "six"), "<ratio value>: expected a number"),
        (coupling("foot", "rotor", 0), "a ratio of zero couples nothing"),
        (coupling("foot", "sphere"), "'to_sphere', which is floating"),
        (coupling("foot", "foot"), "names no joint"),
        (coupling("foot", "rotor").replace("<ratio", "<no"), "needs a <ratio>"),
    ],
)
def test_errors_name_the_element(read, text, message):
    with pytest.raises(dl.FileFormatError, match=r"^robot\.urdf:\d+: .*" + message):
        read(robot(LEG, text))
