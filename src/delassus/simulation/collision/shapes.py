"""Shapes that collide, from those of a model, and their records for kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ...checks import finite_number, instance, shown
from ...errors import DataTypeError, ModelError, UnknownNameError
from ...maximal.rows.contacts import contact_frame
from ...model.model import Model
from ...model.packed import INDEX
from ...model.parts.contacts import Surface
from ...model.parts.elements import WORLD, Shape, height_points
from ...model.parts.names import closest
from ...spatial.constant import unit_vector
from ...spatial.transform import Transform
from ..narrow.records import BOX, CAPSULE, CYLINDER, ELLIPSOID, HEIGHTS, HULL, PLANE, SPHERE
from .materials import Material
from .meshes import can_read, hull_vertices, mesh_triangles
from .triangles import Triangles

KINDS = {
    "plane": PLANE,
    "sphere": SPHERE,
    "capsule": CAPSULE,
    "box": BOX,
    "cylinder": CYLINDER,
    "ellipsoid": ELLIPSOID,
    "mesh": HULL,
    "heightfield": HEIGHTS,
}
GROUND = "ground"
_ALL_BITS = 2**32 - 1


@dataclass(frozen=True, eq=False)
class CollisionShape:
    """A shape on a body: body 0 is the world, the model's body i is i + 1.

    `placement` is from the body's centre of mass, in the body's axes, as `maximal` places bodies.
    `names` are those of the shape, of its frame and of its body. `vertices` are those of a hull,
    `triangles` those of a height field, or of a mesh that is more than its hull. Whatever touches a
    silent shape decides on friction and restitution.
    """

    name: str
    kind: int
    body: int
    placement: Transform
    half: tuple[float, float, float]  # sizes, see `narrow.records`
    material: Material = field(default_factory=Material)
    names: frozenset[str] = frozenset()
    frame: str = WORLD
    surface: Surface = field(default_factory=Surface)
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: Triangles | None = None
    is_silent: bool = False

    @property
    def radius(self) -> float:
        """Radius of a sphere around the centre that has the shape inside."""
        a, b, c = self.half
        points = self.vertices if self.triangles is None else self.triangles.points
        return {
            PLANE: math.inf,
            SPHERE: a,
            CAPSULE: a + c,
            BOX: math.hypot(a, b, c),
            CYLINDER: math.hypot(a, c),
            ELLIPSOID: max(a, b, c),
        }.get(self.kind, float(np.linalg.norm(points, axis=1).max(initial=0.0)))


def shape_type(real: np.dtype) -> np.dtype:
    """The record of a shape; its rotation and position are those on its body."""
    return np.dtype(
        [
            ("kind", INDEX),
            ("body", INDEX),
            ("rotation", real, (9,)),
            ("position", real, (3,)),
            ("half", real, (3,)),
            ("radius", real),
            ("first", INDEX),
            ("end", INDEX),
        ],
        align=True,
    )


def packed_shapes(shapes: list[CollisionShape], real: np.dtype) -> np.ndarray:
    """Shapes as kernels read them."""
    records, at = np.zeros(len(shapes), shape_type(real)), 0
    for record, shape in zip(records, shapes, strict=True):
        record["kind"], record["body"] = shape.kind, shape.body
        record["rotation"] = shape.placement.rotation.ravel()
        record["position"] = shape.placement.translation
        record["half"], record["radius"] = shape.half, shape.radius
        record["first"], record["end"] = at, at + len(shape.vertices)
        at += len(shape.vertices)
    return records


def packed_vertices(shapes: list[CollisionShape], real: np.dtype) -> np.ndarray:
    """Corners of all hulls, one after the other."""
    return np.concatenate([np.zeros(0), *(s.vertices.ravel() for s in shapes)]).astype(real)


def collision_shapes(
    model: Model,
    materials: Material | Mapping[str, Material] | None = None,
    soft: bool = False,
    meshes: str = "planes",
) -> tuple[list[CollisionShape], list[str]]:
    """The shapes of a model that collide, and the names of meshes that nothing installed can read.

    Meshes collide by their convex hulls, but for "raw" ones, or with "none" not at all.
    `materials` is one for all shapes, or maps names of shapes, frames or bodies to materials; the
    name of a shape is looked for first. Shapes that no name means have the default material, but
    for what their surfaces say. Softness of surfaces counts if it is asked for.
    """
    chosen = _materials(model, materials)
    found, unread = [], []
    for shape in model.shapes:
        if shape.role == "collision":
            if shape.kind == "mesh" and meshes == "none":
                continue
            if shape.kind == "mesh" and not can_read():
                unread.append(shape.name)
            else:
                found.append(_on_body(model, shape, chosen, soft, meshes == "raw"))
    return found, unread


def ground_plane(
    material: Material | None = None,
    height: float = 0.0,
    normal: ArrayLike = (0.0, 0.0, 1.0),
    *,
    is_silent: bool = False,
) -> CollisionShape:
    """A plane of the world at a height along its normal, named "ground".

    Whatever bits a shape collides with, the ground has them. If it is silent, friction and
    restitution are those of what touches it.
    """
    material = instance("the material of the ground", material or Material(), Material)
    height = finite_number("the height of the ground", height)
    n = np.array(unit_vector("the normal of the ground", normal, 3))
    at = Transform(np.reshape(contact_frame(n), (3, 3)), height * n)
    return CollisionShape(
        GROUND,
        PLANE,
        0,
        at,
        (0.0, 0.0, 0.0),
        material,
        frozenset((GROUND, WORLD)),
        surface=Surface(_ALL_BITS, _ALL_BITS),
        is_silent=is_silent,
    )


def has_ground(model: Model) -> bool:
    """Whether a plane or a height field of the world is among the model's collision shapes."""
    return any(
        shape.role == "collision"
        and shape.kind in ("plane", "heightfield")
        and model.frame(shape.frame).body < 0
        for shape in model.shapes
    )


