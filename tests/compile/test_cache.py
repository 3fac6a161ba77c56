"""Compiled kernels are kept, found again, and never stale."""

import compileall
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import delassus
from delassus.compile import kernels
from delassus.compile.native import cache, entries
from delassus.compile.native.cache import files
from delassus.compile.native.cache.contents import reached_functions

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
    assert "compiling potential_energy, one state, for" in first.stderr
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
    (environment,) = (tmp_path / "cache").iterdir()
    assert len(list(environment.iterdir())) == 2
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


# --- what a key covers ----------------------------------------------------------------------------

KEYS = """
import json, delassus
from delassus.compile import kernels
from delassus.compile import kernels
from delassus.compile.native import cache, entries
from delassus.compile.native.cache import files
from delassus.compile.native.cache.contents import reached_functions
print(json.dumps({name: cache.entry_key(k.function) for name, k in kernels().items()}))
"""


def keys(where):
    """The keys of all kernels of a package in a folder or zip file."""
    done = subprocess.run(
        [sys.executable, "-c", KEYS],
        env={**os.environ, "PYTHONPATH": str(where)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def changed_by(copied_package, file, old, new):
    """The kernels whose keys change when a text in a file is replaced."""
    before = keys(copied_package)
    path = copied_package / "delassus" / file
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    after = keys(copied_package)
    path.write_text(text)
    return {name for name in before if before[name] != after[name]}, set(before)


@pytest.mark.parametrize(
    ("file", "old", "new", "changes", "stays"),
    [
        # a function that some kernels call
        (
            "constrained/delassus/blocks.py",
            *("for k in range(", "for k in range(0, "),
            *({"pv_osim", "caba_osim"}, {"aba", "caba", "rnea"}),
        ),
        # a kernel's own file
        ("dynamics/coriolis.py", "0.5", "0.25", {"coriolis"}, {"aba", "crba", "caba"}),
        # the value of a constant, and the slots of a record, which other files read
        (
            "constrained/solvers/proximal.py",
            "SLOW = 0.1",
            "SLOW = 0.2",
            {"caba"},
            {"aba"},
        ),
        ("dynamics/rnea.py", "omega=3", "omega=4", {"rnea"}, {"aba"}),
        # a helper of helpers
        ("spatial/vectors.py", "return a[0] * b[0]", "return b[0] * a[0]", {"weigh", "caba"}, {}),
        # neither comments nor docstrings nor code that kernels do not call
        ("spatial/vectors.py", '"""', '# a comment\n\n"""', {}, {"aba", "rnea", "caba"}),
        ("model/model.py", "class Model(", "x = 1\n\n\nclass Model(", {}, {"aba", "caba"}),
    ],
)
def test_a_key_changes_with_what_its_kernel_is_made_of(
    copied_package, file, old, new, changes, stays
):
    changed, _ = changed_by(copied_package, file, old, new)
    assert changed >= set(changes)
    assert not changed & set(stays)


def test_a_module_that_moves_changes_the_keys_of_its_kernels(copied_package):
    package = copied_package / "delassus"
    before = keys(copied_package)
    (package / "spatial/vectors.py").rename(package / "spatial/arrows.py")
    for path in package.rglob("*.py"):
        path.write_text(path.read_text().replace("spatial.vectors", "spatial.arrows"))
    for path in (package / "spatial").glob("*.py"):
        path.write_text(path.read_text().replace(".vectors", ".arrows"))
    assert before["caba"] != keys(copied_package)["caba"]


def test_the_compile_layer_is_part_of_every_kernel(copied_package):
    changed, known = changed_by(copied_package, "compile/native/types/lanes.py", "INDEX", "INDEX ")
    assert changed == known


def without_sources(package):
    """Replace sources by byte code."""
    compileall.compile_dir(package, quiet=2, legacy=True)
    for path in package.rglob("*.py"):
        path.unlink()


@pytest.mark.parametrize("is_zipped", [False, True])
@pytest.mark.parametrize("has_sources", [False, True])
@pytest.mark.parametrize("file", ["spatial/vectors.py", "compile/native/types/lanes.py"])
def test_keys_change_with_code_in_zip_files_and_without_sources(
    copied_package, tmp_path, is_zipped, has_sources, file
):
    def packed(name):
        place = tmp_path / name
        shutil.copytree(copied_package, place)
        if not has_sources:
            without_sources(place / "delassus")
        return shutil.make_archive(str(place), "zip", place) if is_zipped else place

    first = packed("first")
    path = copied_package / "delassus" / file
    path.write_text(path.read_text().replace("a[0] * b[0]", "b[0] * a[0]") + "\nx = 1\n")
    edited = packed("edited")
    before, after = keys(first), keys(edited)
    assert before["caba"] != after["caba"]
    assert before == keys(first)


def test_all_kernels_of_the_package_can_be_kept():
    ours = [k for k in kernels().values() if k.function.__module__.startswith("delassus.")]
    assert len(ours) > 50
    for kernel in ours:
        assert cache.entry_key(kernel.function)


def test_all_that_is_compiled_for_a_kernel_is_part_of_its_key(monkeypatch, tmp_path):
    """The compiler tells which functions it compiles; a key without one of them could be stale."""
    from numba.core import event

    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    compiled = set()

    class Listener(event.Listener):
        def on_start(self, event):
            compiled.add(event.data["dispatcher"].py_func)

        def on_end(self, event):
            pass

    kernel = kernels()["delassus_diagonal"]
    with event.install_listener("numba:compile", Listener()):
        kernel._single.clear()
        kernel.single()
    layer = "delassus.compile."
    ours = {f for f in compiled if f.__module__.startswith("delassus")}
    ours = {f for f in ours if not f.__module__.startswith(layer)}
    assert kernel.function in ours and len(ours) > 20
    assert ours <= set(reached_functions(kernel.function))


class Opaque:
    """A value that nobody can tell whether it changed."""


SECRET = Opaque()


def test_a_function_whose_changes_would_go_unnoticed_is_not_kept(monkeypatch):
    def reads_it():
        return SECRET

    monkeypatch.setattr(reads_it, "__module__", "delassus.somewhere")
    with pytest.raises(cache.NotKept, match=r"refers to .*Opaque"):
        cache.entry_key(reads_it)


def test_only_the_entries_used_last_are_kept(tmp_path):
    for k in range(12):
        path = tmp_path / f"a_single.{k}.kernel"
        files.write(path, pickle.dumps(k))
        os.utime(path, (k, k))
        files.write(tmp_path / f"a_single_full.{k}.kernel", b"")
    assert files.read(tmp_path / "a_single.0.kernel") == 0  # now it is the one used last
    files.remove_older(tmp_path, "a_single")
    left = {path.name for path in tmp_path.glob("a_single.*")}
    assert left == {f"a_single.{k}.kernel" for k in (0, *range(5, 12))}
    assert len(list(tmp_path.glob("a_single_full.*"))) == 12


def test_every_compilation_is_announced(tmp_path):
    source = EVALUATE + "dl.potential_energy(b.build(), np.zeros((4, 1)))\n"
    announcements = run(tmp_path, source).stderr.splitlines()
    assert len(announcements) == 2
    for line, entry in zip(announcements, ("one state", "batches of float64"), strict=True):
        assert line.startswith(f"delassus: compiling potential_energy, {entry}, for ")
        assert re.search(rf"\(once, about \d+ s; kept in {tmp_path / 'cache'}", line)


def test_an_announcement_tells_optional_inputs_and_that_an_entry_is_not_kept(monkeypatch, capsys):
    monkeypatch.setattr(cache, "folder", lambda: None)
    kernel = kernels()["passive"]
    monkeypatch.setattr(kernel, "_single", {})
    kernel.single()
    assert re.search(r"passive_forces, one state, .*not kept\)", capsys.readouterr().err)
    described = entries.describe_single(kernels()["rnea"].signature, with_optional=True)
    assert described == "one state with external_forces"


def test_larger_kernels_are_announced_to_take_longer(monkeypatch, capsys):
    monkeypatch.setattr(cache, "folder", lambda: None)
    seconds = []
    for name in ("normalize", "rnea", "aba", "caba"):
        cache.announce(name, kernels()[name].function)
        seconds.append(int(re.search(r"about (\d+) s", capsys.readouterr().err)[1]))
    assert seconds == sorted(set(seconds))
