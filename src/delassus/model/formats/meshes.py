"""Where the files are that a model refers to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PACKAGE_SCHEMES = ("package://", "model://")


@dataclass(frozen=True)
class MeshFinder:
    """Resolves references to files; one that is not found is kept as it is written.

    A reference to a package is looked for in the package directories (the folder that holds the
    package, or the package itself), then in the folders above the model's file.
    """

    directory: Path  # of the model's file
    package_dirs: Sequence[Path] = ()

    def find(self, reference: str) -> str:
        """The path of a reference such as package://robot/meshes/arm.dae."""
        for scheme in _PACKAGE_SCHEMES:
            if reference.startswith(scheme):
                return self._in_packages(reference.removeprefix(scheme)) or reference
        path = reference.removeprefix("file://")
        for folder in (self.directory, *self.package_dirs):
            found = os.path.join(folder, path)
            if os.path.exists(found):
                return os.path.normpath(found)
        return reference

    def _in_packages(self, path: str) -> str | None:
        package, _, rest = path.partition("/")
        for folder in (*self.package_dirs, *self._above()):
            candidates = [os.path.join(folder, path)]
            if os.path.basename(folder) == package:
                candidates.append(os.path.join(folder, rest))
            for found in candidates:
                if os.path.exists(found):
                    return os.path.normpath(found)
        return None

    def _above(self) -> list[Path]:
        return [self.directory, *self.directory.parents]
