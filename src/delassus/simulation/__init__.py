"""Mechanisms that move, with contact: worlds, steps of time, the simulator."""

from .simulator import Simulator
from .told.failures import Bounds, Failure
from .told.recording import Recording

__all__ = ["Bounds", "Failure", "Recording", "Simulator"]
