"""Contacts of a world as people read them: who touches whom, where, with which force."""

from __future__ import annotations

import numpy as np

from ..maximal.rows.contacts import CONTACT
from .collision.contacts import find_contacts
from .collision.geometry import Geometry
from .collision.outside import OUTSIDE, Outside
from .collision.shapes import body_name
from .narrow.records import FEATURES


def contact_type(geometry: Geometry) -> np.dtype:
    """The record of a contact: names of two bodies and of their shapes, and what is between them.

    The normal points from the first to the second. The force, in world axes, acts on the second.
    """
    names = [shape.name for shape in geometry.shapes]
    names += [body_name(geometry.model, k) for k in range(geometry.model.n_bodies + 1)]
    text = f"U{max(map(len, names))}"
    words = [(name, text) for name in ("first", "second", "first_shape", "second_shape")]
    vectors = [(name, float, (3,)) for name in ("point", "normal", "force")]
    return np.dtype([*words, *vectors, ("distance", float), ("friction", float)])


class Touching:
    """Finds the contacts of worlds at their present poses."""

    def __init__(self, geometry: Geometry, margin: float):
        self.geometry, self.margin = geometry, np.array([margin])
        self.type = contact_type(geometry)
        self.outside = Outside(geometry)

    def contacts(
        self, poses: np.ndarray, ids: np.ndarray, reactions: np.ndarray, dt: float
    ) -> np.ndarray:
        """Contacts at poses (n_bodies, 7), as an array of records.

        Forces are those of the last step, whose contacts had these ids and reactions (n, 3); of
        contacts that are new since then they are zero.
        """
        found, own, count = find_contacts(self.geometry, (poses, self.margin))
        if count[0] > self.geometry.slots:
            self.geometry = self.geometry.with_slots(int(count[0]))
            found, own, count = find_contacts(self.geometry, (poses, self.margin))
        n = int(count[0])
        more = self.outside.contacts(poses, self.margin[0])
        found = np.concatenate([found[:n], more[:, OUTSIDE.contact :]])
        own = np.concatenate([own[:n], more[:, OUTSIDE.id]]).astype(int)
        pairs = (*self.geometry.pairs, *self.geometry.outside)
        table = np.zeros(len(found), self.type)
        known = dict(zip(ids.astype(int).tolist(), reactions, strict=True))
        for record, x, number in zip(table, found, own, strict=True):
            pair = pairs[number // FEATURES]
            shapes = self.geometry.shapes[pair.first], self.geometry.shapes[pair.second]
            frame = x[CONTACT.frame : CONTACT.distance].reshape(3, 3)
            for side, shape in zip(("first", "second"), shapes, strict=True):
                record[side] = body_name(self.geometry.model, shape.body)
                record[f"{side}_shape"] = shape.name
            record["point"] = x[CONTACT.point : CONTACT.frame]
            record["normal"] = frame[:, 2]
            record["distance"], record["friction"] = x[CONTACT.distance], x[CONTACT.friction]
            if number in known:
                record["force"] = frame @ known[number] / dt
        return table
