"""Mechanisms that move, with contact: worlds, steps of time, the simulator."""

from .given.controls import CompiledControl, compiled_control
from .simulator import Simulator
from .told.failures import Bounds, Failure
from .told.recording import Recording

__all__ = [
    "Bounds",
    "CompiledControl",
    "Failure",
    "Recording",
    "Simulator",
    "compiled_control",
]
