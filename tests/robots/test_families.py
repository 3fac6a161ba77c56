"""Mechanisms of any depth and number of branches."""

import numpy as np
import pytest

import delassus as dl
from delassus import robots

pytestmark = pytest.mark.uncompiled


def independent(model):
    return sum(j.nv for j in model.joints if j.independent)


def dependent(model):
    return np.r_[tuple(j.v for j in model.joints if not j.independent)]


def is_regular(model, q):
    """Whether the dependent velocities follow from the independent ones."""
    J = dl.Constraints(model).jacobian(q)[:, dependent(model)]
    return np.linalg.matrix_rank(J, tol=1e-9) == J.shape[1]


@pytest.mark.parametrize(("branches", "depth"), [(1, 1), (1, 10), (2, 3), (4, 5), (6, 7)])
@pytest.mark.parametrize(
    ("family", "bodies", "velocities", "constraints"),
    [(robots.rotor_pairs, 2, 1, 1), (robots.belts, 4, 2, 2), (robots.four_bars, 3, 1, 1)],
)
def test_sizes_of_branches(family, bodies, velocities, constraints, branches, depth):
    model, mechanisms = family(branches, depth), branches * depth
    assert model.n_bodies == 1 + bodies * mechanisms
    assert independent(model) == 6 + velocities * mechanisms
    assert len(model.constraints) == constraints * mechanisms


def test_the_largest_has_sixty_loops():
    model = robots.four_bars(6, 10)
    assert (model.n_bodies, len(model.constraints)) == (181, 60)


@pytest.mark.parametrize("family", [robots.rotor_pairs, robots.belts, robots.four_bars])
def test_branches_are_chains_on_the_base(family):
    model = family(3, 4)
    names = [b.name for b in model.bodies]
    parents = [model.bodies[b.parent].name for b in model.bodies[1:]]
    for name, parent in zip(names[1:], parents, strict=True):
        assert parent == "base" or parent.split("_")[0] == name.split("_")[0]
    last = max(range(model.n_bodies), key=lambda i: len(ancestors(model, i)))
    links = {robots.rotor_pairs: 4, robots.belts: 8, robots.four_bars: 5}[family]
    assert len(ancestors(model, last)) == links


def ancestors(model, i):
    """Bodies that carry body i."""
    parent = model.bodies[i].parent
    return [] if parent < 0 else [parent, *ancestors(model, parent)]


def test_rotors_of_belts_turn_with_the_sum_of_angles():
    model = robots.belts(1, 2)
    error = dl.Constraints(model).position_error
    q = model.neutral()
    for name, angle in {
        "link2_1": 0.1, "link2_2": 0.2, "link2_1_rotor": 0.6, "link2_2_rotor": 1.8
    }.items():  # fmt: skip
        q[model.joint(f"branch1_{name}_joint").q] = angle
    np.testing.assert_allclose(error(q), 0.0, atol=1e-15)
    carrier = model.body("branch1_link2_2_rotor").parent
    assert model.bodies[carrier].name == "branch1_link1_2"


# --- parallelograms -------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.3, 1.0, -2.0])
def test_assembled_parallelograms_are_closed_and_regular(angle):
    model = robots.four_bars(2, 3)
    cs, q = dl.Constraints(model), robots.assembled(model, angle)
    np.testing.assert_allclose(cs.position_error(q), 0.0, atol=1e-14)
    assert cs.rank(q) == 2 * 6
    assert is_regular(model, q)


def test_parallelograms_on_a_line_are_singular():
    model = robots.four_bars(1, 2)
    assert dl.Constraints(model).rank(model.neutral()) == 2
    assert not is_regular(model, model.neutral())


def test_each_crank_can_have_an_angle_of_its_own():
    model = robots.four_bars(2, 2)
    cranks = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))
    q = robots.assembled(model, cranks)
    assert np.abs(dl.Constraints(model).position_error(q)).max() < 1e-14
    free = [j.q.start for j in model.joints if j.independent][1:]
    assert np.array_equal(q[:, free], cranks)
    np.testing.assert_array_equal(robots.assembled(model, cranks[1]), q[1])


def test_closing_loops_with_cranks_fixed_finds_the_closed_form():
    model = robots.four_bars(1, 2)
    q = robots.assembled(model, [0.8, 1.1])
    start = q + 0.05 * np.array([j.independent is False for j in model.joints for _ in range(j.nq)])
    cranks = [j.name for j in model.joints if j.independent]
    found = dl.close_loops(model, start, dl.Constraints(model), fixed=cranks)
    np.testing.assert_allclose(found, q, atol=1e-9)


def test_only_parallelograms_are_assembled():
    with pytest.raises(dl.ModelError, match="no parallelograms"):
        robots.assembled(robots.belts(1, 1))
    with pytest.raises(dl.ShapeError, match="one angle or 2"):
        robots.assembled(robots.four_bars(1, 2), [1.0, 2.0, 3.0])


# --- parallel chains ------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "loop"), [(5, 1), (5, 5), (10, 4), (40, 20)])
@pytest.mark.parametrize("kind", ["coupling", "rod"])
def test_parallel_chains_are_closed_at_the_neutral_configuration(depth, loop, kind):
    model = robots.parallel_chains(depth, loop, kind)
    assert model.n_bodies == 2 * depth + (kind == "rod")
    assert independent(model) == 2 * depth - 1
    cs, q = dl.Constraints(model), model.neutral()
    np.testing.assert_allclose(cs.position_error(q), 0.0, atol=1e-15)
    assert is_regular(model, q)


@pytest.mark.parametrize("loop", [1, 3])
def test_coupled_chains_turn_by_the_same_sum_up_to_the_loop(loop):
    model = robots.parallel_chains(4, loop)
    (row,) = dl.Constraints(model).jacobian(model.neutral())
    signs = [-1.0] * loop + [0.0] * (4 - loop), [1.0] * loop + [0.0] * (4 - loop)
    assert row.tolist() == [*signs[0], *signs[1]]


def test_a_rod_keeps_the_ends_of_two_links_apart():
    model = robots.parallel_chains(3, 2, "rod")
    q = model.neutral() + np.random.default_rng(0).uniform(-0.4, 0.4, model.nq)
    q = dl.close_loops(model, q, dl.Constraints(model))
    ends = dl.forward_kinematics(model, q, ["rod", "second_link2_end"]).translation
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(1.0)


@pytest.mark.parametrize(("depth", "loop"), [(3, 4), (3, 0), (0, 1)])
def test_a_loop_beyond_the_chains_is_an_error(depth, loop):
    with pytest.raises(dl.SettingError):
        robots.parallel_chains(depth, loop)
