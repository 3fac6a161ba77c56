"""Cones and residuals in plain NumPy, for arrays of any number of problems.

They say what the compiled functions of `laws` compute, and check them in tests.
Docs/contact.md runs solvers that are written with them.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import shown
from ..errors import SettingError
from .laws.relative import IMMOVABLE, LIGHT, NEVER, ROUNDED, ROUNDED_REACTION
from .laws.request import LAWS
from .problem import Problem, check_problem


class Residuals(NamedTuple):
    """How far reactions are from a solution: (156) to (158), and the natural map (163) or (164).

    `relative_natural_map` is that of the problem in units of its own: see `laws.relative`.
    """

    primal: np.ndarray | float
    dual: np.ndarray | float
    complementarity: np.ndarray | float
    natural_map: np.ndarray | float
    relative_natural_map: np.ndarray | float


def project_cone(mu: ArrayLike, x: ArrayLike) -> np.ndarray:
    """The nearest points of Coulomb's cones |x_t| <= mu x_n, x (..., 3)."""
    mu, x = np.asarray(mu, float), np.asarray(x, float)
    a, n = np.linalg.norm(x[..., :2], axis=-1), x[..., 2]
    normal = (mu * a + n) / (1.0 + mu * mu)
    share = mu * normal / np.where(a > 0.0, a, 1.0)
    found = np.concatenate([share[..., None] * x[..., :2], normal[..., None]], axis=-1)
    found = np.where((a <= mu * n)[..., None], x, found)
    return np.where((mu * a <= -n)[..., None], 0.0, found)


def project_dual_cone(mu: ArrayLike, x: ArrayLike) -> np.ndarray:
    """The nearest points of the dual cones x_n >= mu |x_t|, by Moreau: x + P_K(-x)."""
    return np.asarray(x, float) + project_cone(mu, -np.asarray(x, float))


