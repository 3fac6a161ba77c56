"""Rotations that put one axis in the place of another."""

import numpy as np
import pytest

from delassus.spatial.transform import rotation_to_axis


@pytest.mark.parametrize("tilt", [1.0, 0.1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-12, 1e-200, 0.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_z_turns_to_any_axis(side, tilt):
    rng = np.random.default_rng(0)
    for angle in rng.uniform(0.0, 2.0 * np.pi, 20):
        axis = np.array([tilt * np.cos(angle), tilt * np.sin(angle), side])
        axis /= np.linalg.norm(axis)
        R = rotation_to_axis(axis)
        assert np.abs(R @ R.T - np.eye(3)).max() < 4e-15
        assert np.abs(R[:, 2] - axis).max() < 1e-15
        assert abs(np.linalg.det(R) - 1.0) < 1e-14
