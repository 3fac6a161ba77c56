"""The blocks of the Delassus matrix on its diagonal, without the rest of it. O(n + m).

A wrench k on a link is P k on its parent, with P = 1 - U D^-1 S^T for each degree of freedom, and
moves the link by S D^-1 S^T k besides. So a block is a sum of products of S^T k on the way to the
world. Or the way ends at a link that knows how it moves under wrenches on itself, by Omega = P^T
Omega' P + S D^-1 S^T from the parent's Omega': Wensing, Featherstone and Orin, A reduced-order
recursive algorithm for the computation of the operational-space inertia matrix, 2012. A free body
in the world knows the inverse of its articulated inertia. `diagonal_plan` tells what is
done where. Constraints between two links also cost the way from one to the other.

The factor is read where it stands, as little of it is needed often.
"""

from __future__ import annotations

from ...compile import clear, function, kernel, part
from ...dynamics.aba import DOF, LINK
from ...spatial.vectors import add, add6, get3, get6, put3, put6, scale
from ..pulls import wrench
from .blocks import (
    OMEGA_SIZE,
    along,
    give_way,
    put_root_entries,
    share,
    share_with_itself,
    tie_knots,
)
from .diagonal_plan import DiagonalArrays
from .pv_osim import propagate_inverse_inertia, put_inverse_of_root
from .strands import SLOT, WIDTH
from .sweeps import SUBSPACE, copy


def _work(n: dict[str, int]) -> int:
    links = n["n_links"] * LINK.size + n["nv"] * DOF.size
    strands = n["diagonal_slots"] * SLOT + 2 * n["diagonal_entries"] * WIDTH
    return links + strands + n["diagonal_answers"] * OMEGA_SIZE


@kernel(
    DiagonalArrays,
    inputs={"loose": "factor"},
    outputs={"blocks": "diagonal"},
    work=_work,
    label="diagonal blocks of a Delassus operator",
)
def delassus_diagonal(model, loose, blocks, work):
    """The blocks of J M^-1 J^T on its diagonal, one each declared constraint"""
    slots, entries = model.extents[1], model.extents[2]
    dofs = len(model.links) * LINK.size
    strands = part(work, dofs + len(model.armature) * DOF.size)
    Y = part(strands, slots * SLOT)
    Z = part(Y, entries * WIDTH)
    Omega = part(Z, entries * WIDTH)
    clear(strands, slots * SLOT)
    start_groups(model, loose, strands, work, dofs)
    put_answers(model, loose, Omega)
    for t in range(len(model.runs)):
        carry(model, model.runs[t], loose, strands, Y, Z)
    tie_knots(model, strands, Y, Z, Omega)
    for t in range(len(model.groups)):
        put_block(model.groups[t], Y, Z, blocks)


@function
def start_groups(model, loose, strands, work, dofs):
    """The wrenches of all rows at all ends."""
    rows = part(loose, model.extents[0])
    for t in range(len(model.entries)):
        entry, source = model.entries[t], model.sources[t]
        copy(loose, source.p, work, entry.link * LINK.size + LINK.p, 3)
        copy(loose, source.dof, work, dofs + entry.dof * DOF.size, SUBSPACE)
    for t in range(len(model.starts)):
        start = model.starts[t]
        end, to = model.ends[start.end], start.place
        for r in range(end.count):
            n, f = wrench(model, end, r, rows, work, dofs)
            if end.sign < 0:
                n, f = scale(-1.0, n), scale(-1.0, f)
            put3(strands, to, add(get3(strands, to), n))
            put3(strands, to + 3, add(get3(strands, to + 3), f))
            to = to + 6


@function
def put_answers(model, loose, Omega):
    """The motions of links under wrenches on themselves, from the world on."""
    for t in range(len(model.answers)):
        answer, at = model.answers[t], t * OMEGA_SIZE
        if answer.root >= 0:
            put_inverse_of_root(Omega, at, loose, answer.root)
        elif answer.upper >= 0:
            copy(Omega, answer.upper * OMEGA_SIZE, Omega, at, OMEGA_SIZE)
        else:
            clear(part(Omega, at), OMEGA_SIZE)
        for s in range(answer.first, answer.first + answer.count):
            propagate_inverse_inertia(Omega, at, loose, model.chains[s])


@function
def carry(model, way, loose, strands, Y, Z):
    """Carry a strand along degrees of freedom, and add it to what is where it arrives."""
    at, entry = way.source, way.panel
    a, b, c = get6(strands, at), get6(strands, at + 6), get6(strands, at + 12)
    for t in range(way.first, way.first + way.count):
        dof = model.chains[t]
        y = along(a, b, c, loose, dof)
        a, b, c = give_way(a, b, c, y, loose, dof)
        put3(Y, entry, y)
        put3(Z, entry, scale(loose[dof + DOF.D_inverse], y))
        entry = entry + WIDTH
    if way.root >= 0:  # through a free body to the world
        put_root_entries(a, Y, Z, entry, loose, way.root)
        put_root_entries(b, Y, Z, entry + 1, loose, way.root)
        put_root_entries(c, Y, Z, entry + 2, loose, way.root)
    elif way.to >= 0:
        to = way.to
        put6(strands, to, add6(get6(strands, to), a))
        put6(strands, to + 6, add6(get6(strands, to + 6), b))
        put6(strands, to + 12, add6(get6(strands, to + 12), c))


@function
def put_block(group, Y, Z, blocks):
    """The block of a group: the products of the entries of its strands."""
    size, length = group.rows, group.count * WIDTH
    for s in range(group.strands):
        one, row = group.panel + s * length, s * WIDTH
        rows = size - row
        a, b, c, d, e, f = share_with_itself(1.0, Y, Z, one, group.count, 0.0 * Y[one])
        at = group.at + row * (size + 1)
        put_tile(blocks, at, size, rows, rows, (a, b, d), (b, c, e), (d, e, f))
        for t in range(s):
            none, other = (0.0, 0.0, 0.0), group.panel + t * length
            x, y, z = share(Y, Z, one, other, group.count, none, none, none)
            at, turned = row * size + t * WIDTH, t * WIDTH * size + row
            put_tile(blocks, group.at + at, size, rows, WIDTH, x, y, z)
            x, y, z = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
            put_tile(blocks, group.at + turned, size, WIDTH, rows, x, y, z)


@function
def put_tile(blocks, at, size, rows, columns, x, y, z):
    """Up to three rows of up to three numbers."""
    put_up_to3(blocks, at, columns, x)
    if rows > 1:
        put_up_to3(blocks, at + size, columns, y)
    if rows > 2:
        put_up_to3(blocks, at + 2 * size, columns, z)


@function
def put_up_to3(blocks, at, count, x):
    """Up to three numbers."""
    blocks[at] = x[0]
    if count > 1:
        blocks[at + 1] = x[1]
    if count > 2:
        blocks[at + 2] = x[2]
