"""Bad input raises before any work is done, and says what was expected and what came."""

import numpy as np
import pytest

import delassus as dl
from trees import random_states, random_tree

pytestmark = pytest.mark.uncompiled

MODEL = random_tree(2, bodies=5)
Q, V, A = random_states(MODEL, 0, 4)
FORCES = np.zeros((4, MODEL.n_bodies, 6))

# Every public function, with arguments that fit.
CALLS = {
    "inverse_dynamics": (dl.inverse_dynamics, {"q": Q, "v": V, "a": A, "external_forces": FORCES}),
    "forward_dynamics": (
        dl.forward_dynamics,
        {"q": Q, "v": V, "tau": A, "external_forces": FORCES},
    ),
    "mass_matrix": (dl.mass_matrix, {"q": Q}),
    "inverse_mass_matrix": (dl.inverse_mass_matrix, {"q": Q}),
    "bias_forces": (dl.bias_forces, {"q": Q, "v": V}),
    "gravity_forces": (dl.gravity_forces, {"q": Q}),
    "coriolis_matrix": (dl.coriolis_matrix, {"q": Q, "v": V}),
    "passive_forces": (dl.passive_forces, {"q": Q, "v": V}),
    "center_of_mass": (dl.center_of_mass, {"q": Q}),
    "centroidal_momentum_matrix": (dl.centroidal_momentum_matrix, {"q": Q}),
    "kinetic_energy": (dl.kinetic_energy, {"q": Q, "v": V}),
    "potential_energy": (dl.potential_energy, {"q": Q}),
    "forward_kinematics": (dl.forward_kinematics, {"q": Q}),
    "frame_jacobian": (lambda m, **k: dl.frame_jacobian(m, frame="f1", **k), {"q": Q}),
    "frame_velocity": (lambda m, **k: dl.frame_velocity(m, frame="f1", **k), {"q": Q, "v": V}),
    "frame_acceleration": (
        lambda m, **k: dl.frame_acceleration(m, frame="f1", **k),
        {"q": Q, "v": V, "a": A},
    ),
    "inverse_dynamics_derivatives": (
        dl.inverse_dynamics_derivatives,
        {"q": Q, "v": V, "a": A, "external_forces": FORCES},
    ),
    "forward_dynamics_derivatives": (
        dl.forward_dynamics_derivatives,
        {"q": Q, "v": V, "tau": A, "external_forces": FORCES},
    ),
    "inverse_dynamics_jvp": (
        dl.inverse_dynamics_jvp,
        {"q": Q, "v": V, "a": A, "dq": A, "dv": A, "da": A, "external_forces": FORCES},
    ),
    "inverse_dynamics_vjp": (
        dl.inverse_dynamics_vjp,
        {"q": Q, "v": V, "a": A, "w": A, "external_forces": FORCES},
    ),
    "forward_dynamics_jvp": (
        dl.forward_dynamics_jvp,
        {"q": Q, "v": V, "tau": A, "dq": A, "dv": A, "dtau": A, "external_forces": FORCES},
    ),
    "forward_dynamics_vjp": (
        dl.forward_dynamics_vjp,
        {"q": Q, "v": V, "tau": A, "w": A, "external_forces": FORCES},
    ),
    "mass_matrix_product": (dl.mass_matrix_product, {"q": Q, "x": V}),
    "inverse_mass_matrix_product": (dl.inverse_mass_matrix_product, {"q": Q, "x": V}),
    "mass_matrix_product_derivative": (dl.mass_matrix_product_derivative, {"q": Q, "x": V}),
    "inverse_dynamics_regressor": (dl.inverse_dynamics_regressor, {"q": Q, "v": V, "a": A}),
    "frame_velocity_derivatives": (
        lambda m, **k: dl.frame_velocity_derivatives(m, frame="f1", **k),
        {"q": Q, "v": V},
    ),
    "frame_acceleration_derivatives": (
        lambda m, **k: dl.frame_acceleration_derivatives(m, frame="f1", **k),
        {"q": Q, "v": V, "a": A},
    ),
    "integrate": (lambda m, **k: m.integrate(**k), {"q": Q, "v": V}),
    "difference": (lambda m, **k: m.difference(**k), {"q0": Q, "q1": Q}),
    "normalize": (lambda m, **k: m.normalize(**k), {"q": Q}),
    "integrate_derivatives": (lambda m, **k: m.integrate_derivatives(**k), {"v": V, "q": Q}),
    "difference_derivatives": (lambda m, **k: m.difference_derivatives(**k), {"q0": Q, "q1": Q}),
}
METHODS = ("integrate", "difference", "normalize")
# Results that do not depend on every number of the first argument, in every entry.
PARTIAL = ("passive_forces", "normalize")
ARGUMENTS = [(name, argument) for name, (_, given) in CALLS.items() for argument in given]
each_argument = pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
each_function = pytest.mark.parametrize("name", CALLS)


