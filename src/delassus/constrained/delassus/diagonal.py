"""The blocks of the Delassus matrix on its diagonal, without the rest of it. O(n + m).

A block has the rows and columns of one declared constraint. A wrench k on a link is P k on its
parent, with P = 1 - G S^T for each degree of freedom, and moves the link by S D^-1 S^T k relative
to the parent. So a block is a sum of products of S^T k over all degrees of freedom to the world. Or
the sum ends, with k^T Omega k, at a link whose inverse inertia Omega is known:

    Omega = P^T Omega' P + S D^-1 S^T      from the parent's Omega'

(Wensing, Featherstone and Orin, A reduced-order recursive algorithm for the computation of the
operational-space inertia matrix, 2012). Omega of a free body in the world is the inverse of its
articulated inertia. `diagonal_plan` chooses where sums end. For a constraint between two links the
path from one to the other costs time, too.

| symbols | here | what |
| --- | --- | --- |
| k | work.strands | wrenches of rows, by strands (see `strands`) |
| S^T k, D^-1 S^T k | work.Y, work.Z, by `run` | entries of strands |
| Omega | work.Omega, by `put_answers` | inverse inertias |
| k, Omega k | work.Y, work.Z, by `tie_knots` | last entries of strands |

The factor of the operator is read in place and not copied, as few of its numbers are read often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compile import clear, function, kernel, layout, part
from ...dynamics.aba import DOF, LINK
from ...dynamics.steps.links import SUBSPACE
from ...spatial.vectors import add, get3, put3, scale
from ..recursion.springs import wrench
from .blocks import OMEGA_SIZE, run, share, share_with_itself, tie_knots
from .diagonal_plan import DiagonalArrays
from .pv_osim import propagate_inverse_inertia, put_inverse_of_root
from .strands import SIX, SLOT, WIDTH
from .sweeps import copy, factor_parts


@kernel(
    DiagonalArrays,
    inputs={"loose": "factor"},
    outputs={"blocks": "diagonal"},
    work=layout(
        links=("n_links", LINK),
        dofs=("nv", DOF),
        strands=("slots", SLOT),
        Y=("entries", WIDTH),
        Z=("entries", WIDTH),
        Omega=("omegas", OMEGA_SIZE),
    ),
    label="diagonal blocks of a Delassus operator",
)
def delassus_diagonal(model, loose, blocks, work):
    """The blocks of J M^-1 J^T on its diagonal, one for each declared constraint"""
    factor = factor_parts(model, loose)
    start_groups(model, factor, work)
    put_answers(model, factor.dofs, work.Omega)
    for t in range(len(model.runs)):
        run(model, model.runs[t], factor.dofs, True, work)
    tie_knots(model, work)
    for t in range(len(model.groups)):
        put_block(model.groups[t], work.Y, work.Z, blocks)


class Ends(NamedTuple):
    """The memory that `springs.wrench` reads."""

    rows: np.ndarray
    registers: np.ndarray
    links: np.ndarray
    dofs: np.ndarray


@function
def start_groups(model, factor, work):
    """Put the wrenches of all rows at all ends into slots."""
    strands, given = work.strands, Ends(factor.rows, factor.registers, work.links, work.dofs)
    for t in range(len(model.entries)):
        entry, source = model.entries[t], model.sources[t]
        copy(factor.positions, 3 * source.link, work.links, entry.link * LINK.size + LINK.p, 3)
        copy(factor.dofs, source.dof * DOF.size, work.dofs, entry.dof * DOF.size, SUBSPACE.size)
    for t in range(len(model.groups)):
        group = model.groups[t]
        clear(part(strands, group.slot * SLOT), group.slots * SLOT)
    for t in range(len(model.starts)):
        start = model.starts[t]
        end, to = model.ends[start.end], start.slot * SLOT + SIX * start.row
        for r in range(end.count):
            n, f = wrench(model, end, r, given)
            if end.sign < 0:
                n, f = scale(-1.0, n), scale(-1.0, f)
            put3(strands, to, add(get3(strands, to), n))
            put3(strands, to + 3, add(get3(strands, to + 3), f))
            to = to + SIX


@function
def put_answers(model, dofs, Omega):
    """Omega of the links where sums end, from the world to the leaves."""
    for t in range(len(model.answers)):
        answer, at = model.answers[t], t * OMEGA_SIZE
        if answer.root >= 0:
            put_inverse_of_root(Omega, at, dofs, answer.root * DOF.size)
        elif answer.upper >= 0:
            copy(Omega, answer.upper * OMEGA_SIZE, Omega, at, OMEGA_SIZE)
        else:
            clear(part(Omega, at), OMEGA_SIZE)
        for s in range(answer.first, answer.first + answer.count):
            propagate_inverse_inertia(Omega, at, dofs, model.chains[s] * DOF.size)


@function
def put_block(group, Y, Z, blocks):
    """The block of a group, Y Z^T over the entries of its strands."""
    size, length = group.rows, group.count * WIDTH
    for s in range(group.strands):
        one, row = group.entry * WIDTH + s * length, s * WIDTH
        rows = size - row
        a, b, c, d, e, f = share_with_itself(1.0, Y, Z, one, group.count, 0.0 * Y[one])
        at = group.at + row * (size + 1)
        put_tile(blocks, at, size, rows, rows, (a, b, d), (b, c, e), (d, e, f))
        for t in range(s):
            none, other = (0.0, 0.0, 0.0), group.entry * WIDTH + t * length
            x, y, z = share(Y, Z, one, other, group.count, (none, none, none))
            at, turned = row * size + t * WIDTH, t * WIDTH * size + row
            put_tile(blocks, group.at + at, size, rows, WIDTH, x, y, z)
            x, y, z = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
            put_tile(blocks, group.at + turned, size, WIDTH, rows, x, y, z)


@function
def put_tile(blocks, at, size, rows, columns, x, y, z):
    """Write the first `rows` of three rows, and of each the first `columns` of three numbers."""
    put_up_to3(blocks, at, columns, x)
    if rows > 1:
        put_up_to3(blocks, at + size, columns, y)
    if rows > 2:
        put_up_to3(blocks, at + 2 * size, columns, z)


@function
def put_up_to3(blocks, at, count, x):
    """Write the first `count` of three numbers."""
    blocks[at] = x[0]
    if count > 1:
        blocks[at + 1] = x[1]
    if count > 2:
        blocks[at + 2] = x[2]
