"""The class Geometry: all that collides, as kernels read it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping

import numpy as np

from ...checks import instance, positive_integer
from ...compile import Tabulated
from ...extras import install_command
from ...model.model import Model
from ...model.packed import INDEX
from ...model.parts.constraints import Constraint
from ...model.parts.names import known_name
from ...spatial.constant import Immutable
from ..narrow.records import HULL
from .materials import Material, SoftContacts
from .meshes import MESHES, can_read
from .pairs import Names, Pair, find_pairs, packed_pairs, pair_type
from .shapes import (
    CollisionShape,
    collision_shapes,
    packed_shapes,
    packed_vertices,
    shape_type,
)

GEOMETRY_FIELDS = ("shapes", "candidates", "vertices")


class GeometryArrays(namedtuple("GeometryArrays", (*GEOMETRY_FIELDS, "counts"))):
    """Shapes, and candidates: pairs of shapes that can touch. Counts are of bodies and slots."""

    __slots__ = ()
    dimensions = ("n_bodies", "n_slots")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return shape_type(real), pair_type(real), real, INDEX

    @classmethod
    def takes(cls, geometry) -> bool:
        """Whether these arrays can be packed from an object."""
        return isinstance(geometry, Geometry)

    @classmethod
    def pack(cls, geometry, real: np.dtype) -> GeometryArrays:
        """The arrays of a geometry in one precision."""
        shapes = list(geometry.shapes)
        pairs = packed_pairs(shapes, geometry.pairs, real)
        counts = np.array([geometry.model.n_bodies, geometry.slots], INDEX)
        return cls(packed_shapes(shapes, real), pairs, packed_vertices(shapes, real), counts)


class Geometry(Immutable, Tabulated):
    """The collision shapes of a model, those of its surroundings, and the pairs that can touch.

    `surroundings` are more shapes of the world, such as `ground_plane()`. `excluded` and `only` are
    pairs of names of shapes, frames or bodies, besides those that the model excludes or declares.
    With `soft` the softness of surfaces counts. `meshes` is with what meshes collide: "planes",
    "all", "raw" or "none". `slots` is how many contacts there is room for.
    What is not handled is listed: `meshes`, names of shapes, and `not_handled`, pairs of names.
    """

    _instead = "; make a new one"

    def __init__(
        self,
        model: Model,
        surroundings: Iterable[CollisionShape] = (),
        *,
        materials: Material | Mapping[str, Material] | None = None,
        constraints: Iterable[Constraint] | None = None,
        excluded: Names = (),
        only: Names | None = None,
        soft: SoftContacts | None = None,
        meshes: str = "planes",
        slots: int = 32,
    ):
        super().__init__()
        self.model: Model = instance("the model of a Geometry", model, Model)
        known_name("meshes", meshes, MESHES)
        shapes, unread = collision_shapes(model, materials, soft is not None, meshes)
        around = [instance("a shape of surroundings", s, CollisionShape) for s in surroundings]
        # Surroundings come first: so contacts with the ground stand before the others.
        self.shapes: tuple[CollisionShape, ...] = (*around, *shapes)
        self.meshes: tuple[str, ...] = tuple(unread)
        found = find_pairs(
            model, [*self.shapes], constraints, excluded=excluded, only=only, soft=soft
        )
        self.pairs: tuple[Pair, ...] = tuple(found.pairs)
        # Pairs that coal handles, outside of kernels; in each the shape of the higher kind is last.
        taken = [
            can_read() and (meshes in ("all", "raw") or self.shapes[p.second].kind != HULL)
            for p in found.not_handled
        ]
        marked = list(zip(found.not_handled, taken, strict=True))
        self.outside: tuple[Pair, ...] = tuple(p for p, is_taken in marked if is_taken)
        self.not_handled: tuple[tuple[str, str], ...] = tuple(
            (self.shapes[p.first].name, self.shapes[p.second].name)
            for p, is_taken in marked
            if not is_taken
        )
        self.slots = positive_integer("slots", slots)
        self.dimensions = {
            "n_bodies": model.n_bodies,
            "n_places": model.n_bodies + 1,
            "n_shapes": len(self.shapes),
            "n_slots": self.slots,
        }
        self._is_made = True

    def with_slots(self, slots: int) -> Geometry:
        """This geometry with room for so many contacts."""
        made = object.__new__(Geometry)
        Tabulated.__init__(made)
        for name, value in vars(self).items():
            if name not in vars(made):
                object.__setattr__(made, name, value)
        object.__setattr__(made, "slots", slots)
        object.__setattr__(made, "dimensions", {**self.dimensions, "n_slots": slots})
        return made

    def remarks(self) -> list[str]:
        """What of the model does not collide, in words."""
        found, install = [], install_command("meshes")
        if self.meshes:
            names = ", ".join(self.meshes)
            found.append(f"meshes do not collide without coal ({install}): {names}")
        for shape in self.shapes:
            if shape.kind == HULL and shape.triangles and not shape.triangles.is_closed:
                found.append(
                    f"mesh {shape.name!r} is not closed: it has no inside, and what gets through "
                    "it is not pushed out; meshes='all' takes its convex hull"
                )
        hulls = {shape.name for shape in self.shapes if shape.kind == HULL}
        lonely = sorted(hulls.intersection(name for pair in self.not_handled for name in pair))
        if lonely:
            names = ", ".join(lonely[:5]) + (f" and {len(lonely) - 5} more" if lonely[5:] else "")
            found.append(
                f"these meshes touch planes only: {names}; meshes='all' lets them touch other "
                "shapes, which is slower"
            )
        others = [pair for pair in self.not_handled if not hulls.intersection(pair)]
        if others:
            pairs = ", ".join(" and ".join(p) for p in others)
            found.append(f"these shapes do not touch each other without coal ({install}): {pairs}")
        return found

    def bodies(self) -> set[int]:
        """Bodies that can touch something, 0 for the world."""
        pairs = (*self.pairs, *self.outside)
        return {self.shapes[k].body for pair in pairs for k in pair[:2]}

    def body_sizes(self) -> np.ndarray:
        """Diameter of the smallest shape of each body, the world first; infinite without shapes."""
        sizes = np.full(self.model.n_bodies + 1, np.inf)
        for shape in self.shapes:
            sizes[shape.body] = min(sizes[shape.body], 2.0 * shape.radius)
        return sizes

    def __repr__(self) -> str:
        return (
            f"<Geometry of {self.model.name!r}: {len(self.shapes)} shapes, {len(self.pairs)} pairs>"
        )
