"""Clusters: which bodies they have, which joints are independent, what cannot be embedded."""

import numpy as np
import pytest

import delassus as dl
from embedding.mechanisms import X, Z, belt, closed_states, differential, four_bar, geared
from trees import random_states


def cluster_of(emb, body):
    return next(cluster for cluster in emb.clusters if body in cluster.bodies)


def test_a_belt_is_one_cluster():
    emb = dl.embed(belt())
    found = cluster_of(emb, "shank")
    assert set(found.bodies) == {"shank", "foot", "one", "two", "three"}
    assert set(found.independent_joints) == {"shank_joint", "foot_joint"}
    assert set(found.rotors) == {"one", "two", "three"}
    assert found.kind == "explicit"
    assert found.output_bodies == ("foot",)
    assert emb.clusters[found.parent].bodies == ("thigh",)
    assert emb.clusters[0].parent == -1
    assert {c.kind for c in emb.clusters} == {"joint", "explicit"}


def test_a_tree_is_embedded_as_it_is():
    model = belt().replace(constraints=())
    emb = dl.embed(model)
    assert emb.nv == model.nv
    assert all(cluster.kind == "joint" for cluster in emb.clusters)
    q, v, tau = random_states(model, 0, 4)
    found, expected = dl.forward_dynamics(emb, q, v, tau), dl.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert np.array_equal(
        dl.inverse_dynamics(emb, q, v, tau), dl.inverse_dynamics(model, q, v, tau)
    )


def test_loops_that_share_a_body_are_one_cluster():
    """Two four-bars side by side on one crank."""
    builder = dl.ModelBuilder("double")
    bar = {"mass": 1.0, "inertia": [0.1, 0, 0, 0.1, 0, 0.1]}
    builder.add_body("crank", "world", dl.Revolute(Z), **bar)
    for side in (1.0, -1.0):
        name = "left" if side > 0 else "right"
        builder.add_body(f"{name} rod", "crank", dl.Revolute(Z), [0, 0.4 * side, 0], **bar)
        builder.add_body(f"{name} rocker", "world", dl.Revolute(Z), [1.1, 0, 0], **bar)
        builder.add_frame(f"{name} rod end", f"{name} rod", [1.0, 0, 0])
        builder.add_frame(f"{name} rocker end", f"{name} rocker", [0, 0.8 * side, 0])
        builder.add_constraint(dl.Closure(dl.Revolute(Z), f"{name} rod end", f"{name} rocker end"))
    emb = dl.embed(builder.build())
    (cluster,) = emb.clusters
    assert len(cluster.bodies) == 5 and emb.nv == 1
    q, v, tau, _ = closed_states(emb, 0, 2)
    assert np.isfinite(dl.forward_dynamics(emb, q, v, tau)).all()


def test_a_cluster_that_hangs_from_two_bodies_of_another_takes_that_in():
    """A second loop whose two ends hang from coupler and rocker of the first."""
    builder = dl.ModelBuilder("stacked")
    bar = {"mass": 1.0, "inertia": [0.1, 0, 0, 0.1, 0, 0.1]}
    builder.add_body("crank", "world", dl.Revolute(Z), **bar)
    builder.add_body("coupler", "crank", dl.Revolute(Z), [0.4, 0, 0], **bar)
    builder.add_body("rocker", "world", dl.Revolute(Z), [1.1, 0, 0], **bar)
    builder.add_body("second", "coupler", dl.Revolute(Z), [0.5, 0, 0], **bar)
    builder.add_body("third", "rocker", dl.Revolute(Z), [0.4, 0, 0], **bar)
    builder.add_frame("coupler end", "coupler", [1.0, 0, 0])
    builder.add_frame("rocker end", "rocker", [0.8, 0, 0])
    builder.add_frame("second end", "second", [0.6, 0, 0])
    builder.add_frame("third end", "third", [0.5, 0, 0])
    hinge = dl.Revolute(Z)
    first = dl.Closure(hinge, "coupler end", "rocker end")
    other = dl.Closure(hinge, "second end", "third end")
    model = builder.build()
    emb = dl.embed(model, [first, other])
    (cluster,) = emb.clusters
    assert len(cluster.bodies) == 5 and emb.nv == 1


