"""Results do not depend on units: masses from 1e-9 to 1e6 kg, steps from 1e-5 to 1e-2 s, any size.

A problem in other units is the same problem: its matrix, velocities and bounds are multiplied by
known factors, and its solution by others. With factors that are powers of two nothing is rounded
on the way there, so that a solver takes the same way: as many iterations, and the same reactions.
"""

import numpy as np
import pytest

import delassus as dl
from contact.problems import System, at_point, box_on_plane, corners, mixed, stack
from delassus import contact
from delassus.robots.figures.primitives import _add_box

from .cases import generated

LAW = {name: "ccp" if name.endswith("ccp") else "ncp" for name in contact.SOLVERS}
GRAVITY = 9.81


def drawn(rng, kinds=4):
    """A problem of stacked boxes, of one box, or of rows of all kinds, the last with joints."""
    kind = rng.integers(kinds)
    mu = rng.choice([0.0, 0.2, 0.7, 1.5])
    if kind == 0:
        push = rng.uniform(-1, 1, 3) * [1.0, 1.0, 0.1]
        return box_on_plane(push, rng.uniform(-0.1, 0.1, 3), mu)
    if kind == 1:
        return stack(10.0 ** rng.uniform(-1, 1, 3), rng.uniform(0, 0.2), mu=mu)
    if kind == 2:
        return mixed(rng, n_joints=0, mu=mu)
    return mixed(rng, mu=mu)


def in_other_units(p, mass, velocity, rows=1.0):
    """The problem in other units of mass and velocity, and of its rows, one for each contact."""
    rows = np.broadcast_to(rows, p.n_rows)
    single = slice(p.n_joint_rows + p.n_limit_rows, p.n_rows - 3 * p.n_contacts)
    return contact.Problem(
        rows[:, None] * p.delassus * rows / mass,
        rows * p.free_velocity * velocity,
        p.n_joint_rows,
        p.n_limit_rows,
        p.bounds * mass * velocity / rows[single],
        p.friction,
    )


def units_of_rows(rng, p):
    """A power of two for each row, one for the rows of a contact."""
    found = 2.0 ** rng.integers(-20, 20, p.n_rows)
    first = p.n_rows - 3 * p.n_contacts
    found[first:] = np.repeat(found[first::3], 3)
    return found


@pytest.mark.parametrize("solver", contact.SOLVERS)
@generated(small=6, large=300)
def test_a_problem_in_other_units_has_the_same_solution(solver, seed):
    rng = np.random.default_rng(seed)
    p = drawn(rng, 3)  # eliminating redundant joints rounds, and differently so
    mass, velocity = 4.0 ** rng.integers(-15, 11), 2.0 ** rng.integers(-17, 11)
    rows = units_of_rows(rng, p)
    options = {"max_iterations": 300, "threads": 1}
    r = contact.solve(p, solver, **options)
    other = contact.solve(in_other_units(p, mass, velocity, rows), solver, **options)
    assert other.converged == r.converged
    assert other.iterations == r.iterations
    found, expected = other.reactions * rows, r.reactions * mass * velocity
    # The interior-point method has a floor for cones' boundaries, which shows in the last digits.
    assert np.allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max(initial=0.0))


@generated(small=10, large=500)
def test_the_relative_natural_map_is_told_as_plain_numpy_has_it(seed):
    rng = np.random.default_rng(seed)
    p = drawn(rng)
    p = in_other_units(p, 10.0 ** rng.uniform(-9, 6), 10.0 ** rng.uniform(-5, 2))
    for solver in ("auto", "admm-ncp-sa"):
        for joints in ("eliminated", "split"):
            r = contact.solve(p, solver, 1e-6, 30, joints=joints, threads=1)
            told = contact.residuals(p, r.reactions).relative_natural_map
            assert told == pytest.approx(r.residuals.relative_natural_map, rel=1e-3, abs=1e-9)
            assert r.converged == (r.residuals.relative_natural_map <= 1e-6)


