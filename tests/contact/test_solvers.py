"""Solvers on problems with known answers, on mixed rows, and against each other."""

import numpy as np
import pytest

import delassus as dl
from contact.problems import box_on_plane, mixed, stack
from delassus import contact

NCP = ["auto", "pgs-ncp", "admm-ncp-fp", "admm-ncp-la", "admm-ncp-sa", "prox"]
EXACT = [(name, {}) for name in NCP] + [("nbgs", {"exact": True}), ("pgs-ccp", {"de_saxce": True})]


@pytest.mark.parametrize("solver", contact.SOLVERS)
def test_a_box_at_rest_is_carried(solver):
    p = box_on_plane()
    r = contact.solve(p, solver, 1e-8, law="ncp", max_iterations=5000)
    if solver == "newton":
        r = contact.solve(p, solver, 1e-8, warm_start=0.9 * contact.solve(p).reactions)
    assert r.converged or solver.startswith("raisim")
    assert np.isclose(r.reactions[2::3].sum(), 0.01, atol=1e-6)
    assert np.abs(r.velocity).max() < 1e-5


@pytest.mark.parametrize(("solver", "parameters"), EXACT)
def test_a_pushed_box_slides_and_friction_opposes_it(solver, parameters):
    p = box_on_plane((0.3, 0.4, -0.1), mu=0.5)
    r = contact.solve(p, solver, 1e-9, max_iterations=20000, **parameters)
    assert r.converged
    force = r.reactions.reshape(-1, 3).sum(axis=0)
    # Friction of mu times the normal impulse, against the velocity.
    assert np.allclose(force, [-0.5 * 0.1 * 0.6, -0.5 * 0.1 * 0.8, 0.1], atol=1e-7)


def test_the_cone_complementarity_problem_lifts_what_slides():
    p = box_on_plane((0.5, 0.0, -0.01), mu=0.4)
    for solver in ("admm-ccp", "pgs-ccp"):
        r = contact.solve(p, solver, 1e-10, max_iterations=50000)
        assert r.converged
        assert r.velocity[2::3].mean() == pytest.approx(0.4 * r.velocity[0::3].mean(), rel=1e-5)
    assert abs(contact.solve(p, tolerance=1e-10).velocity[2::3].mean()) < 1e-9


@pytest.mark.parametrize("solver", ["auto", "admm-ncp-sa", "admm-ccp", "pgs-ccp"])
def test_solvers_of_both_laws_follow_the_one_that_is_asked_for(solver):
    p = box_on_plane((0.5, 0.0, -0.01), mu=0.4)
    for law, lift in (("ncp", 0.0), ("ccp", 0.4)):
        r = contact.solve(p, solver, 1e-9, 50000, law=law)
        assert r.converged
        assert r.velocity[2::3].mean() == pytest.approx(lift * r.velocity[0::3].mean(), abs=1e-7)


@pytest.mark.parametrize("solver", ["pgs-ncp", "nbgs", "raisim", "raisim-ds", "prox"])
def test_a_law_that_a_solver_does_not_solve_is_an_error(solver):
    with pytest.raises(dl.errors.SettingError, match=f"{solver} does not .* auto, newton, pgs-ccp"):
        contact.solve(box_on_plane(), solver, law="ccp")
    with pytest.raises(dl.errors.SettingError, match="de_saxce=False only"):
        contact.solve(box_on_plane(), "pgs-ccp", law="ccp", de_saxce=True)


@pytest.mark.parametrize("seed", range(12))
def test_mixed_rows_are_solved_and_solvers_agree_on_velocities(seed):
    p = mixed(np.random.default_rng(seed))
    first = contact.solve(p, tolerance=1e-9)
    assert first.converged
    assert contact.residuals(p, first.reactions).relative_natural_map <= 1e-9
    rounding = 1e-14 * np.abs(p.delassus).max() * np.abs(first.reactions).max()
    assert np.allclose(first.velocity, p.velocity(first.reactions), rtol=0, atol=1e-13 + rounding)
    assert np.abs(first.velocity[: p.n_joint_rows]).max() < 1e-9


@pytest.mark.parametrize("seed", [97, 1044, 1049, 1083])
def test_redundant_joints_whose_elimination_loses_digits(seed):
    # D_c is so inexact here that its own solution leaves a natural map of 1e-8 to 4e-8.
    p = mixed(np.random.default_rng(seed), ratio=1.0, mu=0.5)
    r = contact.solve(p, tolerance=1e-8)
    assert r.converged
    assert contact.residuals(p, r.reactions).relative_natural_map <= 1e-8


