"""Which joints of a cluster are independent, and which rows of its constraints are needed.

Sec. II-D of the paper (see `graph`) leaves both to the user. Here K, the Jacobian of a cluster's
constraints by its own degrees of freedom, is looked at in a number of closed configurations: its
largest rank tells how many degrees of freedom are dependent, and joints are independent that leave
the dependent part Kd of K far from singular. Rows that are zero, or the same combination of others
in all of them, are left out: a planar loop closed by a hinge has five rows and needs two.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...constrained.rows.constraints import Constraints
from ...constrained.tasks.loops import close_loops
from ...errors import ConvergenceError, ModelError
from ...model.model import Model
from ...model.parts.constraints import Connect, Constraint, Coupling, Gear
from .graph import Group, find_groups

_SAMPLES = 24
_ENOUGH, _STEP = 8, 0.1  # how many closed ones suffice; where to look for others
_CLOSED = 1e-8  # the largest error of a configuration that counts as closed
_RANK = 1e-8  # of singular values, rows scaled to the same length
_SAME = 1e-9  # of rows that follow from others
_SINGULAR = 1e-9  # of the least singular value of Kd, relative to the largest
_MOST_SETS = 3000  # of joints that are tried
MOST_INDEPENDENT = 63  # degrees of freedom of a cluster: bits of `packed.MEMBER`


class Choice(NamedTuple):
    """What is independent in a cluster. Numbers are those of the model and of all constraints."""

    independent: tuple[int, ...]  # degrees of freedom
    dependent: tuple[int, ...]
    rows: tuple[int, ...]  # that are needed
    G: np.ndarray | None  # dependent = G independent + offsets, if that is constant
    offsets: tuple[float, ...]


def sample_configurations(model: Model, cs: Constraints, seed: int = 0) -> np.ndarray:
    """Configurations that satisfy the constraints."""
    rng = np.random.default_rng(seed)
    start = np.vstack([model.neutral()[None], model.random_configuration(rng, _SAMPLES)])
    q, errors = _closed(model, start, cs)
    is_closed = errors <= _CLOSED
    if not is_closed.any():
        raise ModelError(
            f"the loops of model {model.name!r} cannot be assembled: from {len(start)} "
            f"configurations, {_open_loop(model, cs, q)} at best; links may be too "
            "short, or frames misplaced"
        )
    found = q[is_closed]
    if len(found) < _ENOUGH:  # more of them, near those that were found
        near = found[np.arange(_SAMPLES) % len(found)]
        start = model.integrate(near, _STEP * rng.standard_normal((_SAMPLES, model.nv)))
        q, errors = _closed(model, start, cs)
        found = np.vstack([found, q[errors <= _CLOSED]])
    return found


def _closed(model: Model, start: np.ndarray, cs: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Configurations with loops closed as far as possible, and their errors."""
    try:
        q = close_loops(model, start, cs, tolerance=_CLOSED)
        return q, np.zeros(len(q))
    except ConvergenceError as error:
        return np.asarray(error.q), np.asarray(error.error)


def _open_loop(model: Model, cs: Constraints, q: np.ndarray) -> str:
    """The constraint that stays open where all are closed best, and the bodies of its cluster."""
    errors = cs.position_error(q)
    best = errors[int(np.argmin(np.linalg.norm(errors, axis=1)))]
    sizes = [float(np.linalg.norm(best[rows])) for rows in cs.slices]
    worst = int(np.argmax(sizes))
    groups = find_groups(model, cs.declared)
    bodies = next(_name(model, group) for group in groups if worst in group.constraints)
    return f"{cs.declared[worst]} of {bodies} stays open by {sizes[worst]:.3g}"


def is_explicit(constraint) -> bool:
    """Whether a constraint is linear in joint coordinates."""
    return isinstance(constraint, (Gear, Coupling))


def choose(
    model: Model,
    cs: Constraints,
    group: Group,
    jacobians: np.ndarray,
    independent: Sequence[str] | None,
    actuated: Sequence[str],
) -> Choice:
    """The independent degrees of freedom and the rows of a group.

    `jacobians` (S, m, nv) are those of all constraints in sampled configurations. `independent` are
    names of joints that were asked for, `actuated` names of joints that are taken first.
    """
    joints = [model.joints[body] for body in group.bodies]
    dofs = [k for joint in joints for k in range(joint.v.start, joint.v.stop)]
    rows = [r for c in group.constraints for r in range(cs.slices[c].start, cs.slices[c].stop)]
    K = jacobians[:, rows][:, :, dofs]
    lengths = np.linalg.norm(K, axis=2).max(axis=0)
    lengths[lengths <= _SAME * lengths.max(initial=0.0)] = np.inf
    K = K / lengths[:, None]
    singular = np.linalg.svd(K, compute_uv=False)
    ranks = np.sum(singular > _RANK * singular[:, :1], axis=1)
    rank = int(ranks.max())
    regular = K[ranks == rank]
    named = _name(model, group)
    own_constraints = [cs.declared[c] for c in group.constraints]
    _refuse_zero_ratios(own_constraints)
    if rank == len(dofs):
        raise ModelError(
            f"{named} cannot move: its constraints hold all its degrees of freedom; leave one out, "
            "or lock its joints by dl.reduce"
        )
    if len(dofs) - rank > MOST_INDEPENDENT:
        raise ModelError(
            f"{named} has {len(dofs) - rank} independent degrees of freedom, and an embedded loop "
            f"at most {MOST_INDEPENDENT}: solve for its constraints by constrained_dynamics"
        )
    chosen = _independent_joints(joints, dofs, regular, rank, independent, actuated, named)
    own = [k for j in chosen for k in range(j.v.start, j.v.stop)]
    others = [k for k in dofs if k not in own]
    needed = set(_needed_rows(K))
    for c in group.constraints:
        if isinstance(cs.declared[c], Connect):  # whose rows are along the world's axes
            needed |= {r for r, k in enumerate(rows) if k in range(*cs.slices[c].indices(cs.size))}
    is_constant = all(map(is_explicit, own_constraints))
    G, offsets = None, np.zeros(len(others))
    if is_constant:
        places = {k: at for at, k in enumerate(dofs)}
        Kd = regular[0][:, [places[k] for k in others]]
        Ki = regular[0][:, [places[k] for k in own]]
        rests = np.array([c.offset for c in own_constraints]) / lengths
        both = np.linalg.lstsq(Kd, np.column_stack([-Ki, rests]), rcond=None)[0]
        if np.abs(Kd @ both[:, -1] - rests).max() > _CLOSED * max(np.abs(rests).max(), 1.0):
            shown = ", ".join(map(str, own_constraints))
            raise ModelError(f"{named}: no configuration satisfies all of {shown}")
        both[np.abs(both) <= _SAME * np.abs(both).max(initial=0.0)] = 0.0
        G, offsets = both[:, :-1], both[:, -1]
    needed = tuple(rows[r] for r in sorted(needed))
    return Choice(tuple(own), tuple(others), needed, G, tuple(offsets))


