"""Contacts of all pairs of shapes at given places of bodies.

| here             | what it is                                                                   |
| ---------------- | ---------------------------------------------------------------------------- |
| world.shapes     | records of shapes, see `shapes.shape_type`                                   |
| world.candidates | records of pairs that can touch, see `pairs.pair_type`                       |
| bodies           | records BODY of all bodies, the world first                                  |
| contacts         | records CONTACT: normal from the first shape's body, a, to the second's, b;  |
|                  | the point is midway between the surfaces                                     |
| ids              | FEATURES times the number of the pair, plus the feature; in ascending order  |

Shapes that are far apart are sorted out by spheres around them, pair by pair: O(pairs). For many
shapes a sort along an axis can take the place of the loop in `collide`.
"""

from __future__ import annotations

from ...compile import function, kernel, layout, routine
from ...maximal.rows.bodies import BODY, POSE, frame_position, frame_rotation
from ...maximal.rows.contacts import CONTACT, contact_frame
from ...maximal.rows.softening import RIGID, SOFTENING
from ...spatial.quaternions import rotation
from ...spatial.vectors import dot, get3, get9, put3, put9, subtract
from ..narrow.hulls import DONE, hull_on_plane, keep_farthest
from ..narrow.planes import with_plane
from ..narrow.records import COLLISION, FEATURES, FOUND, PLACED, PLANE, center_of, column_of
from ..narrow.rounds import capsule_and_solid
from ..narrow.segments import capsules
from ..narrow.solids import solids
from .geometry import GeometryArrays
from .pairs import CAPSULE_AND_SOLID, CAPSULES, HULL_ON_PLANE, WITH_PLANE


@function
def place_shapes(world, bodies, placed):
    """Axes and centres of all shapes, in world axes."""
    for i in range(len(world.shapes)):
        shape = world.shapes[i]
        at, body = i * PLACED.size, shape.body
        put9(placed, at + PLACED.R, frame_rotation(bodies, body, get9(shape.rotation, 0)))
        put3(placed, at + PLACED.p, frame_position(bodies, body, get3(shape.position, 0)))


@function
def is_near(world, pair, margin, placed):
    """Whether the sphere around the second shape is within the margin of that of the first."""
    first, second = world.shapes[pair.first], world.shapes[pair.second]
    apart = subtract(center_of(placed, pair.second), center_of(placed, pair.first))
    if first.kind == PLANE:
        return dot(column_of(placed, pair.first, 2), apart) <= second.radius + margin
    reach = first.radius + second.radius + margin
    return dot(apart, apart) <= reach * reach


@routine
def find_points(world, pair, margin, work):
    """Points between the two shapes of a pair: the function of its family."""
    i, j = pair.first, pair.second
    if pair.family == WITH_PLANE:
        return with_plane(world, i, j, margin, work)
    if pair.family == HULL_ON_PLANE:
        return hull_on_plane(world, i, j, margin, work)
    if pair.family == CAPSULES:
        return capsules(world, i, j, margin, work)
    if pair.family == CAPSULE_AND_SOLID:
        return capsule_and_solid(world, i, j, margin, work)
    return solids(world, i, j, margin, work)


@function
def next_point(found, count):
    """The point with the lowest feature."""
    best = 0
    for k in range(1, count):
        if found[k * FOUND.size + FOUND.feature] < found[best * FOUND.size + FOUND.feature]:
            best = k
    return best


@function
def write_contact(world, pair, found, k, contacts, c):
    """Contact c from point k of a pair."""
    at, point = c * CONTACT.size, k * FOUND.size
    contacts[at + CONTACT.a] = 1.0 * world.shapes[pair.first].body
    contacts[at + CONTACT.b] = 1.0 * world.shapes[pair.second].body
    put3(contacts, at + CONTACT.point, get3(found, point + FOUND.point))
    put9(contacts, at + CONTACT.frame, contact_frame(get3(found, point + FOUND.normal)))
    contacts[at + CONTACT.distance] = found[point + FOUND.distance]
    contacts[at + CONTACT.friction] = pair.friction
    contacts[at + CONTACT.restitution] = pair.restitution
    for t in range(SOFTENING.size):
        contacts[at + CONTACT.softening + t] = pair.softening[t]


@routine
def collide(world, bodies, margin, contacts, ids, slots, work):
    """Contacts of all pairs that are closer than the margin, or their own if it is larger or soft.

    Returns how many there are.
    Only as many as there are slots are stored. If more are returned, the caller has to repeat the
    step with more slots. `work` has the parts of COLLISION.
    """
    count, found = 0, work.found
    place_shapes(world, bodies, work.placed)
    for p in range(len(world.candidates)):
        pair = world.candidates[p]
        is_soft = pair.softening[SOFTENING.law] != RIGID
        within = pair.margin if is_soft else max(margin, pair.margin)
        if is_near(world, pair, within, work.placed):
            n = find_points(world, pair, within, work)
            n, most = keep_farthest(found, n, work.placed, pair.second), n
            for _ in range(n):
                if count < slots:
                    k = next_point(found, most)
                    ids[count] = 1.0 * p * FEATURES + found[k * FOUND.size + FOUND.feature]
                    write_contact(world, pair, found, k, contacts, count)
                    found[k * FOUND.size + FOUND.feature] = DONE
                count += 1
    return count


@kernel(
    GeometryArrays,
    inputs={"poses": "n_bodies 7", "margin": "1 common"},
    outputs={"contacts": f"n_slots {CONTACT.size}", "ids": "n_slots", "count": "1"},
    work=layout(COLLISION, bodies=("n_places", BODY)),
    lanes=False,
    label="contacts at given poses",
)
def find_contacts(world, poses, margin, contacts, ids, count, work):
    """Contacts, their ids, and how many there are, which may be more than the slots"""
    put9(work.bodies, BODY.R, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    put3(work.bodies, BODY.r, (0.0, 0.0, 0.0))
    slots = world.counts[1]
    for i in range(world.counts[0]):
        pose, at = i * POSE.size, (i + 1) * BODY.size
        x = pose + POSE.quaternion
        R = rotation(poses[x], poses[x + 1], poses[x + 2], poses[x + 3])
        put9(work.bodies, at + BODY.R, R)
        put3(work.bodies, at + BODY.r, get3(poses, pose))
    found = collide(world, work.bodies, margin[0], contacts, ids, slots, work)
    count[0] = 1.0 * found
    for c in range(min(found, slots), slots):
        ids[c] = -1.0
        for t in range(CONTACT.size):
            contacts[c * CONTACT.size + t] = 0.0
