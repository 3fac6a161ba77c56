"""The arrays that kernels read: inertias as sums that are cheap to turn, and no wrapped indices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delassus import ModelBuilder, Revolute
from delassus.model.packed import ModelArrays, pack
from delassus.spatial.vectors import rotate_factored

UPPER = np.triu_indices(3)
SIDES = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3)
AXES = ([1, 0, 0], [0, 1, 0], [0, 0, 1])


def packed_inertia(inertia: np.ndarray, com=(0.0, 0.0, 0.0)):
    """Of a body that turns about z: the sum, the matrix, and the sum about the centre of mass."""
    builder = ModelBuilder("one")
    builder.add_body("body", "world", Revolute([0, 0, 1]), mass=2.0, com=com, inertia=inertia)
    arrays = pack(builder.build(), np.dtype(float))
    solid = arrays.solids[1]
    return arrays.links[1]["inertia_factor"], solid["inertia"], solid["central_factor"]


def turned(factor: np.ndarray, R: np.ndarray) -> np.ndarray:
    """R A R^T of a sum, its upper triangle."""
    return np.array(rotate_factored(tuple(R.ravel()), factor))


def of_masses(sides: list[float], Q: np.ndarray) -> np.ndarray:
    """The inertia of masses along three axes at right angles: all that there are, flat ones too."""
    x, y, z = np.square(sides)
    return Q @ np.diag([y + z, x + z, x + y]) @ Q.T


def rotation(seed: int) -> np.ndarray:
    """Some rotation."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


@given(SIDES, st.integers(0, 1000), st.integers(0, 1000))
def test_sum_is_the_inertia_in_any_axes(sides, seed, other):
    inertia = of_masses(sides, rotation(seed)) + 1e-3 * np.eye(3)
    R = rotation(other)
    own, matrix, central = packed_inertia(inertia, com=(0.1, -0.2, 0.3))
    full = np.zeros((3, 3))
    full[UPPER] = matrix
    full = full + np.triu(full, 1).T
    np.testing.assert_allclose(turned(own, R), (R @ full @ R.T)[UPPER], atol=1e-14)
    np.testing.assert_allclose(turned(central, R), (R @ inertia @ R.T)[UPPER], atol=1e-14)


@pytest.mark.parametrize(
    "moments", [(1, 2, 3), (3, 1, 2), (2, 3, 1), (2, 2, 1), (1, 2, 2), (1, 1, 1)]
)
def test_principal_axes_stay_sparse(moments):
    own, matrix, _ = packed_inertia(np.diag(np.array(moments, float)))
    np.testing.assert_allclose(turned(own, np.eye(3)), matrix, atol=1e-15)
    assert np.count_nonzero(own[:5]) == np.count_nonzero(np.array(moments) > min(moments))


@pytest.mark.parametrize("axis", AXES)
def test_rod_without_thickness(axis):
    """Its moment about its own axis is zero, and so is the constant of the sum."""
    axis = np.array(axis, float)
    own, matrix, _ = packed_inertia(np.eye(3) - np.outer(axis, axis))
    np.testing.assert_allclose(turned(own, np.eye(3)), matrix, atol=1e-15)
    assert own[5] == 0.0


def test_arrays_of_plain_kernels_refuse_what_compiled_ones_cannot_do():
    builder = ModelBuilder("one")
    builder.add_body("body", "world", Revolute([0, 0, 1]), mass=2.0)
    arrays = builder.build().arrays(ModelArrays, np.dtype(float))
    assert arrays.links[1].mass == 2.0
    for array in (arrays.links, arrays.armature):
        with pytest.raises(IndexError, match="entry -1"):
            array[-1]
