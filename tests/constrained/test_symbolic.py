"""Constrained dynamics and Delassus matrices on CasADi symbols."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import four_bar, standing
from delassus.cli import main
from trees import chain, relative

pytest.importorskip("casadi")

FIXED = {"max_iterations": 3, "tolerance": 0.0}
NUMBERS_ONLY = ("dense", "embedding", "hybrid")
METHODS = [name for name in dl.CONSTRAINED_METHODS if name not in NUMBERS_ONLY]
SOLUTION = ("acceleration", "multipliers")


def random_state(model, seed):
    rng = np.random.default_rng(seed)
    return model.random_configuration(rng), *rng.standard_normal((2, model.nv))


def check_at_random_states(constraints, method, seeds=range(3), **options):
    model, options = constraints.model, FIXED | options
    traced = dl.symbolic(
        dl.constrained_dynamics, model, constraints=constraints, method=method, **options
    )
    for seed in seeds:
        state = random_state(model, seed)
        expected = dl.constrained_dynamics(model, *state, constraints, method=method, **options)
        found = dict(zip(expected._fields, traced(*state), strict=True))
        for name in SOLUTION:
            value = np.array(found[name]).ravel()
            assert relative(value, getattr(expected, name)) < 1e-10, name
        if method == "caba" or method.startswith("prox-"):
            assert float(found["iterations"]) == options["max_iterations"]


@pytest.mark.parametrize("method", METHODS)
def test_symbols_give_the_same_numbers(method):
    # Springs without a second iteration cost digits, and another order of sums costs others.
    options = {"damping": 1e-3} if method == "pv-soft" else {}
    check_at_random_states(standing("solo12"), method, **options)


@pytest.mark.parametrize("method", ["caba", "prox-ltl"])
def test_stabilisation_and_loops_are_traced(method):
    constraints = standing("solo12", stabilization=dl.Baumgarte(10.0, 2.0))
    check_at_random_states(constraints, method, seeds=[3], damping=1e-4)
    model = four_bar()
    check_at_random_states(dl.Constraints(model), method, seeds=[0], damping=1e-3)


def test_symbols_are_taken_directly_with_numbers_beside_them():
    casadi = pytest.importorskip("casadi")
    constraints = standing("solo12")
    model = constraints.model
    q, v, tau = random_state(model, 0)
    x = casadi.SX.sym("tau", model.nv)
    solution = dl.constrained_dynamics(model, q, v, x, constraints, **FIXED)
    slope = casadi.Function("slope", [x], [casadi.jacobian(solution.acceleration, x)])
    expected = dl.constrained_dynamics_derivatives(model, q, v, tau, constraints).dtau
    assert relative(np.array(slope(tau)), expected) < 1e-6


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", ["constrained_dynamics", "constrained_dynamics_derivatives"])
def test_a_trace_that_would_not_come_to_the_end_is_refused(name):
    """Cassie's loops are nearly redundant: without tests of numbers, iterations end too early."""
    model = dl.robots.load("cassie")
    constraints = dl.Constraints(model)
    with pytest.raises(dl.DelassusError, match=r"nearly redundant: embed the loops"):
        dl.symbolic(getattr(dl, name), model, constraints=constraints)


def test_traced_loops_have_all_digits():
    model = four_bar()
    constraints = dl.Constraints(model)
    traced = dl.symbolic(dl.constrained_dynamics, model, constraints=constraints)
    for seed in range(3):
        state = random_state(model, seed)
        expected = dl.constrained_dynamics(model, *state, constraints, method="dense")
        assert relative(np.array(traced(*state)[0]).ravel(), expected.acceleration) < 1e-8


def test_dense_matrices_take_no_symbols():
    constraints = standing("solo12")
    with pytest.raises(dl.DelassusError, match="takes no symbols"):
        dl.symbolic(
            dl.constrained_dynamics, constraints.model, constraints=constraints, method="dense"
        )


def test_a_result_that_there_is_not_is_named():
    constraints = standing("solo12")
    with pytest.raises(dl.UnknownNameError, match=r"'multipliers'.* not 'forces'"):
        dl.operation_count(
            dl.constrained_dynamics, constraints.model, constraints=constraints, outputs=["forces"]
        )


# --- counts ---------------------------------------------------------------------------------------


def count(constraints, method, iterations=3):
    return dl.operation_count(
        dl.constrained_dynamics, constraints.model, constraints=constraints, method=method,
        max_iterations=iterations, tolerance=0.0, damping=1e-6, outputs=SOLUTION,
    ).total  # fmt: skip


def hanging_chain(links):
    model = chain(links)
    return dl.Constraints(model, [dl.Connect(model.frame_names[-1])])


def test_counts_of_caba_grow_linearly_with_links_and_iterations():
    small, medium, large = (count(hanging_chain(n), "caba") for n in (10, 20, 30))
    assert large - medium == pytest.approx(medium - small, rel=0.02)
    one, *more = (count(hanging_chain(10), "caba", k) for k in (2, 3, 4))
    assert more[1] - more[0] == pytest.approx(more[0] - one, rel=0.02)


def test_counts_of_prox_ltl_grow_faster():
    small, medium, large = (count(hanging_chain(n), "prox-ltl") for n in (10, 20, 30))
    assert large - medium > 1.3 * (medium - small)


def test_residuals_are_not_counted_with_the_solution():
    constraints = standing("solo12")
    options = {"constraints": constraints, "method": "caba", **FIXED}
    whole = dl.operation_count(dl.constrained_dynamics, constraints.model, **options)
    assert whole.total > count(constraints, "caba")
    assert whole.trig == 2 * (constraints.model.nv - 6)


# --- Delassus matrices ----------------------------------------------------------------------------

MATRICES = [("delassus_matrix", name) for name in getattr(dl, "DELASSUS_METHODS", ())]
MATRICES += [("delassus_inverse", name) for name in getattr(dl, "DELASSUS_INVERSE_METHODS", ())]


@pytest.mark.parametrize(("name", "method"), MATRICES)
def test_delassus_matrices_of_symbols(name, method):
    constraints = standing("solo12")
    model, function = constraints.model, getattr(dl, name)
    options = {"constraints": constraints, "method": method}
    if name == "delassus_inverse":
        options["damping"] = 1e-2  # where no method loses digits
    traced = dl.symbolic(function, model, **options)
    for seed in range(2):
        q, _, _ = random_state(model, seed)
        assert relative(np.array(traced(q)), function(model, q, **options)) < 1e-9


# --- the command ----------------------------------------------------------------------------------


def test_command_counts_methods_for_constraints(capsys):
    command = ["count", "solo12", "--connect", "FL_FOOT", "--weld", "HR_FOOT"]
    assert main([*command, "--method", "caba", "--method", "prox-ltl"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("(nv 18, 9 rows)")
    model = dl.robots.load("solo12")
    constraints = dl.Constraints(model, [dl.Weld("HR_FOOT"), dl.Connect("FL_FOOT")])
    for method in ("caba", "prox-ltl"):
        (line,) = (x for x in lines if x.startswith(f"constrained dynamics, {method} "))
        assert line.endswith(f" {count(constraints, method):,}")


def test_command_says_what_is_missing(capsys):
    assert main(["count", "solo12", "--method", "caba"]) == 2
    assert "name frames by --weld or --connect" in capsys.readouterr().err
    assert main(["count", "solo12", "--connect", "FL_FOOT", "--method", "cabba"]) == 2
    assert "did you mean 'caba'" in capsys.readouterr().err
