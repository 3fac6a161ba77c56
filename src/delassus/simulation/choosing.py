"""The choice of integrator and contact solver, and the numbers by which kernels are asked for it.

| solver | kernel | how |
| --- | --- | --- |
| auto | by bodies or by rows | Newton's method, ADMM and interior points in turns |
| newton | | ADMM has no iterations |
| admm-... | | Newton's method has no steps |
| pgs-..., nbgs, raisim..., prox | by sweeps | |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..checks import flag, instance, not_negative
from ..contact.kernels import contact_admm, contact_prox, contact_splitting
from ..contact.laws.request import LIMIT
from ..contact.requests import SOLVERS
from ..contact.solving import solver_request
from ..errors import SettingError
from ..maximal import Stabilization
from ..maximal.settings import step_size
from ..model.parts.names import known_name
from .runs import Settings, Worlds
from .solution.impacts import IMPACTS
from .solution.solving import SOLVING
from .step import EULER, MIDPOINT, RK4

INTEGRATORS = {"euler": EULER, "midpoint": MIDPOINT, "rk4": RK4}
_MARGIN = 2e-3  # contacts closer than this have rows
# Joints of mechanisms with actuators are closed where they open by more. Without actuators they may
# open further, as closing costs energy, which passive mechanisms should keep.
_OPENING = 9e-6
_MOST_OF_AUTO = 200  # iterations, after which a step goes on with what there is
_WITHOUT_END = 2**31
_NOT_HERE = ("precondition",)  # parameters of `contact.solve` that steps do not have


class Choice(NamedTuple):
    """What steps a simulator was asked for."""

    dt: float
    integrator: str
    solver: str
    parameters: Mapping[str, Any] | None
    tolerance: float
    joint_tolerance: float
    max_iterations: int | None
    stabilization: Stabilization | None
    displacement: bool
    impact: str
    is_driven: bool  # by actuators
    torn: float  # part of `link`, or radians, by which joints may be open
    link: float  # m, the longest one

    def checked(self) -> Choice:
        """All that `settings` need not look at."""
        known_name("integrator", self.integrator, INTEGRATORS)
        known_name("the solver of a Simulator", self.solver, SOLVERS)
        flag("displacement", self.displacement)
        known_name("impact", self.impact, IMPACTS)
        return self._replace(dt=step_size(self.dt))

    @property
    def is_displaced(self) -> bool:
        """Whether joints are closed by displacement after each step."""
        return self.displacement or self.integrator == "rk4"

    @property
    def held(self) -> Stabilization:
        """How errors of positions are taken away."""
        if self.stabilization is None:
            erp = 0.1 if self.integrator == "euler" and not self.is_displaced else 0.0
            opening = _OPENING if self.is_driven else Stabilization.joint_opening
            return Stabilization(
                joints=erp, contacts=0.1, depenetration_speed=1.0, joint_opening=opening
            )
        held = instance("stabilization", self.stabilization, Stabilization)
        if self.integrator == "rk4" and held.soft_joints is not None:
            raise SettingError('joints are rigid with "rk4": it takes no soft_joints')
        return held

    def settings(self) -> Settings:
        """The numbers that kernels are asked by."""
        whole, options, is_swept = self._solver()
        torn = self.torn if self.held.soft_joints is None else np.inf
        numbers = [
            *self.held.packed(self.dt),
            _MARGIN,
            not_negative("joint_tolerance", self.joint_tolerance),
            0.0,
            0.0,
            float(torn),
            self.link,
        ]
        whole += [INTEGRATORS[self.integrator], int(self.is_displaced), IMPACTS.index(self.impact)]
        return Settings(whole, np.array(numbers), options, is_swept)

    def _solver(self) -> tuple[list[int], np.ndarray, bool]:
        """Whole numbers and numbers for the solver, and whether it sweeps over cone rows."""
        given = {} if self.parameters is None else self.parameters
        parameters = dict(instance("solver_parameters", given, Mapping))
        for name in _NOT_HERE:
            if name in parameters:
                raise SettingError(f"{name!r} is no parameter of solvers in a simulation")
        law, most = parameters.pop("law", None), self.max_iterations
        if most is None and self.solver == "auto":
            most = _MOST_OF_AUTO
        request = solver_request(self.solver, self.tolerance, most, law, parameters)
        whole, kernel = [*request.limits, 0, 0], request.solver.kernel
        iterations = request.limits[LIMIT.iterations]
        whole[SOLVING.enough] = _WITHOUT_END if self.solver == "auto" else iterations
        whole[SOLVING.is_prox] = int(kernel is contact_prox)
        if self.solver == "newton":
            whole[LIMIT.iterations] = 0
        if kernel is contact_admm:
            whole[LIMIT.newton_steps], whole[LIMIT.first_share] = 0, iterations
        return whole, request.options, kernel in (contact_prox, contact_splitting)


class Choosing:
    """The part of `Simulator` that chooses integrator and solver."""

    _choice: Choice
    _worlds: Worlds

    @property
    def dt(self) -> float:
        """The time of a step."""
        return self._choice.dt

    @property
    def integrator(self) -> str:
        """The name of the integrator."""
        return self._choice.integrator

    @property
    def solver(self) -> str:
        """The name of the contact solver."""
        return self._choice.solver

    @property
    def displacement(self) -> bool:
        """Whether joints are closed by displacement after each step."""
        return self._choice.is_displaced

    @property
    def impact(self) -> str:
        """The name of the law of impacts."""
        return self._choice.impact

    @property
    def stabilization(self) -> Stabilization:
        """How errors of positions are taken away."""
        return self._choice.held

    def use(
        self,
        *,
        integrator: str | None = None,
        solver: str | None = None,
        solver_parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Go on from the present state by another integrator or solver.

        The parameters of a solver stay those given last, until there is another solver.
        """
        choice = self._choice
        if integrator is not None:
            choice = choice._replace(integrator=integrator)
        if solver is not None:
            choice = choice._replace(solver=solver, parameters=None)
        if solver_parameters is not None:
            choice = choice._replace(parameters=solver_parameters)
        choice = choice.checked()
        self._worlds.ask(choice.settings(), self._worlds.system.contact_slots)
        self._choice = choice
