"""Derivatives of frames' velocities and accelerations: differences, Pinocchio, structure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delassus as dl
from delassus.benchmarks.peers.pinocchio import load_pair
from delassus.dynamics.derivatives.kinematics import (
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)
from trees import TREES, random_states, random_tree, relative

uncompiled = pytest.mark.uncompiled

SEEDS = st.integers(0, 10**6)
REFERENCES = ("local", "world", "aligned")
each_reference = pytest.mark.parametrize("reference", REFERENCES)


def some_frame(model, seed):
    return model.frame_names[seed % len(model.frame_names)]


def differences(f, model, q, *others, step=1e-5):
    """Derivatives of f(q, ...), along the tangent space for q; all evaluations in one batch."""
    nv = model.nv
    steps = np.concatenate([np.eye(nv), -np.eye(nv)]) * step
    rows = [np.repeat(x[None], 2 * nv, 0) for x in (q, *others)]
    moved = [f(model.integrate(rows[0], steps), *rows[1:])]
    for k in range(1, len(rows)):
        moved.append(f(*rows[:k], rows[k] + steps, *rows[k + 1 :]))
    return [(x[:nv] - x[nv:]).T / (2 * step) for x in moved]


def check(found, expected, value):
    assert len(found) == len(expected)
    for own, numeric in zip(found, expected, strict=True):
        scale = max(np.abs(numeric).max(), np.abs(value).max(), 1.0)  # some of them are zero
        assert np.abs(own - numeric).max() < 1e-7 * scale


@uncompiled
@each_reference
@settings(max_examples=20)
@given(TREES, SEEDS)
def test_velocity_varies_as_differences_do(reference, model, seed):
    q, v, _ = random_states(model, seed)
    frame = some_frame(model, seed)

    def f(q, v):
        return dl.frame_velocity(model, q, v, frame, reference)

    found = frame_velocity_derivatives(model, q, v, frame, reference)
    check(found, differences(f, model, q, v), f(q, v))
    assert relative(found.dv, dl.frame_jacobian(model, q, frame, reference)) < 1e-12


@uncompiled
@each_reference
@settings(max_examples=20)
@given(TREES, SEEDS, st.booleans())
def test_acceleration_varies_as_differences_do(reference, model, seed, classical):
    q, v, a = random_states(model, seed)
    frame = some_frame(model, seed)

    def f(q, v, a):
        return dl.frame_acceleration(model, q, v, a, frame, reference, classical=classical)

    found = frame_acceleration_derivatives(model, q, v, a, frame, reference, classical=classical)
    check(found, differences(f, model, q, v, a), f(q, v, a))
    assert relative(found.da, dl.frame_jacobian(model, q, frame, reference)) < 1e-12


@uncompiled
@settings(max_examples=20)
@given(TREES, SEEDS)
def test_only_joints_that_carry_the_frame_matter(model, seed):
    q, v, a = random_states(model, seed, 3)
    k = seed % model.n_bodies
    frame, carries = model.body_names[k], np.zeros(model.nv, bool)
    while k >= 0:
        carries[model.joints[k].v] = True
        k = model.bodies[k].parent
    for reference in REFERENCES:
        results = (
            *frame_velocity_derivatives(model, q, v, frame, reference),
            *frame_acceleration_derivatives(model, q, v, a, frame, reference),
        )
        for matrix in results:
            assert not matrix[:, :, ~carries].any()


@uncompiled
@settings(max_examples=20)
@given(TREES, SEEDS)
def test_moving_on_adds_the_drift(model, seed):
    """d(J v)/dq v = dJ/dt v, which is quadratic in v."""
    q, v, a = random_states(model, seed)
    frame = some_frame(model, seed)
    for reference in ("local", "world"):
        velocity = frame_velocity_derivatives(model, q, v, frame, reference)
        acceleration = frame_acceleration_derivatives(model, q, v, a, frame, reference)
        drift = dl.frame_acceleration(model, q, v, np.zeros(model.nv), frame, reference)
        scale = max(np.abs(acceleration.dv).max(), np.abs(velocity.dq).max(), 1.0)
        assert np.abs(velocity.dq @ v - drift).max() < 1e-11 * scale
        assert np.abs(acceleration.dv @ v - 2 * drift).max() < 1e-11 * scale


@uncompiled
@each_reference
def test_at_rest_nothing_depends_on_velocity(reference):
    model = random_tree(4, bodies=5)
    q, _, a = random_states(model, 0)
    rest = np.zeros(model.nv)
    assert not frame_velocity_derivatives(model, q, rest, "f3", reference).dq.any()
    for classical in (False, True):
        found = frame_acceleration_derivatives(
            model, q, rest, a, "f3", reference, classical=classical
        )
        assert not found.dv.any()


@uncompiled
@each_reference
def test_the_world_never_moves(reference):
    model = random_tree(4, bodies=5)
    q, v, a = random_states(model, 0, 3)
    results = (
        *frame_velocity_derivatives(model, q, v, "world", reference),
        *frame_acceleration_derivatives(model, q, v, a, "world", reference),
    )
    for matrix in results:
        assert matrix.shape == (3, 6, model.nv)
        assert not matrix.any()


def pinocchio_derivatives(peer, frame, reference, *state):
    """Of Pinocchio: those of the velocity, of the acceleration, of the origin's as a point."""
    pin = pytest.importorskip("pinocchio")
    codes = {"local": pin.LOCAL, "world": pin.WORLD, "aligned": pin.LOCAL_WORLD_ALIGNED}
    m, d, code, index = peer.model, peer.data, codes[reference], peer.model.getFrameId(frame)
    joint, placement = m.frames[index].parentJoint, m.frames[index].placement
    pin.computeForwardKinematicsDerivatives(m, d, *state)
    velocity = pin.getFrameVelocityDerivatives(m, d, index, code)
    acceleration = pin.getFrameAccelerationDerivatives(m, d, index, code)
    point = ()
    if reference != "world":
        point = pin.getPointClassicAccelerationDerivatives(m, d, joint, placement, code)
    return [
        [peer.from_velocity(np.array(x)) for x in matrices]
        for matrices in (velocity, acceleration[-3:], point[-3:])
    ]


