"""Each solver drives a simulation; solvers and integrators change while it runs."""

import numpy as np
import pytest

import delassus as dl
from delassus.benchmarks.simulation.scenes import quadruped
from delassus.maximal import Softening, Stabilization

NCP = [name for name in dl.contact.SOLVERS if not name.endswith("-ccp")]
CCP = [name for name in dl.contact.SOLVERS if name.endswith("-ccp")]
# Their friction is that which dissipates most, which is not quite against the slip.
DISSIPATING = ("nbgs", "raisim")


def box():
    """A box of 1 kg on the ground, with edges of 0.2 m, and where it stands."""
    made = dl.robots.figure("box_on_plane")
    return made.model, made.start


def dropped_fourbar(solver, steps, **more):
    """A four-bar that has fallen on the ground, where its crank turns on."""
    made = dl.robots.figure("fourbar_free")
    sim = dl.Simulator(made.model, solver=solver, on_error="record", **more)
    sim.reset(made.start)
    return sim, sim.rollout(steps, 0.5 * np.sin(0.01 * np.arange(steps))[:, None])


@pytest.mark.parametrize("solver", dl.contact.SOLVERS)
def test_a_box_stands_still(solver):
    model, q = box()
    sim = dl.Simulator(model, solver=solver)
    sim.reset(q)
    rec = sim.rollout(500)
    assert np.abs(rec.q - q).max() < 1e-5
    assert (rec.metrics["natural_map"] <= 1e-6).all()
    assert abs(sim.contacts["force"].sum(axis=0)[2] / 9.81 - 1) < 2e-3


@pytest.mark.parametrize("solver", NCP)
def test_a_box_slides_as_far_as_its_friction_lets_it(solver):
    model, q = box()
    sim = dl.Simulator(model, solver=solver, friction=0.5)
    sim.reset(q, [1.0, 0, 0, 0, 0, 0])
    rec = sim.rollout(300)
    error = 3e-3 if solver in DISSIPATING else 1e-3
    assert abs(rec.q[-1, 0] - 1.0 / (2 * 0.5 * 9.81)) < error
    assert np.abs(rec.q[:, 2] - q[2]).max() < 1e-5
    assert np.abs(rec.v[-1]).max() < 1e-5


def test_the_quartic_may_have_coulombs_friction():
    model, q = box()
    far = []
    for solver, parameters in (("nbgs", {"exact": True}), ("auto", None)):
        sim = dl.Simulator(model, solver=solver, friction=0.5, solver_parameters=parameters)
        sim.reset(q, [1.0, 0, 0, 0, 0, 0])
        far.append(sim.rollout(300).q[-1, 0])
    assert abs(far[0] - far[1]) < 1e-6


@pytest.mark.parametrize("solver", CCP)
def test_a_convex_problem_lifts_what_slides(solver):
    model, q = box()
    dt, mu = 1e-3, 0.5
    sim = dl.Simulator(model, dt, solver=solver, friction=mu)
    sim.reset(q, [1.0, 0, 0, 0, 0, 0])
    sim.rollout(150)
    assert sim.v[0] > 0.2
    assert sim.q[2] - q[2] == pytest.approx(dt * mu * sim.v[0], rel=0.02)


@pytest.mark.parametrize("solver", NCP)
def test_solvers_agree_on_a_fourbar_that_lands(solver):
    _, expected = dropped_fourbar("auto", 400)
    _, found = dropped_fourbar(solver, 400)
    assert expected.metrics["contacts"][-1] >= 2
    assert np.abs(found.q - expected.q).max() < 1e-6


@pytest.mark.parametrize("solver", dl.contact.SOLVERS)
def test_a_fourbar_holds_together_on_the_ground(solver):
    _, rec = dropped_fourbar(solver, 400)
    assert rec.metrics["joint_error"].max() < 1e-5
    assert rec.metrics["penetration"].max() < 1e-5
    assert rec.metrics["kinetic_energy"][-1] < 0.2


def test_solvers_of_the_convex_problem_agree():
    runs = [dropped_fourbar(solver, 400)[1].q for solver in CCP]
    runs.append(dropped_fourbar("auto", 400, solver_parameters={"law": "ccp"})[1].q)
    assert max(np.abs(q - runs[0]).max() for q in runs) < 1e-6
    assert np.abs(dropped_fourbar("auto", 400)[1].q - runs[0]).max() > 5e-5


