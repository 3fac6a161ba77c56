"""Derivatives of integrate and difference: the textbook series, differences, Pinocchio."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delassus as dl
from delassus.model.configuration_derivatives import DifferenceDerivatives, IntegrateDerivatives
from dense import cross_motion
from trees import random_tree, relative

pytestmark = pytest.mark.uncompiled

TREES = st.builds(random_tree, st.integers(0, 10**6), bodies=st.integers(1, 9))
SEEDS = st.integers(0, 10**6)
STEP = 1e-5
TURNING = [
    (dl.Free(), np.arange(6)),
    (dl.Spherical(), np.array([3, 4, 5])),
    (dl.Planar([0, 0, 1]), np.array([0, 1, 5])),
]
ANGLES = [0.0, 1e-12, 1e-9, 1e-5, 1e-2, 0.3, 0.4999, 0.5001, 0.7, 1.0, 2.0, 3.0, 3.14, 3.1415926]


def random_motion(model, seed, count=3):
    """q and v, of which no joint turns by more than a half turn."""
    rng = np.random.default_rng(seed)
    q = model.random_configuration(rng, count)
    return q, rng.uniform(-1.0, 1.0, (count, model.nv))


def product(A, x):
    return np.einsum("nij,nj->ni", A, x)


def series(adjoint, start):
    """The sum of (-A)^n / (n + start)!: exp(-A), and for start 1 the right Jacobian."""
    A = -np.asarray(adjoint, np.longdouble)
    power, total = np.eye(len(A), dtype=np.longdouble), np.zeros_like(A)
    for n in range(50):
        total = total + power / np.longdouble(factorial(n + start))
        power = power @ A
    return total.astype(float)


@pytest.mark.parametrize(("joint", "rows"), TURNING)
@pytest.mark.parametrize("angle", ANGLES)
def test_all_digits_at_any_angle(joint, rows, angle):
    builder = dl.ModelBuilder("one")
    builder.add_body("body", joint=joint, mass=1.0)
    model, rng = builder.build(), np.random.default_rng(int(1000 * angle))
    motion = np.zeros(6)
    motion[rows] = rng.standard_normal(len(rows))
    motion[3:] *= angle / np.linalg.norm(motion[3:])
    q, v, block = model.random_configuration(rng), motion[rows], np.ix_(rows, rows)
    dq, dv = model.integrate_derivatives(q, v)
    transport, jacobian = (series(cross_motion(motion), start)[block] for start in (0, 1))
    assert np.abs(dq - transport).max() < 1e-14
    assert np.abs(dv - jacobian).max() < 1e-14
    dq0, dq1 = model.difference_derivatives(q, model.integrate(q, v))
    assert np.abs(dq1 @ jacobian - np.eye(model.nv)).max() < 1e-14
    assert np.abs(dq0 @ np.linalg.inv(transport) @ jacobian + np.eye(model.nv)).max() < 1e-14


@settings(max_examples=40)
@given(TREES, SEEDS)
def test_integrate_changes_as_its_derivatives_say(model, seed):
    q, v = random_motion(model, seed)
    x, y = np.random.default_rng(seed + 1).standard_normal((2, *v.shape))
    dq, dv = model.integrate_derivatives(q, v)
    ahead, behind = (model.integrate(model.integrate(q, s * x), v + s * y) for s in (STEP, -STEP))
    slope = model.difference(behind, ahead) / (2 * STEP)
    assert relative(product(dq, x) + product(dv, y), slope) < 1e-8


@settings(max_examples=40)
@given(TREES, SEEDS)
def test_difference_changes_as_its_derivatives_say(model, seed):
    q0, v = random_motion(model, seed)
    q1 = model.integrate(q0, v)
    x, y = np.random.default_rng(seed + 1).standard_normal((2, *v.shape))
    dq0, dq1 = model.difference_derivatives(q0, q1)
    ahead, behind = (
        model.difference(model.integrate(q0, s * x), model.integrate(q1, s * y))
        for s in (STEP, -STEP)
    )
    slope = (ahead - behind) / (2 * STEP)
    assert relative(product(dq0, x) + product(dq1, y), slope) < 1e-8


@settings(max_examples=40)
@given(TREES, SEEDS)
def test_difference_undoes_integrate(model, seed):
    q, v = random_motion(model, seed)
    dq, dv = model.integrate_derivatives(q, v)
    dq0, dq1 = model.difference_derivatives(q, model.integrate(q, v))
    one = np.broadcast_to(np.eye(model.nv), dv.shape)
    assert np.abs(dq1 @ dv - one).max() < 1e-13
    assert np.abs(dq0 + dq1 @ dq).max() < 1e-13


@settings(max_examples=20)
@given(TREES, SEEDS)
def test_batches_are_single_states(model, seed):
    q, v = random_motion(model, seed, 5)
    for f, other in ((model.integrate_derivatives, v), (model.difference_derivatives, q[::-1])):
        batch = f(q, other)
        for i in range(5):
            for many, one in zip(batch, f(q[i], other[i]), strict=True):
                assert relative(many[i], one) < 1e-12


def test_joints_do_not_mix_and_vectors_have_the_identity():
    model = random_tree(4, bodies=9)
    q, v = random_motion(model, 0)
    given = [*model.integrate_derivatives(q, v), *model.difference_derivatives(q, q[::-1])]
    inside = np.zeros((model.nv, model.nv), bool)
    for joint in model.joints:
        inside[joint.v, joint.v] = True
    for matrix, sign in zip(given, (1, 1, -1, 1), strict=True):
        assert not matrix[:, ~inside].any()
        for joint in model.joints:
            if joint.nq == joint.nv and not isinstance(joint.type, dl.Planar):
                assert (matrix[:, joint.v, joint.v] == sign * np.eye(joint.nv)).all()


def test_pinocchio_agrees():
    pin = pytest.importorskip("pinocchio")
    kinds = [
        (dl.Free(), pin.JointModelFreeFlyer()),
        (dl.Spherical(), pin.JointModelSpherical()),
        (dl.Revolute([1, 0, 0]), pin.JointModelRX()),
        (dl.Translation(), pin.JointModelTranslation()),
        (dl.Planar([0, 0, 1]), pin.JointModelPlanar()),
    ]
    builder, peer = dl.ModelBuilder("chain"), pin.Model()
    for i, (own, other) in enumerate(kinds):
        builder.add_body(f"b{i}", f"b{i - 1}" if i else "world", own, mass=1.0)
        peer.addJoint(i, other, pin.SE3.Identity(), f"j{i}")
    model = builder.build()

    def convert(q):  # Pinocchio has cosine and sine for the angle in the plane
        return np.concatenate([q[:-1], [np.cos(q[-1]), np.sin(q[-1])]])

    for q, v in zip(*random_motion(model, 0, 10), strict=True):
        q1 = model.integrate(q, v)
        found = model.integrate_derivatives(q, v)
        assert relative(found, pin.dIntegrate(peer, convert(q), v)) < 1e-12
        found = model.difference_derivatives(q, q1)
        assert relative(found, pin.dDifference(peer, convert(q), convert(q1))) < 1e-12


def test_single_precision():
    model = random_tree(1, bodies=9)
    q, v = random_motion(model, 0, 9)
    v[0] = 0.0
    rough_q, rough_v = q.astype(np.float32), v.astype(np.float32)
    q1 = model.integrate(q, v)
    rough = model.integrate_derivatives(rough_q, rough_v)
    rough += model.difference_derivatives(rough_q, q1.astype(np.float32))
    exact = model.integrate_derivatives(q, v) + model.difference_derivatives(q, q1)
    for x, y in zip(rough, exact, strict=True):
        assert x.dtype == np.float32
        assert relative(x, y) < 1e-5
    assert model.integrate_derivatives(rough_q[1], rough_v[1]).dv.dtype == np.float32


def test_nan_stays_in_its_state():
    model = random_tree(1, bodies=9)
    q, v = random_motion(model, 0, 11)
    for f, good in ((model.integrate_derivatives, v), (model.difference_derivatives, q[::-1])):
        bad = good.copy()
        bad[5] = np.nan
        for clean, spoilt in zip(f(q, good), f(q, bad), strict=True):
            assert np.array_equal(np.delete(spoilt, 5, 0), np.delete(clean, 5, 0))
            assert np.isnan(spoilt[5]).any()


def test_results_are_named_and_go_where_asked():
    model = random_tree(1, bodies=5)
    q, v = random_motion(model, 0, 4)
    pair = IntegrateDerivatives(*np.empty((2, 4, model.nv, model.nv)))
    result = model.integrate_derivatives(q, v, threads=1, out=pair)
    assert result.dq is pair.dq
    assert result.dv is pair.dv
    assert np.array_equal(result.dv, model.integrate_derivatives(q, v).dv)
    pair = DifferenceDerivatives(*np.empty((2, model.nv, model.nv)))
    result = model.difference_derivatives(q[0], q[1], out=pair)
    assert result.dq0 is pair.dq0
    assert np.array_equal(pair.dq1, model.difference_derivatives(q[0], q[1]).dq1)
    nothing = dl.ModelBuilder("nothing").build()
    assert nothing.integrate_derivatives(np.zeros((3, 0)), np.zeros((3, 0))).dq.shape == (3, 0, 0)


@pytest.mark.parametrize("name", ["integrate_derivatives", "difference_derivatives"])
def test_symbols(name):
    pytest.importorskip("casadi")
    model = random_tree(3, bodies=9)
    q, v = random_motion(model, 0)
    traced = dl.symbolic(getattr(dl.Model, name), model)
    for second in (v[0], np.zeros(model.nv)):
        other = second if name == "integrate_derivatives" else model.integrate(q[0], second)
        expected = getattr(model, name)(q[0], other)
        for key, value in traced(**dict(zip(traced.name_in(), (q[0], other), strict=True))).items():
            assert relative(np.array(value), getattr(expected, key)) < 1e-12
        assert all(np.isfinite(np.array(x)).all() for x in traced.jacobian()(q[0], other, 0, 0))