def call(name, **changed):
    f, given = CALLS[name]
    return f(MODEL, **{**given, **changed})


def value(name, argument):
    return CALLS[name][1][argument]


@each_argument
@pytest.mark.parametrize("change", ["wide", "narrow", "deep", "scalar", "transposed"])
def test_wrong_shapes(name, argument, change):
    x = value(name, argument)
    wrong = {
        "wide": np.concatenate([x, x[..., :1]], axis=-1),
        "narrow": x[..., :-1],
        "deep": x[None, None],
        "scalar": np.float64(1.0),
        "transposed": np.swapaxes(x, 0, -1),
    }[change]
    with pytest.raises(dl.ShapeError, match=rf"{argument}.*must have shape.*got"):
        call(name, **{argument: wrong})
    with pytest.raises(ValueError, match="must have shape"):
        call(name, **{argument: wrong})


@each_argument
def test_wrong_number_of_states(name, argument):
    if len(CALLS[name][1]) == 1:
        assert len(call(name, **{argument: value(name, argument)[:3]})) in (2, 3)
        return
    with pytest.raises(dl.ShapeError, match="same number of states"):
        call(name, **{argument: value(name, argument)[:3]})
    with pytest.raises(dl.ShapeError, match="no batch axis"):
        call(name, **{argument: value(name, argument)[0]})


@each_argument
@pytest.mark.parametrize(
    "wrong",
    [None, "q", {"a": 1}, [[1.0], [2.0, 3.0]], 1j, object(), True],
    ids=["none", "text", "dict", "ragged", "complex", "object", "bool"],
)
def test_wrong_types(name, argument, wrong):
    if argument == "external_forces" and wrong is None:
        return  # that is how forces are left out
    if isinstance(wrong, complex):
        wrong = value(name, argument).astype(complex)
    if wrong is True:
        wrong = value(name, argument) > 0
    with pytest.raises(dl.DelassusError, match=argument):
        call(name, **{argument: wrong})


@each_function
def test_wrong_model(name):
    f, given = CALLS[name]
    for wrong in (None, "panda", 3):
        if name.startswith(METHODS):
            return  # of the model
        with pytest.raises(dl.DataTypeError, match="expected a Model"):
            f(wrong, **given)


@each_function
def test_empty_batch(name):
    f, given = CALLS[name]
    result = f(MODEL, **{k: x[:0] for k, x in given.items()})
    first = result[0] if isinstance(result, tuple) else result
    assert first.shape[0] == 0


@each_function
def test_not_finite_numbers_come_out_as_not_finite(name):
    _, given = CALLS[name]
    expected = call(name)
    for bad in (np.nan, np.inf):
        argument = next(iter(given))
        x = given[argument].copy()
        x[2] = bad
        found = call(name, **{argument: x})
        for e, r in zip(_arrays(expected), _arrays(found), strict=True):
            assert np.array_equal(np.delete(r, 2, 0), np.delete(e, 2, 0))
            if name not in PARTIAL:
                assert not np.isfinite(r[2]).all()


