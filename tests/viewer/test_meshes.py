"""Triangles of files."""

import numpy as np
import pytest

from delassus.errors import FileFormatError
from delassus.robots.figures.shells import capsule_triangles, write_capsule
from delassus.viewer.meshes import read_triangles, simplified


def volume(triangles):
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0


def test_binary_stl(tmp_path):
    path = write_capsule(tmp_path / "c.stl", 0.1, 0.3)
    assert np.allclose(read_triangles(path), capsule_triangles(0.1, 0.3), atol=1e-7)


def test_stl_as_text(tmp_path):
    (tmp_path / "t.stl").write_text(
        "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
        "endloop\nendfacet\nendsolid\n"
    )
    assert read_triangles(str(tmp_path / "t.stl")).tolist() == [[[0, 0, 0], [1, 0, 0], [0, 1, 0]]]


def test_faces_of_obj_become_fans_of_triangles(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1 2/2 3/3 4/4\nf -4 -3 -2\n"
    (tmp_path / "t.obj").write_text(text)
    triangles = read_triangles(str(tmp_path / "t.obj"))
    assert triangles.shape == (3, 3, 3)
    assert triangles[1].tolist() == [[0, 0, 0], [1, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("content", [b"", b"solid\nvertex a b c\n", b"\0" * 200])
def test_damaged_files_are_told(tmp_path, content):
    (tmp_path / "t.stl").write_bytes(content)
    with pytest.raises(FileFormatError):
        read_triangles(str(tmp_path / "t.stl"))


def test_a_simplified_mesh_is_nearly_the_same_surface():
    fine = capsule_triangles(0.1, 0.3)
    for _ in range(3):  # each triangle becomes four
        a, b, c = fine[:, 0], fine[:, 1], fine[:, 2]
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        fine = np.concatenate([np.stack(p, axis=1) for p in parts])
    coarse = simplified(fine, 3000)
    assert len(coarse) <= 3000 < len(fine)
    assert np.isclose(volume(coarse), volume(fine), rtol=0.05)


def test_archives_and_huge_coordinates_are_refused_before_they_are_read(tmp_path):
    corners = "".join(f"v {x} {y} 0\n" for x in (0, "1.7e308") for y in (0, 1))
    (tmp_path / "far.obj").write_text(corners + "f 1 2 3\nf 2 3 4\n")
    (tmp_path / "packed.obj").write_bytes(b"PK\x03\x04" + bytes(100))
    (tmp_path / "none.obj").write_text("v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    for name, told in (("far", "beyond 1e.30"), ("packed", "archive"), ("none", "not finite")):
        with pytest.raises(FileFormatError, match=told):
            read_triangles(str(tmp_path / f"{name}.obj"))
    (tmp_path / "inflated.obj").write_text("o inf\nv 1e+2 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert read_triangles(str(tmp_path / "inflated.obj")).shape == (1, 3, 3)


def test_a_bound_on_files_can_be_raised(tmp_path, monkeypatch):
    path = write_capsule(tmp_path / "c.stl", 0.1, 0.3)
    monkeypatch.setenv("DELASSUS_LARGEST_FILE", "0.0001")
    with pytest.raises(FileFormatError, match="DELASSUS_LARGEST_FILE"):
        read_triangles(path)
    monkeypatch.setenv("DELASSUS_LARGEST_FILE", "1")
    assert len(read_triangles(path)) > 0
