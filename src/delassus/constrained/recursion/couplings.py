"""Links that springs couple: blocks of six by six, and how the elimination of joints changes them.

A spring between two links couples them by a block C: rows for the wrench on the link that is
eliminated first, columns for the motion of the other, both about the links' own origins. When the
joint of a link is eliminated, its blocks go to its parent, and its neighbours become coupled with
each other (see `order`). This extends the elimination of joints in Sathya and Carpentier,
Constrained Articulated Body Dynamics Algorithms, 2024, Algorithm 1, lines 5 to 9, to loops. With S,
U = H^A S and D of the joint, and the pull c_j = C_j^T S at each neighbour j:

| symbols | here | what |
| --- | --- | --- |
| C_j + K_i^T K_j / mu | `open_blocks`, `couple` | add springs between links i and j |
| c_j = C_j^T S | `pull_neighbours`, work.pulls | pull of a degree of freedom at neighbour j |
| C_j - U D^-1 c_j^T | `loosen_neighbours` | block of the link and neighbour j |
| H_j^A - c_j D^-1 c_j^T | `loosen_neighbours` | inertia of neighbour j |
| C_jk - c_j D^-1 c_k^T | `loosen_neighbours` | block of neighbours j and k |
| C_pi(i)j + C_j | `hand_on` | the link's blocks become its parent's |
| f_j + c_j D^-1 u | `push_neighbours` | load of neighbour j |
"""

from __future__ import annotations

from ...compile import clear, function, layout, part, routine, slots
from ...dynamics.aba import DOF, FORCE, LINK
from ...dynamics.steps.articulated import INERTIA, keep_remainder, pass_remainder, project
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    get3,
    get6,
    get9,
    outer_update,
    outer_update9,
    put3,
    put6,
    put9,
    scale,
    subtract,
)
from .plan import IS_PARENT
from .springs import point, subtract_cross, wrench

BLOCK = 36  # numbers of a block of six by six
# The pull of a degree of freedom at a neighbour of its link: moment about the neighbour's own
# origin, and force; and the moment about the tree's origin.
PULL = slots(own_n=3, f=3, n=3)
# Pulls of all degrees of freedom at neighbours; and the blocks that are open at the same time.
PULLS = layout(pulls=("pulls", PULL))
BLOCKS = layout(blocks=("cross_blocks", BLOCK))


@function
def open_blocks(model, turn, weights, work):
    """Clear the blocks that a turn is the first to need, and add the springs of its couples."""
    for t in range(turn.first_opened, turn.first_opened + turn.opened):
        clear(part(work.blocks, model.opened[t] * BLOCK), BLOCK)
    for t in range(turn.first_couple, turn.first_couple + turn.couples):
        couple(model, model.couples[t], weights, work)


@function
def couple(model, tie, weights, work):
    """Add the springs between two ends of a piece to the block of their two links."""
    end, other = model.ends[tie.end], model.ends[tie.other]
    p = get3(work.links, end.link * LINK.size + LINK.p)
    p_other = get3(work.links, other.link * LINK.size + LINK.p)
    if end.is_at_point:
        r = subtract(point(end, work.rows), p)
        r_other = subtract(point(other, work.rows), p_other)
        w = scale(end.sign * other.sign, get3(weights, end.row))
        couple_points(work.blocks, tie.block * BLOCK, r, r_other, w)
        return
    for r in range(end.count):
        n, f = wrench(model, end, r, work)
        n_other, f_other = wrench(model, other, r, work)
        x = -(end.sign * other.sign) * weights[end.row + r]
        n, f = scale(x, subtract_cross(n, p, f)), scale(x, f)
        n_other = subtract_cross(n_other, p_other, f_other)
        update_block(work.blocks, tie.block * BLOCK, n, f, n_other, f_other)


@function
def couple_points(blocks, at, r, r_other, w):
    """Add springs of stiffness w along the axes, between a point at r and one at r_other.

    C + [(r x); 1] w [(r_other x); 1]^T, row by row: each row is a force at r_other and its moment.
    """
    none = 0.0 * w[0]
    add_row(blocks, at, (none, -r[2] * w[1], r[1] * w[2]), r_other)
    add_row(blocks, at + 6, (r[2] * w[0], none, -r[0] * w[2]), r_other)
    add_row(blocks, at + 12, (-r[1] * w[0], r[0] * w[1], none), r_other)
    add_row(blocks, at + 18, (w[0], none, none), r_other)
    add_row(blocks, at + 24, (none, w[1], none), r_other)
    add_row(blocks, at + 30, (none, none, w[2]), r_other)


