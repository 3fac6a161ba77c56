"""The exceptions of the library: each is also the built-in one that fits."""

from typing import Any


class DelassusError(Exception):
    """Base of all errors that the library raises on purpose."""


class ShapeError(DelassusError, ValueError):
    """An array does not have the shape that the model asks for."""


class DataTypeError(DelassusError, TypeError):
    """An argument is not of a type that can be used."""


class UnknownNameError(DelassusError, KeyError):
    """A joint, body, frame or method of this name does not exist."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0]) if self.args else ""


class ModelError(DelassusError, ValueError):
    """A model cannot be built from what was given."""


class FileFormatError(ModelError):
    """A file cannot be read as a model; the message names the file and the element."""


class MissingDependencyError(DelassusError, ImportError):
    """An optional dependency is needed for this and is not installed."""


class SettingError(DelassusError, ValueError):
    """A setting, such as a tolerance or an environment variable, has an unusable value."""


class FileAccessError(DelassusError, OSError):
    """A file cannot be written."""


class MissingFileError(DelassusError, FileNotFoundError):
    """A file does not exist."""


class ConvergenceError(DelassusError, RuntimeError):
    """Iterations ended without a solution: `q` is the best that was found, `error` what remains."""

    def __init__(self, message: str, q: Any = None, error: Any = None) -> None:
        super().__init__(message)
        self.q, self.error = q, error


class SimulationError(DelassusError, RuntimeError):
    """A simulated world went wrong: `failures` say what, when and where; `recording` until when."""

    def __init__(self, message: str, failures: Any = (), recording: Any = None) -> None:
        super().__init__(message)
        self.failures, self.recording = failures, recording


class DivergenceError(SimulationError):
    """Velocities of a simulated world left all bounds; it cannot go on."""


class ImmutableError(DelassusError, AttributeError):
    """An attribute of something that does not change was to be changed."""


class ActuationError(DelassusError, ValueError):
    """A motion asks for forces that neither actuators nor constraints can give."""
