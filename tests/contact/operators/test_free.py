"""Impulses on single elements, joints not eliminated, as Gauss-Seidel methods apply them."""

import numpy as np
import pytest

from delassus.compile import FLOAT64, part
from delassus.contact.operators import free
from delassus.contact.operators.elements import CONE, Cones, cone_at
from delassus.contact.operators.structure import BodiesArrays
from delassus.contact.operators.system import BodiesOperator

from .mechanisms import Bodies, Builder, system

pytestmark = pytest.mark.uncompiled


class Sweeps:
    """All elements of bodies, with inverse inertias and velocities at rest, by plain functions."""

    def __init__(self, bodies: Bodies):
        op = BodiesOperator(bodies.inertias, bodies.joints, bodies.cones)
        self.model = op._system.arrays(BodiesArrays, FLOAT64)
        n, n_inside = len(bodies.inertias), op.order.n_inside
        self.inverses, self.u = np.zeros(36 * n), np.zeros(6 * n)
        free.invert_inertias(self.model, bodies.inertias.ravel(), self.inverses, np.zeros(36))
        table = op._cone_numbers[2:]
        cones = Cones(len(bodies.cones), table, part(table, CONE.size * op._slots))
        front = part(self.inverses, 36 * n_inside), part(self.u, 6 * n_inside)
        self.elements = [(joint, op._J, self.inverses, self.u) for joint in self.model.joints]
        self.elements += [(cone_at(cones, k), cones.C, *front) for k in range(cones.count)]
        self.by_body = self.model.places["position"]

    def velocity(self, k):
        element, J, _, u = self.elements[k]
        v = np.zeros(element.height)
        free.velocity(element, J, u, v)
        return v

    def push(self, k, change):
        element, J, inverses, u = self.elements[k]
        free.push(element, J, change, inverses, u)

    def block(self, k):
        element, J, inverses, _ = self.elements[k]
        D = np.zeros(element.height**2)
        free.put_diagonal(element, J, inverses, D)
        return D.reshape(element.height, element.height)

    def velocities(self):
        return self.u.reshape(-1, 6)[self.by_body].ravel()


@pytest.mark.parametrize("name", ["tree", "couplings", "heavy"])
def test_impulses_along_elements_move_all_rows_by_the_delassus_matrix(name):
    bodies = system(name)
    sweeps = Sweeps(bodies)
    K = np.vstack([bodies.J, bodies.C])
    D = K @ np.linalg.solve(bodies.M, K.T)
    x, at = np.linspace(-1.0, 1.0, len(K)), 0
    for k, (element, *_) in enumerate(sweeps.elements):
        rows = slice(at, at + int(element.height))
        assert np.allclose(sweeps.block(k), D[rows, rows], rtol=1e-10, atol=1e-12)
        sweeps.push(k, x[rows])
        at = rows.stop
    v = np.concatenate([sweeps.velocity(k) for k in range(len(sweeps.elements))])
    assert np.linalg.norm(v - D @ x) < 1e-11 * np.linalg.norm(D @ x)


def test_gauss_seidel_stops_the_joints_of_a_chain_with_momentum_in_balance():
    rng = np.random.default_rng(0)
    builder = Builder(rng, rng.uniform(-0.05, 0.05, (3, 3)))
    builder.hinge(0, 1)
    builder.hinge(1, 2)
    bodies = builder.build()
    sweeps = Sweeps(bodies)
    start = rng.standard_normal((3, 6))
    sweeps.u.reshape(3, 6)[sweeps.by_body] = start
    for _ in range(150):
        for k in range(2):
            sweeps.push(k, -np.linalg.solve(sweeps.block(k), sweeps.velocity(k)))
    J, M = bodies.J, bodies.M
    multipliers = np.linalg.solve(J @ np.linalg.solve(M, J.T), -J @ start.ravel())
    expected = start.ravel() + np.linalg.solve(M, J.T @ multipliers)
    assert np.abs(J @ sweeps.velocities()).max() < 1e-9
    assert np.allclose(sweeps.velocities(), expected, atol=1e-8)
