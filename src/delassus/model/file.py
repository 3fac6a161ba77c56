"""The library's own file of a model: one JSON file that holds every number exactly."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import numpy as np

from ..errors import DataTypeError, FileFormatError, MissingFileError, ModelError
from ..spatial.inertia import Inertia
from ..spatial.transform import Transform
from .builder import ModelBuilder
from .constraints import (
    Closure,
    Connect,
    Constraint,
    Coupling,
    Distance,
    Gear,
    Implicit,
    Weld,
)
from .elements import WORLD, Body, Frame, JointData, Shape
from .formats.json import Item, number, parse
from .formats.options import Options
from .formats.report import Report
from .joints import JOINT_TYPES, Free, JointType
from .model import Model

FORMAT = "delassus model"
VERSION = 1
_JOINT_DATA = tuple(field.name for field in fields(JointData))
_FRAME_CONSTRAINTS = {"Connect": Connect, "Weld": Weld}


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file. A failure leaves what was there before."""
    if not isinstance(path, (str, os.PathLike)):
        raise DataTypeError(f"a file is named by a string or a Path, got {path!r}")
    target = Path(os.path.realpath(path))
    content = _layout(_model_record(model))
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(draft, "x", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"there is no folder {str(target.parent)!r}") from None
    finally:
        with suppress(OSError):
            draft.unlink()


def read_saved(content: bytes, options: Options, report: Report) -> Model:
    """The model in a file's bytes."""
    root = parse(content, report.file)
    if not isinstance(root.value, dict) or root.value.get("format") != FORMAT:
        raise root.error(f"a JSON file, but not one that Model.save wrote ('format': {FORMAT!r})")
    version = root.value.get("version")
    if version != VERSION:
        raise root.error(f"of version {version!r}; this library reads version {VERSION}")
    root.object(
        ("format", "version", "name", "gravity", "bodies", "frames", "constraints", "shapes")
    )
    with root.blamed():
        builder = ModelBuilder(root["name"].text(), root["gravity"].numbers(3))
        for item in root["bodies"].items():
            _read_body(builder, item)
        for item in root["frames"].items():
            _read_frame(builder, item)
        for item in root["constraints"].items():
            with item.blamed():
                builder.add_constraint(_read_constraint(item))
        for item in root["shapes"].items():
            _read_shape(builder, item)
        model = builder.build()
    if options.floating_base and not any(
        b.parent < 0 and isinstance(b.joint.type, Free) for b in model.bodies
    ):
        raise FileFormatError(f"{report.file}: the model was saved without a floating base")
    return model


# --- writing --------------------------------------------------------------------------------------


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


def _model_record(model: Model) -> dict:
    names = [*(body.name for body in model.bodies), WORLD]  # the world is body -1
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": model.name,
        "gravity": _list(model.gravity),
        "bodies": [_body_record(body, names) for body in model.bodies],
        "frames": [_frame_record(frame, names) for frame in model.frames],
        "constraints": [_constraint_record(constraint) for constraint in model.constraints],
        "shapes": [_shape_record(shape) for shape in model.shapes],
    }


def _body_record(body: Body, names: list[str]) -> dict:
    joint = body.joint
    return {
        "name": body.name,
        "parent": names[body.parent],
        "joint": {
            "name": joint.name,
            "type": _type_record(joint.type),
            "independent": joint.independent,
            **{name: _list(getattr(joint.data, name)) for name in _JOINT_DATA},
        },
        "placement": _placement_record(body.placement),
        "inertia": _inertia_record(body.inertia),
    }


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


def _constraint_record(constraint: Constraint) -> dict:
    record: dict = {"type": type(constraint).__name__}
    if isinstance(constraint, Implicit):
        raise ModelError(
            f"the Implicit constraint on {', '.join(map(repr, constraint.joints))} holds a Python "
            "function, which cannot be saved; build the model without it and add it after loading"
        )
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


def _shape_record(shape: Shape) -> dict:
    return {
        "name": shape.name,
        "frame": shape.frame,
        "role": shape.role,
        "kind": shape.kind,
        "placement": _placement_record(shape.placement),
        "size": _list(shape.size),
        "mesh": shape.mesh,
        "color": None if shape.color is None else _list(shape.color),
    }


def _placement_record(placement: Transform) -> dict:
    return {"rotation": _list(placement.rotation), "translation": _list(placement.translation)}


def _list(numbers) -> list:
    return [number(x) for x in np.ravel(numbers)]