@pytest.mark.filterwarnings("ignore::delassus.ModelFileWarning")
@each_reference
@pytest.mark.parametrize("name", ["panda", "ur5", "tiago", "hyq", "solo12", "talos"])
def test_pinocchio_agrees(name, reference):
    pytest.importorskip("pinocchio")
    model, peer = load_pair(name)
    q, v, a = random_states(model, 0)
    state = peer.configuration(q), peer.velocity(v), peer.velocity(a)
    for frame in [f for f in model.frame_names if peer.model.existFrame(f)][::7]:
        velocity, acceleration, point = pinocchio_derivatives(peer, frame, reference, *state)
        chosen = frame, reference
        if reference == "aligned":
            # Pinocchio's are those of the motion at a point that stays where the frame is now.
            S = velocity[1][:3].T
            omega = dl.frame_velocity(model, q, v, *chosen)[3:]
            alpha = dl.frame_acceleration(model, q, v, a, *chosen)[3:]
            velocity[0][:3] -= np.cross(S, omega).T
            acceleration[0][:3] -= np.cross(S, alpha).T
        compare(frame_velocity_derivatives(model, q, v, *chosen), velocity)
        compare(frame_acceleration_derivatives(model, q, v, a, *chosen), acceleration)
        if point:
            found = frame_acceleration_derivatives(model, q, v, a, *chosen, classical=True)
            compare([x[:3] for x in found], point)


def compare(found, expected):
    for own, peers in zip(found, expected, strict=True):
        assert np.abs(own - peers).max() < 1e-11 * max(np.abs(peers).max(), 1.0)


def test_batches_precision_and_given_arrays():
    model = random_tree(5, bodies=9)
    q, v, a = random_states(model, 0, 131)

    def both(*state, **options):
        velocity = frame_velocity_derivatives(model, *state[:2], "f7", "world", **options)
        return *velocity, *frame_acceleration_derivatives(model, *state, "f7", "world", **options)

    batch, shared = both(q, v, a, threads=1), both(q, v, a, threads=3)
    single = both(q[130], v[130], a[130])
    rough = both(*(x.astype(np.float32) for x in (q, v, a)))
    for k, expected in enumerate(batch):
        assert np.array_equal(shared[k], expected)
        assert relative(single[k], expected[130]) < 1e-12
        assert rough[k].dtype == np.float32
        assert relative(rough[k], expected) < 1e-4
    out = [np.full_like(x, np.nan) for x in batch]
    found = frame_velocity_derivatives(model, q, v, "f7", "world", out=out[:2])
    found += frame_acceleration_derivatives(model, q, v, a, "f7", "world", out=out[2:])
    for k, expected in enumerate(batch):
        assert found[k] is out[k]
        assert np.array_equal(out[k], expected)


@uncompiled
@each_reference
def test_symbols_give_the_same_numbers(reference):
    pytest.importorskip("casadi")
    model = random_tree(3, bodies=6)
    q, v, a = random_states(model, 0)
    options = {"frame": "f4", "reference": reference}
    traced = dl.symbolic(frame_velocity_derivatives, model, **options)
    expected = frame_velocity_derivatives(model, q, v, **options)
    for found, wanted in zip(traced(q, v), expected, strict=True):
        assert relative(np.array(found), wanted) < 1e-12
    options["classical"] = True
    traced = dl.symbolic(frame_acceleration_derivatives, model, **options)
    expected = frame_acceleration_derivatives(model, q, v, a, **options)
    for found, wanted in zip(traced(q, v, a), expected, strict=True):
        assert relative(np.array(found), wanted) < 1e-12


def test_unknown_names():
    model = random_tree(3, bodies=3)
    q, v, a = random_states(model, 0)
    with pytest.raises(dl.UnknownNameError, match="no frame"):
        frame_velocity_derivatives(model, q, v, "nose")
    with pytest.raises(dl.UnknownNameError, match="reference must be one of"):
        frame_acceleration_derivatives(model, q, v, a, "f1", "lokal")
