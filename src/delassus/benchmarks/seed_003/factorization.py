"""The factorisation of K = [[-mu, J], [J^T, M]]: ours, LAPACK's, a general sparse one, Pinocchio's.

Figs. 5 to 7 of the paper, there with Eigen's dense and sparse factorisations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from timeit import Timer

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

import delassus

from ...constrained.factor.factorization import KKTFactorization, kkt_factorization
from ...constrained.rows.constraints import Constraints
from ..pinocchio_constraints import ConstrainedPeer, proximal_settings
from ..pinocchio_peer import pinocchio
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States, largest_difference
from ..timing import best_times, processor_clock
from .problems import DAMPING, PROBLEMS, Problem

_MICROSECONDS = 1e6


def jobs(settings: Settings) -> list[Job]:
    """A job for each problem."""
    return [Job(f"{p.label}, factors", lambda p=p: compare(p, settings)) for p in PROBLEMS]


def compare(problem: Problem, settings: Settings) -> dict[str, object]:
    """Times of factorisations and of what is taken from them, and whether ours is right."""
    constraints, peer = problem.pair()
    states = States.random(constraints.model, settings.states, settings.seed)
    state = states.first()
    factor = kkt_factorization(constraints.model, state.q, constraints, DAMPING)
    K = kkt_matrix(constraints, state.q)
    contestants = {
        "microseconds": _factorize(constraints, states.q),
        "single_microseconds": _factorize(constraints, state.q),
        **_others(K),
        **_peers(peer, state),
        "inertia_microseconds": lambda: factor.delassus_inverse,
        "dense_inertia_microseconds": _dense_inertia(constraints, K),
    }
    clock = processor_clock()
    times = best_times({k: Timer(f, timer=clock) for k, f in contestants.items()}, settings)
    record = {name: _MICROSECONDS * seconds for name, seconds in times.items()}
    record["microseconds"] /= settings.states
    for other in ("dense", "sparse"):
        record[f"{other}_ratio"] = record[f"{other}_microseconds"] / record["microseconds"]
    return {
        "problem": problem.label, "size": len(K), **record,
        "difference": largest_difference(_product(factor)[None], K[None]),
    }  # fmt: skip


def kkt_matrix(constraints: Constraints, q: np.ndarray) -> np.ndarray:
    """K of one state, as a dense matrix."""
    M, J = delassus.mass_matrix(constraints.model, q), constraints.jacobian(q)
    return np.block([[-DAMPING * np.eye(constraints.size), J], [J.T, M]])


def _product(factor: KKTFactorization) -> np.ndarray:
    return (factor.U * factor.D) @ factor.U.T


def _factorize(constraints: Constraints, q: np.ndarray) -> Callable:
    def run():
        return kkt_factorization(constraints.model, q, constraints, DAMPING, threads=1)

    return run


def _others(K: np.ndarray) -> dict[str, Callable]:
    """LAPACK's factorisation of symmetric matrices, and a sparse one; both are given K."""
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


def tables(records: Sequence[dict[str, object]]) -> list[Table]:
    """A row a problem: factorisations, and operational-space inertias."""
    what = [Column("problem"), Column("size")]
    return [
        Table(
            "factorization",
            "Factorisation of K, nv + rows square: microseconds a state on one core",
            [
                *what,
                Column("microseconds", "ours: batch", ".2f"),
                Column("single_microseconds", "one state", ".2f"),
                Column("dense_microseconds", "LAPACK", ".2f"),
                Column("sparse_microseconds", "sparse LU", ".2f"),
                Column("pinocchio_microseconds", "Pinocchio", ".2f"),
                Column("dense_ratio", "LAPACK / batch", ".2f"),
                Column("sparse_ratio", "sparse / batch", ".2f"),
                Column("difference", "difference", ".0e"),
            ],
            records,
            "Ours is an upper bound: from q, with M and J and the factor written as a dense\n"
            "matrix. Others for one state: LAPACK's dsytrf and SuperLU are given K; Pinocchio is\n"
            "given M, Jacobians and placements. difference: of U D U^T to K, relative.",
        ),
        Table(
            "inertia",
            "Operational-space inertia (J M^-1 J^T + mu)^-1: microseconds for one state",
            [
                *what,
                Column("inertia_microseconds", "ours, K factored", ".2f"),
                Column("pinocchio_inertia_microseconds", "Pinocchio, K factored", ".2f"),
                Column("dense_inertia_microseconds", "NumPy, M and J given", ".2f"),
            ],
            records,
        ),
    ]  # fmt: skip
