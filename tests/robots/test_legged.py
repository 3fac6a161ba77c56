"""Robots with rotors, belts and differentials."""

import numpy as np
import pytest

import delassus as dl
from delassus import robots

pytestmark = pytest.mark.uncompiled

# Bodies, independent velocities, constraints, mass, and mass of the rotors.
SIZES = {
    "mini_cheetah": (25, 18, 12, 8.912, 0.66),
    "mit_humanoid": (37, 24, 18, 25.96855, 1.1),
    "mit_humanoid_leg": (10, 5, 5, 5.330541, 0.0),
    "tello": (37, 24, 14, 16.136868, 0.7),
    "jvrc1": (58, 38, 25, 61.75, 1.75),
}
each_robot = pytest.mark.parametrize("name", SIZES)
MIRROR = np.diag([1.0, -1.0, 1.0])


def build(name, rotors="bodies"):
    return getattr(robots, name)(rotors)


def velocities(model, independent):
    """Indices of velocities of joints that are independent, or of those that are not."""
    return np.r_[tuple(j.v for j in model.joints if j.independent == independent)]


def closed(model, q=None):
    """The configuration near q, or the neutral one, that keeps independent joints."""
    fixed = [j.name for j in model.joints if j.independent]
    start = model.neutral() if q is None else q
    return dl.close_loops(model, start, dl.Constraints(model), fixed=fixed, tolerance=1e-13)


def motion(model, q):
    """G: velocities of all joints from those of the independent ones."""
    J = dl.Constraints(model).jacobian(q)
    free, bound = velocities(model, True), velocities(model, False)
    G = np.zeros((model.nv, free.size))
    G[free] = np.eye(free.size)
    G[bound] = -np.linalg.solve(J[:, bound], J[:, free])
    return G


def motion_of_links(model, q):
    """Velocities of all joints from those of joints of the base and of links."""
    names = [j.name for j in model.joints]
    links = np.r_[tuple(model.joint(n).v for n in names if "rotor" not in n)]
    rotors = np.r_[tuple(model.joint(n).v for n in names if "rotor" in n)]
    J = dl.Constraints(model).jacobian(q)
    G = np.zeros((model.nv, links.size))
    G[links] = np.eye(links.size)
    G[rotors] = -np.linalg.solve(J[:, rotors], J[:, links])
    return G


# --- sizes ----------------------------------------------------------------------------------------


@each_robot
def test_sizes_and_masses(name):
    bodies, velocities_, constraints, mass, _ = SIZES[name]
    model = build(name)
    assert (model.n_bodies, len(model.constraints)) == (bodies, constraints)
    assert sum(j.nv for j in model.joints if j.independent) == velocities_
    assert model.mass == pytest.approx(mass, abs=1e-12)


@each_robot
def test_rows_and_dependent_velocities_are_as_many(name):
    model = build(name)
    cs = dl.Constraints(model)
    q = closed(model)
    assert cs.size == cs.rank(q) == velocities(model, False).size


@each_robot
@pytest.mark.parametrize("rotors", ["diagonal", "none"])
def test_without_rotors_a_tree_of_the_links_is_left(name, rotors):
    _, velocities_, _, mass, of_rotors = SIZES[name]
    full, model = build(name), build(name, rotors)
    assert model.body_names == [n for n in full.body_names if "rotor" not in n]
    assert (model.nv, model.constraints) == (velocities_, ())
    assert model.mass == pytest.approx(mass - of_rotors, abs=1e-12)
    assert all(j.independent for j in model.joints)


@each_robot
def test_links_do_not_depend_on_the_way_of_rotors(name):
    full = build(name)
    for rotors in ("diagonal", "none"):
        for body in build(name, rotors).bodies:
            other = full.body(body.name)
            assert body.placement.is_close(other.placement, 0.0)
            assert np.array_equal(body.inertia.matrix, other.inertia.matrix)


