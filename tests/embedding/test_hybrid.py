"""Loops embedded, other constraints held: against dense evaluations, on embeddings and models."""

import numpy as np
import pytest

import delassus as dl
from embedding.mechanisms import closed_states, differential, four_bar, geared
from trees import relative

pytestmark = pytest.mark.uncompiled

CHEETAH_FEET = [dl.Connect(f"{leg}_knee") for leg in ("FR", "FL", "HR", "HL")]
TELLO = "tello on one foot"  # whose loops take long to close without a compiler
# Mechanisms, and constraints that are not embedded: points, frames, loops, joints.
HELD = {
    "cheetah on four feet": (dl.robots.mini_cheetah, CHEETAH_FEET),
    "cheetah with a long loop": (
        dl.robots.mini_cheetah,
        [dl.Connect("FR_knee", "HL_knee"), dl.Distance("FL_knee", "HR_hip", 0.4)],
    ),
    "cheetah with coupled legs": (
        dl.robots.mini_cheetah,
        [dl.Coupling({"FR_knee_joint": 1.0, "HL_hip_joint": -2.0}), dl.Connect("FL_knee")],
    ),
    "humanoid on two feet": (
        dl.robots.mit_humanoid,
        [dl.Weld("right_ankle"), dl.Weld("left_ankle")],
    ),
    TELLO: (dl.robots.tello, [dl.Weld("left_foot")]),
    "four-bar on a floating base": (lambda: four_bar(base=True), [dl.Connect("tool")]),
    "a coupler held": (lambda: four_bar(base=True), [dl.Connect("coupler")]),
    "two links of a cluster": (
        lambda: four_bar(base=True),
        [dl.Distance("coupler_end", "base", 0.7)],
    ),
    "uneven rotors": (lambda: geared(5, is_round=False, is_parallel=False), [dl.Connect("b4")]),
    "differential": (differential, [dl.Connect("hand")]),
}
each = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == TELLO else name for name in HELD]
)


@pytest.fixture(scope="module")
def cases():
    made = {}

    def get(name):
        if name not in made:
            build, held = HELD[name]
            model = build()
            emb = dl.embed(model)
            made[name] = emb, dl.Constraints(emb, held), closed_states(emb, 3, 3)
        return made[name]

    return get


def spanning(emb, q, v, tau):
    """The same state of all joints, with the forces on the independent ones."""
    wide = np.zeros((len(q), emb.model.nv))
    wide[:, emb.independent_dofs] = tau
    return emb.spanning(q), emb.spanning_velocity(q, v), wide


@each
def test_accelerations_and_multipliers_are_those_of_the_spanning_tree(cases, name):
    emb, cs, (q, v, tau, forces) = cases(name)
    found = dl.constrained_dynamics(emb, q, v, tau, cs, forces)
    everything = dl.Constraints(emb.model, [*cs.declared, *emb.model.constraints])
    dense = dl.constrained_dynamics(
        emb.model, *spanning(emb, q, v, tau), everything, forces, method="dense"
    )
    assert found.converged.all()
    assert relative(found.acceleration, dense.acceleration[:, emb.independent_dofs]) < 1e-10
    assert relative(found.multipliers, dense.multipliers[:, : cs.size]) < 1e-9
    one = dl.constrained_dynamics(emb, q[0], v[0], tau[0], cs)
    dense = dl.constrained_dynamics(emb, q[0], v[0], tau[0], cs, method="dense")
    assert relative(one.acceleration, dense.acceleration) < 1e-10


@each
def test_a_model_is_split_into_loops_and_others(cases, name):
    emb, cs, (q, v, tau, forces) = cases(name)
    gains = dl.Baumgarte(kp=50.0, kd=10.0)
    everything = dl.Constraints(
        emb.model, [*emb.model.constraints, *cs.declared], stabilization=gains
    )
    q, v, tau = spanning(emb, q, v, tau)
    rng = np.random.default_rng(0)
    tau = tau + rng.standard_normal(tau.shape)  # motors anywhere
    v = v + 0.1 * rng.standard_normal(v.shape)  # which stabilisation has to stop
    state = emb.model, q, v, tau, everything, forces
    desired = np.zeros(everything.size)
    desired[-cs.size :] = rng.standard_normal(cs.size)
    found = dl.constrained_dynamics(*state, method="hybrid", desired=desired)
    dense = dl.constrained_dynamics(*state, method="dense", desired=desired)
    assert found.converged.all()
    assert relative(found.acceleration, dense.acceleration) < 1e-9
    assert relative(found.multipliers, dense.multipliers) < 1e-8


def test_multipliers_of_embedded_rows_are_the_shortest():
    model = four_bar()  # five rows of its hinge, of which two are needed
    emb, cs = dl.embed(model), dl.Constraints(model)
    q, v, tau, forces = closed_states(emb, 5, 3)
    q, v, tau = spanning(emb, q, v, tau)
    found = dl.constrained_dynamics(model, q, v, tau, cs, forces, method="embedding")
    dense = dl.constrained_dynamics(model, q, v, tau, cs, forces, method="dense")
    assert relative(found.acceleration, dense.acceleration) < 1e-10
    assert relative(found.multipliers, dense.multipliers) < 1e-9
    assert found.converged.all()


