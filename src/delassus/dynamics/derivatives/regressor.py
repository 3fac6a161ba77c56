"""The regressor of inverse dynamics by a forward sweep. O(n d).

Forces are linear in the inertial parameters of the bodies (Atkeson, An and Hollerbach, Estimation
of Inertial Parameters of Manipulator Loads and Links, 1986). Each parameter of a body asks for a
wrench of its own, which the joints that carry the body feel.

Departs from the paper in the axes: wrenches are written in the world's axes and taken about the
tree's origin (see `links`), so they are never moved from link to link, and an entry costs one dot
product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...compile import function, kernel, layout, slots
from ...model.model import Model
from ...model.packed import ModelArrays
from ...spatial.inertia import Inertia
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    compose,
    cross,
    dot,
    get3,
    get9,
    put3,
    scale,
)
from ..arguments import check_model
from ..kinematics import accelerate_in_world, move_in_world, start_at_origin
from ..steps.links import MOVING, SUBSPACE, place_links, start_at_rest
from ..steps.subspaces import along

# Mass, its first moments, its second moments xx, xy, yy, xz, yz, zz.
PARAMETERS = 10
# The wrench of each parameter of one body: ten moments, and forces of the first four, as second
# moments ask for none.
WRENCHES = slots(moments=3 * PARAMETERS, forces=3 * 4)


@kernel(
    ModelArrays,
    shared=("parameters",),
    inputs={"q": "nq", "v": "nv", "a": "nv"},
    outputs={"Y": "nv len(parameters)"},
    work=layout(links=("n_links", MOVING), dofs=("nv", SUBSPACE), wrenches=WRENCHES.size),
    label="inverse_dynamics_regressor",
)
def regress(model, parameters, q, v, a, Y, work):
    """Y(q, v, a) with Y pi + armature a = tau; of the parameters only their number is read"""
    links, dofs, wrenches = work.links, work.dofs, work.wrenches
    start_at_origin(links)
    start_at_rest(links, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    place_links(model, q, links, MOVING.size, dofs, SUBSPACE.size)
    for i in range(1, len(model.links)):
        move_in_world(model, i, v, links)
        accelerate_in_world(model, i, v, a, links)
        link = model.links[i]
        if link.body >= 0:  # the first link of a joint of two axes is no body
            put_wrenches(model.solids[i], i, links, wrenches)
            first = PARAMETERS * link.body
            k = link.v + link.nv - 1
            while k >= 0:
                at = k * len(parameters) + first
                put_entries(dofs, k * SUBSPACE.size, wrenches, Y, at)
                k = model.dof_parent[k]


@function
def put_wrenches(solid, i, links, wrenches):
    """The wrench that each parameter of link i asks for.

    f = m a + alpha x h + omega x (omega x h)
    n = h x a + I alpha + omega x I omega, about the body's origin
    """
    at = i * MOVING.size
    R, p = get9(links, at + MOVING.R), get3(links, at + MOVING.p)
    a, alpha = get3(links, at + MOVING.a), get3(links, at + MOVING.alpha)
    omega = get3(links, at + MOVING.omega)
    arm = scale(solid.height, (R[2], R[5], R[8]))
    p, a = add(p, arm), add_cross(add_cross(a, alpha, arm), omega, cross(omega, arm))
    R = compose(R, get9(solid.orientation, 0))  # of the body itself
    x, y, z = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
    put_wrench(wrenches, 0, a, p, (0.0, 0.0, 0.0))
    put_first_moment(wrenches, 1, x, p, omega, alpha, a)
    put_first_moment(wrenches, 2, y, p, omega, alpha, a)
    put_first_moment(wrenches, 3, z, p, omega, alpha, a)
    put3(wrenches, WRENCHES.moments + 3 * 4, dyad_moment(x, x, omega, alpha))
    put3(wrenches, WRENCHES.moments + 3 * 5, product_moment(x, y, omega, alpha))
    put3(wrenches, WRENCHES.moments + 3 * 6, dyad_moment(y, y, omega, alpha))
    put3(wrenches, WRENCHES.moments + 3 * 7, product_moment(x, z, omega, alpha))
    put3(wrenches, WRENCHES.moments + 3 * 8, product_moment(y, z, omega, alpha))
    put3(wrenches, WRENCHES.moments + 3 * 9, dyad_moment(z, z, omega, alpha))


@function
def put_first_moment(wrenches, k, x, p, omega, alpha, a):
    """Wrench number k: that of a unit of first moment along x."""
    f = add_cross(cross(alpha, x), omega, cross(omega, x))
    put_wrench(wrenches, k, f, p, cross(x, a))


@function
def put_wrench(wrenches, k, f, p, n):
    """Wrench number k: a force f at p and a moment n."""
    put3(wrenches, WRENCHES.forces + 3 * k, f)
    put3(wrenches, WRENCHES.moments + 3 * k, add_cross(n, p, f))


@function
def dyad_moment(x, y, omega, alpha):
    """I alpha + omega x I omega for I = x y^T"""
    return add_scaled(scale(dot(y, alpha), x), dot(y, omega), cross(omega, x))


@function
def product_moment(x, y, omega, alpha):
    """I alpha + omega x I omega for I = x y^T + y x^T"""
    return add(dyad_moment(x, y, omega, alpha), dyad_moment(y, x, omega, alpha))


@function
def put_entries(dofs, dof, wrenches, Y, at):
    """What one degree of freedom feels of the wrenches, S^T (n, f): entries of Y from `at` on."""
    angular = get3(dofs, dof + SUBSPACE.angular)
    for k in range(4):
        n, f = get3(wrenches, WRENCHES.moments + 3 * k), get3(wrenches, WRENCHES.forces + 3 * k)
        Y[at + k] = along(dofs, dof, n, f)
    for k in range(4, PARAMETERS):
        Y[at + k] = dot(angular, get3(wrenches, WRENCHES.moments + 3 * k))


def inverse_dynamics_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Y(q, v, a) with Y pi + armature a = inverse_dynamics(q, v, a); (..., nv, 10 n_bodies).

    pi are the bodies' `inertial_parameters`, ten a body. Columns of a body are zero in the rows of
    joints that do not carry it.
    """
    parameters = np.arange(PARAMETERS * check_model(model).n_bodies, dtype=np.int64)
    return regress(model, (q, v, a), out, threads, (parameters,))


def inertial_parameters(model: Model) -> np.ndarray:
    """pi: m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz of each body, (10 n_bodies,).

    c is the centre of mass and I the rotational inertia about the body's origin, both in the body's
    own axes. What fixed joints have merged is one body.
    """
    bodies = [_parameters(body.inertia) for body in check_model(model).bodies]
    return np.concatenate(bodies or [np.zeros(0)])


def _parameters(inertia: Inertia) -> np.ndarray:
    second = inertia.about_origin()[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return np.concatenate([[inertia.mass], inertia.mass * inertia.center, second])
