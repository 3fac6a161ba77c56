"""Categories of samples: Sec. VII-C of the report of seed 001, by densities and rank.

    d_j = n_jd / 6 n_b        d_c = 3 n_c / 6 n_b        d_jlc = n_d / 6 n_b

| symbol | name here | what it is |
| --- | --- | --- |
| n_b, n_j | bodies, joints | numbers of bodies and of joints |
| n_jd, n_d | joint_rows, rows | numbers of rows of joints, and of all rows |
| n_c | contacts | number of contacts |
| r_J | rank | rank of the joint rows |

A sample may have several categories: with contacts, rows may be dense too. `limits` is ours: the
report has no category for joints at their limits. Rows of dry friction count among all rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import contact

_RANK = 1e-10  # eigenvalues below this part of the largest are zero, rows being scaled to D_ii = 1
CATEGORIES = {
    "independent joints": "no contact, rank of the joint rows is full",
    "redundant joints": "no contact, joint rows depend on each other, fewer than 6 a body",
    "dense joints": "no contact, joint rows depend on each other, 6 a body or more",
    "single contact": "one contact",
    "sparse contacts": "2 to 2 n_b contacts",
    "dense contacts": "more than 2 n_b contacts",
    "dense constraints": "contacts and joints, more than 6 rows a body",
    "limits": "a joint at its limit or near it (ours)",
}


class Measures(NamedTuple):
    """Sizes, densities, rank and condition of a sample."""

    bodies: int
    joints: int
    rows: int
    joint_rows: int
    limit_rows: int
    contacts: int
    joint_density: float
    contact_density: float
    density: float
    rank: int
    condition: float  # of D, its largest by its smallest eigenvalue that is not zero


def measure(p: contact.Problem, bodies: int, joints: int) -> Measures:
    """Densities and ranks of a problem with so many bodies and joints."""
    m, dofs = p.n_joint_rows, 6.0 * bodies
    eigenvalues = np.linalg.eigvalsh(p.delassus)
    kept = eigenvalues[eigenvalues > _RANK * eigenvalues.max()]
    return Measures(
        bodies=bodies,
        joints=joints,
        rows=p.n_rows,
        joint_rows=m,
        limit_rows=p.n_limit_rows,
        contacts=p.n_contacts,
        joint_density=m / dofs,
        contact_density=3 * p.n_contacts / dofs,
        density=p.n_rows / dofs,
        rank=joint_rank(p.delassus[:m, :m]),
        condition=float(kept.max() / kept.min()),
    )


def joint_rank(D: np.ndarray) -> int:
    """The rank of the Delassus matrix of joint rows, which is that of their Jacobian."""
    if len(D) == 0:
        return 0
    scale = 1.0 / np.sqrt(np.diagonal(D))
    eigenvalues = np.linalg.eigvalsh(scale[:, None] * D * scale)
    return int(np.sum(eigenvalues > _RANK * eigenvalues.max()))


def categories(x: Measures) -> list[str]:
    """All categories of a sample, in the order of CATEGORIES."""
    is_free = x.contacts == 0 and x.joints >= 1
    is_redundant = x.rank < x.joint_rows
    holds = {
        "independent joints": is_free and not is_redundant,
        "redundant joints": is_free and is_redundant and x.joint_density < 1.0,
        "dense joints": is_free and is_redundant and x.joint_density >= 1.0,
        "single contact": x.contacts == 1,
        "sparse contacts": 2 <= x.contacts <= 2 * x.bodies,
        "dense contacts": x.contacts > 2 * x.bodies,
        "dense constraints": x.contacts >= 1 and x.joints >= 1 and x.density > 1.0,
        "limits": x.limit_rows >= 1,
    }
    return [name for name in CATEGORIES if holds[name]]
