"""The passes that recursions on J M^-1 J^T are made of: inertias, runs of wrenches, tiles.

With M = U D U^T of the tree, J M^-1 J^T = Y D^-1 Y^T, where an entry of Y is what a row's wrench,
as it arrives at a link, does along a degree of freedom of its joint: y = S^T k. What remains of it
for what carries the joint is k - U_k y / D. So Y takes articulated inertias and runs of wrenches
only (Sathya, Bruyninckx, Decre and Pipeleers, Efficient constrained dynamics algorithms based on an
equivalent LQR formulation using Gauss' principle of least constraint, 2024). See
`strands` for what runs where, and for knots: there entries are the wrenches themselves in
Y, and the motions that they give their node in place of Y D^-1.

A free body in the world is solved with as a whole (see `free_root`), by six entries.
"""

from __future__ import annotations

from ...compile import clear, function, part
from ...dynamics.aba import DOF, LINK
from ...dynamics.articulated import articulate, place_bodies
from ...spatial.vectors import add_scaled, dot, get3, get6, put3, put6, scale
from ..articulated_rows import articulate_others
from ..free_root import factorize_root
from ..jacobian import place_world
from ..pulls import wrench
from ..rows import rows_end, rows_work
from .strands import NONE, SLOT, WIDTH
from .wrenches import put_wrenches

OMEGA_SIZE = 36


def strands_work(n: dict[str, int], mode: int) -> int:
    """Memory of links, rows, strands, entries with and without D^-1, and the matrix."""
    links = n["n_links"] * LINK.size + n["nv"] * DOF.size
    strands = n[f"slots_{mode}"] * SLOT + 2 * n[f"entries_{mode}"] * WIDTH
    matrix = n["strand_rows"] * n["strand_rows"]
    return links + rows_work(n) + strands + n[f"omegas_{mode}"] * OMEGA_SIZE + matrix


@function
def strands_memory(model, work):
    """Where things stand: rows, strands, Y, Y D^-1, inverse inertias, the matrix, and the rest."""
    slots, entries, omegas, size = (
        model.extents[0],
        model.extents[1],
        model.extents[2],
        model.extents[3],
    )
    rows = part(work, len(model.links) * LINK.size + len(model.armature) * DOF.size)
    strands = part(rows, rows_end(model))
    Y = part(strands, slots * SLOT)
    Z = part(Y, entries * WIDTH)
    Omega = part(Z, entries * WIDTH)
    G = part(Omega, omegas * OMEGA_SIZE)
    return rows, strands, Y, Z, Omega, G, part(G, size * size)


# --- links ----------------------------------------------------------------------------------------


@function
def place(model, q, rows, work, dofs):
    """Where links are, their joints' motion subspaces, their inertias, and wrenches of all rows."""
    place_world(work)
    place_bodies(model, q, work, LINK.size, dofs, DOF.size)
    for c in range(len(model.pieces)):
        put_wrenches(model, model.pieces[c], q, True, work, LINK.size, rows)


@function
def articulate_supports(model, work, dofs):
    """Articulated inertias of links that carry ends; the factor of that of a free body."""
    for t in range(len(model.stretches)):
        stretch = model.stretches[t]
        for i in range(stretch.last, stretch.first - 1, -1):
            if model.supports[stretch.turn + (stretch.last - i)].is_free:
                factorize_root(i * LINK.size, work, dofs + model.links[i].v * DOF.size)
            else:
                articulate(model, i, model.is_first[i], work, LINK.size, dofs, DOF.size)


# --- strands --------------------------------------------------------------------------------------


@function
def put_strands(model, q, rows, strands, Y, Z, work, dofs):
    """Strands of all rows along the joints, and all that they take."""
    place(model, q, rows, work, dofs)
    articulate_others(model, work, dofs)
    articulate_supports(model, work, dofs)
    start_strands(model, rows, strands, work, dofs)
    run_strands(model, strands, Y, Z, work, dofs)


