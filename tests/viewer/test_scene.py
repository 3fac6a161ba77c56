"""What is drawn of a model."""

import numpy as np

import delassus as dl
from delassus.viewer.scene import Scene

GREEN, CLEAR = (0.1, 0.8, 0.2, 1.0), (0.1, 0.8, 0.2, 0.4)


def model(*shapes):
    b = dl.ModelBuilder("drawn")
    b.add_body("arm", mass=1.0, inertia=np.eye(3))
    for number, (frame, role, color) in enumerate(shapes):
        b.add_shape(dl.Shape(f"s{number}", frame, role, "sphere", size=[0.1], color=color))
    return b.build()


def drawn(*shapes):
    things = Scene.of(model(*shapes)).things
    return sorted((t.place, t.kind, t.color) for t in things if t.group in ("bodies", "covers"))


def test_shapes_that_collide_and_have_a_colour_are_seen():
    """A geom of MJCF is both what collides and what is seen."""
    assert drawn(("arm", "collision", GREEN)) == [(0, "sphere", GREEN)]
    assert drawn(("arm", "collision", CLEAR)) == [(0, "sphere", CLEAR)]
    world = drawn(("world", "collision", GREEN), ("arm", "visual", CLEAR))
    assert world == [(-1, "sphere", GREEN), (0, "sphere", CLEAR)]


def test_visual_shapes_go_before_those_that_collide():
    assert drawn(("arm", "collision", GREEN), ("arm", "visual", CLEAR)) == [(0, "sphere", CLEAR)]


def test_bodies_without_a_shape_to_look_at_are_boxes_of_their_inertia():
    assert [(place, kind) for place, kind, _ in drawn()] == [(0, "box")]
    assert [(p, kind) for p, kind, _ in drawn(("arm", "collision", None))] == [(0, "box")]
