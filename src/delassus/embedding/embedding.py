"""The class Embedding: a model whose local loops are joints, in independent coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..compile import Kernel, is_symbolic
from ..constrained.rows.constraints import Constraints
from ..dynamics.aba import aba
from ..dynamics.arguments import check_model, deliver, numbers_of
from ..dynamics.crba import crba
from ..dynamics.derivatives.aba import aba_derivatives
from ..dynamics.minverse import minverse
from ..dynamics.rnea import rnea
from ..errors import ConvergenceError, DataTypeError, ModelError, SettingError, ShapeError
from ..model.configuration import RandomLike, generator
from ..model.mechanism import Mechanism
from ..model.model import Model
from ..model.parts.constraints import Closure, Constraint
from ..model.parts.names import names_of
from ..spatial.constant import Immutable
from .aba import embedded_aba
from .composed import PROJECTED, evaluate_on_tree
from .derivatives import DERIVATIVES, differentiate
from .held import check_held, own_coordinates, serve_rows
from .motions import closing_steps, cluster_motions
from .projected import CONSTANT, ProjectedArrays
from .rnea import embedded_rnea
from .structure.choice import Choice, choose, is_explicit, sample_configurations
from .structure.graph import NO_BODY, Group, find_groups
from .structure.packed import EmbeddedArrays
from .structure.planes import planar_senses
from .structure.spins import Spin, find_spins, gear_of, links_first, lumped
from .subspaces import Subspaces, actuation_matrix, check_actuators, efforts, subspaces

_CLOSED = 1e-12  # the largest error of rows after `spanning`
_REGULAR = 1e-6  # of singular values, in the configuration that `spanning` starts from
_STRIDE = 0.2  # in which independent coordinates move to their place, so that a branch is kept
_STROLL = 0.5  # how far random configurations move independent joints of clusters
_MOST_STEPS = 30  # of Newton's method for each stride


class ClusterParts(NamedTuple):
    """What a cluster is made of."""

    group: Group
    choice: Choice
    spins: list[Spin]  # bodies that are spins of others
    gear: float | None  # N J, if it is one link with one motor (see `structure.spins.gear_of`)
    senses: dict[int, tuple[int, int]] | None  # if it is a planar loop (see `structure.planes`)
    swept: Choice  # as sweeps have it: links before motors
    is_driven: bool  # whether `swept` differs from `choice`


class Cluster(NamedTuple):
    """Bodies that move as one joint: names of what it is made of."""

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    independent_joints: tuple[str, ...]
    parent: int  # number of the cluster that carries it, or -1 for the world
    output_bodies: tuple[str, ...]  # that carry other clusters
    kind: str  # "joint": one body; "explicit": G is constant; "implicit": it is not
    rotors: tuple[str, ...]  # bodies that are no links but spins of those that carry them


class Embedding(Immutable, Mechanism):
    """A model whose constraints are embedded. Made by `embed`.

    Where functions take y, they take spanning coordinates as well, told apart by their length, and
    likewise for velocities, accelerations and forces.
    """

    kernels: ClassVar[dict] = {aba: embedded_aba, rnea: embedded_rnea}
    _instead = "; make a new one"

    def __init__(
        self,
        model: Model,
        constraints: Constraints,
        structure: list[ClusterParts],
        reference: np.ndarray,
        actuators: tuple[str | Closure, ...] = (),
    ):
        super().__init__()
        self.model, self.constraints, self.structure = model, constraints, tuple(structure)
        self.reference = reference  # a closed configuration
        self.actuators = actuators
        self.name = model.name
        dependent = [k for part in structure for k in part.choice.dependent]
        independent = [k for k in range(model.nv) if k not in set(dependent)]
        self.inner = np.empty(model.nv, np.int64)  # new numbers: independent ones first
        self.inner[independent + dependent] = np.arange(model.nv)
        self.independent_dofs = np.array(independent, np.int64)
        self.nv, self.n_bodies = len(independent), model.n_bodies
        spins = [spin for part in structure for spin in part.spins]
        self.lumped = Constraints(lumped(model, spins), constraints.declared)
        self._place_coordinates(spins, dependent)
        own = {"nq": self.nq, "nv": self.nv, "n_bodies": model.n_bodies, "spanning_nv": model.nv}
        self.dimensions = {**constraints.dimensions, **own}
        self.independent_joints = tuple(
            j.name for j in model.joints if j.nv == 0 or j.v.start not in set(dependent)
        )
        self.clusters = _clusters(model, self.structure)
        self.constant_G = self._constant_G()
        self._is_made = True

    def _place_coordinates(self, spins: list[Spin], dependent: list[int]) -> None:
        """Where kernels find coordinates: in y, if all others are those of rotors; else in q."""
        kept = [j for j in self.model.joints if j.v.start not in set(dependent)]
        places = [np.arange(j.q.start, j.q.stop) for j in kept]
        self.y_places = np.concatenate(places or [np.zeros(0, int)])
        self.is_constant = all(part.choice.G is not None for part in self.structure)
        self.takes_y = self.is_constant and {spin.dof for spin in spins} == set(dependent)
        if self.takes_y:
            self.q_places = np.full(self.model.nq, -1)
            self.q_places[self.y_places] = np.arange(len(self.y_places))
            self.nq = len(self.y_places)
        else:
            self.q_places, self.nq = np.arange(self.model.nq), self.model.nq

    def _constant_G(self) -> np.ndarray:
        """G with the rows of clusters that are not constant left zero."""
        G = np.zeros((self.model.nv, self.nv))
        G[self.independent_dofs] = np.eye(self.nv)
        for part in self.structure:
            if part.choice.G is not None:
                own = self.inner[list(part.choice.independent)]
                G[np.ix_(part.choice.dependent, own)] = part.choice.G
        return G

    @property
    def tree(self) -> Model:
        """The model that is embedded: its spanning tree."""
        return self.model

    def lumped_with(self, held: tuple[Constraint, ...]) -> Constraints:
        """Constraints on the lumped model: others before those that are embedded."""
        if not held:
            return self.lumped
        return Constraints(self.lumped.model, (*held, *self.constraints.declared))

    def frame_index(self, name: str) -> int:
        """Where a frame stands among those that kernels know."""
        return self.model.frame_index(name)

    # --- coordinates ------------------------------------------------------------------------------

    def _is_spanning(self, name: str, x: ArrayLike, count: int, own: int) -> bool:
        length = np.shape(x)[-1] if np.ndim(x) else 0
        if length not in (count, own):
            raise ShapeError(
                f"{name} must have {own} independent entries a state, or {count} of the spanning "
                f"tree, got {length}"
            )
        return length == count

    def is_spanning_velocity(self, name: str, x: ArrayLike) -> bool:
        """Whether x has an entry for each joint of the tree, or for the independent ones."""
        return self._is_spanning(name, x, self.model.nv, self.nv)

    def independent(self, q: ArrayLike) -> np.ndarray:
        """y of spanning coordinates q."""
        own = len(self.y_places)
        spans = self._is_spanning("q", numbers_of("q", q), self.model.nq, own)
        return np.asarray(q)[..., self.y_places] if spans else np.asarray(q)

    def independent_velocity(self, v: ArrayLike) -> np.ndarray:
        """y' of the velocities of all joints."""
        spans = self._is_spanning("v", numbers_of("v", v), self.model.nv, self.nv)
        return np.asarray(v)[..., self.independent_dofs] if spans else np.asarray(v)

    def spanning(self, y: ArrayLike, near: ArrayLike | None = None) -> np.ndarray:
        """Coordinates of all joints, with the loops closed.

        Loops can often be closed in several ways: the one is taken that leads from `near`, one
        configuration of all joints or one a state, to y without a jump.
        """
        own = len(self.y_places)
        if self._is_spanning("y", numbers_of("y", y), self.model.nq, own):
            return np.asarray(y)
        y = np.asarray(y, float)
        start = self.reference if near is None else np.asarray(near, float)
        q = np.array(np.broadcast_to(start, (*y.shape[:-1], self.model.nq)))
        if self.is_constant:
            q[..., self.y_places] = y
            self._put_constant(q)
            return q
        flat, wanted = q.reshape(-1, self.model.nq), y.reshape(-1, own)
        return self._close(flat, wanted).reshape(q.shape)

    def _put_constant(self, q: np.ndarray) -> None:
        for part in self.structure:
            choice = part.choice
            if choice.G is not None:
                joints = {j.v.start: j.q.start for j in self.model.joints}
                own = q[..., [joints[k] for k in choice.independent]]
                others = [joints[k] for k in choice.dependent]
                q[..., others] = own @ choice.G.T + np.asarray(choice.offsets)

    def _close(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Move independent coordinates to y in strides, and close the loops after each."""
        goal = q.copy()
        goal[:, self.y_places] = wanted
        way = self.model.difference(q, goal)
        way[:, np.setdiff1d(np.arange(self.model.nv), self.independent_dofs)] = 0.0
        longest = float(np.abs(way).max(initial=0.0))
        count = max(int(np.ceil(longest / _STRIDE)), 1) if np.isfinite(longest) else 1
        for t in range(count):
            q = self.model.integrate(q, way / count)
            if t == count - 1:
                q[:, self.y_places] = wanted
            q, errors = self._newton(q)
        is_open = ~(errors <= _CLOSED)
        if is_open.any():
            raise ConvergenceError(
                f"the loops of {self.name!r} cannot be closed at {is_open.sum()} of {len(q)} "
                f"states: y is out of reach of {self._open_loops(q[is_open][0])}",
                q,
                errors,
            )
        return q

    def _newton(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        best, least = q, np.full(len(q), np.inf)
        for _ in range(_MOST_STEPS):
            self._put_constant(q)
            step, errors = closing_steps(self, (q,))
            is_better = errors < least
            best = np.where(is_better[:, None], q, best)
            least = np.where(is_better, errors, least)
            if not (errors[np.isfinite(errors)] > _CLOSED / 10).any():
                break
            turn = np.abs(step).max(axis=1, keepdims=True, initial=0.0)
            step = step * np.minimum(1.0, 0.5 / np.maximum(turn, 1e-300))
            q = self.model.integrate(q, np.nan_to_num(step))
        return best, least

    def _open_loops(self, q: np.ndarray) -> str:
        """Names of a cluster that is not closed."""
        error = np.abs(self.constraints.position_error(q))
        for part in self.structure:
            if any(error[r] > _CLOSED for r in part.choice.rows):
                return ", ".join(self.model.bodies[b].name for b in part.group.bodies)
        return "its loops"

    def spanning_velocity(self, y: ArrayLike, yd: ArrayLike) -> np.ndarray:
        """G y': the velocities of all joints."""
        if self._is_spanning("v", numbers_of("v", yd), self.model.nv, self.nv):
            return np.asarray(yd)
        return np.einsum("...ij,...j->...i", self.G(y), np.asarray(yd, float))

    def neutral(self) -> np.ndarray:
        """A configuration of all joints with the loops closed."""
        q = self.reference.copy()
        self._put_constant(q)
        return q

    def integrate(self, q: ArrayLike, v: ArrayLike, *, threads: int | None = None) -> np.ndarray:
        """The configuration reached from q by the velocity v held for one unit of time.

        Independent joints move by v, and the loops are closed from q on. The result is of y if q
        is, else of all joints.
        """
        start = self.spanning(q)
        step = np.zeros((*start.shape[:-1], self.model.nv))
        step[..., self.independent_dofs] = self.independent_velocity(v)
        moved = self.model.integrate(start, step, threads=threads)
        if self._is_spanning("q", q, self.model.nq, len(self.y_places)):
            return self.spanning(moved[..., self.y_places], near=start)
        return moved[..., self.y_places]

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, threads: int | None = None) -> np.ndarray:
        """The velocity of independent joints that leads from q0 to q1 in one unit of time."""
        wide = self.model.difference(self.spanning(q0), self.spanning(q1), threads=threads)
        return wide[..., self.independent_dofs]

    # --- motions ----------------------------------------------------------------------------------

    def motions(
        self, q: ArrayLike, v: ArrayLike | None = None, threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """G and g: velocities G y' and accelerations G y'' + g of all joints."""
        q = self.spanning(q)
        yd = np.zeros((*q.shape[:-1], self.nv)) if v is None else self.independent_velocity(v)
        G = np.array(np.broadcast_to(self.constant_G, (*q.shape[:-1], *self.constant_G.shape)))
        g = np.zeros(G.shape[:-1])
        if not self.is_constant:
            found, g = cluster_motions(self, (q, yd), None, threads)
            rows = [k for p in self.structure if p.choice.G is None for k in p.choice.dependent]
            G[..., rows, :] = found[..., rows, :]
        return G, g

    def G(self, q: ArrayLike) -> np.ndarray:
        """(..., spanning nv, nv): velocities of all joints are G y'."""
        return self.motions(q)[0]

    def g(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """(..., spanning nv): accelerations of all joints are G y'' + g."""
        return self.motions(q, v)[1]

    def K(self, q: ArrayLike) -> np.ndarray:
        """(..., rows, spanning nv): the Jacobian of the embedded constraints; K G = 0."""
        return self.constraints.jacobian(self.spanning(q))

    def k(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """(..., rows): K a = k holds for the accelerations of all joints."""
        q = self.spanning(q)
        return -self.constraints.drift(q, self.spanning_velocity(q, v))

    def conditioning(self, q: ArrayLike) -> np.ndarray:
        """How far the nearest cluster is from a singular state, from 1 down to 0.

        The least to the largest singular value of Kd, rows of unit length.
        """
        K = self.K(q)
        worst = np.ones(K.shape[:-2])
        for part in self.structure:
            if part.choice.G is None:
                own = K[..., part.choice.rows, :]
                dofs = [*part.choice.dependent, *part.choice.independent]
                lengths = np.linalg.norm(own[..., dofs], axis=-1, keepdims=True)
                Kd = own[..., part.choice.dependent] / np.maximum(lengths, 1e-300)
                s = np.linalg.svd(Kd, compute_uv=False)
                worst = np.minimum(worst, s[..., -1] / s[..., 0])
        return worst[()]

    def subspaces(self, q: ArrayLike, cluster: int) -> Subspaces:
        """S, Ta and Tc of a cluster, by its number: S^T Ta = 1 and S^T Tc = 0."""
        if cluster not in range(len(self.clusters)):
            raise SettingError(
                f"cluster must be a number from 0 to {len(self.clusters) - 1}, got {cluster!r}"
            )
        return subspaces(self, q, cluster)

    def W(self, q: ArrayLike) -> np.ndarray:
        """(..., nv, actuators): forces along y are W times the efforts of the actuators."""
        return actuation_matrix(self, q)

    def efforts(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """The least efforts of the actuators that make forces tau, such as inverse dynamics gives.

        Actuators may be more than there are degrees of freedom.
        """
        return efforts(self, q, tau)

    def random_configuration(
        self, rng: RandomLike = None, N: int | np.integer | None = None
    ) -> np.ndarray:
        """Random configurations of all joints with the loops closed, (nq,) or (N, nq).

        Joints outside of clusters as in `Model.random_configuration`. Those of clusters move at
        random from the configuration that `spanning` starts from, as far as loops can be closed.
        """
        rng = generator(rng)
        q = self.model.random_configuration(rng, 1 if N is None else N)
        clustered = [b for part in self.structure for b in part.group.bodies]
        places = [
            k
            for b in clustered
            for k in range(self.model.joints[b].q.start, self.model.joints[b].q.stop)
        ]
        if not self.is_constant:
            q[:, places] = self.reference[places]
            step = np.zeros((len(q), self.model.nv))
            own = [k for part in self.structure for k in part.choice.independent]
            step[:, own] = rng.uniform(-_STROLL, _STROLL, (len(q), len(own)))
            q = self._stroll(q, step)
        self._put_constant(q)
        return q[0] if N is None else q

    def _stroll(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Move independent joints by steps, which are halved where loops cannot be closed."""
        is_open, result = np.ones(len(q), bool), q.copy()
        while is_open.any():
            moved, errors = self._newton(self.model.integrate(q[is_open], step[is_open]))
            result[is_open] = moved
            step = 0.5 * step
            is_open[is_open] = ~(errors <= _CLOSED) & (np.abs(step[is_open]).max(axis=1) > 1e-9)
        return result

    # --- functions of models ----------------------------------------------------------------------

    def serve(
        self, kernel: Kernel, inputs: tuple, out: tuple | None, threads: int | None, shared: tuple
    ) -> list | None:
        """Functions of a model on y, or on spanning states."""
        if any(map(is_symbolic, inputs)):
            return None
        if kernel in self.kernels:
            return self._serve_spanning(kernel, inputs, out, threads)
        if self.is_constant and kernel in CONSTANT:
            return self._serve_constant(kernel, inputs, out, threads)
        if kernel is minverse:
            M = evaluate_on_tree(self, crba, inputs, threads, ())[0]
            return list(deliver((np.linalg.inv(M),), out))
        if kernel in DERIVATIVES:
            return list(deliver(tuple(differentiate(self, kernel, inputs, threads)), out))
        if kernel in PROJECTED:
            found = evaluate_on_tree(self, kernel, inputs, threads, shared)
            return list(deliver(tuple(found), out))
        if kernel.signature.model not in (EmbeddedArrays, ProjectedArrays):
            raise DataTypeError(f"{kernel.label} takes a model, not an embedding")
        return None

    def kernel_for(self, kernel: Kernel) -> Kernel:
        """The kernel to run for this embedding where `kernel` is called."""
        if self.is_constant and kernel in CONSTANT:
            return CONSTANT[kernel]
        return super().kernel_for(kernel)

    def _serve_constant(self, kernel, inputs, out, threads):
        """Kernels of `projected`, for states that are not as they take them."""
        q, *others = inputs
        velocities, forces = others[:2], others[2:]
        is_as_taken = np.shape(q)[-1:] == (self.nq,)
        is_as_taken = is_as_taken and all(np.shape(x)[-1:] == (self.nv,) for x in velocities)
        if is_as_taken and kernel is not aba_derivatives:
            return None
        own = own_coordinates(self, q)
        if kernel is aba_derivatives:
            a = aba(self, (own, *velocities, *forces), None, threads)
            velocities = [velocities[0], a]
        velocities = [self.independent_velocity(x) for x in velocities]
        found = CONSTANT[kernel](self, (own, *velocities, *forces), None, threads)
        return list(deliver(tuple(found) if kernel is not crba else (found,), out))

    def serve_rows(
        self,
        constraints: Constraints,
        kernel: Kernel,
        inputs: tuple,
        out: tuple | None,
        threads: int | None,
        shared: tuple,
    ) -> list | None:
        """Functions of constraints that hold the mechanism."""
        return serve_rows(self, constraints, kernel, inputs, out, threads, shared)

    def check_rows(self, constraints: Constraints) -> None:
        """Raise an error for rows at rotors, or at joints that follow from others."""
        check_held(self, constraints)

    def _serve_spanning(self, kernel, inputs, out, threads):
        """Forward and inverse dynamics of states that are not as their kernels take them."""
        q, v, x, *forces = inputs
        is_as_taken = np.shape(q)[-1:] == (self.nq,)
        if is_as_taken and np.shape(v)[-1:] == np.shape(x)[-1:] == (self.nv,):
            return None
        spans = self._is_spanning("v", v, self.model.nv, self.nv)
        yd = self.independent_velocity(v)
        full = self.spanning(q)
        own = full[..., self.y_places] if self.takes_y else full
        G, g = self.motions(full, yd, threads) if spans or np.shape(x)[-1] != self.nv else (0, 0)
        if self._is_spanning("tau" if kernel is aba else "a", x, self.model.nv, self.nv):
            x = np.asarray(x, float)
            x = np.einsum("...ij,...i->...j", G, x) if kernel is aba else (
                x[..., self.independent_dofs]
            )  # fmt: skip
        found = self.kernels[kernel](self, (own, yd, x, *forces), None, threads)
        if spans and kernel is aba:
            found = np.einsum("...ij,...j->...i", G, found) + g
        elif spans:
            wide = np.zeros((*found.shape[:-1], self.model.nv))
            wide[..., self.independent_dofs] = found
            found = wide
        return list(deliver((found,), out))

    def __repr__(self) -> str:
        loops = sum(cluster.kind != "joint" for cluster in self.clusters)
        return f"<Embedding of {self.name!r}: {loops} clusters, nv {self.nv} of {self.model.nv}>"


def _clusters(model: Model, structure: tuple[ClusterParts, ...]) -> tuple[Cluster, ...]:
    """All clusters, those of one body included, in the order of their first bodies."""
    parts = {body: part for part in structure for body in part.group.bodies}
    groups, number = [], {NO_BODY: -1}
    for body in range(model.n_bodies):
        if body not in number:
            own = parts[body].group.bodies if body in parts else (body,)
            number.update(dict.fromkeys(own, len(groups)))
            groups.append(own)
    carried = {
        body.parent for i, body in enumerate(model.bodies) if number[i] != number[body.parent]
    }
    result = []
    for own in groups:
        part = parts.get(own[0])
        dependent = () if part is None else part.choice.dependent
        joints = [model.joints[body] for body in own]
        kind = "joint" if part is None else "implicit" if part.choice.G is None else "explicit"
        result.append(
            Cluster(
                tuple(model.bodies[body].name for body in own),
                tuple(j.name for j in joints),
                tuple(j.name for j in joints if j.v.start not in dependent),
                number[model.bodies[own[0]].parent],
                tuple(model.bodies[body].name for body in own if body in carried),
                kind,
                () if part is None else tuple(model.bodies[s.body].name for s in part.spins),
            )
        )
    return tuple(result)


def embed(
    model: Model,
    constraints: Constraints | Iterable[Constraint] | None = None,
    independent: Iterable[str] | None = None,
    actuators: Iterable[str | Closure] | None = None,
) -> Embedding:
    """The model with its constraints embedded: local loops become joints of several bodies.

    The constraints are those of the model if none are given. `independent` names the joints whose
    coordinates are independent, for clusters in which it names any; else these are as the file
    declares, or chosen, `actuators` first. These are names of joints, or closures of the model by
    a hinge or slider that a motor drives; see `Embedding.W` and `Embedding.efforts`.
    """
    check_model(model)
    if not isinstance(model, Model):
        raise DataTypeError(f"only a Model can be embedded, got {type(model).__name__}")
    if isinstance(constraints, Constraints):
        if constraints.model is not model:
            raise ModelError("these constraints are on another model")
        constraints = constraints.declared  # what never opens needs no stabilisation
    cs = Constraints(model, constraints)
    driven = check_actuators(model, actuators)
    actuated = tuple(x for x in driven if isinstance(x, str))
    named = None if independent is None else _joints(model, "independent joints", independent)
    reference, jacobians = _samples(model, cs)
    structure = []
    for group in find_groups(model, cs.declared):
        joints = {model.joints[body].name for body in group.bodies}
        own = None if named is None or not joints & set(named) else named
        choice = choose(model, cs, group, jacobians, own, actuated)
        turned = links_first(model, cs, group, choice)
        swept = choice if turned is None else turned
        spins = find_spins(model, cs, group, swept)
        gear = gear_of(model, group, choice, spins)
        senses = planar_senses(model, cs, group, choice)
        is_driven = turned is not None
        structure.append(ClusterParts(group, choice, spins, gear, senses, swept, is_driven))
    return Embedding(model, cs, structure, reference, driven)


def _joints(model: Model, what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names of joints, which must exist."""
    return tuple(model.joint(name).name for name in names_of(what, names))


def _samples(model: Model, cs: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """A closed configuration that is not singular, and the Jacobians at several."""
    if all(is_explicit(c) for c in cs.declared):
        return model.neutral(), cs.jacobian(model.neutral())[None]
    q = sample_configurations(model, cs)
    jacobians = cs.jacobian(q)
    singular = np.linalg.svd(jacobians, compute_uv=False)
    ranks = np.sum(singular > _REGULAR * singular[:, :1], axis=1)
    return q[int(np.argmax(ranks))], jacobians  # the first, near the neutral one, if it is regular
