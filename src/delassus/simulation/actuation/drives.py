"""Actuators of a world as kernels read them: a record for each control."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import FLOAT64
from ...dynamics.actuation.packed import ActuatorArrays, actuator_type
from ...model.model import Model

EXPLICIT = -1


class Drives(NamedTuple):
    """Records of actuators, one for each control, and limits of degrees of freedom.

    - actuators: their laws, see `dynamics.actuation.packed`
    - driven: the degree of freedom that each acts on; EXPLICIT if it acts on several, or along axes
      that turn. Only forces of the former are implicit.
    - effort_limit: of each degree of freedom
    - lift: force on each body against gravity, in world axes
    """

    actuators: np.ndarray
    driven: np.ndarray
    effort_limit: np.ndarray
    neutral: np.ndarray
    lift: np.ndarray


def drives_of(model: Model) -> Drives:
    """The actuators of a model."""
    packed = ActuatorArrays.pack(model, FLOAT64)
    driven = np.full(model.nu, EXPLICIT)
    for i, record in enumerate(packed.actuators):
        (moved,) = np.nonzero(record["gear"])
        if record["turned"] < 0 and len(moved) == 1:
            driven[i] = record["dofs"][moved[0]]
    return Drives(packed.actuators, driven, model.effort_limit, model.neutral(), _lift(model))


def generalised_forces(model: Model, stiffness: np.ndarray, damping: np.ndarray) -> Drives:
    """A drive for each degree of freedom: f = u - damping v, or stiffness (u - q) - damping v."""
    records = np.zeros(model.nv, actuator_type(FLOAT64))
    for k, record in enumerate(records):
        record["dofs"][0], record["nv"], record["turned"] = k, 1, -1
        record["gear"][0] = 1.0
        record["gain"] = stiffness[k] if stiffness[k] > 0.0 else 1.0
        record["bias"] = (0.0, -stiffness[k], -damping[k])
    for name in ("control", "force"):
        records[f"{name}_lower"], records[f"{name}_upper"] = -np.inf, np.inf
    unlimited = np.full(model.nv, np.inf)
    return Drives(records, np.arange(model.nv), unlimited, model.neutral(), _lift(model))


def _lift(model: Model) -> np.ndarray:
    """- share m g of each body, the share being that of its gravity compensation"""
    weights = np.array([b.gravity_compensation * b.inertia.mass for b in model.bodies])
    return np.outer(weights, -model.gravity)
