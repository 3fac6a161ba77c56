"""What a problem takes, and what it refuses."""

import numpy as np
import pytest

import delassus as dl
from contact.problems import box_on_plane, mixed
from delassus import contact


def test_rows_are_counted():
    p = mixed(np.random.default_rng(0), n_limits=2, n_bounded=3, n_contacts=4)
    assert (p.n_limit_rows, p.n_bounded_rows, p.n_contacts) == (2, 3, 4)
    assert p.n_rows == p.n_joint_rows + 5 + 12
    assert "4 contacts" in repr(p)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delassus": np.eye(6)[:, :5]}, "shape"),
        ({"delassus": np.triu(np.ones((6, 6)))}, "not symmetric"),
        ({"delassus": -np.eye(6)}, "negative diagonal"),
        ({"delassus": np.eye(6) + 3 * np.eye(6)[::-1]}, "positive semi-definite"),
        ({"delassus": np.full((6, 6), np.nan)}, "finite"),
        ({"free_velocity": np.array([0, 0, np.nan, 0, 0, 0.0])}, r"free_velocity\[2\]"),
        ({"free_velocity": np.zeros((2, 2, 6))}, "free_velocity must have shape"),
        ({"friction": [0.5, -0.1]}, r"friction\[1\]"),
        ({"friction": [0.5, 0.5, 0.5]}, "each contact"),
        ({"friction": ()}, "friction is missing"),
        ({"n_limit_rows": 1}, "a contact has three"),
        ({"n_joint_rows": 7}, "fewer than"),
        ({"n_joint_rows": -1}, "n_joint_rows"),
        ({"bounds": [-1.0, 1.0, 1.0]}, "bounds"),
        ({"compliance": [-1.0] * 6}, "compliance"),
        ({"target": [0.0] * 5}, "target"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {"delassus": np.eye(6), "free_velocity": np.zeros(6), "friction": 0.5} | change
    with pytest.raises(dl.DelassusError, match=message):
        contact.Problem(**given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "simplex"}, "there is no solver 'simplex'; known are auto"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"warm_start": np.zeros(3)}, "warm_start must have shape"),
        ({"warm_start": np.full(12, np.inf)}, "finite"),
        ({"joints": "glued"}, "joints must be one of"),
        ({"law": "maxwell"}, "law must be one of"),
        ({"solver": "prox", "rho": 1.0}, "prox has no parameter 'rho'; it has precondition"),
        ({"solver": "admm-ncp-fp", "rho": 0.0}, "rho must be positive"),
        ({"solver": "admm-ncp-fp", "precondition": 2}, "precondition"),
    ],
)
def test_bad_requests_are_named(arguments, message):
    with pytest.raises(dl.DelassusError, match=message):
        contact.solve(box_on_plane(), **arguments)


def test_only_problems_are_solved():
    with pytest.raises(dl.DelassusError, match=r"expected a contact\.Problem"):
        contact.solve(np.eye(3))


def test_no_rows_are_solved_by_nothing():
    p = contact.Problem(np.zeros((0, 0)), np.zeros(0))
    r = contact.solve(p)
    assert r.converged
    assert r.reactions.shape == (0,)