@pytest.mark.parametrize(("solver", "parameters"), [*EXACT, ("auto", {"joints": "split"})])
def test_solvers_agree_where_the_velocity_is_unique(solver, parameters):
    # Without friction the problem is convex, and its velocity unique.
    p = mixed(np.random.default_rng(3), mu=0.0)
    r = contact.solve(p, solver, 1e-9, max_iterations=50000, **parameters)
    assert r.converged
    assert np.allclose(r.velocity, contact.solve(p, tolerance=1e-11).velocity, atol=1e-6)


@pytest.mark.parametrize("solver", ["admm-ncp-sa", "pgs-ncp", "auto"])
def test_joints_that_are_split_and_eliminated_give_the_same_motion(solver):
    p = mixed(np.random.default_rng(5), mu=0.0)
    one = contact.solve(p, solver, 1e-9, max_iterations=50000)
    two = contact.solve(p, solver, 1e-9, max_iterations=50000, joints="split")
    assert one.converged
    assert two.converged
    assert np.allclose(one.velocity, two.velocity, atol=1e-6)


def test_joints_that_contradict_each_other_do_not_converge():
    p = contact.Problem(np.ones((2, 2)), [1.0, -1.0], n_joint_rows=2)
    r = contact.solve(p)
    assert not r.converged
    assert np.isfinite(r.reactions).all()


@pytest.mark.parametrize("top", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("push", [0.0, 0.1])
def test_stacks_with_a_heavy_top(top, push):
    p = stack([1.0] * 5 + [top], push)
    r = contact.solve(p, tolerance=1e-8)
    assert r.converged
    if not push:
        carried = r.reactions[2:12:3].sum()
        assert carried == pytest.approx(9.81e-2 * (5.0 + top), rel=1e-4)


@pytest.mark.parametrize("mu", [0.0, 0.1, 1.0, 10.0])
def test_structured_problems_reach_1e_8(mu):
    rng = np.random.default_rng(11)
    solved = []
    for k in range(15):
        p = mixed(rng, n_bodies=8, n_contacts=12, ratio=(1.0, 1e3, 1e6)[k % 3], mu=mu)
        r = contact.solve(p, tolerance=1e-8)
        assert r.converged == (contact.residuals(p, r.reactions).relative_natural_map <= 1e-8)
        assert np.isfinite(r.reactions).all()
        solved.append(r.converged)
    assert np.mean(solved) >= 0.9


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.5, 3.0, 10.0])
@pytest.mark.parametrize("push", [0.0, 0.05, 1.0])
def test_ten_boxes_carry_a_top_of_a_million_times_their_mass(mu, push):
    top = 1e6
    r = contact.solve(stack([1.0] * 9 + [top], push, mu=mu), tolerance=1e-8)
    assert r.converged
    x, y, n = r.reactions[:12].reshape(-1, 3).sum(axis=0)  # of the ground
    assert np.hypot(x, y) <= mu * n + 1e-6
    if push:  # friction is against the push; much of it can tip the boxes over
        assert x <= -1e-3 * mu
    else:
        assert n == pytest.approx(9.81e-2 * (9.0 + top), rel=1e-6)


HARD = [
    {"n_bodies": 4, "n_joints": 1, "n_contacts": 20, "ratio": 1e6},
    {"n_bodies": 15, "n_joints": 5, "n_contacts": 30, "ratio": 1e6},
    {"n_bodies": 15, "n_joints": 5, "n_contacts": 30, "ratio": 1e3},
]


@pytest.mark.parametrize("law", ["ncp", "ccp"])
def test_masses_a_million_times_apart_and_much_friction(law):
    rng = np.random.default_rng(12)
    problems = [
        mixed(rng, mu=mu, **kind) for kind in HARD for mu in (0.0, 0.1, 0.5, 1.0, 3.0, 10.0) * 3
    ]
    found = contact.solve(problems, tolerance=1e-8, law=law)
    for p, r in zip(problems, found, strict=True):
        relative = contact.residuals(p, r.reactions, law).relative_natural_map
        assert r.converged == (relative <= 1e-8)
        assert np.isfinite(r.reactions).all()
    assert np.mean([r.converged for r in found]) >= 0.95


def test_contacts_with_and_without_friction_in_one_ill_conditioned_problem():
    rng = np.random.default_rng(0)
    p = mixed(rng, n_bodies=4, n_joints=1, n_contacts=20, ratio=1e6, mu=1.0)
    friction = np.tile([0.0, 0.3, 3.0, 10.0], 5)
    bounds = np.array([0.0, 0.2])
    p = contact.Problem(
        p.delassus, p.free_velocity, p.n_joint_rows, p.n_limit_rows, bounds, friction
    )
    r = contact.solve(p, tolerance=1e-8)
    assert r.converged
    assert not contact.solve(p, tolerance=1e-8, max_iterations=1000, interior=False).converged
    assert r.reactions[-60::12] == pytest.approx(0.0, abs=1e-12)
    assert r.reactions[p.n_joint_rows + p.n_limit_rows] == 0.0