# --- reading --------------------------------------------------------------------------------------


def _read_body(builder: ModelBuilder, item: Item) -> None:
    item.object(("name", "parent", "joint", "placement", "inertia"))
    joint = item["joint"].object(("name", "type", "independent", *_JOINT_DATA))
    data = {key: joint[key].numbers(infinite=True) for key in _JOINT_DATA}
    independent = joint["independent"].flag() if joint.has("independent") else None
    with item.blamed():
        builder.add_body(
            item["name"].text(),
            item["parent"].text(),
            _read_type(joint["type"]),
            _read_placement(item["placement"]),
            inertia=_read_inertia(item["inertia"]),
            joint_name=joint["name"].text(),
            independent=independent,
            named_frame=False,
            **data,
        )


def _read_inertia(item: Item) -> Inertia:
    item.object(("mass", "center", "matrix"))
    mass, center = item["mass"].number(), np.array(item["center"].numbers(3))
    matrix = np.array(item["matrix"].numbers(9)).reshape(3, 3)
    # What a model may hold is decided when it is made, so only corruption is looked for here.
    if mass < 0.0:
        raise item["mass"].error(f"the mass is negative ({mass:g})")
    if not np.allclose(matrix, matrix.T, rtol=0.0, atol=1e-6 * np.abs(matrix).max()):
        raise item["matrix"].error("the matrix is not symmetric")
    return Inertia(mass, center, matrix)


def _read_type(item: Item) -> JointType:
    names = {name: kind for name, kind in JOINT_TYPES.items() if kind.nv}
    if item.kind() not in names:
        raise item.error(f"expected the type of a joint: {', '.join(names)}")
    kind = names[item.kind()]
    parameters = [field.name for field in fields(kind)]
    item.object(("type", *parameters))
    values = {
        name: item[name].number() if name == "pitch" else tuple(item[name].numbers(3))
        for name in parameters
    }
    with item.blamed():
        return kind(**values)


def _read_frame(builder: ModelBuilder, item: Item) -> None:
    item.object(("name", "body", "placement"), ("inertia",))
    body = item["body"].text()
    if not builder.has_body(body):
        raise item["body"].error(f"there is no body {body!r}")
    inertia = _read_inertia(item["inertia"]) if item.has("inertia") else None
    if inertia is not None and body != WORLD:
        raise item["inertia"].error("belongs to the body")
    with item.blamed():
        builder.add_frame(item["name"].text(), body, _read_placement(item["placement"]), inertia)


def _read_constraint(item: Item) -> Constraint:
    kind = item.kind()
    if kind in _FRAME_CONSTRAINTS:
        item.object(("type", "frame", "other"))
        return _FRAME_CONSTRAINTS[kind](item["frame"].text(), item["other"].text())
    if kind == "Closure":
        item.object(("type", "joint_type", "frame", "other"))
        joint_type = _read_type(item["joint_type"])
        return Closure(joint_type, item["frame"].text(), item["other"].text())
    if kind == "Gear":
        item.object(("type", "joint", "other", "ratio", "offset"))
        numbers = item["ratio"].number(), item["offset"].number()
        return Gear(item["joint"].text(), item["other"].text(), *numbers)
    if kind == "Coupling":
        item.object(("type", "coefficients", "offset"))
        table = item["coefficients"]
        coefficients = {name: table[name].number() for name in table.names()}
        return Coupling(coefficients, item["offset"].number())
    if kind == "Distance":
        item.object(("type", "frame", "other", "length"))
        return Distance(item["frame"].text(), item["other"].text(), item["length"].number())
    raise item.error("expected a constraint: Connect, Weld, Closure, Gear, Coupling or Distance")


def _read_shape(builder: ModelBuilder, item: Item) -> None:
    item.object(("name", "frame", "role", "kind", "placement", "size", "mesh", "color"))
    texts = [item[key].text() for key in ("name", "frame", "role", "kind")]
    mesh = item["mesh"].text() if item.has("mesh") else None
    color = tuple(item["color"].numbers(4)) if item.has("color") else None
    with item.blamed():
        placement = _read_placement(item["placement"])
        builder.add_shape(Shape(*texts, placement, tuple(item["size"].numbers()), mesh, color))


def _read_placement(item: Item) -> Transform:
    item.object(("rotation", "translation"))
    rotation = np.array(item["rotation"].numbers(9)).reshape(3, 3)
    with item.blamed():
        return Transform.of((rotation, np.array(item["translation"].numbers(3))))
