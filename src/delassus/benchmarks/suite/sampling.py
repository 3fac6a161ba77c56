"""Samples: dual problems of steps of a simulation, and the warm starts that they would have.

A first run of the scenario tells how many contacts each step has. Steps are then drawn by this
number, so that short phases (one contact, while landing) are found as well as long ones, and a
second run, the same to the last bit, stops at them. Problems are those of Eqs. (80) and (94):
semi-implicit Euler, servos implicit, with a part of 0.01 of position errors taken away in a step.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ... import Model, Simulator, contact, maximal
from ...spatial.quaternions import rotation
from .categories import CATEGORIES, categories, measure
from .scenarios import DT, Script, script

DRAIN = 0.9  # of reactions from one step to the next
_SLOTS = 32  # for contacts, and as many more where these do not suffice
_NEAR = 0.02  # m, how far a contact moves in a step at most
_OPEN = 1e-3  # m; a mechanism whose joints are open by more is another one
_ACCURATE = 1e-8  # natural map of the solution that warm starts are made of
_STABLE = maximal.Stabilization(depenetration_speed=1.0)


class State(NamedTuple):
    """Where a simulation is: coordinates, contacts, and what is done to it in the next step."""

    system: maximal.MaximalSystem
    q: np.ndarray
    v: np.ndarray
    contacts: np.ndarray
    control: np.ndarray
    wrenches: np.ndarray


class Rows(NamedTuple):
    """The dual problem of a step, and what tells its rows from those of other steps."""

    problem: contact.Problem
    limits: list[tuple[int, float]]
    contacts: np.ndarray


def simulator(run: Script, **options: Any) -> Simulator:
    """A simulator at the start of a run.

    Joints are closed by displacements after each step (see docs/benchmark.md for what they gain),
    unless other options say how errors of position are taken away.
    """
    options = {"displacement": "stabilization" not in options, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of meshes that touch planes only
        sim = Simulator(run.figure.model, dt=DT, on_error="record", threads=1, **options)
    sim.reset(run.q, run.v)
    return sim


def state_of(sim: Simulator, run: Script, step: int) -> State:
    """The present state of a simulator that has made so many steps of a run."""
    found = sim.contacts
    slots = _SLOTS * -(-(len(found) + 1) // _SLOTS)
    system = _system(sim.model, slots)
    return State(system, sim.q.copy(), sim.v.copy(), found, run.controls[step], run.wrenches[step])


@lru_cache(maxsize=4)
def _system(model: Model, slots: int) -> maximal.MaximalSystem:
    return maximal.MaximalSystem(model, contact_slots=slots)


def problem_of(x: State) -> Rows:
    """The dual problem of the next step."""
    model = x.system.model
    tau, gains = np.zeros(model.nv), np.zeros((model.nv, 2))
    for actuator, u in zip(model.actuators, x.control, strict=False):
        joint = next(j for j in model.joints if j.name == actuator.joint)
        tau[joint.v.start] += actuator.stiffness * (u - x.q[joint.q.start])
        gains[joint.v.start] += actuator.stiffness, actuator.damping
    names = ("first", "second"), ("point", "normal", "distance", "friction")
    contacts = [
        maximal.Contact(*(str(c[k]) for k in names[0]), *(c[k] for k in names[1]))
        for c in x.contacts
    ]
    poses, twists = x.system.state(x.q, x.v)
    dual = x.system.dual_problem(
        poses,
        twists,
        DT,
        near=x.q,
        tau=tau,
        gains=gains,
        wrenches=_at_centres(model, poses, x.wrenches),
        contacts=contacts,
        stabilization=_STABLE,
    )
    return Rows(dual.problem, dual.limits, x.contacts)


def _at_centres(model: Model, poses: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """Wrenches in bodies' axes about their origins, as wrenches in world axes about the centres."""
    found = np.zeros_like(wrenches)
    for k in np.nonzero(wrenches.any(axis=1))[0]:
        R = np.array(rotation(*poses[k, 3:])).reshape(3, 3)
        force, moment = wrenches[k].reshape(2, 3)
        moment = moment - np.cross(model.bodies[k].inertia.center, force)
        found[k] = np.concatenate([R @ force, R @ moment])
    return found