@pytest.mark.uncompiled
def test_the_interior_point_method_ends_what_admm_does_not():
    p = stack([1.0, 1e6], 0.3, mu=10.0)
    without = contact.solve(p, tolerance=1e-8, max_iterations=300, interior=False)
    r = contact.solve(p, tolerance=1e-8, max_iterations=300)
    assert not without.converged
    assert r.converged


@pytest.mark.parametrize("law", ["ncp", "ccp"])
def test_without_a_solution_reactions_stay_finite(law):
    # Nothing can keep a contact between fixed bodies from closing.
    D = np.zeros((6, 6))
    D[:3, :3] = np.eye(3)
    p = contact.Problem(D, [0.5, 0.0, -1.0, 0.0, 0.0, -1.0], friction=0.5)
    r = contact.solve(p, law=law)
    assert not r.converged
    assert np.isfinite(r.reactions).all()
    assert np.isfinite(r.residuals).all()


def test_more_iterations_give_nothing_worse():
    p = mixed(np.random.default_rng(9), n_bodies=12, n_contacts=25, ratio=1e6, mu=3.0)
    maps = [
        contact.solve(p, tolerance=1e-13, max_iterations=most).residuals.relative_natural_map
        for most in (10, 100, 1000)
    ]
    assert maps[0] >= maps[1] >= maps[2]


def test_the_record_of_auto_fits_the_iterations_that_are_allowed():
    p = stack([1.0] * 3 + [1e6], 0.3, mu=10.0)
    r = contact.solve(p, tolerance=1e-12, max_iterations=30, record=True)
    assert np.isfinite(r.reactions).all()


def test_a_problem_of_600_rows():
    rng = np.random.default_rng(7)
    p = mixed(rng, n_bodies=60, n_joints=10, n_limits=20, n_bounded=20, n_contacts=177)
    assert 590 <= p.n_rows <= 650
    assert contact.solve(p, tolerance=1e-8).converged


@pytest.mark.parametrize("solver", ["admm-ncp-la", "admm-ncp-sa"])
@pytest.mark.parametrize("top", [100.0, 1e3])
def test_residuals_relative_to_large_reactions_save_iterations_under_a_heavy_top(solver, top):
    p = stack([1.0, 1.0, top], push=0.1)
    as_they_are = contact.solve(p, solver, max_iterations=20_000, large=1e300)
    relative = contact.solve(p, solver, max_iterations=20_000)
    assert as_they_are.converged
    assert relative.converged
    assert relative.iterations < 0.7 * as_they_are.iterations


def test_a_warm_start_saves_iterations():
    p = stack([1.0] * 4, push=0.05)
    cold = contact.solve(p, "admm-ncp-sa", 1e-8, 5000)
    warm = contact.solve(p, "admm-ncp-sa", 1e-8, warm_start=cold.reactions)
    assert warm.iterations < 0.2 * cold.iterations
    assert contact.solve(p, "newton", 1e-6, warm_start=cold.reactions).iterations <= 1


@pytest.mark.parametrize("solver", contact.SOLVERS)
def test_batches_lists_and_single_problems_agree(solver):
    rng = np.random.default_rng(2)
    problems = [mixed(rng, n_joints=2, n_contacts=3) for _ in range(5)]
    shape = problems[0].counts
    same = [p for p in problems if p.counts == shape] * 3
    batch = contact.Problem(
        np.stack([p.delassus for p in same]), np.stack([p.free_velocity for p in same]),
        same[0].n_joint_rows, same[0].n_limit_rows, same[0].bounds, 0.7,
    )  # fmt: skip
    many = contact.solve(batch, solver)
    for threads in (1, 2):
        listed = contact.solve(problems, solver, threads=threads)
        for p, r in zip(problems, listed, strict=True):
            one = contact.solve(p, solver)
            assert np.allclose(one.reactions, r.reactions, atol=1e-6)
            assert one.converged == r.converged
    first = contact.Problem(
        same[0].delassus, same[0].free_velocity, same[0].n_joint_rows, same[0].n_limit_rows,
        same[0].bounds, 0.7,
    )  # fmt: skip
    assert np.allclose(contact.solve(first, solver).reactions, many.reactions[0], atol=1e-6)
    assert many.converged.shape == (len(same),)