def _parts(p: Problem, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Joint rows, limits, bounded rows, and contacts (..., n, 3)."""
    j = p.n_joint_rows
    k = j + p.n_limit_rows
    m = k + p.n_bounded_rows
    contacts = x[..., m:].reshape(*x.shape[:-1], p.n_contacts, 3)
    return x[..., :j], x[..., j:k], x[..., k:m], contacts


def _whole(parts) -> np.ndarray:
    *rows, contacts = parts
    flat = contacts.reshape(*contacts.shape[:-2], -1)
    return np.concatenate([*rows, flat], axis=-1)


def project(p: Problem, x: ArrayLike) -> np.ndarray:
    """P_K(x): the nearest reactions that the cones allow."""
    check_problem(p)
    joints, limits, bounded, contacts = _parts(p, p.check_rows("x", x))
    return _whole(
        (
            joints,
            np.maximum(limits, 0.0),
            np.clip(bounded, -p.bounds, p.bounds) if p.n_bounded_rows else bounded,
            project_cone(p.friction, contacts),
        )
    )


def de_saxce(p: Problem, velocity: ArrayLike) -> np.ndarray:
    """Gamma(v): mu |v_t| in the normal row of each contact, zero elsewhere."""
    *_, contacts = _parts(p, p.check_rows("velocity", velocity))
    found = np.zeros(np.shape(velocity))
    first = p.n_rows - 3 * p.n_contacts
    slip = np.linalg.norm(contacts[..., :2], axis=-1)
    found[..., first + 2 :: 3] = p.friction * slip
    return found


def natural_map(p: Problem, reactions: ArrayLike, law: str = "ncp") -> np.ndarray:
    """lambda - P_K(lambda - v - Gamma(v)), row by row; without Gamma for law="ccp"."""
    reactions = p.check_rows("reactions", reactions)
    v = p.augmented_velocity(reactions)
    if law == "ncp":
        v = v + de_saxce(p, v)
    return reactions - project(p, reactions - v)


def units(p: Problem) -> np.ndarray:
    """W of each row: the diagonal of D + R to the power of -1/2, its mean for a contact."""
    D = p.delassus_diagonal() + p.compliance
    first = p.n_rows - 3 * p.n_contacts
    joints, single = D[..., : p.n_joint_rows], D[..., p.n_joint_rows : first]
    largest = joints.max(axis=-1, initial=0.0, keepdims=True)
    joints = np.where(joints > IMMOVABLE * largest, joints, largest)
    mean = D[..., first:].reshape(*D.shape[:-1], p.n_contacts, 3).mean(axis=-1)
    D = np.concatenate([joints, single, np.repeat(mean, 3, axis=-1)], axis=-1)
    return np.where(D > 0.0, D, 1.0) ** -0.5


def held_velocity(p: Problem) -> np.ndarray:
    """Velocities of rows without reactions of cones while joints hold; those of joints as given."""
    j, v = p.n_joint_rows, p.free_velocity + p.target
    if j == 0 or j == p.n_rows:
        return v
    held = np.zeros(v.shape)
    if p.operator is not None:
        # With so much damping cones have no reactions.
        d = p.delassus_diagonal() + p.compliance
        d = np.where(d > 0.0, d, 1.0) * np.where(np.arange(p.n_rows) < j, 1e-9, 1e15)
        operator = copy.copy(p.operator)
        operator.set_damping(d + p.compliance)
        held[:j] = -operator.solve(np.where(np.arange(p.n_rows) < j, v, 0.0))[:j]
    else:
        W = units(p)[..., :j]
        D = p.packed()[0][..., :j, :j] * W[..., :, None] * W[..., None, :]
        right = (W * v[..., :j])[..., None]
        held[..., :j] = -W * (np.linalg.pinv(D, 1e-9, True) @ right)[..., 0]
    found = p.augmented_velocity(held)
    return np.concatenate([v[..., :j], found[..., j:]], axis=-1)


def _taken(p: Problem, W: np.ndarray, b: np.ndarray, law: str) -> list[np.ndarray]:
    """a of joint rows, limits, bounded rows and contacts, for velocities b of all rows."""
    joints, limits, bounded, contacts = _parts(p, W * b)
    bounds = p.bounds / _parts(p, W)[2] if p.n_bounded_rows else 0.0 * bounded
    shift = p.friction * np.linalg.norm(contacts[..., :2], axis=-1) if law == "ccp" else 0.0
    return [
        np.abs(joints),
        np.maximum(-limits, 0.0),
        np.minimum(np.abs(bounded), bounds),
        np.maximum(shift - contacts[..., 2], 0.0),
    ]


def closing_size(p: Problem, held: np.ndarray, law: str) -> np.ndarray:
    """S of each problem, or S' where no cone closes."""
    taken = _taken(p, units(p), held, law)
    S = _largest(np.concatenate(taken[1:], axis=-1))
    return np.where(S > 0.0, S, _largest(taken[0]))


def relative_natural_map(
    p: Problem, reactions: ArrayLike, law: str = "ncp", held: np.ndarray | None = None
):
    """The natural map of reactions / W and velocities W, relative to sizes: see `laws.relative`.

    `held` may have what `held_velocity` returns.
    """
    W, b = units(p), held_velocity(p) if held is None else held
    x = p.check_rows("reactions", reactions) / W
    v = W * p.augmented_velocity(reactions)
    if law == "ncp":
        v = v + de_saxce(p, v)
    inside = x - v
    joints, limits, bounded, contacts = _parts(p, inside)
    bounds = p.bounds / _parts(p, W)[2] if p.n_bounded_rows else 0.0 * bounded
    missing = x - _whole(
        (
            joints,
            np.maximum(limits, 0.0),
            np.clip(bounded, -bounds, bounds),
            project_cone(p.friction, contacts),
        )
    )
    taken = _taken(p, W, b, law)
    S = _column(np.concatenate(taken[1:], axis=-1))
    errors = [*_parts(p, missing)[:3], np.abs(_parts(p, missing)[3]).max(axis=-1, initial=0.0)]
    forces = [*_parts(p, x)[:3], np.abs(_parts(p, x)[3]).max(axis=-1, initial=0.0)]
    cones = slice(p.n_joint_rows, None)
    floor = np.maximum(LIGHT * S, ROUNDED * _column((W * b)[..., cones]))
    floor = np.maximum(floor, ROUNDED_REACTION * _column(x[..., cones]))
    S_joints = np.maximum(S, _column(taken[0]))
    floor_joints = np.maximum(LIGHT * S_joints, ROUNDED_REACTION * _column(forces[0]))
    found = 0.0
    for k in range(4):
        most, least = (S_joints, floor_joints) if k == 0 else (S, floor)
        s = np.maximum(np.maximum(taken[k], least), np.minimum(np.abs(forces[k]), most))
        quotient = np.abs(errors[k]) / np.where(s > 0.0, s, 1.0)
        nothing = np.where(errors[k] == 0.0, 0.0, NEVER + errors[k])
        found = np.maximum(found, _largest(np.where(s > 0.0, quotient, nothing)))
    return float(found) if np.ndim(found) == 0 else found


def _column(x: np.ndarray) -> np.ndarray:
    """The largest absolute value of each problem, as a column."""
    return np.abs(x).max(axis=-1, initial=0.0, keepdims=True)


def residuals(p: Problem, reactions: ArrayLike, law: str = "ncp") -> Residuals:
    """The residuals of reactions: largest absolute values over all rows."""
    check_problem(p)
    if not isinstance(law, str) or law not in LAWS:
        raise SettingError(f"law must be one of {', '.join(LAWS)}, got {shown(law)}")
    reactions = p.check_rows("reactions", reactions)
    v = p.augmented_velocity(reactions)
    if law == "ncp":
        v = v + de_saxce(p, v)
    joints, limits, bounded, contacts = _parts(p, v)
    inside = project_dual_cone(p.friction, contacts)
    dual = _whole((joints, np.minimum(limits, 0.0), 0.0 * bounded, contacts - inside))
    _, limit_forces, bounded_forces, contact_forces = _parts(p, reactions)
    missing = p.bounds * np.abs(bounded) if p.n_bounded_rows else 0.0 * bounded
    power = [
        limit_forces * limits,
        missing + bounded_forces * bounded,
        np.einsum("...i,...i->...", contact_forces, contacts),
    ]
    return Residuals(
        _largest(reactions - project(p, reactions)),
        _largest(dual),
        _largest(np.concatenate(power, axis=-1)),
        _largest(natural_map(p, reactions, law)),
        relative_natural_map(p, reactions, law),
    )


def _largest(x: np.ndarray):
    found = np.abs(x).max(axis=-1, initial=0.0)
    return float(found) if found.ndim == 0 else found