@function
def start_strands(model, rows, strands, work, dofs):
    """The wrenches of all rows in their slots."""
    for t in range(len(model.strands)):
        strand = model.strands[t]
        end = model.ends[strand.end]
        for r in range(strand.count):
            n, f = wrench(model, end, strand.first + r, rows, work, dofs)
            if end.sign < 0:
                n, f = scale(-1.0, n), scale(-1.0, f)
            put3(strands, strand.slot + 6 * r, n)
            put3(strands, strand.slot + 6 * r + 3, f)
        fill_strand(strand, strands)


@function
def fill_strand(strand, strands):
    """No wrench where a strand has no rows."""
    for at in range(strand.slot + 6 * strand.count, strand.slot + SLOT, 3):
        put3(strands, at, (0.0, 0.0, 0.0))


@function
def run_strands(model, strands, Y, Z, work, dofs):
    """Let all strands run, from the leaves on."""
    for s in range(len(model.nodes)):
        node = model.nodes[s]
        if node.units != NONE:
            put_units(strands, node.units)
        for t in range(node.first_run, node.first_run + node.runs):
            run(model, model.runs[t], strands, Y, Z, work, dofs)
        for t in range(node.first_lift, node.first_lift + node.lifts):
            lift(model.lifts[t], strands)


@function
def put_units(strands, at):
    """Six unit wrenches."""
    for k in range(6):
        for t in range(6):
            strands[at + 6 * k + t] = 1.0 if t == k else 0.0


@function
def run(model, path, strands, Y, Z, work, dofs):
    """Let a strand run along degrees of freedom: its three rows stay in registers."""
    at, to = path.source, path.panel
    a, b, c = get6(strands, at), get6(strands, at + 6), get6(strands, at + 12)
    for t in range(path.first, path.first + path.count):
        dof = dofs + model.chains[t]
        y = along(a, b, c, work, dof)
        a, b, c = give_way(a, b, c, y, work, dof)
        put3(Y, to, y)
        put3(Z, to, scale(work[dof + DOF.D_inverse], y))
        to = to + WIDTH
    if path.root >= 0:  # through a free body to the world
        put_root_entries(a, Y, Z, to, work, dofs + path.root)
        put_root_entries(b, Y, Z, to + 1, work, dofs + path.root)
        put_root_entries(c, Y, Z, to + 2, work, dofs + path.root)
    elif path.to >= 0:
        put6(strands, path.to, a)
        put6(strands, path.to + 6, b)
        put6(strands, path.to + 12, c)


@function
def along(a, b, c, work, dof):
    """S^T k for three wrenches"""
    s = get6(work, dof + DOF.angular)
    return dot6(s, a), dot6(s, b), dot6(s, c)


@function
def give_way(a, b, c, y, work, dof):
    """k - U D^-1 y for three wrenches"""
    G = get6(work, dof + DOF.G_angular)
    return less_scaled6(a, y[0], G), less_scaled6(b, y[1], G), less_scaled6(c, y[2], G)


@function
def dot6(a, b):
    """a . b, of two halves that do not wait for each other"""
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
def put_root_entries(k, Y, Z, to, work, dof):
    """The six entries of a wrench on a free body: L^-1 k, and D^-1 L^-1 k."""
    x, inverse = half_solve_root(k, work, dof), dof + DOF.D_inverse
    Y[to] = x[0]
    Y[to + WIDTH] = x[1]
    Y[to + 2 * WIDTH] = x[2]
    Y[to + 3 * WIDTH] = x[3]
    Y[to + 4 * WIDTH] = x[4]
    Y[to + 5 * WIDTH] = x[5]
    Z[to] = x[0] * work[inverse]
    Z[to + WIDTH] = x[1] * work[inverse + DOF.size]
    Z[to + 2 * WIDTH] = x[2] * work[inverse + 2 * DOF.size]
    Z[to + 3 * WIDTH] = x[3] * work[inverse + 3 * DOF.size]
    Z[to + 4 * WIDTH] = x[4] * work[inverse + 4 * DOF.size]
    Z[to + 5 * WIDTH] = x[5] * work[inverse + 5 * DOF.size]


