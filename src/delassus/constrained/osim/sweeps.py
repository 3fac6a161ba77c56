"""Products with the Delassus matrix and with its damped inverse, without either. O(n + m).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithms 1 to 3, of
which these are the parts: what a state leaves fixed (`place_links`), what depends on the springs
along rows (`factor_links`), and forces and motions that pass through the joints (`apply_factor`).
With springs of stiffness W, which may be zero, the last gives J (M + J^T W J)^-1 J^T x. The rest is
the matrix inversion lemma (see `caba_osim`) and a step of refinement, as stiff springs round off
the inertia that moves along with them.

Only links that carry ends are kept, in two flat arrays a state: a geometry and a factor.
"""

from __future__ import annotations

from ...compile import clear, function, kernel, part, slots
from ...dynamics.aba import DOF, LINK
from ...dynamics.articulated import articulate
from ..articulated_rows import articulate_others, links_end, links_work, start_supports
from ..caba_iterations import CHANGE, add_motions, clear_world, move, pass_forces, put_pulls
from ..elimination import ArticulatedArrays, eliminate
from ..free_root import factorize_root
from ..packed import DIMENSIONS, Paths
from ..pulls import BLOCK, PULL, articulate_coupled, stiffen
from ..rows import count_rows, rows_end, rows_work
from .blocks import place

# A link's place and inertia with all that it carries and nothing pulls at; its place alone. They
# stand together in the record of a link, from where the placement's rotation was.
LOOSE = slots(H=9, p=3, A=6, M=6)
SUBSPACE = 6
# A solution, and its refinement.
TURNS = 2


class OperatorArrays(ArticulatedArrays):
    """The arrays of elimination, for kernels that keep what they find."""

    __slots__ = ()
    dimensions = (*DIMENSIONS, "geometry", "factor")


def pack_operator(found: Paths) -> OperatorArrays:
    """The arrays of rows and of their elimination."""
    return OperatorArrays(*found.rows, *eliminate(found).arrays.values())


def sizes(found: Paths, dimensions: dict[str, int]) -> dict[str, int]:
    """How many numbers a state's geometry and factor have, where other extents are known."""
    supports = eliminate(found).arrays["supports"]["link"]
    dofs = int(found.arrays.links["nv"][supports].sum())
    count, rows = len(supports), rows_work(dimensions)
    return {
        "geometry": count * LOOSE.size + dofs * SUBSPACE + rows,
        "factor": count * 3 + dofs * DOF.size + rows + dimensions["pulls"] * PULL.size,
    }


# --- what a state leaves fixed --------------------------------------------------------------------


@kernel(
    OperatorArrays,
    inputs={"q": "nq"},
    outputs={"geometry": "geometry"},
    work=lambda n: links_work(n) + rows_work(n),
    label="geometry of a Delassus operator",
)
def place_links(model, q, geometry, work):
    """Inertias that no constraint pulls at, motion subspaces, and wrenches of rows"""
    dofs = links_end(model)
    rows = part(work, dofs + len(model.armature) * DOF.size)
    place(model, q, rows, work, dofs)
    articulate_others(model, work, dofs)
    start_supports(model, work)
    at = 0
    for t in range(len(model.supports)):
        at = copy(work, model.supports[t].link * LINK.size, geometry, at, LOOSE.size)
    for t in range(len(model.supports)):
        link = model.links[model.supports[t].link]
        for k in range(link.v, link.v + link.nv):
            at = copy(work, dofs + k * DOF.size, geometry, at, SUBSPACE)
    copy(rows, 0, geometry, at, rows_end(model))


@function
def copy(source, start, target, at, count):
    """Copy some numbers; return where the next go."""
    for k in range(count):
        target[at + k] = source[start + k]
    return at + count


# --- what depends on springs ----------------------------------------------------------------------


@kernel(
    OperatorArrays,
    inputs={"geometry": "geometry", "weights": "m common"},
    outputs={"factor": "factor"},
    work=lambda n: (
        links_work(n) + rows_work(n) + n["pulls"] * PULL.size + n["cross_blocks"] * BLOCK
    ),
    label="factor of a Delassus operator",
)
def factor_links(model, geometry, weights, factor, work):
    """Articulated inertias with springs, projected through the joints"""
    dofs = links_end(model)
    rows = part(work, dofs + len(model.armature) * DOF.size)
    pulls = part(rows, rows_end(model))
    blocks = part(pulls, model.counts[1] * PULL.size)
    read_geometry(model, geometry, rows, work, dofs)
    for t in range(len(model.ends)):
        stiffen(model, model.ends[t], weights, rows, work, dofs)
    for t in range(len(model.supports)):
        turn = model.supports[t]
        if turn.is_free:
            at, dof = turn.link * LINK.size, dofs + model.links[turn.link].v * DOF.size
            factorize_root(at, work, dof)
        elif turn.neighbours == 0:
            articulate(model, turn.link, False, work, LINK.size, dofs, DOF.size)
        else:
            articulate_coupled(model, turn, False, weights, pulls, blocks, rows, work, dofs)
    write_factor(model, factor, rows, pulls, work, dofs)


