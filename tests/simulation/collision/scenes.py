"""Two shapes at random poses, their contacts, and the distance that MuJoCo finds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import delassus as dl
from delassus.maximal.rows.contacts import CONTACT
from delassus.model.parts.elements import Shape
from delassus.simulation.collision.contacts import find_contacts
from delassus.simulation.collision.geometry import Geometry
from delassus.simulation.collision.shapes import ground_plane

SIZES = {
    "sphere": (0.13,),
    "capsule": (0.08, 0.5),
    "box": (0.3, 0.5, 0.2),
    "cylinder": (0.15, 0.4),
    "ellipsoid": (0.1, 0.2, 0.15),
}
FLAT = (0.0, 0.0, 0.0, 1.0)


@dataclass
class Touch:
    """A contact: numbers of bodies, point, normal, distance, id."""

    a: int
    b: int
    point: np.ndarray
    normal: np.ndarray
    distance: float
    id: int


def bodies(*shapes):
    """A model of free bodies, each a shape: a kind, or (kind, size)."""
    builder = dl.ModelBuilder("bodies")
    for k, shape in enumerate(shapes):
        kind, size = (shape, SIZES[shape]) if isinstance(shape, str) else shape
        builder.add_body(f"body {k}", joint=dl.Free(), mass=1.0, inertia=np.eye(3))
        builder.add_shape(Shape(f"shape {k}", f"body {k}", "collision", kind, None, size))
    return builder.build()


@cache
def pair(first, second):
    """Two free bodies without ground."""
    return Geometry(bodies(first, second))


@cache
def on_ground(*shapes):
    """Free bodies on the ground z = 0."""
    return Geometry(bodies(*shapes), [ground_plane()], slots=64)


def touches(geometry, poses, margin=0.01):
    """Contacts at poses (x, y, z, quaternion) of the bodies."""
    found, ids, count = find_contacts(geometry, (np.array(poses, float), np.array([margin])))
    n = int(count[0])
    assert n <= geometry.slots
    assert (np.diff(ids[:n]) > 0).all()  # in order, and each one once
    return [
        Touch(
            int(c[CONTACT.a]),
            int(c[CONTACT.b]),
            c[CONTACT.point : CONTACT.point + 3],
            c[CONTACT.frame : CONTACT.distance].reshape(3, 3)[:, 2],
            c[CONTACT.distance],
            int(i),
        )
        for c, i in zip(found[:n], ids[:n], strict=True)
    ]


def random_pose(rng, spread=0.4):
    return np.array(
        [*rng.uniform(-spread, spread, 3), *Rotation.random(random_state=rng).as_quat()]
    )


def moved(poses, shift, turn):
    """Poses after all is turned about the origin and shifted."""
    result = np.array(poses, float)
    result[:, :3] = turn.apply(result[:, :3]) + shift
    result[:, 3:] = (turn * Rotation.from_quat(result[:, 3:])).as_quat()
    return result


@cache
def _mujoco(first, second):
    geoms = []
    for kind in (first, second):
        size = np.array(SIZES[kind]) * {"box": 0.5, "sphere": 1.0, "ellipsoid": 1.0}.get(kind, 1.0)
        if kind in ("capsule", "cylinder"):
            size = (size[0], 0.5 * size[1])
        text = " ".join(map(str, size))
        geoms.append(f'<body><freejoint/><geom type="{kind}" size="{text}"/></body>')
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{''.join(geoms)}</worldbody></mujoco>"
    )
    return model, mujoco.MjData(model)


def peer_distance(first, second, poses, most=1.0):
    """Signed distance of two shapes by MuJoCo."""
    model, data = _mujoco(first, second)
    for k, pose in enumerate(poses):
        data.qpos[7 * k : 7 * k + 7] = [*pose[:3], pose[6], *pose[3:6]]
    mujoco.mj_kinematics(model, data)
    return mujoco.mj_geomDistance(model, data, 0, 1, most, np.zeros(6))
