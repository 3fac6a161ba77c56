"""Constraints that hold a mechanism with clusters, such as feet: how their rows reach the world.

A row pulls at links, and at joints: a strand of its piece starts at each. It runs through the
joints and clusters that carry the link to the world, and leaves at each independent degree of
freedom an entry of Y = J U^-T, where U D U^T is the mass matrix as the articulated-body algorithm
factorises it (see `hybrid`). Strands of a piece add up.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ...constrained.rows.packed import MEETING, SHARED_STEP, find_meetings, step_type
from ...constrained.rows.pieces import COUPLING
from ...constrained.rows.wrenches import ROW
from ...dynamics.steps.links import floats
from ...model.packed import INDEX, index_record
from .packed import NO_CLUSTER, EmbeddedArrays, Packing

NO_TERM = -1
NO_ROOT = -1


class Strand(NamedTuple):
    """What a piece pulls at: a link, or a joint coordinate."""

    piece: int
    link: int
    wrench: int  # slot of ROW with its wrench
    sign: int
    term: int  # number of its joint coordinate among those of the piece, or NO_TERM
    first_stop: int
    stop_count: int


class Stop(NamedTuple):
    """A degree of freedom on the way to the world, or a cluster."""

    cluster: int  # or NO_CLUSTER
    member: int  # the link of a cluster, or the number of its joint where a strand starts
    dof: int
    place: int  # of its first entry in the panel of the piece
    root: int  # number of the free body, whose six degrees of freedom are one stop, or NO_ROOT


STRAND, STOP = index_record(*Strand._fields), index_record(*Stop._fields)

_OWN = ("steps", "strands", "stops", "supports", "roots", "meetings", "shared_steps")


class HeldArrays(namedtuple("HeldArrays", (*EmbeddedArrays._fields, *_OWN))):
    """The arrays of a model with clusters, and of constraints that hold it.

    - steps: independent degrees of freedom of each piece, from the last one back
    - strands, stops: see there
    - supports: links that carry strands, outwards
    - roots: the first degrees of freedom of free bodies in the world that carry strands
    - meetings, shared_steps: steps that the paths of two pieces share (see `rows.packed`)
    """

    __slots__ = ()
    dimensions = ("nq", "nv", "n_bodies", "m", "spanning_nv")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (step_type(real), STRAND, STOP, INDEX, INDEX, MEETING, SHARED_STEP)
        return (*EmbeddedArrays.array_types(real), *own)

    @classmethod
    def takes(cls, constraints) -> bool:
        """Whether these arrays can be packed from an object."""
        return hasattr(getattr(constraints, "model", None), "structure")

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> HeldArrays:
        """The arrays, in one precision."""
        return _Routes(constraints, real).arrays()

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory."""
        return _Routes(constraints, np.dtype(float)).sizes()


