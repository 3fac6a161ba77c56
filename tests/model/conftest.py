"""What the tests of file readers share."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from delassus.model.formats import ModelFileWarning, load


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path."""

    def write_file(content: str | bytes, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def read(write):
    """Reads a model from a text, with warnings as errors unless they are expected."""

    def read_text(content: str | bytes, name: str = "robot.urdf", warns: str | None = None, **how):
        path = write(content, name)
        if warns is not None:
            with pytest.warns(ModelFileWarning, match=warns):
                return load(path, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ModelFileWarning)
            return load(path, **how)

    return read_text
