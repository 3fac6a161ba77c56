"""A model as kernels read it: a few flat arrays.

Bodies become links. Link 0 is the world. Cylindrical and universal joints become two links, gimbals
three, all but the last without mass. Each link's axes are turned so that a joint of one axis moves
about or along z: then there is one revolute and one prismatic code path, and no axis arithmetic.
The origin of a link that turns about an axis may differ from its body's origin: it is put where
axes meet, if they do (see `origins`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..spatial.transform import Transform
from .mechanism import Mechanism
from .origins import origin_heights
from .parts.kinds import HELICAL, PLANAR, REVOLUTE, SPHERICAL

# The type of indices and counts in arrays that kernels read. Four bytes in place of eight: more
# data stays in the inner caches, which saves a thirtieth of the time of sweeps.
INDEX = np.dtype(np.int32)


def index_record(*names: str) -> np.dtype:
    """A record type whose fields are all of type INDEX."""
    return np.dtype([(name, INDEX) for name in names], align=True)


def link_type(real: np.dtype) -> np.dtype:
    """The record of a link, with floating-point numbers of the given type.

    Fields that most sweeps read come first, so that they lie in few cache lines.
    """
    return np.dtype(
        [
            ("parent", INDEX),
            ("kind", INDEX),
            ("q", INDEX),  # first index in q
            ("v", INDEX),  # first index in v
            ("nv", INDEX),
            ("body", INDEX),  # number of the model's body, -1 for the first of a body's two links
            ("has_children", INDEX),
            ("is_last_child", INDEX),  # the last child is the first that a backward sweep meets
            # If each axis of the joint is parallel to one of the parent's, the numbers of those;
            # else -1.
            ("axis", INDEX, (3,)),
            # How many coordinates of `position` are not zero, and which one, if it is one.
            ("offset_count", INDEX),
            ("offset_axis", INDEX),
            ("shares_origin", INDEX),  # whether its origin is that of its parent, for any q
            ("position", real, (3,)),
            ("mass", real),
            ("moment", real, (3,)),  # mass times centre of mass
            ("inertia_factor", real, (6,)),  # rotational inertia, in a form that is cheap to rotate
            ("rotation", real, (9,)),  # of the joint in the parent link's axes
            ("subtree_mass", real),
            ("pitch", real),
            ("branch", INDEX),  # a number that it shares with its last child only
            ("last_link", INDEX),  # the last link of the subtree
            ("end_v", INDEX),  # one past the subtree's last index in v
            ("tree_end_v", INDEX),  # `end_v` of the root of its tree
            ("leads_to_fork", INDEX),  # whether a link of the subtree has several children
            ("fork", INDEX),  # the nearest ancestor that has several children, or 0
        ],
        align=True,
    )


def solid_type(real: np.dtype) -> np.dtype:
    """Link data for sweeps that need the inertia tensor or the body's axes.

    They are apart from `link_type`, so that other sweeps read less memory.
    """
    return np.dtype(
        [
            ("inertia", real, (6,)),  # about the link's origin
            ("center", real, (3,)),  # of mass
            ("central_factor", real, (6,)),  # as `inertia_factor`, about the centre of mass
            ("orientation", real, (9,)),  # of the body's own axes in the link's
            ("height", real),  # of the body's origin along the link's z axis
        ],
        align=True,
    )


# The angle of a joint: its index in q, and the joint's first index in v.
ANGLE = index_record("q", "v")
# A result below this part of the numbers that it is the difference of counts as zero.
_DUST = 16 * np.finfo(float).eps


class ModelArrays(NamedTuple):
    """The arrays of a model that kernels read."""

    links: np.ndarray  # see `link_type`
    solids: np.ndarray  # further data of each link, see `solid_type`
    frames: np.ndarray  # the last is the world
    angles: np.ndarray  # of joints that turn their link about one axis
    # For each degree of freedom:
    dof_parent: np.ndarray  # the next one on the way to the world, or -1
    chain_start: np.ndarray  # see `chain_starts`
    dof_end: np.ndarray  # one past the last degree of freedom that it carries
    gravity: np.ndarray  # acceleration of free fall
    armature: np.ndarray  # inertia of each degree of freedom's motor
    damping: np.ndarray
    friction: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray  # where springs are relaxed, nq numbers

    dimensions = ("nq", "nv", "n_bodies")
    velocity_data = ("armature", "damping", "friction", "stiffness")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (link_type(real), solid_type(real), frame_type(real), ANGLE)
        return (*own, *[INDEX] * 3, *[real] * 6)

    @classmethod
    def takes(cls, model) -> bool:
        """Whether these arrays can be packed from an object."""
        return isinstance(model, Mechanism)

    @classmethod
    def pack(cls, model, real: np.dtype) -> ModelArrays:
        """A model's arrays in one precision."""
        return pack(model, real)


