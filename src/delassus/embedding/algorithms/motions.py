"""G and g of all joints, and Newton steps that close the loops, as kernels of their own."""

from __future__ import annotations

from ...compile import absolute, function, kernel, maximum
from ...constrained.rows.measures import measure_between, measure_coupling, measure_implicit
from ...constrained.rows.pieces import COUPLING, IMPLICIT
from ...constrained.rows.wrenches import ROW
from ...dynamics.aba import LINK
from ..steps.closing import CLOSING, close_alone, place_members, put_G, put_g, put_K
from ..steps.driven import put_P
from ..structure.packed import EmbeddedArrays


@kernel(
    EmbeddedArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"G": "spanning_nv nv", "g": "spanning_nv"},
    work=CLOSING,
    label="motions of clusters",
)
def cluster_motions(model, q, v, G, g, work):
    """G(q) and g(q, y') of the joints of clusters, zero for all others."""
    nv = len(model.independent)
    for c in range(len(model.clusters)):
        close_alone(model, model.clusters[c], q, v, work)
    for k in range(len(model.armature)):
        g[k] = 0.0
    for c in range(len(model.clusters)):
        cluster = model.clusters[c]
        if cluster.is_driven:
            put_links_by_motors(model, cluster, nv, G, g, work)
        else:
            for d in range(cluster.nd):
                own = model.ds[cluster.first_d + d]
                g[model.outer[own]] = work.g[own]
                for k in range(cluster.ny):
                    at = model.outer[own] * nv + model.ys[cluster.first_y + k]
                    G[at] = work.Gd[cluster.G + d * cluster.ny + k]


@function
def put_links_by_motors(model, cluster, nv, G, g, work):
    """P, and what links accelerate by if motors do not, of a cluster that motors drive."""
    n = cluster.ny
    for k in range(n):
        link = model.outer[model.ys[cluster.first_y + k]]
        x = 0.0 * work.P[cluster.P]
        for d in range(n):
            own, c = model.ds[cluster.first_d + d], work.P[cluster.P + k * n + d]
            G[link * nv + own] = c
            x = x - c * work.g[own]
        g[link] = x


@kernel(
    EmbeddedArrays,
    inputs={"q": "nq"},
    outputs={"step": "spanning_nv", "error": ""},
    work=CLOSING,
    label="closing of clusters",
)
def closing_steps(model, q, step, error, work):
    """Newton's step of dependent joints to a closed configuration, and the largest error."""
    for k in range(len(model.armature)):
        step[k] = 0.0
    worst = 0.0 * q[0]
    for c in range(len(model.clusters)):
        cluster = model.clusters[c]
        if not cluster.is_constant:
            place_members(model, cluster, q, work)
            put_K(model, cluster, q, work)
            put_G(cluster, work)
            worst = maximum(worst, put_errors(model, cluster, q, work))
            put_g(model, cluster, work)
            put_step(model, cluster, step, work)
    error[0] = worst


@function
def put_step(model, cluster, step, work):
    """Newton's step of dependent joints, or of links, less P times what motors would have to do."""
    n = cluster.ny
    if cluster.is_driven:
        put_P(cluster, work)
        for k in range(n):
            x = 0.0 * work.P[cluster.P]
            for d in range(n):
                c = work.P[cluster.P + k * n + d]
                x = x - c * work.g[model.ds[cluster.first_d + d]]
            step[model.outer[model.ys[cluster.first_y + k]]] = x
    else:
        for d in range(cluster.nd):
            own = model.ds[cluster.first_d + d]
            step[model.outer[own]] = work.g[own]


@function
def put_errors(model, cluster, q, work):
    """The errors of a cluster's rows, in the last column of K; returns the largest."""
    width = cluster.nd + cluster.ny + 1
    for d in range(cluster.nd):
        work.v[model.ds[cluster.first_d + d]] = 0.0
    for t in range(cluster.first_y, cluster.first_y + cluster.ny):
        work.v[model.ys[t]] = 0.0
    for t in range(cluster.first_piece, cluster.first_piece + cluster.piece_count):
        piece = model.loops[model.cluster_pieces[t]]
        if piece.kind == IMPLICIT:
            measure_implicit(model, piece, q, work.v, work)
        elif piece.kind == COUPLING:
            measure_coupling(model, piece, q, work.v, work.rows)
        else:
            measure_between(model, piece, q, True, work.links, LINK.size, work.rows)
    worst = 0.0 * q[0]
    for t in range(cluster.row_count):
        row = model.needed[cluster.first_row + t]
        x = work.rows[row.row * ROW.size + ROW.error]
        work.K[t * width + width - 1] = x
        worst = maximum(worst, absolute(x))
    return worst