@each
def test_the_delassus_matrix_and_impacts(cases, name):
    emb, cs, (q, v, _, _) = cases(name)
    J, M = cs.jacobian(q), dl.mass_matrix(emb, q)
    expected = J @ np.linalg.solve(M, J.swapaxes(1, 2))
    assert relative(dl.delassus_matrix(emb, q, cs), expected) < 1e-11
    inverse = dl.delassus_inverse(emb, q, cs, 1e-2)
    assert relative(inverse @ (expected + 1e-2 * np.eye(cs.size)), np.eye(cs.size)) < 1e-8
    after = dl.impact(emb, q, v, cs)
    assert np.abs(cs.velocity(q, after.velocity)).max() < 1e-10
    assert (after.energy_loss > 0.0).all()


@each
def test_rows_are_functions_of_y(cases, name):
    emb, cs, (q, v, _, _) = cases(name)
    tree = dl.Constraints(emb.model, cs.declared)
    q, V, _ = spanning(emb, q, v, v)
    assert relative(cs.jacobian(q), tree.jacobian(q) @ emb.G(q)) < 1e-12
    assert relative(cs.velocity(q, v), tree.velocity(q, V)) < 1e-12
    drift = tree.drift(q, V) + (tree.jacobian(q) @ emb.g(q, v)[..., None])[..., 0]
    assert relative(cs.drift(q, v), drift) < 1e-12


def test_redundant_rows_and_contradictions():
    emb = dl.embed(dl.robots.mini_cheetah())
    q, v, tau, _ = closed_states(emb, 1, 2)
    twice = dl.Constraints(emb, [*CHEETAH_FEET, *CHEETAH_FEET])
    found = dl.constrained_dynamics(emb, q, v, tau, twice)
    once = dl.constrained_dynamics(emb, q, v, tau, dl.Constraints(emb, CHEETAH_FEET))
    assert found.converged.all()
    assert relative(found.acceleration, once.acceleration) < 1e-9
    assert relative(found.multipliers[:, :12] + found.multipliers[:, 12:], once.multipliers) < 1e-8
    desired = np.zeros(24)
    desired[:3] = 1.0  # of the first foot, but not of the same foot again
    found = dl.constrained_dynamics(emb, q, v, tau, twice, desired=desired)
    dense = dl.constrained_dynamics(emb, q, v, tau, twice, desired=desired, method="dense")
    assert relative(found.acceleration, dense.acceleration) < 1e-7
    assert relative(found.residual, dense.residual) < 1e-7


def test_warm_starts_and_spanning_states():
    emb = dl.embed(dl.robots.mini_cheetah())
    cs = dl.Constraints(emb, CHEETAH_FEET)
    q, v, tau, forces = closed_states(emb, 2, 3)
    found = dl.constrained_dynamics(emb, q, v, tau, cs, forces)
    again = dl.constrained_dynamics(emb, q, v, tau, cs, forces, warm_start=found.multipliers)
    assert relative(again.acceleration, found.acceleration) < 1e-9
    assert (again.iterations <= found.iterations).all()
    wide = dl.constrained_dynamics(emb, *spanning(emb, q, v, tau), cs, forces)
    assert relative(wide.acceleration[:, emb.independent_dofs], found.acceleration) < 1e-9
    expected = emb.spanning_velocity(q, found.acceleration) + emb.g(q, v)
    assert relative(wide.acceleration, expected) < 1e-9


def test_what_cannot_be_held_is_named():
    emb = dl.embed(dl.robots.mini_cheetah())
    with pytest.raises(dl.ModelError, match="rotor 'FR_knee_rotor'"):
        dl.Constraints(emb, [dl.Connect("FR_knee_rotor")])
    across = dl.Coupling({"FR_knee_rotor_joint": 1.0, "HL_hip_joint": -2.0})
    with pytest.raises(dl.ModelError, match="'FR_knee_rotor_joint' follows from others"):
        dl.Constraints(emb, [across])
    q, v, tau, _ = closed_states(emb, 2, 1)
    with pytest.raises(dl.ModelError, match=r"'caba' takes a model"):
        dl.constrained_dynamics(emb, q, v, tau, dl.Constraints(emb, CHEETAH_FEET), method="caba")
    model = dl.robots.mini_cheetah()
    v = tau = np.zeros(model.nv)
    cs = dl.Constraints(model, [dl.Weld("trunk")])
    with pytest.raises(dl.ModelError, match="trunk cannot move"):
        dl.constrained_dynamics(model, model.neutral(), v, tau, cs, method="embedding")


def test_without_local_loops_everything_is_held():
    model = dl.robots.mini_cheetah(rotors="none")
    cs, rng = dl.Constraints(model, CHEETAH_FEET), np.random.default_rng(0)
    state = model, model.random_configuration(rng), *rng.standard_normal((2, model.nv)), cs
    found = dl.constrained_dynamics(*state, method="hybrid")
    dense = dl.constrained_dynamics(*state, method="dense")
    assert found.converged
    assert relative(found.acceleration, dense.acceleration) < 1e-9


def test_symbols_give_the_same_numbers():
    emb = dl.embed(four_bar(base=True))
    cs = dl.Constraints(emb, [dl.Connect("tool")])
    q, v, tau, _ = closed_states(emb, 2, 1)
    traced = dl.symbolic(dl.constrained_dynamics, emb, constraints=cs, method="hybrid")
    found = dl.constrained_dynamics(emb, q[0], v[0], tau[0], cs)
    a = np.asarray(traced(emb.spanning(q[0]), v[0], tau[0])[0]).ravel()
    assert relative(a, found.acceleration) < 1e-9
