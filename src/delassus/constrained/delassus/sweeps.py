"""Products with the Delassus matrix and with its damped inverse, without the matrix. O(n + m).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithms 1 and 2,
in parts, as functions on the work memory of any kernel. W is the stiffness of springs along rows:

| paper | here | what |
| --- | --- | --- |
| Algorithm 1, lines 1 to 4, without forces | `place_links` | inertias, subspaces, wrenches |
| Algorithm 1, line 5 left, 6, 7, 9 | `factor_links` | articulated inertias with springs W |
| Algorithm 2 | `subtract_motions` | y - J (M + J^T W J)^-1 J^T x |
| | `multiply` | y = J M^-1 J^T x, by Algorithm 2 with W = 0 |
| Eq. (40), times a vector | `solve` | (J M^-1 J^T + mu) y = x |

`solve` uses two factors, with W = 0 and with W = 1 / mu. Stiff springs round off the inertia that
moves along with them, so a second round solves for what is left of x after the first.

Kernels with names that end in `_operator` do this for arrays that a user's operator keeps between
calls: a geometry, and factors. These have data of links that support constraints only.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ...compile import FLOAT64, Layout, clear, function, kernel, layout, part
from ...dynamics.aba import DOF, LINK
from ...dynamics.steps.articulated import INERTIA, articulate
from ...dynamics.steps.links import SUBSPACE
from ...model.packed import INDEX
from ..recursion.couplings import BLOCKS, PULL, PULLS, articulate_coupled
from ..recursion.free_root import factorize_root
from ..recursion.links import RECURSION, articulate_others, start_supports
from ..recursion.plan import ArticulatedArrays
from ..recursion.springs import stiffen
from ..recursion.sweeps import CHANGE, add_motions, clear_world, move, pass_forces, put_pulls
from ..rows.packed import DIMENSIONS
from ..rows.wrenches import ROWS, count_rows
from .blocks import place

# Rounds of `solve`: a solution, and its refinement.
TURNS = 2
# Work memory of sweeps with one factor.
OPERATOR = layout(RECURSION, PULLS, BLOCKS, joints="nv")
# A second factor of the same links and rows.
OTHER_FACTOR = layout(dofs=("nv", DOF), pulls=("pulls", PULL))

# A geometry, which an operator keeps: rows; for links that support constraints, the inertia with
# all that they carry and that supports none; motion subspaces of their joints.
GEOMETRY = layout(ROWS, inertias=("supports", INERTIA), subspaces=("support_dofs", SUBSPACE))
# A factor, which an operator keeps: rows; for links that support constraints, their positions, the
# records of their joints, and pulls at neighbours.
FACTOR = layout(ROWS, positions=("supports", 3), dofs=("support_dofs", DOF), pulls=("pulls", PULL))
_Geometry, _Factor = GEOMETRY.Parts, FACTOR.Parts


def starts_and_end(kept: Layout, known: dict[str, int]) -> np.ndarray:
    """Where the parts of an array with this layout start, and where the last one ends."""
    return np.array([*kept.starts(known), kept.size(known)], INDEX)


class OperatorArrays(
    namedtuple("OperatorArrays", (*ArticulatedArrays._fields, "geometry_starts", "factor_starts"))
):
    """The arrays of elimination, and where the parts of a geometry and of a factor start.

    See `recursion.plan`, GEOMETRY and FACTOR.
    """

    __slots__ = ()
    dimensions = (*DIMENSIONS, "geometry", "factor")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*ArticulatedArrays.array_types(real), INDEX, INDEX)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> OperatorArrays:
        """The arrays of rows, of their elimination and of these starts, in one precision."""
        known = {**constraints.dimensions, **cls.sizes(constraints)}
        starts = (starts_and_end(x, known) for x in (GEOMETRY, FACTOR))
        return cls(*ArticulatedArrays.pack(constraints, real), *starts)

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory, and how many numbers a geometry and a factor have."""
        arrays = ArticulatedArrays.pack(constraints, FLOAT64)
        dofs = int(arrays.links["nv"][arrays.supports["link"]].sum())
        known = ArticulatedArrays.sizes(constraints) | {"support_dofs": dofs}
        all_known = {**constraints.dimensions, **known}
        return known | {"geometry": GEOMETRY.size(all_known), "factor": FACTOR.size(all_known)}


# --- functions on work memory ---------------------------------------------------------------------


