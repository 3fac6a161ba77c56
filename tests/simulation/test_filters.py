"""Which geoms of an MJCF model touch, and how far apart they are, is as MuJoCo has it."""

import mujoco
import numpy as np
import pytest

import delassus as dl
from delassus.maximal.rows.contacts import CONTACT
from delassus.maximal.system import MaximalSystem
from delassus.mujoco import to_qpos
from delassus.simulation.collision.contacts import find_contacts
from delassus.simulation.collision.geometry import Geometry
from delassus.simulation.narrow.records import FEATURES

pytestmark = pytest.mark.uncompiled

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
