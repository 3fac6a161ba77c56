"""Writing a model to a file of the library's own: one JSON file that holds every number exactly.

`formats.saved` reads it back.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import numpy as np

from ..checks import file_path
from ..compile.recorded.formulas import Formula, formula_of
from ..errors import DelassusError, FileAccessError, MissingFileError, ModelError
from ..spatial.inertia import Inertia
from ..spatial.transform import Transform
from .parts.actuators import Actuator
from .parts.constraints import Constraint, Coupling, Implicit
from .parts.contacts import ContactExclusion, ContactPair, Surface
from .parts.elements import WORLD, Body, Frame, JointData, Shape
from .parts.joints import JointType
from .parts.keyframes import Keyframe

FORMAT = "delassus model"
VERSION = 1
# Entries that stand in a file only where they differ from the defaults of the class.
SURFACE = tuple(field.name for field in fields(Surface))
EQUIPMENT = ("actuators", "contact_exclusions", "contact_pairs", "keyframes")
JOINT_DATA = tuple(field.name for field in fields(JointData))


def save(model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file. A failure leaves what was there before."""
    path = file_path(path)
    content = _layout(_model_record(model))
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            raise OSError("not a regular file")
        _replace(target, content)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"there is no folder {str(target.parent)!r}") from None
    except (OSError, ValueError) as error:  # ValueErrors are of names that no file can have
        reason = getattr(error, "strerror", None) or error
        raise FileAccessError(f"{str(path)!r} cannot be written: {reason}") from None


def _replace(target: Path, content: str) -> None:
    """Write a new file and put it in the place of an old one."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(draft, "x", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        with suppress(OSError):
            draft.unlink()


def _layout(record: dict) -> str:
    """JSON with one body, frame, constraint or shape a line."""
    lines = []
    for key, value in record.items():
        text = json.dumps(value, allow_nan=False)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n".join("  " + json.dumps(row, allow_nan=False) for row in value)
            text = f"[\n{rows}\n ]"
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _model_record(model) -> dict:
    names = [*(body.name for body in model.bodies), WORLD]  # the world is body -1
    record = {
        "format": FORMAT,
        "version": VERSION,
        "name": model.name,
        "gravity": _list(model.gravity),
        "bodies": [_body_record(body, names) for body in model.bodies],
        "frames": [_frame_record(frame, names) for frame in model.frames],
        "constraints": [_constraint_record(model, constraint) for constraint in model.constraints],
        "shapes": [_shape_record(shape) for shape in model.shapes],
    }
    if model.describes_world:
        record["describes_world"] = True
    for name in EQUIPMENT:
        parts = getattr(model, name)
        found = list(parts.values()) if name == "keyframes" else parts
        if found:  # a model without them is written as before they were known
            record[name] = [_plain_record(part) for part in found]
    return record


def _plain_record(part: Actuator | ContactExclusion | ContactPair | Keyframe) -> dict:
    """All fields of a part that are not None: texts, flags, numbers, lists of texts or numbers."""
    record = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if value is not None:
            record[field.name] = _plain(value)
    return record


def _plain(value):
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, tuple) and all(isinstance(x, str) for x in value):
        return list(value)
    return _list(value) if isinstance(value, (tuple, np.ndarray)) else number(value)


def _body_record(body: Body, names: list[str]) -> dict:
    joint = body.joint
    record = {
        "name": body.name,
        "parent": names[body.parent],
        "joint": {
            "name": joint.name,
            "type": _type_record(joint.type),
            "independent": joint.independent,
            **{name: _list(getattr(joint.data, name)) for name in JOINT_DATA},
        },
        "placement": _placement_record(body.placement),
        "inertia": _inertia_record(body.inertia),
    }
    if body.gravity_compensation:
        record["gravity_compensation"] = number(body.gravity_compensation)
    return record


def _inertia_record(inertia: Inertia) -> dict:
    return {
        "mass": number(inertia.mass),
        "center": _list(inertia.center),
        "matrix": _list(inertia.matrix),
    }


def _type_record(joint_type: JointType) -> dict:
    record = {"type": type(joint_type).__name__}
    for field in fields(joint_type):
        value = getattr(joint_type, field.name)
        record[field.name] = _list(value) if isinstance(value, tuple) else number(value)
    return record


def _frame_record(frame: Frame, names: list[str]) -> dict:
    record = {
        "name": frame.name,
        "body": names[frame.body],
        "placement": _placement_record(frame.placement),
    }
    if frame.inertia.mass or frame.inertia.matrix.any():
        record["inertia"] = _inertia_record(frame.inertia)
    return record


def _constraint_record(model, constraint: Constraint) -> dict:
    record: dict = {"type": type(constraint).__name__}
    if isinstance(constraint, Implicit):
        formula = _formula(model, constraint)
        steps = [list(step) for step in formula.steps]
        return record | {"joints": list(constraint.joints), "steps": steps, "rows": formula.rows}
    if isinstance(constraint, Coupling):
        coefficients = {name: number(x) for name, x in constraint.coefficients.items()}
        return record | {"coefficients": coefficients, "offset": number(constraint.offset)}
    for field in fields(constraint):
        value = getattr(constraint, field.name)
        if isinstance(value, JointType):
            record[field.name] = _type_record(value)
        else:
            record[field.name] = value if isinstance(value, str) else number(value)
    return record


def _formula(model, constraint: Implicit) -> Formula:
    """The function of an Implicit constraint as data."""
    if isinstance(constraint.function, Formula):
        return constraint.function
    try:
        return formula_of(constraint.function, sum(model.joint(j).nq for j in constraint.joints))
    except DelassusError as error:
        raise ModelError(
            f"the Implicit constraint on {', '.join(map(repr, constraint.joints))} holds a Python "
            f"function, which cannot be saved: {error}"
        ) from None


def _shape_record(shape: Shape) -> dict:
    given, default = shape.surface, Surface()
    changed = [name for name in SURFACE if getattr(given, name) != getattr(default, name)]
    return {
        "name": shape.name,
        "frame": shape.frame,
        "role": shape.role,
        "kind": shape.kind,
        "placement": _placement_record(shape.placement),
        "size": _list(shape.size),
        "mesh": shape.mesh,
        "color": None if shape.color is None else _list(shape.color),
        **({} if shape.heights is None else {"heights": [_list(row) for row in shape.heights]}),
        **{name: _plain(getattr(given, name)) for name in changed},
    }


def _placement_record(placement: Transform) -> dict:
    return {"rotation": _list(placement.rotation), "translation": _list(placement.translation)}


def _list(numbers) -> list:
    return [number(x) for x in np.ravel(numbers)]


def number(x: float) -> float | str:
    """A number as JSON holds it: infinities as texts, all others exactly."""
    x = float(x)
    return x if math.isfinite(x) else ("inf" if x > 0 else "-inf")
