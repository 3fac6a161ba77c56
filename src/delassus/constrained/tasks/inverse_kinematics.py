"""Inverse kinematics by the factorisation of constrained dynamics.

A frame with a target is a constraint like any other. A step x minimises

    |W (J x + error)|^2 + damping x^T M x

Of all steps to the targets, it is the one of least kinetic energy: heavy bodies move little. It
solves [[-damping W^-2, J], [J^T, M]] [y, x] = [-error, 0] by the sparse factorisation of
constrained dynamics. Any metric with the tree's pattern may stand in the place of M (Carpentier,
Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations, 2021, Sec.
IV-F); here it is the mass matrix.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ...checks import real_array, shown
from ...dynamics.arguments import check_model, numbers_of, zero_velocity
from ...errors import ConvergenceError, DataTypeError
from ...model.model import Model
from ...model.parts.constraints import Connect, Constraint, Weld
from ...model.parts.elements import Frame
from ...spatial.transform import Transform
from ..factor.factorization import KKTFactorization, factor_kkt
from ..rows.checks import check_constraints, not_negative
from ..rows.constraints import Constraints
from .search import Search


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
    none is found, `ConvergenceError` says which targets are missed by how much, and has the best
    configuration as `.q` and its largest error as `.error`.
    """
    check_model(model)
    kept = () if constraints is None else check_constraints(model, constraints).declared
    tree = model.tree
    if tree is not model:  # loops that are embedded are closed with the others
        q = real_array("q", numbers_of("q", q))
        start = np.asarray(model.spanning(q))
        whole = Constraints(tree, model.all_constraints(kept))
        options = {"tolerance": tolerance, "max_iterations": max_iterations}
        wide = inverse_kinematics(tree, start, targets, constraints=whole, **options)
        return wide if q.shape == wide.shape else np.asarray(model.independent(wide))
    cs = _with_targets(model, kept, targets)
    search = _KineticSearch(cs, q, np.ones(model.nv, bool))
    found, are_closed = search.run(not_negative("tolerance", tolerance), max_iterations)
    if not are_closed.all():
        left = np.abs(search.left())
        message = _message(cs, len(kept), list(targets), left, are_closed, tolerance)
        raise ConvergenceError(message, found, left.max(axis=-1)[()])
    return found


def _message(cs: Constraints, kept: int, names: list[str], left, are_closed, tolerance) -> str:
    """Which targets and constraints are missed by how much, in the state that is worst."""
    errors = left.reshape(-1, cs.size)
    worst = np.where(are_closed.ravel(), -1.0, np.nan_to_num(errors.max(axis=1, initial=0.0)))
    state = int(np.argmax(worst))
    missed = []
    for number, rows in enumerate(cs.slices):
        own = errors[state, rows]
        if own.max(initial=0.0) > tolerance and number < kept:
            missed.append(f"{cs.declared[number]} is open by {own.max():.3g}")
        elif own.max(initial=0.0) > tolerance:
            by = f"{np.linalg.norm(own[:3]):.3g} m"
            by += f" and {np.linalg.norm(own[3:]):.3g} rad" if len(own) > 3 else ""
            missed.append(f"the target of {names[number - kept]!r} is missed by {by}")
    many = f"an error of {errors[state].max(initial=0.0):.3g} remains"
    if are_closed.ndim:
        count = np.sum(~are_closed)
        many += f" in {count} of {are_closed.size} states, and in state {state}"
    return (
        f"{many}: {'; '.join(missed) or 'q is not finite'}. Targets may be out of reach, or "
        "contradict each other or the constraints: move them, give three numbers in place of a "
        "Transform where only the position matters, or search from another q. The best "
        "configuration is the .q of this error"
    )


class _KineticSearch(Search):
    """A search by steps of least kinetic energy, also near a solution."""

    def settle(self, which, reach=None):
        """The shortest steps are not those of least kinetic energy."""

    def damped_step(self, active, J):
        cs, model = self.cs, self.cs.model
        # |W (J x + e)|^2 + damping x^T M x / (m L^2), W^-1 in metres and radians
        unit = (model.mass or 1.0) * self.units.length**2
        rows = self.damping[active][:, None] / (unit * self.units.weights[active] ** 2)
        q = self.q[active]
        U, D = factor_kkt(cs, (q, zero_velocity(model, q), rows))
        asked = np.concatenate([-self.error[active], np.zeros((len(q), model.nv))], axis=1)
        return KKTFactorization(cs, U, D, rows).solve(asked)[:, cs.size :]


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
