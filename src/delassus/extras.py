"""Optional packages: by which command those that are missing are installed.

The table is that of `pyproject.toml`, which a test compares. It stands here because errors must
tell it wherever the package runs from, and because no index of pip's has the package itself.
"""

from __future__ import annotations

_ROBOTS, _CASADI = ("example-robot-data>=4.0.1",), ("casadi>=3.6",)
EXTRAS = {
    "casadi": _CASADI,
    "mjcf": ("mujoco>=3.1",),
    "robots": _ROBOTS,
    "fclib": ("h5py>=3.11",),
    "viewer": ("viser>=1.1", "trimesh>=4.4.1", "pycollada>=0.8"),
    "meshes": ("coal>=3.0.3",),
    "bench": (*_CASADI, *_ROBOTS, "pin>=4.0", "matplotlib>=3.8.4", "scipy>=1.13", "pyarrow>=16"),
}


def install_command(extra: str, options: str = "", only: str = "") -> str:
    """What to type to have the packages of an extra, or those whose names begin so."""
    names = [f'"{name}"' for name in EXTRAS[extra] if name.startswith(only)]
    return " ".join(["pip install", *filter(None, [options]), *names])
