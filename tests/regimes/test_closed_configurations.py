"""Loops that are closed as far as the digits of a file allow: where a mechanism then stands.

A file rounds coordinates to seven to nine digits, and so does it lengths and axes. Rows that depend
on each other, such as those across a planar loop, then have singular values of 1e-9 to 1e-7 in
place of zeros, and errors of that size that no motion removes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import delassus as dl
from delassus.simulation.given.starting import on_joints

from .cases import IS_LARGE, generated, seeds

_BETWEEN_FRAMES = (dl.Closure, dl.Connect, dl.Weld, dl.Distance)
# To read all robots takes long: of those with loops, these are enough for a first look.
_SOME = ("cassie", "cassie_v2", "four_bar_leg", "parallel_ankle", "tello", "walker")


@cache
def robots() -> dict[str, dl.Model]:
    """All named robots with constraints, mechanisms of families, and figures of the suite."""
    names = [name for name in dl.robots.names() if IS_LARGE or name in _SOME]
    found = {name: dl.robots.load(name) for name in names}
    found |= {f"figure {name}": dl.robots.figure(name).model for name in dl.robots.suite()}
    found |= {"four_bars": dl.robots.four_bars(2, 2), "belts": dl.robots.belts(2, 2)}
    return {name: model for name, model in found.items() if model.constraints}


def with_loops(model: dl.Model) -> bool:
    return any(isinstance(c, _BETWEEN_FRAMES) for c in model.constraints)


def a_closed_configuration(model: dl.Model, rng: np.random.Generator) -> np.ndarray:
    home = model.keyframes.get("home")
    start = model.neutral() if home is None else home.q
    return dl.close_loops(
        model, model.integrate(start, rng.uniform(-0.4, 0.4, model.nv))[None], dl.Constraints(model)
    )


def largest(x: np.ndarray) -> float:
    return float(np.abs(x).max(initial=0.0))


def placed(model: dl.Model, change) -> dl.Model:
    """The model with other placements of its joints and frames."""
    bodies = [replace(b, placement=change(b.placement)) for b in model.bodies]
    frames = [replace(f, placement=change(f.placement)) for f in model.frames]
    return dl.Model(model.name, bodies, frames, model.constraints, (), model.gravity)


def disturbed(model: dl.Model, by: float, rng: np.random.Generator) -> dl.Model:
    """The model with axes and lengths that are wrong by a little."""

    def change(at: dl.Transform) -> dl.Transform:
        x, y, z = by * rng.standard_normal(3)
        turn = np.array([[1.0, -z, y], [z, 1.0, -x], [-y, x, 1.0]])
        U, _, V = np.linalg.svd(at.rotation @ turn)
        return dl.Transform(U @ V, at.translation + by * rng.standard_normal(3))

    return placed(model, change)


@generated(12, 600)
def test_rounded_configurations_stay_and_are_closed(seed):
    """What rounding has moved moves back, and nothing else."""
    rng = np.random.default_rng(seed)
    model = list(robots().values())[seed % len(robots())]
    cs, digits = dl.Constraints(model), int(rng.integers(7, 10))
    closed = a_closed_configuration(model, rng)
    rounded = np.round(closed, digits)
    q = dl.close_loops(model, rounded, cs)
    assert largest(cs.position_error(q)) <= max(1e-10, 2.0 * largest(cs.position_error(closed)))
    own = largest(cs.position_error(closed))  # of Cassie near a dead point, up to 1e-6
    assert largest(model.difference(rounded, q)) <= 3.0 * 10.0**-digits + 10.0 * own


@generated(12, 600)
def test_no_joint_moves_by_more_than_digits_are_worth(seed):
    """Lengths and axes leave loops open by a little: to close them is not worth a motion."""
    rng = np.random.default_rng(seed)
    known = [model for model in robots().values() if with_loops(model)]
    own = known[seed % len(known)]
    closed = a_closed_configuration(own, rng)
    model = disturbed(own, 10.0 ** rng.uniform(-9.0, -7.5), rng)
    cs = dl.Constraints(model)
    error = largest(cs.position_error(closed))
    q = dl.close_loops(model, closed, cs)
    assert largest(model.difference(closed, q)) <= 100.0 * error + 1e-7
    assert largest(cs.position_error(q)) <= error + 1e-15
    again, _ = on_joints(cs, np.repeat(closed, 3, axis=0), np.zeros((3, model.nv)), 3)
    for world in again:
        assert np.array_equal(world, again[0])
    np.testing.assert_allclose(again[0], q[0], atol=1e-12)


@generated(8, 400)
def test_closing_does_not_depend_on_size(seed):
    """A mechanism of a millimetre and one of a kilometre close as one of a metre does."""
    rng = np.random.default_rng(seed)
    known = [model for model in robots().values() if with_loops(model)]
    own = known[seed % len(known)]
    size = 10.0 ** rng.uniform(-3.0, 3.0)
    distances = np.concatenate([~_angles(j) for j in own.joints])
    units = np.where(distances, size, 1.0)
    model = placed(own, lambda at: dl.Transform(at.rotation, size * at.translation))
    start = own.integrate(own.neutral(), rng.uniform(-0.3, 0.3, own.nv))[None]
    cs = dl.Constraints(model)
    q = dl.close_loops(model, start * units, cs)
    assert largest(dl.Constraints(own).position_error(q / units)) <= 3e-6
    rounded = np.round(q / units, 9)
    again = dl.close_loops(model, rounded * units, cs)
    assert largest(again / units - rounded) <= 1e-7


def _angles(joint) -> np.ndarray:
    """Which coordinates of a joint have no length; those of a quaternion are none."""
    angles = joint.type.angles()
    if joint.type.quaternion is not None:
        angles = np.arange(joint.nq) >= joint.type.quaternion
    return angles


@generated(25, 1500)
def test_linkages_at_dead_points_close_where_they_are(seed):
    """Parallelograms, and four-bars that are folded flat or stretched: J loses rank there."""
    rng = np.random.default_rng(seed)
    size, (a, b, c) = 10.0 ** rng.uniform(-3.0, 3.0), rng.uniform(0.2, 1.0, 3)
    kind = ("parallelogram", "stretched")[seed % 2]
    ends = (-a, b) if kind == "parallelogram" else (c, a + b + c)
    builder = dl.ModelBuilder(kind)
    parent = "world"
    for name, x in (("crank", 0.0), ("coupler", a), ("rocker", b)):
        builder.add_body(name, parent, dl.Revolute([0, 1, 0]), [size * x, 0, 0], mass=1.0)
        parent = name
    builder.add_frame("end", "rocker", [size * ends[0], 0, 0])
    builder.add_frame("pin", "world", [size * ends[1], 0, 0])
    closures = dl.Connect, lambda *x: dl.Closure(dl.Revolute([0, 1, 0]), *x)
    builder.add_constraint(closures[rng.integers(2)]("end", "pin"))
    model = builder.build()
    turn = rng.choice([0.0, 1e-6, 1e-4, 1e-2, 1.0, np.pi])
    at = np.array([turn, -turn, turn]) if kind == "parallelogram" else np.zeros(3)
    noise = 10.0 ** rng.uniform(-9.0, -1.0)
    start = (at + noise * rng.standard_normal(3))[None]
    cs = dl.Constraints(model)
    q = dl.close_loops(model, start, cs)
    assert largest(cs.position_error(q)) <= 2e-6 * size
    assert largest(q - start) <= 10.0 * noise


def test_rounded_velocities_are_kept():
    """Rows that only rounding makes independent forbid no motion."""
    rng = np.random.default_rng(0)
    for name in ("cassie", "walker", "four_bar_leg"):
        own = robots()[name]
        model = disturbed(own, 1e-8, rng)
        cs = dl.Constraints(own)
        q = a_closed_configuration(own, rng)
        _, s, V = np.linalg.svd(cs.jacobian(q)[0])
        free = V[np.sum(s > 1e-6 * s[0]) :]
        v = (free.T @ rng.standard_normal(len(free)))[None]
        found = on_joints(dl.Constraints(model), q, v, 1)[1]
        assert largest(found - v) <= 1e-4 * largest(v)


def test_named_robots_start_from_what_a_file_keeps_of_them():
    refused = []
    for seed in seeds(1, 20):
        rng = np.random.default_rng(seed)
        for name, own in robots().items():
            model = disturbed(own, 3e-8, rng)
            q = np.round(a_closed_configuration(own, rng), 7)
            try:
                on_joints(dl.Constraints(model), q, np.zeros((1, model.nv)), None)
            except dl.ConvergenceError as error:
                refused.append((name, seed, str(error)))
    assert not refused


@pytest.mark.parametrize("strict", [False, True])
def test_a_push_that_leads_nowhere_is_taken_back(strict):
    """Where nothing can be closed, the answer is the nearest miss, not the last try."""
    builder = dl.ModelBuilder("chain")
    for k in range(3):
        at, parent = [float(k > 0), 0, 0], f"l{k - 1}" if k else "world"
        builder.add_body(f"l{k}", parent, dl.Revolute([0, 1, 0]), at, mass=1.0)
    builder.add_frame("end", "l2", [1.0, 0.0, 0.0])
    model = builder.build()
    cs = dl.Constraints(model, [dl.Distance("end", "world", 3.5)])
    options = {"tolerance": 1e-9} if strict else {}
    with pytest.raises(dl.ConvergenceError) as caught:
        dl.close_loops(model, model.neutral(), cs, **options)
    assert largest(caught.value.q) <= 1e-3
    assert caught.value.error == pytest.approx(0.5)
