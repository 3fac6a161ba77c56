"""The compiled solvers of problems whose Delassus matrix is an array."""

from __future__ import annotations

from ..compile import absolute, function, kernel, layout, maximum
from .laws.cones import row_count
from .laws.relative import (
    joint_unit,
    put_joint_sizes,
    put_sizes,
    put_sizes_of,
    relative_joint_map,
    relative_map,
    size_to_reach,
    unit_of,
)
from .laws.request import INFO, LIMIT, OPTION
from .laws.residuals import put_residuals
from .operators.dense import DENSE, DENSE_OPERATOR, prepare, recover, times_matrix
from .shape import ShapeArrays, counts_of
from .solvers.admm import ADMM, admm
from .solvers.auto import copy, newton_or_admm
from .solvers.conditions import INTERIOR
from .solvers.newton import NEWTON
from .solvers.prox import PROX, prox
from .solvers.splitting import SPLITTING, splitting

SHARED = ("limits",)
INPUTS = {
    "delassus": "rows rows",
    "free_velocity": "rows",
    "coefficients": "rows",
    "warm_start": "rows",
    "held": "rows",
    "options": f"{OPTION.size} common",
}
OUTPUTS = {
    "reactions": "rows",
    "velocity": "rows",
    "info": f"{INFO.size}",
    "history": "history",
}
# Cone rows: scaled coefficients, free velocity, scale and reactions; then as the problem has them;
# then what the relative natural map is relative to, see `laws.relative`.
CONES = layout(
    coefficients="cone_rows",
    b="cone_rows",
    scale="cone_rows",
    reactions="cone_rows",
    own_coefficients="cone_rows",
    own_reactions="cone_rows",
    own_velocity="cone_rows",
    unit="cone_rows",
    least="cone_rows",
    size=2,
)
HELD = layout(unit="joint_rows", least="joint_rows")
WORK = layout(cones=CONES, dense=DENSE, joints=HELD)
ROUNDS = 4  # of `auto` with b corrected, where eliminating joints rounded too much
RECOVERY = 0.01  # velocities left in joint rows, in tolerances: contacts feel them magnified

run_admm = admm(DENSE_OPERATOR)
run_splitting = splitting(DENSE_OPERATOR)
run_prox = prox(DENSE_OPERATOR)
run_auto = newton_or_admm(DENSE_OPERATOR, run_admm)


@function
def open_problem(
    model, limits, delassus, free_velocity, coefficients, warm_start, held, options, work
):  # fmt: skip
    """Eliminate joints, and scale cone rows.

    `held` are velocities without reactions of cones, of problems whose joints are not eliminated.
    """
    counts, cones = counts_of(model), work.cones
    joints, n = model.counts[0], row_count(counts)
    is_scaled = limits[LIMIT.precondition] > 0
    prepare(joints, counts, is_scaled, delassus, free_velocity, work.dense)
    first_contact = counts[0] + counts[1] + counts[2]
    for i in range(n):
        scale, x = work.dense.scale[i], coefficients[joints + i]
        cones.own_coefficients[i] = x
        cones.coefficients[i] = x / scale if i < first_contact else x
        cones.scale[i] = scale
        cones.b[i] = work.dense.b[i]
        cones.reactions[i] = warm_start[joints + i] / scale
    put_units(joints, counts, delassus, work)
    is_ncp = options[OPTION.is_ncp]
    if counts[0] > 0:
        for i in range(n):
            cones.own_velocity[i] = held[i]
            cones.own_reactions[i] = 1.0 + 0.0 * held[i]
        put_sizes_of(counts, is_ncp, cones.own_velocity, cones.own_reactions, cones)
    else:
        put_sizes(counts, is_ncp, cones)
    put_joint_sizes(joints, free_velocity, cones, work.joints)