@pytest.mark.parametrize("solver", ["newton", "admm-ncp-sa", "pgs-ncp", "prox"])
def test_iterations_end_where_they_are_told_to(solver):
    most = 3
    _, rec = dropped_fourbar(solver, 150, tolerance=0.0, max_iterations=most)
    # A solution that ended before, as nothing got better, is tried again; so is a step that is far
    # from solved, without parting.
    assert (rec.metrics["iterations"] <= 2 * most * rec.metrics["passes"]).all()
    assert rec.metrics["iterations"].max() >= most


def test_parameters_of_a_solver_matter():
    each = {
        rho: dropped_fourbar("admm-ncp-fp", 150, solver_parameters={"rho": rho})[1]
        for rho in (0.3, 30.0)
    }
    few, many = (each[rho].metrics["iterations"].mean() for rho in (0.3, 30.0))
    assert many > 2 * few


def test_a_solver_that_is_changed_goes_on_from_the_state():
    sim, _ = dropped_fourbar("auto", 120)
    q, v, state = sim.q.copy(), sim.v.copy(), sim.state()
    for solver in ("prox", "admm-ncp-la", "auto"):
        for integrator in ("euler", "rk4", "midpoint"):
            sim.use(solver=solver, integrator=integrator)
            assert (sim.solver, sim.integrator) == (solver, integrator)
            now = sim.state()
            assert all(np.array_equal(now[name], state[name], equal_nan=True) for name in state)
            assert np.array_equal(sim.q, q) and np.array_equal(sim.v, v)
    assert sim.time == pytest.approx(0.12)
    sim.use(solver="raisim-ds")
    other = dl.Simulator(sim.model, solver="raisim-ds")
    other.set_state(state)
    assert np.array_equal(sim.rollout(50).q, other.rollout(50).q)
    sim.use(solver="auto")
    sim.set_state(state)
    plain = dl.Simulator(sim.model)
    plain.set_state(state)
    assert np.array_equal(sim.rollout(50).q, plain.rollout(50).q)


def test_sweeps_come_out_the_same_on_any_number_of_threads_and_in_parts():
    model, q = box()
    starts = np.tile(q, (4, 1))
    starts[:, 2] += 0.01 * np.arange(4)
    runs = []
    for threads, parts in ((1, (100,)), (2, (30, 70))):
        sim = dl.Simulator(model, solver="pgs-ncp", worlds=4, threads=threads)
        sim.reset(starts)
        runs.append(np.concatenate([sim.rollout(n).q for n in parts], axis=1))
    assert np.array_equal(*runs)


def test_more_contacts_than_slots_are_no_trouble_for_sweeps():
    model, q = box()
    runs = []
    for slots in (1, 16):
        sim = dl.Simulator(model, solver="pgs-ncp", contact_slots=slots)
        sim.reset(q)
        runs.append(sim.rollout(20).q)
    assert np.array_equal(*runs)


WRONG = {
    "an unknown solver": {"solver": "pgs"},
    "a solver that is a list": {"solver": ["auto"]},
    "an unknown integrator": {"integrator": "rk5"},
    "an unknown parameter": {"solver": "prox", "solver_parameters": {"rho": 1.0}},
    "a parameter that is negative": {"solver": "prox", "solver_parameters": {"shrink": -1.0}},
    "a parameter that steps do not have": {"solver_parameters": {"precondition": False}},
    "a law that a solver does not follow": {"solver": "prox", "solver_parameters": {"law": "ccp"}},
    "parameters that are no mapping": {"solver_parameters": 3},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_choice_is_an_error_and_changes_nothing(what):
    model, _ = box()
    with pytest.raises(dl.DelassusError):
        dl.Simulator(model, **WRONG[what])
    sim = dl.Simulator(model, solver="newton")
    with pytest.raises(dl.DelassusError):
        sim.use(**WRONG[what])
    assert (sim.solver, sim.integrator) == ("newton", "midpoint")


def test_joints_that_are_soft_stay_with_their_integrators():
    soft = Stabilization(soft_joints=Softening())
    sim = dl.Simulator(box()[0], stabilization=soft)
    with pytest.raises(dl.SettingError):
        sim.use(integrator="rk4")
    assert sim.integrator == "midpoint" and not sim.displacement


def test_rows_that_slide_take_one_step_of_newtons_method():
    """A quadruped that sinks on its feet: joints slide as in the step before, in all its steps.

    At times there is a second one, that polishes.
    """
    scene = quadruped(1)
    sim = scene.simulator()
    sim.reset(scene.q)
    sim.rollout(310, scene.control)
    made = sim.rollout(20, scene.control)
    assert np.all(made.metrics["contacts"] == 4)
    assert np.median(made.metrics["iterations"]) <= 1
    assert np.all(made.metrics["iterations"] <= 2)
    assert np.all(made.metrics["natural_map"] <= 1e-6)
