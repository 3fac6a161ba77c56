"""Every attribute of MJCF is read, named in a warning, or changes nothing."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import delassus as dl
from delassus import mujoco as conversion
from delassus.model.formats import ModelFileWarning

from .cases import generated

mujoco = pytest.importorskip("mujoco", reason="MJCF is read by MuJoCo")

PAGE = Path(__file__).parents[2] / "docs" / "mjcf.md"
# Elements that the table has as a whole, with all below them.
WHOLE = (
    *("visual", "statistic", "sensor", "custom", "deformable", "flexcomp", "extension", "size"),
    *("texture", "material", "camera", "light", "skin"),
)


def schema():
    """Path and attributes of each element that the installed MuJoCo knows."""
    found, path = [], []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        start = re.match(r"( *)(\S+) \(.\)\s*(.*)", line)
        if start and len(start[1]) < 28:
            path = [*path[: len(start[1]) // 3], start[2]]
            found.append((tuple(path), start[3].split()))
        elif line.strip():
            found[-1][1].extend(line.split())
    return found


def element(path):
    """The name that an element has in the table."""
    for name in path:
        if name in WHOLE:
            return name
    name, parent = path[-1], path[-2] if len(path) > 1 else ""
    if name in ("plugin", "config", "instance"):
        return "plugin"
    is_below = parent in ("equality", "fixed", "spatial")
    if is_below or (parent == "default" and name in ("tendon", "equality")):
        return f"{parent}/{name}"
    return "body" if name == "(world)body" else name


def table():
    """What becomes of the attributes of each element; "all" stands for every one."""
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.replace("`", "").strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            for name in cells[0].split(", "):
                found.setdefault(name, []).extend((word, cells[1]) for word in cells[2].split())
    return found


def test_the_table_has_every_attribute_that_mujoco_knows():
    known = table()
    assert len(known) > 50
    for path, attributes in schema():
        for attribute in attributes:
            told = [what for word, what in known[element(path)] if word in (attribute, "all")]
            assert len(told) == 1, f"{attribute}= of <{element(path)}> is {told} in docs/mjcf.md"
            assert told[0] in ("read", "named", "no effect", "simulation")


FILE = """<mujoco><option gravity="0 0 -9.81" {option}><flag {flag}/></option>
<default><equality {equality}/></default>
<worldbody><geom type="plane" size="1 1 1" {geom}/>
 <body name="a" {body}><joint name="j" axis="0 1 0" range="-60 60" {joint}/>
  <geom name="g" size="0.1" mass="1" {geom}/>
  <body name="b" pos="0.4 0 0"><joint name="k" type="slide" axis="1 0 0" {joint}/>
   <geom name="h" type="box" size="0.1 0.2 0.1" mass="2" {geom}/>
   <body name="c" pos="0 0 0.3"><joint name="l" type="ball" {ball}/><geom size="0.1" mass="1"/>
 </body></body></body><body name="m" mocap="{mocap}"/></worldbody>
<contact><pair geom1="g" geom2="h" {pair}/></contact>
<tendon><fixed name="t" {fixed}><joint joint="j" coef="1"/>
 <joint joint="k" coef="2"/></fixed></tendon>
<equality><connect body1="c" anchor="0 0 0" {connect}/><weld body1="b" body2="a" {weld}/>
 <joint joint1="j" joint2="k" {relation}/><tendon tendon1="t" {tied}/></equality>
<actuator><motor name="u" joint="j" {motor}/>
 <position name="p" joint="k" kp="3" {position}/></actuator>
