"""Rows of every kind of constraint, by differences and geometry: errors, Jacobians and drifts."""

from functools import cache

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import delassus as dl
from trees import random_placement, random_states, relative

uncompiled = pytest.mark.uncompiled

# Central differences over H err by H^2 in what is cut off, and by rounding, 1e-16 of positions and
# Jacobians of size 10, over H: 1e-9. What a wrong term changes is of the size of 1.
H, DIFFERENCES, ROUNDING = 1e-6, 1e-7, 1e-12

# --- kinds of constraints, and places for them ----------------------------------------------------

# Skew directions, no two of them at right angles; but ACROSS and ASIDE are, to AXIS.
AXIS, FIRST, SECOND = (np.array(x) / 7.0 for x in ([2, 3, 6], [6, -2, 3], [2, 6, -3]))
ACROSS, ASIDE = np.cross(AXIS, FIRST), np.cross(AXIS, np.cross(AXIS, FIRST))
# Two trees whose first bodies move, one of them with two branches: parents and joints.
BODIES = {
    "trunk": ("world", dl.Free()),
    "arm": ("trunk", dl.Revolute(FIRST)),
    "hand": ("arm", dl.Spherical()),
    "thumb": ("hand", dl.Prismatic(SECOND)),
    "leg": ("trunk", dl.Helical(SECOND, -0.3)),
    "foot": ("leg", dl.Universal(AXIS, FIRST)),
    "cart": ("world", dl.Planar(SECOND)),
    "lift": ("cart", dl.Prismatic(AXIS)),
    "drill": ("lift", dl.Cylindrical(FIRST)),
    "stage": ("drill", dl.Translation()),
}
# The body of `frame`, and that of `other`.
PLACES = {
    "to-the-world": ("hand", "world"),
    "of-the-world": ("world", "hand"),
    "between-branches": ("hand", "foot"),
    "to-a-carrier": ("hand", "trunk"),
    "to-what-is-carried": ("trunk", "hand"),
    "between-trees": ("hand", "stage"),
    "between-trees-swapped": ("stage", "hand"),
}
JOINTS = {
    "in-one-tree": ("arm_joint", "leg_joint"),
    "between-trees": ("arm_joint", "lift_joint"),
    "between-trees-swapped": ("lift_joint", "arm_joint"),
}


def turn(axis, angle):
    return dl.Transform(Rotation.from_rotvec(angle * axis).as_matrix())


STILL, TURNED, ANYHOW = dl.Transform(), turn(AXIS, 0.7), turn(FIRST, 2.0) @ turn(AXIS, 0.4)
slide = dl.Transform.of
# Joints, and where they allow `frame` to be in `other`: turned only, and slid as well.
CLOSURES = {
    "Revolute": (dl.Revolute(AXIS), TURNED),
    "Prismatic": (dl.Prismatic(AXIS), STILL, slide(0.6 * AXIS)),
    "Helical": (dl.Helical(AXIS, 0.4), STILL, slide(0.7 * 0.4 * AXIS) @ TURNED),
    "Cylindrical": (dl.Cylindrical(AXIS), TURNED, slide(0.6 * AXIS) @ TURNED),
    "Universal": (dl.Universal(FIRST, AXIS), ANYHOW),
    "Spherical": (dl.Spherical(), ANYHOW),
    "Planar": (dl.Planar(AXIS), TURNED, slide(0.6 * ACROSS - 0.8 * ASIDE) @ TURNED),
    "Translation": (dl.Translation(), slide(SECOND)),
}
SLIDING = [kind for kind, known in CLOSURES.items() if len(known) == 3]
BETWEEN_FRAMES = CLOSURES | {
    "Connect": (dl.Connect, ANYHOW),
    "Weld": (dl.Weld, STILL),
    "Distance": (lambda *frames: dl.Distance(*frames, 0.5), slide(0.5 * SECOND) @ ANYHOW),
}


def waves(x):
    """Two rows that are linear in no coordinate."""
    return [np.sin(x) @ np.cos(2.0 * x[::-1]) - 0.3, np.exp(0.1 * x[0] * x[-1]) - x @ x]


OF_JOINTS = {
    "Gear": lambda a, b: dl.Gear(a, b, -1.7, 0.3),
    "Coupling": lambda a, b: dl.Coupling({a: 0.8, b: -2.5, "thumb_joint": 1.2}, 0.4),
    "Implicit": lambda a, b: dl.Implicit(waves, [a, "drill_joint", b]),
}
FRAMED = [(kind, place) for kind in BETWEEN_FRAMES for place in PLACES]
JOINTED = [(kind, place) for kind in OF_JOINTS for place in JOINTS]