@function
def add_row(blocks, at, f, r):
    """Add a force at r to a row of a block, and its moment."""
    put3(blocks, at, add_cross(get3(blocks, at), r, f))
    put3(blocks, at + 3, add(get3(blocks, at + 3), f))


@function
def update_block(blocks, at, n, f, n_other, f_other):
    """C - (n, f) (n_other, f_other)^T"""
    for t in range(3):
        here, below = at + 6 * t, at + 18 + 6 * t
        put3(blocks, here, add_scaled(get3(blocks, here), -n[t], n_other))
        put3(blocks, here + 3, add_scaled(get3(blocks, here + 3), -n[t], f_other))
        put3(blocks, below, add_scaled(get3(blocks, below), -f[t], n_other))
        put3(blocks, below + 3, add_scaled(get3(blocks, below + 3), -f[t], f_other))


@routine
def articulate_coupled(model, turn, is_first, weights, work):
    """Eliminate the joint of a link that has neighbours: project its inertia and its blocks."""
    open_blocks(model, turn, weights, work)
    link, links = model.links[turn.link], work.links
    at, parent = turn.link * LINK.size, link.parent * LINK.size
    for k in range(link.v + link.nv - 1, link.v - 1, -1):
        projected = project(model, link, k, at, links, k * DOF.size, work.dofs)
        pull_neighbours(model, turn, k, k - link.v, work)
        loosen_neighbours(model, turn, projected, k, k - link.v, work)
        if k > link.v:
            keep_remainder(at, projected, links)
        elif link.parent > 0:
            pass_remainder(model, link, is_first, at, parent, projected, links)
    hand_on(model, turn, work)


@function
def pull_neighbours(model, turn, k, nth, work):
    """C^T S at all neighbours of a link, for degree of freedom k, the nth of its joint."""
    blocks, pulls, dof = work.blocks, work.pulls, k * DOF.size
    p = get3(work.links, turn.link * LINK.size + LINK.p)
    angular = get3(work.dofs, dof + DOF.angular)
    linear = add_cross(get3(work.dofs, dof + DOF.linear), angular, p)
    for t in range(turn.first_neighbour, turn.first_neighbour + turn.neighbours):
        near = model.neighbours[t]
        block = near.block * BLOCK
        n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for s in range(3):
            n = add_scaled(n, angular[s], get3(blocks, block + 6 * s))
            f = add_scaled(f, angular[s], get3(blocks, block + 6 * s + 3))
            n = add_scaled(n, linear[s], get3(blocks, block + 18 + 6 * s))
            f = add_scaled(f, linear[s], get3(blocks, block + 18 + 6 * s + 3))
        at, p_near = (near.pull + nth) * PULL.size, get3(work.links, near.link * LINK.size + LINK.p)
        put3(pulls, at + PULL.own_n, n)
        put3(pulls, at + PULL.f, f)
        put3(pulls, at + PULL.n, add_cross(n, p_near, f))


@function
def push_neighbours(model, step, u_D, work):
    """Add to the loads of neighbours what the motion of a joint passes to them: pull u / D."""
    pulls, forces = work.pulls, work.forces
    for t in range(step.first_neighbour, step.first_neighbour + step.neighbours):
        near = model.neighbours[t]
        pull, load = (near.pull + step.nth) * PULL.size, (len(model.links) + near.link) * FORCE.size
        n, f = get3(pulls, pull + PULL.n), get3(pulls, pull + PULL.f)
        put3(forces, load + FORCE.n, add_scaled(get3(forces, load + FORCE.n), u_D, n))
        put3(forces, load + FORCE.f, add_scaled(get3(forces, load + FORCE.f), u_D, f))


