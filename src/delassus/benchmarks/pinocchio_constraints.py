"""Pinocchio's constrained dynamics beside ours: the same constraints in both."""

from __future__ import annotations

import numpy as np

from ..constrained.rows.constraints import Constraints
from ..errors import ModelError
from ..model.model import Model
from ..model.parts.constraints import Connect, Constraint, Weld
from .pinocchio_peer import PinocchioPeer, pinocchio


class ConstrainedPeer:
    """What `pinocchio.constraintDynamics` takes besides a state, for constraints of ours."""

    def __init__(self, peer: PinocchioPeer, constraints: Constraints):
        module = pinocchio()
        self.peer, self.model, self.data = peer, peer.model, peer.model.createData()
        self.constraints = module.StdVec_RigidConstraintModel()
        self.constraint_data = module.StdVec_RigidConstraintData()
        for declared in constraints.declared:
            self.constraints.append(_contact(peer, constraints.model, declared))
            self.constraint_data.append(self.constraints[-1].createData())
        module.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)

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


def _contact(peer: PinocchioPeer, model: Model, constraint: Constraint):
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