def cases(chosen, *kinds):
    chosen = [pytest.param(*c, id="-".join(c)) for c in chosen if not kinds or c[0] in kinds]
    return pytest.mark.parametrize(("kind", "place"), chosen)


def declare(kind, frame, other):
    """A constraint between frames."""
    what = BETWEEN_FRAMES[kind][0]
    return dl.Closure(what, frame, other) if kind in CLOSURES else what(frame, other)


def builder():
    rng, result = np.random.default_rng(0), dl.ModelBuilder("two trees")
    for name, (parent, joint) in BODIES.items():
        result.add_body(name, parent, joint, random_placement(rng), mass=1.0)
    return result


def pose(model, q, frame):
    placed = dl.forward_kinematics(model, q, frame)
    return dl.Transform(placed.rotation[0], placed.translation[0])


@cache
def closed():
    """The q at which constraints between frames are satisfied, and where bodies are then."""
    model = builder().build()
    q = model.random_configuration(1)
    return q, {body: pose(model, q, body) for body in BODIES} | {"world": STILL}


@cache
def constraint(kind, place, allowed=1):
    """One constraint of a kind at a place."""
    if kind in OF_JOINTS:
        return dl.Constraints(builder().build(), [OF_JOINTS[kind](*JOINTS[place])])
    (body, other), (_, at), model = PLACES[place], closed(), builder()
    frame = random_placement(np.random.default_rng(2))
    there = at[body] @ frame @ BETWEEN_FRAMES[kind][allowed].inverse()
    model.add_frame("frame", body, frame)
    model.add_frame("other", other, at[other].inverse() @ there)
    return dl.Constraints(model.build(), [declare(kind, "frame", "other")])


def times(J, v):
    return np.einsum("...ij,...j->...i", J, v)


def rate(cs, q, v, function):
    """The derivative of a function of q along v."""
    ahead, behind = (function(cs.model.integrate(q, s * H * v)) for s in (1.0, -1.0))
    return (ahead - behind) / (2.0 * H)


def error_jacobian(cs, q):
    """The derivative of the position error, a column for each velocity."""
    v = np.eye(cs.model.nv)
    return rate(cs, np.tile(q, (len(v), 1)), v, cs.position_error).T


# --- derivatives ----------------------------------------------------------------------------------


@uncompiled
@cases(FRAMED + JOINTED)
def test_rows_move_by_their_jacobian(kind, place):
    cs = constraint(kind, place)
    q, v, _ = random_states(cs.model, 3, 3)
    assert relative(cs.velocity(q, v), times(cs.jacobian(q), v)) < ROUNDING


@uncompiled
@cases(FRAMED + JOINTED)
def test_drift_is_how_the_motion_of_rows_changes_while_joints_keep_their_velocities(kind, place):
    cs = constraint(kind, place)
    q, v, _ = random_states(cs.model, 4, 3)
    expected = rate(cs, q, v, lambda x: times(cs.jacobian(x), v))
    scale = np.abs(cs.velocity(q, v)).max()  # as gears drift by nothing
    np.testing.assert_allclose(cs.drift(q, v), expected, rtol=0.0, atol=DIFFERENCES * scale)


@uncompiled
@cases(FRAMED + JOINTED, "Connect", "Distance", *OF_JOINTS)
def test_errors_change_as_rows_move_everywhere_if_no_turning_frame_measures_them(kind, place):
    cs = constraint(kind, place)
    q, v, _ = random_states(cs.model, 5, 3)
    assert relative(rate(cs, q, v, cs.position_error), cs.velocity(q, v)) < DIFFERENCES


@cases(FRAMED)
def test_errors_change_as_rows_move_where_loops_are_closed(kind, place):
    cs, (q, _) = constraint(kind, place), closed()
    assert np.abs(cs.position_error(q)).max() < ROUNDING
    assert relative(error_jacobian(cs, q), cs.jacobian(q)) < DIFFERENCES


@cases(FRAMED, *SLIDING)
def test_errors_change_only_if_rows_move_where_a_closed_joint_has_slid(kind, place):
    """There a tilt moves the offset too: the error's derivative is an invertible matrix times J."""
    cs, (q, _) = constraint(kind, place, allowed=2), closed()
    J, E = cs.jacobian(q), error_jacobian(cs, q)
    assert np.abs(cs.position_error(q)).max() < ROUNDING
    assert np.abs(E @ null_space(J)).max() < DIFFERENCES
    assert np.linalg.matrix_rank(E, tol=1e-4) == np.linalg.matrix_rank(J, tol=1e-4)


# --- geometry -------------------------------------------------------------------------------------


