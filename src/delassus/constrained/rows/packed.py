"""Constraints as kernels read them: the arrays of a model, of pieces, and of the pieces' paths."""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ...compile.recorded.programs import concatenate
from ...errors import ModelError
from ...model.model import Model
from ...model.packed import INDEX, ModelArrays, index_record
from .pieces import COUPLING, IMPLICIT, PERPENDICULAR, Piece


def piece_type(real: np.dtype) -> np.dtype:
    """The record of a piece, with floating-point numbers of the given type."""
    return np.dtype(
        [
            ("kind", INDEX),
            ("row", INDEX),  # number of its first row
            ("count", INDEX),  # number of its rows
            ("pushes", INDEX),  # number of rows with a force; rows with a moment only come last
            ("is_plain", INDEX),  # whether the basis is the first rows of the identity
            ("padded_row", INDEX),  # number of its first padded row
            ("height", INDEX),  # number of its padded rows, a multiple of three
            ("path", INDEX),  # its first step in `steps`
            ("length", INDEX),  # number of steps of its path
            ("panel", INDEX),  # where its panel starts among those of all pieces
            ("frame", INDEX),
            ("other", INDEX),
            ("root", INDEX),  # root link of the tree that `frame` is on, 0 for the world
            ("other_root", INDEX),
            ("first_term", INDEX),  # its first term in `terms`
            ("term_count", INDEX),
            ("measure", INDEX),  # ROTATION_VECTOR or TILT_AND_TWIST
            ("program", INDEX),  # number of the first instruction of its function
            ("to_bias", INDEX),  # how many instructions compute phi, its Jacobian and its bias
            ("to_end", INDEX),  # how many instructions its function has in all
            ("registers", INDEX),  # number of its first register
            ("register_count", INDEX),
            ("screw", INDEX),  # row whose error is counted modulo a turn of a screw, or -1
            ("basis", real, (36,)),  # six numbers for each row: linear, then angular
            ("axis", real, (3,)),
            ("other_axis", real, (3,)),
            ("pitch", real),  # of the screw, in metres a radian
            ("rest", real),  # the length, cosine or sum that the row prescribes
        ],
        align=True,
    )


def step_type(real: np.dtype) -> np.dtype:
    """The record of a step: a degree of freedom that carries a frame or joint of a piece.

    Between frames, `weight` is 1 if it carries `frame` only, -1 if it carries `other` only, 0 if it
    carries both. Between joints, a degree of freedom of the piece has its coefficient as `weight`
    (1 in an IMPLICIT piece) and its number among the piece's terms as `term`; one that only carries
    such joints has weight 0 and term -1.
    """
    return np.dtype([("dof", INDEX), ("weight", real), ("term", INDEX)], align=True)


def term_type(real: np.dtype) -> np.dtype:
    """The record of a joint coordinate of a COUPLING or IMPLICIT piece, with its indices."""
    return np.dtype([("q", INDEX), ("v", INDEX), ("coefficient", real)], align=True)


# Two pieces whose paths share steps: other <= piece, and where these are in `shared_steps`.
MEETING = index_record("piece", "other", "first", "count")
# A degree of freedom on two paths, and its place on each.
SHARED_STEP = index_record("dof", "place", "other_place")


# Extents that shapes of kernels' arguments name.
DIMENSIONS = ("nq", "nv", "n_bodies", "m", "size")
# Arrays that all kernels on constraints read: those of the model, pieces, terms, and instructions
# and constants of all recorded functions (see `compile.recorded.programs`).
ROW_FIELDS = (*ModelArrays._fields, "pieces", "terms", "code", "constants")


def row_types(real: np.dtype) -> tuple[np.dtype, ...]:
    """The element type of each array of ROW_FIELDS."""
    own = (piece_type(real), term_type(real), np.dtype(np.int64), real)
    return (*ModelArrays.array_types(real), *own)


class PathArrays(namedtuple("PathArrays", (*ROW_FIELDS, "steps"))):
    """The arrays of a model, of rows on it, and of paths.

    `steps` are the steps of all pieces, each path from the last degree of freedom to the first.
    """

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*row_types(real), step_type(real))

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> PathArrays:
        """The arrays of rows, in one precision."""
        found = constraints.paths(real)
        steps = [(dof, *step) for path in found.paths for dof, step in path.items()]
        return cls(*found.rows, np.array(steps, step_type(real)))


class ConstrainedArrays(
    namedtuple("ConstrainedArrays", (*PathArrays._fields, "meetings", "shared_steps"))
):
    """The arrays of a model, of rows on it, of paths, and of steps that two paths share.

    `meetings` are pairs of pieces, `shared_steps` the steps of both paths, and where on each.
    """

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*PathArrays.array_types(real), MEETING, SHARED_STEP)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> ConstrainedArrays:
        """The arrays of rows, paths and shared steps, in one precision."""
        meetings = find_meetings(constraints.paths(real).paths)
        return cls(*PathArrays.pack(constraints, real), *meetings)


# The number of padded rows of a piece is a multiple of this: kernels take three rows at a time.
ROWS_TOGETHER = 3


class Paths(NamedTuple):
    """Pieces with numbered rows, and their paths.

    - records: the pieces (see `piece_type`)
    - groups: for each piece, the number of the declared constraint that it is part of
    - paths: for each piece, its degrees of freedom with (weight, term) (see `step_type`)
    """

    arrays: ModelArrays
    records: np.ndarray
    groups: np.ndarray
    terms: np.ndarray
    code: np.ndarray
    constants: np.ndarray
    paths: list[dict[int, tuple[float, int]]]

    @property
    def rows(self) -> tuple:
        """The arrays of ROW_FIELDS."""
        return (*self.arrays, self.records, self.terms, self.code, self.constants)


