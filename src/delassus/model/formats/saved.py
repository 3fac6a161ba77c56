"""Reading a file that `Model.save` wrote."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ...compile.recorded.formulas import OPERATIONS, Formula
from ...compile.recorded.programs import record
from ...errors import FileFormatError
from ...spatial.inertia import Inertia
from ...spatial.transform import Transform
from ..builder import ModelBuilder
from ..model import Model
from ..parts.constraints import (
    Closure,
    Connect,
    Constraint,
    Coupling,
    Distance,
    Gear,
    Implicit,
    Weld,
)
from ..parts.elements import WORLD, Shape
from ..parts.joints import JOINT_TYPES, Free, JointType
from ..saving import EQUIPMENT, FORMAT, JOINT_DATA, SURFACE, VERSION
from .json import Item, parse
from .options import Options
from .report import Report
from .saved_equipment import read_equipment, read_surface

_FRAME_CONSTRAINTS = {"Connect": Connect, "Weld": Weld}


def read_saved(content: bytes, options: Options, report: Report) -> Model:
    """The model in a file's bytes."""
    root = parse(content, report.file)
    if not isinstance(root.value, dict) or root.value.get("format") != FORMAT:
        raise root.error(f"a JSON file, but not one that Model.save wrote ('format': {FORMAT!r})")
    version = root.value.get("version")
    if version != VERSION:
        raise root.error(f"of version {version!r}; this library reads version {VERSION}")
    root.object(
        ("format", "version", "name", "gravity", "bodies", "frames", "constraints", "shapes"),
        (*EQUIPMENT, "describes_world"),
    )
    with root.blamed():
        builder = ModelBuilder(root["name"].text(), root["gravity"].numbers(3))
        if root.has("describes_world"):
            builder.describes_world = root["describes_world"].flag()
        for item in root["bodies"].items():
            _read_body(builder, item)
        for item in root["frames"].items():
            _read_frame(builder, item)
        for item in root["constraints"].items():
            with item.blamed():
                builder.add_constraint(_read_constraint(item))
        for item in root["shapes"].items():
            _read_shape(builder, item)
        read_equipment(builder, root)
        model = builder.build()
    for item, constraint in zip(root["constraints"].items(), model.constraints, strict=True):
        with item.blamed():
            _check_formula(model, constraint)
    if options.floating_base and not any(
        b.parent < 0 and isinstance(b.joint.type, Free) for b in model.bodies
    ):
        raise FileFormatError(f"{report.file}: the model was saved without a floating base")
    return model


def _read_body(builder: ModelBuilder, item: Item) -> None:
    item.object(("name", "parent", "joint", "placement", "inertia"), ("gravity_compensation",))
    joint = item["joint"].object(("name", "type", "independent", *JOINT_DATA))
    data = {key: joint[key].numbers(infinite=True) for key in JOINT_DATA}
    independent = joint["independent"].flag() if joint.has("independent") else None
    held = item["gravity_compensation"].number() if item.has("gravity_compensation") else 0.0
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
            gravity_compensation=held,
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
        name: item[name].number() if name == "pitch" else item[name].numbers(3, infinite=True)
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
    if kind == "Implicit":
        item.object(("type", "joints", "steps", "rows"))
        joints = [name.text() for name in item["joints"].items()]
        return Implicit(_read_formula(item), joints)
    raise item.error(
        "expected a constraint: Connect, Weld, Closure, Gear, Coupling, Distance or Implicit"
    )


def _read_formula(item: Item) -> Formula:
    """The function of an Implicit constraint, which `_check_formula` checks."""
    steps = tuple(_read_step(step) for step in item["steps"].items())
    return Formula(steps, tuple(row.count() for row in item["rows"].items()))


def _check_formula(model: Model, constraint: Constraint) -> None:
    """Raise an error if the function of an Implicit constraint does not fit its joints."""
    if isinstance(constraint, Implicit):
        record(constraint.function, sum(model.joint(name).nq for name in constraint.joints))


def _read_step(item: Item) -> tuple:
    name, *rest = item.items() or [item]
    if not isinstance(name.value, str) or name.value not in OPERATIONS:
        raise item.error(f"expected a step by one of {', '.join(OPERATIONS)}")
    operation = OPERATIONS[name.value]
    if len(rest) != operation.operands + operation.has_constant:
        raise item.error(
            f"{name.value} takes {operation.operands + operation.has_constant} entries"
        )
    operands = [operand.count() for operand in rest[: operation.operands]]
    if name.value == "power":
        return (name.value, *operands, rest[-1].count())
    return (name.value, *operands, *(x.number() for x in rest[operation.operands :]))


def _read_shape(builder: ModelBuilder, item: Item) -> None:
    known = ("name", "frame", "role", "kind", "placement", "size", "mesh", "color")
    item.object(known, ("heights", *SURFACE))
    texts = [item[key].text() for key in ("name", "frame", "role", "kind")]
    mesh = item["mesh"].text() if item.has("mesh") else None
    color = tuple(item["color"].numbers(4)) if item.has("color") else None
    with item.blamed():
        placement = _read_placement(item["placement"])
        size = tuple(item["size"].numbers())
        rows = [row.numbers() for row in item["heights"].items()] if item.has("heights") else None
        builder.add_shape(Shape(*texts, placement, size, mesh, color, read_surface(item), rows))


def _read_placement(item: Item) -> Transform:
    item.object(("rotation", "translation"))
    rotation = np.array(item["rotation"].numbers(9)).reshape(3, 3)
    with item.blamed():
        return Transform.of((rotation, np.array(item["translation"].numbers(3))))
