"""Times of the operator over bodies, one thread each:

    OPENBLAS_NUM_THREADS=1 python tests/contact/operators/measure.py

Prints assembly and factorisation against dense NumPy, growth with the number of bodies, and what a
new penalty costs. Times are of the processor. Nothing is asserted: they depend on the machine.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.linalg
from mechanisms import chain_of_loops, legged

from delassus.contact.operators import kernels
from delassus.contact.operators.order import find_order
from delassus.contact.operators.system import BodiesOperator


def best(f, repeats=7, seconds=0.05):
    """The least time of one call, in microseconds."""
    f()
    count, times = 1, []
    while True:
        start = time.process_time()
        for _ in range(count):
            f()
        taken = time.process_time() - start
        if taken > seconds:
            break
        count = max(2 * count, int(count * seconds / max(taken, 1e-9)))
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(count):
            f()
        times.append((time.process_time() - start) / count)
    return 1e6 * min(times)


def calls(op):
    """Calls of kernels of an operator on arrays that are made before.

    Of `prepare`, `factor`, `solve`, `solve_blocks`, and `recover` with two passes.
    """
    rows = op.joint_rows
    given = op._inertias.ravel(), op._J, op._weights
    prepared, penalised, y = op._prepared.copy(), op._penalised.copy(), op._W.copy()
    cones = (op._cone_numbers, op._W)
    x = np.linspace(-1.0, 1.0, len(op._W))
    none, g = np.zeros(rows), np.ones((len(op._inertias), 6))
    joints = op._J, np.stack([op._weights, none, none]), g, 0.0 * x
    recovered = [np.zeros(rows), np.zeros_like(g), np.zeros(2)]
    blocks = np.tile(np.eye(3).ravel(), op._slots)
    newton = op._prepared, op._cone_numbers, blocks, blocks, x, np.array([1e-7])
    return (
        lambda: kernels.prepare_bodies(op._system, given, prepared),
        lambda: kernels.factor_bodies(op._system, (prepared, *cones), penalised),
        lambda: kernels.solve_cones(op._system, (prepared, penalised, *cones, x), y),
        lambda: kernels.solve_cone_blocks(op._system, newton, y),
        lambda: kernels.recover_bodies(
            op._system, (op._prepared, cones[0], *joints, np.array([0.0, 2.0])), recovered
        ),
    )


def dense(bodies, damping):
    """J M^-1 J^T + S and its Cholesky factor, with M^-1 by blocks."""
    J, n = bodies.J, len(bodies.inertias)
    by_body = np.ascontiguousarray(J.reshape(-1, n, 6).swapaxes(0, 1))

    def run():
        inverses = np.linalg.inv(bodies.inertias)
        moved = (by_body @ inverses).swapaxes(0, 1).reshape(J.shape)
        D = moved @ J.T
        D[np.diag_indices_from(D)] += damping
        return scipy.linalg.cho_factor(D, overwrite_a=True, check_finite=False)

    return run


def main():
    builder, ends = legged(54, 67, np.random.default_rng(0))
    for end in ends:
        builder.contact(end)
        builder.contact(end)
    bodies = builder.build()
    op = BodiesOperator(bodies.inertias, bodies.joints, bodies.cones)
    prepare, factor, solve, newton, recover = map(best, calls(op))
    numpy_time = best(dense(bodies, op.damping[: op.joint_rows]))
    print(f"54 bodies, 67 hinges, {op.order.n_front} in the front, {op.cone_rows} cone rows")
    print(f"  blocks of the factor beside the diagonal: {len(op.order.rows)}")
    print(f"  prepare {prepare:.1f} us, factor {factor:.1f} us, solve {solve:.2f} us")
    print(f"  step of Newton's method {newton:.1f} us, recover in two passes {recover:.1f} us")
    print(f"  dense J M^-1 J^T by NumPy {numpy_time:.0f} us: ratio {numpy_time / prepare:.0f}")
    print("chains of loops, two bodies in the front: us a body; finding the order: us a body")
    for n in (50, 100, 200, 400, 800):
        builder = chain_of_loops(n, np.random.default_rng(1))
        builder.contact(n - 1)
        builder.contact(n - 2)
        bodies = builder.build()
        op = BodiesOperator(bodies.inertias, bodies.joints, bodies.cones)
        prepare, factor = map(best, calls(op)[:2])
        touched = [e for e, _ in bodies.joints]
        finding = best(lambda n=n, touched=touched: find_order(n, touched, (n - 1, n - 2)), 3)
        print(f"  {n:4d}: {prepare / n:.3f}, {finding / n:.2f}")
    print("a tenth of a chain touches: new penalty against all of prepare and factor")
    for n in (50, 100, 200):
        builder = chain_of_loops(n, np.random.default_rng(2))
        for i in range(5, n, 10):
            builder.contact(i)
        bodies = builder.build()
        op = BodiesOperator(bodies.inertias, bodies.joints, bodies.cones)
        prepare, factor, solve = map(best, calls(op)[:3])
        share = factor / (prepare + factor)
        print(f"  {n:4d}: {factor:.1f} of {prepare + factor:.1f} us, {share:.2f}; {solve:.1f} us")


if __name__ == "__main__":
    main()
