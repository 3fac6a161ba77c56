"""Damaged and hostile files either load or raise an error of this library; nothing else, soon."""

import json
import re
import warnings
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import delassus as dl
from delassus.model.formats import ModelFileWarning, load

URDF = """<?xml version="1.0"?>
<robot name="victim">
 <material name="red"><color rgba="1 0 0 1"/></material>
 <link name="base"/>
 <link name="thigh">
  <inertial><origin xyz="0 0 1" rpy="0.1 0 0"/><mass value="2"/>
   <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  <visual><geometry><mesh filename="package://a/b.stl"/></geometry><material name="red"/></visual>
 </link>
 <link name="shank"/><link name="rotor"/>
 <joint name="hip" type="revolute" independent="true"><parent link="base"/><child link="thigh"/>
  <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="2" velocity="3"/>
  <dynamics damping="1" friction="0.5"/></joint>
 <joint name="knee" type="prismatic"><parent link="thigh"/><child link="shank"/>
  <origin xyz="0 0 1"/><mimic joint="hip" multiplier="2"/></joint>
 <joint name="spin" type="continuous"><parent link="base"/><child link="rotor"/></joint>
 <loop name="rod" type="revolute"><predecessor link="shank"/><successor link="rotor"/></loop>
 <coupling><predecessor link="thigh"/><successor link="rotor"/><ratio value="6"/></coupling>
</robot>
"""

SDF = """<?xml version="1.0"?>
<sdf version="1.7"><model name="victim"><pose>0 0 1 0 0 0</pose>
 <link name="base"><inertial><mass>1</mass></inertial></link>
 <link name="arm"><pose relative_to="base">1 0 0 0 0 1</pose><inertial><mass>2</mass>
  <inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
 <link name="motor"><inertial><mass>1</mass></inertial></link>
 <frame name="tip" attached_to="arm"><pose>0 0 1 0 0 0</pose></frame>
 <joint name="elbow" type="revolute"><parent>base</parent><child>arm</child>
  <pose>0 0 .1 0 0 0</pose><axis><xyz expressed_in="base">0 1 0</xyz>
  <limit><lower>-1</lower><upper>inf</upper></limit></axis></joint>
 <joint name="spin" type="revolute"><parent>base</parent><child>motor</child>
  <axis><xyz expressed_in="base">0 1 0</xyz></axis></joint>
 <joint name="gears" type="gearbox"><parent>motor</parent><child>arm</child>
  <gearbox_reference_body>base</gearbox_reference_body><gearbox_ratio>0.1</gearbox_ratio>
  <axis><xyz expressed_in="base">0 1 0</xyz></axis>
  <axis2><xyz expressed_in="base">0 1 0</xyz></axis2></joint>
 <joint name="loop" type="ball"><parent>motor</parent><child>arm</child></joint>
</model></sdf>
"""


def saved() -> str:
    builder = dl.ModelBuilder("victim")
    builder.add_body("arm", joint=dl.Universal(), mass=1.0, lower=[-1, -np.inf])
    builder.add_body("screw", "arm", dl.Helical((0, 1, 0), 0.1), inertia=[1, 0, 0, 1, 0, 1])
    builder.add_frame("tip", "screw", [0, 0, 1])
    builder.add_constraint(dl.Connect("tip"))
    builder.add_constraint(dl.Coupling({"screw_joint": 1.0}, 0.5))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "victim.json"
        builder.build().save(path)
        return path.read_text()


MJCF = """<mujoco><worldbody><body name="a"><joint name="j" range="-1 1" pos="0 0 1"/>
 <joint name="k" type="slide"/><geom size="0.1"/><site name="s"/>
 <body name="b"><joint name="l" type="ball"/><geom type="box" size="1 1 1"/></body></body>
 </worldbody>
 <equality><connect body1="b" anchor="0 0 1"/><joint joint1="j" joint2="k"/></equality></mujoco>"""

FILES = {"urdf": URDF, "sdf": SDF, "json": saved()}
if find_spec("mujoco"):
    FILES["mjcf"] = MJCF


def survives(path) -> bool:
    """Whether a file loads; an exception that is not ours fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelFileWarning)
        try:
            load(path)
        except dl.DelassusError as error:
            assert str(error)
            return False
    return True


@pytest.mark.parametrize("kind", FILES)
def test_the_intact_file_loads(write, kind):
    assert survives(write(FILES[kind]))


@pytest.mark.parametrize("kind", FILES)
def test_truncated_files_are_errors(write, kind):
    content = FILES[kind].rstrip().encode()
    for size in range(0, len(content), 7):
        assert not survives(write(content[:size]))


@pytest.mark.parametrize("kind", FILES)
def test_random_bytes_in_a_file_do_no_harm(write, kind):
    rng = np.random.default_rng(1)
    original = np.frombuffer(FILES[kind].encode(), np.uint8)
    for _ in range(400):
        content = original.copy()
        where = rng.integers(0, len(content), rng.integers(1, 4))
        content[where] = rng.integers(0, 256, len(where))
        survives(write(content.tobytes()))


@pytest.mark.parametrize("kind", FILES)
def test_exchanged_words_do_no_harm(write, kind):
    """Numbers become names and names others: the tree breaks in every way."""
    rng = np.random.default_rng(2)
    parts = re.split(r"([\w.:/-]+)", FILES[kind])
    words = np.arange(1, len(parts), 2)
    loaded = 0
    for _ in range(400):
        changed = list(parts)
        for _ in range(rng.integers(1, 3)):
            changed[rng.choice(words)] = parts[rng.choice(words)]
        loaded += survives(write("".join(changed)))
    assert 0 < loaded < 400


@pytest.mark.parametrize("kind", FILES)
def test_removed_pieces_do_no_harm(write, kind):
    rng = np.random.default_rng(3)
    pieces = FILES[kind].replace("<", "\n<").replace(",", ",\n").splitlines(keepends=True)
    for _ in range(300):
        keep = rng.random(len(pieces)) > rng.uniform(0.0, 0.1)
        survives(write("".join(p for p, kept in zip(pieces, keep, strict=True) if kept)))


def entries(value, path=()):
    """Every place in a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from entries(value[key], (*path, key))


@pytest.mark.parametrize("wrong", [None, True, -1, 1e308, "x", [], {}, [1, 2, 3]])
def test_wrong_values_anywhere_in_a_saved_file_do_no_harm(write, wrong):
    for path in list(entries(json.loads(FILES["json"])))[1:]:
        record = json.loads(FILES["json"])
        target = record
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = wrong
        survives(write(json.dumps(record)))


def test_deep_json_is_an_error(write):
    assert not survives(write("{" + '"a":[' * 200_000))


def chain(count: int) -> str:
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in reversed(range(count))
    )
    return f'<robot name="chain">{links}{joints}</robot>'


def sdf_chain(count: int) -> str:
    inertial = "<inertial><mass>1</mass></inertial>"
    links = "".join(
        f'<link name="l{i}"><pose relative_to="{f"l{i - 1}" if i else "__model__"}">0 0 1 0 0 0'
        f"</pose>{inertial}</link>"
        for i in range(count + 1)
    )
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent>l{i}</parent><child>l{i + 1}</child>'
        "<axis><xyz>1 0 0</xyz></axis></joint>"
        for i in reversed(range(count))
    )
    return f'<sdf version="1.9"><model name="chain">{links}{joints}</model></sdf>'


@pytest.mark.parametrize("text", [chain(5000), sdf_chain(2000)])
def test_long_chains_load(read, text):
    """Readers do not recurse from link to link."""
    assert read(text).nv in (5000, 2000)
