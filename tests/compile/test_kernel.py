"""Kernels that users declare themselves, at any time."""

import numpy as np
import pytest

import delassus as dl
from delassus.compile import function, kernel, layout
from delassus.compile.native import cache
from delassus.model.packed import ModelArrays
from trees import chain, random_states


def test_a_kernel_declared_after_others_ran_gets_its_own_work_memory(capfd):
    model = chain(3)
    q, v, a = random_states(model, 0)
    before = dl.inverse_dynamics(model, q, v, a)

    @function
    def squared(x):
        return x * x

    @kernel(
        ModelArrays,
        inputs={"v": "nv"},
        outputs={"total": ""},
        work=layout(squares=100_000),
        label="sum of squares",
    )
    def sum_of_squares(model, v, total, work):
        for i in range(100_000):
            work.squares[i] = 0.0
        for k in range(len(model.armature)):
            work.squares[99_999] = work.squares[99_999] + squared(v[k])
        total[0] = work.squares[99_999]

    assert sum_of_squares(model, (v,)) == pytest.approx(v @ v)
    many = np.stack([v, 2 * v, 3 * v])
    assert np.allclose(sum_of_squares(model, (many,)), v @ v * np.array([1, 4, 9]))
    assert np.array_equal(dl.inverse_dynamics(model, q, v, a), before)
    said = capfd.readouterr().err
    assert said.count("compiling sum of squares") == 2
    assert said.count("not kept: it is not of the package") == 2
    assert not list(cache.folder().glob("*sum_of_squares*"))


def test_two_kernels_of_one_name_are_refused():
    def declare():
        @kernel(ModelArrays, inputs={"q": "nq"}, outputs={"r": "nq"})
        def twice_declared(model, q, r, work):
            r[0] = q[0]

    declare()
    with pytest.raises(ValueError, match="two kernels"):
        declare()


def test_forces_that_are_left_out_and_forces_of_zero_are_the_same():
    model = chain(4)
    q, v, a = random_states(model, 1)
    zero = np.zeros((model.n_bodies, 6))
    assert np.allclose(
        dl.forward_dynamics(model, q, v, a), dl.forward_dynamics(model, q, v, a, zero), rtol=1e-14
    )
    force = zero.copy()
    force[-1, 0] = 1.0
    assert not np.allclose(
        dl.forward_dynamics(model, q, v, a, force), dl.forward_dynamics(model, q, v, a)
    )


def test_kernels_without_lanes_branch_on_the_numbers_of_each_state():
    model = chain(2)

    @kernel(
        ModelArrays,
        inputs={"q": "nq"},
        outputs={"halvings": "", "M": "nv nv"},
        work=layout(left="nq"),
        lanes=False,
    )
    def halve_until_small(model, q, halvings, M, work):
        work.left[0] = q[0]
        count = 0
        while work.left[0] > 1.0:
            work.left[0] = 0.5 * work.left[0]
            count += 1
        halvings[0] = 1.0 * count
        if count > 2:
            M[3] = q[1]

    q = np.array([[2.0**k, k] for k in range(50)])
    expected = np.zeros((50, 2, 2))
    expected[3:, 1, 1] = q[3:, 1]
    for threads in (1, 2):
        halvings, M = halve_until_small(model, (q,), None, threads)
        assert np.array_equal(halvings, np.arange(50.0))
        assert np.array_equal(M, expected)
    halvings, M = halve_until_small(model, (q[7],))
    assert halvings == 7
    assert np.array_equal(M, expected[7])


def test_a_kernel_without_lanes_has_no_optional_inputs():
    with pytest.raises(ValueError, match="no optional inputs"):

        @kernel(
            ModelArrays, inputs={"q": "nq", "v": "nv optional"}, outputs={"r": "nq"}, lanes=False
        )
        def refused(model, q, v, r, work):
            r[0] = q[0]
