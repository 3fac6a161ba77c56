"""Rigid bodies in maximal coordinates: joints, limits and contacts as rows between bodies."""

from .dual import DualProblem, PrimalProblem
from .settings import Contact, Softening, Stabilization
from .system import MaximalSystem

__all__ = [
    "Contact",
    "DualProblem",
    "MaximalSystem",
    "PrimalProblem",
    "Softening",
    "Stabilization",
]