def frame_type(real: np.dtype) -> np.dtype:
    """The record of a frame that is fixed to a link."""
    return np.dtype(
        [("link", INDEX), ("rotation", real, (9,)), ("position", real, (3,))], align=True
    )


def dimensions(model) -> dict[str, int]:
    """Extents of a model by name, from which shapes of arguments and work memory follow."""
    parents = [p for p, _, _ in _links(model)]
    return {
        "nq": model.nq,
        "nv": model.nv,
        "nu": model.nu,
        "n_bodies": model.n_bodies,
        "n_links": len(parents) + 1,
        "n_branches": int(_branches(np.array([0, *parents], np.int64)).max(initial=0)) + 1,
    }


def pack(model, real: np.dtype) -> ModelArrays:
    """A model's arrays in one precision."""
    links = np.zeros(model.dimensions["n_links"], link_type(real))
    solids = np.zeros(len(links), solid_type(real))
    solids[0]["orientation"] = np.eye(3).ravel()
    body_links = _body_links(model)
    axes = [np.eye(3)]  # each link's axes in those of its body
    placements = [Transform()]  # placements of joints in the parent link's axes
    q = v = 0
    for i, (parent, body_index, primitive) in enumerate(_links(model), start=1):
        link, E = links[i], primitive.axes
        body = model.bodies[body_index]
        is_first = parent == 0 or links[parent]["body"] >= 0
        is_last = i == body_links[body_index]
        placement = body.placement if is_first else Transform()
        link["parent"], link["kind"], link["pitch"] = parent, primitive.kind, primitive.pitch
        link["q"], link["v"], link["nv"] = q, v, primitive.nv
        turned = Transform(axes[parent].T) @ placement
        placements.append(Transform(_clean(turned.rotation @ E), turned.translation))
        link["body"] = body_index if is_last else -1
        solids[i]["orientation"] = E.T.ravel()
        axes.append(E)
        q, v = q + primitive.nq, v + primitive.nv
    _fill_placements(links, solids, placements)
    for i in range(1, len(links)):
        _fill_alignment(links[i])
        if links[i]["body"] >= 0:
            _fill_inertia(links[i], solids[i], model.bodies[links[i]["body"]].inertia, axes[i])
    _fill_topology(links)
    dof_parent = _dof_parents(links, model.nv)
    return ModelArrays(
        links,
        solids,
        _frames(model, axes, solids["height"], real),
        _angles(links),
        dof_parent,
        chain_starts(dof_parent),
        np.repeat(links["end_v"], links["nv"]),
        model.gravity.astype(real),
        *(_of_velocities(model, name).astype(real) for name in ModelArrays.velocity_data),
        np.concatenate([j.data.rest for j in model.joints] or [np.zeros(0)]).astype(real),
    )