def test_an_unknown_way_of_rotors_is_an_error():
    with pytest.raises(dl.UnknownNameError, match="'bodies', 'diagonal', 'none'"):
        robots.tello("reflected")


# --- rotors ---------------------------------------------------------------------------------------


@each_robot
def test_armature_is_the_diagonal_of_the_reflected_inertia(name):
    full, reflected = build(name), build(name, "diagonal")
    G = motion_of_links(full, closed(full))  # with motors of differentials at zero
    spin = np.zeros(full.nv)  # moments of inertia of rotors about their axes
    for body in full.bodies:
        if "rotor" in body.name:
            axis = np.array(body.joint.type.axis)
            spin[body.joint.v] = axis @ body.inertia.matrix @ axis
    armature = np.concatenate([j.data.armature for j in reflected.joints])
    np.testing.assert_allclose(armature, np.diag(G.T @ (spin[:, None] * G)), rtol=1e-9)
    assert not any(j.data.armature.any() for j in build(name, "none").joints)


def test_rotors_of_knee_and_ankle_both_load_the_knee():
    leg = robots.mit_humanoid_leg("diagonal")
    knee, ankle = (leg.joint(f"{n}_joint").data.armature[0] for n in ("knee", "ankle"))
    assert knee == pytest.approx(144 * (554.8e-6 + 168.41e-6))
    assert ankle == pytest.approx(144 * 168.41e-6)


def test_torques_of_the_leg_without_its_rotors_are_wrong_by_as_much_as_published():
    """Chignoli et al. 2023, Fig. 13: 4.31 N m without rotors, 1.04 N m with reflected inertia."""
    full = robots.mit_humanoid_leg()
    G = motion(full, full.neutral())
    phase = np.linspace(0.0, 2.0 * np.pi, 101)[:-1, None] * np.ones(5)
    amplitude, rate = 0.5, 2.0 * np.pi * 1.5
    q = amplitude * np.sin(phase)
    v, a = amplitude * rate * np.cos(phase), -(rate**2) * q
    exact = dl.inverse_dynamics(full, q @ G.T, v @ G.T, a @ G.T) @ G
    errors = {}
    for rotors in ("none", "diagonal"):
        model = robots.mit_humanoid_leg(rotors)
        off = dl.inverse_dynamics(model, q, v, a) - exact
        errors[rotors] = np.sqrt(np.mean(off**2, axis=0))[model.joint("knee_joint").v][0]
    assert errors["none"] == pytest.approx(4.31, abs=0.01)
    assert errors["diagonal"] == pytest.approx(1.04, abs=0.01)


@pytest.mark.parametrize(
    ("name", "rotor", "speeds"),
    [
        ("mini_cheetah", "HL_knee_rotor", {"HL_knee": 9.33}),
        ("mit_humanoid", "left_elbow_rotor", {"left_elbow": 9.0}),
        ("mit_humanoid", "left_ankle_rotor", {"left_knee": 12.0, "left_ankle": 12.0}),
        ("tello", "right_elbow_rotor", {"right_elbow": 9.0}),
        ("tello", "left_hip_clamp_rotor", {"left_hip_clamp": 6.0}),
        ("jvrc1", "waist_roll_rotor", {"waist_roll": 6.0}),
    ],
)
def test_rotors_turn_with_their_links(name, rotor, speeds):
    model = build(name)
    G = motion_of_links(model, closed(model))
    links = [j.name for j in model.joints if "rotor" not in j.name for _ in range(j.nv)]
    row = dict(zip(links, G[model.joint(f"{rotor}_joint").v][0], strict=True))
    found = {n.removesuffix("_joint"): x for n, x in row.items() if abs(x) > 1e-12}
    assert found == pytest.approx(speeds)


# --- shape ----------------------------------------------------------------------------------------


def other_side(name):
    for left, right in (("left_", "right_"), ("FL_", "FR_"), ("HL_", "HR_")):
        name = name.replace(left, right)
    return name


