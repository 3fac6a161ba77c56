"""Clusters whose independent coordinates are those of motors, as of differentials.

The motors are spins (see `structure.spins`), and the links form a tree. Sweeps then take the links'
rates x as if they were independent, with G of the motors, m' = G x. What is given and asked for is
of the motors: x = P m' with P = G^-1, the links' forces are G^T tau, and m'' = G x' + g.
"""

from __future__ import annotations

from ...compile import absolute, function, select
from .singular import NAN, SINGULAR


@function
def put_P(cluster, work):
    """P = G^-1, of one or two motors."""
    G, P = cluster.G, cluster.P
    if cluster.ny == 1:
        work.P[P] = 1.0 / work.Gd[G]
    else:
        a, b, c, d = work.Gd[G], work.Gd[G + 1], work.Gd[G + 2], work.Gd[G + 3]
        x = a * d - b * c
        is_regular = absolute(x) > SINGULAR * (absolute(a * d) + absolute(b * c))
        x = 1.0 / select(is_regular, x, NAN)
        work.P[P] = x * d
        work.P[P + 1] = -(x * b)
        work.P[P + 2] = -(x * c)
        work.P[P + 3] = x * a


@function
def put_link_velocities(model, cluster, v, work):
    """x = P m'"""
    n = cluster.ny
    for k in range(n):
        x = work.P[cluster.P + k * n] * v[model.ds[cluster.first_d]]
        for d in range(1, n):
            x = x + work.P[cluster.P + k * n + d] * v[model.ds[cluster.first_d + d]]
        work.v[model.ys[cluster.first_y + k]] = x


@function
def force_on(model, cluster, k, tau, work):
    """The force along y_k: that of a joint, or G^T tau of motors."""
    if cluster.is_driven:
        x = 0.0 * tau[0]
        for d in range(cluster.nd):
            x = x + work.Gd[cluster.G + d * cluster.ny + k] * tau[model.ds[cluster.first_d + d]]
    else:
        x = tau[model.ys[cluster.first_y + k]]
    return x
