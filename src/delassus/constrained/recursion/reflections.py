"""Stacks: the rows at each link, reduced to at most six by reflections 1 - factor h h^T.

`solvers.pv_early` keeps the rows C a = c of a link in a stack: C in the stack itself, c in an array
of targets beside it. Rows are added from the pieces at the link, and from its child links (see
`open_trees.Arrival`). No more than six rows of a link can be independent. If there are more, six
Householder reflections turn them into an upper triangle of six rows, and all others into zeros.
"""

from __future__ import annotations

from ...compile import absolute, function, layout, select, slots, sqrt
from ...spatial.vectors import put3, scale
from .open_trees import MOST_ROWS
from .springs import frame_wrench

# A row of a stack: moment and force.
STACKED = slots(n=3, f=3)
# The stacks of all links side by side, targets and multipliers of their rows, and reflections.
STACKS = layout(
    stack=("stack_rows", STACKED),
    targets="stack_rows",
    turned="stack_rows",
    reflections="reflections",
)


@function
def reflect(count, factor, h, vectors, at, step, x):
    """x <- x - factor h h^T x, for `count` numbers x from `at` on, `step` apart"""
    y = vectors[h] * x[at]
    for s in range(1, count):
        y = y + vectors[h + s] * x[at + s * step]
    y = factor * y
    for s in range(count):
        x[at + s * step] = x[at + s * step] - y * vectors[h + s]


@function
def choose(condition, x, y):
    """x or y, three numbers each"""
    return (
        select(condition, x[0], y[0]),
        select(condition, x[1], y[1]),
        select(condition, x[2], y[2]),
    )


@function
def put_piece(model, c, work):
    """Add the rows of a piece to the stack of its link."""
    piece, arrival = model.pieces[c], model.piece_arrivals[c]
    end = model.ends[model.piece_ends[c]]
    for s in range(piece.count):
        n, f = frame_wrench(end, s, work.rows)
        to = (arrival.stack + arrival.before + s) * STACKED.size
        put3(work.stack, to + STACKED.n, scale(end.sign, n))
        put3(work.stack, to + STACKED.f, scale(end.sign, f))
    join_rows(arrival, work.stack, work.reflections)


@function
def hand_rows(arrival, work):
    """Add the rows of a link to the stack of its parent."""
    stack, to = work.stack, (arrival.stack + arrival.before) * STACKED.size
    for s in range(arrival.count * STACKED.size):
        stack[to + s] = stack[arrival.own * STACKED.size + s]
    join_rows(arrival, stack, work.reflections)


@function
def join_rows(arrival, stack, reflections):
    """If a stack has more than six rows, reduce them to six."""
    total = arrival.before + arrival.count
    if total > MOST_ROWS:
        for j in range(MOST_ROWS):
            h = arrival.reflections + j * (total + 1)
            column = (arrival.stack + j) * STACKED.size + j
            x = stack[column]
            square = x * x
            for s in range(1, total - j):
                y = stack[column + s * STACKED.size]
                reflections[h + s] = y
                stack[column + s * STACKED.size] = 0.0
                square = square + y * y
            size = sqrt(square)
            sigma = select(x > 0.0, -size, size)
            is_there = square > 0.0
            half = select(is_there, square + size * absolute(x), 1.0 + square)  # h^T h / 2
            factor = select(is_there, 1.0 / half, square)
            reflections[h] = x - sigma
            reflections[h + total] = factor
            stack[column] = sigma
            for i in range(1, STACKED.size - j):
                reflect(total - j, factor, h, reflections, column + i, STACKED.size, stack)


@function
def join_targets(arrival, targets, reflections):
    """Apply to the targets the reflections that `join_rows` has applied to the rows."""
    total = arrival.before + arrival.count
    if total > MOST_ROWS:
        for j in range(MOST_ROWS):
            h = arrival.reflections + j * (total + 1)
            factor = reflections[h + total]
            reflect(total - j, factor, h, reflections, arrival.stack + j, 1, targets)


@function
def part_multipliers(arrival, none, turned, reflections):
    """Multipliers of all rows before `join_rows`, from those of the six rows after it."""
    total = arrival.before + arrival.count
    if total > MOST_ROWS:
        for s in range(MOST_ROWS, total):
            turned[arrival.stack + s] = none
        for j in range(MOST_ROWS - 1, -1, -1):
            h = arrival.reflections + j * (total + 1)
            factor = reflections[h + total]
            reflect(total - j, factor, h, reflections, arrival.stack + j, 1, turned)
