"""One contact by itself: steps and exact solutions (seed 001, Algorithms 2 to 4, (152) to (155)).

A contact has the block D (symmetric, 3 x 3), the velocity b that it would have without its own
reaction, and friction mu. Of what the paper leaves out, all follows from the plane v_n = 0:

    Dbar = D_tt - d d^T / d_nn       bbar = b_t - d b_n / d_nn       d = D_tn
    lambda_t = r u,  r = p / (1 + e.u)       p = -mu b_n / d_nn,  e = mu d / d_nn,  u = (cos, sin)
    W = p Dbar u + (1 + e.u) bbar,  v_t = W / (1 + e.u)

Three conditions tell the angle of a contact that slides. Each is a quartic in tan(angle / 2):

| rule | condition |
| --- | --- |
| maximal dissipation (NBGS, RaiSim) | (u + e)^perp . W = 0, the least l^T Dbar l / 2 + bbar^T l |
| exact Coulomb | u^perp . W = 0, u . W <= 0 |

Departures: (155) opens a contact for b_n >= 0; Algorithm 4, line 2, must say <= 0, else its line 9
is never reached. Roots are found between extrema, in two charts of half a turn, so that none is at
infinity.

| symbol | here | what |
| --- | --- | --- |
| D | B | the six numbers xx xy xn yy yn nn |
"""

from __future__ import annotations

from ...compile import absolute, atan2, function, maximum, minimum, sincos, sqrt
from .cones import length2, project_cone, project_disk

BISECTIONS = 60
ROUNDING = 1e-13
SETTLED = 1e-12  # of the reaction that sticks: a change that ends a bisection


@function
def times_block(B, x):
    """B x"""
    return (
        B[0] * x[0] + B[1] * x[1] + B[2] * x[2],
        B[1] * x[0] + B[3] * x[1] + B[4] * x[2],
        B[2] * x[0] + B[4] * x[1] + B[5] * x[2],
    )


@function
def solve_block(B, b):
    """-B^-1 b; a direction that B does not move stays zero."""
    tiny = ROUNDING * (B[0] + B[3] + B[5])
    a = maximum(B[5], tiny)
    l1, l0 = B[4] / a, B[2] / a
    d1 = maximum(B[3] - l1 * B[4], tiny)
    m = (B[1] - l0 * B[4]) / d1
    d0 = maximum(B[0] - l0 * B[2] - m * m * d1, tiny)
    y1 = -b[1] + l1 * b[2]
    y0 = -b[0] + l0 * b[2] - m * y1
    if tiny <= 0.0:
        return 0.0, 0.0, 0.0
    x = y0 / d0
    y = y1 / d1 - m * x
    return x, y, -b[2] / a - l0 * x - l1 * y


@function
def cone_step(mu, B, x, v):
    """Algorithm 2: a step against the velocity, projected onto the cone."""
    h = 3.0 / maximum(B[0] + B[3] + B[5], 1e-300)
    return project_cone(mu, x[0] - h * v[0], x[1] - h * v[1], x[2] - h * v[2])


@function
def normal_step(mu, B, x, v):
    """Algorithm 3: the normal reaction first, then friction in the disk that it allows."""
    normal = maximum(x[2] - v[2] / maximum(B[5], 1e-300), 0.0)
    h = 1.0 / maximum(minimum(B[0], B[3]), 1e-300)
    p, q = project_disk(mu * normal, x[0] - h * v[0], x[1] - h * v[1])
    return p, q, normal


@function
def quartic(c, w):
    """c0 + c1 w + ... + c4 w^4"""
    return c[0] + w * (c[1] + w * (c[2] + w * (c[3] + w * c[4])))


@function
def slope_of(c):
    """The coefficients of the derivative."""
    return c[1], 2.0 * c[2], 3.0 * c[3], 4.0 * c[4], 0.0


@function
def root_between(c, low, high):
    """A root between two numbers where the polynomial has different signs: Newton and bisection."""
    at_low, slope = quartic(c, low), slope_of(c)
    w = 0.5 * (low + high)
    for _ in range(BISECTIONS):
        value = quartic(c, w)
        if (value < 0.0) == (at_low < 0.0):
            low = w
        else:
            high = w
        steepness = quartic(slope, w)
        new = w - value / steepness if steepness != 0.0 else low
        if not (low < new < high):
            new = 0.5 * (low + high)
        if absolute(new - w) < 1e-16:
            return new
        w = new
    return w


