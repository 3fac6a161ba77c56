"""The methods "embedding" and "hybrid" of constrained dynamics on a model.

Constraints are parted into those of local loops, which are embedded, and all others, which hold the
embedding (see `hybrid`). What is given and asked for is of the model: all joints, all rows. With
accelerations a* that rows are asked for, the motion of all joints is a = G y'' + g, K g = a* minus
the drift, and y'' is that of

    G^T M G y'' = G^T (tau - b - M g) + (J G)^T lambda    J G y'' = a* - gamma - J g

so velocities need not satisfy the constraints, which stabilisation is there for. Loops must be
closed. The multipliers of embedded rows then follow from what is missing in the equations of motion
of a cluster's joints; where rows are redundant, they are the shortest in the norm of the damping.

| symbol | here | what |
| --- | --- | --- |
| G, g | G, g | motion of all joints |
| K | J of `own` rows | Jacobian of the rows of a cluster |
| J, gamma, a* | J, drift, target | of all rows |
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..compile import is_symbolic
from ..constrained.factor.least_squares import LeastSquares, times, transposed
from ..constrained.rows.constraints import Constraints
from ..constrained.rows.jacobian import evaluate_rows
from ..constrained.rows.judging import motion_error, row_error
from ..constrained.rows.request import INFO, OPTIONS, REQUEST, converged
from ..constrained.solvers.methods import Method, add_method
from ..dynamics.aba import forward_dynamics
from ..dynamics.arguments import deliver
from ..dynamics.rnea import inverse_dynamics
from ..errors import DataTypeError, DelassusError
from ..model.model import Model
from ..model.parts.constraints import Constraint
from ..model.parts.joints import Free
from .algorithms.hybrid import hybrid
from .coordinates import as_kernels_take
from .embedding import Embedding, embed
from .structure.graph import Group, find_groups

# A loop is local if it ties together no more bodies than this.
_MOST_BODIES = 8
_RANK = 1e-10  # of singular values of K
_PASSES = 3  # after the first, for what rounding has left


class _ClusterRows(NamedTuple):
    """The rows of a cluster's constraints, and the degrees of freedom that they tie."""

    rows: list[int]  # all, in the constraints of the model
    needed: list[int]
    dofs: list[int]
    dependent: list[int]


class Split(NamedTuple):
    """Constraints on a model, parted into those that are embedded and all others."""

    embedding: Embedding
    held: Constraints  # on the embedding
    held_rows: list[int]
    clusters: list[_ClusterRows]


_splits: dict[str, WeakKeyDictionary] = {
    "embedding": WeakKeyDictionary(),
    "hybrid": WeakKeyDictionary(),
}


def split(cs: Constraints, method: str) -> Split:
    """The parts of constraints: for "embedding" all are embedded, for "hybrid" local loops."""
    known = _splits[method]
    if cs not in known:
        everything = list(range(len(cs.declared)))
        known[cs] = _split(cs, everything if method == "embedding" else _local(cs))
    return known[cs]


def _local(cs: Constraints) -> list[int]:
    """Numbers of constraints that are local loops, and can be embedded."""
    model, found = cs.model, []
    small = [c for c, d in enumerate(cs.declared) if _is_small(model, find_groups(model, [d])[0])]
    for group in find_groups(model, [cs.declared[c] for c in small]):
        own = [small[c] for c in group.constraints]
        if not (_is_small(model, group) and _can_embed(model, [cs.declared[c] for c in own])):
            own = _as_many_as_possible(cs, own)
        found += own
    return sorted(found)


def _as_many_as_possible(cs: Constraints, numbers: list[int]) -> list[int]:
    """Of constraints that cannot all be embedded, those that can, one after the other."""
    found: list[int] = []
    for c in numbers:
        tried = [cs.declared[k] for k in (*found, c)]
        groups = find_groups(cs.model, tried)
        if all(_is_small(cs.model, g) for g in groups) and _can_embed(cs.model, tried):
            found.append(c)
    return found