@pytest.mark.parametrize(
    ("name", "except_for"),
    [
        ("mini_cheetah", ()),
        ("mit_humanoid", ()),
        ("tello", ("hip", "thigh", "shin", "knee")),  # both thighs lean to the right
        ("jvrc1", ("hip_pitch",)),  # the right hip sits lower
    ],
)
def test_left_is_the_mirror_image_of_right(name, except_for):
    model = build(name)
    pairs = [(b, model.body(other_side(b.name))) for b in model.bodies]
    pairs = [(b, o) for b, o in pairs if b is not o and not any(e in b.name for e in except_for)]
    assert pairs
    for left, right in pairs:
        R, p = right.placement.rotation, right.placement.translation
        image = dl.Transform(MIRROR @ R @ MIRROR, MIRROR @ p)
        assert left.placement.is_close(image, 1e-15)
        assert left.inertia.mass == right.inertia.mass
        np.testing.assert_allclose(left.inertia.center, MIRROR @ right.inertia.center, atol=1e-15)
        image = MIRROR @ right.inertia.matrix @ MIRROR
        np.testing.assert_allclose(left.inertia.matrix, image, atol=1e-15)
        assert left.joint.type == right.joint.type


@pytest.mark.parametrize(
    ("name", "body", "place"),
    [
        ("mini_cheetah", "FR_knee", (0.19, -0.111, -0.209)),
        ("mini_cheetah", "HL_knee_rotor", (-0.19, 0.111, 0.0)),
        ("tello", "left_foot", (0.0, 0.126, -0.7163)),
        ("jvrc1", "left_ankle_pitch", (0.02, 0.096, -0.746)),
        ("jvrc1", "right_wrist_yaw", (0.0, -0.24, -0.022)),
        ("mit_humanoid", "left_elbow", (0.01346, 0.23358, -0.00143)),
    ],
)
def test_bodies_are_where_they_belong_at_the_neutral_configuration(name, body, place):
    model = build(name)
    found = dl.forward_kinematics(model, model.neutral(), body).translation[0]
    np.testing.assert_allclose(found, place, atol=1e-12)


# --- differentials --------------------------------------------------------------------------------


def test_differentials_of_tello_at_zero_motors():
    model = robots.tello()
    q = closed(model)
    for side in ("left", "right"):
        angles = [
            q[model.joint(f"{side}_{n}_joint").q][0] for n in ("gimbal", "thigh", "shin", "foot")
        ]
        np.testing.assert_allclose(angles, [0.0, -0.156853495, 0.0, 4.8809e-5], atol=1e-9)


def test_motors_of_tello_move_both_joints_of_a_differential():
    model = robots.tello()
    G = motion(model, closed(model))
    free = {j: k for k, j in enumerate(velocities(model, True))}
    motors = [free[model.joint(f"left_hip_rotor_{k}_joint").v.start] for k in (1, 2)]
    links = [model.joint(f"left_{n}_joint").v.start for n in ("gimbal", "thigh")]
    rates = 6.0 * G[np.ix_(links, motors)]  # of links by motor shafts
    expected = [[0.571428571, -0.571428571], [0.505707675, 0.505707675]]
    np.testing.assert_allclose(rates, expected, atol=1e-9)


def test_tello_can_be_assembled_with_its_motors_anywhere_in_their_range():
    model = robots.tello()
    rng = np.random.default_rng(0)
    q = np.broadcast_to(model.neutral(), (4, model.nq)).copy()
    for joint in model.joints:
        if joint.independent and "rotor" in joint.name:
            q[:, joint.q] = 6.0 * rng.uniform(-0.3, 0.3, (4, 1))
    q = closed(model, q)
    assert np.abs(dl.Constraints(model).position_error(q)).max() < 1e-12
    knee, m1, m2 = (
        q[:, model.joint(f"right_{n}_joint").q.start]
        for n in ("shin", "knee_ankle_rotor_1", "knee_ankle_rotor_2")
    )
    np.testing.assert_allclose(knee, (m1 + m2) / 12.0, atol=1e-12)