class Sweep(NamedTuple):
    """The work memory of `recursion.sweeps`, with one of several factors of the same rows."""

    rows: np.ndarray
    registers: np.ndarray
    links: np.ndarray
    forces: np.ndarray
    joints: np.ndarray
    dofs: np.ndarray
    pulls: np.ndarray
    blocks: np.ndarray


@function
def sweep_with(factor, work):
    """Work memory with the dofs and pulls of another factor, of layout OTHER_FACTOR."""
    return Sweep(
        work.rows,
        work.registers,
        work.links,
        work.forces,
        work.joints,
        factor.dofs,
        factor.pulls,
        work.blocks,
    )


@function
def place_links(model, q, work):
    """Inertias without springs, motion subspaces, and wrenches of rows."""
    place(model, q, work)
    articulate_others(model, work)
    start_supports(model, work)


@function
def factor_links(model, weights, work):
    """Articulated inertias with springs of stiffness `weights`; D and G of all joints.

    They take the place of the inertias that `place_links` has found.
    """
    for t in range(len(model.ends)):
        stiffen(model, model.ends[t], weights, work)
    for t in range(len(model.supports)):
        turn = model.supports[t]
        i = turn.link
        if turn.is_free:
            factorize_root(i * LINK.size, work.links, model.links[i].v * DOF.size, work.dofs)
        elif turn.neighbours == 0:
            articulate(model, i, False, work.links, LINK.size, work.dofs, DOF.size)
        else:
            articulate_coupled(model, turn, False, weights, work)


@function
def subtract_motions(model, x, y, work):
    """y <- y - J (M + J^T W J)^-1 J^T x, with the factor for stiffness W in `work`"""
    put_pulls(model, x, False, work)
    pass_forces(model, 0, len(model.steps), x, False, True, work)
    move(model, True, True, work)
    add_motions(model, CHANGE.alpha, y, work)


@function
def multiply(model, x, y, work):
    """y = J M^-1 J^T x, with the factor without springs in `work`"""
    clear_world(model, work)
    clear(y, count_rows(model))
    subtract_motions(model, x, y, work)
    for t in range(count_rows(model)):
        y[t] = -y[t]


@function
def solve(model, damping, x, y, work):
    """(J M^-1 J^T + damping) y = x

    `work` has the factor without springs, work.stiff that with springs of stiffness 1 / damping.
    """
    m, r, tension, stiff = count_rows(model), work.r, work.tension, sweep_with(work.stiff, work)
    clear_world(model, work)
    for t in range(m):
        y[t] = 0.0 * x[t]
        r[t] = x[t]
    for turn in range(TURNS):
        if turn > 0:
            for t in range(m):
                r[t] = x[t] - damping[t] * y[t]
            subtract_motions(model, y, r, work)
        for t in range(m):
            tension[t] = r[t] / damping[t]
        subtract_motions(model, tension, r, stiff)
        for t in range(m):
            y[t] = y[t] + r[t] / damping[t]


# --- what a user's operator keeps -----------------------------------------------------------------


@kernel(
    OperatorArrays,
    inputs={"q": "nq"},
    outputs={"geometry": "geometry"},
    work=OPERATOR,
    label="geometry of a Delassus operator",
)
def place_operator(model, q, geometry, work):
    """Inertias without springs, motion subspaces, and wrenches of rows"""
    place_links(model, q, work)
    kept, at = geometry_parts(model, geometry), 0
    copy_rows(model.geometry_starts, work.rows, work.registers, kept.rows, kept.registers)
    for t in range(len(model.supports)):
        i = model.supports[t].link
        copy(work.links, i * LINK.size, kept.inertias, t * INERTIA.size, INERTIA.size)
        for k in range(model.links[i].v, model.links[i].v + model.links[i].nv):
            copy(work.dofs, k * DOF.size, kept.subspaces, at, SUBSPACE.size)
            at = at + SUBSPACE.size


@function
def geometry_parts(model, geometry):
    """The parts of a geometry."""
    s = model.geometry_starts
    return _Geometry(
        part(geometry, s[0]), part(geometry, s[1]), part(geometry, s[2]), part(geometry, s[3])
    )


@function
def factor_parts(model, factor):
    """The parts of a factor."""
    s = model.factor_starts
    return _Factor(
        part(factor, s[0]),
        part(factor, s[1]),
        part(factor, s[2]),
        part(factor, s[3]),
        part(factor, s[4]),
    )


