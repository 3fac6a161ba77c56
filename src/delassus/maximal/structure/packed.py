"""A system of bodies as kernels read it: the arrays of its model, and a few more.

Body 0 is the world. Rows stand in this order: joints, couplings, limits, bounded, contacts. Blocks
of the Jacobian stand one after the other in the same order: of an element of h rows, a block of h
times 6 numbers for each of its bodies, the base before the follower.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...compile.recorded.programs import concatenate
from ...model.packed import INDEX, ModelArrays, index_record

SIDE = 6  # numbers of one row of a block


def body_type(real: np.dtype) -> np.dtype:
    """The record of a body: inertia about its centre of mass, in its own axes."""
    return np.dtype(
        [
            ("mass", real),
            ("inverse_mass", real),  # zero for a body without mass, and for the world
            ("inertia", real, (6,)),
            ("inverse_inertia", real, (6,)),  # zero if the inertia has no inverse
            ("center", real, (3,)),  # of mass, in the body's frame of the model
        ],
        align=True,
    )


def joint_type(real: np.dtype) -> np.dtype:
    """The record of a joint (see `joints.MaximalJoint`)."""
    indices = ("kind", "base_body", "follower", "row", "rows", "block", "q", "v", "nq", "nv")
    axes = ("linear", "angular", "free_linear", "free_angular")
    return np.dtype(
        [
            *((name, INDEX) for name in indices),
            ("moves_in_own_axes", INDEX),
            *((name, INDEX, (3,)) for name in axes),
            ("base_rotation", real, (9,)),
            ("base_position", real, (3,)),
            ("rotation", real, (9,)),  # of the frame on the follower
            ("position", real, (3,)),
            ("pitch", real),
            ("first", real, (3,)),
            ("second", real, (3,)),
            ("cosine", real),  # of the angle between the axes of a universal joint
            ("sine", real),
            ("length", real),
        ],
        align=True,
    )


# A degree of freedom: its joint, and the number of its row in the joint's record.
DOF = index_record("joint", "place")
# A body that a coupling pulls at: the number of the body.
PULLED = index_record("body")


def limit_type(real: np.dtype) -> np.dtype:
    """The record of a coordinate with limits: its joint, number in the joint, index in q."""
    return np.dtype(
        [
            ("joint", INDEX),
            ("coordinate", INDEX),
            ("q", INDEX),
            ("lower", real),
            ("upper", real),
        ],
        align=True,
    )


def coupling_type(real: np.dtype) -> np.dtype:
    """The record of a coupling (see `couplings.MaximalCoupling`)."""
    indices = ("row", "rows", "block", "first_term", "term_count", "first_body", "body_count")
    program = ("is_sum", "program", "to_bias", "registers")
    return np.dtype(
        [*((name, INDEX) for name in (*indices, *program)), ("offset", real)], align=True
    )


def term_type(real: np.dtype) -> np.dtype:
    """The record of a coordinate of a coupling.

    The places are those of the joint's base and follower among the coupling's bodies, -1 if it is
    the world.
    """
    names = ("q", "v", "base_place", "place")
    return np.dtype([*((name, INDEX) for name in names), ("coefficient", real)], align=True)


OWN_FIELDS = (
    *("bodies", "joints", "dofs", "limits", "bounded", "couplings", "terms", "pulled"),
    *("code", "program_constants"),
)


class SystemArrays(namedtuple("SystemArrays", (*ModelArrays._fields, *OWN_FIELDS))):
    """The arrays of a model, and of its bodies, joints and rows in maximal coordinates.

    `bounded` are the degrees of freedom with dry friction; `code` and `program_constants` are the
    programs of recorded functions.
    """

    __slots__ = ()
    dimensions = ("nq", "nv", "n_bodies", "n_joints", "n_rows", "n_blocks", "n_slots", "n_limits")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (body_type(real), joint_type(real), DOF, limit_type(real), INDEX)
        more = (coupling_type(real), term_type(real), PULLED, np.dtype(np.int64), real)
        return (*ModelArrays.array_types(real), *own, *more)

    @classmethod
    def takes(cls, system) -> bool:
        """Whether these arrays can be packed from an object."""
        return hasattr(system, "couplings") and hasattr(system, "limits")

    @classmethod
    def pack(cls, system, real: np.dtype) -> SystemArrays:
        """The arrays of a system in one precision."""
        model = system.model
        joints = _joints(system.joints, real)
        couplings, terms, pulled, code, constants = _couplings(system, joints, real)
        return cls(
            *ModelArrays.pack(model, real),
            _bodies(model, real),
            joints,
            _dofs(system),
            np.array([tuple(limit) for limit in system.limits], limit_type(real)),
            np.array(system.bounded, INDEX),
            couplings,
            terms,
            pulled,
            code,
            constants.astype(real),
        )


def _bodies(model, real: np.dtype) -> np.ndarray:
    bodies, upper = np.zeros(model.n_bodies + 1, body_type(real)), np.triu_indices(3)
    for record, body in zip(bodies[1:], model.bodies, strict=True):
        mass, matrix = body.inertia.mass, body.inertia.matrix
        record["mass"], record["center"] = mass, body.inertia.center
        record["inertia"] = matrix[upper]
        record["inverse_mass"] = 1.0 / mass if mass > 0.0 else 0.0
        if has_inertia(matrix):
            record["inverse_inertia"] = np.linalg.inv(matrix)[upper]
    return bodies


def has_inertia(matrix: np.ndarray) -> bool:
    """Whether a rotational inertia resists rotation about every axis."""
    moments = np.linalg.eigvalsh(matrix)
    return bool(moments[0] > 1e-12 * moments[-1] > 0.0)


def _joints(joints, real: np.dtype) -> np.ndarray:
    records = np.zeros(len(joints), joint_type(real))
    row = block = 0
    same = ("kind", "follower", "rows", "q", "v", "nq", "nv", "moves_in_own_axes")
    axes = (
        "linear",
        "angular",
        "free_linear",
        "free_angular",
        "pitch",
        "first",
        "second",
        "length",
    )
    for record, joint in zip(records, joints, strict=True):
        for name in (*same, *axes):
            record[name] = getattr(joint, name)
        record["row"], record["block"] = row, block
        record["base_body"] = joint.base  # arrays of NumPy have another attribute `base`
        record["base_rotation"] = joint.on_base.rotation.ravel()
        record["base_position"] = joint.on_base.translation
        record["rotation"] = joint.on_follower.rotation.ravel()
        record["position"] = joint.on_follower.translation
        record["cosine"] = np.dot(joint.first, joint.second)
        record["sine"] = np.linalg.norm(np.cross(joint.first, joint.second))
        row, block = row + joint.rows, block + 2 * SIDE * joint.rows
    return records


def _dofs(system) -> np.ndarray:
    found = [(j, joint.rows + k) for j, joint in enumerate(system.joints) for k in range(joint.nv)]
    return np.array(found, DOF)


def _couplings(system, joints: np.ndarray, real: np.dtype) -> tuple:
    """Couplings, their terms, their bodies, and code and constants of their programs."""
    records = np.zeros(len(system.couplings), coupling_type(real))
    terms, pulled = [], []
    row = int(joints["rows"].sum())
    block, registers = 2 * SIDE * row, 0
    owner = {v: j for j in system.joints for v in range(j.v, j.v + j.nv)}
    for record, coupling in zip(records, system.couplings, strict=True):
        bodies = coupling.bodies(system.joints)
        record["row"], record["rows"], record["block"] = row, coupling.rows, block
        record["first_term"], record["term_count"] = len(terms), len(coupling.terms)
        record["first_body"], record["body_count"] = len(pulled), len(bodies)
        record["offset"], record["registers"] = coupling.offset, registers
        record["is_sum"] = coupling.program is None
        number = {body: k for k, body in enumerate(bodies)}
        for q, v, coefficient in coupling.terms:
            base, follower = owner[v].base, owner[v].follower
            terms.append((q, v, number.get(base, -1), number.get(follower, -1), coefficient))
        pulled += [(body,) for body in bodies]
        if coupling.program is not None:
            record["to_bias"] = coupling.program.ends["bias"]
            registers += coupling.program.slots.size
        row, block = row + coupling.rows, block + SIDE * coupling.rows * len(bodies)
    programs = [c.program for c in system.couplings if c.program is not None]
    code, constants, records["program"][records["is_sum"] == 0] = concatenate(programs)
    return records, np.array(terms, term_type(real)), np.array(pulled, PULLED), code, constants
