"""What a caller may ask of a reader."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .meshes import MeshFinder

ROOT_JOINT = "root_joint"  # the name of a floating base's joint


@dataclass(frozen=True)
class Options:
    """A file's path and how to read it."""

    path: Path
    floating_base: bool = False
    package_dirs: tuple[Path, ...] = ()

    @property
    def meshes(self) -> MeshFinder:
        """Finds the files that the model refers to."""
        return MeshFinder(self.path.absolute().parent, self.package_dirs)
