"""Whatever is given to whatever is public: an answer, or an error of the library. Never a crash.

See `hostile`, which makes the calls, in a process of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import delassus as dl

from . import hostile
from .cases import IS_LARGE, generated

CALLS = 10_000 if IS_LARGE else 300
SECONDS = 3600.0 if IS_LARGE else 900.0


def made(seed, count, **environment):
    """What a process says that makes so many calls."""
    return subprocess.run(
        [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "tests.regimes.hostile",
            str(seed),
            str(count),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        cwd=Path(__file__).parents[2],
        env=os.environ | environment,
    )


# Without compilation what is at the edge is the same, and an index beyond an array is an error.
@pytest.mark.parametrize("environment", [{}, {"DELASSUS_COMPILE": "0"}], ids=["compiled", "plain"])
def test_hostile_calls_are_errors_of_the_library(environment):
    seed = int(np.random.default_rng().integers(2**31)) if IS_LARGE else 0
    count = CALLS if environment else CALLS // 2
    done = made(seed, count, **environment)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[-1].startswith("DONE"), "\n".join(
        [*(x for x in lines if x.startswith("BAD")), *lines[-1:], done.stderr[-2000:]]
    )


def test_all_that_is_public_is_called():
    known = set(hostile.calls())
    for name in dl.__all__:
        thing = getattr(dl, name)
        is_record = isinstance(thing, type) and issubclass(thing, (BaseException, tuple))
        assert name in known or is_record or not callable(thing), name
    assert {"Simulator.set_state", "Model.integrate", "contact.solve", "Simulators.q ="} <= known


def _state():
    return hostile.objects()["Simulator"].state()


@generated(60, 3000)
def test_a_state_that_does_not_fit_changes_nothing(seed):
    """One entry is replaced, left out, or is one too many."""
    rng = np.random.default_rng(seed)
    kind = ("Simulator", "Simulators")[rng.integers(2)]
    sim = hostile.objects()[kind]
    before = sim.state()
    name = list(before)[rng.integers(len(before))]
    given, x = dict(before), before[name]
    way = rng.integers(4)
    if way == 0:
        del given[name]
    elif way == 1:
        given[name + "s"] = x
    elif way == 2 and x.ndim:
        given[name] = hostile.spoilt(rng, x)
    else:
        given[name] = hostile.PLAIN[rng.integers(len(hostile.PLAIN))]
    try:
        sim.set_state(given)
    except dl.DelassusError as error:
        assert str(error)
    else:  # it was as good as before
        assert way > 1 and np.shape(given[name]) == x.shape
        sim.set_state(before)
    after = sim.state()
    assert all(np.array_equal(before[n], after[n], equal_nan=True) for n in before)


@pytest.mark.parametrize("value", [-1.0, 0.5, 1e9, np.nan, np.inf])
def test_a_state_counts_no_more_contacts_than_it_has(value):
    sim = hostile.objects()["Simulator"]
    state = _state()
    state["numbers"][0, -4 * int(state["contact_slots"]) - 1] = value
    with pytest.raises(dl.SettingError, match=r"contacts|finite"):
        sim.set_state(state)


@pytest.mark.parametrize("function", [dl.mass_matrix, dl.inverse_mass_matrix, dl.gravity_forces])
@pytest.mark.parametrize("strides", ["zero", "overlapping"])
@pytest.mark.parametrize("count", [None, 4])
def test_outputs_whose_entries_share_memory_are_refused(function, strides, count):
    model = hostile.objects()["Model"]
    q = model.neutral() if count is None else np.repeat(model.neutral()[None], count, axis=0)
    right = function(model, q)
    step = 0 if strides == "zero" else 8
    shared = np.lib.stride_tricks.as_strided(
        np.zeros(2 * right.size), right.shape, (step,) * right.ndim
    )
    if shared.flags.c_contiguous:  # one axis of whole steps is an array as any other
        assert np.array_equal(function(model, q, out=shared), right)
    else:
        with pytest.raises(dl.ShapeError, match="share memory"):
            function(model, q, out=shared)
    transposed = np.zeros(right.shape[::-1]).T
    assert np.array_equal(function(model, q, out=transposed), right)
