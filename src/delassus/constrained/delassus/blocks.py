"""The passes of all recursions on J M^-1 J^T: inertias, runs of strands, knots, tiles.

J M^-1 J^T = Y D^-1 Y^T, where D are the D of all joints, and an entry of Y is y = S^T k: what the
wrench k of a row does along a degree of freedom. The wrench on the next link is P k = k - G y, with
G = H^A S D^-1. So Y follows from articulated inertias and from wrenches that run to the world
(Sathya, Bruyninckx, Decre and Pipeleers, Efficient constrained dynamics algorithms based on an
equivalent LQR formulation using Gauss' principle of least constraint, 2024). work.Z has the entries
of Y D^-1. In a knot, the entries in Y are the wrenches themselves, and those in Z the motions
Omega k that they give the node. See `strands` for the words.

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithm 5:

| paper | here | what |
| --- | --- | --- |
| lines 1, 2 | `place` | inertias of links, wrenches of rows |
| lines 5, 8, 9 left | `articulate_supports` | D and P of joints, articulated inertias |
| lines 6, 7 | `put_units` | P = 1, as six unit wrenches |
| line 9 right | `run` of unit wrenches | P, from node to node |
| line 10 | `run`, `put_corner` | ^jOmega_i, from entries of unit wrenches |
| lines 12, 13 | `put_inverse_inertias` | ^0Omega_i |
| lines 14 to 16 | `lift` | wrenches of rows at the next node |
| lines 17, 18 | `tie_knots`, `put_matrix` | L = Y Z^T, a tile for each two strands |
| lines 19, 20 | `put_tile`, `put_symmetric` | the other triangle |

Lines 4 and 21 are those of `caba_osim`. A free body in the world is factorised as a whole (see
`recursion.free_root`): a strand leaves six entries there.
"""

from __future__ import annotations

from ...compile import clear, function, layout
from ...dynamics.aba import DOF, LINK
from ...dynamics.steps.articulated import articulate, place_bodies
from ...dynamics.steps.points import place_world
from ...spatial.vectors import add6, add_scaled, dot, get3, get6, put3, put6, scale
from ..recursion.free_root import factorize_root, solve_lower_root
from ..recursion.links import articulate_others
from ..recursion.springs import wrench
from ..rows.wrenches import ROWS, put_wrenches
from .strands import NONE, SLOT, WIDTH

OMEGA_SIZE = 36  # numbers of an inverse inertia


# Rows, links, degrees of freedom; wrenches of strands; their entries Y, and Z = Y D^-1; inverse
# inertias of nodes; the matrix.
STRANDS = layout(
    ROWS,
    links=("n_links", LINK),
    dofs=("nv", DOF),
    strands=("slots", SLOT),
    Y=("entries", WIDTH),
    Z=("entries", WIDTH),
    Omega=("omegas", OMEGA_SIZE),
    tiles=lambda n: n["strand_rows"] * n["strand_rows"],
)


@function
def matrix_size(model):
    """Number of rows of the matrix, with filler rows."""
    return len(model.places) + len(model.fillers)


# --- links ----------------------------------------------------------------------------------------


@function
def place(model, q, work):
    """Placements and inertias of links, motion subspaces of joints, and wrenches of all rows."""
    place_world(work.links)
    place_bodies(model, q, work.links, LINK.size, work.dofs, DOF.size)
    for c in range(len(model.pieces)):
        put_wrenches(model, model.pieces[c], q, True, work.links, LINK.size, work)


@function
def articulate_supports(model, work):
    """Articulated inertias of links that support constraints; that of a free body is factorised."""
    for t in range(len(model.stretches)):
        stretch = model.stretches[t]
        for i in range(stretch.last, stretch.first - 1, -1):
            if model.supports[stretch.turn + (stretch.last - i)].is_free:
                dof = model.links[i].v * DOF.size
                factorize_root(i * LINK.size, work.links, dof, work.dofs)
            else:
                articulate(model, i, model.is_first[i], work.links, LINK.size, work.dofs, DOF.size)


# --- strands --------------------------------------------------------------------------------------


@function
def put_strands(model, q, work):
    """Inertias of all links, then the entries of all strands."""
    place(model, q, work)
    articulate_others(model, work)
    articulate_supports(model, work)
    start_strands(model, work)
    run_strands(model, work)


