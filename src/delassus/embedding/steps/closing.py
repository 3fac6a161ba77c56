"""The motion of dependent joints: v = G y' and a = G y'' + g, cluster by cluster.

Secs. II-D and III of the paper (see `structure.graph`).

| paper    | here                | what it is                                                     |
| -------- | ------------------- | -------------------------------------------------------------- |
| K        | K                   | Jacobian of a cluster's constraints by its degrees of freedom  |
| k        | less the drift      | K a = k, where the constraints go on to hold                   |
| G, g     | work.Gd, work.g     | K G = 0 and K g = k; rows of G and g of dependent joints only  |
| y', y''  | v, a of the sweeps  | velocities and accelerations of independent joints             |

Rows that hold the bodies of a closed cluster together do not feel a motion of all bodies as one. So
they are measured as if the cluster's handle stood still, whatever carries it.

K = [Kd Ki] is brought to upper triangular form in its dependent columns by reflections
(Householder), which need no pivots: lanes cannot exchange rows. More rows than dependent degrees of
freedom are then least squares. Of one or two rows the inverse is written out.
"""

from __future__ import annotations

from ...compile import absolute, function, layout, routine, select, slots, sqrt
from ...constrained.rows.jacobian import row_entry
from ...constrained.rows.measures import measure_between, measure_implicit
from ...constrained.rows.pieces import COUPLING, IMPLICIT
from ...constrained.rows.wrenches import ROW, put_wrenches
from ...dynamics.aba import DOF, LINK
from ...dynamics.steps.joints import joint_angle, turns
from ...dynamics.steps.links import MOVING, move_link, place_link, place_range, put_subspace
from ...spatial.vectors import add, add_scaled, get3, put3, put9
from ..structure.packed import NO_CLUSTER
from .driven import put_link_velocities, put_P
from .planar import put_planar_G, put_planar_g
from .singular import NAN, SINGULAR

# A spin: its axis in the world, and J (n . alpha + r'') less outer torques, if y'' = 0.
SPIN = slots(n=3, torque=1)

# A column s of a cluster: how a link moves with one of the independent velocities.
COLUMN = slots(angular=3, linear=3)
# Rows of constraints; links, and degrees of freedom of the spanning tree; G, K, columns; the
# velocities of all joints, and their accelerations if y'' = 0.
CLOSING = layout(
    rows=("all_rows", ROW),
    registers="registers",
    links=("n_links", LINK),
    dofs=("spanning_nv", DOF),
    Gd="G_size",
    K="K_size",
    columns=("n_columns", COLUMN),
    v="spanning_nv",
    g="spanning_nv",
    spins=("n_spins", SPIN),
    P="P_size",
)


@function
def place_turns(model, q, work):
    """Placements and motion subspaces of all links, after `put_sines`."""
    for t in range(len(model.turns)):
        turn = model.turns[t]
        if turn.cluster == NO_CLUSTER:
            place_range(
                model, turn.first, turn.last + 1, q, work.links, LINK.size, work.dofs, DOF.size
            )
        else:
            cluster = model.clusters[turn.cluster]
            for m in range(cluster.first_member, cluster.first_member + cluster.member_count):
                i = model.members[m].link
                place_range(model, i, i + 1, q, work.links, LINK.size, work.dofs, DOF.size)