@function
def half_solve_root(k, work, dof):
    """L^-1 k, where L D L^T is the articulated inertia of a free body (see `free_root`)."""
    row = dof + DOF.G_angular
    b, c = row + DOF.size, row + 2 * DOF.size
    d, e, g = row + 3 * DOF.size, row + 4 * DOF.size, row + 5 * DOF.size
    x0 = k[0]
    x1 = k[1] - work[b] * x0
    x2 = k[2] - work[c] * x0 - work[c + 1] * x1
    x3 = k[3] - work[d] * x0 - work[d + 1] * x1 - work[d + 2] * x2
    x4 = k[4] - work[e] * x0 - work[e + 1] * x1 - work[e + 2] * x2 - work[e + 3] * x3
    x5 = k[5] - work[g] * x0 - work[g + 1] * x1 - work[g + 2] * x2 - work[g + 3] * x3
    return x0, x1, x2, x3, x4, x5 - work[g + 4] * x4


@function
def lift(way, strands):
    """Wrenches at a node as they are at the next: P k"""
    for r in range(WIDTH):
        at = way.source + 6 * r
        n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(3):
            x, y = strands[at + k], strands[at + 3 + k]
            n = add_scaled(n, x, get3(strands, way.units + 6 * k))
            f = add_scaled(f, x, get3(strands, way.units + 6 * k + 3))
            n = add_scaled(n, y, get3(strands, way.other_units + 6 * k))
            f = add_scaled(f, y, get3(strands, way.other_units + 6 * k + 3))
        put3(strands, way.to + 6 * r, n)
        put3(strands, way.to + 6 * r + 3, f)


# --- knots ----------------------------------------------------------------------------------------


@function
def put_inverse_inertias(model, strands, Y, Z, Omega):
    """Inverse inertias of nodes that tie knots, from the world on: Y D^-1 Y^T of unit wrenches.

    Where these end at another such node they are P^T Omega P besides.
    """
    for s in range(len(model.omegas)):
        node, at = model.omegas[s], s * OMEGA_SIZE
        put_corner(Y, Z, node.panel, node.panel, node.count, Omega, at)
        put_corner(Y, Z, node.other_panel, node.panel, node.count, Omega, at + 18)
        put_corner(Y, Z, node.other_panel, node.other_panel, node.count, Omega, at + 21)
        for i in range(3):
            for j in range(3):
                Omega[at + 6 * j + 3 + i] = Omega[at + 18 + 6 * i + j]
        if node.upper >= 0:
            add_congruence(node, strands, Omega, at)


@function
def put_corner(Y, Z, one, other, count, Omega, at):
    """A block of three by three: the tile of two strands of unit wrenches."""
    none = (0.0, 0.0, 0.0)
    row0, row1, row2 = share(Y, Z, one, other, count, none, none, none)
    put3(Omega, at, row0)
    put3(Omega, at + 6, row1)
    put3(Omega, at + 12, row2)


@function
def add_congruence(node, strands, Omega, at):
    """Omega + P^T Omega' P, where columns of P are the unit wrenches as they end."""
    upper = node.upper * OMEGA_SIZE
    for j in range(6):
        source = node.units + 6 * j if j < 3 else node.other_units + 6 * (j - 3)
        n, f = get3(strands, source), get3(strands, source + 3)
        angular, linear = motion(Omega, upper, n, f)
        for i in range(6):
            other = node.units + 6 * i if i < 3 else node.other_units + 6 * (i - 3)
            x = dot(get3(strands, other), angular) + dot(get3(strands, other + 3), linear)
            Omega[at + 6 * i + j] = Omega[at + 6 * i + j] + x


@function
def motion(Omega, at, n, f):
    """Omega k: the motion that a wrench gives a link. Omega is symmetric."""
    angular, linear = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(3):
        angular = add_scaled(angular, n[k], get3(Omega, at + 6 * k))
        linear = add_scaled(linear, n[k], get3(Omega, at + 6 * k + 3))
        angular = add_scaled(angular, f[k], get3(Omega, at + 18 + 6 * k))
        linear = add_scaled(linear, f[k], get3(Omega, at + 18 + 6 * k + 3))
    return angular, linear


