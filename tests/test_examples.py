"""Every example runs in a fresh interpreter and prints what it is there to show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
LONGEST = 60  # lines

# Arguments for a short run, and what the output must hold.
RUNS = {
    "build_a_mechanism.py": ([], r"pole <- pole_joint \(revolute y, q\[1\], 0.2 kg\)"),
    "cassie.py": ([], r"closed to 0\.0\d mm; 100\.0% .*\nat 1\.10 m .*left-foot.*right-foot"),
    "control_gravity_compensation.py": ([], r"3\.00  0\.0000"),
    "energy_check.py": ([], r"0\.0010   \d\.\de-1[1-9] J"),
    "inverse_kinematics.py": ([], r"within the limits: True"),
    "linearise_quadruped.py": ([], r"0\.1\d%  rotors: bodies\n +8\.\d+%  rotors: diagonal"),
    "many_worlds.py": (["3"], r"3 worlds, .*\n2 of 3 worlds still stand"),
    "million_states.py": (["2000", "1"], r"2,000 states\nforward dynamics: .* µs a state"),
    "parallel_ankle.py": (["256"], r"torques come back to \de-1[0-9] N m\n(.*\n)+pitch  0\.30: "),
    "quadruped_servos.py": ([], r"squats between 0\.2\d+ and 0\.3\d+ m\n.*; 0 failures"),
    "quickstart.py": ([], r"tau has the shape \(1000, 9\)"),
    "simulate_four_bar.py": ([], r"energy changes by \de-(0[5-9]|1\d)"),
    "stack_of_boxes.py": ([], r"pushed by \d+ N the lowest box stays\n.* box slides"),
    "symbolic_casadi.py": ([], r"gravity forces to \de-1[3-9]"),
}


def test_every_example_is_tried():
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_example_runs(name, tmp_path):
    arguments, expected = RUNS[name]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(expected, done.stdout), done.stdout


@pytest.mark.parametrize("name", RUNS)
def test_example_is_short_and_says_what_it_is(name):
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert "def main():" in text
    assert text.count("\n") < LONGEST