@function
def start_strands(model, work):
    """Put the wrenches of all rows into the slots of their strands."""
    for t in range(len(model.strands)):
        strand = model.strands[t]
        end, at = model.ends[strand.end], strand.slot * SLOT
        for r in range(strand.count):
            n, f = wrench(model, end, strand.first + r, work)
            if end.sign < 0:
                n, f = scale(-1.0, n), scale(-1.0, f)
            put3(work.strands, at + 6 * r, n)
            put3(work.strands, at + 6 * r + 3, f)
        fill_strand(strand, work.strands)


@function
def fill_strand(strand, strands):
    """Zero wrenches for the filler rows of a strand."""
    first = strand.slot * SLOT
    for at in range(first + 6 * strand.count, first + SLOT, 3):
        put3(strands, at, (0.0, 0.0, 0.0))


@function
def run_strands(model, work):
    """Run and lift all strands, node by node, from the leaves to the world."""
    for s in range(len(model.nodes)):
        node = model.nodes[s]
        if node.units != NONE:
            put_units(work.strands, node.units * SLOT)
        for t in range(node.first_run, node.first_run + node.runs):
            run(model, model.runs[t], work.dofs, False, work)
        for t in range(node.first_lift, node.first_lift + node.lifts):
            lift(model.lifts[t], work.strands)


@function
def put_units(strands, at):
    """Six unit wrenches."""
    for k in range(6):
        for t in range(6):
            strands[at + 6 * k + t] = 1.0 if t == k else 0.0


@function
def run(model, path, dofs, is_added, work):
    """Run a strand along degrees of freedom, whose records are `dofs`; put its entries in Y and Z.

    Its three wrenches stay in registers. At the end they are stored in the slot `path.to`, or added
    to the wrenches there.
    """
    strands, Y, Z, at, to = work.strands, work.Y, work.Z, path.source * SLOT, path.entry * WIDTH
    a, b, c = get6(strands, at), get6(strands, at + 6), get6(strands, at + 12)
    for t in range(path.first, path.first + path.count):
        dof = model.chains[t] * DOF.size
        y = along(a, b, c, dofs, dof)
        a, b, c = give_way(a, b, c, y, dofs, dof)
        put3(Y, to, y)
        put3(Z, to, scale(dofs[dof + DOF.D_inverse], y))
        to = to + WIDTH
    if path.root >= 0:  # through a free body to the world
        root = path.root * DOF.size
        put_root_entries(a, Y, Z, to, dofs, root)
        put_root_entries(b, Y, Z, to + 1, dofs, root)
        put_root_entries(c, Y, Z, to + 2, dofs, root)
    elif path.to >= 0:
        at = path.to * SLOT
        if is_added:
            a, b = add6(get6(strands, at), a), add6(get6(strands, at + 6), b)
            c = add6(get6(strands, at + 12), c)
        put6(strands, at, a)
        put6(strands, at + 6, b)
        put6(strands, at + 12, c)


@function
def along(a, b, c, dofs, dof):
    """S^T k for three wrenches"""
    s = get6(dofs, dof + DOF.angular)
    return dot6(s, a), dot6(s, b), dot6(s, c)


@function
def give_way(a, b, c, y, dofs, dof):
    """P k = k - G y for three wrenches"""
    G = get6(dofs, dof + DOF.G_angular)
    return less_scaled6(a, y[0], G), less_scaled6(b, y[1], G), less_scaled6(c, y[2], G)


@function
def dot6(a, b):
    """a . b, as two sums that do not wait for each other"""
    x = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return x + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@function
def less_scaled6(a, s, b):
    """a - s b"""
    return (
        a[0] - s * b[0], a[1] - s * b[1], a[2] - s * b[2],
        a[3] - s * b[3], a[4] - s * b[4], a[5] - s * b[5],
    )  # fmt: skip


@function
def put_root_entries(k, Y, Z, to, dofs, dof):
    """The six entries of a wrench k on a free body: L^-1 k in Y, and D^-1 L^-1 k in Z."""
    inverse = dof + DOF.D_inverse
    x = solve_lower_root((k[0], k[1], k[2]), (k[3], k[4], k[5]), dofs, dof)
    Y[to] = x[0]
    Y[to + WIDTH] = x[1]
    Y[to + 2 * WIDTH] = x[2]
    Y[to + 3 * WIDTH] = x[3]
    Y[to + 4 * WIDTH] = x[4]
    Y[to + 5 * WIDTH] = x[5]
    Z[to] = x[0] * dofs[inverse]
    Z[to + WIDTH] = x[1] * dofs[inverse + DOF.size]
    Z[to + 2 * WIDTH] = x[2] * dofs[inverse + 2 * DOF.size]
    Z[to + 3 * WIDTH] = x[3] * dofs[inverse + 3 * DOF.size]
    Z[to + 4 * WIDTH] = x[4] * dofs[inverse + 4 * DOF.size]
    Z[to + 5 * WIDTH] = x[5] * dofs[inverse + 5 * DOF.size]


