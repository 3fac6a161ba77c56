"""What the links of an SDF model look like and collide with."""

from __future__ import annotations

import numpy as np

from ....errors import ModelError
from ....spatial.constant import unit_vector
from ....spatial.transform import Transform, rotation_to_axis
from ...builder import ModelBuilder
from ...parts.contacts import Surface
from ...parts.elements import Shape
from ..meshes import MeshFinder
from ..xml import Node
from .frames import read_pose

# The tags whose numbers make the size of a shape.
_SIZES = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "ellipsoid": {"radii": 3},
    "plane": {},
    "mesh": {},
}


def add_shapes(builder: ModelBuilder, link: Node, frame: str, meshes: MeshFinder) -> None:
    """Add a link's <visual> and <collision> shapes to the model."""
    for role in ("visual", "collision"):
        for index, node in enumerate(link.children(role)):
            name = node.attribute("name") or f"{frame}_{role}_{index}"
            shape = _read(node, name, frame, role, meshes)
            if shape is not None:
                builder.add_shape(shape)


def _read(node: Node, name: str, frame: str, role: str, meshes: MeshFinder) -> Shape | None:
    geometry = node.required_child("geometry")
    for kind, tags in _SIZES.items():
        form = geometry.child(kind)
        if form is None:
            continue
        size = [x for tag, count in tags.items() for x in _lengths(form, tag, count)]
        mesh = None
        if kind == "mesh":
            mesh = meshes.find(form.required_child("uri").text())
            scale = form.child("scale")
            size = [1.0] * 3 if scale is None else list(scale.text_vector(3))
        pose, relative_to = read_pose(node)
        if relative_to not in (None, frame):
            raise node.error(f"its pose is relative to {relative_to!r}, which is not read")
        if kind == "plane":
            pose = pose @ _plane(form)
        surface = _surface(node, name) if role == "collision" else Surface()
        dimensions, color = tuple(map(float, size)), _color(node)
        return Shape(name, frame, role, kind, pose, dimensions, mesh, color, surface)
    if geometry.child("heightmap") is not None:
        subject = "shapes left out, as images of heightmaps are not read"
        node.document.report.remark(subject, f"{name} of {frame}")
        node.skip("geometry", "pose", "surface", "material")
    return None  # <empty>, or a kind that is reported as unread


def _lengths(form: Node, tag: str, count: int) -> np.ndarray:
    node = form.required_child(tag)
    values = node.text_vector(count)
    if (values < 0.0).any():
        raise node.error("must not be negative")
    return values


def _plane(form: Node) -> Transform:
    """The placement that turns z to the plane's normal."""
    node = form.child("normal")
    normal = np.array([0.0, 0.0, 1.0]) if node is None else node.text_vector(3, huge=np.inf)
    if not normal.any():
        raise node.error("the normal is zero")
    return Transform(rotation_to_axis(unit_vector("the normal", normal, 3)), np.zeros(3))


def _surface(node: Node, name: str) -> Surface:
    """Friction, restitution and the bits of what it collides with, where <surface> says so."""
    values: dict = {}
    friction = _first(node, "surface/friction/ode/mu", "surface/friction/bullet/friction")
    if friction is not None:
        values["friction"] = friction.text_number()
        second = _first(node, "surface/friction/ode/mu2", "surface/friction/bullet/friction2")
        if second is not None and second.text_number() != values["friction"]:
            subject = "shapes with two coefficients of friction, of which the first is taken"
            node.document.report.remark(subject, name)
    restitution = _first(node, "surface/bounce/restitution_coefficient")
    if restitution is not None:
        values["restitution"] = restitution.text_number()
    # In SDF shapes collide if their masks share a bit.
    mask = _first(node, "surface/contact/collide_bitmask")
    if mask is not None:
        values["contype"] = values["conaffinity"] = _mask(mask)
    try:
        return Surface(**values)
    except ModelError as error:
        raise ModelError(f"shape {name!r}: {error}") from None


def _first(node: Node, *paths: str) -> Node | None:
    """The element at the first of some paths that exist; those on the way count as read."""
    for path in paths:
        found: Node | None = node
        for tag in path.split("/"):
            found = None if found is None else found.child(tag)
        if found is not None:
            return found
    return None


def _mask(node: Node) -> int:
    text = node.text()
    try:
        return int(text, 0)
    except ValueError:
        raise node.error(f"expected an integer, got {text!r}") from None


def _color(node: Node) -> tuple[float, float, float, float] | None:
    material = node.child("material")
    for tag in ("diffuse", "ambient"):
        color = None if material is None else material.child(tag)
        if color is not None:
            # Alpha may be left out.
            count = min(len(color.text().split()), 4)
            red, green, blue, *alpha = map(float, color.text_vector(max(count, 3)))
            return (red, green, blue, alpha[0] if alpha else 1.0)
    return None
