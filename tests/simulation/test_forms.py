"""The forms of a step's problem: by joints, bodies, rows and in any way they agree."""

import numpy as np
import pytest

import delassus as dl
from delassus.benchmarks.simulation.scenes import hanging, quadruped, walker
from delassus.compile import FLOAT64, is_compiled
from delassus.maximal.assembly import place_system
from delassus.simulation import runs
from delassus.simulation.solution.tree import add_mass_matrix, put_motions
from delassus.simulation.step import STEP
from delassus.simulation.structure.world import WorldArrays
from maximal.mechanisms import COUPLINGS, LOOPS, coupled, looped
from trees import random_tree, relative

pytestmark = pytest.mark.uncompiled


def simulated(monkeypatch, form, model, q, v=None, steps=3, control=None, **options):
    """A simulator that has made steps with its problem in a form."""
    monkeypatch.setattr(runs, "choose_form", lambda *_: form)
    told = {"dt": 1e-3, "ground": False, "tolerance": 1e-11, "joint_tolerance": 1e-11}
    sim = dl.Simulator(model, **(told | options))
    sim.reset(q, v)
    if steps > 0:
        sim.rollout(steps, control)
    assert sim.metrics["natural_map"] <= 1e-9  # the tolerance is relative to what closes
    return sim


def assert_equal_motion(monkeypatch, others, *given, v_tolerance=1e-9, **options):
    """Steps by joints and in another form give the same states; both are returned."""
    joints, other = (simulated(monkeypatch, form, *given, **options) for form in ("joints", others))
    assert np.abs(joints.q - other.q).max() < 0.1 * v_tolerance
    assert np.abs(joints.v - other.v).max() < v_tolerance
    return joints, other


@pytest.mark.parametrize("others", ["rows", "joint_rows"])
@pytest.mark.parametrize("seed", range(4))
def test_trees_of_all_joint_types_move_alike_and_feel_the_same_reactions(monkeypatch, seed, others):
    model = random_tree(seed, 9)
    rng = np.random.default_rng(seed)
    q, v = model.random_configuration(rng), rng.standard_normal(model.nv)
    joints, rows = assert_equal_motion(monkeypatch, others, model, q, v)
    assert relative(joints.reactions, rows.reactions) < 1e-6
    assert joints.metrics["joint_velocity"] < 1e-13


@pytest.mark.parametrize("integrator", ["euler", "midpoint", "rk4"])
@pytest.mark.parametrize("kind", ["Cylindrical", "Universal", "distance"])
def test_loops_are_rows_of_the_degrees_of_freedom_between_their_ends(monkeypatch, kind, integrator):
    # Without dry friction, which can hold what a loop holds: reactions would not be unique.
    model, q, v = looped(kind, has_friction=False)
    joints, rows = assert_equal_motion(
        monkeypatch, "rows", model, q, 0.3 * v, integrator=integrator
    )
    assert relative(joints.reactions, rows.reactions) < 1e-5


@pytest.mark.parametrize("others", ["rows", "joint_rows"])
@pytest.mark.parametrize("kind", COUPLINGS)
def test_couplings_are_rows_of_their_joints(monkeypatch, kind, others):
    model, q, v = coupled(COUPLINGS[kind])
    assert_equal_motion(monkeypatch, others, model, q, 0.3 * v)


@pytest.mark.parametrize("other", ["link1_joint", "link2_joint"])
def test_couplings_take_joints_that_carry_both_bodies_into_account(monkeypatch, other):
    b = dl.ModelBuilder("chain")
    for k in range(3):
        b.add_body(
            f"link{k}", f"link{k - 1}" if k else "world", dl.Revolute((0, 1, 0)), (0.2, 0, 0),
            mass=1.0, com=(0.1, 0, 0), inertia=0.01 * np.eye(3),
        )  # fmt: skip
    b.add_constraint(dl.Gear("link0_joint", other, 2.0))
    model = b.build()
    v = np.array([0.5, 0.2, -0.3])
    assert_equal_motion(monkeypatch, "rows", model, model.neutral(), v)


@pytest.mark.parametrize("kind", ["Cylindrical", "weld"])
def test_joints_are_closed_by_the_same_displacement(monkeypatch, kind):
    assert kind in LOOPS
    model, q, v = looped(kind)
    joints, rows = assert_equal_motion(monkeypatch, "rows", model, q, 0.3 * v, displacement=True)
    assert max(joints.metrics["joint_error"], rows.metrics["joint_error"]) < 1e-9


def test_a_mechanism_with_loops_hangs_alike(monkeypatch):
    scene = hanging()
    v = np.random.default_rng(0).uniform(-1.0, 1.0, scene.model.nv)
    assert_equal_motion(monkeypatch, "bodies", scene.model, scene.q, v, v_tolerance=1e-7)


@pytest.mark.parametrize("others", ["bodies", "rows", "joint_rows"])
def test_a_mechanism_with_loops_lands_alike(monkeypatch, others):
    scene = walker()
    q = scene.q.copy()
    q[2] -= 0.005
    v = np.zeros(scene.model.nv)
    v[0] = 0.5  # it slides
    assert_equal_motion(
        monkeypatch, others, scene.model, q, v, 3, scene.control, ground=True, v_tolerance=1e-7
    )


