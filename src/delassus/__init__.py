"""Constrained rigid-body dynamics in plain Python, compiled for one state, for lanes and for GPUs.

The public interface: everything that user code needs is a name of this module.
"""

from . import contact, maximal, mujoco, robots
from .compile import CacheWarning, OperationCount, operation_count, symbolic
from .constrained.delassus.matrices import (
    DELASSUS_INVERSE_METHODS,
    DELASSUS_METHODS,
    delassus_inverse,
    delassus_matrix,
)
from .constrained.delassus.operator import BranchedInverse, DelassusOperator
from .constrained.derivatives.dynamics import (
    ConstrainedDerivatives,
    constrained_dynamics_derivatives,
)
from .constrained.factor.factorization import (
    KKTFactorization,
    kkt_factorization,
    tree_factorization,
)
from .constrained.rows.constraints import Baumgarte, Constraints
from .constrained.solvers.dynamics import ConstrainedSolution, constrained_dynamics
from .constrained.solvers.methods import METHODS as _METHODS
from .constrained.tasks.impacts import Impact, impact
from .constrained.tasks.inverse import ConstrainedTorques, constrained_inverse_dynamics
from .constrained.tasks.inverse_kinematics import inverse_kinematics
from .constrained.tasks.loops import close_loops
from .dynamics.aba import forward_dynamics
from .dynamics.actuation.forces import actuator_forces
from .dynamics.actuation.servos import servos
from .dynamics.centroidal import center_of_mass, centroidal_momentum_matrix
from .dynamics.coriolis import coriolis_matrix
from .dynamics.crba import mass_matrix
from .dynamics.derivatives.aba import ForwardDynamicsDerivatives, forward_dynamics_derivatives
from .dynamics.derivatives.aba_products import (
    ForwardDynamicsVJP,
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_mass_matrix_product,
)
from .dynamics.derivatives.kinematics import (
    FrameAccelerationDerivatives,
    FrameVelocityDerivatives,
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)
from .dynamics.derivatives.mass_products import mass_matrix_product, mass_matrix_product_derivative
from .dynamics.derivatives.regressor import inertial_parameters, inverse_dynamics_regressor
from .dynamics.derivatives.rnea import InverseDynamicsDerivatives, inverse_dynamics_derivatives
from .dynamics.derivatives.rnea_products import (
    InverseDynamicsVJP,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
)
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
from .embedding.embedding import Embedding
from .embedding.split import embed
from .embedding.structure.clusters import Cluster
from .errors import (
    ActuationError,
    ConvergenceError,
    DataTypeError,
    DelassusError,
    DivergenceError,
    FileAccessError,
    FileFormatError,
    ImmutableError,
    MissingDependencyError,
    MissingFileError,
    ModelError,
    SettingError,
    ShapeError,
    SimulationError,
    UnknownNameError,
)
from .model.builder import ModelBuilder
from .model.configuration_derivatives import DifferenceDerivatives, IntegrateDerivatives
from .model.edit import attach, reduce
from .model.formats import ModelFileWarning, load
from .model.model import Model
from .model.parts.actuators import Actuator
from .model.parts.constraints import Closure, Connect, Coupling, Distance, Gear, Implicit, Weld
from .model.parts.contacts import ContactExclusion, ContactPair, Surface
from .model.parts.elements import Shape
from .model.parts.joints import (
    Cylindrical,
    Fixed,
    Free,
    Gimbal,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from .model.parts.keyframes import Keyframe
from .simulation import (
    Bounds,
    CompiledControl,
    Failure,
    Recording,
    Simulator,
    compiled_control,
)
from .spatial.inertia import Inertia
from .spatial.transform import Transform

__version__ = "0.1.0"

CONSTRAINED_METHODS = tuple(_METHODS)  # now that all layers have added theirs

__all__ = [
    "CONSTRAINED_METHODS",
    "DELASSUS_INVERSE_METHODS",
    "DELASSUS_METHODS",
    "ActuationError",
    "Actuator",
    "Baumgarte",
    "Bounds",
    "BranchedInverse",
    "CacheWarning",
    "Closure",
    "Cluster",
    "CompiledControl",
    "Connect",
    "ConstrainedDerivatives",
    "ConstrainedSolution",
    "ConstrainedTorques",
    "Constraints",
    "ContactExclusion",
    "ContactPair",
    "ConvergenceError",
    "Coupling",
    "Cylindrical",
    "DataTypeError",
    "DelassusError",
    "DelassusOperator",
    "DifferenceDerivatives",
    "Distance",
    "DivergenceError",
    "Embedding",
    "Failure",
    "FileAccessError",
    "FileFormatError",
    "Fixed",
    "ForwardDynamicsDerivatives",
    "ForwardDynamicsVJP",
    "FrameAccelerationDerivatives",
    "FrameVelocityDerivatives",
    "Free",
    "Gear",
    "Gimbal",
    "Helical",
    "ImmutableError",
    "Impact",
    "Implicit",
    "Inertia",
    "IntegrateDerivatives",
    "InverseDynamicsDerivatives",
    "InverseDynamicsVJP",
    "KKTFactorization",
    "Keyframe",
    "MissingDependencyError",
    "MissingFileError",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelFileWarning",
    "OperationCount",
    "Placements",
    "Planar",
    "Prismatic",
    "Recording",
    "Revolute",
    "SettingError",
    "Shape",
    "ShapeError",
    "SimulationError",
    "Simulator",
    "Spherical",
    "Surface",
    "Transform",
    "Translation",
    "Universal",
    "UnknownNameError",
    "Weld",
    "actuator_forces",
    "attach",
    "bias_forces",
    "center_of_mass",
    "centroidal_momentum_matrix",
    "close_loops",
    "compiled_control",
    "constrained_dynamics",
    "constrained_dynamics_derivatives",
    "constrained_inverse_dynamics",
    "contact",
    "coriolis_matrix",
    "delassus_inverse",
    "delassus_matrix",
    "embed",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_jvp",
    "forward_dynamics_vjp",
    "forward_kinematics",
    "frame_acceleration",
    "frame_acceleration_derivatives",
    "frame_jacobian",
    "frame_velocity",
    "frame_velocity_derivatives",
    "gravity_forces",
    "impact",
    "inertial_parameters",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_jvp",
    "inverse_dynamics_regressor",
    "inverse_dynamics_vjp",
    "inverse_kinematics",
    "inverse_mass_matrix",
    "inverse_mass_matrix_product",
    "kinetic_energy",
    "kkt_factorization",
    "load",
    "mass_matrix",
    "mass_matrix_product",
    "mass_matrix_product_derivative",
    "maximal",
    "mujoco",
    "operation_count",
    "passive_forces",
    "potential_energy",
    "reduce",
    "robots",
    "servos",
    "symbolic",
    "tree_factorization",
]