def _name(model: Model, group: Group) -> str:
    names = [model.bodies[body].name for body in group.bodies]
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"the cluster of {shown}"


def _refuse_zero_ratios(constraints: Sequence[Constraint]) -> None:
    for c in constraints:
        if isinstance(c, Gear) and c.ratio == 0.0:
            raise ModelError(
                f"{c}: with a ratio of zero, {c.other!r} does not move {c.joint!r}; lock that by "
                f"dl.reduce(model, {{{c.joint!r}: {c.offset:g}}})"
            )


def _independent_joints(joints, dofs, K, rank, independent, actuated, named) -> list:
    """The joints whose coordinates are independent.

    They are those that were asked for; else those that are declared independent and, as far as
    these are too few, the best of those of which nothing is declared.
    """
    count = len(dofs) - rank

    def best_set(sure, others):
        sets = [(*sure, *s) for s in _sets(others, count - _dofs(sure), actuated)]
        best = max(sets, key=lambda s: _preference(s, dofs, K, actuated), default=None)
        return None if best is None or _margin(best, dofs, K) < _SINGULAR else list(best)

    if independent is not None:
        sure, others = [j for j in joints if j.name in independent], []
    else:
        sure = [j for j in joints if j.independent]
        others = [j for j in joints if j.independent is None]
    chosen = best_set(sure, others)
    if chosen is not None:
        return sorted(chosen, key=lambda j: j.index)
    possible = best_set([], joints)
    if possible is None:
        raise ModelError(
            f"{named} has {count} independent degrees of freedom, but no set of whole joints has "
            "the others follow from it; a body that can spin about the line between two spherical "
            "joints needs a universal joint"
        )
    advice = f"; take {', '.join(j.name for j in possible)}, for example"
    given = sure if _dofs(sure) >= count else [*sure, *others]
    names, have = ", ".join(j.name for j in given) or "none", _dofs(given)
    if _dofs(sure) > count or have < count:
        raise ModelError(
            f"{named} has {count} independent degrees of freedom, but its independent joints "
            f"({names}) have {have}{advice}"
        )
    raise ModelError(
        f"{named}: its other joints do not follow from the independent ones ({names}){advice}"
    )


def _dofs(joints) -> int:
    return sum(joint.nv for joint in joints)


def _sets(joints, count: int, actuated) -> list[tuple]:
    """Sets of joints with so many degrees of freedom; the number of sets is limited."""
    first = [j for j in joints if j.name in actuated]
    ordered = first + [j for j in joints if j.name not in actuated]
    found = []
    for size in range(min(len(ordered), count) + 1):
        for chosen in combinations(ordered, size):
            if _dofs(chosen) == count:
                found.append(chosen)
                if len(found) >= _MOST_SETS:
                    return found
    return found


def _margin(chosen, dofs, K) -> float:
    """How far Kd is from singular: least to largest singular value, where that is best."""
    own = {k for j in chosen for k in range(j.v.start, j.v.stop)}
    Kd = K[:, :, [at for at, k in enumerate(dofs) if k not in own]]
    if Kd.shape[2] == 0:
        return 1.0
    s = np.linalg.svd(Kd, compute_uv=False)[:, : Kd.shape[2]]
    largest = np.linalg.norm(K, axis=(1, 2))
    is_zero = s[:, 0] <= _SINGULAR * largest
    return float(np.median(np.where(is_zero, 0.0, s[:, -1]) / np.where(is_zero, 1.0, s[:, 0])))


def _preference(chosen, dofs, K, actuated) -> tuple:
    """Sets with more actuated joints, then of better condition, then nearer to the world."""
    margin = _margin(chosen, dofs, K)
    return (
        margin > _SINGULAR,
        sum(j.name in actuated for j in chosen),
        round(np.log10(max(margin, 1e-16))),
        -sum(j.index for j in chosen),
    )


def _needed_rows(K: np.ndarray) -> list[int]:
    """Rows that no constant combination of others gives, by elimination with pivots."""
    rest = np.moveaxis(K, 1, 0).reshape(K.shape[1], -1).copy()
    scale = np.linalg.norm(rest, axis=1).max(initial=0.0)
    needed = []
    while True:
        lengths = np.linalg.norm(rest, axis=1)
        r = int(np.argmax(lengths))
        if lengths[r] <= _SAME * scale or len(needed) == len(rest):
            return sorted(needed)
        needed.append(r)
        direction = rest[r] / lengths[r]
        for _ in range(2):
            rest = rest - np.outer(rest @ direction, direction)
