"""Contacts as people read them: who touches whom, where, with which force."""

import numpy as np
import pytest

import delassus as dl
from simulation.collision.scenes import SIZES, bodies

WEIGHT = 9.81  # of a body of 1 kg


def placed(model, *heights):
    q = model.neutral()
    q[2::7] = heights
    return q


def test_contacts_are_there_right_after_a_reset_and_have_forces_after_a_step():
    model = bodies("box")
    sim = dl.Simulator(model)
    assert len(sim.contacts) == 4  # the neutral box has its lower half in the ground
    sim.reset(placed(model, 0.1))
    found = sim.contacts
    assert set(found["first"]) == {"world"} and set(found["second"]) == {"body 0"}
    assert set(found["first_shape"]) == {"ground"} and set(found["second_shape"]) == {"shape 0"}
    half = 0.5 * np.array(SIZES["box"])
    np.testing.assert_allclose(np.abs(found["point"][:, :2]), np.tile(half[:2], (4, 1)))
    np.testing.assert_allclose(found["normal"], np.tile([0.0, 0.0, 1.0], (4, 1)))
    assert found["distance"] == pytest.approx(np.zeros(4), abs=1e-12)
    assert not found["force"].any()
    sim.rollout(5)
    np.testing.assert_allclose(sim.contacts["force"].sum(axis=0), [0, 0, WEIGHT], atol=1e-4)


def test_a_stack_bears_its_weight_and_forces_act_on_the_second():
    model = bodies("box", ("box", (0.1, 0.1, 0.1)))
    sim = dl.Simulator(model)
    sim.reset(placed(model, 0.1, 0.25))
    sim.rollout(20)
    found = sim.contacts
    below = found[found["first"] == "world"]
    between = found[found["first"] != "world"]
    np.testing.assert_allclose(below["force"].sum(axis=0), [0, 0, 2 * WEIGHT], atol=1e-3)
    assert set(between["second"]) == {"body 1"}
    np.testing.assert_allclose(between["force"].sum(axis=0), [0, 0, WEIGHT], atol=1e-3)


def test_contacts_of_a_rollout_are_recorded_if_asked_for(tmp_path):
    model = bodies("sphere")
    sim = dl.Simulator(model, worlds=2)
    q = np.stack([placed(model, 0.13), placed(model, 0.5)])
    sim.reset(q)
    rec = sim.rollout(4, contacts=True, record=str(tmp_path / "run.rec"))
    assert rec.contacts["step"].tolist() == [0, 1, 2, 3]
    assert set(rec.contacts["world"]) == {0}
    assert rec.contacts["force"][-1, 2] == pytest.approx(WEIGHT, abs=1e-4)
    kept = dl.Recording.load(tmp_path / "run.rec")
    np.testing.assert_array_equal(kept.contacts, rec.contacts)
    sim.reset(q)
    assert np.array_equal(sim.rollout(4).q, rec.q)
    with pytest.raises(dl.SettingError, match="contacts=True"):
        _ = sim.rollout(1).contacts
