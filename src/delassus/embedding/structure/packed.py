"""A model with clusters as kernels read it: the arrays of the model, of rows, and of clusters.

Degrees of freedom are numbered anew: first those of y, the independent coordinates, then the
dependent ones. So what y, y' and tau hold for a joint outside of clusters stands where the model's
own sweeps look for it.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...constrained.rows.packed import ROW_FIELDS, piece_type, row_types, step_type
from ...model.packed import INDEX, ModelArrays, index_record

# What a sweep takes next: links first..last that are no part of a cluster, or a cluster.
# `has_motors` tells that each of the links has a motor, see `gears`.
TURN = index_record("first", "last", "cluster", "has_motors")
NO_CLUSTER = -1

CLUSTER = index_record(
    "handle",  # the link that carries it, 0 for the world
    "gives_first",  # whether no other child gives the handle its articulated inertia before
    "first_member",
    "member_count",
    "first_y",  # of its numbers in `ys`
    "ny",  # number of its independent degrees of freedom
    "first_d",  # of its numbers in `ds`
    "nd",  # number of its dependent degrees of freedom
    "is_driven",  # whether y has the motors' coordinates, not the links', see `steps.driven`
    "P",  # where its P starts
    "is_constant",  # whether G is
    "is_planar",  # whether it is one loop of hinges about one axis, see `steps.planar`
    "G",  # where its G starts: nd rows of ny numbers
    "columns",  # where its columns start
    "factor",  # where the factor of its D starts
    "first_row",  # of its rows in `needed`
    "row_count",
    "first_piece",  # of the pieces that its rows are part of, in `cluster_pieces`
    "piece_count",
    "first_spin",
    "spin_count",
)
# A link of a cluster. `local` is the number of its first degree of freedom among those of the
# cluster, the independent ones before the dependent ones. Bit k of `moved` tells that y_k moves it.
# `is_watched` tells that its acceleration is asked for.
# In a planar loop, `side` is 1 or -1, and `sense` tells whether it turns about the loop's axis or
# its opposite.
MEMBER = np.dtype(
    [
        *((name, INDEX) for name in ("link", "carrier", "local")),
        ("moved", np.int64),  # bits for `choice.MOST_INDEPENDENT`
        *((name, INDEX) for name in ("is_leaf", "is_watched", "side", "sense")),
    ],
    align=True,
)
WORLD_CARRIES = -1  # the `carrier` of a member that hangs from the handle
# A row of a cluster's constraints that is needed, and its entries in K.
NEEDED = index_record("row", "piece", "first_entry", "entry_count")
# An entry of K: the step of its piece's path, and its column, dependent ones first.
ENTRY = index_record("step", "column")


def spin_type(real: np.dtype) -> np.dtype:
    """The record of a spin of a cluster."""
    return np.dtype(
        [
            ("link", INDEX),  # that carries it
            ("member", INDEX),  # the number of that link among those of the cluster, or -1
            ("dependent", INDEX),  # its number among the dependent degrees of freedom
            ("rotor", INDEX),  # the rotor's own link
            ("q", INDEX),  # its angle in q, or -1
            ("axis", real, (3,)),  # in the axes of the link
            ("inertia", real),
            ("is_uneven", INDEX),
            ("uneven", real, (3,)),  # e at the angle zero, see `spins`
            ("offset", real),  # of its angle from G y
        ],
        align=True,
    )


def gear_type(real: np.dtype) -> np.dtype:
    """The record of a link's motor: N J, its rotor's link, and its angle from the joint's."""
    return np.dtype(
        [("spin", real), ("rotor", INDEX), ("ratio", real), ("offset", real)], align=True
    )


_OWN = (
    "loops", "loop_steps", "turns", "clusters", "members", "ys", "ds", "needed", "entries",
    "cluster_pieces", "coefficients", "spins", "gears", "independent", "outer",
)  # fmt: skip