def _is_small(model: Model, group: Group) -> bool:
    has_free = any(isinstance(model.joints[b].type, Free) for b in group.bodies)
    return len(group.bodies) <= _MOST_BODIES and not has_free


def _can_embed(model: Model, constraints: list[Constraint]) -> bool:
    try:
        embed(model, constraints)
    except DelassusError:
        return False
    return True


def _split(cs: Constraints, chosen: list[int]) -> Split:
    emb = embed(cs.model, [cs.declared[c] for c in chosen])
    others = [c for c in range(len(cs.declared)) if c not in chosen]
    held = Constraints(emb, [cs.declared[c] for c in others])
    rows = [r for c in chosen for r in range(cs.slices[c].start, cs.slices[c].stop)]
    held_rows = [r for c in others for r in range(cs.slices[c].start, cs.slices[c].stop)]
    clusters = []
    for part in emb.structure:
        own = [
            rows[r]
            for c in part.group.constraints
            for r in range(emb.constraints.slices[c].start, emb.constraints.slices[c].stop)
        ]
        needed = [rows[r] for r in part.choice.rows]
        dependent = list(part.choice.dependent)
        clusters.append(
            _ClusterRows(own, needed, [*part.choice.independent, *dependent], dependent)
        )
    return Split(emb, held, held_rows, clusters)


def _solve_by(method: str):
    """The solver of a method: a function in the place of a kernel."""

    def solve(cs: Constraints, inputs: tuple, out, threads, limits) -> tuple[np.ndarray, ...]:
        if cs.model.tree is not cs.model:
            return hybrid(cs, inputs, out, threads, limits)
        if any(map(is_symbolic, inputs[:3])):
            raise DataTypeError(
                f"method {method!r} on a model takes no symbols; trace an embedding"
            )
        found = _solve(split(cs, method), cs, inputs, threads, limits)
        real = inputs[4].dtype
        return deliver(tuple(x.astype(real, copy=False) for x in found), out)

    return solve


def _solve(parts: Split, cs, inputs, threads, limits) -> tuple[np.ndarray, ...]:
    """Accelerations of all joints, multipliers of all rows, and INFO."""
    emb, model = parts.embedding, cs.model
    q, v, tau = (np.asarray(x, float) for x in inputs[:3])
    requests, options, *forces = inputs[3:]
    rows = evaluate_rows(cs, (q, v), None, threads)
    J, target = rows[0], _target(cs, requests, *rows[1:])
    G, a = emb.G(q), np.zeros_like(v)
    for own in parts.clusters:
        wanted = target[..., own.needed]
        if wanted.any():
            K = J[..., own.needed, :][..., own.dependent]
            a[..., own.dependent] = times(np.linalg.pinv(K, rcond=_RANK), wanted)
    none = np.zeros_like(v)
    weight = inverse_dynamics(model, q, none, none, threads=threads)  # as y' is zero below
    multipliers, info = np.zeros(target.shape), np.zeros((*q.shape[:-1], INFO.size))
    asked = np.array(requests, float)
    for _ in range(_PASSES):
        taken = inverse_dynamics(model, q, v, a, *forces, threads=threads) - tau
        left = weight - taken + times(transposed(J), multipliers)
        wanted = (target - times(J, a))[..., parts.held_rows]
        state = q, times(transposed(G), left)
        y, change = _move(parts, state, wanted, asked, options, info, threads, limits)
        asked[..., REQUEST.start] = 0.0
        multipliers[..., parts.held_rows] += change
        a = a + times(G, y)
        taken = inverse_dynamics(model, q, v, a, *forces, threads=threads) - tau
        _put_embedded_multipliers(parts, J, taken, requests, multipliers)
        _tell(parts, cs, J, target, a, taken, multipliers, tau, info)
        told = info[..., INFO.rows], info[..., INFO.motion]
        real = options.dtype
        if np.all(converged(*told, float(options.flat[OPTIONS.tolerance]), np.finfo(real).eps)):
            break
    return a, multipliers, info


