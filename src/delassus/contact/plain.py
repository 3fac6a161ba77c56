"""Cones and residuals in plain NumPy, for arrays of any number of problems.

They say what the compiled functions of `laws` compute, and check them in tests.
Docs/contact.md runs solvers that are written with them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import shown
from ..errors import SettingError
from .laws.request import LAWS
from .problem import Problem, check_problem


class Residuals(NamedTuple):
    """How far reactions are from a solution: (156) to (158), and the natural map (163) or (164)."""

    primal: np.ndarray | float
    dual: np.ndarray | float
    complementarity: np.ndarray | float
    natural_map: np.ndarray | float


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
    )


def _largest(x: np.ndarray):
    found = np.abs(x).max(axis=-1, initial=0.0)
    return float(found) if found.ndim == 0 else found
