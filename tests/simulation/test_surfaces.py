"""Surfaces of shapes: what touches what, with which friction, from which distance on."""

from dataclasses import replace

import pytest

import delassus as dl
from delassus.maximal.settings import Softening
from delassus.simulation.collision.geometry import Geometry
from delassus.simulation.collision.materials import Material, softening_of
from delassus.simulation.collision.shapes import ground_plane
from simulation.scenes import FLAT, bodies, touches

pytestmark = pytest.mark.uncompiled

SOFTNESS = (0.03, 0.8, 0.8, 0.9, 0.002, 0.4, 3.0)


def balls(**surfaces):
    """Free balls by name, with these surfaces."""
    model = bodies(*("sphere" for _ in surfaces))
    named = zip(model.shapes, surfaces.items(), strict=True)
    return model.replace(
        shapes=[replace(shape, name=name, surface=own) for shape, (name, own) in named]
    )


def pairs(geometry):
    """Pairs by the names of their shapes, in the order of the alphabet."""
    return {
        "".join(sorted(geometry.shapes[k].name for k in pair[:2])): pair for pair in geometry.pairs
    }


def test_shapes_whose_masks_share_no_bit_do_not_touch():
    model = balls(a=dl.Surface(1, 0), b=dl.Surface(0, 1), c=dl.Surface(2, 2))
    assert pairs(Geometry(model)).keys() == {"ab"}
    assert pairs(Geometry(model, [ground_plane()])).keys() == {
        "ab",
        "aground",
        "bground",
        "cground",
    }


def test_priority_decides_and_a_declared_pair_goes_before():
    model = balls(
        a=dl.Surface(friction=0.2, margin=0.01, priority=1),
        b=dl.Surface(friction=0.9, restitution=0.5, margin=0.02),
        c=dl.Surface(friction=0.5),
    ).replace(contact_pairs=[dl.ContactPair("b", "c", friction=0.0, margin=0.5)])
    found = pairs(Geometry(model, [ground_plane(Material(0.3))], materials=Material(0.1, 0.4)))
    assert found["ab"].material == Material(0.2, 0.4)
    assert found["ab"].margin == pytest.approx(0.03)
    assert found["ac"].material == Material(0.2, 0.4)
    assert (found["bc"].material, found["bc"].margin) == (Material(0.0, 0.5), 0.5)
    assert found["bground"].material == Material(0.9, 0.5)  # the larger
    assert found["cground"].material == Material(0.5, 0.4)


def test_margins_of_shapes_add_up():
    geometry = Geometry(balls(a=dl.Surface(margin=0.1), b=dl.Surface(margin=0.2)))
    poses = [[0, 0, 0, *FLAT], [0, 0, 0.26 + 0.29, *FLAT]]
    assert len(touches(geometry, poses)) == 1
    poses[1][2] += 0.02
    assert touches(geometry, poses) == []


def test_softness_counts_if_it_is_asked_for():
    model = balls(a=dl.Surface(softness=SOFTNESS), b=dl.Surface())
    assert Geometry(model).pairs[0].material.softening is None
    soft = Geometry(model, soft=True).pairs[0].material.softening
    assert soft == Softening(0.4, 3.0, 0.002, 0.8, 0.9, 0.03, 0.8)


def test_solref_of_stiffness_and_damping_is_that_of_a_time_and_a_ratio():
    direct = softening_of((-1.0 / (0.03 * 0.8) ** 2, -2.0 / 0.03, *SOFTNESS[2:]))
    assert direct.time_constant == pytest.approx(0.03)
    assert direct.damping_ratio == pytest.approx(0.8)
    with pytest.raises(dl.SettingError, match="solref must be two"):
        softening_of((0.02, -1.0, *SOFTNESS[2:]))


def test_a_model_with_a_plane_of_its_own_gets_no_other_ground():
    model = balls(a=dl.Surface())
    floor = dl.Shape("floor", "world", "collision", "plane", [0.0, 0.0, -0.5])
    sim = dl.Simulator(model.replace(shapes=[*model.shapes, floor]))
    assert pairs(sim._geometry).keys() == {"afloor"}
