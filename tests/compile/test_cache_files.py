"""Files and folders of the cache: damage, full disks, and folders that others can write to."""

import errno
import os
import pickle
import stat
import warnings

import pytest

from delassus import CacheWarning
from delassus.compile import FLOAT64, kernels
from delassus.compile.native import cache
from delassus.compile.native.cache import files, folders

only_with_owners = pytest.mark.skipif(
    not hasattr(os, "geteuid"), reason="files have no owners and modes here"
)


# --- files ----------------------------------------------------------------------------------------


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "a.kernel"
    assert files.read(path) is None
    assert files.write(path, pickle.dumps([1, 2]))
    assert files.read(path) == [1, 2]
    assert os.listdir(tmp_path) == ["a.kernel"]


def _cut(content):
    return content[:-1]


def _flip_a_bit(content):
    return content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]


@pytest.mark.parametrize(
    "damage",
    [_cut, _flip_a_bit, lambda content: b"", lambda content: b"something else" * 50],
    ids=["cut", "a bit flipped", "empty", "another kind of file"],
)
def test_a_damaged_file_is_named_and_then_replaced(tmp_path, damage):
    path = tmp_path / "a.kernel"
    files.write(path, pickle.dumps(list(range(100))))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(CacheWarning, match="a.kernel cannot be used"):
        assert files.read(path) is None
    assert files.write(path, pickle.dumps("new"))
    assert files.read(path) == "new"


def test_a_file_that_cannot_be_unpickled_is_named(tmp_path):
    path = tmp_path / "a.kernel"
    files.write(path, pickle.dumps(os.path.join).replace(b"join", b"lost"))
    with pytest.warns(CacheWarning, match="cannot be unpickled"):
        assert files.read(path) is None


@only_with_owners
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_to_is_not_unpickled(tmp_path, mode):
    path = tmp_path / "a.kernel"
    files.write(path, pickle.dumps(1))
    path.chmod(mode)
    with pytest.warns(CacheWarning, match="others can write to"):
        assert files.read(path) is None


def test_a_full_disk_gives_one_warning_and_leaves_nothing(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.warns(CacheWarning, match="No space left on device"):
        assert not files.write(tmp_path / "a.kernel", b"...")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not files.write(tmp_path / "b.kernel", b"...")
    assert not os.listdir(tmp_path)


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A cache of this test's own."""
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    return tmp_path


def compiled_normalize():
    """The entry of a small kernel, as the first call in a process gets it."""
    kernel = kernels()["normalize"]
    kernel._batch.pop(FLOAT64, None)
    return kernel.batch(FLOAT64)


def test_a_kernel_is_compiled_anew_from_a_damaged_file(own_folder, capsys):
    compiled_normalize()
    (path,) = own_folder.iterdir()
    assert "compiling normalize" in capsys.readouterr().err
    good = path.read_bytes()
    # The checksum is right, but this is no compiled entry.
    files.write(path, pickle.dumps((1, 2, 3)))
    with pytest.warns(CacheWarning, match=f"{path.name} cannot be used"):
        assert callable(compiled_normalize())
    assert len(path.read_bytes()) > len(good) / 2
    assert callable(compiled_normalize())


def test_a_kernel_works_where_the_disk_is_full(own_folder, monkeypatch):
    def fail(*arguments, **keywords):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.tempfile, "mkstemp", fail)
    with pytest.warns(CacheWarning, match="No space left on device"):
        assert callable(compiled_normalize())
    assert not list(own_folder.iterdir())


# --- folders --------------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The folders that are tried, the preferred one and the one for temporary files."""
    preferred, temporary = tmp_path / "preferred", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv(folders.FOLDER_VARIABLE, str(preferred))
    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(temporary))
    user = os.geteuid() if hasattr(os, "geteuid") else "cache"
    return preferred, temporary / f"delassus-{user}"


@only_with_owners
def test_folders_are_made_for_this_user_only(places):
    preferred, _ = places
    old = os.umask(0)
    try:
        assert folders.find_folder("x") == preferred.resolve() / "x"
    finally:
        os.umask(old)
    for folder in (preferred, preferred / "x"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@only_with_owners
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
@pytest.mark.parametrize("inner", ["", "x"])
def test_a_folder_that_others_can_write_to_is_not_used(places, mode, inner):
    preferred, fallback = places
    (preferred / "x").mkdir(parents=True)
    (preferred / inner).chmod(mode)
    with pytest.warns(CacheWarning, match="chmod go-w") as caught:
        assert folders.find_folder("x") == fallback / "x"
    assert str(preferred / inner) in str(caught[0].message)
    assert folders.FOLDER_VARIABLE in str(caught[0].message)


@only_with_owners
def test_a_folder_of_another_user_is_not_used(places, monkeypatch):
    preferred, fallback = places
    preferred.mkdir(mode=0o755)
    fallback.mkdir(mode=0o755)
    me = os.geteuid()
    monkeypatch.setattr(folders.os, "geteuid", lambda: me + 1)
    fallback.rename(fallback.with_name(f"delassus-{me + 1}"))
    with pytest.warns(CacheWarning, match=r"another user.*another user.*they are not kept"):
        assert folders.find_folder("x") is None
    assert not list(preferred.iterdir())


def test_a_link_in_the_folder_for_temporary_files_is_not_followed(places, tmp_path):
    preferred, fallback = places
    preferred.write_text("a file where a folder is wanted")
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    fallback.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(CacheWarning, match="is no folder"):
        assert folders.find_folder("x") is None
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_user_may_link_the_preferred_folder_to_another_disk(places, tmp_path):
    preferred, _ = places
    disk = tmp_path / "disk"
    disk.mkdir(mode=0o700)
    preferred.symlink_to(disk)
    assert folders.find_folder("x") == disk.resolve() / "x"


def test_a_kernel_works_without_any_folder(monkeypatch):
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert callable(compiled_normalize())