def warm_start(before: Rows, now: Rows) -> np.ndarray:
    """Reactions of the step before, drained; of new limits and contacts they are zero."""
    p, old = now.problem, before.problem
    if old.n_rows == 0:
        return np.zeros(p.n_rows)
    x = contact.solve(old, tolerance=_ACCURATE, threads=1).reactions
    m = p.n_joint_rows
    start = np.zeros(p.n_rows)
    start[:m] = x[:m]
    for k, limit in enumerate(now.limits):
        if limit in before.limits:
            start[m + k] = x[m + before.limits.index(limit)]
    at, was = m + p.n_limit_rows, m + old.n_limit_rows
    start[at : at + p.n_bounded_rows] = x[was : was + p.n_bounded_rows]
    at, was = at + p.n_bounded_rows, was + p.n_bounded_rows
    for k, c in enumerate(now.contacts):
        i = _same(c, before.contacts)
        if i is not None:
            start[at + 3 * k : at + 3 * k + 3] = x[was + 3 * i : was + 3 * i + 3]
    return DRAIN * start


def _same(contact: np.void, others: np.ndarray) -> int | None:
    """The number of the contact of the same shapes that is nearest, if there is one nearby."""
    names = ("first_shape", "second_shape")
    (same,) = np.nonzero(np.logical_and(*(others[k] == contact[k] for k in names)))
    gaps = np.linalg.norm(others["point"][same] - contact["point"], axis=1)
    return int(same[gaps.argmin()]) if len(same) and gaps.min() < _NEAR else None


def draw(name: str, seeds: int, most: int) -> list[tuple[dict, contact.Problem, np.ndarray]]:
    """Samples of a system, at most so many a category, from runs of some seeds.

    Each is a record (number, seed, step, categories, measures), a problem and a warm start.
    """
    found: list[tuple[dict, contact.Problem, np.ndarray]] = []
    counts = dict.fromkeys(CATEGORIES, 0)
    for seed in range(seeds):
        run = script(name, seed, is_wide=True)
        allowed = -(-most * (seed + 1) // seeds)  # each seed has its share
        for step, before, state in _stops(run, _steps(run, seed, most)):
            now = problem_of(state)
            if now.problem.n_rows == 0:
                continue
            sizes = measure(now.problem, run.figure.ours.bodies, run.figure.ours.joints)
            own = categories(sizes)
            if not own or max(counts[x] for x in own) >= allowed:
                continue
            for x in own:
                counts[x] += 1
            told = {"number": len(found), "seed": seed, "step": step, "categories": own}
            told |= sizes._asdict()
            found.append((told, now.problem, warm_start(problem_of(before), now)))
    return found


def _steps(run: Script, seed: int, most: int) -> list[int]:
    """Steps to look at: as many for each number of contacts, 0, 1, few, many; rare ones first."""
    sim = simulator(run)
    metrics = sim.rollout(len(run.controls), run.controls, wrenches=run.wrenches).metrics
    counts, many = np.nan_to_num(metrics["contacts"]), 2 * sim.model.n_bodies
    kinds = np.searchsorted([0.5, 1.5, many + 0.5], counts[:-1])
    kinds[0] = -1  # the first step has none before it
    rng, chosen = np.random.default_rng([seed, len(counts)]), []
    for kind in range(4):
        (own,) = np.nonzero(kinds == kind)
        chosen += rng.choice(own, min(most, len(own)), replace=False).tolist()
    return sorted(chosen)


def _stops(run: Script, steps: list[int]) -> Iterator[tuple[int, State, State]]:
    """(step, state before it, state) at some steps of a run, until it falls apart."""
    sim, at = simulator(run), 0
    for step in steps:
        if step - 1 > at:
            part = slice(at, step - 1)
            sim.rollout(step - 1 - at, run.controls[part], wrenches=run.wrenches[part])
        before = state_of(sim, run, step - 1)
        sim.step(run.controls[step - 1], run.wrenches[step - 1])
        at = step
        if not np.isfinite(sim.v).all() or np.ravel(sim.metrics["joint_error"])[0] > _OPEN:
            return
        yield step, before, state_of(sim, run, step)