def _arrays(result):
    return result if isinstance(result, tuple) else (result,)


@each_function
@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_wrong_threads(name, threads):
    with pytest.raises(dl.DelassusError, match="threads must be"):
        call(name, threads=threads)


@each_function
def test_wrong_out(name):
    found = call(name)
    if isinstance(found, tuple):
        with pytest.raises(dl.DelassusError, match="out for"):
            call(name, out=type(found)(*(np.empty(3) for _ in found)))
        with pytest.raises(dl.DelassusError, match="out"):
            call(name, out=np.empty(3))
        return
    good = np.zeros_like(found)
    with pytest.raises(dl.ShapeError, match=r"out for .* must have shape"):
        call(name, out=np.empty((*good.shape, 1)))
    with pytest.raises(dl.DataTypeError, match="floating-point"):
        call(name, out=good.astype(int))
    with pytest.raises(dl.DataTypeError, match="floating-point"):
        call(name, out=good.tolist())
    good.setflags(write=False)
    with pytest.raises(dl.DelassusError, match="read-only"):
        call(name, out=good)


def test_out_that_overlaps_an_input_is_refused():
    v = V.copy()
    with pytest.raises(dl.DelassusError, match="overlaps"):
        dl.inverse_dynamics(MODEL, Q, v, A, out=v)
    assert np.array_equal(v, V)


def test_out_that_is_an_input_is_refused_for_one_state_too():
    v = V[0].copy()
    with pytest.raises(dl.DelassusError, match="overlaps"):
        dl.inverse_dynamics(MODEL, Q[0], v, A[0], out=v)
    assert np.array_equal(v, V[0])


def test_unknown_names_come_with_suggestions():
    with pytest.raises(dl.UnknownNameError, match="did you mean 'f1'"):
        dl.frame_jacobian(MODEL, Q, "F1")
    with pytest.raises(KeyError, match="no frame"):
        dl.forward_kinematics(MODEL, Q, ["f1", "nose"])
    with pytest.raises(dl.UnknownNameError, match="reference must be one of"):
        dl.frame_velocity(MODEL, Q, V, "f1", "lokal")
    with pytest.raises(dl.UnknownNameError, match="method must be one of"):
        dl.inverse_mass_matrix(MODEL, Q, method="magic")
    with pytest.raises(dl.UnknownNameError, match="no joint 'b9_joint'"):
        MODEL.joint("b9_joint")
    with pytest.raises(dl.UnknownNameError, match="no frame 3"):
        dl.frame_jacobian(MODEL, Q, 3)


def test_random_configurations_refuse_nonsense():
    with pytest.raises(dl.DelassusError, match="N must be"):
        MODEL.random_configuration(0, -1)
    with pytest.raises(dl.DelassusError, match="N must be"):
        MODEL.random_configuration(0, 1.5)


def test_an_output_whose_numbers_share_a_place_is_refused():
    b = dl.ModelBuilder("point")
    b.add_body("a", joint=dl.Prismatic(), mass=1.0)
    model = b.build()
    for shape, strides in (((3,), (0,)), ((2, 3), (0, 8)), ((2, 3), (8, 8))):
        out = np.lib.stride_tricks.as_strided(np.zeros(9), shape, strides)
        q = np.zeros((*shape[:-1], 1))
        with pytest.raises(dl.ShapeError, match="share memory"):
            dl.center_of_mass(model, q, out=out)
    out = np.zeros((3, 4))[:, :2].T  # steps of any kind are taken as long as they differ
    assert not np.isnan(dl.center_of_mass(model, np.zeros((2, 1)), out=out)).any()


def test_a_model_without_mass_has_no_centre_of_mass():
    b = dl.ModelBuilder("nothing")
    empty = b.build()
    b.add_body("a", joint=dl.Prismatic())
    for model in (empty, b.build()):
        for function in (dl.center_of_mass, dl.centroidal_momentum_matrix):
            with pytest.raises(dl.ModelError, match="no centre of mass"):
                function(model, np.zeros(model.nq))
