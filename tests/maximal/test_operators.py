"""One problem by three operators: dense, over bodies, and articulated, in minimal coordinates."""

import numpy as np

import delassus as dl
from delassus import contact
from delassus.maximal import Contact, MaximalSystem, Stabilization
from trees import relative


def operator_of(primal, n_joint_rows):
    """The operator over bodies of a step's blocks, without springs and dampers."""
    assert not primal.weights.any()
    joints = [(e.bodies, e.blocks) for e in primal.elements if e.row < n_joint_rows and e.height]
    cones = [(e.bodies, e.blocks) for e in primal.elements if e.row >= n_joint_rows]
    return contact.BodiesOperator(primal.inertia, joints, cones)


def quadruped():
    model = dl.robots.mini_cheetah("none")
    q = model.random_configuration(np.random.default_rng(3))
    return model, q, [f for f in model.frames if f.name.endswith("_knee")]


def test_reactions_of_a_quadruped_are_the_same_by_all_operators():
    model, q, feet = quadruped()
    rng = np.random.default_rng(0)
    tau = rng.standard_normal(model.nv)
    dt, mu = 1e-2, 0.6
    v = np.zeros(model.nv)
    # In minimal coordinates: the points of the feet, in world axes.
    cs = dl.Constraints(model, [dl.Connect(f.name) for f in feet])
    articulated = dl.DelassusOperator(model, q, cs, 1e-3)
    J = np.vstack([dl.frame_jacobian(model, q, f.name, "aligned")[:3] for f in feet])
    free = dt * J @ dl.forward_dynamics(model, q, v, tau)
    G = articulated.matrix()
    M = dl.mass_matrix(model, q)
    assert relative(J @ np.linalg.solve(M, J.T), G) < 1e-10
    # In maximal coordinates, with the same frames.
    system = MaximalSystem(model, contact_slots=len(feet))
    places = dl.forward_kinematics(model, q, [f.name for f in feet]).translation
    contacts = [
        Contact("world", model.bodies[f.body].name, x, frame=np.eye(3), friction=mu)
        for f, x in zip(feet, places, strict=True)
    ]
    still = Stabilization(penetration_margin=0.0)
    options = {"contacts": contacts, "stabilization": still, "tau": tau}
    state = system.state(q, v)
    dual = system.dual_problem(*state, dt, **options)
    bodies = operator_of(system.primal_problem(*state, dt, **options), dual.n_joint_rows)
    problems = {
        "dense, minimal": contact.Problem(G, free, friction=mu),
        "articulated": contact.Problem(articulated, free, friction=mu),
        "dense, maximal": dual.problem,
        "bodies": contact.Problem(bodies, dual.free_velocity, dual.n_joint_rows, friction=mu),
    }
    found = {}
    for name, p in problems.items():
        r = contact.solve(p, "admm-ncp-sa", 1e-11, 20000)
        assert r.converged, name
        found[name] = r.reactions[-12:]
    expected = contact.solve(problems["dense, minimal"], tolerance=1e-12).reactions
    for name, reactions in found.items():
        assert relative(reactions, expected) < 1e-8, name


def test_bodies_of_a_figure_with_loops_move_the_same_by_both_operators():
    model = dl.robots.walker()
    system = MaximalSystem(model, contact_slots=12)
    rng = np.random.default_rng(1)
    q = model.neutral()
    q[2] = 0.94
    poses, twists = system.state(q, np.zeros(model.nv))
    twists = twists + 0.1 * rng.standard_normal(twists.shape)
    frames = {f.name: f for f in model.frames}
    names = [s.frame for s in model.shapes]
    places = dl.forward_kinematics(model, q, names).translation
    contacts = [
        Contact("world", model.bodies[frames[f].body].name, x, normal=(0, 0, 1), friction=0.8)
        for f, x in zip(names, places, strict=True)
    ]
    dual = system.dual_problem(poses, twists, 1e-3, contacts=contacts)
    primal = system.primal_problem(poses, twists, 1e-3, contacts=contacts)
    bodies = operator_of(primal, dual.n_joint_rows)
    p = contact.Problem(bodies, dual.free_velocity, dual.n_joint_rows, friction=0.8)
    one = contact.solve(dual.problem, tolerance=1e-11)
    assert one.converged
    two = contact.solve(p, "admm-ncp-sa", 1e-10, 20000)
    assert two.converged
    assert relative(dual.twists(two.reactions), dual.twists(one.reactions)) < 1e-8