@uncompiled
@cases(FRAMED, "Connect", "Distance", "Weld", "Spherical", "Translation")
def test_errors_are_what_placements_say(kind, place):
    cs = constraint(kind, place)
    q = cs.model.random_configuration(6)
    frame, other = pose(cs.model, q, "frame"), pose(cs.model, q, "other")
    apart = frame.translation - other.translation
    offset = frame.rotation.T @ apart
    turned = Rotation.from_matrix(other.rotation.T @ frame.rotation).as_rotvec()
    expected = {"Connect": apart, "Distance": [np.linalg.norm(apart) - 0.5]}
    expected |= {"Weld": [*offset, *turned], "Spherical": offset, "Translation": turned}
    np.testing.assert_allclose(cs.position_error(q), expected[kind], atol=ROUNDING)


@uncompiled
@cases(JOINTED)
def test_errors_are_what_coordinates_say(kind, place):
    cs = constraint(kind, place)
    q = cs.model.random_configuration(7)
    a, b, thumb, drill = (
        q[cs.model.joint(name).q] for name in (*JOINTS[place], "thumb_joint", "drill_joint")
    )
    expected = {"Gear": a + 1.7 * b - 0.3, "Coupling": 0.8 * a - 2.5 * b + 1.2 * thumb - 0.4}
    expected["Implicit"] = waves(np.concatenate([a, drill, b]))
    np.testing.assert_allclose(cs.position_error(q), expected[kind], atol=ROUNDING)


@uncompiled
@cases([c for c in FRAMED if "tree" in c[1]], "Weld", *CLOSURES.keys() - {"Universal"})
def test_rows_are_a_mixture_of_the_motion_of_the_frame_less_that_of_the_other_there(kind, place):
    """The same mixture at all states, closed or not; in a weld nothing is mixed."""

    def motion(q):
        J, J_other = (dl.frame_jacobian(cs.model, q, name) for name in ("frame", "other"))
        seen = pose(cs.model, q, "other").inverse() @ pose(cs.model, q, "frame")
        there = J_other[:3] + np.cross(J_other[3:].T, seen.translation).T
        return J - np.concatenate([seen.rotation.T @ there, seen.rotation.T @ J_other[3:]])

    cs = constraint(kind, place)
    q, q_other = cs.model.random_configuration(8, 2)
    mixture = cs.jacobian(q) @ np.linalg.pinv(motion(q))
    assert relative(cs.jacobian(q_other), mixture @ motion(q_other)) < ROUNDING
    assert kind != "Weld" or np.abs(mixture - np.eye(6)).max() < ROUNDING


@uncompiled
@pytest.mark.parametrize("kind", CLOSURES)
def test_a_closure_allows_what_its_joint_allows_and_nothing_else(kind):
    model, at = dl.ModelBuilder(), random_placement(np.random.default_rng(10))
    joint = CLOSURES[kind][0]
    model.add_body("carrier", "world", dl.Free(), mass=1.0)
    model.add_body("carried", "carrier", joint, at, mass=1.0)
    model.add_body("loose", "carrier", dl.Free(), mass=1.0)
    model.add_frame("base", "carrier", at)
    model = model.build()
    q, v, _ = random_states(model, 10, 3)
    idle = dl.Constraints(model, [dl.Closure(joint, "carried", "base")])
    for rows in (idle.position_error(q), idle.jacobian(q), idle.drift(q, v)):
        assert np.abs(rows).max() < ROUNDING
    busy = dl.Constraints(model, [dl.Closure(joint, "loose", "base")])
    assert busy.size == 6 - joint.nv
    assert np.all(busy.rank(q) == busy.size)


Z, TILT = [0, 0, 1], 2.0 * np.tan(0.15)
X, Y = np.array([[0.1, 0.2], [0.2, -0.1]]) @ (np.cos(0.7), np.sin(0.7))
# Errors at (0.1, 0.2, 0.3) and turned by 0.7 about z, and at the origin and tilted by 0.3 about x.
# Offsets are in the axes of the frame, which has turned.
BY_HAND = {
    dl.Revolute(Z): ([X, Y, 0.3, 0.0, 0.0], [0.0, 0.0, 0.0, TILT, 0.0]),
    dl.Prismatic(Z): ([X, Y, 0.0, 0.0, 0.7], [0.0, 0.0, 0.3, 0.0, 0.0]),
    dl.Helical(Z, 0.5): ([X, Y, 0.3 - 0.5 * 0.7, 0.0, 0.0], [0.0, 0.0, 0.0, TILT, 0.0]),
    dl.Cylindrical(Z): ([X, Y, 0.0, 0.0], [0.0, 0.0, TILT, 0.0]),
    dl.Universal(): ([X, Y, 0.3, -np.sin(0.7)], [0.0, 0.0, 0.0, 0.0]),
    dl.Planar(Z): ([0.3, 0.0, 0.0], [0.0, TILT, 0.0]),
}


