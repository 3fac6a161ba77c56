"""A model does not change: what is set is refused, and copies differ where asked."""

import copy
import pickle

import numpy as np
import pytest

import delassus as dl
from delassus.model.parts.elements import Frame
from trees import chain, random_states


@pytest.mark.parametrize("name", ["gravity", "name", "nq", "constraints", "lower", "anything"])
def test_attributes_of_a_model_cannot_be_set(name):
    model = chain(3)
    before = dl.gravity_forces(model, model.neutral())
    with pytest.raises(dl.ImmutableError, match="does not change"):
        setattr(model, name, None)
    with pytest.raises(AttributeError):  # the built-in error that fits
        delattr(model, "gravity")
    assert np.array_equal(dl.gravity_forces(model, model.neutral()), before)


def test_arrays_inside_a_model_are_read_only():
    model = dl.robots.load("panda")
    body = model.bodies[2]
    arrays = [model.gravity, model.lower, model.effort_limit, body.joint.data.armature]
    arrays += [body.inertia.center, body.inertia.matrix]
    arrays += [body.placement.rotation, body.placement.translation]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_what_a_model_is_built_from_stays_the_users_own():
    center, rotation = np.array([0.1, 0.0, 0.0]), np.eye(3)
    inertia, placement = dl.Inertia(1.0, center), dl.Transform(rotation)
    center[0] = rotation[0, 0] = 9.0  # still writeable
    assert inertia.center[0] == 0.1
    assert placement.rotation[0, 0] == 1.0
    view = rotation[:2]
    view.setflags(write=False)
    assert dl.Transform(translation=view[0]).translation.base is None


def test_a_copy_with_other_gravity_falls_another_way():
    model = chain(3)
    q = random_states(model, 0)[0]
    moon = model.replace(gravity=[0.0, 0.0, -1.62])
    weightless = model.replace(gravity=(0, 0, 0), name="floating")
    assert weightless.name == "floating"
    assert np.array_equal(dl.gravity_forces(weightless, q), np.zeros(model.nv))
    scaled = dl.gravity_forces(model, q) * (1.62 / -model.gravity[2])
    assert np.allclose(dl.gravity_forces(moon, q), scaled, rtol=1e-12, atol=1e-14)
    assert np.array_equal(model.gravity, chain(3).gravity)


def test_a_copy_may_have_other_frames_and_constraints():
    model = dl.robots.load("panda")
    tip = Frame("tip", model.n_bodies - 1, dl.Transform(translation=np.array([0.0, 0.0, 0.1])))
    copied = model.replace(frames=[*model.frames, tip], constraints=[dl.Connect("tip")])
    assert copied.frame_names[-1] == "tip"
    assert dl.Constraints(copied).size == 3
    assert len(model.constraints) == 1  # the fingers, as before


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"gravity": [0.0, 1.0]}, dl.ModelError),
        ({"gravity": "down"}, dl.ModelError),
        ({"gravity": [0.0, 0.0, np.nan]}, dl.ModelError),
        ({"mass": 3.0}, dl.UnknownNameError),
        ({"bodies": ()}, dl.UnknownNameError),
        ({"frames": 3}, dl.DataTypeError),
        ({"constraints": ["Weld"]}, dl.DataTypeError),
        ({"constraints": dl.Weld("panda_hand")}, dl.DataTypeError),
    ],
)
def test_wrong_changes_are_refused(changes, error):
    with pytest.raises(error):
        dl.robots.load("panda").replace(**changes)


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_of_a_model_do_not_change_either(twin):
    model = twin(chain(3))
    assert np.isfinite(dl.gravity_forces(model, model.neutral())).all()
    with pytest.raises(dl.ImmutableError):
        model.gravity = np.zeros(3)
