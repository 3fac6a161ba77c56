"""Operations of forward dynamics of a mechanism with loops: embedded, and by solvers."""

from __future__ import annotations

from ... import Closure, Connect, Constraints, Model, embed, forward_dynamics, operation_count
from ..comparing.methods import DYNAMICS, count_method
from ..reporting.tables import Column, Record, numbers

EMBEDDED, TREE = "embedded", "tree"
# Methods of constrained dynamics, with the damping and the fewest iterations by which they agree
# with embedded dynamics to 1e-8, chains of forty links included. Those that add springs lose digits
# with a smaller damping.
FEWEST = {"caba": (1e-6, 2), "prox-ltl": (1e-12, 1), "prox-ltls": (1e-6, 2)}
SOLVERS = tuple(FEWEST)
CONTESTANTS = (EMBEDDED, *SOLVERS)  # whose results fulfil the constraints
# The most links for prox-ltl: its operations grow with the cube of links and rows, and tracing them
# takes minutes.
_MOST_OF_LTL = 100

NOTE = (
    "Accelerations of one state, counted by CasADi. tree: forward dynamics of the spanning tree,\n"
    "whose loops are open. Solvers: the fewest iterations that agree with embedded to 1e-8, which\n"
    "are one of prox-ltl and two of the others, without tests of convergence; loops of hinges are\n"
    "closed at a point, by three rows. embedded: from q of all joints, and from velocities and\n"
    "forces of the independent ones to their accelerations; G and g included."
)


def count_columns() -> list[Column]:
    """Columns of the operations of all contestants, and of the tree."""
    return numbers(",", **{name: name for name in (EMBEDDED, TREE, *SOLVERS)})


def count_all(model: Model) -> Record:
    """Sizes of a mechanism, and the operations of all contestants, by their names."""
    embedding, constraints = embed(model), closed_at_points(model)
    solvers = [s for s in SOLVERS if s != "prox-ltl" or model.n_bodies <= _MOST_OF_LTL]
    return {
        "bodies": model.n_bodies,
        "nv": embedding.nv,
        "rows": constraints.size,
        EMBEDDED: operation_count(forward_dynamics, embedding).total,
        TREE: operation_count(forward_dynamics, model).total,
        **{solver: _solver_operations(solver, constraints) for solver in solvers},
    }


def _solver_operations(solver: str, constraints: Constraints) -> int:
    return count_method(
        DYNAMICS, solver, constraints, *FEWEST[solver], outputs=("acceleration",)
    ).total


def closed_at_points(model: Model) -> Constraints:
    """The constraints of a model whose hinges are all parallel, each loop closed at a point.

    Two of the five rows of a hinge say that axes are parallel, which they are anyway.
    """
    declared = [
        Connect(*c.frames) if isinstance(c, Closure) else c for c in Constraints(model).declared
    ]
    return Constraints(model, declared)
