"""What is seen in the browser: worlds of one model, and forces in them, on viser's scene."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..spatial.transform import rotation_to_quaternion
from . import forces
from .forces import Contacts, Drawn
from .motion import Motion
from .scene import HIDDEN, Scene, Thing, grid

_GREY = (150, 155, 165)
_CORNERS = 24  # of a cone


class Stage:
    """Bodies and arrows of all worlds, which stand in a grid."""

    def __init__(self, server: Any, scene: Scene, worlds: int):
        self.server, self.scene, self.worlds = server, scene, worlds
        self.drawn = Drawn.of(scene.model, scene.reach())
        self.offsets = grid(worlds, scene.reach())
        self._bodies: list[list[Any]] = []
        self._groups: dict[str, list[Any]] = {}
        self._arrows: dict[str, Any] = {}
        self._add_ground()
        for world in range(worlds):
            self._add_world(world)

    def move(self, motion: Motion) -> None:
        """Move the bodies of the worlds; poses are (worlds, n_bodies, ...)."""
        positions = motion.positions + self.offsets[: len(motion.positions), None]
        wxyz = np.roll(motion.quaternions, 1, axis=-1)
        with self.server.atomic():
            for bodies, p, w in zip(self._bodies, positions, wxyz, strict=False):
                for frame, position, quaternion in zip(bodies, p, w, strict=True):
                    frame.position, frame.wxyz = position, quaternion

    def look(self, motion: Motion) -> None:
        """Where browsers look from at first: at all worlds, from the front right."""
        points = (motion.positions + self.offsets[:, None]).reshape(-1, 3)
        low, high = points.min(axis=0), points.max(axis=0)
        middle, size = 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 0.5)
        size = max(size, self.scene.reach())
        camera = self.server.initial_camera
        camera.look_at = middle
        camera.position = middle + 1.35 * size * np.array([1.0, -0.75, 0.45])
        camera.fov, camera.near = 0.8, 0.01 * size

    # --- groups -----------------------------------------------------------------------------------

    @property
    def groups(self) -> dict[str, bool]:
        """Names of groups of shapes, and whether they are shown at first."""
        return {group: group not in HIDDEN for group in self._groups}

    def show(self, group: str, is_shown: bool) -> None:
        """Switch a group of shapes, or the frames of bodies."""
        with self.server.atomic():
            if group == "frames":
                for frame in (f for bodies in self._bodies for f in bodies):
                    frame.show_axes = is_shown
            for handle in self._groups.get(group, ()):
                handle.visible = is_shown

    # --- forces -----------------------------------------------------------------------------------

    def show_arrows(self, group: str, arrows: np.ndarray) -> None:
        """Show arrows (n, 2, 3) in place of those of the group before; n may be zero."""
        handle = self._arrows.get(group)
        if handle is None:
            if not len(arrows):
                return
            length = 0.02 * self.scene.reach()
            color = _bytes(forces.COLORS[forces.GROUPS.index(group)])
            self._arrows[group] = self.server.scene.add_arrows(
                f"/{group}", arrows.astype(np.float32), color,
                shaft_radius=0.4 * length, head_radius=length, head_length=2.5 * length,
            )  # fmt: skip
            return
        with self.server.atomic():
            if len(arrows):
                handle.points = arrows.astype(np.float32)
            handle.visible = len(arrows) > 0

    def show_cones(self, cones: np.ndarray) -> None:
        """Show cones (n, 7): apex, axis and friction, in place of those before."""
        group = forces.GROUPS[1]
        handle = self._arrows.get(group)
        if handle is not None:
            handle.visible = len(cones) > 0
        if not len(cones):
            return
        corners = _cones(cones).astype(np.float32)
        faces = np.arange(len(corners), dtype=np.uint32).reshape(-1, 3)
        if handle is None:
            self._arrows[group] = self.server.scene.add_mesh_simple(
                f"/{group}", corners, faces, color=_bytes(forces.COLORS[1]), opacity=0.35,
                side="double", cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
        elif len(handle.faces) == len(faces):
            handle.vertices = corners
        else:
            with self.server.atomic():
                handle.vertices, handle.faces = corners, faces

    def show_contacts(self, found: list[Contacts], is_shown: dict[str, bool]) -> None:
        """Show the contacts of each world, of groups that are shown."""
        moved = [c.moved(at) for c, at in zip(found, self.offsets, strict=False)]
        arrows, cones = [np.zeros((0, 2, 3))], [np.zeros((0, 7))]
        if is_shown[forces.GROUPS[0]]:
            arrows += [self.drawn.arrows(c.points, c.forces) for c in moved]
        if is_shown[forces.GROUPS[1]]:
            cones += [self.drawn.cones(c) for c in moved]
        self.show_arrows(forces.GROUPS[0], np.concatenate(arrows))
        self.show_cones(np.concatenate(cones))

    # --- parts ------------------------------------------------------------------------------------

    def _add_ground(self) -> None:
        reach, scene = self.scene.reach(), self.server.scene
        scene.set_up_direction("+z")
        cell = float(10.0 ** np.floor(np.log10(reach)))
        scene.add_grid(
            "/ground", infinite_grid=True, cell_size=cell, section_size=5.0 * cell,
            cell_color=_GREY, section_color=_GREY, fade_distance=40.0 * reach,
            plane_color=(235, 237, 240), plane_opacity=1.0, shadow_opacity=0.35,
            position=(0.0, 0.0, -1e-4 * reach),
        )  # fmt: skip

    def _add_world(self, world: int) -> None:
        length, scene = 0.1 * self.scene.reach(), self.server.scene
        self._bodies.append(
            [
                scene.add_frame(
                    f"/world_{world}/{k}",
                    show_axes=False,
                    axes_length=length,
                    axes_radius=length / 20,
                )
                for k in range(self.scene.model.n_bodies)
            ]
        )
        for number, thing in enumerate(self.scene.things):
            self._add(f"/world_{world}", number, thing, world)

    def _add(self, at: str, number: int, thing: Thing, world: int) -> None:
        triangles = thing_triangles(thing, self.scene.meshes)
        x, y, z, w = rotation_to_quaternion(thing.placement.rotation)
        in_world = thing.place < 0
        handle = self.server.scene.add_mesh_simple(
            f"{at}/thing_{number}" if in_world else f"{at}/{thing.place}/thing_{number}",
            vertices=triangles.reshape(-1, 3).astype(np.float32),
            faces=np.arange(3 * len(triangles)).reshape(-1, 3),
            color=thing.color[:3],
            opacity=None if thing.color[3] >= 1.0 else thing.color[3],
            flat_shading=thing.kind in ("box", "mesh"),
            side="double",
            wxyz=(w, x, y, z),
            position=thing.placement.translation + (self.offsets[world] if in_world else 0.0),
            visible=thing.group not in HIDDEN,
        )
        self._groups.setdefault(thing.group, []).append(handle)


def thing_triangles(thing: Thing, meshes: list[np.ndarray]) -> np.ndarray:
    """Triangles of a thing about its own placement."""
    import trimesh.creation as create

    size = thing.size
    match thing.kind:
        case "mesh":
            return meshes[thing.mesh] * np.array(size)
        case "box":
            return np.array(create.box(size).triangles)
        case "cylinder":
            return np.array(create.cylinder(size[0], size[1], sections=24).triangles)
        case "capsule":
            capsule = np.array(create.capsule(size[1], size[0], count=[16, 16]).triangles)
            middle = 0.5 * (capsule[..., 2].min() + capsule[..., 2].max())
            return capsule - np.array([0.0, 0.0, middle])
    ball = np.array(create.icosphere(subdivisions=2).triangles)
    return ball * (np.array(size) if thing.kind == "ellipsoid" else size[0])


def _cones(cones: np.ndarray) -> np.ndarray:
    """Corners (n, 3) of triangles: apex below, open above, as wide as friction lets it be."""
    apex, axis, friction = cones[:, :3], cones[:, 3:6], cones[:, 6:]
    height = np.linalg.norm(axis, axis=1, keepdims=True)
    other = np.eye(3)[np.argmin(np.abs(axis), axis=1)]
    first = np.cross(axis, other)
    first *= friction * height / np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(axis, first) / height
    angle = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)[:, None, None]
    rim = apex + axis + np.cos(angle) * first + np.sin(angle) * second
    middle = np.broadcast_to(apex, rim[:-1].shape)
    return np.stack([middle, rim[:-1], rim[1:]], axis=2).reshape(-1, 3)


def _bytes(color: tuple[float, ...]) -> tuple[int, ...]:
    return tuple(int(255 * c) for c in color)