@function
def loosen_neighbours(model, turn, projected, k, nth, work):
    """Subtract what the motion of a joint takes from the blocks and neighbours of its link.

    C - U D^-1 pull^T in the link's blocks, H - pull D^-1 pull^T in the inertias of neighbours, and
    C - pull D^-1 other_pull^T in the blocks between them.
    """
    links, blocks, pulls = work.links, work.blocks, work.pulls
    D_inverse = work.dofs[k * DOF.size + DOF.D_inverse]
    _, _, moment, force = projected
    for t in range(turn.first_neighbour, turn.first_neighbour + turn.neighbours):
        near = model.neighbours[t]
        pull, to = (near.pull + nth) * PULL.size, near.link * LINK.size
        n, f = get3(pulls, pull + PULL.own_n), get3(pulls, pull + PULL.f)
        update_block(blocks, near.block * BLOCK, moment, force, n, f)
        n_D, f_D = scale(D_inverse, n), scale(D_inverse, f)
        put6(links, to + INERTIA.A, outer_update(get6(links, to + INERTIA.A), n, n_D))
        put9(links, to + INERTIA.H, outer_update9(get9(links, to + INERTIA.H), n, f_D))
        put6(links, to + INERTIA.M, outer_update(get6(links, to + INERTIA.M), f, f_D))
        for s in range(near.others):
            pull = (model.neighbours[t + 1 + s].pull + nth) * PULL.size
            n_other, f_other = get3(pulls, pull + PULL.own_n), get3(pulls, pull + PULL.f)
            block = model.fill[near.first_block + s] * BLOCK
            update_block(blocks, block, n_D, f_D, n_other, f_other)


@function
def hand_on(model, turn, work):
    """Add the blocks of an eliminated link to those of its parent, rows moved to its origin."""
    link, links, blocks = model.links[turn.link], work.links, work.blocks
    at, to = turn.link * LINK.size, link.parent * LINK.size
    if link.parent > 0:
        r = subtract(get3(links, at + LINK.p), get3(links, to + LINK.p))
        for t in range(turn.first_neighbour, turn.first_neighbour + turn.neighbours):
            near = model.neighbours[t]
            block = near.block * BLOCK
            for column in range(6):
                move_column(blocks, block + column, r)
            if near.to_block == IS_PARENT:
                join(blocks, block, to, links)
            elif near.is_turned:
                add_turned(blocks, block, near.to_block * BLOCK)
            else:
                for s in range(BLOCK):
                    place = near.to_block * BLOCK + s
                    blocks[place] = blocks[place] + blocks[block + s]


@function
def move_column(blocks, at, r):
    """n + r x f for the wrench in a column"""
    f = (blocks[at + 18], blocks[at + 24], blocks[at + 30])
    n = add_cross((blocks[at], blocks[at + 6], blocks[at + 12]), r, f)
    blocks[at] = n[0]
    blocks[at + 6] = n[1]
    blocks[at + 12] = n[2]


@function
def add_turned(blocks, block, to):
    """Add the transpose of a block to another."""
    for s in range(6):
        for t in range(6):
            place = to + 6 * s + t
            blocks[place] = blocks[place] + blocks[block + 6 * t + s]


@function
def join(blocks, block, at, links):
    """Add C + C^T to a link's inertia: a block that couples the link with itself."""
    C = block
    A, M = get6(links, at + INERTIA.A), get6(links, at + INERTIA.M)
    put6(
        links,
        at + INERTIA.A,
        (
            A[0] + blocks[C] + blocks[C],
            A[1] + blocks[C + 1] + blocks[C + 6],
            A[2] + blocks[C + 2] + blocks[C + 12],
            A[3] + blocks[C + 7] + blocks[C + 7],
            A[4] + blocks[C + 8] + blocks[C + 13],
            A[5] + blocks[C + 14] + blocks[C + 14],
        ),
    )
    C = block + 21
    put6(
        links,
        at + INERTIA.M,
        (
            M[0] + blocks[C] + blocks[C],
            M[1] + blocks[C + 1] + blocks[C + 6],
            M[2] + blocks[C + 2] + blocks[C + 12],
            M[3] + blocks[C + 7] + blocks[C + 7],
            M[4] + blocks[C + 8] + blocks[C + 13],
            M[5] + blocks[C + 14] + blocks[C + 14],
        ),
    )
    for s in range(3):
        for t in range(3):
            place = at + INERTIA.H + 3 * s + t
            both = blocks[block + 6 * s + 3 + t] + blocks[block + 6 * (3 + t) + s]
            links[place] = links[place] + both