@function
def tie_knots(model, strands, Y, Z, Omega):
    """The entries of knots: wrenches, and the motions that they give their node."""
    for t in range(len(model.knots)):
        knot = model.knots[t]
        for r in range(WIDTH):
            at, to = knot.slot + 6 * r, knot.panel + r
            n, f = get3(strands, at), get3(strands, at + 3)
            angular, linear = motion(Omega, knot.omega * OMEGA_SIZE, n, f)
            for k in range(3):
                Y[to + k * WIDTH] = n[k]
                Y[to + (3 + k) * WIDTH] = f[k]
                Z[to + k * WIDTH] = angular[k]
                Z[to + (3 + k) * WIDTH] = linear[k]


# --- the matrix -----------------------------------------------------------------------------------


@function
def share(Y, Z, one, other, count, row0, row1, row2):
    """Three by three rows, and the products of the entries that two strands share."""
    return signed_share(1.0, Y, Z, one, other, count, row0, row1, row2)


@function
def signed_share(sign, Y, Z, one, other, count, row0, row1, row2):
    """The same, or less the products."""
    for _ in range(count):
        x, y = get3(Y, one), get3(Z, other)
        row0, row1 = add_signed(row0, sign, x[0], y), add_signed(row1, sign, x[1], y)
        row2 = add_signed(row2, sign, x[2], y)
        one, other = one + WIDTH, other + WIDTH
    return row0, row1, row2


@function
def add_signed(a, sign, s, b):
    """a + s b, or a - s b: a multiplication by the sign would be one too many"""
    if sign > 0.0:
        return add_scaled(a, s, b)
    return a[0] - s * b[0], a[1] - s * b[1], a[2] - s * b[2]


@function
def put_tiles(model, Y, Z, G):
    """The matrix up to the diagonal: the sum of the tiles of all strands that meet."""
    size = model.extents[3]
    clear(G, size * size)
    for t in range(len(model.tiles)):
        tile = model.tiles[t]
        at = tile.at
        row0, row1, row2 = get3(G, at), get3(G, at + size), get3(G, at + 2 * size)
        row0, row1, row2 = share(Y, Z, tile.panel, tile.other_panel, tile.count, row0, row1, row2)
        put3(G, at, row0)
        put3(G, at + size, row1)
        put3(G, at + 2 * size, row2)


@function
def put_matrix(model, sign, Y, Z, G, matrix):
    """The sum of all tiles, both triangles, by a sign."""
    if model.extents[4]:
        for t in range(len(model.tiles)):
            put_tile(model.tiles[t], len(model.places), sign, Y, Z, matrix)
    else:
        put_tiles(model, Y, Z, G)
        put_symmetric(model, sign, G, matrix)


@function
def put_tile(tile, m, sign, Y, Z, matrix):
    """A tile that nothing adds to, in its place and as its transpose in the other triangle."""
    if tile.at == tile.turned:
        a, b, c, d, e, f = share_with_itself(sign, Y, Z, tile.panel, tile.count, 0.0 * Y[0])
        x, y, z = (a, b, d), (b, c, e), (d, e, f)
    else:
        none, one, other = (0.0, 0.0, 0.0), tile.panel, tile.other_panel
        x, y, z = signed_share(sign, Y, Z, one, other, tile.count, none, none, none)
        put3(matrix, tile.turned, (x[0], y[0], z[0]))
        put3(matrix, tile.turned + m, (x[1], y[1], z[1]))
        put3(matrix, tile.turned + 2 * m, (x[2], y[2], z[2]))
    put3(matrix, tile.at, x)
    put3(matrix, tile.at + m, y)
    put3(matrix, tile.at + 2 * m, z)


@function
def share_with_itself(sign, Y, Z, at, count, none):
    """The lower triangle of the tile of a strand and itself, by rows."""
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
    """Both triangles, without what fills up strands."""
    m, size = len(model.places), model.extents[3]
    for i in range(m):
        row = model.places[i]
        for j in range(i + 1):
            column = model.places[j]
            x = G[row * size + column] if row >= column else G[column * size + row]
            matrix[i * m + j] = sign * x
            matrix[j * m + i] = sign * x