@function
def lift(way, strands):
    """P k: the wrenches of a strand at the next node. Unit wrenches there are the columns of P."""
    units, other_units = way.units * SLOT, way.other_units * SLOT
    for r in range(WIDTH):
        at, to = way.source * SLOT + 6 * r, way.to * SLOT + 6 * r
        n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(3):
            x, y = strands[at + k], strands[at + 3 + k]
            n = add_scaled(n, x, get3(strands, units + 6 * k))
            f = add_scaled(f, x, get3(strands, units + 6 * k + 3))
            n = add_scaled(n, y, get3(strands, other_units + 6 * k))
            f = add_scaled(f, y, get3(strands, other_units + 6 * k + 3))
        put3(strands, to, n)
        put3(strands, to + 3, f)


# --- knots ----------------------------------------------------------------------------------------


@function
def put_inverse_inertias(model, work):
    """Inverse inertias of nodes that tie knots, from the world to the leaves.

    Y D^-1 Y^T for the entries of unit wrenches. If these end at another node that ties knots, with
    the inverse inertia Omega', then P^T Omega' P is added.
    """
    for s in range(len(model.omegas)):
        node, at, Omega = model.omegas[s], s * OMEGA_SIZE, work.Omega
        one, other = node.entry * WIDTH, node.other_entry * WIDTH
        put_corner(one, one, node.count, at, work)
        put_corner(other, one, node.count, at + 18, work)
        put_corner(other, other, node.count, at + 21, work)
        for i in range(3):
            for j in range(3):
                Omega[at + 6 * j + 3 + i] = Omega[at + 18 + 6 * i + j]
        if node.upper >= 0:
            add_congruence(node, work.strands, Omega, at)


@function
def put_corner(one, other, count, at, work):
    """Three by three entries of Omega: the tile of two times three unit wrenches."""
    none = (0.0, 0.0, 0.0)
    row0, row1, row2 = share(work.Y, work.Z, one, other, count, (none, none, none))
    put3(work.Omega, at, row0)
    put3(work.Omega, at + 6, row1)
    put3(work.Omega, at + 12, row2)


@function
def add_congruence(node, strands, Omega, at):
    """Omega + P^T Omega' P, where the unit wrenches at the next node are the columns of P."""
    upper = node.upper * OMEGA_SIZE
    units, other_units = node.units * SLOT, node.other_units * SLOT
    for j in range(6):
        source = units + 6 * j if j < 3 else other_units + 6 * (j - 3)
        n, f = get3(strands, source), get3(strands, source + 3)
        angular, linear = motion(Omega, upper, n, f)
        for i in range(6):
            other = units + 6 * i if i < 3 else other_units + 6 * (i - 3)
            x = dot(get3(strands, other), angular) + dot(get3(strands, other + 3), linear)
            Omega[at + 6 * i + j] = Omega[at + 6 * i + j] + x


@function
def motion(Omega, at, n, f):
    """Omega k: the motion that a wrench k = (n, f) gives a link. Omega is symmetric."""
    angular, linear = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(3):
        angular = add_scaled(angular, n[k], get3(Omega, at + 6 * k))
        linear = add_scaled(linear, n[k], get3(Omega, at + 6 * k + 3))
        angular = add_scaled(angular, f[k], get3(Omega, at + 18 + 6 * k))
        linear = add_scaled(linear, f[k], get3(Omega, at + 18 + 6 * k + 3))
    return angular, linear


@function
def tie_knots(model, work):
    """The entries of knots: wrenches k in Y, and the motions Omega k of their node in Z."""
    Y, Z = work.Y, work.Z
    for t in range(len(model.knots)):
        knot = model.knots[t]
        for r in range(WIDTH):
            at, to = knot.slot * SLOT + 6 * r, knot.entry * WIDTH + r
            n, f = get3(work.strands, at), get3(work.strands, at + 3)
            angular, linear = motion(work.Omega, knot.omega * OMEGA_SIZE, n, f)
            for k in range(3):
                Y[to + k * WIDTH] = n[k]
                Y[to + (3 + k) * WIDTH] = f[k]
                Z[to + k * WIDTH] = angular[k]
                Z[to + (3 + k) * WIDTH] = linear[k]


