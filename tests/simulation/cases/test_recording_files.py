"""Files of recordings that are damaged or end early."""

import warnings

import numpy as np
import pytest

import delassus as dl
from delassus.simulation.told.metrics import METRIC
from delassus.simulation.told.recording import Recording, Sizes


@pytest.fixture
def written(tmp_path):
    rng = np.random.default_rng(0)
    made = Recording("r", Sizes(3, 2, 0, 0, 0, 0, 0.01), [], np.zeros((1, 2)))
    for first in (0, 4):
        trace, metrics = (rng.standard_normal((1, 4, n)) for n in (5, METRIC.size))
        part = {"time": 0.01 * np.arange(first, first + 4), "trace": trace, "metrics": metrics}
        made._take(part)
    made.save(tmp_path / "run.rec")
    return made, tmp_path / "run.rec"


def test_a_whole_file_is_read_without_a_word(written):
    made, path = written
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = dl.Recording.load(path)
    assert np.array_equal(found.q, made.q) and np.array_equal(
        found.accelerations, made.accelerations
    )


def test_a_damaged_part_ends_a_recording_and_is_told(written):
    made, path = written
    content = bytearray(path.read_bytes())
    content[-600] ^= 255
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="the 4 steps before it are read"):
        found = dl.Recording.load(path)
    assert np.array_equal(found.q, made.q[:4])


def test_a_file_that_ends_before_its_first_step_is_empty(written):
    _, path = written
    whole = path.read_bytes()
    start = len(b"delassus recording 2\n")
    first = start + 8 + int.from_bytes(whole[start : start + 8], "little")
    for size in (start, start + 40, first, first + 8, first + 300):
        path.write_bytes(whole[:size])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(dl.FileFormatError, match="empty"):
                dl.Recording.load(path)


def test_a_recording_without_steps_says_so():
    made = Recording("r", Sizes(3, 2, 0, 0, 0, 0, 0.01), [], np.zeros((1, 2)))
    for name in ("q", "v", "time", "metrics", "accelerations"):
        with pytest.raises(dl.DelassusError, match="empty"):
            getattr(made, name)