def test_independent_joints_are_given_declared_or_chosen():
    model = four_bar()
    chosen = dl.embed(model)
    assert chosen.nv == 2
    given = dl.embed(model, independent=["rocker_joint"])
    assert given.independent_joints == ("rocker_joint", "tool_joint")
    driven = dl.embed(model, actuators=["coupler_joint"])
    assert driven.independent_joints == ("coupler_joint", "tool_joint")
    assert dl.embed(dl.robots.four_bar_leg()).independent_joints == ("thigh_joint", "crank_joint")


def test_what_cannot_be_embedded_is_named():
    model = four_bar()
    with pytest.raises(dl.ModelError, match=r"crank, coupler, rocker has 1 independent.* have 2"):
        dl.embed(model, independent=["rocker_joint", "crank_joint"])
    with pytest.raises(dl.UnknownNameError, match="no joint 'elbow'"):
        dl.embed(model, independent=["elbow"])
    with pytest.raises(dl.DataTypeError, match="a Model"):
        dl.embed(dl.Constraints(model))
    with pytest.raises(dl.ModelError, match="another model"):
        dl.embed(four_bar(), dl.Constraints(model))
    with pytest.raises(dl.ModelError, match="cannot move"):
        dl.embed(model, [*model.constraints, dl.Coupling({"crank_joint": 1.0}, 0.5)])
    far = four_bar(lengths=(0.1, 0.2, 0.1, 5.0))
    with pytest.raises(dl.ModelError, match="cannot be assembled"):
        dl.embed(far)


def test_a_loop_of_forty_joints_is_one_cluster():
    """More independent joints than an index has bits."""
    model = dl.robots.parallel_chains(20, 20)
    emb = dl.embed(model)
    (cluster,) = emb.clusters
    assert len(cluster.bodies) == 40 and emb.nv == 39
    rng = np.random.default_rng(0)
    yd, tau = rng.standard_normal((2, emb.nv))
    q = emb.spanning(rng.uniform(-0.3, 0.3, emb.nv))
    forces = np.zeros(model.nv)
    forces[emb.independent_dofs] = tau
    v = emb.spanning_velocity(q, yd)
    expected = dl.constrained_dynamics(model, q, v, forces, emb.constraints).acceleration
    found = dl.forward_dynamics(emb, q, yd, tau)
    assert np.allclose(found, expected[emb.independent_dofs], rtol=1e-8, atol=1e-8)


def test_a_loop_that_is_too_long_to_embed_is_named():
    with pytest.raises(dl.ModelError, match=r"65 independent degrees of freedom.* at most 63"):
        dl.embed(dl.robots.parallel_chains(33, 33))


def test_the_other_joints_must_follow_from_the_independent_ones():
    """Both joints of a coupling cannot be independent of it; a third does not fix them."""
    model = geared(0, joints=2)
    with pytest.raises(dl.ModelError, match=r"do not follow|independent degrees of freedom"):
        dl.embed(model, independent=["b1_joint", "r1_joint"])


def test_y_out_of_reach_is_named():
    emb = dl.embed(four_bar(lengths=(1.0, 0.4, 0.5, 1.2)), independent=["crank_joint"])
    with pytest.raises(dl.ConvergenceError, match="out of reach of crank, coupler, rocker"):
        emb.spanning([3.1, 0.0])


def test_a_configuration_stays_on_the_branch_of_the_one_near():
    emb = dl.embed(dl.robots.crank_rocker())
    angle = np.linspace(0.0, 2 * np.pi, 60)
    up = down = None
    q = emb.spanning(angle[:1, None])[0]
    crossed = [q[0], q[1] + 2.0, q[2] + 3.0]
    mirrored = dl.close_loops(emb.model, crossed, emb.constraints, fixed=emb.independent_joints)
    for x in angle:
        up = emb.spanning([x], near=q if up is None else up)
        down = emb.spanning([x], near=mirrored if down is None else down)
    # Round, and back where it was; the coupler has turned on the crank.
    for found, expected in ((up, q), (down, mirrored)):
        assert np.abs(np.sin((found[1:] - expected[1:]) / 2)).max() < 1e-9
    assert np.abs(np.sin((up[1:] - down[1:]) / 2)).max() > 0.1


