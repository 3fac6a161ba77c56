"""A model does not change: what is set is refused, and copies differ where asked."""

import copy
import dataclasses
import pickle
import threading

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
    placement = dl.Transform(translation=view[0])
    rotation[0, 0] = 5.0
    assert placement.translation[0] == 9.0


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


def arrays_of(x, seen):
    """All arrays inside of an object, however deep."""
    if id(x) in seen:
        return
    seen.add(id(x))
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from arrays_of(item, seen)
    elif dataclasses.is_dataclass(x) or isinstance(x, dl.Model):
        public = [name for name in vars(x) if not name.startswith("_")]
        for name in public:
            yield from arrays_of(getattr(x, name), seen)


@pytest.mark.parametrize(
    "twin",
    [
        lambda m: m,
        copy.copy,
        copy.deepcopy,
        lambda m: pickle.loads(pickle.dumps(m, 2)),
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: m.replace(name="other"),
        lambda m: dl.reduce(m, {}),
    ],
    ids=["itself", "copy", "deepcopy", "old pickle", "pickle", "replaced", "reduced"],
)
def test_copies_of_a_model_do_not_change_either(twin):
    model = twin(dl.robots.load("panda"))
    assert np.isfinite(dl.gravity_forces(model, model.neutral())).all()
    with pytest.raises(dl.ImmutableError):
        model.gravity = np.zeros(3)
    arrays = list(arrays_of(model, set()))
    assert len(arrays) > 100
    for array in arrays:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_a_read_only_array_that_is_given_may_become_writeable():
    given = np.zeros(3)
    given.setflags(write=False)
    placement = dl.Transform(translation=given)
    given.setflags(write=True)
    given[0] = 9.0
    assert placement.translation[0] == 0.0


def test_coefficients_of_a_coupling_do_not_change():
    given = {"a": 1.0, "b": 2.0}
    coupling = dl.Coupling(given)
    given["a"] = 9.0
    for each in (coupling, copy.deepcopy(coupling), pickle.loads(pickle.dumps(coupling))):
        assert dict(each.coefficients) == {"a": 1.0, "b": 2.0}
        with pytest.raises(TypeError):
            each.coefficients["a"] = 9.0
    assert repr(coupling) == "Coupling(coefficients={'a': 1.0, 'b': 2.0}, offset=0.0)"


def test_constraints_do_not_change_after_they_were_solved():
    model = dl.robots.load("panda")
    cs = dl.Constraints(model, [dl.Connect("panda_hand")])
    q, v = model.neutral(), np.ones(model.nv)
    solved = dl.constrained_dynamics(model, q, v, v, cs).acceleration
    with pytest.raises(dl.ImmutableError, match="Constraints does not change"):
        cs.stabilization = dl.Baumgarte(100.0, 20.0)
    copied, twin = pickle.loads(pickle.dumps((model, cs)))
    assert np.allclose(dl.constrained_dynamics(copied, q, v, v, twin).acceleration, solved)


BASE = chain(3)


@pytest.mark.parametrize(
    "frame",
    [
        Frame("x", 99, dl.Transform()),
        Frame("x", "b0", dl.Transform()),
        Frame("x", 0, None),
        Frame(3, 0, dl.Transform()),
        Frame("x", 0, dl.Transform(), 3.0),
        Frame(BASE.frame_names[0], 0, dl.Transform()),
        Frame("world", 0, dl.Transform()),
    ],
)
def test_frames_that_fit_no_model_are_refused(frame):
    with pytest.raises(dl.DelassusError):
        BASE.replace(frames=[*BASE.frames, frame])


@pytest.mark.parametrize(
    "change",
    [
        {"parent": 5},
        {"parent": -2},
        {"parent": None},
        {"placement": None},
        {"inertia": None},
        {"name": ""},
        {"name": BASE.body_names[0]},
        {"joint": None},
        {"joint": BASE.joints[0]},
    ],
)
def test_bodies_that_fit_no_model_are_refused(change):
    bodies = [*BASE.bodies[:-1], dataclasses.replace(BASE.bodies[-1], **change)]
    with pytest.raises(dl.DelassusError):
        dl.Model("m", bodies, (), (), (), BASE.gravity)


def test_threads_may_use_a_new_model_at_once():
    model, q = chain(5), random_states(chain(5), 0, 40)[0]
    expected, found = dl.mass_matrix(chain(5), q), [None] * len(q)

    def work(k):
        dl.gravity_forces(model, q[k])
        copied = pickle.loads(pickle.dumps(model)).replace(gravity=[0, 0, k])
        found[k] = dl.mass_matrix(copied if k % 2 else model, q[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(q))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