@uncompiled
@pytest.mark.parametrize("joint", BY_HAND, ids=lambda joint: type(joint).__name__)
def test_errors_of_closures_to_the_world_by_hand(joint):
    model = dl.ModelBuilder()
    model.add_body("body", "world", dl.Free(), mass=1.0)
    cs = dl.Constraints(model.build(), [dl.Closure(joint, "body")])
    turned = [0.1, 0.2, 0.3, 0.0, 0.0, np.sin(0.35), np.cos(0.35)]
    tilted = [0.0, 0.0, 0.0, np.sin(0.15), 0.0, 0.0, np.cos(0.15)]
    np.testing.assert_allclose(cs.position_error([turned, tilted]), BY_HAND[joint], atol=ROUNDING)


# --- many rows, many states -----------------------------------------------------------------------


def all_together():
    """Constraints of all kinds on one model, at places in turn; states; and the rows at them."""
    model, rng = builder(), np.random.default_rng(11)
    for body in (*BODIES, "world"):
        model.add_frame(f"on-{body}", body, random_placement(rng))
    pairs = [[f"on-{body}" for body in pair] for pair in PLACES.values()]
    declared = [declare(k, *pairs[i % len(pairs)]) for i, k in enumerate(BETWEEN_FRAMES)]
    for make, joints in zip(OF_JOINTS.values(), JOINTS.values(), strict=True):
        declared.insert(2 * len(declared) // 3, make(*joints))
    cs = dl.Constraints(model.build(), declared)
    q, v, _ = random_states(cs.model, 12, 11)  # no multiple of what processors take at once
    return cs, q, v, rows_of(cs, q, v)


def rows_of(cs, q, v):
    return cs.position_error(q), cs.velocity(q, v), cs.drift(q, v), cs.jacobian(q)


def test_many_constraints_at_many_states_are_what_each_is_at_each():
    cs, q, v, together = all_together()
    single = [dl.Constraints(cs.model, [c]) for c in cs.declared]
    for k in range(len(q)):
        alone = zip(*(rows_of(c, q[k], v[k]) for c in single), strict=True)
        for found, parts in zip(together, alone, strict=True):
            assert relative(found[k], np.concatenate(parts)) < ROUNDING


def test_a_state_that_is_no_number_spoils_all_its_rows_and_no_other_state():
    cs, q, v, expected = all_together()
    q[5] = v[5] = np.nan
    others = np.arange(len(q)) != 5
    error, velocity, drift, jacobian = found = rows_of(cs, q, v)
    for x, y in zip(found, expected, strict=True):
        assert np.isfinite(y).all()
        assert np.array_equal(x[others], y[others])
    assert np.isnan([error[5], velocity[5]]).all()
    for c, rows in zip(cs.declared, cs.slices, strict=True):
        if not isinstance(c, dl.Gear | dl.Coupling):  # whose J is made of constants
            assert np.isnan(drift[5, rows]).all()
            assert np.isnan(jacobian[5, rows]).any(axis=1).all()


@pytest.mark.uncompiled
@pytest.mark.parametrize("pitch", [0.5, -0.02])
def test_a_screw_that_fits_has_no_error_after_any_number_of_turns(pitch):
    builder = dl.ModelBuilder("screw")
    builder.add_body("nut", "world", dl.Helical([0, 0, 1], pitch), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    cs = dl.Constraints(model, [dl.Closure(dl.Helical([0, 0, 1], pitch), "nut", "world")])
    for angle in (0.0, 3.0, 3.2, -4.0, 6.3, 20.0, -100.0):
        assert np.abs(cs.position_error([angle])).max() < 1e-12
        assert np.array_equal(dl.close_loops(model, [angle], cs), [angle])


@pytest.mark.uncompiled
def test_the_error_of_a_screw_is_counted_from_the_nearest_turn():
    pitch, builder = 0.3, dl.ModelBuilder("screw")
    builder.add_body("slide", "world", dl.Prismatic([0, 0, 1]), mass=1.0)
    builder.add_body("nut", "slide", dl.Revolute([0, 0, 1]), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    cs = dl.Constraints(model, [dl.Closure(dl.Helical([0, 0, 1], pitch), "nut", "world")])
    for turns in (-3, 0, 5):
        angle = 2.0 * np.pi * turns + 0.4
        for missed in (-0.7, 0.1, 0.9):  # within half a turn's advance, 0.94
            error = cs.position_error([pitch * angle + missed, angle])
            assert np.abs(error).max() == pytest.approx(abs(missed), abs=1e-12)
            closed = dl.close_loops(model, [pitch * angle + missed, angle], cs, fixed=["nut_joint"])
            assert closed[0] == pytest.approx(pitch * angle, abs=1e-9)
