"""Spheres against the ground z = 0."""

from __future__ import annotations

from ..compile import function
from ..maximal.rows.bodies import frame_position
from ..maximal.rows.contacts import CONTACT
from ..spatial.vectors import get3


@function
def collide(world, bodies, margin, contacts, ids, slots):
    """Contacts of spheres that are near the ground. Returns how many there are."""
    count = 0
    for k in range(len(world.spheres)):
        sphere = world.spheres[k]
        p = frame_position(bodies, sphere.body, get3(sphere.center, 0))
        distance = p[2] - sphere.radius
        if distance < margin:
            if count < slots:
                at = count * CONTACT.size
                for t in range(CONTACT.size):
                    contacts[at + t] = 0.0
                contacts[at + CONTACT.b] = 1.0 * sphere.body
                contacts[at + CONTACT.point] = p[0]
                contacts[at + CONTACT.point + 1] = p[1]
                contacts[at + CONTACT.point + 2] = 0.5 * distance
                for t in range(3):
                    contacts[at + CONTACT.frame + 4 * t] = 1.0
                contacts[at + CONTACT.distance] = distance
                contacts[at + CONTACT.friction] = sphere.friction
                contacts[at + CONTACT.restitution] = sphere.restitution
                ids[count] = 1.0 * k
            count += 1
    return count
