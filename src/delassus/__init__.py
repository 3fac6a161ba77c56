"""Constrained rigid-body dynamics in plain Python."""

from .errors import (
    DataTypeError,
    DelassusError,
    FileFormatError,
    MissingDependencyError,
    ModelError,
    ShapeError,
    UnknownNameError,
)
from .model.builder import ModelBuilder
from .model.constraints import Closure, Connect, Coupling, Distance, Gear, Implicit, Weld
from .model.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from .model.model import Model
from .spatial.inertia import Inertia
from .spatial.transform import Transform
from .dynamics.aba import forward_dynamics
from .dynamics.centroidal import center_of_mass, centroidal_momentum_matrix
from .dynamics.coriolis import coriolis_matrix
from .dynamics.crba import mass_matrix
from .dynamics.energy import kinetic_energy, potential_energy
from .dynamics.kinematics import (
    Placements,
    forward_kinematics,
    frame_acceleration,
    frame_jacobian,
    frame_velocity,
)
from .dynamics.minverse import inverse_mass_matrix
from .dynamics.passive import passive_forces
from .dynamics.rnea import bias_forces, gravity_forces, inverse_dynamics
