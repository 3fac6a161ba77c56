"""Optional packages, with an error that says how to install them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ... import MissingDependencyError
from ...extras import install_command


def package(module: str, purpose: str, extra: str = "bench") -> ModuleType:
    """A module of an optional package; `purpose` is such as "plots need Matplotlib"."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingDependencyError(
            f"{purpose}, which is not installed: {install_command(extra)}"
        ) from None


def pinocchio() -> ModuleType:
    """The library that ours is compared with."""
    return package("pinocchio", "the comparison needs Pinocchio")


def casadi() -> ModuleType:
    """The library that differentiates automatically."""
    return package("casadi", "the comparison needs CasADi", "casadi")


def scipy() -> ModuleType:
    """The library with LAPACK's functions and a sparse factorisation."""
    return package("scipy", "the comparison of factorisations needs SciPy")
