"""`delassus count`: how many operations the algorithms need for a model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..errors import DelassusError, ModelError, UnknownNameError
from ..model.parts.names import closest
from .models import add_model_arguments, find_model

_ALGORITHMS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "inverse_mass_matrix",
    "coriolis_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
_KINDS = ("add", "mul", "div", "sqrt", "trig", "total")
_DAMPING, _ITERATIONS = 1e-6, 3


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "count",
        help="count the operations that the algorithms need",
        description="Count the arithmetic operations of the algorithms for one state of a model; "
        "with constraints, those of the methods that solve them.",
    )
    add_model_arguments(parser)
    for kind, what in (("weld", "a frame"), ("connect", "a frame's origin")):
        parser.add_argument(
            f"--{kind}", action="append", default=[], metavar="FRAME",
            help=f"fix {what} in the world: count methods for constraints; may be repeated",
        )  # fmt: skip
    parser.add_argument(
        "--method", action="append", default=[], metavar="NAME",
        help="a method such as caba or prox-ltl; may be repeated (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--iterations", type=int, default=_ITERATIONS, metavar="COUNT",
        help="of proximal methods (default: %(default)s)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a table of counts."""
    import delassus

    from ..benchmarks.reporting.tables import Column, Table

    model, _ = find_model(options.model, options.floating_base)
    contacts = [delassus.Weld(frame) for frame in options.weld]
    contacts += [delassus.Connect(frame) for frame in options.connect]
    of, note = f"{model.name} (nv {model.nv}", ""
    if contacts or options.method:
        constraints = delassus.Constraints(model, contacts or None)
        if not constraints.size:
            raise ModelError(
                f"{model.name!r} declares no constraints: name frames by --weld or --connect"
            )
        records = list(_count_methods(constraints, options.method, options.iterations))
        of = f"{of}, {constraints.size} rows"
        note = f"dynamics: {options.iterations} iterations, for accelerations and multipliers"
    else:
        records = list(_count_algorithms(model))
    columns = [Column("algorithm"), *(Column(kind, kind, ",") for kind in _KINDS)]
    print(Table("count", f"operations a state, {of})", columns, records, note))
    return 0


def _count_algorithms(model) -> Iterator[dict[str, object]]:
    """Algorithms on trees."""
    import delassus

    for name in _ALGORITHMS:
        counts = delassus.operation_count(getattr(delassus, name), model)
        yield _record(name.replace("_", " "), counts)


def _count_methods(constraints, wanted: list[str], iterations: int) -> Iterator[dict]:
    """Methods for constraints: of dynamics, then of the Delassus matrix and its inverse."""
    from ..benchmarks.comparing.methods import all_methods, count_method

    known = [method for _, method in all_methods()]
    for method in wanted:
        if method not in known:
            raise UnknownNameError(f"no method is called {method!r}{closest(method, known)}")
    for function, method in all_methods():
        if wanted and method not in wanted:
            continue
        try:
            counts = count_method(function, method, constraints, _DAMPING, iterations)
        except DelassusError:
            if wanted:
                raise
            continue  # not every method takes all constraints
        yield _record(f"{function.replace('_', ' ')}, {method}", counts)


def _record(label: str, counts) -> dict[str, object]:
    return {"algorithm": label} | {kind: getattr(counts, kind) for kind in _KINDS}
