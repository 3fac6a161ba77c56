"""Pairs of vectors in second-order cones, and steps to the boundary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from delassus.contact.laws import scaling

numbers = st.floats(-10.0, 10.0)
distances = st.floats(1e-6, 10.0)
vectors = st.tuples(numbers, numbers, numbers)
inside = st.builds(lambda x, y, d: (np.hypot(x, y) + d, x, y), numbers, numbers, distances)


def is_near(x, y, size=1.0):
    return np.allclose(x, y, rtol=1e-6, atol=1e-6 * size)


@given(inside, inside)
def test_the_scaling_makes_both_vectors_of_a_pair_equal(w, z):
    W = scaling.scaling_of(w, z)
    up, down = scaling.scale_up(W, z), scaling.scale_down(W, w)
    assert is_near(up, down, np.abs(up).max())


@given(inside, inside, vectors)
def test_scaling_up_and_down_leaves_vectors_as_they_were(w, z, x):
    W = scaling.scaling_of(w, z)
    size = (1.0 + W.q0) ** 2 * np.abs(x).max()
    assert np.allclose(scaling.scale_down(W, scaling.scale_up(W, x)), x, atol=1e-12 * size + 1e-12)
    a, b, c, d, e, f = scaling.inverse_square(W)
    twice = scaling.scale_down(W, scaling.scale_down(W, x))
    square = np.array([[a, b, c], [b, d, e], [c, e, f]])
    assert np.allclose(square @ x, twice, rtol=1e-9, atol=1e-9 * np.abs(square).max())


@given(inside, vectors)
def test_the_quotient_undoes_the_product(g, x):
    found = scaling.jordan_quotient(g, scaling.jordan_product(g, x))
    size = np.abs(x).max() * (g[0] / scaling.cone_length(g)) ** 2
    assert np.allclose(found, x, atol=1e-10 * size + 1e-12)


@given(inside, vectors)
def test_a_step_to_the_boundary_ends_there(x, dx):
    step = scaling.step_to_boundary(x, dx)
    assert step > 0.0
    x, dx = np.array(x), np.array(dx)
    for share in (0.5, 0.999):
        inner = x + min(share * step, 1e3) * dx
        assert inner[0] >= np.hypot(inner[1], inner[2]) - 1e-9 * np.abs(inner).max()
    if step < 1e3:
        outer = x + 1.001 * step * dx + 0.0
        assert outer[0] <= np.hypot(outer[1], outer[2]) + 1e-9 * (1 + np.abs(outer).max())