def _links(model) -> list[tuple[int, int, object]]:
    """Parent link, body and primitive joint of each link, without the world."""
    result, last = [], {-1: 0}
    for i, body in enumerate(model.bodies):
        parent = last[body.parent]
        for primitive in body.joint.type.primitives():
            result.append((parent, i, primitive))
            parent = len(result)
        last[i] = parent
    return result


def _clean(rotation: np.ndarray) -> np.ndarray:
    """A rotation whose entries near -1, 0 and 1 are made exact: cos(pi / 2) is rounded to 6e-17."""
    near = np.round(rotation)
    return np.where(np.abs(rotation - near) < 4e-16, near + 0.0, rotation)


def _fill_placements(links: np.ndarray, solids: np.ndarray, placements: list[Transform]) -> None:
    """Choose the origins of links, and store the placements of joints relative to them."""
    parents, slides = links["parent"], links["kind"] == REVOLUTE
    rotations = np.array([x.rotation for x in placements])
    positions = np.array([x.translation for x in placements])
    pivots = slides | (links["kind"] == SPHERICAL)
    heights = origin_heights(parents, slides, pivots, rotations, positions)
    moved = positions + heights[:, None] * rotations[:, :, 2]
    moved[:, 2] -= heights[parents]
    way = np.linalg.norm(positions, axis=1) + np.abs(heights) + np.abs(heights[parents])
    is_moved = (heights != 0.0) | (heights[parents] != 0.0)
    dust = (np.abs(moved) < _DUST * way[:, None]) & is_moved[:, None]
    links["position"] = np.where(dust, 0.0, moved)
    links["rotation"] = rotations.reshape(-1, 9)
    solids["height"] = -heights


def _fill_alignment(link) -> None:
    """Which axes of the parent a joint's axes are parallel to, and zeros of its position."""
    R, p = link["rotation"].reshape(3, 3), link["position"]
    is_aligned = np.isin(R, (-1.0, 0.0, 1.0)).all()
    link["axis"] = np.argmax(np.abs(R), axis=0) if is_aligned else -1
    link["offset_count"], link["offset_axis"] = np.count_nonzero(p), np.argmax(np.abs(p))
    # The origin of a root link is the tree's origin, never the world's.
    is_inside = link["parent"] > 0 and link["kind"] in (REVOLUTE, SPHERICAL)
    link["shares_origin"] = is_inside and link["offset_count"] == 0


def _fill_inertia(link, solid, inertia, E: np.ndarray) -> None:
    inertia = inertia.moved(Transform(E.T, [0.0, 0.0, solid["height"]]))
    center = inertia.center
    link["mass"] = inertia.mass
    solid["center"] = center
    link["moment"] = inertia.mass * center
    solid["inertia"] = inertia.about_origin()[np.triu_indices(3)]
    link["inertia_factor"] = _factor(inertia.about_origin())
    solid["central_factor"] = _factor(inertia.matrix)


def _factor(A: np.ndarray) -> np.ndarray:
    """The numbers x, y[1:] and d with A = x x^T + y y^T + d 1 and y[0] = 0.

    d is the least principal moment, x and y are along the other principal axes. Then x and y are
    rotated into each other, which does not change the sum, until y is zero along the first axis
    along which x or y is not zero.
    """
    (d, *larger), axes = np.linalg.eigh(A)
    x, y = (np.sqrt(np.array(larger) - d) * axes[:, 1:]).T
    along = np.hypot(x, y)
    first = int(np.argmax(along > _DUST * np.max(along))) if along.any() else 0
    if along[first] > 0.0:
        cosine, sine = x[first] / along[first], y[first] / along[first]
        x, y = cosine * x + sine * y, cosine * y - sine * x
        x[:first], y[: first + 1] = 0.0, 0.0
    return np.array([*x, *y[1:], d])