class EmbeddedArrays(namedtuple("EmbeddedArrays", (*ROW_FIELDS, *_OWN))):
    """The arrays of a model with clusters.

    `loops` are the pieces of embedded constraints, with steps of their own; `pieces` those of
    others that hold the mechanism (see `routes`). `ys` are numbers of independent degrees of
    freedom by cluster, `ds` of dependent ones; `coefficients` the constant G, and `gears` the
    motors of links. `independent` are the numbers in the model of what y has, and `outer` those of
    all degrees of freedom.
    """

    __slots__ = ()
    dimensions = ("nq", "nv", "n_bodies", "spanning_nv")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (
            piece_type(real),
            step_type(real),
            TURN,
            CLUSTER,
            MEMBER,
            INDEX,
            INDEX,
            NEEDED,
            ENTRY,
            INDEX,
            real,
        )
        return (*row_types(real), *own, spin_type(real), gear_type(real), INDEX, INDEX)

    @classmethod
    def takes(cls, emb) -> bool:
        """Whether these arrays can be packed from an object."""
        return hasattr(emb, "structure")

    @classmethod
    def sizes(cls, emb) -> dict[str, int]:
        """Extents of work memory."""
        return Packing(emb, np.dtype(float)).sizes()

    @classmethod
    def pack(cls, emb, real: np.dtype) -> EmbeddedArrays:
        """The arrays, in one precision."""
        return Packing(emb, real).arrays()


