"""Mechanisms that move, with contact: worlds, steps of time, the simulator."""

from .recording import Recording
from .simulator import Simulator

__all__ = ["Recording", "Simulator"]
