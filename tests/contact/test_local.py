"""One contact by itself, against its conditions and against a scan of all angles."""

import numpy as np
import pytest

from delassus.contact.laws.local import bisect_contact, solve_contact
from delassus.contact.plain import project_cone


def random_contacts(seed, count):
    """Blocks, free velocities and frictions: conic sections of all three kinds, and limits."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        A = rng.standard_normal((3, 3)) * 10.0 ** rng.uniform(-1, 1, 3)[:, None]
        D = A @ A.T + 1e-3 * np.eye(3)
        b = rng.standard_normal(3)
        mu = (0.0, 0.3, 1.0, 3.0, 1e3)[k % 5] if k % 7 else rng.uniform(0, 2)
        if k % 11 == 0:
            b[2] = 0.0
        elif k % 3:
            b[2] = -abs(b[2])
        yield D, b, mu


def packed(D):
    return D[0, 0], D[0, 1], D[0, 2], D[1, 1], D[1, 2], D[2, 2]


def natural(D, b, mu, x):
    v = D @ x + b
    v[2] += mu * np.hypot(v[0], v[1])
    scale = 1.0 / np.trace(D)
    return np.abs(x - project_cone(mu, x - scale * v)).max()


def exact(D, b, mu):
    return np.array(solve_contact(True, mu, packed(D), (0.0, 0.0, 0.0), b, np.zeros(8)))


def test_the_exact_solution_satisfies_coulombs_law():
    for D, b, mu in random_contacts(0, 10_000):
        x = exact(D, b, mu)
        size = np.abs(np.linalg.solve(D, b)).max()
        assert natural(D, b, mu, x) < 1e-8 * (1.0 + size), (D, b, mu)


def test_contacts_that_separate_have_no_reaction():
    for D, b, mu in random_contacts(1, 200):
        if b[2] >= 0:
            assert not exact(D, b, mu).any()


def objective(D, b, mu, angle):
    """The dissipation of the reaction on the cone with v_n = 0, infinite where there is none."""
    u = np.array([np.cos(angle), np.sin(angle)])
    room = D[2, 2] / mu + D[2, :2] @ u
    if room <= 0:
        return np.inf
    x = -b[2] / room * np.array([*u, 1.0 / mu])
    return 0.5 * x @ D @ x + b @ x


@pytest.mark.parametrize("rule", ["quartic", "bisection"])
def test_maximal_dissipation_is_the_best_of_all_angles(rule):
    checked = 0
    for D, b, mu in random_contacts(2, 600):
        stick = -np.linalg.solve(D, b)
        if b[2] >= 0 or mu == 0 or mu > 10 or np.hypot(*stick[:2]) <= mu * stick[2]:
            continue
        is_ellipse = mu * np.hypot(D[0, 2], D[1, 2]) < D[2, 2]
        if rule == "quartic":
            x = np.array(solve_contact(False, mu, packed(D), (0.0,) * 3, b, np.zeros(8)))
        elif is_ellipse:
            x = np.array(bisect_contact(mu, packed(D), (0.0,) * 3, b, 0.0))
        else:
            continue
        scan = min(objective(D, b, mu, t) for t in np.linspace(-np.pi, np.pi, 721))
        found = 0.5 * x @ D @ x + b @ x
        v = D @ x + b
        assert abs(v[2]) < 1e-8 * (1 + np.abs(D).max() * np.abs(x).max())
        slack = 1e-9 if rule == "quartic" else 1e-6
        assert found <= scan + slack * (1.0 + abs(scan)), (D, b, mu)
        checked += 1
    assert checked > 50


def test_without_friction_only_the_normal_acts():
    D, b = np.diag([1.0, 2.0, 4.0]), np.array([1.0, 1.0, -2.0])
    assert np.allclose(exact(D, b, 0.0), [0.0, 0.0, 0.5])
    assert np.allclose(bisect_contact(0.0, packed(D), (0.0,) * 3, b, 0.0), [0.0, 0.0, 0.5])


def test_a_contact_between_fixed_bodies_has_no_reaction():
    zero = np.zeros((3, 3))
    assert not exact(zero, np.array([0.1, 0.0, -1.0]), 0.5).any()
