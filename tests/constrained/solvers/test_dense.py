"""The dense method, which others are checked with."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import repeated, standing
from trees import random_states, relative


def arm(tilt):
    """A planar arm of three joints whose tip is held in x, and nearly in x again."""
    builder = dl.ModelBuilder("arm")
    parent, at = "world", [0.0, 0.0, 0.0]
    for k in range(3):
        builder.add_body(
            f"l{k}", parent, dl.Revolute([0, 0, 1]), at,
            mass=1.0, com=[0.5, 0, 0], inertia=0.1 * np.eye(3),
        )  # fmt: skip
        parent, at = f"l{k}", [1.0, 0.0, 0.0]
    model = builder.build()
    names = model.joint_names
    rows = [dl.Coupling({names[0]: 1.0, names[1]: -2.0})]
    rows += [dl.Coupling({names[0]: 1.0, names[1]: -2.0, names[2]: tilt})]
    return dl.Constraints(model, rows)


@pytest.mark.parametrize("tilt", [1e-3, 1e-5, 1e-7])
def test_nearly_dependent_rows_hold(tilt):
    cs = arm(tilt)  # together they hold the third joint, with a singular value of about tilt
    q, v, tau = random_states(cs.model, 0)
    sol = dl.constrained_dynamics(cs.model, q, v, tau, cs, method="dense")
    assert sol.residual < 1e-12
    assert abs(sol.acceleration[2]) < 1e-15 / tilt * np.abs(tau).max() * 10.0


@pytest.mark.uncompiled
def test_a_state_that_is_no_number_leaves_others_alone():
    cs = standing("solo12")
    q, v, tau = random_states(cs.model, 0, 5)
    expected = dl.constrained_dynamics(cs.model, q, v, tau, cs, method="dense")
    q[2] = np.nan
    found = dl.constrained_dynamics(cs.model, q, v, tau, cs, method="dense")
    good = [0, 1, 3, 4]
    assert np.isnan(found.acceleration[2]).all()
    assert list(found.converged) == [True, True, False, True, True]
    assert relative(found.acceleration[good], expected.acceleration[good]) < 1e-12
    assert list(cs.rank(q)) == [12, 12, 0, 12, 12]


@pytest.mark.uncompiled
def test_single_precision_stays_single():
    cs = standing("solo12")
    q, v, tau = random_states(cs.model, 0, 3)
    expected = dl.constrained_dynamics(cs.model, q, v, tau, cs, method="dense")
    q, v, tau = (x.astype(np.float32) for x in (q, v, tau))
    found = dl.constrained_dynamics(cs.model, q, v, tau, cs, method="dense")
    assert found.acceleration.dtype == found.multipliers.dtype == np.float32
    assert relative(found.acceleration, expected.acceleration) < 1e-4


@pytest.mark.uncompiled
def test_redundant_rows_share_their_forces():
    cs = standing("solo12")
    q, v, tau = random_states(cs.model, 1)
    once = dl.constrained_dynamics(cs.model, q, v, tau, cs, method="dense")
    twice = dl.constrained_dynamics(cs.model, q, v, tau, repeated(cs), method="dense")
    assert relative(twice.acceleration, once.acceleration) < 1e-10
    assert relative(twice.multipliers[:12], once.multipliers / 2.0) < 1e-9


def test_options_are_checked():
    cs = standing("solo12")
    q, v, tau = random_states(cs.model, 1)
    for options in ({"damping": -1.0}, {"max_iterations": 0}, {"tolerance": -1.0}):
        with pytest.raises(dl.SettingError):
            dl.constrained_dynamics(cs.model, q, v, tau, cs, method="dense", **options)
