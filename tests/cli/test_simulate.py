"""`delassus simulate` and what `delassus info` tells of a model to simulate."""

import numpy as np
import pytest

import delassus as dl
from delassus.cli import _parser, main
from delassus.cli.simulate import INTEGRATORS, SOLVERS

HEAD = '<mujoco model="{name}"><worldbody>{world}</worldbody>{rest}</mujoco>'
BALL = (
    '<geom name="floor" type="plane" size="1 1 1"/>'
    '<body name="ball" pos="0 0 0.5"><freejoint/><geom name="ball" size="0.1" mass="2"/></body>'
)
ARM = (
    '<body name="arm"><joint name="hinge" axis="0 1 0"/>'
    '<geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05" mass="1"/></body>'
)
SERVO = '<actuator><position name="servo" joint="hinge" kp="200" kv="20"/></actuator>'
MOTOR = '<actuator><motor name="motor" joint="hinge" gear="1e12"/></actuator>'
HOME = '<keyframe><key name="home" qpos="0" ctrl="0.5"/></keyframe>'
QUICK = ["--no-progress", "--duration", "0.05"]


@pytest.fixture
def file_of(tmp_path):
    pytest.importorskip("mujoco")

    def write(name, world, rest=""):
        path = tmp_path / f"{name}.xml"
        path.write_text(HEAD.format(name=name, world=world, rest=rest))
        return str(path)

    return write


def test_a_ball_falls_from_where_the_file_puts_it_and_is_recorded(file_of, tmp_path, capsys):
    path = tmp_path / "run.rec"
    options = ["--duration", "0.2", "--dt", "0.002", "--integrator", "euler", "--no-progress"]
    assert main(["simulate", file_of("ball", BALL), *options, "--record", str(path)]) == 0
    told = capsys.readouterr()
    assert "ball: 0.2 s in 100 steps of 2 ms, euler; took" in told.out
    assert "contacts at the end 0" in told.out
    assert f"recorded: {path}" in told.out
    assert not told.err
    rec = dl.Recording.load(path)
    assert len(rec) == 100
    assert rec.q[-1, 2] == pytest.approx(0.5 - 0.5 * 9.81 * 0.2**2, abs=5e-3)


def test_where_a_page_cannot_be_written_nothing_is_simulated(file_of, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    bad = str(tmp_path / "file" / "run.html")
    assert main(["simulate", file_of("ball", BALL), *QUICK, "--html", bad]) == 2
    told = capsys.readouterr()
    assert "run.html' cannot be written" in told.err
    assert not told.out


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_choice_of_methods_is_there(integrator, solver):
    options = ["simulate", "walker", "--integrator", integrator, "--solver", solver]
    chosen = _parser().parse_args(options)
    assert (chosen.integrator, chosen.solver) == (integrator, solver)


def test_a_progress_bar_is_shown_unless_it_is_switched_off(file_of, capsys):
    ball = file_of("ball", BALL)
    assert main(["simulate", ball, "--duration", "0.05"]) == 0
    assert "50/50" in capsys.readouterr().err


def test_height_worlds_and_a_page(file_of, tmp_path, capsys):
    page = tmp_path / "run.html"
    more = ["--height", "0.1", "--worlds", "3", "--html", str(page)]
    assert main(["simulate", file_of("ball", BALL), *QUICK, *more]) == 0
    told = capsys.readouterr().out
    assert "3 worlds of ball: 0.05 s in 50 steps" in told
    assert "contacts at the end 1;" in told
    assert "<html" in page.read_text()[:500].lower()


def test_keyframes_give_the_start_and_the_controls(file_of, tmp_path):
    path = tmp_path / "arm.rec"
    options = ["--duration", "2", "--no-progress", "--no-ground", "--record", str(path)]
    assert main(["simulate", file_of("arm", ARM, SERVO + HOME), *options]) == 0
    # 200 (0.5 - q) = 9.81 * 0.5 * sin q
    assert dl.Recording.load(path).q[-1, 0] == pytest.approx(0.4884, abs=1e-3)


def test_divergence_is_told_and_gives_the_exit_code_1(file_of, tmp_path, capsys):
    path = tmp_path / "wild.rec"
    wild = file_of("wild", ARM, MOTOR + HOME)
    assert main(["simulate", wild, *QUICK, "--record", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("delassus: diverged at 0.00")
    assert "(velocities of arm)" in error
    assert len(dl.Recording.load(path)) > 0
    assert main(["simulate", wild, *QUICK, "--worlds", "8"]) == 1
    error = capsys.readouterr().err
    assert "world 0: diverged" in error
    assert "and 3 more" in error


def test_what_is_not_good_is_a_warning(file_of, capsys):
    ball = file_of("ball", BALL)
    assert main(["simulate", ball, *QUICK, "--height", "0"]) == 0
    assert "warning: bodies penetrate by 0.1 m" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dt", "0"], "dt must be positive"),
        (["--duration", "-1"], "--duration must be positive, got -1"),
        (["--duration", "nan"], "--duration must be positive, got nan"),
        (["--worlds", "0"], "worlds must be"),
        (["--friction", "-1"], "friction"),
        (["--keyframe", "work"], "'work'"),
        (["--height", "1"], "--height is for models whose base moves freely"),
    ],
)
def test_mistakes_end_with_a_message(options, message, file_of, capsys):
    assert main(["simulate", file_of("arm", ARM, SERVO + HOME), "--no-progress", *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("delassus: error: ")
    assert message in error


@pytest.mark.parametrize("options", [["--integrator", "magic"], ["--solver", "magic"]])
def test_unknown_methods_are_explained(options, file_of, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", file_of("arm", ARM), *options])
    assert stopped.value.code == 2
    assert "invalid choice: 'magic'" in capsys.readouterr().err


def test_info_tells_what_a_simulator_would_do_with_a_model(file_of, capsys):
    assert main(["info", file_of("arm", BALL + ARM, SERVO)]) == 0
    told = capsys.readouterr().out
    assert "mobility: 7\n" in told
    assert "mass ratio: 2 (ball 2 kg, arm 1 kg)" in told
    assert "actuators: 1 position" in told
    assert "keyframes: qpos0" in told
    # ball and floor, ball and arm, arm and floor
    assert "collision: 1 capsule, 1 plane, 1 sphere; 3 pairs may touch, 2 of them with pl" in told


def test_info_counts_loops_and_redundant_rows(capsys):
    assert main(["info", "walker"]) == 0  # the figure: that is what is simulated by this name
    assert "24 position" in capsys.readouterr().out
    assert main(["info", "walker", "--floating-base"]) == 0
    told = capsys.readouterr().out
    # Each planar loop of hinges ties two degrees of freedom by five rows.
    assert "mobility: 24 = nv 36 - rank 12 of 30 constraint rows, 6 loops, 18 redundant" in told
    assert "mass ratio: 100 (base 6 kg" in told
    assert "collision: 12 sphere; 48 pairs may touch, 12 of them with the ground" in told


def test_info_tells_where_loops_are_open(capsys):
    assert main(["info", "tello"]) == 0
    told = capsys.readouterr().out
    assert "(at the neutral configuration, where they are open by 0.0037)" in told
    assert "8 bodies without mass" in told


def test_info_shows_figures_and_their_keyframes(capsys):
    assert main(["info", "iron_man"]) == 0
    told = capsys.readouterr().out
    assert "keyframes: home" in told
    assert "13 loops" in told
    assert np.isclose(float(told.split("gravity: 0 0 ")[1].split(" ")[0]), -9.81, atol=0.01)
