"""A model as text for people."""

from __future__ import annotations

import numpy as np


def tree(model) -> str:
    """The model's tree, one line a body, and what else it holds."""
    lines = [
        f"{model.name}: {_bodies(model.n_bodies)}, nq {model.nq}, nv {model.nv}, "
        f"mass {model.mass:.6g} kg, {_count(len(model.frames), 'frame')}, "
        f"{_count(len(model.constraints), 'constraint')}"
        + (f", {_count(model.nu, 'actuator')}" if model.actuators else "")
    ]
    children: dict[int, list[int]] = {}
    for i, b in enumerate(model.bodies):
        children.setdefault(b.parent, []).append(i)
    lines.append("world")
    stack = [(i, "", i == children[-1][-1]) for i in reversed(children.get(-1, []))]
    while stack:
        i, indent, is_last = stack.pop()
        lines.append(f"{indent}{'└─' if is_last else '├─'} {_body_line(model.bodies[i])}")
        below = indent + ("   " if is_last else "│  ")
        own = children.get(i, [])
        stack.extend((k, below, k == own[-1]) for k in reversed(own))
    lines += [f"constraint: {c}" for c in model.constraints]
    return "\n".join(lines)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _bodies(number: int) -> str:
    return "1 body" if number == 1 else f"{number} bodies"


def _body_line(body) -> str:
    joint = body.joint
    kind = type(joint.type).__name__.lower()
    axis = getattr(joint.type, "axis", None)
    about = "" if axis is None else " " + _axis(axis)
    span = f"q[{joint.q.start}]" if joint.nq == 1 else f"q[{joint.q.start}:{joint.q.stop}]"
    mass = f", {body.inertia.mass:.4g} kg" if body.inertia.mass else ""
    return f"{body.name} <- {joint.name} ({kind}{about}, {span}{mass})"


def _axis(axis) -> str:
    for sign in (1, -1):
        for name, unit in zip("xyz", np.eye(3), strict=True):
            if np.allclose(axis, sign * unit, atol=1e-9):
                return ("" if sign > 0 else "-") + name
    return "(" + ", ".join(f"{x:.3g}" for x in axis) + ")"
