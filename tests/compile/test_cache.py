"""Compiled kernels are kept, found again, and never stale."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import delassus
from delassus.compile.native import cache

PACKAGE = Path(delassus.__file__).parent
EVALUATE = """
import numpy as np, delassus as dl
b = dl.ModelBuilder("pendulum")
b.add_body("rod", joint=dl.Revolute([0, 1, 0]), mass=2.0, com=[0, 0, -1.0])
print(float(dl.potential_energy(b.build(), np.array([0.0]))))
"""


def run(tmp_path, source=EVALUATE, **environment):
    env = {**os.environ, "DELASSUS_CACHE_DIR": str(tmp_path / "cache"), **environment}
    return subprocess.run(
        [sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def copied_package(tmp_path):
    """A copy of the package that a test may edit, first on the path."""
    where = tmp_path / "copy"
    shutil.copytree(PACKAGE, where / "delassus", ignore=shutil.ignore_patterns("__pycache__"))
    return where


def test_an_edited_helper_is_never_served_stale(tmp_path, copied_package):
    first = run(tmp_path, PYTHONPATH=str(copied_package))
    assert float(first.stdout) == pytest.approx(-19.62)
    assert "compiling potential_energy for" in first.stderr
    again = run(tmp_path, PYTHONPATH=str(copied_package))
    assert again.stdout == first.stdout
    assert "compiling" not in again.stderr

    # The helper is in another file than the kernel that calls it.
    vectors = copied_package / "delassus" / "spatial" / "vectors.py"
    text = vectors.read_text()
    edited = text.replace(
        "return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]",
        "return 2.0 * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])",
    )
    assert edited != text
    vectors.write_text(edited)
    changed = run(tmp_path, PYTHONPATH=str(copied_package))
    assert float(changed.stdout) == pytest.approx(-2 * 19.62)
    assert "compiling potential_energy" in changed.stderr

    # Both versions live side by side: the first is still found.
    assert len(list((tmp_path / "cache").iterdir())) == 2
    vectors.write_text(text)
    back = run(tmp_path, PYTHONPATH=str(copied_package))
    assert back.stdout == first.stdout
    assert "compiling" not in back.stderr


def test_an_unwritable_home_falls_back_to_a_temporary_folder_with_a_warning(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder is wanted")
    (tmp_path / "tmp").mkdir()
    source = "from delassus.compile.native import cache; print(cache.folder())"
    done = run(
        tmp_path, source, DELASSUS_CACHE_DIR=str(blocked / "cache"), TMPDIR=str(tmp_path / "tmp")
    )
    assert "CacheWarning" in done.stderr
    assert "DELASSUS_CACHE_DIR" in done.stderr
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "tmp")


def test_the_hash_covers_kernels_and_leaves_out_what_people_run(copied_package):
    package = copied_package / "delassus"
    before = cache.source_hash(package)
    (package / "cli" / "extra.py").write_text("x = 1\n")
    assert cache.source_hash(package) == before
    (package / "spatial" / "extra.py").write_text("x = 1\n")
    assert cache.source_hash(package) != before


def test_compiling_is_announced_once_a_kernel(tmp_path):
    source = EVALUATE + "dl.potential_energy(b.build(), np.zeros((4, 1)))\n"
    done = run(tmp_path, source)
    assert done.stderr.count("compiling potential_energy for") == 1
