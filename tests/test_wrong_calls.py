"""What is wrong in a call is said by an error of the library, before any work is done."""

import os
import socket
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

import delassus as dl

MODEL = dl.robots.load("panda")
FRAME = MODEL.frame_names[-1]
CONSTRAINTS = dl.Constraints(MODEL, [dl.Connect(FRAME)])
Q, ZERO = MODEL.neutral(), np.zeros(MODEL.nv)
SOLVE = (MODEL, Q, ZERO, ZERO, CONSTRAINTS)

WRONG = {
    "a joint named by a list": lambda: MODEL.joint(["panda_joint1"]),
    "a body named by a mapping": lambda: MODEL.body({}),
    "a frame named by a number": lambda: MODEL.frame_index(3),
    "frames named by a list": lambda: dl.frame_jacobian(MODEL, Q, [FRAME]),
    "a reference that is a list": lambda: dl.frame_jacobian(MODEL, Q, FRAME, reference=["local"]),
    "constraints that are a number": lambda: dl.Constraints(MODEL, 3),
    "constraints for a model": lambda: dl.forward_dynamics(CONSTRAINTS, Q, ZERO, ZERO),
    "constraints for a model in passing": lambda: dl.passive_forces(CONSTRAINTS, Q, ZERO),
    "a method that is a list": lambda: dl.constrained_dynamics(*SOLVE, method=["caba"]),
    "a limit that is a list": lambda: dl.constrained_dynamics(*SOLVE, max_iterations=[2]),
    "a tolerance that is a list": lambda: dl.constrained_dynamics(*SOLVE, tolerance=[1e-6]),
    "a list of coefficients": lambda: dl.Coupling([1.0, 2.0]),
    "coefficients of numbers": lambda: dl.Coupling({1: 2.0}),
    "a gear between numbers": lambda: dl.Gear(1, 2, 3.0),
    "a closure of numbers": lambda: dl.Closure(dl.Revolute(), 1, 2),
    "a distance of numbers": lambda: dl.Distance(1, 2, 0.5),
    "fixed joints that are a number": lambda: dl.close_loops(MODEL, Q, CONSTRAINTS, fixed=3),
    "fixed joints that are numbers": lambda: dl.close_loops(MODEL, Q, CONSTRAINTS, fixed=[3]),
    "actuated joints that are a number": lambda: dl.constrained_inverse_dynamics(
        MODEL, Q, ZERO, ZERO, CONSTRAINTS, actuated=3
    ),
    "symbols of a number": lambda: dl.symbolic(3, MODEL),
    "a model named by a number": lambda: dl.ModelBuilder(3),
    "a masked array": lambda: dl.mass_matrix(MODEL, np.ma.array(Q, mask=Q > 0.0)),
    "nothing for a state": lambda: dl.mass_matrix(MODEL, None),
    "a device for a file": lambda: dl.load(os.devnull),
    "a folder for a file": lambda: dl.load(os.path.dirname(__file__)),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_are_the_librarys_own(what):
    for _ in range(2):
        with pytest.raises(dl.DelassusError):
            WRONG[what]()


# Functions that look at arguments before a kernel does, with arguments that fit. The others are in
# tests/dynamics/test_input.py.
ROW = {"model": MODEL, "q": Q, "constraints": CONSTRAINTS}
BODY = {
    "name": "b", "parent": "world", "joint": dl.Revolute(), "placement": [0, 0, 1], "mass": 1.0,
    "com": [0, 0, 1], "inertia": np.eye(3), "joint_name": "j", "lower": -1.0, "upper": [1.0],
    "velocity_limit": 1.0, "effort_limit": 1.0, "damping": 0.0, "friction": 0.0, "armature": 0.0,
    "stiffness": 0.0, "rest": 0.0, "independent": True, "origin": np.eye(4), "named_frame": True,
    "gravity_compensation": 0.5,
}  # fmt: skip
SHAPE = {
    "name": "s", "frame": FRAME, "role": "visual", "kind": "mesh", "placement": dl.Transform(),
    "size": (1, 1, 1), "mesh": "a.stl", "color": (1, 1, 1, 1), "surface": dl.Surface(),
}  # fmt: skip
SURFACE = {
    "contype": 1, "conaffinity": 1, "friction": 0.5, "restitution": 0.5, "softness": [1.0] * 7,
    "margin": 0.0, "priority": 0,
}  # fmt: skip
PLANE = dl.Shape("s", "world", "visual", "plane")
FRAMED = {
    "model": MODEL, "q": Q, "v": ZERO, "a": ZERO, "frame": FRAME, "reference": "local",
    "classical": False,
}  # fmt: skip
SOLVED = {
    **ROW, "v": ZERO, "tau": ZERO, "method": "caba", "damping": 1e-6, "tolerance": 1e-9,
    "max_iterations": 5, "desired": 0.0, "warm_start": 0.0,
}  # fmt: skip
CALLS = {
    "Revolute": (dl.Revolute, {"axis": [0, 0, 1]}),
    "Helical": (dl.Helical, {"axis": [0, 0, 1], "pitch": 0.1}),
    "Universal": (dl.Universal, {"first": [1, 0, 0], "second": [0, 1, 0]}),
    "displacement": (dl.Free().displacement, {"q": [0, 0, 0, 0, 0, 0, 1]}),
    "Transform": (dl.Transform, {"rotation": np.eye(3), "translation": np.zeros(3)}),
    "Transform.of": (dl.Transform.of, {"value": np.eye(4)}),
    "Transform.from_rpy": (dl.Transform.from_rpy, {"xyz": [0, 0, 1], "rpy": [0, 0, 1]}),
    "Transform @": (lambda other: dl.Transform() @ other, {"other": dl.Transform()}),
    "is_close": (dl.Transform().is_close, {"other": dl.Transform(), "tolerance": 1e-9}),
    "Inertia": (dl.Inertia, {"mass": 1.0, "center": np.zeros(3), "matrix": np.eye(3)}),
    "Inertia.of": (dl.Inertia.of, {"mass": 1.0, "center": np.zeros(3), "matrix": np.eye(3)}),
    "Inertia +": (lambda other: dl.Inertia() + other, {"other": dl.Inertia()}),
    "moved": (dl.Inertia().moved, {"placement": dl.Transform()}),
    "Shape": (dl.Shape, SHAPE),
    "Surface": (dl.Surface, SURFACE),
    "Connect": (dl.Connect, {"frame": "a", "other": "b"}),
    "Closure": (dl.Closure, {"joint_type": dl.Revolute(), "frame": "a", "other": "b"}),
    "Gear": (dl.Gear, {"joint": "a", "other": "b", "ratio": 1.0, "offset": 0.0}),
    "Coupling": (dl.Coupling, {"coefficients": {"a": 1.0}, "offset": 0.0}),
    "Distance": (dl.Distance, {"frame": "a", "other": "b", "length": 1.0}),
    "Implicit": (dl.Implicit, {"function": np.sin, "joints": ["a"]}),
    "Baumgarte": (dl.Baumgarte, {"kp": 1.0, "kd": 1.0}),
    "ModelBuilder": (dl.ModelBuilder, {"name": "m", "gravity": [0, 0, -1]}),
    "add_body": (lambda **given: dl.ModelBuilder().add_body(**given), BODY),
    "add_frame": (
        lambda **given: dl.ModelBuilder().add_frame(**given),
        {"name": "f", "body": "world", "placement": [0, 0, 1], "inertia": dl.Inertia()},
    ),
    "add_constraint": (dl.ModelBuilder().add_constraint, {"constraint": dl.Connect("a")}),
    "Actuator": (
        dl.Actuator,
        {
            "name": "m",
            "joint": "a",
            "kind": "position",
            "gear": [1.0, 2.0],
            "stiffness": 1.0,
            "damping": 1.0,
            "control_range": (-1, 1),
            "force_range": (-1, 1),
            "scale": 1.0,
            "offset": 0.0,
            "in_parent": True,
        },
    ),
    "ContactExclusion": (dl.ContactExclusion, {"frame": "a", "other": "b"}),
    "ContactPair": (
        dl.ContactPair,
        {
            "shape": "a",
            "other": "b",
            "friction": 1.0,
            "restitution": 0.0,
            "softness": [1.0] * 7,
            "margin": 0.0,
        },
    ),
    "Keyframe": (dl.Keyframe, {"name": "k", "q": Q, "v": ZERO, "u": [], "time": 0.0}),
    "servos": (
        dl.servos,
        {"model": MODEL, "stiffness": 1.0, "damping": 1.0, "joints": ["panda_joint1"]},
    ),
    "add_actuator": (dl.ModelBuilder().add_actuator, {"actuator": dl.Actuator("a", "b")}),
    "add_contact_exclusion": (
        dl.ModelBuilder().add_contact_exclusion,
        {"exclusion": dl.ContactExclusion("a", "b")},
    ),
    "add_contact_pair": (
        dl.ModelBuilder().add_contact_pair,
        {"pair": dl.ContactPair("a", "b")},
    ),
    "add_keyframe": (dl.ModelBuilder().add_keyframe, {"keyframe": dl.Keyframe("k", [0.0])}),
    "add_shape": (
        dl.ModelBuilder().add_shape,
        {"shape": dl.Shape("s", "world", "visual", "plane")},
    ),
    "Model": (
        dl.Model,
        {
            name: getattr(MODEL, name)
            for name in (
                "name",
                "bodies",
                "frames",
                "constraints",
                "shapes",
                "gravity",
                "actuators",
                "contact_exclusions",
                "contact_pairs",
                "keyframes",
            )
        },
    ),
    "replace": (
        MODEL.replace,
        {
            name: getattr(MODEL, name)
            for name in ("name", "frames", "constraints", "gravity", "actuators", "keyframes")
        },
    ),
    "joint": (MODEL.joint, {"name": "panda_joint1"}),
    "body_index": (MODEL.body_index, {"name": "panda_link1"}),
    "frame": (MODEL.frame, {"name": FRAME}),
    "random_configuration": (MODEL.random_configuration, {"rng": 1, "N": 2}),
    "load": (dl.load, {"path": "", "floating_base": False, "package_dirs": [""]}),
    "robots.load": (dl.robots.load, {"name": "panda", "floating_base": False}),
    "robots.mini_cheetah": (dl.robots.mini_cheetah, {"rotors": "none", "floating_base": True}),
    "robots.tello": (dl.robots.tello, {"rotors": "none", "floating_base": True}),
    "robots.mit_humanoid_leg": (dl.robots.mit_humanoid_leg, {"rotors": "none"}),
    "robots.rotor_pairs": (dl.robots.rotor_pairs, {"branches": 1, "depth": 1}),
    "robots.belts": (dl.robots.belts, {"branches": 1, "depth": 1}),
    "robots.four_bars": (dl.robots.four_bars, {"branches": 1, "depth": 1}),
    "robots.assembled": (
        dl.robots.assembled,
        {"model": dl.robots.four_bars(1, 1), "cranks": 1.0},
    ),
    "robots.parallel_chains": (
        dl.robots.parallel_chains,
        {"depth": 2, "loop": 1, "kind": "rod"},
    ),
    "robots.crank_rocker": (
        dl.robots.crank_rocker,
        {"crank": 0.1, "coupler": 0.35, "rocker": 0.25, "ground": 0.4},
    ),
    "robots.parallel_ankle": (dl.robots.parallel_ankle, {"rods": "distances"}),
    "attach": (
        dl.attach,
        {"model": MODEL, "other": MODEL, "frame": FRAME, "placement": np.eye(4), "prefix": "p"},
    ),
    "reduce": (dl.reduce, {"model": MODEL, "lock": {"panda_joint1": 0.5}}),
    "to_qpos": (dl.mujoco.to_qpos, {"model": MODEL, "q": Q}),
    "from_qvel": (dl.mujoco.from_qvel, {"model": MODEL, "q": Q, "qvel": ZERO}),
    "forward_kinematics": (dl.forward_kinematics, {"model": MODEL, "q": Q, "frames": [FRAME]}),
    "frame_acceleration": (
        dl.frame_acceleration,
        FRAMED,
    ),
    "inverse_mass_matrix": (
        dl.inverse_mass_matrix,
        {"model": MODEL, "q": Q, "method": "dedicated"},
    ),
    "Constraints": (
        dl.Constraints,
        {"model": MODEL, "constraints": [dl.Connect(FRAME)], "stabilization": dl.Baumgarte()},
    ),
    "rank": (CONSTRAINTS.rank, {"q": Q, "tolerance": 1e-8}),
    "redundant_rows": (CONSTRAINTS.redundant_rows, {"q": Q, "tolerance": 1e-8}),
    "velocity": (CONSTRAINTS.velocity, {"q": Q, "v": ZERO}),
    "constrained_dynamics": (
        dl.constrained_dynamics,
        SOLVED,
    ),
    "constrained_inverse_dynamics": (
        dl.constrained_inverse_dynamics,
        {**ROW, "v": ZERO, "a": ZERO, "actuated": ["panda_joint1"], "tolerance": 1e-8},
    ),
    "impact": (dl.impact, {**ROW, "v": ZERO, "restitution": 0.5}),
    "close_loops": (
        dl.close_loops,
        {**ROW, "fixed": (), "respect_limits": True, "tolerance": 1e-8, "max_iterations": 1},
    ),
    "inverse_kinematics": (
        dl.inverse_kinematics,
        {**ROW, "targets": {FRAME: [0, 0, 1]}, "tolerance": 1e-8, "max_iterations": 1},
    ),
    "delassus_inverse": (dl.delassus_inverse, {**ROW, "damping": 1e-3, "method": "ltl"}),
    "DelassusOperator": (dl.DelassusOperator, {**ROW, "damping": 1e-3}),
    "kkt_factorization": (dl.kkt_factorization, {**ROW, "damping": 1e-3}),
}
HOSTILE = {
    "nothing": None,
    "true": True,
    "number": -3,
    "huge": 10**5000,
    "huge list": [10**400] * 3,
    "nan": np.nan,
    "infinite": [np.inf] * 3,
    "complex": 1j,
    "name": "nope",
    "bytes": b"nope",
    "names": ["1", "2", "3"],
    "ragged": [[1.0], [2.0, 3.0]],
    "unhashable": [["a"]],
    "mapping": {1: 2},
    "mapping to a list": {"panda_joint1": [1, 2]},
    "set": {1.0, 2.0},
    "no axis": np.array(1.0),
    "nothing in it": np.zeros(0),
    "objects": np.array([None, "x"], object),
    "masked": np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    "dates": np.array(["2020-01-01"] * 3, "M8[D]"),
    "records": np.zeros(3, [("x", float)]),
    "model": MODEL,
    "class": dl.Model,
    "constraints": CONSTRAINTS,
    "constraint": dl.Connect("a"),
    "function": len,
}
# An object that fits nowhere: each argument has a check that refuses it.
STRANGER = object()


@pytest.mark.parametrize("name", CALLS)
def test_hostile_arguments_are_errors_of_the_library(name):
    """In any place: what leaks is another exception, and fails the test."""
    call, given = CALLS[name]
    for argument in given:
        with pytest.raises(dl.DelassusError) as caught:
            call(**{**given, argument: STRANGER})
        assert str(caught.value)
        for hostile in HOSTILE.values():
            with suppress(dl.DelassusError):  # some fit here
                call(**{**given, argument: hostile})


@pytest.mark.parametrize("name", ["fifo", "socket", "device", "loop", "x" * 5000, "a\0b", "\ud800"])
def test_what_is_no_file_is_neither_read_nor_written(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    os.symlink("loop", "loop")
    os.symlink(os.devnull, "device")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises(dl.FileFormatError, match="cannot be read"):
            dl.load(name)
        if name != "loop":  # which is replaced
            with pytest.raises(dl.FileAccessError, match="cannot be written"):
                MODEL.save(name)
    assert os.path.lexists(name) == (len(name) < 7 and name.isalpha())


@pytest.mark.parametrize("count", [None, 5])
def test_outputs_that_overlap_each_other_are_refused(count):
    lead = () if count is None else (count,)
    q, v = np.broadcast_to(Q, (*lead, Q.size)).copy(), np.zeros((*lead, MODEL.nv))
    memory = np.zeros((3, *lead, MODEL.nv, MODEL.nv))
    expected = dl.inverse_dynamics_derivatives(MODEL, q, v, v, out=tuple(memory))
    for _ in range(2):  # before and after a call that fits
        with pytest.raises(dl.ShapeError, match="dq and for dv overlap"):
            dl.inverse_dynamics_derivatives(MODEL, q, v, v, out=(memory[0], memory[0], memory[1]))
    assert np.array_equal(expected.da, memory[2])


@pytest.mark.parametrize("value", ["0", "false", "No", "off"])
def test_compilation_is_switched_off_by_any_word_for_no(value):
    source = "from delassus.compile import is_compiled; print(is_compiled())"
    environment = os.environ | {"DELASSUS_COMPILE": value}
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() == "False"
