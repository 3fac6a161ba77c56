"""`solve`: calls of the compiled kernels for one problem, for batches and for lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import flag, positive_integer
from ..compile import workers
from ..errors import DataTypeError, SettingError, ShapeError
from .by_operator import solve_by_operator, weights_of
from .by_springs import solve_by_springs
from .kernels import contact_admm, contact_auto
from .laws.request import INFO, LIMIT, OPTION
from .plain import Residuals, held_velocity, residuals
from .printed import printed_sweeps
from .problem import Problem, check_problem
from .requests import Request, new_request
from .shape import ProblemShape, problem_shape


class Solution(NamedTuple):
    """What a solver found. `converged`: the relative natural map is at most the tolerance."""

    reactions: np.ndarray
    velocity: np.ndarray  # D lambda + v_f
    converged: np.ndarray | bool
    iterations: np.ndarray | int
    residuals: Residuals
    history: np.ndarray | None  # the natural map after each iteration, if it was asked for


_requests: dict[tuple, Request] = {}
_MOST_REQUESTS = 1000


def solve(
    problem: Problem | Sequence[Problem],
    solver: str = "auto",
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    warm_start: ArrayLike | Sequence | None = None,
    joints: str = "eliminated",
    *,
    law: str | None = None,
    form: str = "own",
    joint_sizes: Sequence[int] | None = None,
    polish: bool = False,
    record: bool = False,
    threads: int | None = None,
    **parameters: Any,
) -> Solution | list[Solution]:
    """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f.

    Solvers are those of `SOLVERS`; docs/contact.md tells of them and of their parameters, and has
    the formula of the relative natural map, which `tolerance` is of. Joint rows are eliminated, or
    `joints="split"`: treated as rows that the solver iterates on. `law` is "ncp", or "ccp", without
    Gamma; each solver has its own default, and some solve only one of them. `form="printed"` is the
    solver as the paper prints it, for comparison; its Gauss-Seidel takes joints as blocks, with
    `joint_sizes` rows each. `polish` lets `auto` go on from what another solver found. `record`
    keeps the natural map of each iteration.

    Of many problems, in one `Problem` or in a list, all are solved: those of one size together,
    over `threads`, ADMM in lanes.
    """
    if form == "printed":
        check_problem(problem)
        asked = new_request(
            solver, tolerance, max_iterations, joints, law, record, parameters, form
        )
        start = _start(problem, warm_start)
        return solve_printed(problem, start, asked, joint_sizes, threads)
    if form != "own" or joint_sizes is not None:
        raise SettingError(f'form must be "own", or "printed" with joint_sizes, got {form!r}')
    if isinstance(problem, (list, tuple)):
        starts = [None] * len(problem) if warm_start is None else warm_start
        if len(starts) != len(problem):
            raise ShapeError(f"{len(problem)} problems have {len(starts)} warm starts")
        request = _request(solver, tolerance, max_iterations, joints, law, record, parameters)
        found = _solve_list([check_problem(p) for p in problem], starts, request, threads)
        return [
            _polished(p, x, request, polish, threads) for p, x in zip(problem, found, strict=True)
        ]
    check_problem(problem)
    request = _request(solver, tolerance, max_iterations, joints, law, record, parameters)
    found = _solve_one(problem, _start(problem, warm_start), request, threads)
    return _polished(problem, found, request, polish, threads)


def _request(name, tolerance, max_iterations, joints, law, record, parameters) -> Request:
    """A request; those of plain values are checked once, and then remembered."""
    try:
        kinds = (type(tolerance), type(max_iterations), *map(type, parameters.values()))
        key = name, tolerance, max_iterations, joints, law, record, *parameters.items(), *kinds
        if key not in _requests:
            if len(_requests) > _MOST_REQUESTS:
                _requests.clear()
            _requests[key] = new_request(
                name, tolerance, max_iterations, joints, law, record, parameters
            )
        return _requests[key]
    except TypeError:  # something that is not hashable
        return new_request(name, tolerance, max_iterations, joints, law, record, parameters)


def solver_request(
    name: str,
    tolerance: float,
    max_iterations: int | None,
    law: str | None,
    parameters: dict[str, Any],
) -> Request:
    """The numbers by which kernels of other layers ask a solver."""
    return _request(name, tolerance, max_iterations, "eliminated", law, False, parameters)


def _start(p: Problem, warm_start) -> np.ndarray:
    if warm_start is None:
        return np.zeros(p.free_velocity.shape)
    start = p.check_rows("warm_start", warm_start)
    if not np.isfinite(start).all():
        raise ShapeError("warm_start must be finite")
    return np.ascontiguousarray(start)


def _solve_one(p: Problem, start: np.ndarray, request: Request, threads) -> Solution:
    """The solution of a problem, or of a batch of one shape."""
    if p.n_rows == 0 or p.batch == 0:
        return _nothing(p)
    if p.operator is not None and request.solver.kernel is contact_admm and not request.is_split:
        return _solve_operator(p, start, request, threads)
    shape = _shape(p, request)
    options = request.options if p.batch is None else request.options[None]
    inputs = (*p.packed(), start, _held(p, request), options)
    found = request.solver.kernel(shape, inputs, None, threads, (request.limits,))
    return _solution(p, found, request)


def _held(p: Problem, request: Request) -> np.ndarray:
    """Velocities of rows while joints hold, of joints that are not eliminated; else anything."""
    return held_velocity(p) if request.is_split and p.n_joint_rows else p.free_velocity


def _shape(p: Problem, request: Request) -> ProblemShape:
    joint, *others = p.counts
    counts = (0, joint, *others) if request.is_split else (joint, 0, *others)
    return problem_shape(counts, request.history)


def _solution(p: Problem, found: list[np.ndarray], request: Request) -> Solution:
    reactions, velocity, info, history = found
    if p.is_soft:
        velocity = velocity - p.compliance * reactions - p.target
    is_many = p.batch is not None
    values = [info[..., k] for k in range(INFO.size)] if is_many else info.tolist()
    relative, iterations = values[INFO.relative_natural_map], values[INFO.iterations]
    if request.history:
        history = _without_rest(history, np.asarray(iterations))
    return Solution(
        reactions,
        velocity,
        relative <= request.tolerance,
        iterations.astype(int) if is_many else int(iterations),
        Residuals(*values[: INFO.relative_natural_map + 1]),
        history if request.history else None,
    )


def solve_printed(p: Problem, start, request: Request, joint_sizes, threads) -> Solution:
    """The solution of a problem, or of a batch of one shape, as the paper prints the solver."""
    if p.n_rows == 0 or p.batch == 0:
        return _nothing(p)
    sizes = np.zeros(start.shape)
    if p.n_joint_rows and request.solver.kernel is printed_sweeps:
        given = () if joint_sizes is None else joint_sizes
        sizes_of = [positive_integer("joint_sizes", size) for size in given]
        if sum(sizes_of) != p.n_joint_rows:
            raise SettingError(
                f"joint_sizes must have the rows of each joint, {p.n_joint_rows} in all, got "
                f"{joint_sizes!r}"
            )
        sizes[..., np.cumsum([0, *sizes_of[:-1]])] = sizes_of
    options = request.options if p.batch is None else request.options[None]
    inputs = (*p.packed(), start, sizes, options)
    reactions, iterations, history = request.solver.kernel(
        _shape(p, request), inputs, None, threads, (request.limits,)
    )
    found, count = residuals(p, reactions, request.law), iterations[..., 0]
    return Solution(
        reactions,
        p.velocity(reactions),
        found.relative_natural_map <= request.tolerance,
        int(count) if p.batch is None else count.astype(int),
        found,
        _without_rest(history, count) if request.history else None,
    )


def _without_rest(history: np.ndarray, iterations: np.ndarray) -> np.ndarray:
    """The history, NaN after the last iteration of each problem; cut off for one problem."""
    if iterations.ndim == 0:
        return history[: int(iterations)]
    steps = np.arange(history.shape[-1])
    return np.where(steps < iterations[:, None], history, np.nan)


def _nothing(p: Problem) -> Solution:
    lead = p.free_velocity.shape[:-1]
    zero, yes = np.zeros(lead), np.ones(lead, bool)
    nought = (zero, yes, zero.astype(int)) if lead else (0.0, True, 0)
    return Solution(
        np.zeros(p.free_velocity.shape), p.free_velocity.copy(), nought[1], nought[2],
        Residuals(*[nought[0]] * 5), None,
    )  # fmt: skip


def _solve_operator(p: Problem, start: np.ndarray, request: Request, threads) -> Solution:
    if hasattr(p.operator, "springs"):
        weights = weights_of(p, True)
        found = solve_by_springs(p, weights, start, request, threads)
        return _solution(p, found, request)
    named = dict(zip(LIMIT._fields, request.limits.tolist(), strict=False))
    named |= dict(zip(OPTION._fields, request.options.tolist(), strict=False))
    reactions, iterations, history = solve_by_operator(p, start, request.law, named)
    found = residuals(p, reactions, request.law)
    is_good = found.relative_natural_map <= request.tolerance
    curve = np.array(history) if request.history else None
    return Solution(reactions, p.velocity(reactions), is_good, iterations, found, curve)


def _polished(p: Problem, found: Solution, request: Request, polish: bool, threads) -> Solution:
    """What `auto` makes of a solution, where that is better: Newton's method comes first."""
    if not flag("polish", polish) or request.solver.kernel is contact_auto:
        return found
    auto = _request("auto", request.tolerance, None, "eliminated", request.law, False, {})
    other = _solve_one(p, found.reactions, auto, threads)
    if p.batch is None:
        if other.residuals.relative_natural_map >= found.residuals.relative_natural_map:
            return found
        return other._replace(iterations=found.iterations + other.iterations, history=found.history)
    better = other.residuals.relative_natural_map < found.residuals.relative_natural_map
    rows = better[:, None]
    both = zip(other.residuals, found.residuals, strict=True)
    return Solution(
        np.where(rows, other.reactions, found.reactions),
        np.where(rows, other.velocity, found.velocity),
        other.converged | found.converged,
        found.iterations + other.iterations,
        Residuals(*(np.where(better, x, y) for x, y in both)),
        found.history,
    )