@function
def put_units(joints, counts, delassus, work):
    """W of all rows: see `laws.relative`."""
    singles, n = counts[0] + counts[1] + counts[2], row_count(counts)
    rows, unit, largest = joints + n, work.cones.unit, 0.0 * delassus[0]
    for i in range(joints + counts[0]):
        largest = maximum(largest, delassus[i * (rows + 1)])
    for i in range(joints):
        work.joints.unit[i] = joint_unit(delassus[i * (rows + 1)], largest)
    for i in range(n):
        unit[i] = delassus[(joints + i) * (rows + 1)]
        if i >= singles and (i - singles) % 3 == 2:
            mean = (unit[i - 2] + unit[i - 1] + unit[i]) / 3.0
            unit[i - 2] = mean
            unit[i - 1] = mean
            unit[i] = mean
    for i in range(n):
        unit[i] = joint_unit(unit[i], largest) if i < counts[0] else unit_of(unit[i])


@function
def close_problem(model, delassus, free_velocity, warm_start, options, reactions, velocity, work):
    """Reactions of joints, and the velocity of all rows."""
    joints, n = model.counts[0], row_count(counts_of(model))
    rows = joints + n
    for i in range(joints):
        reactions[i] = warm_start[i]
    for i in range(n):
        reactions[joints + i] = work.cones.scale[i] * work.cones.reactions[i]
    if joints > 0:
        tolerance = RECOVERY * options[OPTION.tolerance] * size_to_reach(work.cones)
        unit = work.joints.unit
        recover(joints, n, delassus, free_velocity, unit, tolerance, reactions, work.dense)
    for i in range(rows):
        x = free_velocity[i]
        for k in range(rows):
            x = x + delassus[i * rows + k] * reactions[k]
        velocity[i] = x


@function
def correct(model, options, reactions, velocity, work):
    """b such that D_c lambda + b is the velocity of these reactions, joints included.

    Where joints are redundant or masses far apart, rounding of D_c shows in b first. Returns the
    relative natural map of all rows, by the velocity.
    """
    joints, counts, cones = model.counts[0], counts_of(model), work.cones
    times_matrix(row_count(counts), work.dense.D, cones.reactions, cones.b)
    return correct_velocity(joints, counts, options, reactions, velocity, work)


@function
def correct_velocity(joints, counts, options, reactions, velocity, work):
    """b, which is D_c lambda on entry; and the relative natural map of all rows."""
    cones = work.cones
    n = row_count(counts)
    for i in range(n):
        cones.own_reactions[i] = reactions[joints + i]
        cones.own_velocity[i] = velocity[joints + i]
        cones.b[i] = cones.scale[i] * velocity[joints + i] - cones.b[i]
    found = relative_joint_map(joints, reactions, velocity, cones, work.joints)
    return maximum(found, relative_map(counts, cones, options[OPTION.is_ncp]))


@function
def tell(joints, counts, options, iterations, reactions, velocity, info, work):
    """Residuals of all rows."""
    n, cones = row_count(counts), work.cones
    worst = 0.0 * options[OPTION.tolerance]
    for i in range(joints):
        worst = maximum(worst, absolute(velocity[i]))
    for i in range(n):
        cones.own_reactions[i] = reactions[joints + i]
        cones.own_velocity[i] = velocity[joints + i]
    put_residuals(
        counts, cones.own_coefficients, options, cones.own_reactions, cones.own_velocity,
        cones.reactions, info,
    )  # fmt: skip
    info[INFO.dual] = maximum(info[INFO.dual], worst)
    info[INFO.natural_map] = maximum(info[INFO.natural_map], worst)
    found = relative_joint_map(joints, reactions, velocity, cones, work.joints)
    relative = relative_map(counts, cones, options[OPTION.is_ncp])
    info[INFO.relative_natural_map] = maximum(found, relative)
    info[INFO.iterations] = iterations


@function
def tell_all(model, options, iterations, reactions, velocity, info, work):
    """`tell` for a shape."""
    tell(
        model.counts[0], counts_of(model), options, iterations, reactions, velocity, info,
        work,
    )  # fmt: skip


