"""Valid files of each kind, ways to damage them, and a process that reads what came of it.

`python damaging.py FOLDER KIND:FIRST:COUNT ...` writes and reads files damaged by so many seeds. It
says which one it begins, so it is known which file a crash or a hang is of.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
import zlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from lxml import etree

import delassus as dl
from delassus import contact
from delassus.benchmarks.suite.store import read_arrays, read_json, write_arrays, write_json
from delassus.simulation.told.metrics import METRIC
from delassus.simulation.told.recording import Recording, Sizes
from delassus.viewer.meshes import read_triangles, simplified

URDF = """<robot name="r"><material name="red"><color rgba="1 0 0 1"/></material><link name="base"/>
 <link name="arm"><inertial><origin xyz="0 0 1" rpy="0.1 0 0"/><mass value="2"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  <visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
  <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
 <link name="hand"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
  izz="1"/></inertial></link>
 <joint name="hip" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="2" velocity="3"/><dynamics damping="1"/></joint>
 <joint name="knee" type="prismatic"><parent link="arm"/><child link="hand"/>
  <origin xyz="0 0 1"/><mimic joint="hip" multiplier="2"/></joint></robot>"""

SDF = """<sdf version="1.7"><model name="r"><pose>0 0 1 0 0 0</pose>
 <link name="base"><inertial><mass>1</mass></inertial></link>
 <link name="arm"><pose relative_to="base">1 0 0 0 0 1</pose><inertial><mass>2</mass>
  <inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>
  <collision name="c"><geometry><box><size>1 2 3</size></box></geometry></collision></link>
 <frame name="tip" attached_to="arm"><pose>0 0 1 0 0 0</pose></frame>
 <joint name="elbow" type="revolute"><parent>base</parent><child>arm</child>
  <pose>0 0 .1 0 0 0</pose><axis><xyz expressed_in="base">0 1 0</xyz>
  <limit><lower>-1</lower><upper>inf</upper></limit></axis></joint></model></sdf>"""

MJCF = """<mujoco><compiler angle="degree"/><default><geom friction="0.7 0.1 0.1"/></default>
 <asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
 <hfield name="hills" nrow="2" ncol="3" size="1 1 1 0.1" elevation="0 1 0 0 1 0"/></asset>
 <worldbody><geom type="hfield" hfield="hills"/><body name="a"><freejoint/>
 <geom size="0.1"/><site name="s"/><replicate count="2" offset="1 0 0">
  <body><joint range="-10 10"/><geom type="box" size="1 1 1"/></body></replicate>
 <body name="b"><joint name="j" type="slide" damping="1"/><geom type="mesh" mesh="m"/></body>
 </body></worldbody><tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
 <equality><connect body1="b" anchor="0 0 1"/><joint joint1="j" polycoef="0 1 0 0 0"/></equality>
 <actuator><position joint="j" kp="3" ctrlrange="-1 1"/><motor tendon="t"/></actuator>
 <keyframe><key name="home" time="1"/></keyframe></mujoco>"""

OBJ = """o thing
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1.5e-1
f 1 3 2
f 1/1 2/2 4/3
f -4 -1 -2
f 2 3 4
"""

DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh><source id="p"><float_array id="pa" count="12">
  0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common><accessor source="#pa" count="4"
  stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z"
  type="float"/></accessor></technique_common></source><vertices id="v"><input
  semantic="POSITION" source="#p"/></vertices><triangles count="4"><input semantic="VERTEX"
  source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry>
 </library_geometries><library_visual_scenes><visual_scene id="s"><node id="n">
  <instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
 <scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def _problem() -> contact.Problem:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((7, 7))
    return contact.Problem(
        A @ A.T, rng.standard_normal(7), n_limit_rows=1, friction=[0.5, 0.4], compliance=0.1
    )


def _model(path: Path) -> None:
    b = dl.ModelBuilder("r")
    b.add_body("arm", joint=dl.Universal(), mass=1.0, lower=[-1, -np.inf])
    b.add_body("screw", "arm", dl.Helical((0, 1, 0), 0.1), inertia=[1, 0, 0, 1, 0, 1])
    b.add_frame("tip", "screw", [0, 0, 1])
    b.add_shape(dl.Shape("s", "arm", "collision", "sphere", size=[0.1]))
    b.add_constraint(dl.Connect("tip"))
    b.add_constraint(dl.Coupling({"screw_joint": 1.0}, 0.5))
    b.add_actuator(dl.Actuator("m", "screw_joint", control_range=(-1, 1)))
    b.build().save(path)


def _recording(path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = Sizes(3, 2, 1, 1, 1, 0, 0.01)
    made = Recording("r", sizes, ["a", "b"], np.zeros((2, 2)))
    widths = {"trace": 5, "metrics": METRIC.size, "sensed": 12 + 1 + 2}
    for start in (0, 4):
        arrays = {name: rng.standard_normal((2, 4, n)) for name, n in widths.items()}
        made._take({"time": 0.01 * np.arange(start, start + 4), **arrays})
    made.save(path)


def _fclib(path: Path) -> None:
    import h5py

    p = _problem()
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = [3]
        matrix = group.create_group("W")
        for name, n in (("m", 6), ("n", 6), ("nz", -1), ("nzmax", 36)):
            matrix[name] = [n]
        matrix["p"], matrix["i"] = np.arange(0, 37, 6), np.tile(np.arange(6), 6)
        matrix["x"] = p.delassus[:6, :6].ravel()
        group["vectors/q"], group["vectors/mu"] = p.free_velocity[:6], p.friction


def _stl(path: Path) -> None:
    record = np.zeros(4, [("n", "<f4", 3), ("c", "<f4", (3, 3)), ("m", "<u2")])
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    record["c"] = points[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    path.write_bytes(bytes(80) + np.uint32(4).tobytes() + record.tobytes())


def _read_recording(path: Path) -> None:
    rec = Recording.load(path)
    assert len(rec) == len(rec.time) == rec.q.shape[1] > 0
    _ = rec.v, rec.accelerations, rec.metrics, rec.reactions, rec.torques, rec.actuator_forces


def _read_mesh(path: Path) -> None:
    assert len(simplified(read_triangles(str(path)), 3)) <= 3


def _png(path: Path) -> None:
    """A picture of 4 by 4 grey points."""

    def block(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data)
        return len(data).to_bytes(4, "big") + name + data + check.to_bytes(4, "big")

    head = np.array([4, 4], ">u4").tobytes() + bytes([8, 0, 0, 0, 0])
    rows = zlib.compress(bytes([0, 1, 2, 3, 4] * 4))
    parts = block(b"IHDR", head), block(b"IDAT", rows), block(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def _in_mjcf(path: Path) -> None:
    """A mesh or a picture that MuJoCo reads."""
    asset, geom = f'<mesh name="m" file="{path}"/>', 'type="mesh" mesh="m"'
    if path.suffix == ".png":
        asset = f'<hfield name="m" size="1 1 1 1" file="{path}"/>'
        geom = 'type="hfield" hfield="m"'
    whole = path.with_name(f"{path.name}.xml")
    whole.write_text(
        f"<mujoco><asset>{asset}</asset><worldbody><geom {geom}/></worldbody></mujoco>"
    )
    dl.load(whole)


def _collide_with_mesh(path: Path) -> None:
    from delassus.simulation.collision.meshes import hull_vertices, mesh_triangles

    shape = dl.Shape("s", "world", "collision", "mesh", size=[1, 1, 1], mesh=str(path))
    assert len(hull_vertices(mesh_triangles(shape).points)) >= 4


# Of each kind: the ending, how a file is made, how it is read, and a module that this needs.
KINDS = {
    "urdf": (".urdf", lambda path: path.write_text(URDF), dl.load, None),
    "sdf": (".sdf", lambda path: path.write_text(SDF), dl.load, None),
    "mjcf": (".xml", lambda path: path.write_text(MJCF), dl.load, "mujoco"),
    "mjcf text": (".mjcf", lambda path: path.write_text(MJCF), dl.load, "mujoco"),
    "saved": (".json", _model, dl.load, None),
    "problem": (".npz", lambda path: _problem().save(path), contact.load, None),
    "fclib": (".h5", _fclib, contact.load, "h5py"),
    "recording": (".rec", _recording, _read_recording, None),
    "obj": (".obj", lambda path: path.write_text(OBJ), _read_mesh, None),
    "stl": (".stl", _stl, _read_mesh, None),
    "dae": (".dae", lambda path: path.write_text(DAE), _read_mesh, "collada"),
    "obj hull": (".obj", lambda path: path.write_text(OBJ), _collide_with_mesh, "coal"),
    "stl hull": (".stl", _stl, _collide_with_mesh, "coal"),
    "dae hull": (".dae", lambda path: path.write_text(DAE), _collide_with_mesh, "coal"),
    "obj in mjcf": (".obj", lambda path: path.write_text(OBJ), _in_mjcf, "mujoco"),
    "stl in mjcf": (".stl", _stl, _in_mjcf, "mujoco"),
    "png in mjcf": (".png", _png, _in_mjcf, "mujoco"),
    "arrays": (".npz", lambda path: write_arrays(path, {"a": np.eye(3)}), read_arrays, None),
    "index": (".json", lambda path: write_json(path, [{"number": 1}]),
              lambda path: read_json(path, list), None),
}  # fmt: skip
KINDS = {kind: what for kind, what in KINDS.items() if what[3] is None or find_spec(what[3])}

_NUMBER = re.compile(rb"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?(?![\w.])")
_ODD = b"nan inf -inf 1e308 -1e308 -1 0 1e-320 99999999999 1e9 2147483648 -0.0 0x7 1e 1,5".split()
_BITS = [np.array(x, "<f8").tobytes() for x in (np.nan, np.inf, 1e308, -1.0)]
_BITS += [np.array(x, "<i8").tobytes() for x in (-1, 2**62, 2**31, 10**12)]


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """A file's bytes after one to three accidents."""
    for _ in range(rng.integers(1, 4)):
        content = _ACCIDENTS[rng.integers(len(_ACCIDENTS))](content, rng)
    return content