# --- the matrix -----------------------------------------------------------------------------------


@function
def share(Y, Z, one, other, count, rows):
    """rows + Y Z^T over `count` entries: `one` is where those in Y start, `other` those in Z."""
    return signed_share(1.0, Y, Z, one, other, count, rows)


@function
def signed_share(sign, Y, Z, one, other, count, rows):
    """rows + Y Z^T, or rows - Y Z^T if the sign is negative (see `share`)."""
    row0, row1, row2 = rows
    for _ in range(count):
        x, y = get3(Y, one), get3(Z, other)
        row0, row1 = add_signed(row0, sign, x[0], y), add_signed(row1, sign, x[1], y)
        row2 = add_signed(row2, sign, x[2], y)
        one, other = one + WIDTH, other + WIDTH
    return row0, row1, row2


@function
def add_signed(a, sign, s, b):
    """a + s b, or a - s b if the sign is negative, without a multiplication by the sign"""
    if sign > 0.0:
        return add_scaled(a, s, b)
    return a[0] - s * b[0], a[1] - s * b[1], a[2] - s * b[2]


@function
def put_tiles(model, work):
    """The lower triangle of the matrix: the sum of all tiles."""
    G, size = work.tiles, matrix_size(model)
    clear(G, size * size)
    for t in range(len(model.tiles)):
        tile = model.tiles[t]
        at, one, other = tile.row * size + tile.column, tile.entry * WIDTH, tile.other_entry * WIDTH
        rows = get3(G, at), get3(G, at + size), get3(G, at + 2 * size)
        row0, row1, row2 = share(work.Y, work.Z, one, other, tile.count, rows)
        put3(G, at, row0)
        put3(G, at + size, row1)
        put3(G, at + 2 * size, row2)


@function
def put_matrix(model, sign, matrix, work):
    """The sum of all tiles times the sign, both triangles, without filler rows."""
    if model.is_plain[0]:
        for t in range(len(model.tiles)):
            put_tile(model.tiles[t], len(model.places), sign, matrix, work)
    else:
        put_tiles(model, work)
        put_symmetric(model, sign, work.tiles, matrix)


@function
def put_tile(tile, m, sign, matrix, work):
    """Write a tile to its place in the matrix, and its transpose to the other triangle."""
    Y, Z, one, at = work.Y, work.Z, tile.entry * WIDTH, tile.row * m + tile.column
    if tile.row == tile.column:
        a, b, c, d, e, f = share_with_itself(sign, Y, Z, one, tile.count, 0.0 * Y[0])
        x, y, z = (a, b, d), (b, c, e), (d, e, f)
    else:
        none, other = (0.0, 0.0, 0.0), tile.other_entry * WIDTH
        x, y, z = signed_share(sign, Y, Z, one, other, tile.count, (none, none, none))
        turned = tile.column * m + tile.row
        put3(matrix, turned, (x[0], y[0], z[0]))
        put3(matrix, turned + m, (x[1], y[1], z[1]))
        put3(matrix, turned + 2 * m, (x[2], y[2], z[2]))
    put3(matrix, at, x)
    put3(matrix, at + m, y)
    put3(matrix, at + 2 * m, z)


@function
def share_with_itself(sign, Y, Z, at, count, none):
    """The lower triangle of Y Z^T for a strand and itself, by rows, times the sign."""
    a, b, c, d, e, f = none, none, none, none, none, none
    for _ in range(count):
        x, y = get3(Y, at), get3(Z, at)
        if sign > 0.0:
            a, b, c = a + x[0] * y[0], b + x[1] * y[0], c + x[1] * y[1]
            d, e, f = d + x[2] * y[0], e + x[2] * y[1], f + x[2] * y[2]
        else:
            a, b, c = a - x[0] * y[0], b - x[1] * y[0], c - x[1] * y[1]
            d, e, f = d - x[2] * y[0], e - x[2] * y[1], f - x[2] * y[2]
        at = at + WIDTH
    return a, b, c, d, e, f


@function
def put_symmetric(model, sign, G, matrix):
    """G times the sign, both triangles, rows in the order of constraints, without filler rows."""
    m, size = len(model.places), matrix_size(model)
    for i in range(m):
        row = model.places[i]
        for j in range(i + 1):
            column = model.places[j]
            x = G[row * size + column] if row >= column else G[column * size + row]
            matrix[i * m + j] = sign * x
            matrix[j * m + i] = sign * x
