"""Forward dynamics of a model with clusters, by the articulated-body algorithm. O(n).

Chignoli, Adrian, Kim and Wensing, 2024, Algorithm 1 (see `structure.graph`); links that are no part
of a cluster go through the sweeps of the tree (see `dynamics.aba`). As there, all that does not
depend on the unknown accelerations is first turned into the force of a motion, here the one with
y'' = 0.
"""

from __future__ import annotations

from ...compile import function, kernel, layout, routine
from ...dynamics.aba import (
    DOF,
    FORCE,
    LINK,
    MOTION,
    accelerate,
    pass_forces,
    put_bias_motions,
    put_rigid_bodies,
)
from ...dynamics.steps.articulated import articulate_range
from ...dynamics.steps.links import put_sines
from ...dynamics.steps.points import place_world
from ...spatial.vectors import put3
from ..steps.closing import CLOSING, close_cluster, place_turns, put_columns
from ..steps.elimination import (
    accelerate_cluster,
    articulate_cluster,
    pass_cluster_forces,
    put_member_bias,
    put_spins,
)
from ..steps.gears import articulate_motors, put_motor_forces
from ..structure.packed import NO_CLUSTER, EmbeddedArrays

WORK = layout(CLOSING, forces=("n_links", FORCE), factor="factor_size", tau="nv")


@kernel(
    EmbeddedArrays,
    inputs={"q": "nq", "v": "nv", "tau": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"a": "nv"},
    work=WORK,
    label="forward_dynamics with clusters",
)
def embedded_aba(model, q, v, tau, external_forces, a, work):
    """y'' = (G^T M G)^-1 (tau - G^T (M g + b) + sum of (J G)^T f_ext)"""
    start(model, q, v, tau, external_forces, work)
    eliminate(model, tau, work)
    move(model, a, work)


@function
def start(model, q, v, tau, external_forces, work):
    """Places of links, G and g of clusters, and the forces of motions with y'' = 0."""
    place_world(work.links)
    put_sines(model, q, work.dofs, DOF.size)
    place_turns(model, q, work)
    for c in range(len(model.clusters)):
        close_cluster(model, model.clusters[c], q, v, work)
    put_bias(model, q, v, tau, external_forces, work)


@routine
def eliminate(model, tau, work):
    """Articulated inertias and forces, inwards."""
    for t in range(len(model.turns) - 1, -1, -1):
        turn = model.turns[t]
        if turn.has_motors:
            articulate_motors(model, turn.first, turn.last, work)
            pass_forces(model, turn.first, turn.last, work.tau, work)
        elif turn.cluster == NO_CLUSTER:
            articulate_range(
                model, turn.first, turn.last + 1, work.links, LINK.size, work.dofs, DOF.size
            )
            pass_forces(model, turn.first, turn.last, tau, work)
        else:
            put_columns(model, model.clusters[turn.cluster], work)
            articulate_cluster(model, model.clusters[turn.cluster], work)
            pass_cluster_forces(model, model.clusters[turn.cluster], tau, work)


@routine
def move(model, a, work):
    """Accelerations y'', and those of links beyond their motions with y'' = 0, outwards."""
    put3(work.links, MOTION.alpha, (0.0, 0.0, 0.0))
    put3(work.links, MOTION.a, (0.0, 0.0, 0.0))
    for t in range(len(model.turns)):
        turn = model.turns[t]
        if turn.cluster == NO_CLUSTER:
            accelerate(model, turn.first, turn.last, a, work)
        else:
            accelerate_cluster(model, model.clusters[turn.cluster], a, work)


@function
def put_bias(model, q, v, tau, external_forces, work):
    """Motions of all links with y'' = 0, gravity included, and the forces that these take."""
    links = work.links
    put3(links, MOTION.omega, (0.0, 0.0, 0.0))
    put3(links, MOTION.alpha, (0.0, 0.0, 0.0))
    put3(links, MOTION.a, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    for t in range(len(model.turns)):
        turn = model.turns[t]
        if turn.cluster == NO_CLUSTER:
            put_bias_motions(model, turn.first, turn.last + 1, v, links)
            put_rigid_bodies(model, turn.first, turn.last + 1, external_forces, work)
            if turn.has_motors:
                put_motor_forces(model, turn.first, turn.last, q, tau, external_forces, work)
        else:
            cluster = model.clusters[turn.cluster]
            put_member_bias(model, cluster, work)
            for m in range(cluster.first_member, cluster.first_member + cluster.member_count):
                i = model.members[m].link
                put_rigid_bodies(model, i, i + 1, external_forces, work)
            put_spins(model, cluster, q, external_forces, work)
