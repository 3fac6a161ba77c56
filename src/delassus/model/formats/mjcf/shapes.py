"""Geoms of a compiled MJCF model as shapes."""

from __future__ import annotations

import numpy as np

from ...builder import ModelBuilder
from ...parts.contacts import Surface
from ...parts.elements import Shape
from ..meshes import MeshFinder
from ..report import Report
from .contacts import report_contact, softness
from .flags import is_disabled
from .names import MjcfNames, blamed, placement_of

_KINDS = {
    **{0: "plane", 1: "heightfield", 2: "sphere", 3: "capsule"},
    **{4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"},
}


def add_geoms(
    builder: ModelBuilder, compiled, names: MjcfNames, meshes: MeshFinder, report: Report
) -> None:
    """Add geoms that can collide as collision shapes, the others as visual ones."""
    in_pairs = {*map(int, compiled.pair_geom1), *map(int, compiled.pair_geom2)}
    for i, name in enumerate(names.geoms):
        with blamed("geom", name):
            _add_geom(builder, compiled, names, i, meshes, i in in_pairs, report)


def _add_geom(
    builder: ModelBuilder,
    compiled,
    names: MjcfNames,
    i: int,
    meshes: MeshFinder,
    in_pair: bool,
    report: Report,
) -> None:
    kind = _KINDS.get(int(compiled.geom_type[i]))
    if kind is None:
        report.ignore("<geom> of another type")
        return
    at = placement_of(compiled.geom_pos[i], compiled.geom_quat[i])
    path = heights = None
    if kind == "heightfield":
        size, heights = _heights(compiled, int(compiled.geom_dataid[i]))
    elif kind == "mesh":
        mesh = int(compiled.geom_dataid[i])
        # The compiler centres meshes; this undoes it.
        at = at @ placement_of(compiled.mesh_pos[mesh], compiled.mesh_quat[mesh]).inverse()
        size = compiled.mesh_scale[mesh]
        path = _path(compiled, mesh, meshes)
    else:
        size = _size(kind, compiled.geom_size[i])
    can_collide = in_pair or bool(compiled.geom_contype[i] or compiled.geom_conaffinity[i])
    can_collide = can_collide and not is_disabled(compiled, "contact")
    names.read_geoms.add(i)
    builder.add_shape(
        Shape(
            names.geoms[i],
            names.bodies[compiled.geom_bodyid[i]],
            "collision" if can_collide else "visual",
            kind,
            at,
            tuple(map(float, size)),
            path,
            tuple(map(float, compiled.geom_rgba[i])),
            _surface(compiled, i, report) if can_collide else Surface(),
            heights,
        )
    )


def _heights(compiled, field: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges along x and y, and heights, of a height field; what is below it is left out."""
    rows, columns = int(compiled.hfield_nrow[field]), int(compiled.hfield_ncol[field])
    start, (x, y, top, _) = int(compiled.hfield_adr[field]), compiled.hfield_size[field]
    data = np.array(compiled.hfield_data[start : start + rows * columns], float)
    return np.array([2.0 * x, 2.0 * y]), top * data.reshape(rows, columns)


def _surface(compiled, i: int, report: Report) -> Surface:
    """What a geom says of its contacts."""
    report_contact(report, "geom", compiled.geom_condim[i], compiled.geom_gap[i])
    for field in ("adhesion", "surfacevel"):
        if np.any(getattr(compiled, f"geom_{field}", np.zeros(i + 1))[i]):
            report.ignore(f"{field}= of <geom>")
    return Surface(
        contype=int(compiled.geom_contype[i]),
        conaffinity=int(compiled.geom_conaffinity[i]),
        friction=float(compiled.geom_friction[i, 0]),
        softness=softness(compiled.geom_solref[i], compiled.geom_solimp[i]),
        margin=float(compiled.geom_margin[i]),
        priority=int(compiled.geom_priority[i]),
        condim=1 if compiled.geom_condim[i] == 1 else 3,
    )


def _size(kind: str, half: np.ndarray) -> list[float]:
    if kind in ("capsule", "cylinder"):
        return [half[0], 2.0 * half[1]]
    return {"plane": [], "sphere": half[:1], "ellipsoid": half, "box": 2.0 * half}[kind]


def _path(compiled, mesh: int, meshes: MeshFinder) -> str:
    start = int(compiled.mesh_pathadr[mesh])
    if start < 0:
        return compiled.mesh(mesh).name
    text = bytes(compiled.paths)[start:]
    return meshes.find(text[: text.find(b"\0")].decode())