@function
def copy(source, start, target, at, count):
    """Copy `count` numbers from source[start] on to target[at] on."""
    for k in range(count):
        target[at + k] = source[start + k]


@function
def copy_rows(starts, rows, registers, to_rows, to_registers):
    """Copy all rows, and the registers of recorded functions: the first two parts of an array."""
    copy(rows, 0, to_rows, 0, starts[1] - starts[0])
    copy(registers, 0, to_registers, 0, starts[2] - starts[1])


@function
def copy_pulls(starts, pulls, to):
    """Copy all pulls at neighbours: the last part of a factor."""
    copy(pulls, 0, to, 0, starts[5] - starts[4])


@function
def read_links(model, geometry, work):
    """Copy inertias of links and subspaces of joints to the work memory of sweeps."""
    at = 0
    for t in range(len(model.supports)):
        i = model.supports[t].link
        copy(geometry.inertias, t * INERTIA.size, work.links, i * LINK.size, INERTIA.size)
        for k in range(model.links[i].v, model.links[i].v + model.links[i].nv):
            copy(geometry.subspaces, at, work.dofs, k * DOF.size, SUBSPACE.size)
            at = at + SUBSPACE.size


@kernel(
    OperatorArrays,
    inputs={"geometry": "geometry", "weights": "m common"},
    outputs={"factor": "factor"},
    work=OPERATOR,
    label="factor of a Delassus operator",
)
def factor_operator(model, geometry, weights, factor, work):
    """Articulated inertias with springs; D and G of all joints"""
    given, kept, at = geometry_parts(model, geometry), factor_parts(model, factor), 0
    copy_rows(model.geometry_starts, given.rows, given.registers, work.rows, work.registers)
    read_links(model, given, work)
    factor_links(model, weights, work)
    copy_rows(model.geometry_starts, work.rows, work.registers, kept.rows, kept.registers)
    copy_pulls(model.factor_starts, work.pulls, kept.pulls)
    for t in range(len(model.supports)):
        i = model.supports[t].link
        copy(work.links, i * LINK.size + LINK.p, kept.positions, 3 * t, 3)
        for k in range(model.links[i].v, model.links[i].v + model.links[i].nv):
            copy(work.dofs, k * DOF.size, kept.dofs, at, DOF.size - 1)
            kept.dofs[at + DOF.u] = 0.0
            at = at + DOF.size


@function
def read_factor(model, factor, dofs, pulls, work):
    """Copy a factor to the work memory of sweeps: positions of links, joints, pulls."""
    given, at = factor_parts(model, factor), 0
    copy_pulls(model.factor_starts, given.pulls, pulls)
    for t in range(len(model.supports)):
        i = model.supports[t].link
        copy(given.positions, 3 * t, work.links, i * LINK.size + LINK.p, 3)
        for k in range(model.links[i].v, model.links[i].v + model.links[i].nv):
            copy(given.dofs, at, dofs, k * DOF.size, DOF.size)
            at = at + DOF.size


@kernel(
    OperatorArrays,
    inputs={"loose": "factor", "x": "m"},
    outputs={"y": "m"},
    work=OPERATOR,
    label="product with a Delassus operator",
)
def multiply_operator(model, loose, x, y, work):
    """y = J M^-1 J^T x"""
    given = factor_parts(model, loose)
    copy_rows(model.geometry_starts, given.rows, given.registers, work.rows, work.registers)
    read_factor(model, loose, work.dofs, work.pulls, work)
    multiply(model, x, y, work)


@kernel(
    OperatorArrays,
    inputs={"loose": "factor", "stiff": "factor", "damping": "m common", "x": "m"},
    outputs={"y": "m"},
    work=layout(OPERATOR, stiff=OTHER_FACTOR, r="m", tension="m"),
    label="solution with a Delassus operator",
)
def solve_operator(model, loose, stiff, damping, x, y, work):
    """(J M^-1 J^T + damping) y = x"""
    given = factor_parts(model, loose)
    copy_rows(model.geometry_starts, given.rows, given.registers, work.rows, work.registers)
    read_factor(model, stiff, work.stiff.dofs, work.stiff.pulls, work)
    read_factor(model, loose, work.dofs, work.pulls, work)
    solve(model, damping, x, y, work)
