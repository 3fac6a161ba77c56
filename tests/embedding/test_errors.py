"""What cannot be embedded, and what errors say of it; what looks odd and is right."""

import numpy as np
import pytest

import delassus as dl
from embedding.mechanisms import X, Y, Z, four_bar
from trees import random_inertia, relative

BAR = {"mass": 1.0, "inertia": [0.1, 0, 0, 0.1, 0, 0.1]}


def hinges(*names):
    """Bodies that turn about z on the world, side by side."""
    builder = dl.ModelBuilder("hinges")
    for k, name in enumerate(names):
        builder.add_body(name, "world", dl.Revolute(Z), [k, 0, 0], **BAR)
    return builder


def add_four_bar(builder, name, rocker):
    """A four-bar whose crank is 0.4 long, coupler 1.0, ground 1.1, and rocker as given."""
    crank, coupler, last = (f"{name}_{part}" for part in ("crank", "coupler", "rocker"))
    builder.add_body(crank, "world", dl.Revolute(Z), **BAR)
    builder.add_body(coupler, crank, dl.Revolute(Z), [0.4, 0, 0], **BAR)
    builder.add_body(last, "world", dl.Revolute(Z), [1.1, 0, 0], **BAR)
    builder.add_frame(f"{coupler}_end", coupler, [1.0, 0, 0])
    builder.add_frame(f"{last}_end", last, [rocker, 0, 0])
    builder.add_constraint(dl.Closure(dl.Revolute(Z), f"{coupler}_end", f"{last}_end"))


# --- loops that cannot be assembled ---------------------------------------------------------------


def test_of_several_loops_the_one_that_cannot_be_assembled_is_named():
    """A ground of 1.1 and a rocker of 4 cannot meet a crank and coupler of 1.4: 1.5 is left."""
    builder = dl.ModelBuilder("two linkages")
    add_four_bar(builder, "good", 0.8)
    add_four_bar(builder, "bad", 4.0)
    message = (
        r"'two linkages' cannot be assembled: .*'bad_coupler_end'.* of the cluster of bad_crank, "
        r"bad_coupler, bad_rocker stays open by 1\.5 at best; links may be too short"
    )
    with pytest.raises(dl.ModelError, match=message):
        dl.embed(builder.build())


# --- independent joints that cannot be ------------------------------------------------------------


@pytest.mark.parametrize(
    ("independent", "message"),
    [
        (["foot_joint"], r"has 2 independent .*\(foot_joint\) have 1; take "),
        (["left_rod_joint", "foot_joint"], r"\(foot_joint, left_rod_joint\) have 3; take "),
    ],
)
def test_too_few_and_too_many_independent_joints_are_counted(independent, message):
    ankle = dl.robots.parallel_ankle()
    with pytest.raises(
        dl.ModelError, match=r"cross, foot, left_crank, left_rod and 2 .*" + message
    ):
        dl.embed(ankle, independent=independent)


def test_a_joint_that_does_not_move_the_others_cannot_be_independent():
    """A hinge that a planar loop holds still, and one that no coefficient ties."""
    builder = dl.ModelBuilder("held")
    builder.add_body("mount", "world", dl.Revolute(X), **BAR)
    builder.add_body("crank", "mount", dl.Revolute(Z), **BAR)
    builder.add_body("coupler", "crank", dl.Revolute(Z), [0.4, 0, 0], **BAR)
    builder.add_body("rocker", "world", dl.Revolute(Z), [1.1, 0, 0], **BAR)
    builder.add_frame("coupler_end", "coupler", [1.0, 0, 0])
    builder.add_frame("rocker_end", "rocker", [0.8, 0, 0])
    builder.add_constraint(dl.Closure(dl.Revolute(Z), "coupler_end", "rocker_end"))
    message = r"do not follow from the independent ones \(mount_joint\); take \w+, for example"
    with pytest.raises(dl.ModelError, match=message):
        dl.embed(builder.build(), independent=["mount_joint"])
    builder = hinges("a", "b", "c")
    builder.add_constraint(dl.Coupling({"a_joint": 1.0, "b_joint": -2.0, "c_joint": 0.0}))
    with pytest.raises(dl.ModelError, match=r"do not follow .* \(a_joint, b_joint\); take .*c_j"):
        dl.embed(builder.build(), independent=["a_joint", "b_joint"])


def test_joints_outside_of_clusters_may_be_named():
    """They are independent anyway, and clusters of which no joint is named choose as before."""
    model = four_bar()
    plain = dl.embed(model)
    assert dl.embed(model, independent=["tool_joint"]).clusters == plain.clusters
    assert dl.embed(model, independent=plain.independent_joints).clusters == plain.clusters


# --- couplings ------------------------------------------------------------------------------------


def test_a_ratio_of_zero_says_how_to_lock_a_joint():
    builder = hinges("a", "b")
    builder.add_constraint(dl.Gear("a_joint", "b_joint", 0.0, 0.3))
    model = builder.build()
    message = r"'b_joint' does not move 'a_joint'; lock that by dl.reduce\(model, \{'a_joint': 0.3"
    with pytest.raises(dl.ModelError, match=message):
        dl.embed(model)
    assert dl.embed(dl.reduce(model, {"a_joint": 0.3})).independent_joints == ("b_joint",)


