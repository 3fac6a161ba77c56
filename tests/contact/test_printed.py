"""Solvers as the paper prints them: their iterates are those of a transcription in NumPy."""

import numpy as np
import pytest

import delassus as dl
from contact.problems import System, at_point, box_on_plane, stack
from delassus import contact
from delassus.contact.plain import de_saxce, project, project_cone

SIZES = (3, 2, 5)  # rows of joints


def jointed(seed):
    """Boxes with joints that are blocks of rows, two limits, and contacts."""
    rng = np.random.default_rng(seed)
    s = System(10.0 ** rng.uniform(-0.5, 0.5, 4))
    for k, size in enumerate(SIZES):
        block = np.vstack([at_point(rng.uniform(-0.2, 0.2, 3)), np.eye(6)[3:]])[:size]
        s.joints.append(s.row([(k, block), (k + 1, -block)]))
    for k in range(2):
        s.limits.append(s.row([(k, rng.standard_normal((1, 6)))]))
    for k in (0, 3, 3):
        s.contacts.append(s.row([(k, at_point(rng.uniform(-0.2, 0.2, 3)))]))
    return s.problem(rng.standard_normal(24), 0.6)


def pgs_ccp(mu, D, x, v, is_ncp):
    """Algorithm 2, at the velocity D x + v_f of the contact."""
    z = v + is_ncp * np.array([0.0, 0.0, mu * np.hypot(*v[:2])])
    return project_cone(mu, x - 3.0 / np.trace(D) * z)


def pgs_ncp(mu, D, x, v, is_ncp):
    """Algorithm 3"""
    normal = max(0.0, x[2] - v[2] / D[2, 2])
    t = x[:2] - v[:2] / min(D[0, 0], D[1, 1])
    return np.array([*(t * min(1.0, mu * normal / max(np.hypot(*t), 1e-300))), normal])


def algorithm_5(p, local, is_ncp, iterations, omega=1.0, gamma=0.99, omega_min=0.1):
    """Iterates of Gauss-Seidel."""
    D, x, found = p.delassus, np.zeros(p.n_rows), []
    contacts = p.n_joint_rows + p.n_limit_rows
    for _ in range(iterations):
        at = 0
        for size in SIZES if p.n_joint_rows else ():
            k = slice(at, at + size)
            v = D[k] @ x + p.free_velocity[k] - D[k, k] @ x[k]
            x[k] = (1.0 - omega) * x[k] - omega * np.linalg.solve(D[k, k], v)
            at += size
        for k in range(p.n_joint_rows, contacts):
            v = D[k] @ x + p.free_velocity[k] - D[k, k] * x[k]
            x[k] = (1.0 - omega) * x[k] + omega * max(0.0, -v / D[k, k])
        for c in range(p.n_contacts):
            k = slice(contacts + 3 * c, contacts + 3 * c + 3)
            v = D[k] @ x + p.free_velocity[k]
            x[k] = (1.0 - omega) * x[k] + omega * local(p.friction[c], D[k, k], x[k], v, is_ncp)
        found.append(x.copy())
        omega = max(omega_min, gamma * omega)
    return found


def is_over(p, x, law, tolerance):
    """(156) to (158)"""
    r = contact.residuals(p, x, law)
    return max(r.primal, r.dual, r.complementarity) < tolerance


def largest_eigenvalue(D, iterations=10):
    x = 1.0 + 0.25 * (np.arange(len(D)) % 3)
    for _ in range(iterations):
        y = D @ x
        found, x = x @ y / (x @ x), y / np.linalg.norm(y)
    return found