def test_spanning_starts_from_a_regular_configuration():
    """Neutral four-bars lie flat, where they may fold either way."""
    emb = dl.embed(dl.robots.four_bars(1, 2))
    q = emb.spanning(emb.independent(emb.reference) + 0.01)
    assert np.abs(emb.constraints.position_error(q)).max() < 1e-12
    assert emb.conditioning(q) > 1e-3


def test_singular_states_are_nan_and_leave_the_others_alone():
    emb = dl.embed(dl.robots.four_bars(1, 1))
    q, v, tau, _ = closed_states(emb, 3, 3)
    expected = dl.forward_dynamics(emb, q, v, tau)
    folded = emb.model.neutral()  # a parallelogram laid flat
    assert np.abs(emb.constraints.position_error(folded)).max() < 1e-12
    assert emb.conditioning(folded) < 1e-9 < emb.conditioning(q).min()
    found = dl.forward_dynamics(emb, np.insert(q, 1, folded, 0), np.insert(v, 1, v[0], 0),
                                np.insert(tau, 1, tau[0], 0))  # fmt: skip
    assert np.isnan(found[1]).any()
    assert np.array_equal(found[[0, 2, 3]], expected)


def test_a_passive_crank_rocker_keeps_its_energy_and_its_loop():
    emb = dl.embed(dl.robots.crank_rocker())
    h, steps = 1e-3, 300
    y, yd, q = np.array([0.3]), np.array([4.0]), None

    def acceleration(y, yd, near):
        return dl.forward_dynamics(emb, emb.spanning(y, near=near), yd, np.zeros(1))

    q = emb.spanning(y)

    def energy(q, yd):
        return dl.kinetic_energy(emb, q, yd) + dl.potential_energy(emb, q)

    start = energy(q, yd)
    for _ in range(steps):
        k1, a1 = yd, acceleration(y, yd, q)
        k2, a2 = yd + h / 2 * a1, acceleration(y + h / 2 * k1, yd + h / 2 * a1, q)
        k3, a3 = yd + h / 2 * a2, acceleration(y + h / 2 * k2, yd + h / 2 * a2, q)
        k4, a4 = yd + h * a3, acceleration(y + h * k3, yd + h * a3, q)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        yd = yd + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        q = emb.spanning(y, near=q)
    assert abs(energy(q, yd) - start) < 1e-8 * abs(start)
    assert np.abs(emb.constraints.position_error(q)).max() < 1e-12


def test_symbols_give_the_same_numbers():
    casadi = pytest.importorskip("casadi")
    for model in (geared(4), belt(), differential(), four_bar(base=True)):
        emb = dl.embed(model)
        q, v, tau, _ = (x[0] for x in closed_states(emb, 1, 1))
        own = emb.independent(q) if emb.takes_y else q
        for f in (dl.forward_dynamics, dl.inverse_dynamics):
            traced = dl.symbolic(f, emb)
            found = np.array(traced(own, v, tau)).ravel()
            assert np.allclose(found, f(emb, own, v, tau), rtol=1e-10, atol=1e-10)
    assert casadi is not None


def test_an_embedding_does_not_change():
    emb = dl.embed(geared(1))
    with pytest.raises(dl.ImmutableError, match="make a new one"):
        emb.nv = 3
    with pytest.raises(dl.DataTypeError, match="takes a model"):
        dl.coriolis_matrix(emb, np.zeros(emb.nq), np.zeros(emb.nv))
    assert repr(emb) == "<Embedding of 'geared': 4 clusters, nv 10 of 14>"


def test_a_motor_off_its_axis_is_a_body():
    builder = dl.ModelBuilder("off")
    builder.add_body("link", "world", dl.Revolute(X), mass=1.0, inertia=np.eye(3))
    builder.add_body("rotor", "world", dl.Revolute(X), mass=0.1, com=[0, 0.01, 0],
                     inertia=0.01 * np.eye(3))  # fmt: skip
    builder.add_constraint(dl.Gear("rotor_joint", "link_joint", 5.0))
    emb = dl.embed(builder.build(), independent=["link_joint"])
    assert emb.clusters[0].rotors == ()
    assert not emb.takes_y