class Packing:
    """Fills the arrays of clusters, from those of a model and of rows.

    `held` are constraints that are not embedded. Their rows come first.
    """

    def __init__(self, emb, real: np.dtype, held: tuple = ()):
        self.emb, self.real = emb, real
        self.found = emb.lumped_with(held).paths(real)
        self.n_held = int(np.sum(self.found.groups < len(held)))
        self.held = self.found.records[: self.n_held].copy()
        self.loops = self.found.records[self.n_held :].copy()
        self.held_rows, first_step = int(self.held["count"].sum()), int(self.held["length"].sum())
        self.loops["path"] -= first_step
        self.inner = emb.inner  # the new number of each degree of freedom
        self.links = self.found.arrays.links.copy()
        self.body_link = _links_of_bodies(self.links)
        self.structure = [part for part in emb.structure if part.gear is None]
        self.rotors = {self.body_link[s.body][-1] for part in emb.structure for s in part.spins}
        self.own_links = [
            [i for body in part.group.bodies for i in self.body_link[body] if i not in self.rotors]
            for part in self.structure
        ]
        self.cluster_of = np.full(len(self.links), NO_CLUSTER)
        for c, own in enumerate(self.own_links):
            self.cluster_of[own] = c
        self.gears = self._gears()
        self.turns = self._turns()
        self._fill_order()

    def handle_of(self, c: int) -> int:
        """The link that carries a cluster, 0 for the world."""
        return self._handle(self.structure[c])

    def _handle(self, part) -> int:
        return 0 if part.group.handle < 0 else self.body_link[part.group.handle][-1]

    # --- order ------------------------------------------------------------------------------------

    def _gears(self) -> np.ndarray:
        """The motors of links. Also finds N^2 J, with the rotors' own armatures."""
        gears, self.reflected = np.zeros(len(self.links), gear_type(self.real)), {}
        armature = self.found.arrays.armature
        for part in self.emb.structure:
            if part.gear is not None:
                (spin,) = part.spins
                (body,) = (b for b in part.group.bodies if b != spin.body)
                link, N = self.body_link[body][-1], part.choice.G[0, 0]
                gears[link] = part.gear, self.body_link[spin.body][-1], N, spin.offset
                self.reflected[link] = N * N * (spin.inertia + armature[spin.dof])
        return gears

    def _turns(self) -> list[tuple[int, int, int, bool]]:
        """Clusters, and links outside of them, each after what carries it.

        A cluster comes at the place of its first link, which is before all that its links carry.
        """
        turns, taken = [], set()
        for i in range(1, len(self.links)):
            c, has_motor = int(self.cluster_of[i]), i in self.reflected
            if i in self.rotors:
                continue
            if c != NO_CLUSTER:
                if c not in taken:
                    taken.add(c)
                    turns.append((i, i, c, False))
            elif turns and turns[-1][1:] == (i - 1, NO_CLUSTER, has_motor):
                turns[-1] = (turns[-1][0], i, NO_CLUSTER, has_motor)
            else:
                turns.append((i, i, NO_CLUSTER, has_motor))
        return turns

    def _fill_order(self) -> None:
        """Which links carry others, and which turn gives each its articulated inertia first."""
        self.links["is_last_child"] = 0
        self.gives_first = np.zeros(len(self.structure), bool)
        self.given = set()
        for first, last, c, _ in reversed(self.turns):
            if c == NO_CLUSTER:
                for i in range(last, first - 1, -1):
                    parent = int(self.links[i]["parent"])
                    self.links[i]["is_last_child"] = parent not in self.given
                    self.given.add(parent)
            else:
                handle = self._handle(self.structure[c])
                self.gives_first[c] = handle not in self.given
                self.given.add(handle)
        self.links["has_children"] = [i in self.given for i in range(len(self.links))]

    # --- arrays -----------------------------------------------------------------------------------

    def arrays(self) -> EmbeddedArrays:
        """All arrays."""
        old, links = self.found.arrays, self.links.copy()
        angles, terms = old.angles.copy(), self.found.terms.copy()
        turning = [k for k, x in enumerate(angles["v"]) if not self._is_rotor(int(x))]
        angles = angles[turning]
        for records in (links[1:], angles, terms):
            if len(records):
                records["v"] = self.inner[records["v"]]
                records["q"] = self.emb.q_places[records["q"]]
        data = {name: self._by_inner(getattr(old, name)) for name in ModelArrays.velocity_data}
        # A motor's own N^2 J, less what its projection already has, see `gears`.
        for i, reflected in self.reflected.items():
            data["armature"][links[i]["v"]] += reflected - self.gears[i]["spin"]
        paths = self.found.paths[self.n_held :]
        steps = [(self.inner[dof], *step) for path in paths for dof, step in path.items()]
        return EmbeddedArrays(
            *old._replace(links=links, angles=angles, **data),
            *(self.held, terms, self.found.code, self.found.constants),
            self.loops,
            np.array(steps, step_type(self.real)),
            *self._cluster_arrays(),
            self.gears,
            self.emb.independent_dofs,
            np.argsort(self.inner),
        )

    def _is_rotor(self, dof: int) -> bool:
        return any(self.links[i]["v"] == dof for i in self.rotors)

    def _by_inner(self, x: np.ndarray) -> np.ndarray:
        result = np.empty_like(x)
        result[self.inner] = x
        return result

    def _cluster_arrays(self) -> tuple:
        clusters = np.zeros(len(self.structure), CLUSTER)
        names = ("members", "ys", "ds", "needed", "entries", "pieces", "spins")
        lists = {name: [] for name in names}
        coefficients, self._sizes = [], dict.fromkeys(("G", "columns", "factor", "P"), 0)
        for c, part in enumerate(self.structure):
            record, choice, own = clusters[c], part.swept, self.own_links[c]
            ny, nd = len(choice.independent), len(choice.dependent)
            record["handle"], record["gives_first"] = self._handle(part), self.gives_first[c]
            record["first_member"], record["member_count"] = len(lists["members"]), len(own)
            record["first_y"], record["ny"], record["nd"] = len(lists["ys"]), ny, nd
            record["first_d"], record["is_driven"] = len(lists["ds"]), part.is_driven
            record["is_constant"] = choice.G is not None
            record["is_planar"] = part.senses is not None
            sizes = {"G": nd * ny, "columns": len(own) * ny, "factor": ny * ny}
            sizes["P"] = ny * ny if part.is_driven else 0
            for name, size in sizes.items():
                record[name] = self._sizes[name]
                self._sizes[name] += size
            coefficients += [0.0] * (nd * ny) if choice.G is None else [*choice.G.ravel()]
            local = {k: at for at, k in enumerate((*choice.independent, *choice.dependent))}
            record["first_spin"], record["spin_count"] = len(lists["spins"]), len(part.spins)
            lists["spins"] += [self._spin(s, own, local[s.dof] - ny) for s in part.spins]
            lists["ys"] += [self.inner[k] for k in choice.independent]
            lists["ds"] += [self.inner[k] for k in choice.dependent]
            lists["members"] += self._members(own, local, part, len(lists["members"]))
            self._fill_rows(record, choice, local, lists)
        return (
            _records(self.turns, TURN),
            clusters,
            _records(lists["members"], MEMBER),
            np.array(lists["ys"], INDEX),
            np.array(lists["ds"], INDEX),
            _records(lists["needed"], NEEDED),
            _records(lists["entries"], ENTRY),
            np.array(lists["pieces"], INDEX),
            np.array(coefficients, self.real),
            _records(lists["spins"], spin_type(self.real)),
        )

    def _spin(self, spin, own: list[int], dependent: int) -> tuple:
        """The record of a spin."""
        link = 0 if spin.carrier < 0 else self.body_link[spin.carrier][-1]
        E = self.found.arrays.solids[link]["orientation"].reshape(3, 3)  # of the body in the link
        rotor = self.body_link[spin.body][-1]
        q = int(self.emb.q_places[self.links[rotor]["q"]])
        member = own.index(link) if link in own else -1
        axis, uneven = tuple(E @ spin.axis), tuple(E @ spin.uneven)
        places = (link, member, dependent, rotor, q)
        return *places, axis, spin.inertia, any(uneven), uneven, spin.offset

    def _members(self, own: list[int], local, part, first: int) -> list[tuple]:
        """The members of a cluster; y_k moves a link if it moves a joint on the way to it."""
        choice, senses = part.swept, part.senses or {}
        ny, moved, result = len(choice.independent), {}, []
        for i in own:
            link = self.links[i]
            start = local[int(link["v"])]
            bits = 0
            for at in range(start, start + int(link["nv"])):
                if at < ny:
                    bits |= 1 << at
                elif choice.G is None:
                    bits |= (1 << ny) - 1
                else:
                    bits |= sum(1 << k for k in range(ny) if choice.G[at - ny, k] != 0.0)
            parent = int(link["parent"])
            is_inside = parent in moved
            moved[i] = bits | (moved[parent] if is_inside else 0)
            carrier = first + own.index(parent) if is_inside else WORLD_CARRIES
            side, sense = senses.get(int(link["body"]), (0, 0))
            is_leaf = i not in self.given
            is_watched = not is_leaf or self.n_held > 0
            result.append((i, carrier, start, moved[i], is_leaf, is_watched, side, sense))
        return result

    def _fill_rows(self, record, choice, local, lists) -> None:
        """Rows of a cluster with a G that is not constant, and their pieces."""
        record["first_row"], record["first_piece"] = len(lists["needed"]), len(lists["pieces"])
        if choice.G is not None:
            return
        ny, nd = len(choice.independent), len(choice.dependent)
        records, entries = self.loops, {}
        for own_row in choice.rows:
            row = own_row + self.held_rows
            piece = int(np.searchsorted(records["row"], row, side="right")) - 1
            if piece not in entries:
                steps = list(self.found.paths[self.n_held + piece])
                inside = [(place, local[k]) for place, k in enumerate(steps) if k in local]
                start = int(records[piece]["path"])
                entries[piece] = len(lists["entries"]), len(inside)
                for place, at in inside:
                    lists["entries"].append((start + place, at - ny if at >= ny else nd + at))
            lists["needed"].append((row, piece, *entries[piece]))
        lists["pieces"] += entries
        record["row_count"], record["piece_count"] = len(choice.rows), len(entries)

    def sizes(self) -> dict[str, int]:
        """Extents of work memory."""
        self._cluster_arrays()
        shapes = [
            (len(p.swept.rows), len(p.swept.independent) + len(p.swept.dependent) + 1)
            for p in self.structure
        ]
        return {
            "G_size": self._sizes["G"],
            "n_columns": self._sizes["columns"],
            "factor_size": self._sizes["factor"],
            "P_size": self._sizes["P"],
            "K_size": max((max(rows, 3) * width for rows, width in shapes), default=0),
            "n_links": len(self.links),
            "all_rows": int(self.found.records["count"].sum()),
            "registers": int(self.found.records["register_count"].sum()),
            "n_spins": sum(len(p.spins) for p in self.structure),
        }


def _records(rows: list[tuple], kind: np.dtype) -> np.ndarray:
    return np.array(rows, kind) if rows else np.zeros(0, kind)


def _links_of_bodies(links: np.ndarray) -> dict[int, list[int]]:
    """The links of each body, in order; a joint of two axes has two."""
    result, waiting = {}, []
    for i in range(1, len(links)):
        waiting.append(i)
        if links[i]["body"] >= 0:
            result[int(links[i]["body"])] = waiting
            waiting = []
    return result