@function
def place_members(model, cluster, q, work):
    """Placements of a cluster's links in the axes of its handle, for what needs no others."""
    at = cluster.handle * LINK.size
    put9(work.links, at + LINK.R, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    put3(work.links, at + LINK.p, (0.0, 0.0, 0.0))
    for m in range(cluster.first_member, cluster.first_member + cluster.member_count):
        i = model.members[m].link
        link = model.links[i]
        s, c = 0.0 * q[link.q], 0.0 * q[link.q]
        if turns(link):
            s, c = joint_angle(link, q)
        R, p = place_link(link, i, q, s, c, work.links, LINK.size)
        put_subspace(link, R, p, work.dofs, link.v * DOF.size, DOF.size)


@routine
def close_cluster(model, cluster, q, v, work):
    """G, velocities and bias accelerations of the joints of a cluster whose links are placed."""
    for t in range(cluster.first_y, cluster.first_y + cluster.ny):
        if not cluster.is_driven:
            work.v[model.ys[t]] = v[model.ys[t]]
        work.g[model.ys[t]] = 0.0
    if cluster.is_constant:
        for t in range(cluster.G, cluster.G + cluster.nd * cluster.ny):
            work.Gd[t] = model.coefficients[t]
        put_dependent_velocities(model, cluster, work)
        for d in range(cluster.nd):
            work.g[model.ds[cluster.first_d + d]] = 0.0
    elif cluster.is_planar:
        z, inverse = put_planar_G(model, cluster, work)
        put_dependent_velocities(model, cluster, work)
        put_planar_g(model, cluster, z, inverse, work)
    else:
        put_K(model, cluster, q, work)
        put_G(cluster, work)
        if cluster.is_driven:
            put_P(cluster, work)
            put_link_velocities(model, cluster, v, work)
        put_dependent_velocities(model, cluster, work)
        put_drift(model, cluster, q, work)
        put_g(model, cluster, work)


@function
def close_alone(model, cluster, q, v, work):
    """G, velocities and bias accelerations of a cluster, whose links it places by its handle."""
    if not cluster.is_constant:
        place_members(model, cluster, q, work)
    close_cluster(model, cluster, q, v, work)


@function
def put_K(model, cluster, q, work):
    """K of a cluster, dependent columns first, and a column for the drift."""
    width = cluster.nd + cluster.ny + 1
    for t in range(cluster.row_count * width):
        work.K[t] = 0.0
    for t in range(cluster.first_piece, cluster.first_piece + cluster.piece_count):
        piece = model.loops[model.cluster_pieces[t]]
        put_wrenches(model, piece, q, False, work.links, LINK.size, work)
    for t in range(cluster.row_count):
        row = model.needed[cluster.first_row + t]
        piece = model.loops[row.piece]
        for e in range(row.first_entry, row.first_entry + row.entry_count):
            entry = model.entries[e]
            step = model.loop_steps[entry.step]
            x = row_entry(model, piece, step, row.row, DOF.size, work)
            work.K[t * width + entry.column] = x


@function
def put_dependent_velocities(model, cluster, work):
    """v = G y' of dependent joints."""
    for d in range(cluster.nd):
        at = cluster.G + d * cluster.ny
        x = work.Gd[at] * work.v[model.ys[cluster.first_y]]
        for k in range(1, cluster.ny):
            x = x + work.Gd[at + k] * work.v[model.ys[cluster.first_y + k]]
        work.v[model.ds[cluster.first_d + d]] = x


@function
def put_drift(model, cluster, q, work):
    """dK/dt v, with links that move as if the handle stood still, in the last column of K."""
    at, width, none = cluster.handle * LINK.size, cluster.nd + cluster.ny + 1, (0.0, 0.0, 0.0)
    put3(work.links, at + MOVING.omega, none)
    put3(work.links, at + MOVING.u, none)
    put3(work.links, at + MOVING.alpha, none)
    put3(work.links, at + MOVING.a, none)
    for m in range(cluster.first_member, cluster.first_member + cluster.member_count):
        i = model.members[m].link
        move_link(model.links[i], i, work.v, work.links, LINK.size, work.dofs, DOF.size)
    for t in range(cluster.first_piece, cluster.first_piece + cluster.piece_count):
        piece = model.loops[model.cluster_pieces[t]]
        if piece.kind == IMPLICIT:
            measure_implicit(model, piece, q, work.v, work)
        elif piece.kind == COUPLING:
            work.rows[piece.row * ROW.size + ROW.drift] = 0.0
        else:
            measure_between(model, piece, q, False, work.links, LINK.size, work.rows)
    for t in range(cluster.row_count):
        row = model.needed[cluster.first_row + t]
        work.K[t * width + width - 1] = work.rows[row.row * ROW.size + ROW.drift]


@function
def put_G(cluster, work):
    """Triangular form of Kd, and G = -Kd^-1 Ki."""
    n, width = cluster.nd, cluster.nd + cluster.ny + 1
    for j in range(n):
        reflect_column(work.K, cluster.row_count, width, j, width - 1)
    for k in range(cluster.ny):
        back_substitute(work.K, n, width, n + k)
        for d in range(n):
            work.Gd[cluster.G + d * cluster.ny + k] = -work.K[d * width + n + k]


@function
def put_g(model, cluster, work):
    """g = -Kd^-1 (dK/dt v), with the reflections that made Kd triangular."""
    n, width = cluster.nd, cluster.nd + cluster.ny + 1
    for j in range(n):
        reflect_drift(work.K, cluster.row_count, width, j)
    back_substitute(work.K, n, width, width - 1)
    for d in range(n):
        work.g[model.ds[cluster.first_d + d]] = -work.K[d * width + width - 1]


@function
def reflect_column(K, rows, width, j, end):
    """Reflect rows j and later so that column j is zero below the diagonal.

    The part of the reflection's normal below the diagonal takes the place of the zeros, scaled so
    that the normal is 1 on the diagonal. Of the last of as many rows as columns nothing is below.
    """
    at = j * width + j
    if j + 1 < rows:
        square = K[at] * K[at]
        for t in range(j + 1, rows):
            square = square + K[t * width + j] * K[t * width + j]
        length = sqrt(square)
        diagonal = select(K[at] > 0.0, -length, length)
        scale = 1.0 / (K[at] - diagonal)
        weight = 1.0 - K[at] / diagonal  # 2 / |normal|^2
        for t in range(j + 1, rows):
            K[t * width + j] = K[t * width + j] * scale
        for c in range(j + 1, end):
            x = K[j * width + c]
            for t in range(j + 1, rows):
                x = x + K[t * width + j] * K[t * width + c]
            x = weight * x
            K[j * width + c] = K[j * width + c] - x
            for t in range(j + 1, rows):
                K[t * width + c] = K[t * width + c] - x * K[t * width + j]
        K[at] = diagonal
        is_regular = absolute(diagonal) > SINGULAR
    else:
        is_regular = absolute(K[at]) > SINGULAR
    K[at] = select(is_regular, K[at], NAN)


@function
def reflect_drift(K, rows, width, j):
    """Reflect the last column as `reflect_column` has reflected the others."""
    c = width - 1
    if j + 1 < rows:
        normal, x = 1.0 + 0.0 * K[c], K[j * width + c]
        for t in range(j + 1, rows):
            normal = normal + K[t * width + j] * K[t * width + j]
            x = x + K[t * width + j] * K[t * width + c]
        x = (2.0 / normal) * x
        K[j * width + c] = K[j * width + c] - x
        for t in range(j + 1, rows):
            K[t * width + c] = K[t * width + c] - x * K[t * width + j]


@function
def back_substitute(K, n, width, c):
    """Solve the triangular system for column c, in its place."""
    for d in range(n - 1, -1, -1):
        x = K[d * width + c]
        for e in range(d + 1, n):
            x = x - K[d * width + e] * K[e * width + c]
        K[d * width + c] = x / K[d * width + d]


@function
def put_columns(model, cluster, work):
    """s = sum of S G over the joints between the handle and each link of a cluster."""
    for m in range(cluster.member_count):
        member = model.members[cluster.first_member + m]
        link = model.links[member.link]
        for k in range(cluster.ny):
            at = (cluster.columns + m * cluster.ny + k) * COLUMN.size
            put_column(model, cluster, member, link, k, at, work)


@function
def put_column(model, cluster, member, link, k, at, work):
    """How a link moves with y_k': as what carries it, and by its own joint."""
    angular, linear = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if member.carrier >= 0:
        before = cluster.columns + (member.carrier - cluster.first_member) * cluster.ny + k
        angular = get3(work.columns, before * COLUMN.size + COLUMN.angular)
        linear = get3(work.columns, before * COLUMN.size + COLUMN.linear)
    for d in range(link.nv):
        dof, local = (link.v + d) * DOF.size, member.local + d
        S_angular, S_linear = get3(work.dofs, dof + DOF.angular), get3(work.dofs, dof + DOF.linear)
        if local == k:
            angular, linear = add(angular, S_angular), add(linear, S_linear)
        elif local >= cluster.ny:
            x = work.Gd[cluster.G + (local - cluster.ny) * cluster.ny + k]
            angular, linear = add_scaled(angular, x, S_angular), add_scaled(linear, x, S_linear)
    put3(work.columns, at + COLUMN.angular, angular)
    put3(work.columns, at + COLUMN.linear, linear)