def body_name(model: Model, body: int) -> str:
    """The name of body i of a system, in which 0 is the world."""
    return WORLD if body == 0 else model.bodies[body - 1].name


def _names(model: Model, shape: Shape) -> Iterator[str]:
    """Names by which a shape is known: its own, that of its frame, that of its body."""
    yield shape.name
    yield shape.frame
    yield body_name(model, model.frame(shape.frame).body + 1)


def _materials(model: Model, given) -> Mapping[str, Material]:
    """Materials by name; the default has the name ""."""
    if given is None or isinstance(given, Material):
        return {"": given or Material()}
    if not isinstance(given, Mapping):
        raise DataTypeError(f"materials must be a Material or map names to it, got {shown(given)}")
    shapes = [shape for shape in model.shapes if shape.role == "collision"]
    known = {name for shape in shapes for name in _names(model, shape)}
    for name, material in given.items():
        instance(f"the material of {shown(name)}", material, Material)
        if name not in known:
            raise UnknownNameError(
                f"model {model.name!r} has no collision shape named {shown(name)}, nor one on a "
                f"frame or body of this name{closest(name, known)}"
            )
    return {"": Material(), **given}


def _on_body(
    model: Model, shape: Shape, materials: Mapping[str, Material], soft: bool, is_raw: bool
) -> CollisionShape:
    frame, names = model.frame(shape.frame), tuple(_names(model, shape))
    at, vertices, triangles = frame.placement @ shape.placement, np.zeros((0, 3)), None
    if shape.kind == "mesh":
        mesh = mesh_triangles(shape)
        middle = 0.5 * (mesh.points.min(axis=0) + mesh.points.max(axis=0))
        at, mesh = at @ Transform(np.eye(3), middle), mesh.moved(-middle)
        vertices, triangles = hull_vertices(mesh.points), mesh if is_raw else None
    elif shape.kind == "heightfield":
        if frame.body >= 0:
            raise ModelError(
                f"collision shape {shape.name!r} on {shape.frame!r}: a heightfield is fixed to the "
                "world"
            )
        triangles = Triangles(*height_points(shape), has_upper_side_only=True)
    if frame.body >= 0:
        center = model.bodies[frame.body].inertia.center
        at = Transform(at.rotation, at.translation - center)
    name = next((name for name in names if name in materials), None)
    own = materials[""].with_own(shape.surface, soft) if name is None else materials[name]
    return CollisionShape(
        shape.name,
        KINDS[shape.kind],
        frame.body + 1,
        at,
        _size(shape),
        own,
        frozenset(names),
        shape.frame,
        shape.surface,
        vertices,
        triangles,
    )


def _size(shape: Shape) -> tuple[float, float, float]:
    """The size as kernels read it, checked."""
    if shape.kind == "mesh":  # its size is a scale
        return (0.0, 0.0, 0.0)
    what = f"collision shape {shape.name!r} on {shape.frame!r}: a {shape.kind}"
    thick = shape.size[:1] if shape.kind == "capsule" else shape.size
    if not all(x > 0.0 for x in thick):
        raise ModelError(f"{what} must not have a size of zero, got {shown(shape.size)}")
    match shape.kind:
        case "plane" | "heightfield":
            return (0.0, 0.0, 0.0)
        case "sphere":
            return (shape.size[0], shape.size[0], 0.0)
        case "capsule" | "cylinder":
            return (shape.size[0], shape.size[0], 0.5 * shape.size[1])
        case "box":
            return tuple(0.5 * x for x in shape.size)
    return shape.size
