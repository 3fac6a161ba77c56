"""A crank-rocker, a leg with a four-bar knee, an ankle with two rods."""

import numpy as np
import pytest

import delassus as dl
from delassus import robots

pytestmark = pytest.mark.uncompiled

LINKAGES = {
    "crank-rocker": (robots.crank_rocker, 3, 1),
    "leg": (robots.four_bar_leg, 4, 2),
    "ankle": (robots.parallel_ankle, 6, 2),
    "ankle without rods": (lambda: robots.parallel_ankle("distances"), 4, 2),
}
each_linkage = pytest.mark.parametrize("name", LINKAGES)


def at(model, **angles):
    """The neutral configuration but for some angles; loops closed, these angles kept."""
    q, fixed = model.neutral(), [f"{name}_joint" for name in angles]
    for name, angle in zip(fixed, angles.values(), strict=True):
        q[model.joint(name).q] = angle
    return dl.close_loops(model, q, dl.Constraints(model), fixed=fixed, tolerance=1e-12)


@each_linkage
def test_sizes(name):
    make, bodies, velocities = LINKAGES[name]
    model = make()
    assert model.n_bodies == bodies
    assert sum(j.nv for j in model.joints if j.independent) == velocities


@each_linkage
def test_loops_are_closed_and_regular_at_the_neutral_configuration(name):
    model = LINKAGES[name][0]()
    cs, q = dl.Constraints(model), model.neutral()
    np.testing.assert_allclose(cs.position_error(q), 0.0, atol=1e-15)
    dependent = np.r_[tuple(j.v for j in model.joints if not j.independent)]
    J = cs.jacobian(q)[:, dependent]
    assert np.linalg.matrix_rank(J, tol=1e-3) == cs.rank(q) == dependent.size


@each_linkage
def test_inertias_are_those_of_bodies_that_can_exist(name):
    assert all(body.inertia.is_physical() for body in LINKAGES[name][0]().bodies)


# --- crank-rocker ---------------------------------------------------------------------------------


def test_while_the_crank_turns_round_the_rocker_swings():
    model = robots.crank_rocker()
    cs, q, rocker = dl.Constraints(model), model.neutral(), []
    for angle in np.linspace(0.0, 2.0 * np.pi, 41):
        q[0] = angle
        q = dl.close_loops(model, q, cs, fixed="crank_joint")
        rocker.append(q[model.joint("rocker_joint").q][0])
    assert rocker[-1] == pytest.approx(rocker[0], abs=1e-9)
    # The rocker turns back where crank and coupler are in line: 0.45 and 0.25 m from the axis.
    ends = [np.arccos((0.4**2 + 0.25**2 - s**2) / (2 * 0.4 * 0.25)) for s in (0.25, 0.45)]
    assert max(rocker) - min(rocker) == pytest.approx(ends[1] - ends[0], abs=2e-3)


def test_lengths_of_bars_are_those_given():
    model = robots.crank_rocker(0.2, 0.9, 0.8, 1.0)
    tips = dl.forward_kinematics(model, model.neutral(), ["crank_end", "coupler_end", "rocker"])
    crank, coupler, pivot = tips.translation
    lengths = [np.linalg.norm(x) for x in (crank, coupler - crank, coupler - pivot, pivot)]
    assert lengths == pytest.approx([0.2, 0.9, 0.8, 1.0])


@pytest.mark.parametrize("crank", [0.0, -0.1, 0.25, 0.3])
def test_a_crank_that_cannot_turn_round_is_an_error(crank):
    with pytest.raises(dl.ModelError, match="the crank turns round only if"):
        robots.crank_rocker(crank)


# --- leg ------------------------------------------------------------------------------------------


def test_the_crank_of_the_leg_bends_its_knee():
    model = robots.four_bar_leg()
    knee = [at(model, thigh=0.0, crank=a)[model.joint("shank_joint").q][0] for a in (-0.5, 0, 0.5)]
    assert knee == sorted(knee)
    # At the neutral configuration the rod is nearly across both levers, of 0.04 and 0.05 m.
    assert (knee[2] - knee[0]) / 1.0 == pytest.approx(0.8, abs=0.03)


def test_the_hip_carries_the_whole_leg():
    model = robots.four_bar_leg()
    q = at(model, thigh=0.7, crank=0.0)
    foot = dl.forward_kinematics(model, q, "foot").translation[0]
    np.testing.assert_allclose(foot, [-0.7 * np.sin(0.7), 0.0, -0.7 * np.cos(0.7)], atol=1e-12)


# --- ankle ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rods", ["bodies", "distances"])
def test_cranks_of_a_foot_that_is_turned(rods):
    model = robots.parallel_ankle(rods)
    q = at(model, cross=0.2, foot=0.1)
    cranks = [q[model.joint(f"{side}_crank_joint").q][0] for side in ("left", "right")]
    np.testing.assert_allclose(cranks, [-0.1825104, 0.3936061], atol=1e-7)


def test_rods_as_bodies_keep_their_length():
    model = robots.parallel_ankle()
    q = at(model, cross=-0.3, foot=0.2)
    for side, length in (("left", 0.1570066), ("right", 0.2215066)):
        frames = [f"{side}_crank_end", f"{side}_socket"]
        ends = dl.forward_kinematics(model, q, frames).translation
        assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(length, abs=1e-7)


def test_an_unknown_kind_of_rods_is_an_error():
    with pytest.raises(dl.UnknownNameError, match="'bodies', 'distances'"):
        robots.parallel_ankle("springs")
