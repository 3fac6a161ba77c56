"""What a Simulator is asked for about contacts: materials, softness, ground, meshes."""

from __future__ import annotations

import warnings

from ...checks import flag, shown
from ...errors import DataTypeError, SettingError
from ...maximal import Softening, Stabilization
from ...model.model import Model
from ..collision.geometry import Geometry
from ..collision.materials import Material, SoftContacts
from ..collision.shapes import ground_plane, has_ground


def contact_request(
    friction: float,
    restitution: float,
    soft_contacts: bool | Softening,
    stabilization: Stabilization,
    dt: float,
) -> tuple[Material, SoftContacts | None]:
    """The material of surfaces that say nothing, and whether contacts can be soft."""
    if stabilization.soft_contacts is not None:
        raise SettingError("a Simulator is given soft_contacts itself, not in a Stabilization")
    usual = soft_contacts if isinstance(soft_contacts, Softening) else None
    if usual is None and not isinstance(soft_contacts, bool):
        raise DataTypeError(
            f"soft_contacts must be True, False or a Softening, got {shown(soft_contacts)}"
        )
    # As in MuJoCo, time constants are two steps at least.
    soft = SoftContacts(2.0 * dt, stabilization.penetration_margin) if soft_contacts else None
    return Material(friction, restitution, usual), soft


def what_collides(
    model: Model, ground: bool | None, material: Material, soft: SoftContacts | None, meshes: str
) -> Geometry:
    """The shapes of a model and the ground; those that do not collide are named by warnings.

    A file that describes its world and has no ground in it means none.
    """
    is_added = not model.describes_world if ground is None else flag("ground", ground)
    is_added = is_added and not has_ground(model)
    surroundings = [ground_plane(material, is_silent=True)] if is_added else []
    made = Geometry(model, surroundings, materials=material, soft=soft, meshes=meshes)
    for message in made.remarks():
        warnings.warn(message, UserWarning, stacklevel=3)
    return made
