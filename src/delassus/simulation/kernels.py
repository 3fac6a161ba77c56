"""The compiled entries of simulation: many steps of a world in one call.

There is one for each form in which cone rows are solved for (see `solution`), with steps of EULER
and MIDPOINT (see `step`), or of RK4 (see `smooth`). Each is compiled when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..compile import (
    Kernel,
    Layout,
    absolute,
    call_at,
    function,
    kernel,
    layout,
    minimum,
    part,
    slots,
)
from ..contact.laws.request import OPTION
from ..maximal.assembly import joint_rows
from .actuation.wrenches import put_reactions
from .motion import is_torn
from .smooth import SMOOTH, smooth_stepping
from .solution.bodies import BODIES_FORM, BODIES_OPERATOR
from .solution.form import Form
from .solution.joint_rows import JOINT_ROWS_FORM
from .solution.joints import JOINTS_FORM, JOINTS_OPERATOR
from .solution.rows import ROWS_FORM, ROWS_OPERATOR
from .solution.solving import newton_and_admm
from .solution.sweeps import SWEEPS, sweep_cones
from .step import SETTING, STEP, WHOLE, Request, finishing, stepping
from .structure.state import state_of, state_size
from .structure.world import WorldArrays
from .told.metrics import METRIC, put_last_time, read_state

FASTEST = 1e6  # velocities beyond this, in m/s or rad/s, are those of a world that diverges
LARGEST = 1e300  # of controls
TORN_STEPS = 10.0  # in succession, after which a joint that is torn ends a world
# Why a call ended: all steps done, too few slots for contacts, velocities or controls that are not
# finite, a joint that is torn.
DONE, SLOTS, DIVERGED, UNSTEERED, TORN = 0, 1, 2, 3, 4
OUTCOME = slots(steps=1, reason=1, needed=1)


class Told(NamedTuple):
    """What a call tells: the state after it; coordinates, metrics and sensors of its steps."""

    after: Any
    trace: Any
    metrics: Any
    sensed: Any
    outcome: Any


@function
def sense(model, dt, state, sensed, work):
    """Reactions of joints, forces of actuators, and torques of degrees of freedom in a step."""
    n_joints, n_actuators = len(model.joints), len(model.actuators)
    put_reactions(model, state.held, dt, work, sensed)
    for i in range(n_actuators):
        sensed[6 * n_joints + i] = work.efforts[i]
    for k in range(len(model.dofs)):
        sensed[6 * n_joints + n_actuators + k] = work.torques[k]


@function
def is_finite(model, state):
    """Whether all velocities are numbers within bounds."""
    result = True
    for t in range(6 * (len(model.bodies) - 1)):
        result = result and absolute(state.twists[t]) < FASTEST
    return result


@function
def reason_to_end(model, request, state, metrics, work):
    """DIVERGED or TORN after a step with such an outcome, else DONE.

    What opens in an impact and closes by itself is not torn: steps in succession are counted.
    """
    torn, link = request.settings[SETTING.torn], request.settings[SETTING.link]
    if not is_finite(model, state):
        return DIVERGED
    is_open = metrics[METRIC.joint_error] > torn * minimum(link, 1.0)
    if is_open and is_torn(model, torn, link, work.rows):
        state.torn[0] = state.torn[0] + 1.0
    else:
        state.torn[0] = 0.0
    return TORN if state.torn[0] >= TORN_STEPS else DONE


@function
def put_control(model, request, k, steer, q, v, work):
    """The control of step k: as given, or then changed by a function. Returns whether it is usable.

    q and v are as told of the step before.
    """
    whole, settings, n = request.whole, request.settings, len(model.actuators)
    for i in range(n):
        work.control[i] = request.control[steer + i]
    if whole[WHOLE.controller] == 0:
        return True
    time = settings[SETTING.start] + (settings[SETTING.before] + k) * settings[SETTING.dt]
    nq, nv = len(model.rest), len(model.dofs)
    error = call_at(whole[WHOLE.controller], time, q, nq, v, nv, work.control, n)
    result = error == 0
    for i in range(n):
        result = result and absolute(work.control[i]) < LARGEST
    return result


def many_steps(step: Callable) -> Callable:
    """As many steps as there are ticks, from one state to another, by a function for one of them.

    Controls and wrenches are one for all steps, or one for each; so is what is felt: that of the
    last step, or of each.
    """

    @function
    def run(model, lengths, request, state, velocities, told, work):
        ticks, steered, pushed, felt = lengths
        slots, n_held = request.whole[WHOLE.contact_slots], joint_rows(model)
        outcome, now = told.outcome, state_of(model, told.after, n_held, slots)
        n_trace = len(model.rest) + len(model.dofs)
        n_felt = 6 * len(model.joints) + len(model.actuators) + len(model.dofs)
        for t in range(state_size(model, n_held, slots)):
            told.after[t] = state[t]
        outcome[OUTCOME.steps], outcome[OUTCOME.reason] = 1.0 * ticks, 1.0 * DONE
        outcome[OUTCOME.needed] = 0.0
        for k in range(ticks):
            steer = len(model.actuators) * k if steered > 1 else 0
            push = 6 * (len(model.bodies) - 1) * k if pushed > 1 else 0
            q, v = now.q, velocities
            if k > 0:
                q = part(told.trace, n_trace * (k - 1))
                v = part(q, len(model.rest))
            if not put_control(model, request, k, steer, q, v, work):
                outcome[OUTCOME.steps], outcome[OUTCOME.reason] = 1.0 * k, 1.0 * UNSTEERED
                return
            own = Request(
                v,
                work.control,
                part(request.pushes, push),
                request.outside,
                request.switches,
                request.whole,
                request.settings,
                request.options,
            )
            metrics = part(told.metrics, METRIC.size * k)
            count, reason = step(model, own, now, metrics, work), SLOTS
            if count <= slots:
                reason = reason_to_end(model, request, now, metrics, work)
            if reason != DONE:
                outcome[OUTCOME.steps], outcome[OUTCOME.reason] = 1.0 * k, 1.0 * reason
                outcome[OUTCOME.needed] = 1.0 * count
                return
            if felt > 1 or k == ticks - 1:
                at = n_felt * k if felt > 1 else 0
                sense(model, request.settings[SETTING.dt], now, part(told.sensed, at), work)
            read_state(model, now, part(told.trace, n_trace * k), metrics, work)
            put_last_time(metrics, work)

    return run


# Arguments of kernels that make steps: all that a call is given, and all that it tells.
CALL: dict[str, Any] = {
    "shared": ("whole", "ticks", "steered", "pushed", "felt"),
    "inputs": {
        "state": "n_state",
        "velocities": "nv",
        "control": "len(steered) n_controls common",
        "pushes": "len(pushed) n_bodies 6 common",
        "outside": "n_outside",
        "switches": "n_switches common",
        "settings": f"{SETTING.size} common",
        "options": f"{OPTION.size} common",
    },
    "outputs": {
        "after": "n_state",
        "trace": "len(ticks) n_trace",
        "metrics": f"len(ticks) {METRIC.size}",
        "sensed": "len(felt) n_sensed",
        "outcome": f"{OUTCOME.size}",
    },
    "lanes": False,
}


def simulation(name: str, label: str, step: Callable, work: Layout) -> Kernel:
    """The kernel for many steps, by a function for one of them: see `many_steps`."""
    run = many_steps(step)

    def simulate(
        model, whole, ticks, steered, pushed, felt, state, velocities, control, pushes, outside,
        switches, settings, options, after, trace, metrics, sensed, outcome, work,
    ):  # fmt: skip
        lengths = len(ticks), len(steered), len(pushed), len(felt)
        request = Request(velocities, control, pushes, outside, switches, whole, settings, options)
        told = Told(after, trace, metrics, sensed, outcome)
        run(model, lengths, request, state, velocities, told, work)

    simulate.__name__ = name
    return kernel(WorldArrays, work=work, label=label, **CALL)(simulate)


class Way(NamedTuple):
    """How steps are solved: a form of their problem, a solver of cone rows, and memory for it."""

    label: str
    form: Form
    solve_cones: Callable
    memory: Layout


WAYS = {
    "bodies": Way("by bodies", BODIES_FORM, newton_and_admm(BODIES_OPERATOR), layout()),
    "joints": Way("by joints", JOINTS_FORM, newton_and_admm(JOINTS_OPERATOR), layout()),
    "rows": Way("by rows", ROWS_FORM, newton_and_admm(ROWS_OPERATOR), layout()),
    "joint_rows": Way(
        "by joints and rows", JOINT_ROWS_FORM, newton_and_admm(ROWS_OPERATOR), layout()
    ),
    "sweeps": Way("by sweeps", ROWS_FORM, sweep_cones, SWEEPS),
}


def _kernels(is_smooth: bool) -> dict[str, Kernel]:
    """A kernel for each way; smooth steps are those of RK4 where they can be, else of MIDPOINT."""
    made = {}
    for name, way in WAYS.items():
        finish = finishing(way.form, way.solve_cones)
        step = smooth_stepping(way.form, finish) if is_smooth else stepping(finish)
        memory = layout(SMOOTH if is_smooth else STEP, way.memory)
        begin = "smooth simulation" if is_smooth else "simulation"
        full_name = f"simulate_{'smooth_' if is_smooth else ''}by_{name}"
        made[name] = simulation(full_name, f"{begin} {way.label}", step, memory)
    return made


SIMULATIONS, SMOOTH_SIMULATIONS = _kernels(False), _kernels(True)