@pytest.mark.parametrize("others", ["rows", "joint_rows"])
def test_a_quadruped_with_dry_friction_lands_alike(monkeypatch, others):
    scene = quadruped(1)
    sims = assert_equal_motion(
        monkeypatch, others, scene.model, scene.q, None, 3, scene.control, ground=True
    )
    assert len(sims[0].contacts) == 4


@pytest.mark.parametrize("seed", range(3))
def test_motions_across_joints_give_the_mass_matrix_and_hold_all_other_rows(monkeypatch, seed):
    model = random_tree(seed, 9)
    rng = np.random.default_rng(seed)
    q = model.random_configuration(rng)
    sim = simulated(monkeypatch, "joints", model, q, steps=0)
    world = sim._worlds.world
    arrays, n = world.arrays(WorldArrays, FLOAT64), world.dimensions
    work = STEP.divide(np.zeros(STEP.size(n)), n)
    poses, twists = world.system.state(q, np.zeros(model.nv))
    place_system(arrays, poses.ravel(), twists.ravel(), q, work)
    put_motions(arrays, work)

    # Rows of joint j, in its record, have the velocity 1 for their own motion and 0 for others.
    tree = work.op.tree
    T = np.array(tree.motions).reshape(-1, 6, 6)
    arms = np.array(tree.arms).reshape(-1, 3)
    J = np.vstack([world.system.jacobian(poses, q), world.system.coordinate_jacobian(poses, q)])
    at_centers = T.copy()
    for j in range(model.n_bodies):
        at_centers[j, :, :3] += np.cross(T[j, :, 3:], arms[j])
    for j, joint in enumerate(world.system.joints):
        first = sum(before.rows for before in world.system.joints[:j])
        own = [*range(first, first + joint.rows)]
        own += [world.system.n_joint_rows + joint.v + k for k in range(joint.nv)]
        follower = J[own, 6 * j : 6 * j + 6]
        assert np.allclose(follower @ at_centers[j].T, np.eye(6), atol=1e-11)

    work.op.A[:] = 0.0
    add_mass_matrix(arrays, work.op.A, work)
    M, number = np.zeros((model.nv, model.nv)), 0
    for k in range(model.nv):
        first, end = arrays.dof_steps[k], arrays.paths[arrays.dofs[k]["joint"]]["end"]
        for t in range(first, end):
            i = int(np.flatnonzero(arrays.dof_places == arrays.steps[t]["place"])[0])
            M[k, i] = M[i, k] = work.op.A[arrays.mass_places[number]]
            number += 1
    armature = np.concatenate([joint.data.armature for joint in model.joints])
    assert relative(M + np.diag(armature), dl.mass_matrix(model, q)) < 1e-12


def test_joints_of_very_light_bodies_hold_whatever_limits_and_contacts_ask_for():
    # A spine as that of an animal: two of three bodies weigh nothing, the inertia of the third is a
    # ten-thousandth of what it carries. If joints gave way ever so little, limits would be soft.
    b = dl.ModelBuilder("spine")
    b.add_body("trunk", "world", dl.Free(), mass=3.0, inertia=0.05 * np.eye(3))
    axes, last = np.eye(3), "trunk"
    for k in range(17):
        for i, axis in enumerate(axes):
            light = {"mass": 0.01, "inertia": 1e-7 * np.eye(3)} if i == 2 else {}
            b.add_body(
                f"v{k}{i}", last, dl.Revolute(axis), (0.02 if i == 0 else 0.0, 0, 0),
                lower=-0.02, upper=0.02, damping=1e-3, **light,
            )  # fmt: skip
            last = f"v{k}{i}"
    b.add_body("head", last, dl.Fixed(), (0.05, 0, 0), mass=1.0, inertia=0.01 * np.eye(3))
    for name, radius in (("trunk", 0.1), ("head", 0.05)):
        b.add_shape(dl.Shape(name, name, "collision", "sphere", size=(radius,)))
    model = b.build()
    sim = dl.Simulator(model, dt=2e-3, on_error="record")
    q = model.neutral()
    q[2] = 0.15
    sim.reset(q)
    rec = sim.rollout(300 if is_compiled() else 3)
    assert sim._worlds.world.form == "joint_rows"
    assert rec.metrics["joint_velocity"].max() < 1e-9
    assert rec.metrics["joint_error"].max() < 6e-5
    assert rec.metrics["natural_map"].max() < 1e-6


def form_of(model, **options):
    return dl.Simulator(model, ground=False, **options)._worlds.world.form


def test_the_structure_of_a_model_decides():
    assert form_of(walker().model) == "joints"
    soft = dl.maximal.Stabilization(soft_joints=dl.maximal.Softening())
    assert form_of(walker().model, stabilization=soft) == "bodies"
    assert form_of(random_tree(0, 9, [lambda _: dl.Gimbal(), lambda _: dl.Planar()])) == "rows"
    assert form_of(random_tree(0, 4, [lambda _: dl.Free()])) == "bodies"
    assert form_of(random_tree(0, 60, [lambda _: dl.Revolute((0, 0, 1))])) == "joint_rows"
