"""A model with clusters whose G is constant: arrays of its spanning tree, and of G."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...constrained.factor.inversion import WIDTH
from ...model.packed import INDEX, ModelArrays, index_record


def share_type(real: np.dtype) -> np.dtype:
    """The record of an entry of G: a dependent joint, an independent one, and the entry.

    `y` is the number of the independent one in y', `q` and `own_q` are coordinates of the two.
    """
    indices = [(name, INDEX) for name in ("dependent", "y", "q", "own_q")]
    return np.dtype([*indices, ("G", real)], align=True)


def place_type(real: np.dtype) -> np.dtype:
    """The record of a coordinate of the tree: where y has it, or -1; and its offset from G y."""
    return np.dtype([("q", INDEX), ("offset", real)], align=True)


def source_type(real: np.dtype) -> np.dtype:
    """The record of an entry of a matrix of the tree, and what it is multiplied by."""
    return np.dtype([("place", INDEX), ("weight", real)], align=True)


# An entry of a projected matrix, and its sources.
TARGET = index_record("place", "first", "count")
_OWN = ("shares", "places", "independent", "targets", "sources")


class ProjectedArrays(namedtuple("ProjectedArrays", (*ModelArrays._fields, *_OWN))):
    """The arrays of the spanning tree, and of G.

    `shares` are the entries of G, `places` tells of each coordinate of the tree where it comes
    from, `independent` are the numbers in the tree of what y' has. For `targets` see `project`.
    """

    __slots__ = ()
    dimensions = ("nq", "nv", "n_bodies", "spanning_nv")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (share_type(real), place_type(real), INDEX, TARGET, source_type(real))
        return (*ModelArrays.array_types(real), *own)

    @classmethod
    def takes(cls, emb) -> bool:
        """Whether these arrays can be packed from an object."""
        return getattr(emb, "is_constant", False)

    @classmethod
    def pack(cls, emb, real: np.dtype) -> ProjectedArrays:
        """The arrays, in one precision."""
        tree = ModelArrays.pack(emb.model, real)
        shares, offsets = [], np.zeros(emb.model.nv)
        q_of = {j.v.start: j.q.start for j in emb.model.joints}
        for part in emb.structure:
            offsets[list(part.choice.dependent)] = part.choice.offsets
            for d, row in zip(part.choice.dependent, part.choice.G, strict=True):
                shares += [
                    (d, emb.inner[k], q_of[d], q_of[k], x)
                    for k, x in zip(part.choice.independent, row, strict=True)
                    if x != 0.0
                ]
        places = [
            (emb.q_places[place], offsets[joint.v.start] if joint.nv else 0.0)
            for joint in emb.model.joints
            for place in range(joint.q.start, joint.q.stop)
        ]
        return cls(
            *tree,
            np.array(shares, share_type(real)),
            np.array(places, place_type(real)),
            emb.independent_dofs,
            *_projection(tree.dof_parent, emb.constant_G, real),
        )

    @classmethod
    def sizes(cls, emb) -> dict[str, int]:
        """Extents of work memory."""
        links = len(ModelArrays.pack(emb.model, np.dtype(float)).links)
        padded = -(-emb.nv // WIDTH) * WIDTH
        return {"n_links": links, "spanning_nq": emb.model.nq, "padded_nv": padded}


def _projection(dof_parent, G: np.ndarray, real: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Targets and sources of G^T D G for a D with the pattern of the tree."""
    n, nv = G.shape
    found: dict[int, list[tuple[int, float]]] = {}
    shares = [[(k, row[k]) for k in np.flatnonzero(row)] for row in G]
    for i in range(n):
        j = i
        while j >= 0:
            for a, b in {(i, j), (j, i)}:
                for k, x in shares[a]:
                    for t, y in shares[b]:
                        found.setdefault(int(k * nv + t), []).append((a * n + b, x * y))
            j = int(dof_parent[j])
    targets, sources = [], []
    for place in sorted(found):
        targets.append((place, len(sources), len(found[place])))
        sources += sorted(found[place])
    return np.array(targets, TARGET), np.array(sources, source_type(real))