def algorithm_6(p, solver, iterations, tolerance=1e-6):
    """Iterates of ADMM, until its criteria hold."""
    D, n, is_ncp = p.delassus, p.n_rows, solver != "admm-ccp"
    eta, rho, growth = 1e-6 if is_ncp else 0.0, 1.0, 1.5
    if solver == "admm-ncp-sa":
        kappa = largest_eigenvalue(D) / eta
        rho, growth = np.sqrt(kappa) * eta * kappa**0.2, kappa**0.05
    gamma = (lambda z: de_saxce(p, z)) if is_ncp else np.zeros_like
    x = y = np.zeros(n)
    z, found = p.free_velocity.copy(), []
    for _ in range(iterations):
        s = gamma(z)
        v = p.free_velocity + s - eta * x - rho * y - z
        before = x, y
        x = -np.linalg.solve(D + (eta + rho) * np.eye(n), v)
        y = project(p, x - z / rho)
        z = z - rho * (x - y)
        found.append(y)
        primal = np.abs(x - y).max()
        change = eta * (x - before[0]) + rho * (y - before[1]) - (gamma(z) - s)
        dual, j = np.abs(change).max(), p.n_joint_rows
        limits, own = slice(j, j + p.n_limit_rows), slice(j + p.n_limit_rows, None)
        power = np.abs(np.r_[(x * z)[limits], (x * z)[own].reshape(-1, 3).sum(axis=1)]).max()
        if max(primal, dual, power) < tolerance:
            break
        if solver in ("admm-ncp-la", "admm-ncp-sa"):
            if primal >= 10.0 * dual:
                rho *= growth
            elif primal <= 0.1 * dual:
                rho /= growth
    return found


PROBLEMS = {
    "box": box_on_plane((0.4, 0.1, -0.2), (0.3, 0.1, 0.2)),
    "stack": stack([1.0, 2.0], 0.1),
    "joints": jointed(1),
}


def printed(p, solver, **options):
    sizes = SIZES if p.n_joint_rows and not solver.startswith("admm") else None
    return contact.solve(p, solver, form="printed", joint_sizes=sizes, threads=1, **options)


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize(
    ("solver", "law", "local"),
    [("pgs-ccp", "ccp", pgs_ccp), ("pgs-ccp", "ncp", pgs_ccp), ("pgs-ncp", "ncp", pgs_ncp)],
)
def test_iterates_of_algorithm_5_are_the_papers(kind, solver, law, local):
    p = PROBLEMS[kind]
    expected = algorithm_5(p, local, float(law == "ncp"), 20)
    for count in (1, 2, 5, 20):
        r = printed(p, solver, law=law, tolerance=0.0, max_iterations=count)
        assert r.iterations == count
        assert np.allclose(r.reactions, expected[count - 1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("solver", ["admm-ccp", "admm-ncp-fp", "admm-ncp-la", "admm-ncp-sa"])
def test_iterates_of_algorithm_6_are_the_papers(kind, solver):
    p = PROBLEMS[kind]
    expected = algorithm_6(p, solver, 200)
    for count in (1, 2, 5, 20):
        r = printed(p, solver, tolerance=0.0, max_iterations=count)
        assert r.iterations == count
        if count <= len(expected):
            assert np.allclose(r.reactions, expected[count - 1], rtol=1e-12, atol=1e-12)
    assert printed(p, solver, max_iterations=200).iterations == len(expected)


@pytest.mark.parametrize(("solver", "law"), [("pgs-ccp", "ccp"), ("pgs-ncp", "ncp")])
def test_sweeps_end_by_the_papers_criteria(solver, law):
    p = PROBLEMS["box"]
    local = pgs_ccp if law == "ccp" else pgs_ncp
    iterates = algorithm_5(p, local, float(law == "ncp"), 1000)
    first = next(k for k, x in enumerate(iterates, 1) if is_over(p, x, law, 1e-4))
    assert first > 2
    assert printed(p, solver, law=law, tolerance=1e-4, max_iterations=1000).iterations == first


@pytest.mark.parametrize("solver", ["nbgs", "raisim", "raisim-ds", "raisim-ds-es"])
def test_exact_local_solvers_have_a_printed_form(solver):
    r = printed(box_on_plane((0.01, 0.0, -0.2)), solver, max_iterations=500)
    assert r.iterations < 500
    assert r.residuals.natural_map < 1e-4  # which is not what these criteria are about
    assert r.converged == (r.residuals.relative_natural_map <= 1e-6)
    assert r.reactions[2::3].sum() == pytest.approx(0.2, rel=1e-4)


def test_what_is_not_in_the_paper_is_refused():
    p = PROBLEMS["joints"]
    with pytest.raises(dl.DelassusError, match="the paper has no solver 'auto'"):
        contact.solve(p, "auto", form="printed")
    with pytest.raises(dl.DelassusError, match="has no parameter 'precondition'"):
        contact.solve(p, "admm-ncp-fp", form="printed", precondition=True)
    with pytest.raises(dl.DelassusError, match="joint_sizes must have the rows of each joint, 10"):
        contact.solve(p, "pgs-ncp", form="printed")
    with pytest.raises(dl.DelassusError, match="form must be"):
        contact.solve(p, form="paper")
