"""ADMM with an operator that offers springs, as `DelassusOperator` does: O(n + m) an iteration.

Its attribute `springs` has functions on work memory, which are called as those of `operators` are,
with what they read and with the numbers that the operator keeps. They multiply by

    D(W) = J (M + J^T W J)^-1 J^T        W: stiffness of springs along rows

That is all it takes. Springs of stiffness 1 / eps hold joint rows, those of 1 / S are a penalty:

    D_c = D(1 / eps along joints, 0 along cones), of which cone rows count
    (D_c + S)^-1 x = S^-1 (x - D(1 / eps, 1 / S) S^-1 x)

Joints that give way by eps make D_c wrong by as much. So reactions of joints are corrected until
these rows are at rest, and b by what that changes of the velocity of cones; then ADMM goes on. One
kernel is made for each kind of springs.

| symbol | here | what |
| --- | --- | --- |
| eps + R, S + R | softness | of joint rows, of cone rows; R is compliance |
| W | weights | |
| P, b | cones.scale, cones.b | as in `operators.dense` |
| | held, stiff | factors for D_c, and with a penalty or without springs |
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..compile import absolute, function, kernel, layout, maximum, routine, sqrt
from .kernels import CONES, correct_velocity, tell
from .laws.cones import row_count
from .laws.relative import put_joint_sizes, put_sizes, size_to_reach
from .laws.request import INFO, LIMIT, OPTION
from .operators import Operator
from .solvers.admm import ADMM, admm

# eps of joint rows, of their diagonal. Springs of stiffness 1 / eps round off as many digits.
JOINT_SOFTNESS = 1e-6
MOST_PASSES = 30  # corrections of the reactions of joints
RECOVERY = 0.1  # velocities left in joint rows, in tolerances
ROUNDS = 10  # of ADMM with b corrected; each is to find what is wrong by this factor
ROUND = 1e-3
ALL_ROWS = ("softness", "weights", "compliance", "forces", "motions", "reactions", "velocity")


def memory_of(springs):
    """Work memory of a solver with springs."""
    return layout(
        cones=CONES,
        joints=layout(unit="rows", least="rows"),
        dual=ADMM,
        fine=OPTION.size,
        op=layout(
            springs=springs.memory,
            held=springs.factor_memory,
            stiff=springs.factor_memory,
            scale="rows",
            tally=1,
            **dict.fromkeys(ALL_ROWS, "rows"),
        ),
    )


def spring_operator(springs) -> tuple[Operator, Callable, Callable]:
    """The operator of cone rows, and functions that start it and recover joints."""
    start_springs, factor_springs = springs.start, springs.factor
    multiply_springs = springs.multiply

    @routine
    def weigh(model, factor, memory):
        """A factor for `weights`."""
        factor_springs(model, memory.weights, factor, memory.springs)

    @routine
    def sweep(model, factor, memory):
        """motions = D(W) forces"""
        multiply_springs(model, memory.forces, memory.motions, factor, memory.springs)

    @function
    def clear_joints(memory):
        """No forces along joint rows. Returns their number."""
        joints = int(memory.tally[0])
        for t in range(joints):
            memory.forces[t] = 0.0
        return joints

    @function
    def start(model, joints, count, is_scaled, kept, weights, compliance, memory):
        """The scale of `count` cone rows, and joints held; `kept` is what the operator keeps."""
        memory.tally[0] = 1.0 * joints
        start_springs(model, kept, memory.springs)
        for t in range(joints + count):
            memory.compliance[t] = compliance[t]
            memory.softness[t] = JOINT_SOFTNESS * weights[t] + compliance[t]
            memory.weights[t] = 1.0 / memory.softness[t] if t < joints else 0.0
        for i in range(count):
            memory.scale[i] = 1.0 / sqrt(weights[joints + i]) if is_scaled else 1.0
        weigh(model, memory.held, memory)

    @function
    def factor(model, count, penalty, memory):
        """Prepare solutions with D_c + penalty."""
        joints = int(memory.tally[0])
        for t in range(joints):
            memory.weights[t] = 1.0 / memory.softness[t]
        for i in range(count):
            t, p = joints + i, memory.scale[i]
            memory.softness[t] = penalty / (p * p) + memory.compliance[t]
            memory.weights[t] = 1.0 / memory.softness[t]
        weigh(model, memory.stiff, memory)

    @function
    def solve(model, count, x, memory):
        """x <- (D_c + penalty)^-1 x"""
        joints = clear_joints(memory)
        for i in range(count):
            memory.forces[joints + i] = x[i] / (memory.scale[i] * memory.softness[joints + i])
        sweep(model, memory.stiff, memory)
        for i in range(count):
            t, p = joints + i, memory.scale[i]
            x[i] = (x[i] / p - memory.motions[t]) / (p * memory.softness[t])

    @function
    def multiply(model, count, x, y, memory):
        """y = D_c x"""
        joints = clear_joints(memory)
        for i in range(count):
            memory.forces[joints + i] = memory.scale[i] * x[i]
        sweep(model, memory.held, memory)
        for i in range(count):
            t = joints + i
            y[i] = memory.scale[i] * (memory.motions[t] + memory.compliance[t] * memory.forces[t])

    @function
    def put_velocity(model, rows, free_velocity, memory):
        """The velocity of all rows by their reactions."""
        for t in range(rows):
            memory.forces[t] = memory.reactions[t]
        sweep(model, memory.stiff, memory)
        for t in range(rows):
            v = memory.motions[t] + memory.compliance[t] * memory.reactions[t]
            memory.velocity[t] = v + free_velocity[t]

    @function
    def correct_joints(model, joints, rows, memory):
        """Reactions of joints that would stop these rows, if no cone moved."""
        for t in range(rows):
            memory.forces[t] = memory.velocity[t] / memory.softness[t] if t < joints else 0.0
        sweep(model, memory.held, memory)
        for t in range(joints):
            x = (memory.velocity[t] - memory.motions[t]) / memory.softness[t]
            memory.reactions[t] = memory.reactions[t] - x

    @function
    def recover(model, count, free_velocity, unit, tolerance, memory):
        """Reactions of joints, and the velocity of all rows.

        Corrections end where velocities of joints times `unit` are within the tolerance.
        """
        joints = int(memory.tally[0])
        rows, before, passes, is_open = joints + count, 1e300, 0, True
        for t in range(rows):
            memory.weights[t] = 0.0
        weigh(model, memory.stiff, memory)
        while is_open:
            put_velocity(model, rows, free_velocity, memory)
            worst = 0.0
            for t in range(joints):
                worst = maximum(worst, unit[t] * absolute(memory.velocity[t]))
            # Corrections stop where rounding, or rows that contradict each other, stop them.
            is_open = worst > tolerance and worst < 0.5 * before and passes < MOST_PASSES
            before, passes = worst, passes + 1
            if is_open:
                correct_joints(model, joints, rows, memory)

    return Operator(factor, solve, multiply, None), start, recover


@function
def open_cones(joints, counts, weights, free_velocity, coefficients, warm_start, options, work):
    """Scaled coefficients, b and reactions of cone rows; reactions of joints; sizes of rows."""
    cones, op = work.cones, work.op
    singles = counts[0] + counts[1] + counts[2]
    for t in range(joints):
        op.reactions[t] = warm_start[t]
        work.joints.unit[t] = 1.0 / sqrt(weights[t])
    for i in range(row_count(counts)):
        scale, x = op.scale[i], coefficients[joints + i]
        cones.own_coefficients[i] = x
        cones.coefficients[i] = x if i >= singles else x / scale
        cones.scale[i] = scale
        cones.b[i] = scale * free_velocity[joints + i]
        cones.reactions[i] = warm_start[joints + i] / scale
        cones.unit[i] = 1.0 / sqrt(weights[joints + i])
    put_sizes(counts, options[OPTION.is_ncp], cones)
    put_joint_sizes(joints, free_velocity, cones, work.joints)


def rounds_of_admm(springs) -> tuple[Callable, Callable]:
    """The functions that start work memory, and solve."""
    operator, start, recover = spring_operator(springs)
    multiply, run_admm = operator.multiply, admm(operator)

    @function
    def measure(model, counts, free_velocity, options, work):
        """Reactions and velocity of all rows, and b by that. Returns the relative natural map."""
        op, cones = work.op, work.cones
        joints, n = int(op.tally[0]), row_count(counts)
        for i in range(n):
            op.reactions[joints + i] = cones.scale[i] * cones.reactions[i]
        tolerance = RECOVERY * options[OPTION.tolerance] * size_to_reach(cones)
        recover(model, n, free_velocity, work.joints.unit, tolerance, op)
        multiply(model, n, cones.reactions, cones.b, op)
        found = correct_velocity(joints, counts, options, op.reactions, op.velocity, work)
        if joints > 0:  # b as joints hold, of which the one at first knew nothing
            put_sizes(counts, options[OPTION.is_ncp], cones)
            put_joint_sizes(joints, free_velocity, cones, work.joints)
        return found

    @function
    def run(model, counts, limits, options, free_velocity, reactions, velocity, history, work):
        """Rounds of ADMM; the best reactions, and their velocity. Returns the iterations.

        Without joints one round does. With them, the first only measures, the others end where b is
        worth no more, and leave half of the iterations for those after them.
        """
        joints, n = int(work.op.tally[0]), row_count(counts)
        tolerance, budget = options[OPTION.tolerance], limits[LIMIT.iterations]
        total, round, least, is_open = 0, 0, 1e300, True
        for t in range(OPTION.size):
            work.fine[t] = options[t]
        while is_open:
            round += 1
            if round > 1 or joints == 0:
                most = (budget - total + 1) // 2 if joints > 0 else budget
                steps = run_admm(
                    model, counts, limits, most, work.cones, work.fine, work.cones.reactions,
                    total, history, work.dual, work.op,
                )  # fmt: skip
                total += int(steps)
            found = measure(model, counts, free_velocity, options, work)
            is_better = round == 1 or found < least
            if is_better:
                least = found
                for t in range(joints + n):
                    reactions[t] = work.op.reactions[t]
                    velocity[t] = work.op.velocity[t]
            work.fine[OPTION.tolerance] = maximum(tolerance, ROUND * least)
            is_open = joints > 0 and found > tolerance and round < ROUNDS and total < budget
            is_open = is_open and (is_better or round < 3)
        return total

    return start, run


@lru_cache
def spring_kernel(springs):
    """The kernel of ADMM for a kind of springs."""
    start, run = rounds_of_admm(springs)

    @kernel(
        springs.arrays,
        shared=("limits", "counts", "recorded"),
        inputs={
            **{"kept": "kept", "weights": "rows", "free_velocity": "rows", "coefficients": "rows"},
            **{"compliance": "rows", "warm_start": "rows", "options": f"{OPTION.size}"},
        },
        outputs={
            **{"reactions": "rows", "velocity": "rows"},
            **{"info": f"{INFO.size}", "history": "len(recorded)"},
        },
        work=memory_of(springs),
        lanes=False,
        label="contact by ADMM with an operator",
    )
    def contact_springs(
        model, limits, counts, recorded, kept, weights, free_velocity, coefficients, compliance,
        warm_start, options, reactions, velocity, info, history, work,
    ):  # fmt: skip
        """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f"""
        joints, own = counts[0], (0 * counts[0], counts[1], counts[2], counts[3])
        is_scaled = limits[LIMIT.precondition] > 0
        start(model, joints, row_count(own), is_scaled, kept, weights, compliance, work.op)
        open_cones(joints, own, weights, free_velocity, coefficients, warm_start, options, work)
        total = run(
            model, own, limits, options, free_velocity, reactions, velocity, history, work
        )  # fmt: skip
        tell(joints, own, options, 1.0 * total, reactions, velocity, info, work)

    return contact_springs


def solve_by_springs(p, weights, start, request, threads) -> list[np.ndarray]:
    """Reactions, velocity, info and history of a problem; `weights` has 1 / W^2 of each row."""
    springs = p.operator.springs
    return spring_kernel(springs.kind)(
        springs.model,
        (
            np.ascontiguousarray(springs.kept, np.float64),
            weights,
            p.free_velocity + p.target,
            p.coefficients,
            p.compliance,
            start,
            request.options,
        ),
        None,
        threads,
        (request.limits, np.array(p.counts), np.zeros(max(request.history, 1), np.int64)),
    )
