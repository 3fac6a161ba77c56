"""What is seen in the browser: worlds of one model, and forces in them, on viser's scene."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from . import forces
from .forces import Contacts, Drawn
from .motion import Motion, product, quaternions_of, rotated
from .scene import HIDDEN, Scene, Thing, grid

_GREY = (150, 155, 165)
_CORNERS = 24  # of a cone


class Stage:
    """Bodies and arrows of all worlds, which stand in a grid."""

    def __init__(self, server: Any, scene: Scene, worlds: int):
        self.server, self.scene, self.worlds = server, scene, worlds
        self.drawn = Drawn.of(scene.model, scene.reach())
        self.offsets = grid(worlds, scene.reach())
        # Panels call from threads of their own, and viser loses changes that two make at a time.
        self._lock = threading.RLock()
        self._batches: list[Batch] = []
        bodies = worlds, scene.model.n_bodies
        self._positions, self._quaternions = np.zeros((*bodies, 3)), np.zeros((*bodies, 4))
        self._quaternions[..., 3] = 1.0
        self._arrows: dict[str, Any] = {}
        self._add_ground()
        self._add_shapes()
        self._add_frames()

    def move(self, motion: Motion) -> None:
        """Move the bodies of the worlds; poses are (worlds, n_bodies, ...)."""
        worlds = len(motion.positions)
        self._positions[:worlds] = motion.positions + self.offsets[:worlds, None]
        self._quaternions[:worlds] = motion.quaternions
        self._follow()

    def _follow(self) -> None:
        """Shapes that are shown follow their bodies."""
        positions, quaternions = self._positions.reshape(-1, 3), self._quaternions.reshape(-1, 4)
        turn = quaternions[self._places]
        at = positions[self._places] + rotated(turn, self._at)
        wxyz = product(turn, self._turned)[:, [3, 0, 1, 2]]
        with self._lock, self.server.atomic():
            for batch in self._batches:
                if batch.handle.visible and not batch.is_still:
                    batch.handle.batched_positions = at[batch.own]
                    batch.handle.batched_wxyzs = wxyz[batch.own]
            if self.frames.visible:
                self.frames.batched_positions = positions
                self.frames.batched_wxyzs = quaternions[:, [3, 0, 1, 2]]

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
        return {batch.group: batch.group not in HIDDEN for batch in self._batches}

    def show(self, group: str, is_shown: bool) -> None:
        """Switch a group of shapes, or the frames of bodies."""
        with self._lock, self.server.atomic():
            if group == "frames":
                self.frames.visible = is_shown
            for batch in self._batches:
                if batch.group == group:
                    batch.handle.visible = is_shown
            self._follow()

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
        with self._lock, self.server.atomic():
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
            with self._lock, self.server.atomic():
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

    def _add_frames(self) -> None:
        """Axes of all bodies."""
        length = 0.1 * self.scene.reach()
        nothing = np.zeros((self.worlds * self.scene.model.n_bodies, 4))
        nothing[:, 0] = 1.0
        self.frames = self.server.scene.add_batched_axes(
            "/frames", nothing, nothing[:, 1:], axes_length=length, axes_radius=length / 20,
            visible=False,
        )  # fmt: skip

    def _add_shapes(self) -> None:
        """Shapes that look alike but for place, scale and color are one batch: browsers get few
        messages for many bodies.
        """
        alike: dict[tuple, list[Thing]] = {}
        for thing in self.scene.things:
            own = thing.size if thing.kind == "capsule" else ()
            opacity = round(thing.color[3], 2)
            key = (thing.group, opacity, thing.kind, own, thing.mesh, thing.place < 0)
            alike.setdefault(key, []).append(thing)
        places, at, turned = [], [], []
        for number, (key, things) in enumerate(alike.items()):
            batch = Batch(self, f"/shapes/{number}", key[0], things, len(places))
            self._batches.append(batch)
            places += batch.places
            at += [*batch.at]
            turned += [*batch.turned]
        self._places = np.array(places, int)
        self._at, self._turned = np.array(at).reshape(-1, 3), np.array(turned).reshape(-1, 4)


class Batch:
    """Shapes with one surface, in all worlds; `own` are theirs among all of the stage."""

    def __init__(self, stage: Stage, name: str, group: str, things: list[Thing], start: int):
        first, n = things[0], stage.scene.model.n_bodies
        many = [(world, thing) for world in range(stage.worlds) for thing in things]
        self.group, self.is_still = group, first.place < 0
        self.own = slice(start, start + len(many))
        self.places = [world * n + max(thing.place, 0) for world, thing in many]
        self.at = np.array([thing.placement.translation for _, thing in many])
        self.turned = quaternions_of(np.array([thing.placement.rotation for _, thing in many]))
        offsets = stage.offsets[[world for world, _ in many]]
        surface = thing_triangles(first, stage.scene.meshes).reshape(-1, 3).astype(np.float32)
        self.handle = stage.server.scene.add_batched_meshes_simple(
            name,
            surface,
            np.arange(len(surface), dtype=np.uint32).reshape(-1, 3),
            batched_wxyzs=self.turned[:, [3, 0, 1, 2]],
            batched_positions=self.at + offsets,
            batched_scales=np.array([_scale(thing) for _, thing in many]),
            batched_colors=np.array([_bytes(thing.color[:3]) for _, thing in many], np.uint8),
            opacity=None if first.color[3] >= 1.0 else first.color[3],
            flat_shading=first.kind in ("box", "mesh"),
            side="double",
            lod="off",
            visible=group not in HIDDEN,
        )


def _scale(thing: Thing) -> tuple[float, ...]:
    """By how much the surface of a kind is longer along its axes."""
    match thing.kind:
        case "capsule":
            return (1.0, 1.0, 1.0)
        case "cylinder":
            return (thing.size[0], thing.size[0], thing.size[1])
        case "sphere":
            return (thing.size[0],) * 3
    return thing.size


def thing_triangles(thing: Thing, meshes: list[np.ndarray]) -> np.ndarray:
    """Triangles of a thing about its own placement, before it is scaled."""
    import trimesh.creation as create

    match thing.kind:
        case "mesh":
            return meshes[thing.mesh]
        case "box":
            return np.array(create.box((1.0, 1.0, 1.0)).triangles)
        case "cylinder":
            return np.array(create.cylinder(1.0, 1.0, sections=24).triangles)
        case "capsule":
            radius, length = thing.size
            capsule = np.array(create.capsule(length, radius, count=[16, 16]).triangles)
            middle = 0.5 * (capsule[..., 2].min() + capsule[..., 2].max())
            return capsule - np.array([0.0, 0.0, middle])
    return np.array(create.icosphere(subdivisions=2).triangles)


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
