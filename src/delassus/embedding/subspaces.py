"""Motion and force subspaces of clusters, and actuators through W.

Chignoli, Adrian, Kim and Wensing 2024 (see `structure.graph`), Secs. II-D and III, footnotes 3, 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import items
from ..dynamics.kinematics import forward_kinematics, frame_jacobian
from ..errors import ActuationError, DataTypeError, ModelError
from ..model.parts.constraints import Closure
from ..model.parts.joints import Prismatic, Revolute
from ..model.parts.names import names_of

if TYPE_CHECKING:
    from ..model.model import Model
    from .embedding import Embedding


class Subspaces(NamedTuple):
    """Subspaces of a cluster: six rows for each of its bodies, at the world's origin and axes.

    - S: velocities of the bodies, linear then angular, by the cluster's independent velocities
    - Ta: forces of motors of its independent joints on the bodies, force then moment
    - Tc: all forces that do no work along S, an orthonormal basis
    """

    S: np.ndarray
    Ta: np.ndarray
    Tc: np.ndarray


def subspaces(emb: Embedding, q: np.ndarray, number: int) -> Subspaces:
    """The subspaces of a cluster of an embedding."""
    model, cluster = emb.model, emb.clusters[number]
    q = emb.spanning(q)
    joints = {name: model.joint(name) for name in cluster.joints}
    own = [
        int(emb.inner[k])
        for name in cluster.independent_joints
        for k in range(joints[name].v.start, joints[name].v.stop)
    ]
    places = {body: 6 * at for at, body in enumerate(cluster.bodies)}
    S = np.concatenate(
        [frame_jacobian(emb, q, body, "world")[..., own] for body in cluster.bodies], axis=-2
    )
    Ta, column = np.zeros_like(S), 0
    for name in cluster.independent_joints:
        joint = joints[name]
        body = model.bodies[joint.index]
        J = frame_jacobian(model, q, body.name, "world")[..., joint.v.start : joint.v.stop]
        w = np.swapaxes(np.linalg.pinv(J), -1, -2)  # forces of which each does work along its own
        at = slice(column, column + joint.nv)
        Ta[..., places[body.name] : places[body.name] + 6, at] = w
        carrier = model.bodies[body.parent].name if body.parent >= 0 else None
        if carrier in places:
            Ta[..., places[carrier] : places[carrier] + 6, at] = -w
        column += joint.nv
    U = np.linalg.svd(S, full_matrices=True)[0]
    return Subspaces(S, Ta, U[..., :, S.shape[-1] :])


# --- actuators ------------------------------------------------------------------------------------


def check_actuators(model: Model, actuators) -> tuple[str | Closure, ...]:
    """Names of joints, and closures by a joint of one degree of freedom, which motors can drive."""
    given = (actuators,) if isinstance(actuators, (str, Closure)) else ()
    if not given and actuators is not None:
        given = items("actuators", actuators, object)
    names = names_of("actuators", [x for x in given if not isinstance(x, Closure)])
    for name in names:
        model.joint(name)
    for closure in given:
        if isinstance(closure, Closure) and not _has_one_axis(closure):
            raise ModelError(
                f"an actuator of a loop joint needs a hinge or a slider, not {closure.joint_type}"
            )
    return given


def actuated_joints(model: Model) -> tuple[str, ...]:
    """Names of the joints that the model's actuators drive, each once."""
    driven = [a.joint if isinstance(a.joint, tuple) else (a.joint,) for a in model.actuators]
    return tuple(dict.fromkeys(name for joints in driven for name in joints))


def _has_one_axis(closure: Closure) -> bool:
    return isinstance(closure.joint_type, (Revolute, Prismatic))


def actuation_matrix(emb: Embedding, q: np.ndarray) -> np.ndarray:
    """W, (..., nv, number of actuators' degrees of freedom): tau = W efforts."""
    if not emb.actuators:
        raise DataTypeError(
            "the embedding has no actuators; name some: embed(model, actuators=...)"
        )
    q = emb.spanning(q)
    G = emb.G(q)
    rows = [_rates(emb, q, actuator) @ G for actuator in emb.actuators]
    return np.swapaxes(np.concatenate(rows, axis=-2), -1, -2)


def _rates(emb: Embedding, q: np.ndarray, actuator: str | Closure) -> np.ndarray:
    """The rates of an actuator by the velocities of all joints."""
    model = emb.model
    if isinstance(actuator, str):
        joint = model.joint(actuator)
        return np.broadcast_to(np.eye(model.nv)[joint.v], (*q.shape[:-1], joint.nv, model.nv))
    J, J_other = (frame_jacobian(model, q, name, "aligned") for name in actuator.frames)
    rotation = forward_kinematics(model, q, actuator.other).rotation[..., 0, :, :]
    axis = rotation @ np.asarray(actuator.joint_type.axis)
    half = slice(3, 6) if isinstance(actuator.joint_type, Revolute) else slice(0, 3)
    return axis[..., None, :] @ (J - J_other)[..., half, :]


def efforts(emb: Embedding, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The least efforts of actuators that make the forces tau."""
    W = actuation_matrix(emb, q)
    found = (np.linalg.pinv(W) @ np.asarray(tau, float)[..., None])[..., 0]
    missing = np.abs((W @ found[..., None])[..., 0] - tau)
    if not np.all(missing <= 1e-9 * (1.0 + np.abs(tau).max())):
        raise ActuationError(
            f"the actuators cannot make these forces: {np.nanmax(missing):.3g} is missing"
        )
    return found
