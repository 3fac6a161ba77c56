"""The dual problem of contact: cones, problems, residuals and solvers. Knows nothing of robots."""

from .files import load
from .operators.system import BodiesOperator
from .plain import Residuals, project, residuals
from .problem import Problem
from .requests import SOLVERS
from .solving import Solution, solve

__all__ = [
    "SOLVERS",
    "BodiesOperator",
    "Problem",
    "Residuals",
    "Solution",
    "load",
    "project",
    "residuals",
    "solve",
]
