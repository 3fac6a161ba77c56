"""What the links of a URDF file look like and collide with."""

from __future__ import annotations

from ...builder import ModelBuilder
from ...parts.elements import Shape
from ..meshes import MeshFinder
from ..xml import Node
from .values import read_origin

Color = tuple[float, float, float, float]


class ShapeReader:
    """Reads <visual> and <collision> elements; knows the file's materials."""

    def __init__(self, robot: Node, meshes: MeshFinder):
        self._meshes = meshes
        # A material that one visual defines may be used by name in the others.
        materials = [*robot.children("material"), *robot.children("link/visual/material")]
        self._colors: dict[str, Color] = {}
        for material in materials:
            color, name = _read_color(material), material.attribute("name")
            if color is not None and name:
                self._colors.setdefault(name, color)

    def add(self, builder: ModelBuilder, link: Node, frame: str) -> None:
        """Add a link's shapes to the model."""
        for role in ("visual", "collision"):
            for index, node in enumerate(link.children(role)):
                shape = self._read(node, frame, role, index)
                if shape is not None:
                    with node.blamed():
                        builder.add_shape(shape)

    def _read(self, node: Node, frame: str, role: str, index: int) -> Shape | None:
        name = node.attribute("name") or f"{frame}_{role}_{index}"
        geometry = node.required_child("geometry")
        geometry.attribute("name")
        for kind, read in _GEOMETRIES.items():
            form = geometry.child(kind)
            if form is not None:
                size = read(form)
                mesh = self._meshes.find(form.required("filename")) if kind == "mesh" else None
                color = self._color(node)
                return Shape(name, frame, role, kind, read_origin(node), size, mesh, color)
        if len(geometry.element) == 0:
            raise geometry.error("is empty")
        return None  # a kind of geometry that URDF does not have: reported as unread

    def _color(self, node: Node) -> Color | None:
        material = node.child("material")
        if material is None:
            return None
        name = material.attribute("name")
        return _read_color(material) or (self._colors.get(name) if name else None)


def _read_color(material: Node) -> Color | None:
    color = material.child("color")
    if color is None:
        return None
    red, green, blue, alpha = color.vector("rgba", 4)
    return (float(red), float(green), float(blue), float(alpha))


def _length(node: Node, name: str) -> float:
    value = node.number(name)
    if value < 0.0:
        raise node.error(f"must not be negative, got {value:g}", name)
    return value


def _box(node: Node) -> tuple[float, ...]:
    size = node.vector("size", 3)
    if (size < 0.0).any():
        raise node.error("must not be negative", "size")
    return tuple(map(float, size))


def _rod(node: Node) -> tuple[float, ...]:
    return (_length(node, "radius"), _length(node, "length"))


_GEOMETRIES = {
    "box": _box,
    "sphere": lambda node: (_length(node, "radius"),),
    "cylinder": _rod,
    "capsule": _rod,
    "mesh": lambda node: tuple(map(float, node.vector("scale", 3, (1.0, 1.0, 1.0)))),
}
