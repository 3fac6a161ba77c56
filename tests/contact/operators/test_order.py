"""The order of elimination: few blocks, the front last, found in linear time."""

import heapq

import numpy as np
import pytest

from delassus.contact.operators.order import Orders, find_order
from delassus.errors import ModelError

from .mechanisms import SYSTEMS, chain_of_loops, system

pytestmark = pytest.mark.uncompiled


def touched(bodies):
    return [[b for b in pair if b >= 0] for pair, _ in bodies.joints]


def pattern(n, elements, order):
    """Which blocks of A the factor has, by dense elimination of a matrix of zeros and ones."""
    A = np.eye(n, dtype=bool)
    position = order.places["position"]
    for bodies in elements:
        A[np.ix_(position[bodies], position[bodies])] = True
    for k in range(order.n_inside):
        later = np.flatnonzero(A[k, k + 1 :]) + k + 1
        A[np.ix_(later, later)] = True
    return A


@pytest.mark.parametrize("name", SYSTEMS)
def test_columns_have_the_blocks_that_elimination_fills_and_no_others(name):
    bodies = system(name)
    elements, n = touched(bodies), len(bodies.inertias)
    order = find_order(n, elements, front=(1, n - 1))
    A = pattern(n, elements, order)
    for k, column in enumerate(order.columns):
        rows = order.rows[column["block"] : column["end"]]
        assert rows.tolist() == [j for j in range(k + 1, n) if A[k, j]]


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_front_comes_last_and_every_body_once(name):
    n = len(system(name).inertias)
    order = find_order(n, touched(system(name)), front=(n - 1, 0))
    assert sorted(order.bodies.tolist()) == list(range(n))
    assert order.bodies[-2:].tolist() == [0, n - 1]
    assert order.front == {0, n - 1}
    assert (order.bodies[order.places["position"]] == np.arange(n)).all()


def test_trees_are_eliminated_without_fill():
    rng = np.random.default_rng(0)
    edges = [(int(rng.integers(i)), i) for i in range(1, 300)]
    assert len(find_order(300, edges).rows) == len(edges)
    star = [(0, i) for i in range(1, 300)]
    assert len(find_order(300, star).rows) == len(star)


def test_blocks_do_not_overlap():
    bodies = system("loops")
    order = find_order(8, touched(bodies), front=(0, 4, 6))
    places = {order.find_block(i, i) for i in range(8)}
    for column, body in zip(order.columns, order.bodies, strict=False):
        for j in order.rows[column["block"] : column["end"]]:
            places.add(order.find_block(body, order.bodies[j]))
    places |= {order.find_block(i, j) for i, j in ((0, 4), (0, 6), (4, 6))}
    used = np.zeros(order.matrix_size, int)
    for at, pitch in places:
        for r in range(6):
            used[at + r * pitch : at + r * pitch + 6] += 1
    assert used.max() == 1
    # What is not used is the lower triangle of the front.
    assert np.count_nonzero(used == 0) == 3 * 36


def test_work_for_a_body_does_not_grow_with_the_number_of_bodies(monkeypatch):
    """Neither the work of finding the order nor that of the factorisation."""
    pushes = []
    monkeypatch.setattr(
        heapq,
        "heappush",
        lambda queue, entry, push=heapq.heappush: pushes.append(push(queue, entry)),
    )
    shares = {}
    for n in (100, 800):
        elements = touched(chain_of_loops(n, np.random.default_rng(0)).build())
        pushes.clear()
        order = find_order(n, elements, front=(n - 1,))
        shares[n] = np.array([len(pushes), len(order.rows), len(order.updates)]) / n
    assert (shares[800] < 1.05 * shares[100]).all()
    assert shares[800][1] < 3.0  # blocks beside the diagonal, of each body


def test_an_order_is_found_once_for_a_front():
    elements = touched(system("loops"))
    orders = Orders(8, elements, most_kept=2)
    first = orders.with_front((1, 3))
    assert orders.with_front([3, 1, -1]) is first
    assert orders.with_front((2,)) is not first
    orders.with_front((4,))
    assert orders.with_front((1, 3)) is not first  # it was the one that was used least recently


def test_bodies_that_do_not_exist_are_refused():
    with pytest.raises(ModelError, match="element 1 has body 3, but there are 3 bodies"):
        find_order(3, [(0, 1), (1, 3)])
    with pytest.raises(ModelError, match="the front has body 7"):
        find_order(3, [(0, 1)], front=(7,))
    with pytest.raises(ModelError, match="no element of rows couples bodies 0 and 2"):
        find_order(3, [(0, 1), (1, 2)]).find_block(0, 2)
