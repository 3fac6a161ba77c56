"""The pattern of M_mu = M + J^T J / damping, the mass matrix with springs along the rows.

Springs between a link and the world do not change the pattern of M, which is the tree's: they are
inertia of the link. A spring between two links, or between joints, couples degrees of freedom of
two branches. M_mu then has the pattern of another tree, its elimination tree (Liu 1990), in which
all that is coupled lies on one path to the root. Degrees of freedom get new numbers, such that each
comes before all that it carries in the elimination tree.
"""

from __future__ import annotations

from collections import Counter, namedtuple
from typing import NamedTuple

import numpy as np

from ...model.packed import INDEX, ModelArrays, chain_starts
from ..recursion.plan import AT_JOINTS, END, find_ends, find_order
from ..rows.packed import DIMENSIONS, PathArrays, Paths

# - place: for each degree of freedom, its new number
# - tree_parent, tree_start, tree_end: dof_parent, chain_start and dof_end of the elimination tree,
#   by new numbers
# - springs: ends of pieces that pull at one link only
# - ties: numbers of all other pieces
# - stiff: for each link, its number among those that carry such springs, or -1
_FIELDS = ("place", "tree_parent", "tree_start", "tree_end", "springs", "ties", "stiff")


class AugmentedArrays(namedtuple("AugmentedArrays", (*PathArrays._fields, *_FIELDS))):
    """The arrays of a model, of rows on it, of paths, and of the pattern of M_mu."""

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*PathArrays.array_types(real), *[INDEX] * 4, END, *[INDEX] * 2)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> AugmentedArrays:
        """The arrays of rows, of paths and of the pattern, in one precision."""
        pattern = _augmented_pattern(constraints.paths(real))
        return cls(*PathArrays.pack(constraints, real), *pattern)


class Tree(NamedTuple):
    """The pattern of a matrix, by the names that functions of `factor.kkt` read from a model."""

    dof_parent: np.ndarray
    chain_start: np.ndarray
    dof_end: np.ndarray
    armature: np.ndarray


def _augmented_pattern(found: Paths) -> tuple[np.ndarray, ...]:
    """The arrays of AugmentedArrays beyond those of PathArrays."""
    arrays = found.arrays
    ends, _ = find_ends(found)
    pieces = [end.piece for end in ends]
    counts = Counter(pieces)
    springs = [end for end in ends if counts[end.piece] == 1 and end.wrench != AT_JOINTS]
    ties = np.setdiff1d(pieces, [end.piece for end in springs]).astype(INDEX)
    place, parent, end = _pattern(found, ties)
    return (
        place,
        parent,
        chain_starts(parent),
        end,
        np.array(springs, END),
        ties,
        _stiff(arrays, springs),
    )


def _stiff(arrays: ModelArrays, springs: list) -> np.ndarray:
    """The array `stiff`: numbers of the links that carry springs."""
    stiff = np.full(len(arrays.links), -1, INDEX)
    for end in springs:
        link = end.link
        while link > 0:
            stiff[link] = 0
            link = int(arrays.links[link]["parent"])
    carrying = stiff == 0
    stiff[carrying] = np.arange(carrying.sum())
    return stiff


def _pattern(found: Paths, ties: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays `place`, `tree_parent` and `tree_end`."""
    arrays = found.arrays
    nv = len(arrays.armature)
    if len(ties) == 0:
        return np.arange(nv), arrays.dof_parent, arrays.dof_end
    parents = _elimination_tree(found, ties)
    children: list[list[int]] = [[] for _ in range(nv)]
    roots = []
    for k, before in enumerate(parents):
        (children[before] if before >= 0 else roots).append(k)
    place, parent, end = np.zeros(nv, INDEX), np.full(nv, -1, INDEX), np.zeros(nv, INDEX)
    count, stack = 0, [(k, False) for k in reversed(roots)]
    while stack:
        k, is_done = stack.pop()
        if is_done:
            end[place[k]] = count
            continue
        place[k] = count
        parent[count] = -1 if parents[k] < 0 else place[parents[k]]
        count += 1
        stack.append((k, True))
        stack += [(child, False) for child in reversed(children[k])]
    return place, parent, end


def _elimination_tree(found: Paths, ties: np.ndarray) -> list[int]:
    """The parent of each degree of freedom in the elimination tree, -1 for a root.

    Of all that a degree of freedom is coupled with when it is eliminated, its parent is the one
    that is eliminated next.
    """
    arrays = found.arrays
    dofs = []
    for i in find_order(found):
        first, count = int(arrays.links[i]["v"]), int(arrays.links[i]["nv"])
        dofs += range(first + count - 1, first - 1, -1)
    turn = {k: t for t, k in enumerate(dofs)}
    coupled: list[set[int]] = [set() for _ in dofs]
    for k, before in enumerate(arrays.dof_parent):
        if before >= 0:
            coupled[k] |= coupled[before] | {int(before)}
    for c in ties:
        path = set(found.paths[c])
        for k in path:
            coupled[k] |= path
    parents = [-1] * len(dofs)
    for k in dofs:
        later = {j for j in coupled[k] if turn[j] > turn[k]}
        if later:
            parents[k] = min(later, key=turn.__getitem__)
            coupled[parents[k]] |= later
    return parents
