"""Problems in files."""

import numpy as np
import pytest

import delassus as dl
from contact.problems import mixed
from delassus import contact


def test_a_problem_comes_back_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(1)
    p = mixed(rng)
    q = contact.Problem(
        p.delassus, p.free_velocity, p.n_joint_rows, p.n_limit_rows, p.bounds, p.friction,
        compliance=0.1, target=rng.standard_normal(p.n_rows),
    )  # fmt: skip
    for number, given in enumerate((p, q)):
        path = tmp_path / f"{number}.npz"
        given.save(path)
        found = contact.load(path)
        assert found.counts == given.counts
        for name in ("delassus", "free_velocity", "bounds", "friction", "compliance", "target"):
            assert np.array_equal(getattr(found, name), getattr(given, name))


def test_files_that_are_no_problems_are_refused(tmp_path):
    with pytest.raises(dl.DelassusError, match="there is no file"):
        contact.load(tmp_path / "missing.npz")
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"nothing of the kind")
    with pytest.raises(dl.DelassusError, match="no problem file"):
        contact.load(bad)
    np.savez(bad, delassus=np.eye(3))
    with pytest.raises(dl.DelassusError, match="has no format"):
        contact.load(bad)


@pytest.mark.parametrize("kind", ["triplets", "columns", "rows"])
def test_local_problems_of_fclib_are_read(tmp_path, kind):
    h5py = pytest.importorskip("h5py", reason="FCLib's files are read with h5py")
    rng = np.random.default_rng(2)
    A = rng.standard_normal((6, 6))
    W, q, mu = A @ A.T, rng.standard_normal(6), np.array([0.3, 0.7])
    i, j = np.nonzero(W) if kind != "columns" else np.nonzero(W)[::-1]
    path = tmp_path / "problem.hdf5"
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = [3]
        matrix = group.create_group("W")
        for name in ("m", "n"):
            matrix[name] = [6]
        if kind == "triplets":
            matrix["nz"], matrix["i"], matrix["p"] = [36], i, j
        else:
            matrix["nz"] = [-1 if kind == "columns" else -2]
            matrix["p"], matrix["i"] = np.arange(0, 37, 6), np.tile(np.arange(6), 6)
        matrix["nzmax"] = [36]
        matrix["x"] = W.ravel()  # symmetric: rows and columns read the same
        group["vectors/q"], group["vectors/mu"] = q, mu
    p = contact.load(path)
    order = [1, 2, 0, 4, 5, 3]  # N T1 T2 become T1 T2 N
    assert np.allclose(p.delassus, W[np.ix_(order, order)])
    assert np.array_equal(p.free_velocity, q[order])
    assert np.array_equal(p.friction, mu)
    assert contact.solve(p).converged


def test_an_hdf5_file_of_something_else_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py", reason="FCLib's files are read with h5py")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = [1]
    with pytest.raises(dl.DelassusError, match="no local problem of FCLib"):
        contact.load(tmp_path / "other.h5")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, format=1, delassus=np.zeros((400, 400)))
    monkeypatch.setenv("DELASSUS_LARGEST_FILE", "1")
    with pytest.raises(dl.FileFormatError, match="DELASSUS_LARGEST_FILE"):
        contact.load(path)
    monkeypatch.setenv("DELASSUS_LARGEST_FILE", "2")
    with pytest.raises(dl.FileFormatError, match="has no free_velocity"):
        contact.load(path)
    monkeypatch.setenv("DELASSUS_LARGEST_FILE", "much")
    with pytest.raises(dl.DelassusError, match="number of MiB"):
        contact.load(path)


def test_a_problem_is_not_saved_into_a_folder_that_is_missing(tmp_path):
    with pytest.raises(dl.MissingFileError, match="there is no folder"):
        mixed(np.random.default_rng(1)).save(tmp_path / "missing" / "p.npz")
