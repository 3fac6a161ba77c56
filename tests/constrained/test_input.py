"""Bad input to constraints and their dynamics raises, and says what was expected and what came."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import ALL_PURPOSE, four_bar
from trees import random_states, random_tree

pytestmark = pytest.mark.uncompiled

MODEL = random_tree(4, bodies=6)
ROWS = [dl.Connect("f2", "f5"), dl.Distance("f1", "world", 1.0)]
CONSTRAINTS = dl.Constraints(MODEL, ROWS)
Q, V, TAU = random_states(MODEL, 0, 4)
FORCES = np.zeros((4, MODEL.n_bodies, 6))
ARGUMENTS = {"q": Q, "v": V, "tau": TAU, "external_forces": FORCES}
each_argument = pytest.mark.parametrize("argument", ARGUMENTS)
each_method = pytest.mark.parametrize("method", ALL_PURPOSE)


def solve(constraints=CONSTRAINTS, model=MODEL, **changed):
    arguments = {**ARGUMENTS, **changed}
    return dl.constrained_dynamics(model, constraints=constraints, **arguments)


# --- constraints ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (dl.Weld("f9"), "no frame 'f9'"),
        (dl.Connect("f2", "F5"), "did you mean 'f5'"),
        (dl.Distance("f2", "nose", 1.0), "no frame 'nose'"),
        (dl.Closure(dl.Revolute(), "f2", "F5"), "did you mean"),
        (dl.Gear("b9_joint", "b0_joint", 2.0), "no joint 'b9_joint'"),
        (dl.Coupling({"b9_joint": 1.0}), "no joint"),
        (dl.Implicit(lambda x: x, ["b9_joint"]), "no joint"),
    ],
)
def test_unknown_names(row, message):
    with pytest.raises(dl.UnknownNameError, match=message):
        dl.Constraints(MODEL, [row])


def test_frames_on_the_same_body_restrain_nothing():
    for row in (dl.Weld("b3", "f3"), dl.Connect("b3", "f3"), dl.Distance("f3", "b3", 0.1)):
        with pytest.raises(dl.ModelError, match="on the same body"):
            dl.Constraints(MODEL, [row])


def test_couplings_are_between_joints_of_one_degree_of_freedom():
    wide = next(j for j in MODEL.joints if j.nv > 1)
    with pytest.raises(dl.ModelError, match=f"{wide.nv} degrees of freedom"):
        dl.Constraints(MODEL, [dl.Coupling({wide.name: 1.0})])


def test_constraints_are_given_as_a_list_of_constraints():
    with pytest.raises(dl.DataTypeError, match="must be a list of Constraint, got Weld"):
        dl.Constraints(MODEL, dl.Weld("f1"))
    for wrong in ("f1", None, 3, dl.Revolute()):
        with pytest.raises(dl.DataTypeError, match="must be a list of Constraint, but one is"):
            dl.Constraints(MODEL, [wrong])
    with pytest.raises(dl.DataTypeError, match="expected a Model"):
        dl.Constraints("solo12", ROWS)
    with pytest.raises(dl.DataTypeError, match="must be a Baumgarte"):
        dl.Constraints(MODEL, ROWS, stabilization=10.0)


@pytest.mark.parametrize("name", ["kp", "kd"])
def test_stabilization_takes_finite_numbers_that_are_not_negative(name):
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(dl.DelassusError, match=f"{name} must be finite"):
            dl.Baumgarte(**{name: wrong})
    for wrong in ("1", None, True, [1.0]):
        with pytest.raises(dl.DataTypeError, match=f"{name} must be a number"):
            dl.Baumgarte(**{name: wrong})


def test_redundant_rows_are_those_of_one_state():
    assert CONSTRAINTS.redundant_rows(Q[0]) == []
    with pytest.raises(dl.ModelError, match="one state"):
        CONSTRAINTS.redundant_rows(Q)


@pytest.mark.parametrize("method", ["jacobian", "position_error", "velocity", "drift"])
def test_states_of_the_wrong_shape_or_type(method):
    call = getattr(CONSTRAINTS, method)
    rest = (V,) if method in ("velocity", "drift") else ()
    with pytest.raises(dl.ShapeError, match="q must have shape"):
        call(Q[:, 1:], *rest)
    with pytest.raises(dl.DelassusError, match="q"):
        call(Q > 0.0, *rest)
    if rest:
        with pytest.raises(dl.ShapeError, match="same number of states"):
            call(Q, V[:2])


# --- dynamics -------------------------------------------------------------------------------------


@each_argument
def test_arguments_of_the_wrong_shape(argument):
    x = ARGUMENTS[argument]
    for wrong in (x[..., :-1], x[None, None], np.float64(1.0)):
        with pytest.raises(dl.ShapeError, match=rf"{argument}.*must have shape.*got"):
            solve(**{argument: wrong})
    with pytest.raises(dl.ShapeError, match="same number of states"):
        solve(**{argument: x[:3]})


@each_argument
def test_arguments_of_the_wrong_type(argument):
    x = ARGUMENTS[argument]
    for wrong in ("q", x.astype(complex), x > 0.0, {"a": 1}):
        with pytest.raises(dl.DelassusError, match=argument):
            solve(**{argument: wrong})


def test_constraints_of_another_model():
    with pytest.raises(dl.ModelError, match="another model"):
        solve(constraints=dl.Constraints(random_tree(4, bodies=6), ROWS))
    for wrong in (ROWS, None, MODEL):
        with pytest.raises(dl.DataTypeError, match="expected Constraints"):
            solve(constraints=wrong)


@pytest.mark.parametrize(
    ("option", "wrong", "expected"),
    [
        ("damping", -1e-6, "damping must"),
        ("damping", 0.0, "damping must be positive"),
        ("damping", np.nan, "damping must be finite"),
        ("damping", "small", "damping must hold real numbers"),
        ("damping", np.ones(3), "damping must be a number or have 4 entries"),
        ("tolerance", -1.0, "tolerance must be finite"),
        ("tolerance", None, "tolerance must be a number"),
        ("max_iterations", 0, "max_iterations must be positive"),
        ("max_iterations", 1.5, "max_iterations must be an integer"),
        ("max_iterations", True, "max_iterations must be an integer"),
        ("desired", np.zeros(5), "desired must be a number or have 4 entries"),
        ("warm_start", np.zeros((3, 4)), "warm_start must be a number or have 4 entries"),
        ("warm_start", np.full(4, np.inf), "warm_start must be finite"),
        ("threads", 0, "threads must be"),
        ("method", "magic", "method must be"),
        ("method", "prox-ltk", "did you mean 'prox-ltl'"),
    ],
)
def test_wrong_settings(option, wrong, expected):
    with pytest.raises(dl.DelassusError, match=expected):
        solve(**{option: wrong})


@each_method
def test_no_rows_at_all_is_the_free_motion(method):
    none = dl.Constraints(MODEL, [])
    assert none.size == 0
    found = solve(constraints=none, method=method)
    expected = dl.forward_dynamics(MODEL, Q, V, TAU, FORCES)
    np.testing.assert_allclose(found.acceleration, expected, atol=1e-9)
    assert found.multipliers.shape == (4, 0)
    assert found.converged.all()
    assert not found.residual.any()
    assert none.jacobian(Q).shape == (4, 0, MODEL.nv)
    assert np.array_equal(none.rank(Q), np.zeros(4))
    assert none.redundant_rows(Q[0]) == []


@each_method
def test_rows_that_contradict_each_other_leave_a_residual(method):
    """A crank is to accelerate by 1 and by 3: the best it can do is 2."""
    model = four_bar()
    turn = dl.Coupling({"crank_joint": 1.0})
    cs = dl.Constraints(model, [turn, turn])
    q, v, tau = random_states(model, 1, 3)
    options = {"desired": np.array([1.0, 3.0]), "tolerance": 1e-7, "method": method}
    found = dl.constrained_dynamics(model, q, v, tau, cs, **options)
    assert found.converged.all()
    np.testing.assert_allclose(found.acceleration[:, 0], 2.0, atol=1e-6)
    np.testing.assert_allclose(found.residual, np.sqrt(2.0), atol=1e-6)


def test_an_empty_batch():
    found = solve(q=Q[:0], v=V[:0], tau=TAU[:0], external_forces=FORCES[:0])
    assert found.acceleration.shape == (0, MODEL.nv)
    assert found.converged.shape == (0,)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_state_that_is_not_finite_spoils_no_other(bad):
    q = Q.copy()
    q[2] = bad
    expected, found = solve(), solve(q=q)
    for x, y in zip(expected, found, strict=True):
        assert np.array_equal(np.delete(x, 2, 0), np.delete(y, 2, 0))
    assert not np.isfinite(found.acceleration[2]).any()
    assert not found.converged[2]