def _flip(content: bytes, rng) -> bytes:
    changed = bytearray(content)
    for at in rng.integers(0, max(1, len(content)), rng.integers(1, 6)) if content else ():
        changed[at] = rng.integers(256)
    return bytes(changed)


def _cut(content: bytes, rng) -> bytes:
    return content[: rng.integers(0, len(content) + 1)]


def _repeat(content: bytes, rng) -> bytes:
    start, end = np.sort(rng.integers(0, len(content) + 1, 2))
    return content[:end] + content[start:end] * rng.integers(1, 4) + content[end:]


def _drop(content: bytes, rng) -> bytes:
    start = rng.integers(0, len(content) + 1)
    return content[:start] + content[start + rng.integers(1, 64) :]


def _put_bits(content: bytes, rng) -> bytes:
    at = rng.integers(0, max(1, len(content) - 8))
    return content[:at] + _BITS[rng.integers(len(_BITS))] + content[at + 8 :]


def _put_number(content: bytes, rng) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    chosen = found[rng.integers(len(found))]
    return content[: chosen.start()] + _ODD[rng.integers(len(_ODD))] + content[chosen.end() :]


def _move_element(content: bytes, rng) -> bytes:
    """An element of XML is dropped, doubled, or put into another, itself included."""
    try:
        root = etree.fromstring(content)
    except (etree.XMLSyntaxError, ValueError):
        return _flip(content, rng)
    every = [*root.iter(etree.Element)]
    one, other = (every[rng.integers(len(every))] for _ in range(2))
    copied = etree.fromstring(etree.tostring(one, with_tail=False))
    if rng.random() < 0.4 and one is not root:
        one.getparent().remove(one)
    elif rng.random() < 0.5:
        for _ in range(rng.integers(1, 4)):
            other.append(etree.fromstring(etree.tostring(copied)))
    else:
        (other if other.getparent() is None else other.getparent()).append(copied)
    return etree.tostring(root)


_ACCIDENTS = (_flip, _cut, _repeat, _drop, _put_bits, _put_number, _put_number, _move_element)


def read_one(kind: str, seed: int, folder: Path) -> str:
    """What is wrong with how a damaged file is read; nothing, mostly."""
    ending, make, read, _ = KINDS[kind]
    valid, path = folder / f"valid{ending}", folder / f"damaged{ending}"
    make(valid)
    path.write_bytes(damaged(valid.read_bytes(), np.random.default_rng(seed)))
    try:
        read(path)
    except dl.DelassusError as error:
        # A mesh is named by who asks for it.
        is_named = path.name in str(error) or read is _read_mesh
        return "" if is_named else f"an error that does not name the file: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main(folder: str, *jobs: str) -> None:
    """Read damaged files, and print a line of JSON before and after each."""
    warnings.simplefilter("ignore")
    for job in jobs:
        kind, first, count = job.split(":")
        for seed in range(int(first), int(first) + int(count)):
            print(json.dumps([kind, seed, None]), flush=True)
            print(json.dumps([kind, seed, read_one(kind, seed, Path(folder))]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