def test_history_ends_at_the_natural_map():
    p = box_on_plane((0.3, 0.1, -0.1))
    for solver in ("admm-ncp-sa", "pgs-ncp", "prox"):
        r = contact.solve(p, solver, 1e-7, 5000, record=True)
        assert len(r.history) == r.iterations
        assert r.history[-1] == pytest.approx(r.residuals.natural_map, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("solver", ["auto", "newton"])
@pytest.mark.parametrize("most", [1, 7, 60, 5000])
def test_history_of_newton_and_admm_is_that_of_every_iteration(solver, most):
    p = stack([1.0] * 5 + [1e3], 0.1)  # Newton alone does not solve it
    r = contact.solve(p, solver, 1e-8, most, record=True)
    assert r.iterations <= most
    assert len(r.history) == r.iterations
    assert ((r.history > 1e-12) & (r.history < 10.0)).all()
    # Reactions are the best ones of a run, which are not always the last.
    assert np.isclose(r.history, r.residuals.natural_map, rtol=1e-3, atol=1e-12).any()


def test_polish_makes_rough_solutions_exact():
    p = mixed(np.random.default_rng(8))
    rough = contact.solve(p, "pgs-ncp", 1e-12, 30)
    fine = contact.solve(p, "pgs-ncp", 1e-12, 30, polish=True)
    assert fine.residuals.natural_map < 1e-3 * rough.residuals.natural_map


@pytest.mark.parametrize("ratio", [30.0, 100.0, 1000.0])
def test_polish_solves_stacks_that_gauss_seidel_cannot(ratio):
    p = stack([1.0, 1.0, ratio], 0.1)
    assert not contact.solve(p, "nbgs", 1e-8, exact=True).converged
    fine = contact.solve(p, "nbgs", 1e-8, exact=True, polish=True)
    assert fine.converged
    assert contact.residuals(p, fine.reactions).natural_map < 1.001e-8


def test_compliance_and_target_are_those_of_the_regularised_problem():
    rng = np.random.default_rng(4)
    p = mixed(rng)
    target = 0.1 * rng.standard_normal(p.n_rows)
    soft = contact.Problem(
        p.delassus, p.free_velocity, p.n_joint_rows, p.n_limit_rows, p.bounds, p.friction, 0.2,
        target,
    )  # fmt: skip
    hard = contact.Problem(
        p.delassus + 0.2 * np.eye(p.n_rows), p.free_velocity + target, p.n_joint_rows,
        p.n_limit_rows, p.bounds, p.friction,
    )  # fmt: skip
    one, two = contact.solve(soft, tolerance=1e-10), contact.solve(hard, tolerance=1e-10)
    assert np.allclose(one.reactions, two.reactions, atol=1e-8)
    assert np.allclose(one.velocity, p.delassus @ one.reactions + p.free_velocity, atol=1e-10)


def test_zero_rows_and_zero_matrices_do_not_break_solvers():
    p = contact.Problem(np.zeros((6, 6)), np.array([0, 0, 1.0, 0, 0, 0.5]), friction=0.5)
    for solver in contact.SOLVERS:
        r = contact.solve(p, solver)
        assert r.converged
        assert np.isfinite(r.reactions).all()


@pytest.mark.uncompiled
@pytest.mark.parametrize("solver", contact.SOLVERS)
def test_a_problem_of_joints_alone_is_a_linear_system(solver):
    D = np.array([[2.0, 1.0], [1.0, 3.0]])
    r = contact.solve(contact.Problem(D, [1.0, -1.0], n_joint_rows=2), solver, 1e-12)
    assert r.converged
    assert np.allclose(r.reactions, np.linalg.solve(D, [-1.0, 1.0]), atol=1e-12)


def test_the_articulated_operator_gives_the_reactions_of_its_matrix():
    model = dl.robots.load("hyq")
    rng = np.random.default_rng(0)
    q = model.random_configuration(rng)
    feet = [n for n in model.frame_names if n.endswith("_foot")][:4]
    cs = dl.Constraints(model, [dl.Connect(name) for name in feet])
    operator = dl.DelassusOperator(model, q, cs, 1e-3)
    v = rng.standard_normal(operator.size) * 0.1
    by_operator = contact.Problem(operator, v, friction=0.7)
    by_matrix = contact.Problem(operator.matrix(), v, friction=0.7)
    exact = contact.solve(by_matrix, tolerance=1e-11)
    for solver in ("admm-ncp-sa", "admm-ncp-fp", "admm-ncp-la", "auto"):
        r = contact.solve(by_operator, solver, 1e-10, 20000)
        assert r.converged
        assert np.allclose(r.reactions, exact.reactions, atol=1e-7 * np.abs(exact.reactions).max())
