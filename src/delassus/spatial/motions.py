"""Products of motions (angular, linear) with motions and with forces (moment, force).

All are taken about one common point, as pairs of three-vectors (Featherstone's x and x*).
"""

from __future__ import annotations

from ..compile import function
from .vectors import add_cross, cross


@function
def cross_motion(omega, u, angular, linear):
    """(omega, u) x (angular, linear), of two motions"""
    return cross(omega, angular), add_cross(cross(omega, linear), u, angular)


@function
def cross_force(omega, u, n, f):
    """(omega, u) x* (n, f), of a motion and a force"""
    return add_cross(cross(omega, n), u, f), cross(omega, f)


@function
def add_cross_motion(x, y, omega, u, angular, linear):
    """(x, y) + (omega, u) x (angular, linear), of motions"""
    return add_cross(x, omega, angular), add_cross(add_cross(y, omega, linear), u, angular)


@function
def add_cross_force(x, y, omega, u, n, f):
    """(x, y) + (omega, u) x* (n, f), of forces and a motion"""
    return add_cross(add_cross(x, omega, n), u, f), add_cross(y, omega, f)
