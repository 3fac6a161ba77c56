"""Inverse kinematics by the factorisation of constrained dynamics.

A frame with a target is a constraint like any other. A step x minimises

    |J x + error|^2 + damping x^T M x

Of all steps to the targets, it is the one of least kinetic energy: heavy bodies move little. It
solves [[-damping, J], [J^T, M]] [y, x] = [-error, 0] by the sparse factorisation of constrained
dynamics. Any metric with the tree's pattern may stand in the place of M (Carpentier, Budhiraja and
Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations, 2021, Sec. IV-F); here it
is the mass matrix.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ...checks import instance, shown
from ...dynamics.arguments import zero_velocity
from ...errors import DataTypeError
from ...model.model import Model
from ...model.parts.constraints import Connect, Constraint, Weld
from ...model.parts.elements import Frame
from ...spatial.transform import Transform
from ..factor.factorization import KKTFactorization, factor_kkt
from ..rows.checks import check_constraints
from ..rows.constraints import Constraints
from .loops import Search


def inverse_kinematics(
    model: Model,
    q: ArrayLike,
    targets: Mapping[str, Transform | ArrayLike],
    *,
    constraints: Constraints | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 100,
) -> np.ndarray:
    """A configuration at which frames are at their targets in the world, searched from q on.

    A target is a `Transform`, or three numbers for the origin alone. `constraints` hold as well. If
    none is found, `ConvergenceError` has the best configuration as `.q`.
    """
    instance("model", model, Model)
    kept = () if constraints is None else check_constraints(model, constraints).declared
    search = _KineticSearch(_with_targets(model, kept, targets), q, np.ones(model.nv, bool))
    return search.run(tolerance, max_iterations)


class _KineticSearch(Search):
    """A search by steps of least kinetic energy."""

    def damped_step(self, q, J, error, damping):
        m = self.cs.size
        rows = np.repeat(damping[:, None], m, axis=1)
        U, D = factor_kkt(self.cs, (q, zero_velocity(self.cs.model, q), rows))
        asked = np.concatenate([-error, np.zeros((len(q), self.cs.model.nv))], axis=1)
        return KKTFactorization(self.cs, U, D, rows).solve(asked)[:, m:]


def _with_targets(model: Model, kept: tuple[Constraint, ...], targets) -> Constraints:
    """Constraints of a copy of the model with targets as frames of the world; then `kept` ones."""
    if not isinstance(targets, Mapping) or not targets:
        raise DataTypeError(f"targets map names of frames to placements, got {shown(targets)}")
    frames, rows = list(model.frames), list(kept)
    for name, target in targets.items():
        model.frame(name)  # raises an error if there is no such frame
        goal = f"target of {name}"
        while goal in model.frame_names:
            goal += "'"
        frames.append(Frame(goal, -1, Transform.of(target)))
        rows.append((Weld if isinstance(target, Transform) else Connect)(name, goal))
    return Constraints(model.replace(frames=frames), rows)