@function
def put_roots(c, count, points):
    """Roots in [-1, 1] of a polynomial whose extrema there are `points`, which get the roots.

    `points` starts with count extrema in order. Returns the number of roots. An extremum that only
    touches zero counts as a root.
    """
    size = absolute(c[0]) + absolute(c[1]) + absolute(c[2]) + absolute(c[3]) + absolute(c[4])
    low, at_low, found = -1.0, quartic(c, -1.0), 0
    r0, r1, r2, r3 = 0.0, 0.0, 0.0, 0.0
    for k in range(count + 1):
        high = points[k] if k < count else 1.0
        at_high = quartic(c, high)
        is_touched = absolute(at_high) <= ROUNDING * size
        if (at_low < 0.0) != (at_high < 0.0) or is_touched:
            w = high if is_touched else root_between(c, low, high)
            if found < 4:
                r3 = w if found == 3 else r3
                r2 = w if found == 2 else r2
                r1 = w if found == 1 else r1
                r0 = w if found == 0 else r0
                found += 1
        low, at_low = high, at_high
    points[0], points[1], points[2], points[3] = r0, r1, r2, r3
    return found


@function
def put_quartic_roots(c, points):
    """All roots of a quartic in [-1, 1], by those of its derivatives. Returns their number."""
    first = slope_of(c)
    second = slope_of(first)
    third = slope_of(second)
    count = 0
    if third[1] != 0.0:
        w = -third[0] / third[1]
        if -1.0 < w < 1.0:
            points[0] = w
            count = 1
    count = put_roots(second, count, points)
    count = put_roots(first, count, points)
    return put_roots(c, count, points)


@function
def sliding_terms(mu, B, b):
    """p, e, Dbar and bbar of the plane v_n = 0."""
    over = 1.0 / B[5]
    p = -(mu * b[2] * over)
    e = mu * B[2] * over, mu * B[4] * over
    Dbar = B[0] - B[2] * B[2] * over, B[1] - B[2] * B[4] * over, B[3] - B[4] * B[4] * over
    bbar = b[0] - B[2] * b[2] * over, b[1] - B[4] * b[2] * over
    return p, e, Dbar, bbar


@function
def angle_terms(is_exact, p, e, Dbar, bbar):
    """Of the condition k_cc c^2 + k_ss s^2 + k_cs c s + k_c c + k_s s + k_0 = 0."""
    a1, a2 = p * Dbar[0] + e[0] * bbar[0], p * Dbar[1] + e[1] * bbar[0]
    a3, a4 = p * Dbar[1] + e[0] * bbar[1], p * Dbar[2] + e[1] * bbar[1]
    e0, e1 = (0.0, 0.0) if is_exact else e
    return (
        a3,
        -a2,
        a4 - a1,
        bbar[1] + e0 * a3 - e1 * a1,
        -bbar[0] + e0 * a4 - e1 * a2,
        e0 * bbar[1] - e1 * bbar[0],
    )


@function
def slide(is_exact, mu, B, b, points):
    """The reaction of a contact that slides, and whether one was found. b_n < 0."""
    p, e, Dbar, bbar = sliding_terms(mu, B, b)
    cc, ss, cs, c1, s1, c0 = angle_terms(is_exact, p, e, Dbar, bbar)
    least, x, y, found = 1e300, 0.0, 0.0, False
    for chart in range(2):
        sign = 1.0 - 2.0 * chart
        k_c, k_s = sign * c1, sign * s1
        coefficients = (
            cc + k_c + c0,
            2.0 * (k_s + cs),
            4.0 * ss - 2.0 * cc + 2.0 * c0,
            2.0 * (k_s - cs),
            cc - k_c + c0,
        )
        count = put_quartic_roots(coefficients, points)
        for k in range(count):
            w = points[k]
            over = sign / (1.0 + w * w)
            u0, u1 = (1.0 - w * w) * over, 2.0 * w * over
            room = 1.0 + e[0] * u0 + e[1] * u1
            if room > ROUNDING:
                r = p / room
                x0, y0 = r * u0, r * u1
                m0, m1 = Dbar[0] * x0 + Dbar[1] * y0, Dbar[1] * x0 + Dbar[2] * y0
                value = 0.5 * (x0 * m0 + y0 * m1) + bbar[0] * x0 + bbar[1] * y0
                slip = u0 * (m0 + bbar[0]) + u1 * (m1 + bbar[1])
                scale = absolute(m0) + absolute(m1) + absolute(bbar[0]) + absolute(bbar[1])
                if value < least and (not is_exact or slip <= ROUNDING * scale):
                    least, x, y, found = value, x0, y0, True
    return found, (x, y, length2(x, y) / mu if mu > 0.0 else -b[2] / B[5])