<keyframe><key name="home" {key}/></keyframe></mujoco>"""
PLACES = re.findall(r"\{(\w+)\}", FILE)

# Where an attribute that is named goes, with a number that changes the motion, and what names it.
NAMED = [
    *(("joint", f'{a}solref{b}=".007 0.9"', f"solref{b}= of <joint>")
      for a, b in (("", "limit"), ('frictionloss="0.1" ', "friction"))),
    *(("joint", f'{a}solimp{b}=".8 .9 .01"', f"solimp{b}= of <joint>")
      for a, b in (("", "limit"), ('frictionloss="0.1" ', "friction"))),
    ("joint", 'margin="0.05"', "margin= of <joint>"),
    ("joint", 'stiffness="2" springyield="0.3"', "springyield= of <joint>"),
    ("joint", 'actuatorgravcomp="true"', "actuatorgravcomp= of <joint>"),
    ("joint", 'damping="1 2"', "springs and dampers that are not linear"),
    ("ball", 'range="0 30"', "limits of ball joints"),
    ("geom", 'margin="0.03"', "the force of margin= of <geom>"),
    ("geom", 'gap="0.03"', "gap= of <geom>"),
    ("geom", 'solmix="3"', "solmix= of <geom>"),
    ("geom", 'condim="4"', "torsional and rolling friction of <geom>"),
    ("geom", 'adhesion="2"', "adhesion= of <geom>"),
    ("geom", 'surfacevel="1 0 0 0 0 0"', "surfacevel= of <geom>"),
    ("pair", 'margin="0.03"', "the force of margin= of <pair>"),
    ("pair", 'gap="0.03"', "gap= of <pair>"),
    ("pair", 'solreffriction="0.01 1"', "solreffriction= of <pair>"),
    ("pair", 'adhesion="2"', "adhesion= of <pair>"),
    ("pair", 'condim="6"', "torsional and rolling friction of <pair>"),
    ("equality", 'solref="0.01 1"', "solref= of <connect>"),
    ("connect", 'solref="0.01 1"', "solref= of <connect>"),
    ("connect", 'active="false"', "not active"),
    ("weld", 'solimp="0.8 0.9 0.01"', "solimp= of <weld>"),
    ("weld", 'torquescale="0.5"', "torquescale= of <weld>"),
    ("relation", 'solref="-100 -1"', "solref= of <joint> of <equality>"),
    ("tied", 'solref="0.04 1"', "solref= of <tendon> of <equality>"),
    *(("fixed", text, "of <tendon>") for text in (
        'stiffness="3"', 'damping="1"', 'frictionloss="1"', 'range="-1 1"', 'armature="0.1"')),
    ("motor", 'armature="0.1"', "armature and damping of actuators"),
    ("motor", 'damping="0.1"', "armature and damping of actuators"),
    ("motor", 'delay="0.1" nsample="100"', "actuators that are not represented"),
    ("position", 'timeconst="0.1"', "filters of controls"),
    ("option", 'density="1.2"', "the fluid of <option>"),
    ("option", 'viscosity="1.2"', "the fluid of <option>"),
    ("flag", 'override="enable"', "override= of <flag>"),
    ("flag", 'actuation="disable"', "actuation= of <flag>"),
    ("flag", 'filterparent="disable"', "filterparent= of <flag>"),
    ("mocap", "true", "mocap bodies"),
]  # fmt: skip


def read(folder, given):
    """The model of the file with attributes at places, and all that was told of it."""
    path = folder / "model.xml"
    usual = dict.fromkeys(PLACES, "") | {"mocap": "false"}
    path.write_text(FILE.format(**(usual | given)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = dl.load(path)
    assert all(warning.category is ModelFileWarning for warning in told)
    return path, model, " ".join(str(warning.message) for warning in told)


def test_the_file_without_them_is_read_without_a_word(tmp_path):
    assert read(tmp_path, {})[2] == ""


@pytest.mark.parametrize(("place", "text", "name"), NAMED)
def test_what_changes_the_motion_and_is_not_read_is_named(tmp_path, place, text, name):
    known = {attribute for _, attributes in schema() for attribute in attributes}
    if not known.issuperset(re.findall(r"(\w+)=", text)):
        pytest.skip("this MuJoCo does not know it")
    assert name in read(tmp_path, {place: text})[2]


def test_defaults_that_are_written_down_are_not_named(tmp_path):
    given = {
        "joint": 'solreflimit="0.02 1" margin="0" solimplimit="0.9 0.95 0.001"',
        "geom": 'margin="0" gap="0" solmix="1" condim="3"',
        "weld": 'solref="0.02 1" torquescale="1"',
    }
    assert read(tmp_path, given)[2] == ""


# Attributes that are read, with a range of their numbers.
READ = {
    "joint": {"damping": (0, 2), "stiffness": (0, 9), "armature": (0, 1), "springref": (-20, 20),
              "ref": (-30, 30), "pos": (-0.3, 0.3)},
    "geom": {"pos": (-0.3, 0.3), "euler": (-90, 90)},
    "body": {"pos": (-1, 1), "euler": (-90, 90), "gravcomp": (0, 0)},
    "ball": {"damping": (0, 2), "armature": (0, 1)},
    "motor": {"gear": (-5, 5), "ctrlrange": (0, 1)},
    "position": {"kv": (0, 3), "gear": (0.1, 5)},
}  # fmt: skip
SIZES = {"pos": 3, "euler": 3, "ctrlrange": 2}


@generated(12, 600)
def test_what_is_read_moves_as_in_mujoco(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    given = {}
    for place, attributes in READ.items():
        parts = []
        for name, (low, high) in attributes.items():
            if rng.random() < 0.5:
                numbers = np.sort(rng.uniform(low, high, SIZES.get(name, 1)))
                parts.append(f'{name}="{" ".join(map(str, numbers))}"')
        given[place] = " ".join(parts)
    given["flag"] = 'contact="disable" equality="disable" limit="disable"'
    path, model, told = read(tmp_path_factory.mktemp("mjcf"), given)
    assert told == ""
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    q = model.random_configuration(rng)
    v, u = rng.standard_normal(model.nv), rng.uniform(-1, 1, model.nu)
    data.qpos[:], data.qvel[:], data.ctrl[:] = (
        conversion.to_qpos(model, q), conversion.to_qvel(model, q, v), u)  # fmt: skip
    mujoco.mj_forward(theirs, data)
    forces = dl.passive_forces(model, q, v) + dl.actuator_forces(model, q, v, u)
    ours = dl.forward_dynamics(model, q, v, forces)
    scale = 1.0 + np.abs(data.qacc).max()
    np.testing.assert_allclose(ours, data.qacc, atol=1e-8 * scale)