def _solve_list(problems, starts, request: Request, threads) -> list[Solution]:
    """Problems of any size. Threads take one after the other, the largest first."""
    if any(p.batch is not None for p in problems):
        raise DataTypeError("a list holds single problems, not batches")
    starts = [_start(p, x) for p, x in zip(problems, starts, strict=True)]
    found: list[Solution | None] = [None] * len(problems)
    groups: dict[tuple, list[int]] = {}
    for k, p in enumerate(problems):
        key = p.counts if p.operator is None and p.n_rows else ("alone", k)
        groups.setdefault(key, []).append(k)
    order = sorted(groups.values(), key=lambda own: -problems[own[0]].n_rows * len(own))
    turn = count()

    def take() -> None:
        while (k := next(turn)) < len(order):
            own = order[k]
            for place, x in zip(own, _solve_group(problems, starts, own, request), strict=True):
                found[place] = x

    helpers = workers.available_cores() if threads is None else positive_integer("threads", threads)
    take_alone = len(order) == 1 or helpers == 1
    if take_alone:
        for own in order:
            for place, x in zip(
                own, _solve_group(problems, starts, own, request, threads), strict=True
            ):
                found[place] = x
    else:
        workers.run(take, min(helpers, len(order)) - 1)
    return found


def _solve_group(problems, starts, own, request: Request, threads=1) -> list[Solution]:
    """Problems of one size as a batch."""
    first = problems[own[0]]
    if first.operator is not None or not first.n_rows:
        return [_solve_one(problems[k], starts[k], request, 1) for k in own]
    shape = _shape(first, request)
    packed = [problems[k].packed() for k in own]
    inputs = [np.stack([x[t] for x in packed]) for t in range(3)]
    start = np.stack([starts[k] for k in own])
    held = np.stack([_held(problems[k], request) for k in own])
    outputs = request.solver.kernel(
        shape, (*inputs, start, held, request.options[None]), None, threads, (request.limits,)
    )
    return [_solution(problems[k], [x[t] for x in outputs], request) for t, k in enumerate(own)]
