"""The Delassus operator over rigid bodies for Python: of all rows, and of cone rows alone.

    op = BodiesOperator(inertias, joints, cones)
    op.multiply(x), op.solve(x)              # D = K M^-1 K^T over joint and cone rows, K = [J; C]
    op.multiply_cones(x), op.solve_cones(x)  # D_c = C (M + J^T S_j^-1 J)^-1 C^T over cone rows

See `bodies` for the mathematics, `order` for the order of elimination.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...checks import finite_number, not_negative, positive_integer, real_array, shown
from ...errors import ModelError, SettingError, ShapeError
from . import kernels
from .bodies import BLOCK, MOST_CONE_ROWS
from .elements import MOST_ROWS
from .order import Order, Orders
from .structure import BodySystem, Given, Rows, body_inertias, row_elements, row_vector

RELATIVE_DAMPING = 1e-5  # of each row's own entry of the diagonal of D


class Recovered(NamedTuple):
    """Velocities of all bodies and multipliers of joint rows; what remains of |J u + c|."""

    velocities: np.ndarray
    multipliers: np.ndarray
    residual: float
    passes: int


class BodiesOperator:
    """D = K M^-1 K^T over joint and cone rows, K = [J; C], and D + damping, without forming either.

    `inertias` are M, (bodies, 6, 6). Each of `joints` and `cones` is a pair of bodies and of the
    Jacobian for each of them, (bodies, rows, 6); a body of -1 is the world. Joints come first in
    all vectors, then cones.

    The damping of joint rows also is S_j of D_c = C (M + J^T S_j^-1 J)^-1 C^T, the operator of cone
    rows with joints eliminated. By default damping is 1e-5 of each row's diagonal entry of D.
    Bodies without mass are allowed as long as M + J^T J is definite; `multiply`, `matrix` and
    `diagonal_blocks` need an inverse of M.

    Bodies that cones touch are eliminated last. `front` names bodies that cones may touch later: so
    long as no other is touched, `update` finds no new order. `slots` is the number of cones that
    there is room for; it is doubled when there are more.
    """

    def __init__(
        self,
        inertias: ArrayLike,
        joints: Iterable[Given] = (),
        cones: Iterable[Given] = (),
        damping: float | ArrayLike | None = None,
        *,
        front: Iterable[int] = (),
        slots: int = 1,
    ):
        self._inertias = body_inertias(inertias)
        n = len(self._inertias)
        self._joints = row_elements("joint", joints, n, MOST_ROWS)
        self._orders = Orders(n, [joint.bodies for joint in self._joints])
        self._wanted = frozenset(int(body) for body in front)
        self._systems: dict = {}
        self._slots = positive_integer("slots", slots)
        self._cones: list[Rows] = []
        self._find_cones(cones)
        self._invert()
        self.set_damping(damping)

    # --- structure --------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.joint_rows + self.cone_rows

    @property
    def joint_rows(self) -> int:
        """The number of joint rows."""
        return sum(joint.height for joint in self._joints)

    @property
    def cone_rows(self) -> int:
        """The number of cone rows."""
        return sum(cone.height for cone in self._cones)

    @property
    def order(self) -> Order:
        """The order in which bodies are eliminated."""
        return self._system.order

    def _find_cones(self, cones: Iterable[Given]) -> None:
        """Take other cones; with another order if they touch bodies that are not in the front."""
        self._cones = row_elements("cone", cones, len(self._inertias), MOST_CONE_ROWS)
        touched = {body for cone in self._cones for body in cone.bodies}
        self._wanted = self._wanted | touched
        while self._slots < len(self._cones):
            self._slots *= 2
        key = self._wanted, self._slots
        if key not in self._systems:
            order = self._orders.with_front(self._wanted)
            joints = self._joints
            self._systems[key] = BodySystem(
                order, [j.bodies for j in joints], [j.height for j in joints], self._slots
            )
        self._system = self._systems[key]
        self._cone_numbers = self._system.cone_numbers(self._cones)
        self._J = np.concatenate([np.zeros(0), *(j.jacobian.ravel() for j in self._joints)])

    def update(
        self,
        inertias: ArrayLike | None = None,
        joints: Iterable[Given] | None = None,
        cones: Iterable[Given] | None = None,
        damping: float | ArrayLike | None = None,
    ) -> None:
        """Change inertias, Jacobians of joints, or cones; the damping is set anew.

        Joints must touch the same bodies. Bodies that cones have touched once stay in the front.
        """
        if inertias is not None:
            given = body_inertias(inertias)
            if given.shape != self._inertias.shape:
                raise ShapeError(f"inertias must have shape {self._inertias.shape}")
            self._inertias = given
        if joints is not None:
            given = row_elements("joint", joints, len(self._inertias), MOST_ROWS)
            if [(j.bodies, j.height) for j in given] != [
                (j.bodies, j.height) for j in self._joints
            ]:
                raise ModelError("other joints need a new operator: only Jacobians may change")
            self._joints = given
        self._find_cones(self._cones if cones is None else cones)
        self._invert()
        self.set_damping(damping)

    # --- damping ----------------------------------------------------------------------------------

    def _invert(self) -> None:
        """M^-1, the blocks of D of all elements and its diagonal, as far as M is definite."""
        numbers = self._inertias.ravel(), self._J
        self._inverses, diagonal, heaviest, blocks = kernels.invert_bodies(self._system, numbers)
        inverses = self._inverses.reshape(-1, 36)
        self._has_inverse = bool((inverses[:, 0] > 0.0).all())
        zeros = np.zeros(self.joint_rows), self._pad(np.zeros(self.cone_rows))
        _, _, cone_blocks = kernels.multiply_all_rows(self._system, (*self._all(), *zeros))
        self._blocks = _square(blocks, [j.height for j in self._joints])
        self._blocks += _slotted(cone_blocks, [c.height for c in self._cones])
        of_cones = [np.diag(block) for block in self._blocks[len(self._joints) :]]
        self._scales = {
            by: _filled(np.concatenate([rows, *of_cones]))
            for by, rows in (("diagonal", diagonal), ("heaviest", heaviest))
        }

    @property
    def damping(self) -> np.ndarray:
        """What `solve` adds to the diagonal of D, a number for each row."""
        return self._damping.copy()

    def relative_damping(
        self, relative: float = RELATIVE_DAMPING, by: str = "diagonal"
    ) -> np.ndarray:
        """This part of each row's diagonal entry of D.

        With `by="heaviest"`, joint rows count only what the heaviest body has of that entry. Joints
        are then stiff enough for heavy bodies that light ones hold together, from mass ratios of
        1e3 on: `recover` needs few passes, but less of D_c is exact. Bodies without mass count as
        fixed; a row of such bodies alone takes the mean of all rows.
        """
        if not isinstance(by, str) or by not in self._scales:
            raise SettingError(f"by must be one of {', '.join(self._scales)}, got {shown(by)}")
        return finite_number("relative", relative) * self._scales[by]

    def set_damping(self, damping: float | ArrayLike | None = None) -> None:
        """Change the damping: one number, or one for each row.

        If that of joint rows stays, only the matrix of the front is factorised.
        """
        rows = self.relative_damping() if damping is None else real_array("damping", damping)
        if rows.shape not in ((), (self.size,)):
            raise ShapeError(f"damping must be a number or have shape ({self.size},)")
        rows = np.broadcast_to(rows, (self.size,)).copy()
        if not (np.isfinite(rows) & (rows > 0.0)).all():
            raise SettingError("damping must be positive and finite")
        weights = 1.0 / rows
        m, W = self.joint_rows, self._pad(weights[self.joint_rows :])
        given = self._inertias, self._J, weights[:m], self._system
        if not _is_the_same(given, getattr(self, "_prepared_from", None)):
            prepared = kernels.prepare_bodies(self._system, (given[0].ravel(), given[1], given[2]))
            if not np.isfinite(prepared).all():
                raise ModelError("M + J^T J is singular: bodies without mass move freely")
            self._prepared, self._prepared_from = prepared, given
        inputs = (self._prepared, self._cone_numbers, W)
        self._penalised = kernels.factor_bodies(self._system, inputs)
        self._damping, self._weights, self._W = rows, weights[:m], W

    def with_damping(self, damping: float | ArrayLike | None) -> BodiesOperator:
        """A new operator for these bodies, with another damping."""
        other = copy.copy(self)
        other.set_damping(damping)
        return other

    # --- all rows ---------------------------------------------------------------------------------

    def _pad(self, x: np.ndarray) -> np.ndarray:
        """Numbers of cone rows, filled up to all slots."""
        padded = np.zeros(self._system.dimensions["cone_rows"])
        padded[: len(x)] = x
        return padded

    def _all(self) -> tuple:
        return self._inverses, self._cone_numbers, self._J

    def _split(self, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        x = row_vector("x", x, self.size)
        return x[: self.joint_rows], self._pad(x[self.joint_rows :])

    def _join(self, joint_rows: np.ndarray, cone_rows: np.ndarray) -> np.ndarray:
        return np.concatenate([joint_rows, cone_rows[: self.cone_rows]])

    def _need_inverse(self) -> None:
        if not self._has_inverse:
            raise ModelError("D = K M^-1 K^T needs inertias that are definite, of all bodies")

    def multiply(self, x: ArrayLike) -> np.ndarray:
        """D x over all rows, without damping. Inertias must be definite."""
        self._need_inverse()
        y_j, y_c, _ = kernels.multiply_all_rows(self._system, (*self._all(), *self._split(x)))
        return self._join(y_j, y_c)

    __matmul__ = multiply

    def solve(self, x: ArrayLike) -> np.ndarray:
        """(D + damping)^-1 x over all rows.

        Where M has an inverse, a second round solves for what the first has left of x.
        """
        x = row_vector("x", x, self.size)
        y = self._solve_once(x)
        return y + self._solve_once(x - self._damping * y - self @ y) if self._has_inverse else y

    def _solve_once(self, x: np.ndarray) -> np.ndarray:
        factors = self._prepared, self._penalised, self._cone_numbers, self._J
        weights = self._weights, self._W
        inputs = (*factors, *weights, *self._split(x))
        return self._join(*kernels.solve_all_rows(self._system, inputs))

    def matrix(self) -> np.ndarray:
        """D, (size, size). Inertias must be definite."""
        return np.array([self.multiply(row) for row in np.eye(self.size)]).reshape(
            self.size, self.size
        )

    def inverse(self) -> np.ndarray:
        """(D + damping)^-1, (size, size)."""
        return np.array([self.solve(row) for row in np.eye(self.size)]).reshape(
            self.size, self.size
        )

    def diagonal_blocks(self) -> list[np.ndarray]:
        """The block of D of each joint and cone, (rows, rows). Inertias must be definite."""
        self._need_inverse()
        return [block.copy() for block in self._blocks]

    # --- cone rows, joints eliminated -------------------------------------------------------------

    def _cone_vector(self, what: str, x: ArrayLike) -> np.ndarray:
        return self._pad(row_vector(what, x, self.cone_rows))

    def multiply_cones(self, x: ArrayLike) -> np.ndarray:
        """D_c x over cone rows."""
        inputs = (self._prepared, self._cone_numbers, self._cone_vector("x", x))
        return kernels.multiply_cones(self._system, inputs)[0][: self.cone_rows]

    def cone_blocks(self) -> list[np.ndarray]:
        """The block of D_c of each cone, (rows, rows)."""
        inputs = (self._prepared, self._cone_numbers, self._pad(np.zeros(self.cone_rows)))
        _, blocks = kernels.multiply_cones(self._system, inputs)
        return _slotted(blocks, [cone.height for cone in self._cones])

    def solve_cones(self, x: ArrayLike) -> np.ndarray:
        """(D_c + damping)^-1 x over cone rows."""
        factors = self._prepared, self._penalised, self._cone_numbers, self._W
        y = kernels.solve_cones(self._system, (*factors, self._cone_vector("x", x)))
        return y[: self.cone_rows]

    def velocities(
        self, g: ArrayLike, reactions: ArrayLike, bias: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """u = A^-1 (g + C^T reactions) of all bodies, (bodies, 6), and C u + bias of cone rows."""
        bias = np.zeros(self.cone_rows) if bias is None else bias
        rows = self._cone_vector("reactions", reactions), self._cone_vector("bias", bias)
        inputs = (self._prepared, self._cone_numbers, self._forces(g), *rows)
        u, v = kernels.move_bodies(self._system, inputs)
        return u, v[: self.cone_rows]

    def recover(
        self,
        g: ArrayLike,
        reactions: ArrayLike,
        bias: ArrayLike | None = None,
        multipliers: ArrayLike | None = None,
        *,
        tolerance: float = 1e-9,
        passes: int = 10,
    ) -> Recovered:
        """M u = g + J^T multipliers + C^T reactions with J u + bias = 0, for given reactions.

        Improved from `multipliers` on, until joint rows miss less than the tolerance, or until rows
        that contradict each other are all that is left. See `recovery`.
        """
        none = np.zeros(self.joint_rows)
        rows = [
            none if given is None else row_vector(what, given, self.joint_rows)
            for what, given in (("bias", bias), ("multipliers", multipliers))
        ]
        limits = not_negative("tolerance", tolerance), float(positive_integer("passes", passes))
        joints = self._J, np.stack([self._weights, *rows])
        given = self._forces(g), self._cone_vector("reactions", reactions), np.array(limits)
        inputs = (self._prepared, self._cone_numbers, *joints, *given)
        found, u, ending = kernels.recover_bodies(self._system, inputs)
        return Recovered(u, found, float(ending[0]), int(ending[1]))

    def solve_blocks(
        self,
        E: Sequence[ArrayLike],
        H: Sequence[ArrayLike],
        f: ArrayLike,
        delta: float = 0.0,
    ) -> np.ndarray:
        """(E + delta + H D_c)^-1 f over cone rows; E and H have a square block for each cone."""
        blocks = [self._blocks_in_slots(what, x) for what, x in (("E", E), ("H", H))]
        given = self._cone_vector("f", f), np.array([not_negative("delta", delta)])
        inputs = (self._prepared, self._cone_numbers, *blocks, *given)
        return kernels.solve_cone_blocks(self._system, inputs)[: self.cone_rows]

    def _blocks_in_slots(self, what: str, given: Sequence[ArrayLike]) -> np.ndarray:
        if len(given) != len(self._cones):
            raise ShapeError(f"{what} must have a block for each of {len(self._cones)} cones")
        slots = np.zeros((self._slots, BLOCK))
        for k, (block, cone) in enumerate(zip(given, self._cones, strict=True)):
            block = real_array(what, block)
            if block.shape != (cone.height, cone.height):
                raise ShapeError(f"block {k} of {what} must have shape {2 * (cone.height,)}")
            slots[k, : block.size] = block.ravel()
        return slots.ravel()

    def _forces(self, g: ArrayLike) -> np.ndarray:
        g = real_array("g", g)
        if g.shape != (len(self._inertias), 6):
            raise ShapeError(f"g must have shape ({len(self._inertias)}, 6), got {g.shape}")
        return g

    def __repr__(self) -> str:
        return (
            f"<BodiesOperator of {len(self._inertias)} bodies, "
            f"{self.joint_rows} joint rows and {self.cone_rows} cone rows>"
        )


def _square(flat: np.ndarray, heights: list[int]) -> list[np.ndarray]:
    """Square blocks that stand one after the other."""
    blocks, at = [], 0
    for height in heights:
        blocks.append(flat[at : at + height**2].reshape(height, height))
        at += height**2
    return blocks


def _slotted(flat: np.ndarray, heights: list[int]) -> list[np.ndarray]:
    """Square blocks that stand in slots of BLOCK numbers."""
    return [flat[BLOCK * k : BLOCK * k + h**2].reshape(h, h).copy() for k, h in enumerate(heights)]


def _is_the_same(given: tuple, before: tuple | None) -> bool:
    """Whether arrays and the system are what they were."""
    if before is None or given[-1] is not before[-1]:
        return False
    return all(np.array_equal(a, b) for a, b in zip(given[:-1], before[:-1], strict=True))


def _filled(scales: np.ndarray) -> np.ndarray:
    """Scales of rows, with the mean of all in the place of those that are not known."""
    known = scales > 0.0
    return np.where(known, scales, scales[known].mean() if known.any() else 1.0)
