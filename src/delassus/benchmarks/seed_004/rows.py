"""The rows and columns of the paper's Table I, its times, and the robots that are measured here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from ... import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
    inverse_mass_matrix,
)
from ..comparing.algorithms import (
    FORWARD_DYNAMICS,
    INVERSE_DYNAMICS,
    INVERSE_MASS_MATRIX,
    Algorithm,
)

# The robots, and the columns of the paper that they stand for: an arm, a quadruped, a humanoid.
ROBOTS = {"xarm7": "KUKA LWR", "hyq": "HyQ", "talos": "Atlas"}


@dataclass(frozen=True)
class Dynamics:
    """Inverse or forward dynamics, and its derivatives with respect to all three inputs."""

    row: str
    algorithm: Algorithm
    derivatives: Algorithm

    @property
    def analytical(self) -> str:
        """The row of the analytical derivatives."""
        return f"derivatives of {self.row}"

    @property
    def finite(self) -> str:
        """The row of finite differences."""
        return f"finite differences of {self.row}"

    @property
    def automatic(self) -> str:
        """The row of automatic differentiation, which the paper's table does not have."""
        return f"CasADi's derivatives of {self.row}"


def _cholesky_inverse(module: ModuleType) -> Callable:
    """Pinocchio's inverse of the mass matrix by the matrix itself and its factors."""
    crba, cholesky = module.crba, module.cholesky
    decompose, invert = cholesky.decompose, cholesky.computeMinv

    def inverse(model, data, q, *convention):
        crba(model, data, q, *convention)
        decompose(model, data)
        return invert(model, data)

    return inverse


INVERSE = Dynamics(
    "ID",
    INVERSE_DYNAMICS,
    Algorithm(
        inverse_dynamics_derivatives, ("q", "v", "x"), "computeRNEADerivatives",
        result_type=InverseDynamicsDerivatives, peer_results=("dtau_dq", "dtau_dv", "M"),
    ),
)  # fmt: skip
FORWARD = Dynamics(
    "FD",
    FORWARD_DYNAMICS,
    Algorithm(
        forward_dynamics_derivatives, ("q", "v", "x"), "computeABADerivatives",
        result_type=ForwardDynamicsDerivatives, peer_results=("ddq_dq", "ddq_dv", "Minv"),
    ),
)  # fmt: skip
DEDICATED, CHOLESKY = "M^-1, dedicated", "M^-1, Cholesky"
INVERSES = {
    DEDICATED: INVERSE_MASS_MATRIX,
    CHOLESKY: Algorithm(
        inverse_mass_matrix, ("q",), _cholesky_inverse,
        has_conventions=True, options="method='cholesky'",
    ),
}  # fmt: skip

_PAPER_MICROSECONDS = {
    INVERSE.row: (1.20, 2.14, 5.51),
    INVERSE.analytical: (3.34, 7.01, 16.72),
    INVERSE.finite: (21.26, 88.52, 452.46),
    FORWARD.row: (1.78, 4.28, 9.81),
    FORWARD.analytical: (5.78, 14.24, 45.20),
    FORWARD.finite: (22.67, 94.23, 470.14),
    DEDICATED: (1.82, 4.86, 12.70),
    CHOLESKY: (1.88, 5.82, 28.29),
}


def paper_microseconds(row: str, robot: str) -> float | None:
    """The paper's time for the corresponding robot, on a Core i7 of 2.2 GHz, if it has one."""
    times = dict(zip(ROBOTS, _PAPER_MICROSECONDS.get(row, ()), strict=False))
    return times.get(robot)