def test_couplings_that_contradict_each_other_are_named():
    builder = hinges("a", "b", "c")
    builder.add_constraint(dl.Gear("a_joint", "b_joint", 2.0, 0.1))
    builder.add_constraint(dl.Gear("b_joint", "c_joint", 3.0))
    builder.add_constraint(dl.Gear("a_joint", "c_joint", 6.0, 0.1))  # follows from the others
    assert dl.embed(builder.build()).nv == 1
    builder.add_constraint(dl.Gear("a_joint", "c_joint", 6.0, 0.2))
    with pytest.raises(dl.ModelError, match=r"of a, b, c: no .* satisfies all of Gear\(joint='a_j"):
        dl.embed(builder.build())


# --- nothing left to move -------------------------------------------------------------------------


@pytest.mark.parametrize("second", [3.0, -2.0])
def test_two_gears_of_different_ratios_hold_both_joints(second):
    builder = hinges("a", "b")
    builder.add_constraint(dl.Gear("a_joint", "b_joint", 2.0))
    builder.add_constraint(dl.Gear("a_joint", "b_joint", second))
    with pytest.raises(dl.ModelError, match=r"a, b cannot move: .* leave one out, or lock"):
        dl.embed(builder.build())


def test_a_triangle_is_no_linkage():
    builder = hinges("beam")
    builder.add_body("strut", "world", dl.Revolute(Z), [0, 1, 0], **BAR)
    builder.add_frame("beam_end", "beam", [1, 0, 0])
    builder.add_frame("strut_end", "strut", [1.2, 0, 0])
    builder.add_constraint(dl.Connect("beam_end", "strut_end"))
    with pytest.raises(dl.ModelError, match=r"cluster of beam, strut cannot move"):
        dl.embed(builder.build())


# --- out of reach ---------------------------------------------------------------------------------


def test_states_out_of_reach_leave_those_within_closed():
    """The crank of 1.0 reaches the joint of 0.4 and 0.5 at a distance of 1.2 only near zero."""
    emb = dl.embed(four_bar(lengths=(1.0, 0.4, 0.5, 1.2)), independent=["crank_joint"])
    y = np.array([[0.2, 0.0], [2.5, 0.0], [-0.3, 0.4]])
    with pytest.raises(
        dl.ConvergenceError, match=r"1 of 3 states: y is out of reach of crank, "
    ) as e:
        emb.spanning(y, near=emb.spanning([0.3, 0.0]))
    within = np.array([True, False, True])
    assert ((e.value.error < 1e-12) == within).all()
    assert np.abs(emb.constraints.position_error(e.value.q[within])).max() < 1e-12


# --- rotors that are bodies -----------------------------------------------------------------------


def motor(rotor, joint=None, offset=0.1):
    """An arm on a base, its motor with an inertia of its own, and a hand."""
    rng = np.random.default_rng(0)
    builder = dl.ModelBuilder("motor")
    builder.add_body("base", joint=dl.Free(), inertia=random_inertia(rng))
    builder.add_body("arm", "base", dl.Revolute(Y), [0, 0, 0.3], inertia=random_inertia(rng))
    builder.add_body(
        "rotor", "base", joint or dl.Revolute(Y), [0.1, 0, 0.2], inertia=rotor, independent=False
    )
    builder.add_body("hand", "arm", dl.Revolute(X), [0.4, 0, 0], inertia=random_inertia(rng))
    builder.add_constraint(dl.Gear("rotor_joint", "arm_joint", 7.0, offset))
    return builder


ODD_ROTORS = {
    "off its axis": lambda: motor(dl.Inertia.of(0.5, [0.02, 0, 0], 0.01 * np.eye(3))),
    "tilted": lambda: motor(dl.Inertia.of(0.5, [0, 0, 0], [0.01, 0.002, 0, 0.02, 0, 0.015])),
    "sliding": lambda: motor(dl.Inertia.of(0.5, [0, 0, 0], 0.01 * np.eye(3)), dl.Prismatic(X)),
    "carrying": lambda: carrying(),
}


def carrying():
    """A round rotor with a pointer on it."""
    builder = motor(dl.Inertia.of(0.5, [0, 0, 0], 0.01 * np.eye(3)))
    inertia = dl.Inertia.of(0.1, [0.1, 0, 0], 1e-3 * np.eye(3))
    builder.add_body("pointer", "rotor", dl.Revolute(X), [0, 0.1, 0], inertia=inertia)
    return builder


@pytest.mark.parametrize("name", ODD_ROTORS)
def test_a_rotor_that_is_no_spin_is_embedded_as_a_body(name):
    model = ODD_ROTORS[name]().build()
    emb = dl.embed(model)
    assert all(cluster.rotors == () for cluster in emb.clusters)
    assert "rotor_joint" not in emb.independent_joints
    rng = np.random.default_rng(1)
    y = emb.independent(model.random_configuration(rng, 3))
    yd, tau = rng.standard_normal((2, 3, emb.nv))
    q, v = emb.spanning(y), emb.spanning_velocity(y, yd)
    forces = np.zeros((3, model.nv))
    forces[:, emb.independent_dofs] = tau
    gears = dl.Constraints(model)
    dense = dl.constrained_dynamics(model, q, v, forces, gears, method="dense")
    assert dense.converged.all()
    assert relative(dl.forward_dynamics(emb, y, v, tau), dense.acceleration) < 1e-10