@pytest.mark.parametrize("solver", ["auto", "newton", "admm-ncp-sa", "pgs-ncp", "prox"])
@generated(small=4, large=200)
def test_a_light_box_beside_a_heavy_one_slides_as_if_alone(solver, seed):
    rng = np.random.default_rng(seed)
    masses = 10.0 ** rng.uniform([-9, 0], [-3, 6])
    dt, mu = 10.0 ** rng.uniform(-5, -2), rng.uniform(0.1, 0.9)
    speeds = 10.0 ** rng.uniform(-1, 1, 2)
    s = System(masses)
    for body in range(2):
        s.contacts += [s.row([(body, at_point(r))]) for r in corners((0.1, 0.1, 0.02))]
    twist = np.zeros(12)
    twist[0::6], twist[2::6] = speeds, -GRAVITY * dt
    p = s.problem(twist, mu)
    r = contact.solve(p, solver, threads=1)
    assert r.converged
    after = twist + s.inverse * (np.vstack(s.contacts).T @ r.reactions)
    assert np.allclose(after[0::6], speeds - mu * GRAVITY * dt, rtol=0, atol=1e-4 * GRAVITY * dt)
    assert np.abs(after[2::6]).max() < 1e-4 * GRAVITY * dt


def test_reactions_that_grow_without_bound_are_no_solution():
    # Two walls close in on one body.
    p = contact.Problem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -0.5], n_limit_rows=2)
    for solver in contact.SOLVERS:
        assert not contact.solve(p, solver).converged
    grown = contact.residuals(p, np.full(2, 1e6))
    assert grown.relative_natural_map > 0.1


@pytest.mark.parametrize("solver", contact.SOLVERS)
def test_what_is_at_rest_is_solved(solver):
    p = box_on_plane((0.0, 0.0, 0.0))
    r = contact.solve(p, solver)
    assert r.converged
    assert not r.reactions.any()
    assert r.residuals.relative_natural_map == 0.0
    # It leaves the ground: nothing to be solved. Without Gamma it has to leave fast enough.
    r = contact.solve(box_on_plane((0.3, 0.0, 0.2 if LAW[solver] == "ccp" else 1e-9)), solver)
    assert r.converged
    assert not r.reactions.any()


# --- simulation -----------------------------------------------------------------------------------


def box(mass, edge=0.2):
    builder = dl.ModelBuilder("box")
    _add_box(builder, "box", np.full(3, edge), mass, (1, 1, 1, 1))
    return builder.build()


@pytest.mark.parametrize("solver", ["auto", "admm-ncp-sa", "pgs-ncp"])
@generated(small=4, large=100)
def test_a_box_slides_as_far_whatever_it_weighs(solver, seed):
    rng = np.random.default_rng(seed)
    mass, dt = 10.0 ** rng.uniform(-9, 6), 10.0 ** rng.uniform(-5, -2)
    mu, speed, steps = rng.uniform(0.2, 0.6), rng.uniform(0.1, 2.0), 60
    options = {"solver": solver, "friction": mu, "tolerance": 1e-6}
    sim = dl.Simulator(box(mass), dt, threads=1, **options)
    start = np.array([0, 0, 0.1, 0, 0, 0, 1.0])
    sim.reset(start, [speed, 0, 0, 0, 0, 0])
    rec = sim.rollout(steps)
    t = min(steps * dt, speed / (mu * GRAVITY))
    far = speed * t - 0.5 * mu * GRAVITY * t * t
    # Where it stops within a step, the end of motion is known to a step only.
    assert abs(rec.q[-1, 0] - far) <= 1e-3 * far + mu * GRAVITY * dt * dt
    assert np.abs(rec.q[:, 2] - 0.1).max() <= 1.01e-6  # the margin of contacts
    assert rec.metrics["relative_natural_map"].max() <= 1e-6


@generated(small=4, large=100)
def test_falling_boxes_of_any_mass_move_alike(seed):
    rng = np.random.default_rng(seed)
    turn = rng.standard_normal(4)
    q = np.array([0, 0, 0.2, *(turn / np.linalg.norm(turn))])
    v = rng.uniform(-1, 1, 6) * [1, 1, 0.1, 3, 3, 3]
    ends, natural = [], []
    for mass in (1.0, 4.0 ** rng.integers(-15, 11)):
        sim = dl.Simulator(box(mass), 2e-3, on_error="record", threads=1)
        sim.reset(q, v)
        rec = sim.rollout(150)
        ends.append(rec.q[-1])
        natural.append(rec.metrics["relative_natural_map"])
    # Contacts that nearly close or not, or stick or not, follow rounding.
    assert np.abs(ends[0] - ends[1]).max() < 1e-6
    assert np.array_equal(natural[0] <= 1e-6, natural[1] <= 1e-6)
