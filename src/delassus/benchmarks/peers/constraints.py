"""Pinocchio's functions for constraints, called for constraints of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ... import Connect, Constraints, Model, ModelError, Weld
from .packages import pinocchio
from .pinocchio import PinocchioPeer

# Where Pinocchio leaves derivatives in its data, in the order of our results.
_DERIVATIVES = ("ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau")


class ConstrainedPeer:
    """The arguments of `pinocchio.constraintDynamics` besides a state, for constraints of ours."""

    def __init__(self, peer: PinocchioPeer, constraints: Constraints):
        module = pinocchio()
        self.peer, self.model, self.data = peer, peer.model, peer.model.createData()
        self.constraints = module.StdVec_RigidConstraintModel()
        self.constraint_data = module.StdVec_RigidConstraintData()
        for declared in constraints.declared:
            self.constraints.append(_contact(peer, constraints.model, declared))
            self.constraint_data.append(self.constraints[-1].createData())
        module.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)

    @classmethod
    def ordered(cls, peer: PinocchioPeer, constraints: Constraints) -> ConstrainedPeer:
        """A peer with joints in the order in which Pinocchio's `lcaba` eliminates them."""
        made = cls(peer, constraints)
        pinocchio().computeJointMinimalOrdering(made.model, made.data, made.constraints)
        return made

    def solve(self, q, v, tau, settings) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations in our order and multipliers in the frames' axes, of one state of ours."""
        acceleration = pinocchio().constraintDynamics(
            self.model, self.data,
            self.peer.configuration(q), self.peer.velocity(v), self.peer.velocity(tau),
            self.constraints, self.constraint_data, settings,
        )  # fmt: skip
        return self.peer.from_velocity(acceleration), self.data.lambda_c.copy()


def proximal_settings(damping: float, iterations: int, tolerance: float = 0.0):
    """Pinocchio's settings; with a tolerance of zero all iterations are done."""
    return pinocchio().ProximalSettings(tolerance, damping, iterations)


@dataclass(frozen=True)
class PeerCall:
    """A statement that calls Pinocchio for one state, and the names in it.

    It reads the arrays that `inputs` names, and writes to `out`, or to `out0`, `out1` and so on.
    """

    statement: str
    scope: Mapping[str, object]
    inputs: tuple[str, ...] = ("q", "v", "x")


def dynamics_calls(
    peer: PinocchioPeer, constraints: Constraints, damping: float, iterations: int
) -> dict[str, PeerCall]:
    """Accelerations by the sparse factorisation, and by the recursion that takes loops too."""
    module, settings = pinocchio(), proximal_settings(damping, iterations)
    statement = "out[:] = function(model, data, q, v, x, constraints, constraint_data, settings)"
    functions = {
        "constraintDynamics": (module.constraintDynamics, ConstrainedPeer(peer, constraints)),
        "lcaba": (module.lcaba, ConstrainedPeer.ordered(peer, constraints)),
    }
    return {
        name: PeerCall(statement, {"function": function, "settings": settings, **vars(own)})
        for name, (function, own) in functions.items()
    }


def derivatives_call(
    peer: PinocchioPeer, constraints: Constraints, damping: float, iterations: int
) -> PeerCall:
    """Derivatives of accelerations and multipliers by q, v and tau: six matrices."""
    module = pinocchio()
    scope = {
        "dynamics": module.constraintDynamics,
        "derivatives": module.computeConstraintDynamicsDerivatives,
        "settings": proximal_settings(damping, iterations),
        **vars(ConstrainedPeer(peer, constraints)),
    }
    statements = [
        "dynamics(model, data, q, v, x, constraints, constraint_data, settings)",
        "derivatives(model, data, constraints, constraint_data, settings)",
        *(f"out{k}[:] = data.{name}" for k, name in enumerate(_DERIVATIVES)),
    ]
    return PeerCall("; ".join(statements), scope)


def inverse_calls(
    peer: PinocchioPeer, constraints: Constraints, damping: float
) -> dict[str, PeerCall]:
    """(J M^-1 J^T + damping)^-1 by the function for it, and by the Delassus matrix with springs.

    With springs of stiffness k = 1 / damping on the rows, the Delassus matrix is
    G = J (M + k J^T J)^-1 J^T, and the inverse is k (1 - k G).
    """
    module, own = pinocchio(), ConstrainedPeer(peer, constraints)
    call = "function(model, data, q, constraints, constraint_data, {})"
    functions: dict[str, tuple[Callable, str]] = {
        "computeDampedDelassusMatrixInverse": (
            module.computeDampedDelassusMatrixInverse,
            f"out[:] = {call.format('damping')}",
        ),
        "computeDelassusMatrix": (
            module.computeDelassusMatrix,
            f"out[:] = stiffness * (one - stiffness * {call.format('stiffness')})",
        ),
    }
    numbers = {"damping": damping, "stiffness": 1.0 / damping, "one": np.eye(constraints.size)}
    return {
        name: PeerCall(statement, {"function": function, **numbers, **vars(own)}, ("q",))
        for name, (function, statement) in functions.items()
    }


def _contact(peer: PinocchioPeer, model: Model, constraint):
    """Pinocchio's counterpart of a constraint of ours."""
    module = pinocchio()
    kinds = {Connect: module.ContactType.CONTACT_3D, Weld: module.ContactType.CONTACT_6D}
    if type(constraint) not in kinds:
        raise ModelError(f"no peer for a constraint of type {type(constraint).__name__}")
    places = []
    for name in constraint.frames:
        frame = model.frame(name)
        joint = "universe" if frame.body < 0 else model.bodies[frame.body].joint.name
        at = module.SE3(frame.placement.rotation, frame.placement.translation)
        places += [peer.model.getJointId(joint), at]
    kind = kinds[type(constraint)]
    return module.RigidConstraintModel(kind, peer.model, *places, module.ReferenceFrame.LOCAL)
