"""`delassus count`: how many operations the algorithms need for a model."""

from __future__ import annotations

import argparse

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


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "count",
        help="count the operations that the algorithms need",
        description="Count the arithmetic operations of the algorithms for one state of a model.",
    )
    add_model_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a table of counts."""
    import delassus

    from ..benchmarks.report import Column, Table

    model, _ = find_model(options.model, options.floating_base)
    records = []
    for name in _ALGORITHMS:
        counts = delassus.operation_count(getattr(delassus, name), model)
        record = {"algorithm": name.replace("_", " ")}
        records.append(record | {kind: getattr(counts, kind) for kind in _KINDS})
    columns = [Column("algorithm"), *(Column(kind, kind, ",") for kind in _KINDS)]
    print(Table("count", f"operations a state, {model.name} (nv {model.nv})", columns, records))
    return 0
