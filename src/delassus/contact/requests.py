"""The solvers by name: kernels, parameters and defaults, and checks of what they are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..checks import finite_number, flag, not_negative, positive_integer, shown
from ..errors import SettingError, UnknownNameError
from .kernels import contact_admm, contact_auto, contact_prox, contact_splitting
from .laws.request import LAWS, LIMIT, OPTION
from .printed import printed_admm, printed_sweeps
from .solvers import splitting
from .solvers.admm import FIXED, LINEAR, SPECTRAL

JOINTS = ("eliminated", "split")
FORMS = ("own", "printed")


class Solver(NamedTuple):
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
    "large": 10.0,
    "growth": 1.5,
    "every": 10,
    "power_iterations": 10,
    "first_exponent": 0.2,
    "exponent": 0.1,
    "restart": 0.999,
}
_SWEEPS = {"precondition": True, "relaxation": 1.0, "decay": 1.0, "least_relaxation": 0.1}
_RAISIM = _SWEEPS | {"decay": 0.99}


def _admm(adaptation: int, law: str) -> Solver:
    return Solver(contact_admm, law, {"adaptation": adaptation}, _ADMM, 1000)


def _sweeps(local: int, law: str, parameters=_SWEEPS, **fixed) -> Solver:
    return Solver(contact_splitting, law, {"local": local, **fixed}, parameters, 1000)


# What the paper prints, and the parameters that it has: see `reference.printed`.
_PRINTED_ADMM = {
    "relaxation": 1.0,
    "eta": 1e-6,
    "rho": 1.0,
    "ratio": 10.0,
    "growth": 1.5,
    "power_iterations": 10,
    "first_exponent": 0.2,
    "exponent": 0.05,
}
_PRINTED_SWEEPS = {"relaxation": 1.0, "decay": 0.99, "least_relaxation": 0.1}

_NEWTON = _ADMM | {"newton_steps": 20}
_SOLVERS = {
    "auto": Solver(
        contact_auto,
        "ncp",
        {"adaptation": SPECTRAL},
        _NEWTON | {"first_share": 25, "interior": True},
        7000,
    ),
    "newton": Solver(contact_auto, "ncp", {"first_share": 0}, {"precondition": True}, 50),
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
    "prox": Solver(
        contact_prox,
        "ncp",
        {},
        {"precondition": True, "relaxation": 1.0, "shrink": 0.9, "blocked": False},
        2000,
    ),
}
SOLVERS = tuple(_SOLVERS)
_EITHER_LAW = (contact_auto, contact_admm)  # kernels that solve the problem with or without Gamma
_POSITIVE = (
    "rho", "eta", "growth", "ratio", "large", "relaxation", "decay", "least_relaxation", "shrink",
)  # fmt: skip


class Request(NamedTuple):
    """A call of `solve`, checked."""

    name: str
    solver: Solver
    law: str
    limits: np.ndarray
    options: np.ndarray
    tolerance: float
    is_split: bool
    history: int


def printed_solver(name: str) -> Solver:
    """A solver as the paper prints it."""
    own = _SOLVERS[name]
    if own.kernel is contact_admm:
        parameters = _PRINTED_ADMM
        if own.law == "ccp":  # without the proximal term
            parameters = {key: x for key, x in _PRINTED_ADMM.items() if key != "eta"}
        fixed = own.fixed | ({"eta": 0.0} if own.law == "ccp" else {})
        return own._replace(kernel=printed_admm, fixed=fixed, parameters=parameters)
    if own.kernel is contact_splitting:
        parameters = _PRINTED_SWEEPS
        if "inertia" in own.parameters:
            parameters = _PRINTED_SWEEPS | {"inertia": 1.0}
        if name == "pgs-ccp":
            parameters = _PRINTED_SWEEPS | {"de_saxce": True}
        return own._replace(kernel=printed_sweeps, parameters=parameters)
    able = [k for k, x in _SOLVERS.items() if x.kernel in (contact_admm, contact_splitting)]
    raise SettingError(f"the paper has no solver {name!r}; it has {', '.join(able)}")


def new_request(
    name, tolerance, max_iterations, joints, law, record, parameters, form="own"
) -> Request:
    """A request, or an error that says what is wrong with it."""
    if not isinstance(name, str) or name not in _SOLVERS:
        raise UnknownNameError(f"there is no solver {shown(name)}; known are {', '.join(SOLVERS)}")
    if not isinstance(joints, str) or joints not in JOINTS:
        raise SettingError(f"joints must be one of {', '.join(JOINTS)}, got {shown(joints)}")
    if law is not None and not (isinstance(law, str) and law in LAWS):
        raise SettingError(f"law must be one of {', '.join(LAWS)}, got {shown(law)}")
    if not isinstance(form, str) or form not in FORMS:
        raise SettingError(f"form must be one of {', '.join(FORMS)}, got {shown(form)}")
    solver = printed_solver(name) if form == "printed" else _SOLVERS[name]
    unknown = [key for key in parameters if key not in solver.parameters]
    if unknown:
        raise SettingError(
            f"{name} has no parameter {unknown[0]!r}; it has {', '.join(solver.parameters)}"
        )
    given = dict(solver.parameters) | parameters
    values = {key: _checked(key, x, solver.parameters[key]) for key, x in given.items()}
    law = _law_of(name, solver, law, values, is_given="de_saxce" in parameters)
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
    is_split = joints == "split" or form == "printed"
    return Request(name, solver, law, limits, options, tolerance, is_split, most if record else 0)


def _law_of(
    name: str, solver: Solver, law: str | None, values: dict[str, Any], is_given: bool
) -> str:
    """The law that a solver is asked for: its own one, or an error where it cannot follow it.

    pgs-ccp takes De Saxce's term for "ncp"; `is_given` tells whether that term was asked for.
    """
    if law is None:
        return "ncp" if values.get("de_saxce") else solver.law
    if solver.kernel in _EITHER_LAW:
        return law
    if solver.kernel is printed_admm:
        if law != solver.law:
            raise SettingError(f"{name} as printed solves law={solver.law!r}")
        return law
    if name == "pgs-ccp" and (not is_given or values["de_saxce"] == (law == "ncp")):
        values["de_saxce"] = law == "ncp"
        return law
    if name == "pgs-ccp":
        raise SettingError(f"pgs-ccp has law={law!r} with de_saxce={law == 'ncp'} only")
    if law == "ccp":
        able = [k for k, x in _SOLVERS.items() if x.kernel in _EITHER_LAW or x.law == "ccp"]
        raise SettingError(f"{name} does not solve law='ccp'; those that do are {', '.join(able)}")
    return law


def _checked(name: str, given, default):
    """A parameter of the kind of its default."""
    if isinstance(default, bool):
        return flag(name, given)
    if isinstance(default, int):
        return positive_integer(name, given)
    x = finite_number(name, given)
    if x < 0.0 or (name in _POSITIVE and x == 0.0):
        raise SettingError(f"{name} must be positive, got {shown(given)}")
    return x