def find_paths(model: Model, declared: list[list[Piece]], real: np.dtype) -> Paths:
    """Number the rows of all pieces, and find their paths, in one precision."""
    arrays = ModelArrays.pack(model, real)
    groups = [group for group, own in enumerate(declared) for _ in own]
    parts = [part for own in declared for part in own]
    records = np.zeros(len(parts), piece_type(real))
    terms: list[tuple[int, int, float]] = []
    paths: list[dict[int, tuple[float, int]]] = []
    for record, part in zip(records, parts, strict=True):
        _fill(record, part)
        if part.terms:
            own = _terms(model, part)
            record["first_term"], record["term_count"] = len(terms), len(own)
            terms += own
            paths.append(_joints_path(arrays, own))
        else:
            paths.append(_frames_path(model, arrays, record, part))
    records["length"] = [len(path) for path in paths]
    records["height"] = -(-records["count"] // ROWS_TOGETHER) * ROWS_TOGETHER
    for place, size in (("row", "count"), ("padded_row", "height"), ("path", "length")):
        records[place] = _starts(records[size])
    records["panel"] = _starts(records["height"] * records["length"])
    records["registers"] = _starts(records["register_count"])
    programs = [part.program for part in parts if part.program is not None]
    code, constants, records["program"][records["kind"] == IMPLICIT] = concatenate(programs)
    terms = np.array(terms, term_type(real))
    groups = np.array(groups, np.int64)
    return Paths(arrays, records, groups, terms, code, constants.astype(real), paths)


def _fill(record, part: Piece) -> None:
    """Fill the fields of a piece's record that do not depend on the model."""
    for name in ("kind", "count", "measure", "screw", "axis", "other_axis", "pitch", "rest"):
        record[name] = getattr(part, name)
    record["pushes"] = 0 if part.kind == PERPENDICULAR else part.count
    if part.basis is not None:
        record["basis"][: part.basis.size] = part.basis.ravel()
        record["pushes"] = np.flatnonzero(part.basis[:, :3].any(axis=1)).max(initial=-1) + 1
        record["is_plain"] = part.count in (3, 6) and np.array_equal(
            part.basis, np.eye(6)[: part.count]
        )
    if part.program is not None:
        record["to_bias"] = part.program.to_bias
        record["to_end"] = len(part.program.instructions)
        record["register_count"] = part.program.registers


def _starts(counts: np.ndarray) -> np.ndarray:
    """Where each part starts, for parts of these sizes one after the other."""
    return np.cumsum(counts) - counts


def sizes(records: np.ndarray) -> dict[str, int]:
    """Extents of work memory: padded rows, numbers of all panels, registers."""
    return {
        "padded_rows": int(records["height"].sum()),
        "panels": int((records["height"] * records["length"]).sum()),
        "registers": int(records["register_count"].sum()),
    }


def _terms(model: Model, part: Piece) -> list[tuple[int, int, float]]:
    """The terms of a piece between joints: indices in q and v, and coefficient."""
    found = []
    for name, coefficient in part.terms:
        joint = model.joint(name)
        if part.kind == COUPLING and joint.nv != 1:
            raise ModelError(
                f"joint {name!r} has {joint.nv} degrees of freedom; a coupling is between joints "
                "of one"
            )
        found += [(joint.q.start + k, joint.v.start + k, coefficient) for k in range(joint.nv)]
    return found


def _frames_path(model: Model, arrays: ModelArrays, record, part: Piece) -> dict:
    """The path of a piece between frames. Also stores its frames and root links in the record."""
    links, tips = arrays.links, []
    for side, name in (("", part.frame), ("other_", part.other)):
        index = model.frame_index(name)
        link = int(arrays.frames[index]["link"])
        record["other" if side else "frame"] = index
        tips.append(int(links[link]["v"] + links[link]["nv"] - 1))
        while links[link]["parent"] > 0:
            link = int(links[link]["parent"])
        record[side + "root"] = link
    if tips[0] == tips[1]:
        raise ModelError(
            f"frames {part.frame!r} and {part.other!r} are on the same body: a constraint between "
            "them restrains nothing"
        )
    one, other = (set(_carriers(arrays.dof_parent, tip)) for tip in tips)
    steps = {k: (float(k in one) - float(k in other), -1) for k in one | other}
    return dict(sorted(steps.items(), reverse=True))


def _joints_path(arrays: ModelArrays, terms) -> dict[int, tuple[float, int]]:
    """The path of a piece between joints."""
    steps = {k: (0.0, -1) for _, v, _ in terms for k in _carriers(arrays.dof_parent, v)}
    steps.update({v: (coefficient, t) for t, (_, v, coefficient) in enumerate(terms)})
    return dict(sorted(steps.items(), reverse=True))


def _carriers(dof_parent: np.ndarray, k: int) -> list[int]:
    """A degree of freedom and all that carry it, from it to the world."""
    path = []
    while k >= 0:
        path.append(int(k))
        k = dof_parent[k]
    return path


def find_meetings(paths: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of pieces whose paths share steps, and the shared steps."""
    meetings, shared = [], []
    places = [{k: place for place, k in enumerate(path)} for path in paths]
    for c, own in enumerate(places):
        for d, other in enumerate(places[: c + 1]):
            common = [(k, place, other[k]) for k, place in own.items() if k in other]
            if common:
                meetings.append((c, d, len(shared), len(common)))
                shared += common
    return np.array(meetings, MEETING), np.array(shared, SHARED_STEP)
