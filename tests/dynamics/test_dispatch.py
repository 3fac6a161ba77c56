"""Functions ask what they are called with which kernel serves it."""

import numpy as np
import pytest

import delassus as dl
from delassus.compile import kernel
from delassus.constrained.solvers.methods import METHODS, Method, add_method
from delassus.dynamics.aba import WORK, aba
from delassus.dynamics.crba import crba
from delassus.model.mechanism import Mechanism
from delassus.model.packed import ModelArrays
from trees import chain, random_states, relative


class InnerArrays(ModelArrays):
    """The arrays of the model inside."""

    @classmethod
    def pack(cls, slowed, real):
        return cls(*ModelArrays.pack(slowed.model, real))


_aba = aba.function


@kernel(
    InnerArrays,
    inputs={"q": "nq", "v": "nv", "tau": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"a": "nv"},
    work=WORK,
    label="forward dynamics of a slowed model",
)
def slowed_aba(model, q, v, tau, external_forces, a, work):
    _aba(model, q, v, tau, external_forces, a, work)
    for k in range(len(model.armature)):
        a[k] = 0.5 * a[k]


class Slowed(Mechanism):
    """A model whose joints accelerate half as much."""

    kernels = {aba: slowed_aba}

    def __init__(self, model):
        super().__init__()
        self.model, self.dimensions = model, model.dimensions
        self.nq, self.nv, self.n_bodies = model.nq, model.nv, model.n_bodies


@pytest.mark.uncompiled
def test_another_object_than_a_model_is_served_by_its_own_kernel():
    model = chain(4)
    slowed = Slowed(model)
    q, v, tau = random_states(model, 0, 9)
    forces = np.ones((9, model.n_bodies, 6))
    expected = 0.5 * dl.forward_dynamics(model, q, v, tau)
    for _ in range(2):  # the second time all is ready for arrays that fit
        assert relative(dl.forward_dynamics(slowed, q, v, tau), expected) < 1e-14
        assert relative(dl.forward_dynamics(slowed, q[0], v[0], tau[0]), expected[0]) < 1e-14
        assert relative(dl.forward_dynamics(slowed, q.tolist(), v, tau), expected) < 1e-14
    pushed = 0.5 * dl.forward_dynamics(model, q, v, tau, forces)
    assert relative(dl.forward_dynamics(slowed, q, v, tau, forces), pushed) < 1e-14
    # The model itself is served as ever.
    assert relative(dl.forward_dynamics(model, q, v, tau), 2.0 * expected) < 1e-14


def test_symbols_go_to_the_same_kernel():
    pytest.importorskip("casadi")
    model = chain(3)
    q, v, tau = random_states(model, 0)
    traced = dl.symbolic(dl.forward_dynamics, Slowed(model))
    found = np.array(traced(q, v, tau)).ravel()
    assert relative(found, 0.5 * dl.forward_dynamics(model, q, v, tau)) < 1e-12


def test_what_is_no_mechanism_is_refused():
    for wrong in (None, "panda", 3.0, np.zeros(3)):
        with pytest.raises(dl.DataTypeError, match="expected a Model"):
            dl.forward_dynamics(wrong, [0.0], [0.0], [0.0])
        with pytest.raises(dl.DataTypeError, match="expected a Model"):
            dl.gravity_forces(wrong, [0.0])
    assert crba not in Slowed.kernels


@pytest.mark.uncompiled
def test_layers_above_add_methods_of_constrained_dynamics():
    model = dl.robots.load("solo12")
    cs = dl.Constraints(model, [dl.Connect("FL_FOOT")])
    q, v, tau = random_states(model, 0, 3)
    with pytest.raises(dl.UnknownNameError, match="mirrored"):
        dl.constrained_dynamics(model, q, v, tau, cs, method="mirrored")

    def mirrored(cs, inputs, out, threads, limits):
        a, multipliers, info = METHODS["caba"].solver(cs, inputs, out, threads, limits)
        return -a, multipliers, info

    add_method("mirrored", Method(mirrored))
    try:
        with pytest.raises(ValueError, match="two methods"):
            add_method("mirrored", Method(mirrored))
        found = dl.constrained_dynamics(model, q, v, tau, cs, method="mirrored")
        expected = dl.constrained_dynamics(model, q, v, tau, cs, method="caba")
        assert np.array_equal(found.acceleration, -expected.acceleration)
    finally:
        del METHODS["mirrored"]
