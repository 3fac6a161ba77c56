"""Bodies whose joints are not eliminated: D = J M^-1 J^T with M of one block for each body.

Each body moves by its own inertia alone, so the velocity of an element and the effect of an impulse
along it take a time that does not depend on the number of bodies. Gauss-Seidel methods work so,
over joint and cone rows alike. All bodies need an inertia that is definite.

| symbol | here | what |
| --- | --- | --- |
| M^-1 | `inverses` | 36 numbers of each body by position, zero where M is not definite |
| u | `u` | six velocities of each body by position |
| J_k, lambda_k | `element`, `J`, `change` | an element of rows, and a change of its impulses |

Places of cones start with the front: for them, give `part` of `inverses` and of `u` from there on.
"""

from __future__ import annotations

from ...compile import clear, function, part
from ...spatial.vectors import get6, put6
from .blocks import Block, add_product, add_scaled6, dot6, factor_block, get_row
from .elements import place_of, row_velocity
from .order import BLOCK_SIZE

# A pivot below this part of its diagonal entry of M counts as zero.
LEAST_PIVOT = 1e-10


@function
def invert_inertias(model, M, inverses, factor):
    """M^-1 of all bodies; zero where M is not definite. `factor` has room for a block."""
    for i in range(len(model.places)):
        at = BLOCK_SIZE * model.places[i].position
        clear(part(inverses, at), BLOCK_SIZE)
        if is_definite(Block(M, BLOCK_SIZE * i, 6), factor):
            invert_block(Block(factor, 0, 6), Block(inverses, at, 6))


@function
def is_definite(M, factor):
    """Whether a body's inertia is definite; `factor` gets its Cholesky factor."""
    for r in range(6):
        put6(factor, 6 * r, get_row(M, r))
    factor_block(Block(factor, 0, 6))
    definite = True
    for r in range(6):
        inverse, given = factor[7 * r], M.numbers[M.at + r * (M.pitch + 1)]
        # Written so that NaN, which a negative pivot leaves, fails the test.
        if not (given > 0.0 and inverse * inverse * given * LEAST_PIVOT < 1.0):
            definite = False
    return definite


@function
def invert_block(U, inverse):
    """U^-1 U^-T in the place of `inverse`, which is zero; U from `factor_block` is spoilt"""
    for r in range(6):  # a copy of U^-T, column by column, below the diagonal of U
        for i in range(r + 1, 6):
            s = U.numbers[U.at + r * U.pitch + i] * U.numbers[U.at + r * (U.pitch + 1)]
            for k in range(r + 1, i):
                kept = U.numbers[U.at + k * U.pitch + r]
                s = s + U.numbers[U.at + k * U.pitch + i] * kept
            U.numbers[U.at + i * U.pitch + r] = -s * U.numbers[U.at + i * (U.pitch + 1)]
    for i in range(6):
        for r in range(i):
            U.numbers[U.at + r * U.pitch + i] = 0.0
    add_product(inverse, 1.0, U, U, 6)


@function
def row_scales(element, J, r, inverses):
    """Row r of an element in the diagonal of J M^-1 J^T, and what the heaviest body has of it.

    Both are scales for the damping of joint rows. Bodies without an inverse are left out; if no
    body is left, both are 0.
    """
    total, least = 0.0, 0.0
    for e in range(element.count):
        row = get6(J, element.jacobian + 6 * (element.height * e + r))
        share = dot6(row, moved(inverses, place_of(element, e), row))
        total = total + share
        if share > 0.0 and (least == 0.0 or share < least):
            least = share
    return total, least


@function
def moved(inverses, place, force):
    """M^-1 f of the body whose velocities start at `place`"""
    M_inverse = Block(inverses, 6 * place, 6)
    x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for m in range(6):
        x = add_scaled6(x, force[m], get_row(M_inverse, m))
    return x


@function
def velocity(element, J, u, v):
    """v = J_k u, from v[0] on"""
    for r in range(element.height):
        v[r] = row_velocity(element, J, r, u)


@function
def push(element, J, change, inverses, u):
    """u + M^-1 J_k^T change, with the change from change[0] on"""
    for e in range(element.count):
        start = element.jacobian + 6 * element.height * e
        force = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for r in range(element.height):
            force = add_scaled6(force, change[r], get6(J, start + 6 * r))
        at = place_of(element, e)
        put6(u, at, add_scaled6(get6(u, at), 1.0, moved(inverses, at, force)))


@function
def put_diagonal(element, J, inverses, D):
    """J_k M^-1 J_k^T by rows, from D[0] on"""
    h = element.height
    for column in range(h):
        for r in range(h):
            D[h * r + column] = 0.0
        for e in range(element.count):
            start = element.jacobian + 6 * h * e
            motion = moved(inverses, place_of(element, e), get6(J, start + 6 * column))
            for r in range(h):
                D[h * r + column] = D[h * r + column] + dot6(get6(J, start + 6 * r), motion)
