"""A robot in Pinocchio and in our library, and the conversion of coordinates between both.

Pinocchio orders the children of a body by name, and we in the order of the file. It describes an
angle without limits by its cosine and sine.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np

from ... import Free, Model, ModelError, Prismatic, Revolute, robots
from ...model.parts.elements import Body
from .packages import pinocchio


class PinocchioPeer:
    """A model of Pinocchio's that describes the same mechanism as one of ours."""

    def __init__(self, model: Model, peer):
        if peer.nv != model.nv:
            raise ModelError(
                f"{model.name!r} has {model.nv} degrees of freedom here, {peer.nv} in Pinocchio"
            )
        self.model = peer
        self.data = peer.createData()
        self._joints = [(joint, _find(peer, joint.name)) for joint in model.joints]
        # The index in Pinocchio's v of each entry of ours.
        spans = [range(other.idx_v, other.idx_v + other.nv) for _, other in self._joints]
        self._order = np.array([index for span in spans for index in span], int)

    @classmethod
    def from_urdf(cls, model: Model, path: Path) -> PinocchioPeer:
        """The peer of a model that was read from this URDF file."""
        module = pinocchio()
        is_floating = bool(model.joints) and isinstance(model.joints[0].type, Free)
        root = [module.JointModelFreeFlyer()] if is_floating else []
        return cls(model, module.buildModelFromUrdf(str(path), *root))

    @classmethod
    def from_model(cls, model: Model) -> PinocchioPeer:
        """The peer of any model of revolute, prismatic and free joints."""
        module = pinocchio()
        peer = module.Model()
        peer.gravity.linear = np.array(model.gravity)
        numbers = {-1: 0}
        for index, body in enumerate(model.bodies):
            at = module.SE3(body.placement.rotation, body.placement.translation)
            joint = _joint_model(module, body)
            number = peer.addJoint(numbers[body.parent], joint, at, body.joint.name)
            own = module.Inertia(body.inertia.mass, body.inertia.center, body.inertia.matrix)
            peer.appendBodyToJoint(number, own, module.SE3.Identity())
            numbers[index] = number
        result = cls(model, peer)
        armature = [joint.data.armature for joint in model.joints]
        peer.armature = result.velocity(np.concatenate(armature))
        return result

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Our q, (nq,) or (N, nq), in Pinocchio's coordinates."""
        result = np.empty((*q.shape[:-1], self.model.nq))
        for joint, other in self._joints:
            own = q[..., joint.q]
            if other.nq == joint.nq + 1:
                angle = own[..., -1:]
                own = np.concatenate([own[..., :-1], np.cos(angle), np.sin(angle)], axis=-1)
            result[..., other.idx_q : other.idx_q + other.nq] = own
        return result

    def velocity(self, v: np.ndarray) -> np.ndarray:
        """Our v, or an acceleration or joint forces, in Pinocchio's order."""
        result = np.empty_like(v)
        result[..., self._order] = v
        return result

    def from_velocity(self, v: np.ndarray) -> np.ndarray:
        """Pinocchio's v, an acceleration or joint forces, in our order."""
        return v[..., self._order]

    def from_matrix(self, matrix: np.ndarray) -> np.ndarray:
        """A matrix over Pinocchio's degrees of freedom, (..., nv, nv), in our order."""
        return matrix[..., self._order[:, None], self._order]


def load_pair(name: str) -> tuple[Model, PinocchioPeer]:
    """A named robot in both libraries, each with its own reader."""
    model = robots.load(name)
    return model, PinocchioPeer.from_urdf(model, robots.path(name))


def _find(peer, name: str):
    if not peer.existJointName(name):
        raise ModelError(f"Pinocchio's model {peer.name!r} has no joint {name!r}")
    return peer.joints[peer.getJointId(name)]


def _joint_model(module: ModuleType, body: Body):
    kind = body.joint.type
    if isinstance(kind, Free):
        return module.JointModelFreeFlyer()
    families = {Revolute: ("R", "RevoluteUnaligned"), Prismatic: ("P", "PrismaticUnaligned")}
    if type(kind) not in families:
        raise ModelError(f"joint {body.joint.name!r}: no peer for a {type(kind).__name__} joint")
    aligned, unaligned = families[type(kind)]
    for letter, unit in zip("XYZ", np.eye(3), strict=True):
        if np.array_equal(kind.axis, unit):
            return getattr(module, f"JointModel{aligned}{letter}")()
    return getattr(module, f"JointModel{unaligned}")(np.array(kind.axis))
