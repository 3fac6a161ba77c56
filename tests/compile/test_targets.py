"""The other ways to run the same source: plain Python, CasADi symbols, CUDA."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import delassus as dl
from trees import chain, random_states, random_tree, relative

FUNCTIONS = [
    (dl.inverse_dynamics, "qva"),
    (dl.forward_dynamics, "qva"),
    (dl.mass_matrix, "q"),
    (dl.inverse_mass_matrix, "q"),
    (dl.coriolis_matrix, "qv"),
    (dl.bias_forces, "qv"),
    (dl.gravity_forces, "q"),
    (dl.passive_forces, "qv"),
    (dl.kinetic_energy, "qv"),
    (dl.potential_energy, "q"),
    (dl.center_of_mass, "q"),
    (dl.centroidal_momentum_matrix, "q"),
]


@pytest.mark.parametrize(("function", "arguments"), FUNCTIONS)
def test_symbols_give_the_same_numbers(function, arguments):
    pytest.importorskip("casadi")
    model = random_tree(3, bodies=9)
    states = dict(zip("qva", random_states(model, 0), strict=True))
    values = [states[name] for name in arguments]
    traced = dl.symbolic(function, model)
    assert traced.n_in() == len(arguments)
    expected = np.asarray(function(model, *values))
    assert relative(np.array(traced(*values)).reshape(expected.shape), expected) < 1e-10


def test_symbols_with_forces_and_options():
    pytest.importorskip("casadi")
    model = random_tree(3, bodies=5)
    q, v, a = random_states(model, 0)
    f = np.random.default_rng(0).standard_normal((model.n_bodies, 6))
    traced = dl.symbolic(dl.inverse_dynamics, model, with_external_forces=True)
    expected = dl.inverse_dynamics(model, q, v, a, f)
    assert relative(np.array(traced(q, v, a, f)).ravel(), expected) < 1e-12
    J = dl.symbolic(dl.frame_jacobian, model, frame="f3", reference="world")
    assert relative(np.array(J(q)), dl.frame_jacobian(model, q, "f3", "world")) < 1e-12


def test_public_functions_take_symbols_directly():
    casadi = pytest.importorskip("casadi")
    model = random_tree(3, bodies=5)
    q, v, _ = random_states(model, 0)
    x = casadi.SX.sym("v", model.nv)
    energy = casadi.Function("energy", [x], [dl.kinetic_energy(model, q, x)])
    assert relative(float(energy(v)), dl.kinetic_energy(model, q, v)) < 1e-12
    momentum = casadi.Function("p", [x], [casadi.gradient(dl.kinetic_energy(model, q, x), x)])
    assert relative(np.array(momentum(v)).ravel(), dl.mass_matrix(model, q) @ v) < 1e-11


def test_operation_counts_grow_linearly_and_skip_the_trivial():
    pytest.importorskip("casadi")
    small, large = (dl.operation_count(dl.forward_dynamics, chain(n)) for n in (10, 20))
    assert small.total == small.add + small.mul + small.div + small.sqrt + small.trig + small.other
    assert small.trig == 2 * 10  # a sine and a cosine a joint
    assert 1.8 < large.total / small.total < 2.3


CUDA = """
import os
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numpy as np
from numba import cuda
import delassus as dl
from delassus.compile import FLOAT64
from delassus.model.packed import ModelArrays
from delassus.dynamics.rnea import rnea
from delassus.dynamics.aba import aba
from trees import random_tree, random_states

model = random_tree(4, bodies=7)
arrays = model.arrays(ModelArrays, FLOAT64)
n, extents = 5, model.extents(ModelArrays)
q, v, a = random_states(model, 0, n)
expected = {rnea: dl.inverse_dynamics(model, q, v, a), aba: dl.forward_dynamics(model, q, v, a)}
for kernel, reference in expected.items():
    core, memory = kernel.function, kernel.work

    @cuda.jit
    def entry(q, v, x, out, work, n):
        t = cuda.grid(1)
        if t < n:  # each thread sees its state as a strided view
            own = memory.divide(work[t::n], extents)
            core(arrays, q[t::n], v[t::n], x[t::n], x[:0], out[t::n], own)

    flat = [np.ascontiguousarray(y.T).ravel() for y in (q, v, a)]
    out = np.zeros(model.nv * n)
    work = np.zeros(kernel.work.size(extents) * n)
    entry[2, 4](*flat, out, work, n)
    assert np.allclose(out.reshape(model.nv, n).T, reference, rtol=1e-9, atol=1e-9)
print("agree")
"""


def test_two_kernels_run_in_the_cuda_simulator():
    pytest.importorskip("numba.cuda")
    done = subprocess.run(
        [sys.executable, "-c", CUDA],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[1],
    )
    assert done.stdout.strip() == "agree", done.stderr


@pytest.mark.uncompiled
def test_uncompiled_batches_and_single_states_agree():
    model = random_tree(8, bodies=5)
    q, v, a = random_states(model, 0, 3)
    batch = dl.inverse_dynamics(model, q, v, a)
    assert relative(dl.inverse_dynamics(model, q[1], v[1], a[1]), batch[1]) < 1e-12
    assert np.isnan(dl.inverse_dynamics(model, q[0] * np.nan, v[0], a[0])).all()


def test_importing_brings_no_optional_dependency():
    source = """
import sys
import delassus
heavy = {"casadi", "mujoco", "pinocchio", "matplotlib", "numba", "lxml", "tqdm", "scipy"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
