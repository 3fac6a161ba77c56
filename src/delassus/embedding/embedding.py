"""The class Embedding: a model whose local loops are joints, in independent coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..checks import instance, items, shown
from ..compile import Kernel
from ..constrained.rows.constraints import Constraints
from ..dynamics.arguments import check_model, numbers_of
from ..errors import DataTypeError, ModelError, SettingError, ShapeError
from ..model.configuration import RandomLike, generator
from ..model.mechanism import Mechanism
from ..model.model import Model
from ..model.parts.constraints import Closure, Constraint
from ..model.parts.names import names_of
from ..spatial.constant import Immutable
from .algorithms.motions import cluster_motions
from .algorithms.projected import CONSTANT
from .coordinates import close, is_spanning, put_constant, random_configurations
from .held import check_held, serve_rows
from .serving import KERNELS, serve
from .structure.clusters import ClusterParts, describe, find_clusters
from .structure.spins import Spin, lumped
from .subspaces import (
    Subspaces,
    actuated_joints,
    actuation_matrix,
    check_actuators,
    efforts,
    subspaces,
)


class _OfModelError(DataTypeError, AttributeError):
    """A function asks an embedding for what only a model has."""


# Attributes of a model that its class does not show.
_OF_MODELS = (
    *("bodies", "frames", "shapes", "joints", "gravity", "lower", "upper", "velocity_limit"),
    *("effort_limit", "damping", "friction", "armature", "stiffness", "rest"),
    *("contact_exclusions", "contact_pairs"),
)


class Embedding(Immutable, Mechanism):
    """A model whose constraints are embedded. Made by `embed`.

    Where functions take y, they take spanning coordinates as well, told apart by their length, and
    likewise for velocities, accelerations and forces.
    """

    kernels: ClassVar[dict] = KERNELS
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
        instance("model", model, Model)
        instance("constraints", constraints, Constraints)
        structure = items("structure", structure, ClusterParts)
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
        self.clusters = describe(model, self.structure)
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

    def all_constraints(self, held: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """Constraints of the spanning tree: those that are embedded, then those that hold this."""
        return (*self.constraints.declared, *items("constraints", held, Constraint))

    def degrees_of_freedom(self, joint: str) -> np.ndarray:
        """Numbers of a joint's velocities, in y'; an error for a joint that follows from others."""
        own = self.model.degrees_of_freedom(joint)
        if not np.isin(own, self.independent_dofs).all():
            raise ModelError(
                f"joint {joint!r} follows from others in this embedding: name independent joints "
                f"({', '.join(self.independent_joints)}), or embed with others"
            )
        return self.inner[own]

    def lumped_with(self, held: tuple[Constraint, ...]) -> Constraints:
        """Constraints on the lumped model: others before those that are embedded."""
        if not held:
            return self.lumped
        return Constraints(self.lumped.model, (*held, *self.constraints.declared))

    def frame_index(self, name: str) -> int:
        """Where a frame stands among those that kernels know."""
        return self.model.frame_index(name)

    # --- coordinates ------------------------------------------------------------------------------

    def is_spanning_velocity(self, name: str, x: ArrayLike) -> bool:
        """Whether x has an entry for each joint of the tree, or for the independent ones."""
        return is_spanning(name, x, self.model.nv, self.nv)

    def independent(self, q: ArrayLike) -> np.ndarray:
        """y of spanning coordinates q."""
        own = len(self.y_places)
        spans = is_spanning("q", numbers_of("q", q), self.model.nq, own)
        return np.asarray(q)[..., self.y_places] if spans else np.asarray(q)

    def independent_velocity(self, v: ArrayLike) -> np.ndarray:
        """y' of the velocities of all joints."""
        spans = is_spanning("v", numbers_of("v", v), self.model.nv, self.nv)
        return np.asarray(v)[..., self.independent_dofs] if spans else np.asarray(v)

    def spanning(self, y: ArrayLike, near: ArrayLike | None = None) -> np.ndarray:
        """Coordinates of all joints, with the loops closed.

        Loops can often be closed in several ways: the one is taken that leads from `near`, one
        configuration of all joints or one a state, to y without a jump.
        """
        own = len(self.y_places)
        if is_spanning("y", numbers_of("y", y), self.model.nq, own):
            return np.asarray(y)
        y = np.asarray(y, float)
        start = self.reference if near is None else np.asarray(near, float)
        q = np.array(np.broadcast_to(start, (*y.shape[:-1], self.model.nq)))
        if self.is_constant:
            q[..., self.y_places] = y
            put_constant(self, q)
            return q
        flat, wanted = q.reshape(-1, self.model.nq), y.reshape(-1, own)
        return close(self, flat, wanted).reshape(q.shape)

    def spanning_velocity(self, y: ArrayLike, yd: ArrayLike) -> np.ndarray:
        """G y': the velocities of all joints."""
        if is_spanning("v", numbers_of("v", yd), self.model.nv, self.nv):
            return np.asarray(yd)
        return np.einsum("...ij,...j->...i", self.G(y), np.asarray(yd, float))

    def neutral(self) -> np.ndarray:
        """A configuration of all joints with the loops closed."""
        q = self.reference.copy()
        put_constant(self, q)
        return q

    def integrate(self, q: ArrayLike, v: ArrayLike, *, threads: int | None = None) -> np.ndarray:
        """The configuration reached from q by the velocity v held for one unit of time.

        Independent joints move by v, and the loops are closed from q on. The result is of y if q
        is, else of all joints.
        """
        start = self.spanning(q)
        step = np.zeros((*start.shape[:-1], self.model.nv))
        given = self.independent_velocity(v)
        if given.shape[:-1] != step.shape[:-1]:
            raise ShapeError(f"v has the shape {given.shape}, which is not that of q's states")
        step[..., self.independent_dofs] = given
        moved = self.model.integrate(start, step, threads=threads)
        if is_spanning("q", q, self.model.nq, len(self.y_places)):
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
        is_number = isinstance(cluster, (int, np.integer))
        if not (is_number and 0 <= cluster < len(self.clusters)):
            raise SettingError(
                f"cluster must be a number from 0 to {len(self.clusters) - 1}, got {shown(cluster)}"
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
        q = random_configurations(self, generator(rng), 1 if N is None else N)
        return q[0] if N is None else q

    # --- functions of models ----------------------------------------------------------------------

    def serve(
        self, kernel: Kernel, inputs: tuple, out: tuple | None, threads: int | None, shared: tuple
    ) -> list | None:
        """Functions of a model on y, or on spanning states."""
        return serve(self, kernel, inputs, out, threads, shared)

    def kernel_for(self, kernel: Kernel) -> Kernel:
        """The kernel to run for this embedding where `kernel` is called."""
        if self.is_constant and kernel in CONSTANT:
            return CONSTANT[kernel]
        return super().kernel_for(kernel)

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

    def __getattr__(self, name: str) -> Any:
        """What a model has and an embedding has not: say where it is."""
        if not name.startswith("_") and (name in _OF_MODELS or hasattr(Model, name)):
            raise _OfModelError(
                f"an Embedding has no {name!r}: it is emb.model.{name}. A function that needs it "
                "takes a Model: give it emb.model, with emb.spanning(y) and "
                "emb.spanning_velocity(y, yd)"
            )
        raise AttributeError(f"an Embedding has no {name!r}")

    def __repr__(self) -> str:
        loops = sum(cluster.kind != "joint" for cluster in self.clusters)
        return f"<Embedding of {self.name!r}: {loops} clusters, nv {self.nv} of {self.model.nv}>"


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
    a hinge or slider that a motor drives; see `Embedding.W` and `Embedding.efforts`. If none are
    given, they are the joints of `model.actuators`.
    """
    check_model(model)
    if not isinstance(model, Model):
        raise DataTypeError(
            f"only a Model can be embedded, got {type(model).__name__}: give its .model, with all "
            "constraints that are to be embedded"
        )
    if isinstance(constraints, Constraints):
        if constraints.model is not model:
            raise ModelError("these constraints are on another model")
        constraints = constraints.declared  # what never opens needs no stabilisation
    cs = Constraints(model, constraints)
    driven = check_actuators(model, actuated_joints(model) if actuators is None else actuators)
    actuated = tuple(x for x in driven if isinstance(x, str))
    named = None if independent is None else _joints(model, "independent joints", independent)
    structure, reference = find_clusters(model, cs, named, actuated)
    return Embedding(model, cs, structure, reference, driven)


def _joints(model: Model, what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names of joints, which must exist."""
    return tuple(model.joint(name).name for name in names_of(what, names))
