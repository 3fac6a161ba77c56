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


def one_light_contact(above, below):
    """Two contacts, of which one moves a thousand million times less; entries of its tangents."""
    D = np.diag([1.0, 1.0, 1.0, 1e-9, 1e-9, 1e-9])
    D[3, 4], D[4, 3] = above, below
    return D


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delassus": np.eye(6)[:, :5]}, "shape"),
        ({"delassus": np.triu(np.ones((6, 6)))}, "not symmetric"),
        ({"delassus": -np.eye(6)}, "negative diagonal"),
        ({"delassus": np.eye(6) + 3 * np.eye(6)[::-1]}, "positive semi-definite"),
        ({"delassus": one_light_contact(3e-9, 3e-9)}, "positive semi-definite"),
        ({"delassus": one_light_contact(1e-10, 0.0)}, "not symmetric"),
        ({"delassus": np.diag([1.0, 1.0, 1.0, 1.0, 1.0, -1e-9])}, "negative diagonal"),
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
        ({"bounds": np.ones((2, 3))}, "bounds must have shape"),
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
        ({"solver": "admm-ncp-sa", "large": 0.0}, "large must be positive"),
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


class Diagonal:
    """An operator without a matrix."""

    def __init__(self, diagonal):
        self.diagonal, self.size = (lambda: np.asarray(diagonal)), len(diagonal)

    def multiply(self, x):
        return self.diagonal() * x

    def set_damping(self, S):
        self.S = S

    def solve(self, x):
        return x / (self.diagonal() + self.S)

    def diagonal_blocks(self):
        return [np.diag(self.diagonal())]


@pytest.mark.parametrize("entry", [-1.0, np.nan])
def test_operators_that_are_indefinite_or_nan_are_named(entry):
    p = contact.Problem(Diagonal([1.0, 1.0, entry]), [0.1, 0.0, -0.1], friction=0.5)
    with pytest.raises(dl.DelassusError, match="negative or NaN"):
        contact.solve(p, "admm-ncp-sa")


def test_operators_of_another_kind_or_of_many_states_are_named():
    p = contact.Problem(Diagonal([1.0, 1.0, 1.0]), [0.1, 0.0, -0.1], friction=0.5)
    assert contact.solve(p, "admm-ncp-sa").converged
    with pytest.raises(dl.DelassusError, match="Diagonal has no `matrix`"):
        contact.solve(p)
    with pytest.raises(dl.DelassusError, match="the operator has 3 rows"):
        contact.Problem(Diagonal([1.0, 1.0, 1.0]), np.zeros(6), friction=0.5)
    half = type("Half", (), {"size": 3, "multiply": None})()
    with pytest.raises(dl.DelassusError, match="Half is no operator: it has no solve"):
        contact.Problem(half, np.zeros(3), friction=0.5)
    model = dl.robots.load("hyq")
    cs = dl.Constraints(model, [dl.Connect("lf_foot")])
    two = dl.DelassusOperator(model, np.stack([model.neutral()] * 2), cs)
    with pytest.raises(dl.DelassusError, match="stands for one problem"):
        contact.Problem(two, np.zeros(3), friction=0.5)


def test_residuals_have_a_law_that_is_known():
    with pytest.raises(dl.DelassusError, match="law must be one of"):
        contact.residuals(box_on_plane(), np.zeros(12), "maxwell")


def almost_definite(share, scale=1.0, n=9):
    """A matrix whose least eigenvalue is this share of its largest entry, but negative."""
    rng = np.random.default_rng(2)
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    D = (U * np.r_[np.linspace(0.5, 1.0, n - 3), 0.0, 0.0, 0.0]) @ U.T
    low = U[:, -1:] @ U[:, -1:].T
    return scale * (D - share * np.abs(D).max() * low)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_matrices_of_files_may_be_negative_by_rounding(scale):
    v = np.tile([0.1, 0.0, -1.0], 3)
    for share in (0.0, 6.7e-12, 5e-11):
        assert contact.solve(
            contact.Problem(almost_definite(share, scale), v, friction=0.5)
        ).converged
    with pytest.raises(dl.DelassusError, match="-1e-06 of the largest entry; from -1e-10 of it on"):
        contact.Problem(almost_definite(1e-6, scale), v, friction=0.5)
    with pytest.raises(dl.DelassusError, match=r"delassus\[1\] is not positive"):
        D = np.stack([almost_definite(0.0), almost_definite(1e-6)])
        contact.Problem(D, np.stack([v, v]), friction=0.5)