class _Routes:
    """Strands and their stops."""

    def __init__(self, constraints, real: np.dtype):
        self.real = real
        self.packing = Packing(constraints.model, real, constraints.declared)
        self.pieces, self.links = self.packing.held, self.packing.links
        self.frames, self.terms = self.packing.found.arrays.frames, self.packing.found.terms
        self.strands: list[Strand] = []
        self.stops: list[Stop] = []
        self.supports: set[int] = set()
        self.roots: list[int] = []
        self.ranks = self._ranks()
        self.paths = [self._piece(c) for c in range(len(self.pieces))]
        self._place()

    def _starts(self, c: int) -> list[tuple]:
        """Wrench, sign, term, link and degree of freedom of each strand of a piece."""
        piece = self.pieces[c]
        if piece["kind"] >= COUPLING:
            first = int(piece["first_term"])
            dofs = [int(self.terms[first + t]["v"]) for t in range(piece["term_count"])]
            return [(0, 1, t, self._link_of(k), k) for t, k in enumerate(dofs)]
        sides = (("frame", ROW.n, 1), ("other", ROW.other_n, -1))
        ends = [(int(self.frames[piece[name]]["link"]), slot, s) for name, slot, s in sides]
        return [(slot, sign, NO_TERM, link, -1) for link, slot, sign in ends if link > 0]

    def _link_of(self, dof: int) -> int:
        first = self.links["v"][1:]
        return 1 + int(np.flatnonzero((first <= dof) & (dof < first + self.links["nv"][1:]))[0])

    def _piece(self, c: int) -> dict[int, int]:
        """Add the strands of a piece; return its degrees of freedom and their places."""
        starts = self._starts(c)
        ways = [self._way(link, dof) for *_, link, dof in starts]
        found = {k for way in ways for stop in way for k in self._dofs(stop)}
        order = {k: at for at, k in enumerate(sorted(found, key=self.ranks.__getitem__))}
        for (slot, sign, term, link, _), way in zip(starts, ways, strict=True):
            first = len(self.stops)
            for stop in way:
                *where, root = stop
                self.stops.append(Stop(*where, order[self._dofs(stop)[0]], root))
            self.strands.append(Strand(c, link, slot, sign, term, first, len(way)))
        return order

    def _ranks(self) -> dict[int, tuple]:
        """Degrees of freedom from the tips to the world; those of a cluster in their own order."""
        ranks = {}
        for t, (first, last, c, _) in enumerate(reversed(self.packing.turns)):
            if c == NO_CLUSTER:
                for i in range(first, last + 1):
                    ranks.update({k: (t, -k) for k in self._joint(i)})
            else:
                ranks.update({k: (t, at) for at, k in enumerate(self._ys(c))})
        return ranks

    def _joint(self, i: int) -> list[int]:
        """New numbers of the degrees of freedom of a link outside of clusters."""
        v, nv = int(self.links[i]["v"]), int(self.links[i]["nv"])
        return [int(self.packing.inner[k]) for k in range(v, v + nv)]

    def _ys(self, c: int) -> list[int]:
        swept = self.packing.structure[c].swept
        return [int(self.packing.inner[k]) for k in swept.independent]

    def _dofs(self, stop: tuple) -> list[int]:
        cluster, _, dof, root = stop
        if root != NO_ROOT:
            return [dof + k for k in range(5, -1, -1)]
        return [dof] if cluster == NO_CLUSTER else self._ys(cluster)

    def _way(self, link: int, dof: int) -> list[tuple]:
        """Stops from a link to the world: (cluster, member, degree of freedom, root)."""
        packing, way = self.packing, []
        while link > 0:
            c = int(packing.cluster_of[link])
            self.supports.add(link)
            if c == NO_CLUSTER:
                own = self._joint(link)
                if dof < 0 and floats(packing.found.arrays, self.links.view(np.recarray)[link]):
                    way.append((NO_CLUSTER, -1, own[0], self._root(own[0])))
                    return way
                if dof >= 0:  # the joint coordinate where the strand starts
                    own = own[: own.index(int(packing.inner[dof])) + 1]
                way += [(NO_CLUSTER, -1, k, NO_ROOT) for k in reversed(own)]
                link = int(self.links[link]["parent"])
            else:
                if dof >= 0:
                    member = self._ys(c).index(int(packing.inner[dof]))
                else:
                    member = packing.own_links[c].index(link)
                way.append((c, member, -1, NO_ROOT))
                self._support(c, link)
                link = packing.handle_of(c)
            dof = -1
        return way

    def _root(self, dof: int) -> int:
        """The number of a free body, by its first degree of freedom."""
        if dof not in self.roots:
            self.roots.append(dof)
        return self.roots.index(dof)

    def _support(self, c: int, link: int) -> None:
        """Links of a cluster that carry one of it."""
        while link > 0 and self.packing.cluster_of[link] == c:
            self.supports.add(link)
            link = int(self.links[link]["parent"])

    def _place(self) -> None:
        """Where steps and panels of pieces start."""
        pieces = self.pieces
        pieces["length"] = [len(path) for path in self.paths]
        pieces["path"] = np.cumsum(pieces["length"]) - pieces["length"]
        panels = pieces["height"] * pieces["length"]
        pieces["panel"] = np.cumsum(panels) - panels
        self.panels = int(panels.sum())

    def arrays(self) -> HeldArrays:
        """All arrays."""
        steps = [(k, 0.0, NO_TERM) for path in self.paths for k in path]
        return HeldArrays(
            *self.packing.arrays(),
            np.array(steps, step_type(self.real)),
            np.array(self.strands, STRAND) if self.strands else np.zeros(0, STRAND),
            np.array(self.stops, STOP) if self.stops else np.zeros(0, STOP),
            np.array(sorted(self.supports), INDEX),
            np.array(self.roots, INDEX),
            *find_meetings(self.paths),
        )

    def sizes(self) -> dict[str, int]:
        """Extents of work memory."""
        own = {"panels": self.panels, "padded_rows": int(self.pieces["height"].sum())}
        most = max((len(part.swept.independent) for part in self.packing.structure), default=0)
        return {**self.packing.sizes(), **own, "most_y": most, "n_roots": len(self.roots)}