@function
def read_geometry(model, geometry, rows, work, dofs):
    """Put everything where sweeps look for it."""
    at = 0
    for t in range(len(model.supports)):
        copy(geometry, at, work, model.supports[t].link * LINK.size, LOOSE.size)
        at = at + LOOSE.size
    for t in range(len(model.supports)):
        link = model.links[model.supports[t].link]
        for k in range(link.v, link.v + link.nv):
            copy(geometry, at, work, dofs + k * DOF.size, SUBSPACE)
            at = at + SUBSPACE
    copy(geometry, at, rows, 0, rows_end(model))


@function
def write_factor(model, factor, rows, pulls, work, dofs):
    """Places of links, all of the joints' degrees of freedom, rows, and pulls at neighbours."""
    at = 0
    for t in range(len(model.supports)):
        at = copy(work, model.supports[t].link * LINK.size + LINK.p, factor, at, 3)
    for t in range(len(model.supports)):
        link = model.links[model.supports[t].link]
        for k in range(link.v, link.v + link.nv):
            at = copy(work, dofs + k * DOF.size, factor, at, DOF.size - 1)
            factor[at] = 0.0
            at = at + 1
    at = copy(rows, 0, factor, at, rows_end(model))
    copy(pulls, 0, factor, at, model.counts[1] * PULL.size)


@function
def read_factor(model, factor, rows, pulls, work, dofs):
    """Put everything where sweeps look for it."""
    at = 0
    for t in range(len(model.supports)):
        copy(factor, at, work, model.supports[t].link * LINK.size + LINK.p, 3)
        at = at + 3
    for t in range(len(model.supports)):
        link = model.links[model.supports[t].link]
        for k in range(link.v, link.v + link.nv):
            copy(factor, at, work, dofs + k * DOF.size, DOF.size)
            at = at + DOF.size
    copy(factor, at, rows, 0, rows_end(model))
    copy(factor, at + rows_end(model), pulls, 0, model.counts[1] * PULL.size)


# --- products -------------------------------------------------------------------------------------


def _product_work(n: dict[str, int]) -> int:
    return links_work(n) + rows_work(n) + n["pulls"] * PULL.size + n["nv"]


@kernel(
    OperatorArrays,
    inputs={"loose": "factor", "x": "m"},
    outputs={"y": "m"},
    work=_product_work,
    label="product with a Delassus operator",
)
def multiply_links(model, loose, x, y, work):
    """y = J M^-1 J^T x"""
    dofs = links_end(model)
    joints = part(work, dofs + len(model.armature) * DOF.size)
    rows = part(joints, len(model.armature))
    pulls = part(rows, rows_end(model))
    read_factor(model, loose, rows, pulls, work, dofs)
    clear_world(model, work)
    clear(y, count_rows(model))
    subtract_motions(model, x, y, pulls, joints, rows, work, dofs)
    for t in range(count_rows(model)):
        y[t] = -y[t]


@function
def subtract_motions(model, x, y, pulls, joints, rows, work, dofs):
    """y - J (M + J^T W J)^-1 J^T x, with W that of the factor."""
    put_pulls(model, x, False, rows, work, dofs)
    pass_forces(model, 0, len(model.steps), x, False, True, pulls, joints, work, dofs)
    move(model, True, pulls, joints, work, dofs)
    add_motions(model, CHANGE.alpha, y, rows, work, dofs)


@kernel(
    OperatorArrays,
    inputs={"loose": "factor", "stiff": "factor", "damping": "m common", "x": "m"},
    outputs={"y": "m"},
    work=lambda n: (
        _product_work(n) + n["nv"] * DOF.size + rows_work(n) + n["pulls"] * PULL.size + 2 * n["m"]
    ),
    label="solution with a Delassus operator",
)
def solve_links(model, loose, stiff, damping, x, y, work):
    """(J M^-1 J^T + damping) y = x"""
    m, nv, dofs = count_rows(model), len(model.armature), links_end(model)
    stiff_dofs = dofs + nv * DOF.size
    joints = part(work, stiff_dofs + nv * DOF.size)
    rows = part(joints, nv)
    pulls = part(rows, rows_end(model))
    stiff_rows = part(pulls, model.counts[1] * PULL.size)
    stiff_pulls = part(stiff_rows, rows_end(model))
    r = part(stiff_pulls, model.counts[1] * PULL.size)
    tension = part(r, m)
    read_factor(model, loose, rows, pulls, work, dofs)
    read_factor(model, stiff, stiff_rows, stiff_pulls, work, stiff_dofs)
    clear_world(model, work)
    for t in range(m):
        y[t] = 0.0 * x[t]
        r[t] = x[t]
    for turn in range(TURNS):
        if turn > 0:
            for t in range(m):
                r[t] = x[t] - damping[t] * y[t]
            subtract_motions(model, y, r, pulls, joints, rows, work, dofs)
        for t in range(m):
            tension[t] = r[t] / damping[t]
        subtract_motions(model, tension, r, stiff_pulls, joints, stiff_rows, work, stiff_dofs)
        for t in range(m):
            y[t] = y[t] + r[t] / damping[t]
