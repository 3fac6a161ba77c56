"""What touches what, with which friction, from which distance on; and as MuJoCo has it."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import delassus as dl
from delassus.maximal.rows.contacts import CONTACT
from delassus.maximal.settings import Softening
from delassus.maximal.system import MaximalSystem
from delassus.mujoco import to_qpos
from delassus.simulation.collision.contacts import find_contacts
from delassus.simulation.collision.geometry import Geometry
from delassus.simulation.collision.materials import Material, SoftContacts, softening_of
from delassus.simulation.collision.shapes import ground_plane
from delassus.simulation.narrow.records import FEATURES
from simulation.collision.scenes import FLAT, bodies, touches

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


def test_the_ground_that_a_simulator_adds_says_nothing_of_its_own():
    own = dl.Surface(friction=0.2, restitution=0.3)
    model = balls(a=own, b=dl.Surface(), c=dl.Surface(priority=-1))
    sim = dl.Simulator(model, friction=0.9, restitution=0.6)
    found = pairs(sim._worlds.geometry)
    assert found["aground"].material == Material(0.2, 0.3)
    assert found["bground"].material == found["cground"].material == Material(0.9, 0.6)
    assert found["ab"].material == Material(0.9, 0.6)


def test_condim_1_is_without_friction_unless_the_other_shape_has_some():
    smooth = dl.Surface(friction=0.7, condim=1)
    model = balls(a=smooth, b=smooth, c=dl.Surface(friction=0.5))
    found = pairs(Geometry(model, [ground_plane(Material(0.3), is_silent=True)]))
    assert found["ab"].material.friction == 0.0
    assert found["ac"].material.friction == 0.7  # the larger coefficient, as in MuJoCo
    assert found["aground"].material.friction == 0.0
    assert found["cground"].material.friction == 0.5
    first = balls(a=dl.Surface(friction=0.7, condim=1, priority=1), c=dl.Surface(friction=0.5))
    assert pairs(Geometry(first))["ac"].material.friction == 0.0


def test_margins_of_shapes_add_up():
    geometry = Geometry(balls(a=dl.Surface(margin=0.1), b=dl.Surface(margin=0.2)))
    poses = [[0, 0, 0, *FLAT], [0, 0, 0.26 + 0.29, *FLAT]]
    assert len(touches(geometry, poses)) == 1
    poses[1][2] += 0.02
    assert touches(geometry, poses) == []


def test_softness_counts_if_it_is_asked_for():
    model = balls(a=dl.Surface(softness=SOFTNESS), b=dl.Surface())
    assert Geometry(model).pairs[0].material.softening is None
    soft = Geometry(model, soft=SoftContacts()).pairs[0].material.softening
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
    assert pairs(sim._worlds.geometry).keys() == {"afloor"}


# --- MuJoCo ---------------------------------------------------------------------------------------

# A base with masks of its own, hips of three axes, a welded foot, a static post with a door on it.
ROBOT = """<mujoco><default><geom mass="1"/></default><worldbody>
 <geom name="floor" type="plane" size="5 5 1" margin="0.03"/>
 <geom name="wall" type="box" size="0.05 1 0.5" pos="0.9 0 0.3"/>
 <body name="post" pos="0 0.8 0.3"><geom name="post" type="cylinder" size="0.05 0.3"/>
  <body name="door"><joint axis="0 0 1"/><geom name="door" type="box" size="0.2 0.02 0.2"
   pos="0.2 0 0"/></body></body>
 <body name="trunk" pos="0 0 0.6"><freejoint/><geom name="trunk" type="box" size="0.2 0.15 0.1"/>
  <body name="left" pos="0 0.1 -0.1"><joint axis="1 0 0"/><joint axis="0 1 0"/><joint axis="0 0 1"/>
   <geom name="left" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
   <body name="left_foot" pos="0 0 -0.3"><geom name="left_foot" type="sphere" size="0.08"/>
    <body name="left_toe" pos="0.1 0 0"><joint axis="0 1 0"/>
     <geom name="left_toe" type="capsule" fromto="0 0 0 0.1 0 0" size="0.04"/></body></body></body>
  <body name="right" pos="0 -0.1 -0.1"><joint axis="1 0 0"/>
   <geom name="right" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05" contype="2"/>
   <geom name="ghost" type="sphere" size="0.2" contype="0" conaffinity="2"/>
   <body name="right_foot" pos="0 0 -0.3"><joint axis="0 1 0"/>
    <geom name="right_foot" type="box" size="0.1 0.04 0.03" margin="0.02"/></body></body></body>
 </worldbody><contact><exclude body1="left_foot" body2="right_foot"/>
 <exclude body1="left_toe" body2="right"/>
 <pair geom1="trunk" geom2="right" margin="0.05"/><pair geom1="ghost" geom2="left"/></contact>
</mujoco>"""
# Spheres and capsules: the distances of both are exact.
EXACT = {"left", "left_foot", "left_toe", "right", "ghost"}


@pytest.fixture(scope="module")
def robots(tmp_path_factory):
    path = tmp_path_factory.mktemp("mjcf") / "robot.xml"
    path.write_text(ROBOT)
    return dl.load(path), mujoco.MjModel.from_xml_path(str(path))


def closest(peer, data):
    """The least distance of the contacts of each pair of geoms, as MuJoCo has them."""
    found = {}
    for contact in data.contact:
        key = frozenset(peer.geom(g).name for g in contact.geom)
        found[key] = min(found.get(key, np.inf), contact.dist)
    return found


def test_geoms_touch_as_in_mujoco_and_are_as_far_apart(robots):
    model, peer = robots
    data, system = mujoco.MjData(peer), MaximalSystem(model)
    geometry, rng, seen = Geometry(model, slots=200), np.random.default_rng(0), set()
    for _ in range(60):
        q = model.random_configuration(rng)
        free = model.joint(model.body("trunk").joint.name).q
        q[free.start : free.start + 3] = rng.uniform([-0.3, -0.3, 0.2], [0.7, 0.7, 0.8])
        data.qpos[:] = to_qpos(model, q)
        mujoco.mj_fwdPosition(peer, data)
        poses, _ = system.state(q[None], np.zeros((1, model.nv)))
        found, ids, count = find_contacts(geometry, (poses[0], np.array([0.0])))
        own = {}
        for c, i in zip(found[: int(count[0])], ids, strict=False):
            pair = geometry.pairs[int(i) // FEATURES]
            key = frozenset(geometry.shapes[k].name for k in pair[:2])
            own[key] = min(own.get(key, np.inf), c[CONTACT.distance])
        theirs = closest(peer, data)
        # MuJoCo misses some capsules whose axis pierces a box.
        assert {k for k in own.keys() ^ theirs.keys() if own.get(k, 0.0) > -0.05} == set()
        seen |= own.keys()
        for key in own:
            if key <= EXACT or "floor" in key:
                assert own[key] == pytest.approx(theirs[key], abs=1e-6)
    assert {frozenset(("trunk", "right")), frozenset(("ghost", "left"))} <= seen
    assert frozenset(("post", "door")) in seen  # the world as a parent is not left out