def _target(cs: Constraints, requests, velocity, drift, error) -> np.ndarray:
    """a* - gamma of all rows."""
    gains = cs.stabilization
    return requests[..., REQUEST.desired] - gains.kp * error - gains.kd * velocity - drift


def _move(parts: Split, state, wanted, asked, options, info, threads, limits) -> tuple:
    """y'' at rest under forces, and multipliers of the rows that hold, which are asked for more."""
    emb = parts.embedding
    q, left = state
    state = as_kernels_take(emb, q), np.zeros_like(left), left
    if not parts.held.size:
        info[..., INFO.iterations] += 1.0
        return forward_dynamics(emb, *state, threads=threads), np.zeros((*q.shape[:-1], 0))
    own = np.empty((*q.shape[:-1], len(parts.held_rows), REQUEST.size))
    own[...] = asked[..., parts.held_rows, :]
    own[..., REQUEST.desired] = wanted
    plain = np.array(options, float)
    plain[..., OPTIONS.kp] = plain[..., OPTIONS.kd] = 0.0  # which `wanted` has already
    y, change, told = hybrid(parts.held, (*state, own, plain), None, threads, limits)
    told[..., INFO.iterations] += info[..., INFO.iterations]
    info[...] = told
    return y, change


def _put_embedded_multipliers(parts: Split, J, taken, requests, multipliers) -> None:
    """The multipliers of embedded rows: what is missing at the joints of their clusters."""
    own_rows = [r for own in parts.clusters for r in own.rows]
    multipliers[..., own_rows] = 0.0
    missing = taken - times(transposed(J), multipliers)
    weights = 1.0 / np.sqrt(np.asarray(requests[..., REQUEST.damping], float))
    for own in parts.clusters:
        K = weights[..., own.rows, None] * J[..., own.rows, :][..., own.dofs]
        x = times(np.linalg.pinv(transposed(K), rcond=_RANK), missing[..., own.dofs])
        multipliers[..., own.rows] = weights[..., own.rows] * x


def _tell(parts, cs, J, target, a, taken, multipliers, tau, info) -> None:
    """INFO for all rows and joints."""
    r = times(J, a) - target
    info[..., INFO.residual] = np.linalg.norm(r, axis=-1)
    own = np.zeros(cs.size, bool)
    own[[k for rows in parts.clusters for k in rows.rows]] = True
    missed = row_error(cs.scales, J, a, target, multipliers)
    held = info[..., INFO.rows]  # which knows of held rows that contradict each other
    scales, J_own = cs.scales.of(own), J[..., own, :]
    # Joints cannot move some rows, such as those across a planar loop, but by what rounding makes.
    stays = LeastSquares(J_own, scales.lengths).unchanged(r[..., own, None])[..., 0]
    embedded = row_error(scales, J_own, a, target[..., own], multipliers[..., own], stays)
    info[..., INFO.rows] = np.minimum(missed, np.hypot(held, embedded))
    pulls = transposed(J) * multipliers[..., None, :]
    weight = np.broadcast_to(cs.scales.joint_weight, tau.shape)
    forces = np.stack([taken + tau, tau, weight], axis=-1)
    info[..., INFO.motion] = motion_error(taken - pulls.sum(axis=-1), forces, pulls)


def _check(method: str):
    def check(cs: Constraints, _: str) -> None:
        """Raise an error for constraints that cannot be parted."""
        if cs.model.tree is cs.model:
            split(cs, method)

    return check


def _is_embedded(cs: Constraints) -> bool:
    return cs.model.tree is not cs.model


add_method("embedding", Method(_solve_by("embedding"), _check("embedding")))
add_method("hybrid", Method(_solve_by("hybrid"), _check("hybrid"), suits=_is_embedded))
