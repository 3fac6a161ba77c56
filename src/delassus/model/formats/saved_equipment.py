"""Reading actuators, contacts and keyframes of a file that `Model.save` wrote."""

from __future__ import annotations

from ..builder import ModelBuilder
from ..parts.actuators import Actuator
from ..parts.contacts import SOFTNESS_SIZE, ContactExclusion, ContactPair, Surface
from ..parts.keyframes import Keyframe
from ..saving import SURFACE
from .json import Item

# How the entries of a part are read.
_TEXTS = ("name", "joint", "kind", "frame", "other", "shape")
_RANGES = ("control_range", "force_range")
_LISTS = ("gear", "q", "v", "u")
_INTEGERS = ("contype", "conaffinity", "priority", "condim")
_PARTS = {
    "actuators": (
        Actuator,
        ("name", "joint", "kind", "gear"),
        ("stiffness", "damping", "scale", "offset", "in_parent", *_RANGES),
    ),
    "contact_exclusions": (ContactExclusion, ("frame", "other"), ()),
    "contact_pairs": (
        ContactPair,
        ("shape", "other"),
        ("friction", "restitution", "softness", "margin"),
    ),
    "keyframes": (Keyframe, ("name", "q", "v", "u"), ("time",)),
}


def read_equipment(builder: ModelBuilder, root: Item) -> None:
    """Add the actuators, contacts and keyframes of a model; files of before have none."""
    adders = {
        "actuators": builder.add_actuator,
        "contact_exclusions": builder.add_contact_exclusion,
        "contact_pairs": builder.add_contact_pair,
        "keyframes": builder.add_keyframe,
    }
    for key, add in adders.items():
        kind, required, optional = _PARTS[key]
        for item in root[key].items() if root.has(key) else ():
            item.object(required, optional)
            given = {name: _value(item[name]) for name in item.names() if item.has(name)}
            with item.blamed():
                add(kind(**given))


def read_surface(item: Item) -> Surface:
    """The surface of a shape, whose entries stand among those of the shape."""
    return Surface(**{name: _value(item[name]) for name in SURFACE if item.has(name)})


def _value(item: Item):
    """An entry, read as its name asks for."""
    name = item.where.rpartition(".")[2]
    if name == "joint" and isinstance(item.value, list):  # the joints of a tendon
        return [joint.text() for joint in item.items()]
    if name in _TEXTS:
        return item.text()
    if name in _RANGES:
        return tuple(item.numbers(2, infinite=True))
    if name in _LISTS:
        return item.numbers()
    if name == "softness":
        return tuple(item.numbers(SOFTNESS_SIZE))
    if name == "in_parent":
        return item.flag()
    return item.integer() if name in _INTEGERS else item.number()
