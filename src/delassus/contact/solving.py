"""`solve`: the solvers by name, their parameters, and calls of the compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import finite_number, flag, not_negative, positive_integer
from ..compile import workers
from ..errors import DataTypeError, SettingError, ShapeError, UnknownNameError
from .by_operator import solve_by_operator
from .kernels import contact_admm, contact_auto, contact_prox, contact_splitting
from .laws.request import INFO, LIMIT, OPTION
from .plain import Residuals, residuals
from .problem import Problem, check_problem
from .shape import ProblemShape, problem_shape
from .solvers import splitting
from .solvers.admm import FIXED, LINEAR, SPECTRAL

JOINTS = ("eliminated", "split")
LAWS = ("ncp", "ccp")


class Solution(NamedTuple):
    """What a solver found. `converged` means: the natural map is at most the tolerance."""

    reactions: np.ndarray
    velocity: np.ndarray  # D lambda + v_f
    converged: np.ndarray | bool
    iterations: np.ndarray | int
    residuals: Residuals
    history: np.ndarray | None  # the natural map after each iteration, if it was asked for


class _Solver(NamedTuple):
    """A kernel, what is fixed for it, its parameters with defaults, and its iterations."""

    kernel: Callable
    law: str
    fixed: dict[str, float]
    parameters: dict[str, Any]
    max_iterations: int


_ADMM = {
    "precondition": True,
    "accelerate": True,
    "relaxation": 1.0,
    "eta": 1e-4,
    "rho": 0.3,
    "ratio": 4.0,
    "growth": 1.5,
    "every": 10,
    "power_iterations": 10,
    "first_exponent": 0.2,
    "exponent": 0.1,
    "restart": 0.999,
}
_SWEEPS = {"precondition": True, "relaxation": 1.0, "decay": 1.0, "least_relaxation": 0.1}
_RAISIM = _SWEEPS | {"decay": 0.99}


def _admm(adaptation: int, law: str) -> _Solver:
    return _Solver(contact_admm, law, {"adaptation": adaptation}, _ADMM, 1000)


def _sweeps(local: int, law: str, parameters=_SWEEPS, **fixed) -> _Solver:
    return _Solver(contact_splitting, law, {"local": local, **fixed}, parameters, 1000)


_NEWTON = _ADMM | {"newton_steps": 20}
_SOLVERS = {
    "auto": _Solver(
        contact_auto,
        "ncp",
        {"adaptation": SPECTRAL},
        _NEWTON | {"first_share": 25, "interior": True},
        7000,
    ),
    "newton": _Solver(contact_auto, "ncp", {"first_share": 0}, {"precondition": True}, 50),
    "pgs-ccp": _sweeps(splitting.CONE, "ccp", _SWEEPS | {"de_saxce": False}),
    "pgs-ncp": _sweeps(splitting.NORMAL, "ncp", _SWEEPS | {"de_saxce": False}),
    "nbgs": _sweeps(splitting.DISSIPATION, "ncp", _SWEEPS | {"exact": False}),
    "raisim": _sweeps(splitting.BISECTION, "ncp", _RAISIM, de_saxce=0.0),
    "raisim-ds": _sweeps(splitting.BISECTION, "ncp", _RAISIM, de_saxce=1.0),
    "raisim-ds-es": _sweeps(
        splitting.BISECTION, "ncp", _RAISIM | {"inertia": 1.0}, de_saxce=1.0, early=1
    ),
    "admm-ccp": _admm(FIXED, "ccp"),
    "admm-ncp-fp": _admm(FIXED, "ncp"),
    "admm-ncp-la": _admm(LINEAR, "ncp"),
    "admm-ncp-sa": _admm(SPECTRAL, "ncp"),
    "prox": _Solver(
        contact_prox,
        "ncp",
        {},
        {"precondition": True, "relaxation": 1.0, "shrink": 0.9, "blocked": False},
        2000,
    ),
}
SOLVERS = tuple(_SOLVERS)
_POSITIVE = ("rho", "eta", "growth", "ratio", "relaxation", "decay", "least_relaxation", "shrink")


class _Request(NamedTuple):
    """A call of `solve`, checked."""

    name: str
    solver: _Solver
    law: str
    limits: np.ndarray
    options: np.ndarray
    tolerance: float
    is_split: bool
    history: int


_requests: dict[tuple, _Request] = {}
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
    polish: bool = False,
    record: bool = False,
    threads: int | None = None,
    **parameters: Any,
) -> Solution | list[Solution]:
    """K* contains v + Gamma(v), orthogonal to lambda in K, with v = D lambda + v_f.

    Solvers are those of `SOLVERS`; docs/contact.md tells of them and of their parameters. Joint
    rows are eliminated, or `joints="split"`: treated as rows that the solver iterates on. `law` is
    "ncp", or "ccp", without Gamma; each solver has its own default. `polish` improves what another
    solver found by Newton's method. `record` keeps the natural map of each iteration.

    Of many problems, in one `Problem` or in a list, all are solved: those of one size together,
    over `threads`, ADMM in lanes.
    """
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


def _request(name, tolerance, max_iterations, joints, law, record, parameters) -> _Request:
    """A request; those of plain values are checked once, and then remembered."""
    try:
        kinds = (type(tolerance), type(max_iterations), *map(type, parameters.values()))
        key = name, tolerance, max_iterations, joints, law, record, *parameters.items(), *kinds
        if key not in _requests:
            if len(_requests) > _MOST_REQUESTS:
                _requests.clear()
            _requests[key] = _new_request(
                name, tolerance, max_iterations, joints, law, record, parameters
            )
        return _requests[key]
    except TypeError:  # something that is not hashable
        return _new_request(name, tolerance, max_iterations, joints, law, record, parameters)


def solver_request(name: str, tolerance: float, max_iterations: int) -> _Request:
    """The numbers by which kernels of other layers ask a solver."""
    return _request(name, tolerance, max_iterations, "eliminated", None, False, {})


def _new_request(name, tolerance, max_iterations, joints, law, record, parameters) -> _Request:
    if not isinstance(name, str) or name not in _SOLVERS:
        raise UnknownNameError(f"there is no solver {name!r}; known are {', '.join(SOLVERS)}")
    if joints not in JOINTS:
        raise SettingError(f"joints must be one of {', '.join(JOINTS)}, got {joints!r}")
    if law is not None and law not in LAWS:
        raise SettingError(f"law must be one of {', '.join(LAWS)}, got {law!r}")
    solver = _SOLVERS[name]
    unknown = [key for key in parameters if key not in solver.parameters]
    if unknown:
        raise SettingError(
            f"{name} has no parameter {unknown[0]!r}; it has {', '.join(solver.parameters)}"
        )
    given = dict(solver.parameters) | parameters
    values = {key: _checked(key, x, solver.parameters[key]) for key, x in given.items()}
    if law is None:
        law = "ncp" if values.get("de_saxce") else solver.law
    if values.pop("exact", False):
        values["local"] = splitting.EXACT
    most = solver.max_iterations if max_iterations is None else max_iterations
    most = positive_integer("max_iterations", most)
    tolerance = not_negative("tolerance", tolerance)
    values = {
        "newton_steps": most,
        "every": 1,
        "eta": 1e-4,
        **solver.fixed,
        **values,
        "iterations": most,
        "record": flag("record", record),
        "tolerance": tolerance,
        "is_ncp": law == "ncp",
    }
    limits = np.array([int(values.get(k, 0)) for k in LIMIT._fields[:-1]], np.int64)
    options = np.array([float(values.get(k, 0.0)) for k in OPTION._fields[:-1]])
    is_split = joints == "split"
    return _Request(name, solver, law, limits, options, tolerance, is_split, most if record else 0)


def _checked(name: str, given, default):
    """A parameter of the kind of its default."""
    if isinstance(default, bool):
        return flag(name, given)
    if isinstance(default, int):
        return positive_integer(name, given)
    x = finite_number(name, given)
    if x < 0.0 or (name in _POSITIVE and x == 0.0):
        raise SettingError(f"{name} must be positive, got {given!r}")
    return x


def _start(p: Problem, warm_start) -> np.ndarray:
    if warm_start is None:
        return np.zeros(p.free_velocity.shape)
    start = p.check_rows("warm_start", warm_start)
    if not np.isfinite(start).all():
        raise ShapeError("warm_start must be finite")
    return np.ascontiguousarray(start)


def _solve_one(p: Problem, start: np.ndarray, request: _Request, threads) -> Solution:
    """The solution of a problem, or of a batch of one shape."""
    if p.n_rows == 0 or p.batch == 0:
        return _nothing(p)
    if p.operator is not None and request.solver.kernel is contact_admm and not request.is_split:
        return _solve_operator(p, start, request)
    shape = _shape(p, request)
    options = request.options if p.batch is None else request.options[None]
    inputs = (*p.packed(), start, options)
    found = request.solver.kernel(shape, inputs, None, threads, (request.limits,))
    return _solution(p, found, request)


def _shape(p: Problem, request: _Request) -> ProblemShape:
    joint, *others = p.counts
    counts = (0, joint, *others) if request.is_split else (joint, 0, *others)
    return problem_shape(counts, request.history)


def _solution(p: Problem, found: list[np.ndarray], request: _Request) -> Solution:
    reactions, velocity, info, history = found
    if p.is_soft:
        velocity = velocity - p.compliance * reactions - p.target
    is_many = p.batch is not None
    values = [info[..., k] for k in range(INFO.size)] if is_many else info.tolist()
    natural, iterations = values[INFO.natural_map], values[INFO.iterations]
    if request.history:
        history = _without_rest(history, np.asarray(iterations))
    return Solution(
        reactions,
        velocity,
        natural <= request.tolerance,
        iterations.astype(int) if is_many else int(iterations),
        Residuals(*values[: INFO.natural_map + 1]),
        history if request.history else None,
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
        Residuals(*[nought[0]] * 4), None,
    )  # fmt: skip


def _solve_operator(p: Problem, start: np.ndarray, request: _Request) -> Solution:
    named = dict(zip(LIMIT._fields, request.limits.tolist(), strict=False))
    named |= dict(zip(OPTION._fields, request.options.tolist(), strict=False))
    reactions, iterations, history = solve_by_operator(p, start, request.law, named)
    found = residuals(p, reactions, request.law)
    is_good = found.natural_map <= request.tolerance
    curve = np.array(history) if request.history else None
    return Solution(reactions, p.velocity(reactions), is_good, iterations, found, curve)


def _polished(p: Problem, found: Solution, request: _Request, polish: bool, threads) -> Solution:
    """What Newton's method makes of a solution, where that is better."""
    if not flag("polish", polish) or request.solver.kernel is contact_auto:
        return found
    newton = _request("newton", request.tolerance, None, "eliminated", request.law, False, {})
    other = _solve_one(p, found.reactions, newton, threads)
    if p.batch is None:
        if other.residuals.natural_map >= found.residuals.natural_map:
            return found
        return other._replace(iterations=found.iterations + other.iterations, history=found.history)
    better = other.residuals.natural_map < found.residuals.natural_map
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


def _solve_list(problems, starts, request: _Request, threads) -> list[Solution]:
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


def _solve_group(problems, starts, own, request: _Request, threads=1) -> list[Solution]:
    """Problems of one size as a batch."""
    first = problems[own[0]]
    if first.operator is not None or not first.n_rows:
        return [_solve_one(problems[k], starts[k], request, 1) for k in own]
    shape = _shape(first, request)
    packed = [problems[k].packed() for k in own]
    inputs = [np.stack([x[t] for x in packed]) for t in range(3)]
    start = np.stack([starts[k] for k in own])
    outputs = request.solver.kernel(
        shape, (*inputs, start, request.options[None]), None, threads, (request.limits,)
    )
    return [_solution(problems[k], [x[t] for x in outputs], request) for t, k in enumerate(own)]