@function
def slide_without_push(mu, B, b):
    """Maximal dissipation for b_n = 0: no reaction, or one along a ray of the plane v_n = 0."""
    _, e, Dbar, bbar = sliding_terms(mu, B, b)
    size = length2(e[0], e[1])
    if size < 1.0:
        return 0.0, 0.0, 0.0
    middle, half = atan2(-e[1], -e[0]), atan2(sqrt(size * size - 1.0), 1.0)
    least, x, y = 0.0, 0.0, 0.0
    for k in range(2):
        s, c = sincos(middle + (half if k == 0 else -half))
        curve = c * (Dbar[0] * c + Dbar[1] * s) + s * (Dbar[1] * c + Dbar[2] * s)
        drive = bbar[0] * c + bbar[1] * s
        t = maximum(-drive, 0.0) / maximum(curve, 1e-300)
        value = t * (0.5 * t * curve + drive)
        if value < least:
            least, x, y = value, t * c, t * s
    return x, y, length2(x, y) / mu


@function
def solve_contact(is_exact, mu, B, x, b, points):
    """Algorithm 4 with the quartic; `x` is the reaction before, for a case without a root."""
    if b[2] > 0.0 or B[5] <= 0.0 or (is_exact and b[2] >= 0.0):
        return 0.0, 0.0, 0.0
    if mu <= 0.0:
        return 0.0, 0.0, -b[2] / B[5]
    stick = solve_block(B, b)
    if length2(stick[0], stick[1]) <= mu * stick[2]:
        return stick
    if b[2] == 0.0:
        return slide_without_push(mu, B, b)
    found, slid = slide(is_exact, mu, B, b, points)
    if found:
        return slid
    v = times_block(B, x)
    return normal_step(mu, B, x, (v[0] + b[0], v[1] + b[1], v[2] + b[2]))


@function
def on_plane(mu, B, b, angle):
    """The reaction on the cone and on the plane v_n = 0 at an angle, and its distance r."""
    s, c = sincos(angle)
    room = B[5] / mu + B[2] * c + B[4] * s
    r = -b[2] / room if room != 0.0 else -1.0
    return (r * c, r * s, r / mu), r


@function
def dissipation_slope(mu, B, b, x):
    """The change of 1/2 x^T D x + b^T x along the conic section."""
    v = times_block(B, x)
    v = v[0] + b[0], v[1] + b[1], v[2] + b[2]
    h0, h1, h2 = 2.0 * x[0], 2.0 * x[1], -2.0 * mu * mu * x[2]
    t0, t1 = B[4] * h2 - B[5] * h1, B[5] * h0 - B[2] * h2
    t2 = B[2] * h1 - B[4] * h0
    return t0 * v[0] + t1 * v[1] + t2 * v[2]


@function
def bisect_contact(mu, B, x, b, shift):
    """Algorithm 4 with RaiSim's bisection; `shift` is mu |v_t|, zero without De Saxce."""
    if b[2] > 0.0 or B[5] <= 0.0:
        return 0.0, 0.0, 0.0
    if mu <= 0.0:
        return 0.0, 0.0, -b[2] / B[5]
    moved = b[0], b[1], b[2] + shift
    stick = solve_block(B, moved)
    if length2(stick[0], stick[1]) <= mu * stick[2]:
        return stick
    angle = atan2(stick[1], stick[0])
    point, r = on_plane(mu, B, b, angle)
    if not r > 0.0:
        v = times_block(B, x)
        return normal_step(mu, B, x, (v[0] + b[0], v[1] + b[1], v[2] + b[2]))
    start = dissipation_slope(mu, B, moved, point)
    step, new = (-0.01 if start > 0.0 else 0.01), start
    before = angle
    for _ in range(BISECTIONS):
        tried = angle + step
        next_point, r = on_plane(mu, B, b, tried)
        ahead = next_point[0] * (stick[0] - next_point[0]) + next_point[1] * (
            stick[1] - next_point[1]
        )
        ahead = ahead - mu * mu * next_point[2] * (stick[2] - next_point[2])
        if r <= 0.0 or ahead < 0.0:
            step = 0.5 * step
        else:
            before, angle, point = angle, tried, next_point
            new = dissipation_slope(mu, B, moved, point)
            if (new > 0.0) != (start > 0.0):
                break
            step = 1.3 * step
    if (new > 0.0) == (start > 0.0):
        return point
    low, high = before, angle
    enough = SETTLED * maximum(absolute(stick[2]), length2(stick[0], stick[1]))
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        new_point, _ = on_plane(mu, B, b, middle)
        value = dissipation_slope(mu, B, moved, new_point)
        if (value > 0.0) == (start > 0.0):
            low = middle
        else:
            high = middle
        change = maximum(absolute(new_point[0] - point[0]), absolute(new_point[1] - point[1]))
        change = maximum(change, absolute(new_point[2] - point[2]))
        point = new_point
        if change < enough:
            return point
    return point
