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