@kernel(
    ShapeArrays,
    shared=SHARED,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(WORK, dual=ADMM),
    label="contact by ADMM",
)
def contact_admm(
    model, limits, delassus, free_velocity, coefficients, warm_start, held, options, reactions,
    velocity, info, history, work,
):  # fmt: skip
    """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f"""
    open_problem(
        model, limits, delassus, free_velocity, coefficients, warm_start, held, options, work
    )  # fmt: skip
    iterations = run_admm(
        model, counts_of(model), limits, limits[LIMIT.iterations], work.cones, options,
        work.cones.reactions, 0, history, work.dual, work.dense,
    )  # fmt: skip
    close_problem(model, delassus, free_velocity, warm_start, options, reactions, velocity, work)
    tell_all(model, options, iterations, reactions, velocity, info, work)


@kernel(
    ShapeArrays,
    shared=SHARED,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(
        WORK, dual=ADMM, newton=NEWTON, interior=INTERIOR, kept="cone_rows", refined="cone_rows"
    ),
    lanes=False,
    label="contact by Newton and ADMM",
)
def contact_auto(
    model, limits, delassus, free_velocity, coefficients, warm_start, held, options, reactions,
    velocity, info, history, work,
):  # fmt: skip
    """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f"""
    open_problem(
        model, limits, delassus, free_velocity, coefficients, warm_start, held, options, work
    )  # fmt: skip
    counts, cones, round, total, least = counts_of(model), work.cones, 0, 0, 1e300
    n = row_count(counts)
    while round <= ROUNDS:
        if round < ROUNDS:
            total = run_auto(
                model, counts, limits, total, cones, options, cones.reactions, history, work
            )
        else:
            copy(n, work.refined, cones.reactions)
        close_problem(
            model, delassus, free_velocity, warm_start, options, reactions, velocity, work
        )
        if round == ROUNDS:
            break
        found = correct(model, options, reactions, velocity, work)
        is_better, round = found < least, round + 1
        if round == 1 or is_better:
            least = found
            copy(n, cones.reactions, work.refined)
        else:
            round = ROUNDS  # back to what was better
        if is_better and (found <= options[OPTION.tolerance] or total >= limits[LIMIT.iterations]):
            break
    tell_all(model, options, 1.0 * total, reactions, velocity, info, work)


@kernel(
    ShapeArrays,
    shared=SHARED,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(WORK, split=SPLITTING),
    lanes=False,
    label="contact by Gauss-Seidel",
)
def contact_splitting(
    model, limits, delassus, free_velocity, coefficients, warm_start, held, options, reactions,
    velocity, info, history, work,
):  # fmt: skip
    """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f"""
    open_problem(
        model, limits, delassus, free_velocity, coefficients, warm_start, held, options, work
    )  # fmt: skip
    iterations = run_splitting(
        model, counts_of(model), limits, work.cones, options, work.cones.reactions, history,
        work.split, work.dense,
    )  # fmt: skip
    close_problem(model, delassus, free_velocity, warm_start, options, reactions, velocity, work)
    tell_all(model, options, iterations, reactions, velocity, info, work)


@kernel(
    ShapeArrays,
    shared=SHARED,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(WORK, split=PROX),
    lanes=False,
    label="contact by PROX",
)
def contact_prox(
    model, limits, delassus, free_velocity, coefficients, warm_start, held, options, reactions,
    velocity, info, history, work,
):  # fmt: skip
    """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f"""
    open_problem(
        model, limits, delassus, free_velocity, coefficients, warm_start, held, options, work
    )  # fmt: skip
    iterations = run_prox(
        model, counts_of(model), limits, work.cones, options, work.cones.reactions, history,
        work.split, work.dense,
    )  # fmt: skip
    close_problem(model, delassus, free_velocity, warm_start, options, reactions, velocity, work)
    tell_all(model, options, iterations, reactions, velocity, info, work)
