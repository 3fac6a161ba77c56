"""Readers of model files. `load` finds out from a file's content which one it needs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ...checks import file_path, flag, items
from ...errors import DataTypeError, DelassusError, FileFormatError, ModelError
from ...spatial.transform import Transform
from ..edit import attach
from ..model import Model
from ..parts.names import closest
from .content import file_content
from .options import Options
from .report import ModelFileWarning, Report

__all__ = ["ModelFileWarning", "Report", "load", "read"]

_KNOWN = "<robot> (URDF), <sdf> (SDF), <mujoco> (MJCF) or a file that Model.save wrote"


def load(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    floating_base: bool = False,
    package_dirs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
) -> Model:
    """Read a model from a URDF, URDF+, SDF or MJCF file, or from one written by `Model.save`.

    Several files make one model: `load([trunk, leg, arm])`. The root link of each file but the
    first must have the name of a link of those before it, and is that link.

    The content decides on the format, not the name. `floating_base=True` lets the root link of a
    URDF or SDF file move by a Free joint called "root_joint", also if an SDF file holds it in the
    world; otherwise it is fixed where the file puts it. MJCF and saved files say themselves how
    their bodies move: there, asking for a floating base frees a root body that has no joint,
    changes nothing if the root is free already, and is an error otherwise.

    `package_dirs` are folders in which package:// and model:// references of meshes are looked
    up; meshes are not read and need not exist, except those of MJCF, which MuJoCo reads. What the
    file holds beyond what is used here is reported by a `ModelFileWarning`.
    """
    if isinstance(path, Iterable) and not isinstance(path, (str, bytes, os.PathLike)):
        first, *others = _paths(path)
    else:
        first, others = path, []
    model, report = read(first, floating_base=floating_base, package_dirs=package_dirs)
    report.issue(stacklevel=2)
    for other in others:
        part, report = read(other, package_dirs=package_dirs)
        model = _joined(model, part, report)
        report.issue(stacklevel=2)
    return model


def _paths(given: Iterable) -> list[Path]:
    paths = [file_path(path) for path in items("a list of files", given, object)]
    if not paths:
        raise DataTypeError("a model needs at least one file, got an empty list")
    return paths


def _joined(model: Model, part: Model, report: Report) -> Model:
    """A model with that of a further file, whose root link is one of the model's."""
    roots = [frame for frame in part.frames if frame.body < 0]
    shared = next((frame for frame in roots if frame.name in model.frame_names), None)
    if shared is None:
        name = roots[0].name if roots else part.body_names[0] if part.bodies else part.name
        raise FileFormatError(
            f"{report.file}: its root link {name!r} is no link of the files before it; join the "
            f"models by dl.attach, or rename it{closest(name, model.frame_names)}"
        )
    carrier = model.frame(shared.name).body
    if shared.inertia.mass and carrier >= 0 and model.bodies[carrier].inertia.mass:
        report.remark("links with mass in several files, which is added up", shared.name)
    placement = None if shared.placement.is_close(Transform()) else shared.placement.inverse()
    try:
        return attach(model, part, shared.name, placement)
    except ModelError as error:
        raise FileFormatError(f"{report.file}: {error} to dl.attach") from None


def read(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    package_dirs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
) -> tuple[Model, Report]:
    """As `load`, but what is worth a warning comes back as a report."""
    if isinstance(package_dirs, (str, os.PathLike)):
        package_dirs = (package_dirs,)
    folders = [file_path(folder) for folder in items("package_dirs", package_dirs, object)]
    options = Options(
        file_path(path),
        flag("floating_base", floating_base),
        tuple(folder.absolute() for folder in folders),
    )
    report = Report(options.path.name)
    content = file_content(options.path)
    try:
        return _read(content, options, report), report
    except FileFormatError:
        raise
    except DelassusError as error:
        if isinstance(error, ImportError):
            raise
        raise FileFormatError(f"{report.file}: {error}") from None


def _read(content: bytes, options: Options, report: Report) -> Model:
    # Readers are imported when they are needed: XML and MuJoCo take long to import.
    if content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        from .saved import read_saved

        return read_saved(content, options, report)
    from . import xml

    document = xml.parse(content, report)
    tag = document.root.tag
    if tag == "robot":
        from .urdf.reader import read_urdf

        return read_urdf(document, options)
    if tag == "sdf":
        from .sdf.reader import read_sdf

        return read_sdf(document, options)
    if tag in ("mujoco", "mujocoinclude"):
        from .mjcf.reader import read_mjcf

        return read_mjcf(document, options)
    raise FileFormatError(f"{report.file}: expected {_KNOWN}, got <{tag}>")
