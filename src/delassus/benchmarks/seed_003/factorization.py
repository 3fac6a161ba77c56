"""Factorisations of K = [[-mu, J], [J^T, M]]: ours, Pinocchio's, a dense and a sparse one.

Figs. 5 to 7 of the paper, there with Eigen's dense and sparse factorisations.
"""

from __future__ import annotations

from collections.abc import Callable
from timeit import Timer

import numpy as np

from ... import Constraints, kkt_factorization, mass_matrix
from ..comparing.problems import DAMPING, Problem
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..peers.constraints import ConstrainedPeer, proximal_settings
from ..peers.packages import pinocchio
from ..reporting.checks import Limit
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Part
from . import plots
from .problems import PROBLEMS

# Sec. V-B: "more than 50 %" less time than Eigen's dense factorisation on almost all robots.
PAPER_DENSE_RATIO = 2.0
# Sec. V-C: the operational-space inertia of Talos with 24 rows, once K is factored.
PAPER_INERTIA_MICROSECONDS = {"talos, feet and hands": 7.0}

FACTORS = Table(
    "factorization",
    "Factorisation of K, nv + rows square: microseconds a state on one core",
    [
        *named("problem", "size"),
        *numbers(".2f", microseconds="ours: batch", single_microseconds="one state"),
        *numbers(".2f", dense_microseconds="LAPACK", sparse_microseconds="sparse LU"),
        *numbers(".2f", pinocchio_microseconds="Pinocchio"),
        *numbers(".2f", dense_ratio="LAPACK / batch", pinocchio_ratio="LAPACK / Pinocchio"),
        *numbers(".1f", paper_ratio="paper"),
        *numbers(".2f", sparse_ratio="sparse / batch"),
        *numbers(".0e", difference="difference"),
    ],
    note="Ours is an upper bound: from q, with M and J and the factor written as a dense\n"
    "matrix. Others for one state: LAPACK's dsytrf and SuperLU are given K; Pinocchio is\n"
    "given M, Jacobians and placements. paper: Eigen's dense factorisation takes more than\n"
    "twice as long as Pinocchio's (Sec. V-B). difference: of U D U^T to K, relative.",
)
INERTIA = Table(
    "inertia",
    "Operational-space inertia (J M^-1 J^T + mu)^-1: microseconds for one state",
    [
        *named("problem", "size"),
        *numbers(".2f", inertia_microseconds="ours, K factored"),
        *numbers(".2f", pinocchio_inertia_microseconds="Pinocchio, K factored"),
        *numbers(".2f", dense_inertia_microseconds="NumPy, M and J given"),
        *numbers(".0f", paper_microseconds="paper, K factored"),
    ],
    note="paper: Sec. V-C, Talos with 24 rows, from C++ on a Core i7-7820HQ.",
)


def measure(problem: Problem, settings: Settings) -> Findings:
    """One record for both tables: times of factorisations, and of inertias taken from them."""
    constraints, peer = problem.pair()
    states = States.random(constraints.model, settings.states, settings.seed)
    state = states.first()
    factor = kkt_factorization(constraints.model, state.q, constraints, DAMPING)
    K = kkt_matrix(constraints, state.q)
    contestants = {
        "microseconds": _factorize(constraints, states.q),
        "single_microseconds": _factorize(constraints, state.q),
        **_others(K),
        **_peers(ConstrainedPeer(peer, constraints), state),
        "inertia_microseconds": lambda: factor.delassus_inverse,
        "dense_inertia_microseconds": _dense_inertia(constraints, K),
    }
    timers = {name: Timer(call) for name, call in contestants.items()}
    times = best_times(timers, settings, processor_clock())
    record = {name: MICROSECONDS * seconds for name, seconds in times.items()}
    record["microseconds"] /= settings.states
    product = (factor.U * factor.D) @ factor.U.T
    record |= {
        "problem": problem.label,
        "size": len(K),
        "dense_ratio": record["dense_microseconds"] / record["microseconds"],
        "sparse_ratio": record["sparse_microseconds"] / record["microseconds"],
        "pinocchio_ratio": record["dense_microseconds"] / record["pinocchio_microseconds"],
        "paper_ratio": PAPER_DENSE_RATIO,
        "difference": largest_difference(product[None], K[None]),
        "paper_microseconds": PAPER_INERTIA_MICROSECONDS.get(problem.label),
    }
    return {"factorization": [record], "inertia": [record]}


def kkt_matrix(constraints: Constraints, q: np.ndarray) -> np.ndarray:
    """K of one state, as a dense matrix."""
    M, J = mass_matrix(constraints.model, q), constraints.jacobian(q)
    return np.block([[-DAMPING * np.eye(constraints.size), J], [J.T, M]])


def _factorize(constraints: Constraints, q: np.ndarray) -> Callable:
    def run():
        return kkt_factorization(constraints.model, q, constraints, DAMPING, threads=1)

    return run


def _others(K: np.ndarray) -> dict[str, Callable]:
    """LAPACK's factorisation of symmetric matrices, and a sparse one; both are given K."""
    from scipy.linalg import lapack
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    dense, sparse = np.asfortranarray(K), csc_array(K)
    room = int(lapack.dsytrf_lwork(len(K), lower=1)[0])
    return {
        "dense_microseconds": lambda: lapack.dsytrf(dense, lower=1, lwork=room),
        "sparse_microseconds": lambda: splu(sparse),
    }


def _peers(peer: ConstrainedPeer, state: States) -> dict[str, Callable]:
    """Pinocchio's factorisation, with M, joint Jacobians and placements given, and its inertia."""
    module = pinocchio()
    peer.solve(state.q, state.v, state.x, proximal_settings(DAMPING, 1))
    module.crba(peer.model, peer.data, peer.peer.configuration(state.q), module.Convention.WORLD)
    arguments = (peer.model, peer.data, peer.constraints, peer.constraint_data)
    factor = module.ContactCholeskyDecomposition(*arguments)
    return {
        "pinocchio_microseconds": lambda: factor.compute(*arguments, DAMPING),
        "pinocchio_inertia_microseconds": lambda: factor.getOperationalSpaceInertiaMatrix(),
    }


def _dense_inertia(constraints: Constraints, K: np.ndarray) -> Callable:
    """The operational-space inertia by dense matrices, M and J given."""
    m = constraints.size
    J, M = K[:m, m:], K[m:, m:]

    def run():
        return np.linalg.inv(J @ np.linalg.solve(M, J.T) + DAMPING * np.eye(m))

    return run


PART = Part(
    "factors",
    cases=lambda _: [(problem,) for problem in PROBLEMS],
    measure=measure,
    tables=[FACTORS, INERTIA],
    limits=[
        Limit(
            "factorization", "difference", "{problem}: U D U^T differs from K by {difference:.1e}"
        )
    ],
    plots={"factorization": plots.factorization},
)
