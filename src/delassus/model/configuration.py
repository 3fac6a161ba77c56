"""Configurations as points of a manifold: integrate, difference, normalize, random ones."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ..checks import shown
from ..compile import function, kernel, sincos
from ..errors import DataTypeError, ShapeError
from ..spatial.groups import (
    cosine_ratio,
    cotangent_remainder,
    quaternion_exp,
    quaternion_log,
    sine_ratio,
    translation_exp,
    translation_log,
)
from ..spatial.quaternions import conjugate, multiply, rotation, unit, unit_of_any_length
from ..spatial.vectors import add, get3, get4, put3, put4, rotate, rotate_back, subtract
from .packed import ModelArrays
from .parts.kinds import FREE, PLANAR, SPHERICAL

# What random numbers can come from. A text, as NumPy imports its generators when they are needed.
RandomLike: TypeAlias = (
    "np.random.Generator | np.random.BitGenerator | np.random.SeedSequence | np.random.RandomState "
    "| int | np.integer | list[int] | tuple[int, ...] | np.ndarray | None"
)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"q_next": "nq"},
)
def integrate(model, q, v, q_next, work):
    """q_next = q exp(v)"""
    for k in range(1, len(model.links)):
        link = model.links[k]
        i, j = link.q, link.v
        if link.kind == FREE:
            x = get4(q, i + 3)
            u, w = get3(v, j), get3(v, j + 3)
            R = rotation(x[0], x[1], x[2], x[3])
            put3(q_next, i, add(get3(q, i), rotate(R, translation_exp(w, u))))
            put4(q_next, i + 3, unit(multiply(x, quaternion_exp(w))))
        elif link.kind == SPHERICAL:
            put4(q_next, i, unit(multiply(get4(q, i), quaternion_exp(get3(v, j)))))
        elif link.kind == PLANAR:
            integrate_planar(q, v, i, j, q_next)
        else:
            for d in range(link.nv):
                q_next[i + d] = q[i + d] + v[j + d]


@function
def integrate_planar(q, v, i, j, q_next):
    """q_next = q exp(v) of a planar joint, whose numbers start at i in q and at j in v."""
    s, c = sincos(q[i + 2])
    w = v[j + 2]
    along, across = sine_ratio(w * w), w * cosine_ratio(w * w)
    x = along * v[j] - across * v[j + 1]
    y = across * v[j] + along * v[j + 1]
    q_next[i] = q[i] + c * x - s * y
    q_next[i + 1] = q[i + 1] + s * x + c * y
    q_next[i + 2] = q[i + 2] + w


@kernel(
    ModelArrays,
    inputs={"q0": "nq", "q1": "nq"},
    outputs={"v": "nv"},
)
def difference(model, q0, q1, v, work):
    """v = log(q0^-1 q1)"""
    for k in range(1, len(model.links)):
        link = model.links[k]
        i, j = link.q, link.v
        if link.kind == FREE:
            x = get4(q0, i + 3)
            w = quaternion_log(multiply(conjugate(x), get4(q1, i + 3)))
            R = rotation(x[0], x[1], x[2], x[3])
            p = rotate_back(R, subtract(get3(q1, i), get3(q0, i)))
            put3(v, j, translation_log(w, p))
            put3(v, j + 3, w)
        elif link.kind == SPHERICAL:
            put3(v, j, quaternion_log(multiply(conjugate(get4(q0, i)), get4(q1, i))))
        elif link.kind == PLANAR:
            difference_planar(q0, q1, i, j, v)
        else:
            for d in range(link.nv):
                v[j + d] = q1[i + d] - q0[i + d]


@function
def difference_planar(q0, q1, i, j, v):
    """v = log(q0^-1 q1) of a planar joint; singular where the angles differ by a full turn."""
    s, c = sincos(q0[i + 2])
    dx, dy = q1[i] - q0[i], q1[i + 1] - q0[i + 1]
    x, y = c * dx + s * dy, c * dy - s * dx
    w = q1[i + 2] - q0[i + 2]
    along, across = 1.0 - w * w * cotangent_remainder(w * w), 0.5 * w
    v[j] = along * x + across * y
    v[j + 1] = along * y - across * x
    v[j + 2] = w


@kernel(ModelArrays, inputs={"q": "nq"}, outputs={"q_unit": "nq"})
def normalize(model, q, q_unit, work):
    """q with quaternions of unit length; NaN where one is zero"""
    for k in range(1, len(model.links)):
        link = model.links[k]
        i = link.q
        if link.kind == FREE:
            put3(q_unit, i, get3(q, i))
            put4(q_unit, i + 3, unit_of_any_length(get4(q, i + 3)))
        elif link.kind == SPHERICAL:
            put4(q_unit, i, unit_of_any_length(get4(q, i)))
        else:
            for d in range(link.nv):
                q_unit[i + d] = q[i + d]


def generator(seed: RandomLike) -> np.random.Generator:
    """A generator of random numbers: one that is given, or a new one of a seed."""
    r = np.random  # which NumPy imports when it is asked for
    known = (r.Generator, r.BitGenerator, r.SeedSequence, r.RandomState)
    is_list = isinstance(seed, (list, tuple)) or (isinstance(seed, np.ndarray) and seed.ndim == 1)
    if (
        seed is None
        or isinstance(seed, known)
        or _is_count(seed)
        or (is_list and all(map(_is_count, seed)))
    ):
        return np.random.default_rng(seed)
    raise DataTypeError(
        f"rng must be a NumPy generator, None or a seed that is not negative, got {shown(seed)}"
    )


def _is_count(x: object) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool) and x >= 0


def random(model, seed: RandomLike, count: int | np.integer | None) -> np.ndarray:
    """Random configurations within the limits."""
    if count is not None and not (_is_count(count) and count < 2**63 // (8 * model.nq + 8)):
        raise ShapeError(f"N must be None or a number of configurations, got {shown(count)}")
    n, rng = 1 if count is None else int(count), generator(seed)
    low, high = model.lower.copy(), model.upper.copy()
    widest = np.concatenate([_widest(j.type) for j in model.joints] or [np.zeros(0)])
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * widest, -widest))
    high = np.where(np.isfinite(high), high, low + 2 * widest)
    x = rng.random((n, model.nq))
    with np.errstate(over="ignore", invalid="ignore"):
        width = high - low  # which is no number if limits are very wide
        q = np.where(np.isfinite(width), low + width * x, (1.0 - x) * low + x * high)
    for joint in model.joints:
        if (start := joint.type.quaternion) is not None:
            block = rng.standard_normal((n, 4))
            at = joint.q.start + start
            q[:, at : at + 4] = block / np.linalg.norm(block, axis=1, keepdims=True)
    return q[0] if count is None else q


def _widest(joint_type) -> np.ndarray:
    """Half the range of coordinates that have no limits: a half turn, or a metre."""
    return np.where(joint_type.angles(), np.pi, 1.0)
