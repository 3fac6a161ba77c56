"""Contacts as rows: two tangents and a normal each (33) to (39), (66).

| paper      | here                | what it is                                                   |
| ---------- | ------------------- | ------------------------------------------------------------ |
| A_k, B_k   | CONTACT.a, b        | the two bodies, 0 for the world; the normal points to B      |
| r_c,k      | CONTACT.point       | where the bodies touch                                       |
| R_k, (34)  | CONTACT.frame       | columns t1, t2, n, by rows                                   |
| d_c,k      | CONTACT.distance    | gap, negative if the bodies overlap                          |
| mu_k       | CONTACT.friction    | coefficient of friction                                      |
| eps_k      | CONTACT.restitution | coefficient of restitution                                   |
| m, p, ...  | CONTACT.softening   | its own softening; where its law is RIGID, that of the step  |
| v_c,k      |                     | velocity of B's point less that of A's, in the frame's axes  |

Departs from (39c) as printed, whose sign contradicts the gap (33).
"""

from __future__ import annotations

from ...compile import function, select, slots, sqrt
from ...spatial.vectors import get3, get9, subtract
from ..structure.packed import SIDE
from .blocks import ROW, measure_row
from .bodies import center, put_side
from .joints import column
from .softening import SOFTENING

CONTACT = slots(
    a=1,
    b=1,
    point=3,
    frame=9,
    distance=1,
    friction=1,
    restitution=1,
    softening=SOFTENING.size,
)
CONTACT_BLOCKS = 6 * SIDE  # numbers of the blocks of a contact: three rows of two bodies

OPEN, STICK, SLIP = 0, 1, 2
_TURN = -0.73  # height of a normal below which tangents are taken from below


@function
def put_contact(system, contacts, c, bodies, blocks, at, rows, row):
    """(66): the blocks, from `at` on, and the three rows of contact c."""
    record, none = c * CONTACT.size, (0.0, 0.0, 0.0)
    a, b = int(contacts[record + CONTACT.a]), int(contacts[record + CONTACT.b])
    point, frame = get3(contacts, record + CONTACT.point), get9(contacts, record + CONTACT.frame)
    arm_a = subtract(point, center(bodies, a))
    arm_b = subtract(point, center(bodies, b))
    for i in range(3):
        start, other = at + SIDE * i, at + SIDE * (i + 3)
        put_side(blocks, start, -1.0, column(frame, i), none, arm_a)
        put_side(blocks, other, 1.0, column(frame, i), none, arm_b)
        measure_row(system, bodies, blocks, ((a, start), (b, other)), rows, row + i)
    rows[(row + 2) * ROW.size + ROW.residual] = contacts[record + CONTACT.distance]


@function
def contact_frame(n):
    """(34): the rotation whose third column is the unit normal n, by rows."""
    # The tangent plane's base without a singular direction (Duff et al. 2017). They change the sign
    # at n_z = 0; here normals of walls stay away from it, as rounding would turn tangents around.
    sign = select(n[2] < _TURN, -1.0, 1.0)
    a = -1.0 / (sign + n[2])
    b = n[0] * n[1] * a
    return (
        1.0 + sign * n[0] * n[0] * a,
        b,
        n[0],
        sign * b,
        sign + n[1] * n[1] * a,
        n[1],
        -sign * n[0],
        -n[1],
        n[2],
    )


@function
def contact_mode(v, impulse, friction, tolerance):
    """(46): OPEN, STICK or SLIP, from velocity and impulse (t1, t2, n) of a contact.

    A velocity below the tolerance, and an impulse below it, count as zero.
    """
    if impulse[2] <= tolerance:
        return OPEN
    slip = sqrt(v[0] * v[0] + v[1] * v[1])
    tangent = sqrt(impulse[0] * impulse[0] + impulse[1] * impulse[1])
    is_inside = tangent < friction * impulse[2] - tolerance
    return STICK if slip <= tolerance or is_inside else SLIP
