"""Facts about a model that matter before it is simulated, a line each."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..compile import evaluate_plainly
from ..constrained.rows.constraints import Constraints
from ..constrained.rows.jacobian import evaluate_rows
from ..errors import DelassusError
from ..model.model import Model
from ..model.parts.constraints import WORLD, Constraint, Weld
from ..model.parts.keyframes import STARTS
from ..simulation.collision.geometry import Geometry
from ..simulation.collision.materials import Material
from ..simulation.collision.shapes import ground_plane, has_ground

_CLOSED = 1e-6  # an error of rows, in metres or radians, at which loops count as closed
_RANK = 1e-9  # of the largest singular value: below it a row is redundant


def facts(model: Model) -> list[str]:
    """Lines on mobility and loops, masses, actuators, keyframes, and what would collide."""
    found = [_mobility(model), _masses(model), _actuators(model), _keyframes(model)]
    return [line for line in [*found, *_collision(model)] if line]


def count(number: int, thing: str, things: str | None = None) -> str:
    """A number with its noun: "1 pair", "2 pairs"."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def _mobility(model: Model) -> str:
    """Degrees of freedom that constraints leave, where a simulation would start."""
    if not model.constraints:
        return f"mobility: {model.nv}"
    start = next((name for name in STARTS if name in model.keyframes), None)
    q = model.neutral() if start is None else model.keyframes[start].q
    where = "neutral configuration" if start is None else f"keyframe {start!r}"
    cs = Constraints(model)
    states = (np.atleast_2d(q), np.zeros((1, model.nv)))
    J, _, _, error = evaluate_plainly(evaluate_rows, cs, states)[:4]
    values = np.linalg.svd(J[0], compute_uv=False)
    rank = int(np.sum(values > _RANK * values.max(initial=0.0)))
    loops = sum(_closes_loop(c) for c in model.constraints)
    of_loops = f", {count(loops, 'loop')}" if loops else ""
    apart = np.abs(error).max(initial=0.0)
    is_open = f", where they are open by {apart:.2g}" if apart > _CLOSED else ""
    return (
        f"mobility: {model.nv - rank} = nv {model.nv} - rank {rank} of "
        f"{count(cs.size, 'constraint row')}{of_loops}, {cs.size - rank} redundant "
        f"(at the {where}{is_open})"
    )


def _closes_loop(constraint: Constraint) -> bool:
    """Whether it joins two frames; a base that is welded to the world is held, and no loop."""
    frames = constraint.frames
    return len(frames) == 2 and not (isinstance(constraint, Weld) and WORLD in frames)


def _masses(model: Model) -> str:
    """The heaviest body against the lightest: large ratios are hard for solvers."""
    masses = {b.name: b.inertia.mass for b in model.bodies if b.inertia.mass > 0.0}
    without = model.n_bodies - len(masses)
    none = f"{count(without, 'body', 'bodies')} without mass" if without else ""
    if len(masses) < 2:
        return f"masses: {none}" if none else ""
    heavy, light = max(masses, key=masses.__getitem__), min(masses, key=masses.__getitem__)
    ratio = f"{masses[heavy] / masses[light]:.4g}"
    text = f"mass ratio: {ratio} ({heavy} {masses[heavy]:.4g} kg, {light} {masses[light]:.4g} kg)"
    return f"{text}, {none}" if none else text


def _actuators(model: Model) -> str:
    if not model.actuators:
        return "actuators: none; a simulator takes a force for each degree of freedom"
    kinds = Counter(a.kind for a in model.actuators)
    return f"actuators: {', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items()))}"


def _keyframes(model: Model) -> str:
    return f"keyframes: {', '.join(model.keyframes)}" if model.keyframes else "keyframes: none"


def _collision(model: Model) -> list[str]:
    """Shapes and pairs that a simulator would look at."""
    own_plane = has_ground(model)
    is_added = not (own_plane or model.describes_world)
    try:
        made = Geometry(model, [ground_plane(Material())] if is_added else [])
    except DelassusError as error:  # a mesh that is missing, say: the rest is still worth telling
        return [f"collision: {error}"]
    kinds = Counter(s.kind for s in model.shapes if s.role == "collision")
    if not kinds:
        return ["collision: no shapes; nothing touches"]
    pairs = (*made.pairs, *made.outside)
    with_plane = sum(
        any(made.shapes[k].kind == ground_plane(Material()).kind for k in (p.first, p.second))
        for p in pairs
    )
    of_kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    text = f"collision: {of_kinds}; {count(len(pairs), 'pair')} may touch"
    if own_plane or is_added:
        plane = "planes of the model" if own_plane else "the ground"
        text += f", {with_plane} of them with {plane}"
    else:
        text += "; there is no ground"
    by_coal = f", {len(made.outside)} found by coal" if made.outside else ""
    return [text + by_coal, *(f"collision: {remark}" for remark in made.remarks())]