def _branches(parents: np.ndarray) -> np.ndarray:
    """A number for each link, which it shares with its last child only."""
    last_child = np.zeros(len(parents), np.int64)
    for i in range(1, len(parents)):
        last_child[parents[i]] = i
    branch, count = np.zeros(len(parents), np.int64), 0
    for i in range(1, len(parents)):
        if last_child[parents[i]] == i:
            branch[i] = branch[parents[i]]
        else:
            count += 1
            branch[i] = count
    return branch


def _fill_topology(links: np.ndarray) -> None:
    parents = links["parent"]
    links["branch"] = _branches(parents)
    links["has_children"][parents[1:]] = 1
    links["is_last_child"][1:] = links["branch"][1:] == links["branch"][parents[1:]]
    links["last_link"] = np.arange(len(links))
    links["end_v"] = links["v"] + links["nv"]
    links["subtree_mass"] = links["mass"]
    for i in range(len(links) - 1, 0, -1):
        link, parent = links[i], links[parents[i]]
        parent["last_link"] = max(parent["last_link"], link["last_link"])
        parent["end_v"] = max(parent["end_v"], link["end_v"])
        parent["subtree_mass"] += link["subtree_mass"]
    child_count = np.bincount(parents[1:], minlength=len(links))
    links["leads_to_fork"] = child_count > 1
    for i in range(len(links) - 1, 0, -1):
        links[parents[i]]["leads_to_fork"] |= links[i]["leads_to_fork"]
    for link in links[1:]:
        is_root = link["parent"] == 0
        is_below_fork = not is_root and child_count[link["parent"]] > 1
        link["fork"] = link["parent"] if is_below_fork else links[link["parent"]]["fork"]
        link["tree_end_v"] = link["end_v"] if is_root else links[link["parent"]]["tree_end_v"]


def _dof_parents(links: np.ndarray, nv: int) -> np.ndarray:
    result = np.full(nv, -1, np.int64)
    for link in links[1:]:
        before = links[link["parent"]]
        result[link["v"]] = before["v"] + before["nv"] - 1
        for k in range(1, link["nv"]):
            result[link["v"] + k] = link["v"] + k - 1
    return result


def chain_starts(dof_parent: np.ndarray) -> np.ndarray:
    """For each degree of freedom k, the first of a run of numbers that ends with k.

    In the run each number is the `dof_parent` of the next.
    """
    start = np.arange(len(dof_parent))
    for k, parent in enumerate(dof_parent):
        if parent == k - 1 and parent >= 0:
            start[k] = start[parent]
    return start


def _angles(links: np.ndarray) -> np.ndarray:
    """Where the angles of joints that turn their link about one axis are in q and v."""
    turning = links[1:][np.isin(links["kind"][1:], (REVOLUTE, HELICAL, PLANAR))]
    found = np.zeros(len(turning), ANGLE)
    found["q"] = turning["q"] + np.where(turning["kind"] == PLANAR, 2, 0)
    found["v"] = turning["v"]
    return found


def _frames(model, axes, heights, real: np.dtype) -> np.ndarray:
    """The model's frames and, after them, the world."""
    frames = np.zeros(len(model.frames) + 1, frame_type(real))
    frames[-1]["rotation"] = np.eye(3).ravel()
    body_links = _body_links(model)
    for packed_frame, frame in zip(frames, model.frames, strict=False):
        link = body_links[frame.body]
        E = axes[link]
        packed_frame["link"] = link
        packed_frame["rotation"] = (E.T @ frame.placement.rotation).ravel()
        packed_frame["position"] = E.T @ frame.placement.translation + [0.0, 0.0, heights[link]]
    return frames


def _body_links(model) -> np.ndarray:
    """The link that frames of each body are fixed to. The last is 0, for body -1, the world."""
    counts = [len(b.joint.type.primitives()) for b in model.bodies]
    return np.array([*np.cumsum(counts, dtype=np.int64), 0])


def _of_velocities(model, name: str) -> np.ndarray:
    return np.concatenate([getattr(j.data, name) for j in model.joints] or [np.zeros(0)])
