import sys

import pytest


@pytest.fixture
def without_collection(monkeypatch, tmp_path):
    """A machine on which the collection of robots is not installed; the folder of its packages."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("delassus.robots.collection._SYSTEM_PREFIXES", ())
    for variable in ("CONDA_PREFIX", "AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path
