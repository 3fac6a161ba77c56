"""What is wrong in a call is said by an error of the library, before any work is done."""

import os
import subprocess
import sys

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
