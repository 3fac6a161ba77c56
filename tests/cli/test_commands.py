"""Every command, as a user would type it."""

import subprocess
import sys

import pytest

import delassus as dl
from delassus.cli import main, warmup
from delassus.compile import kernels
from delassus.compile.native import cache

PENDULUM = """
<robot name="pendulum">
  <link name="base"/>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
  </joint>
  <gazebo/>
</robot>
"""


@pytest.fixture
def pendulum(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    return str(path)


def test_info_shows_a_file(pendulum, capsys):
    assert main(["info", pendulum]) == 0
    text = capsys.readouterr().out
    assert "pendulum: 1 body, nq 1, nv 1, mass 2 kg" in text
    assert "rod <- hinge (revolute y" in text
    assert "warning: pendulum.urdf: ignored <gazebo> (1)" in text


def test_info_lets_the_base_float(pendulum, capsys):
    assert main(["info", pendulum, "--floating-base"]) == 0
    assert "nv 7" in capsys.readouterr().out


def test_info_shows_a_robot_with_its_constraints(capsys):
    assert main(["info", "panda"]) == 0
    text = capsys.readouterr().out
    assert "nv 9" in text
    assert "constraint: Gear(joint='panda_finger_joint2'" in text


def test_info_shows_a_robot_that_is_built(capsys):
    assert main(["info", "tello"]) == 0
    assert "tello: 37 bodies" in capsys.readouterr().out
    assert main(["info", "parallel_ankle", "--floating-base"]) == 2
    assert "has no base that could float" in capsys.readouterr().err


def test_robots_can_be_fixed(capsys):
    assert main(["info", "hyq", "--no-floating-base"]) == 0
    assert "nv 12" in capsys.readouterr().out


def test_a_folder_does_not_hide_a_robot(tmp_path, monkeypatch, capsys):
    (tmp_path / "panda").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["info", "panda"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "missing.urdf"], "there is no file 'missing.urdf'"),
        (["info", "talosss"], "neither a file nor a robot called 'talosss'; did you mean 'talos'"),
        (["count", "missing.urdf"], "there is no file 'missing.urdf'"),
        (["bench", "trees"], "no benchmark is called 'trees'; there are: tree, seed-00"),
        (["warmup", "nothing"], "no kernel is called 'nothing'; there are"),
    ],
)
def test_mistakes_end_with_a_message(arguments, message, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("delassus: error: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


def test_a_broken_file_ends_with_a_message(tmp_path, capsys):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot><link>")
    assert main(["info", str(path)]) == 2
    assert "broken.urdf" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["fly"], ["info"], ["warmup", "--jobs", "0"]])
def test_wrong_usage_is_explained(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: delassus" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::delassus.ModelFileWarning")
def test_count_is_that_of_the_library(pendulum, capsys):
    pytest.importorskip("casadi")
    assert main(["count", pendulum]) == 0
    rows = capsys.readouterr().out.splitlines()
    for name in ("forward_dynamics", "coriolis_matrix", "inverse_dynamics_derivatives",
                 "forward_dynamics_derivatives"):  # fmt: skip
        total = dl.operation_count(getattr(dl, name), dl.load(pendulum)).total
        (row,) = [row for row in rows if row.startswith(name.replace("_", " ") + "  ")]
        assert row.endswith(f" {total:,}")


def test_warmup_compiles_and_tells_where(capsys):
    assert main(["warmup", "normalize", "--jobs", "1"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("1 kernel ready in ")
    assert str(cache.folder()) in captured.out
    assert "compiling" not in captured.err


def test_warmup_shares_the_work_between_processes(capsys):
    assert main(["warmup", "normalize", "passive_forces", "--jobs", "2"]) == 0
    assert capsys.readouterr().out.startswith("2 kernels ready")


def test_warmup_starts_with_what_takes_longest():
    tasks = warmup.in_order(["normalize", "caba", "rnea"])
    assert [task.kernel for task in tasks[:5]] == ["caba"] * 4 + ["rnea"]
    assert tasks[-1].kernel == "normalize"
    entries = {task.entry for task in tasks if task.kernel == "rnea"}
    assert entries == {
        *("one state", "one state with external_forces"),
        *("batches of float64", "batches of float32"),
    }


def test_warmup_uses_the_cores_that_the_process_may_use(monkeypatch):
    used = []
    monkeypatch.setattr(warmup, "available_cores", lambda: 3)
    monkeypatch.setattr(warmup, "_compile_all", lambda tasks, jobs: used.append(jobs) or [])
    assert main(["warmup"]) == 0
    assert main(["warmup", "--jobs", "5"]) == 0
    assert used == [3, 5]


def test_warmup_names_what_failed_and_goes_on(monkeypatch, capsys):
    def fail(dtype):
        raise ZeroDivisionError("out of luck")

    monkeypatch.setattr(kernels()["normalize"], "batch", fail)
    assert main(["warmup", "normalize", "--jobs", "1"]) == 1
    captured = capsys.readouterr()
    assert captured.err.count("FAILED: normalize, batches of float") == 2
    assert "ZeroDivisionError: out of luck" in captured.err
    assert "3 of 3: normalize" in captured.err
    assert captured.out.startswith("2 of 3 entries failed")


def test_warmup_refuses_when_compilation_is_off(monkeypatch, capsys):
    monkeypatch.setattr("delassus.cli.warmup.is_compiled", lambda: False)
    assert main(["warmup"]) == 2
    assert "DELASSUS_COMPILE=0" in capsys.readouterr().err


def test_bench_checks_first_where_results_go(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["bench", "tree", "--output", str(tmp_path / "file")]) == 2
    assert "cannot write results to" in capsys.readouterr().err


def test_bench_lists_what_there_is(capsys):
    assert main(["bench", "--list"]) == 0
    assert capsys.readouterr().out.startswith("tree  ")


def test_version_and_module():
    done = subprocess.run(
        [sys.executable, "-m", "delassus", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("delassus ")


def test_import_is_lean():
    script = (
        "import sys, delassus\n"
        "print({'matplotlib', 'tqdm', 'pinocchio', 'casadi', 'mujoco'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_view_writes_a_recording_as_a_page(tmp_path, capsys):
    import numpy as np

    from viewer.recordings import recorded

    model = dl.robots.figure("nunchuk").model
    recorded(model, np.tile(model.keyframes["home"].q, (20, 1))).save(tmp_path / "run.rec")
    page = tmp_path / "run.html"
    assert main(["view", str(tmp_path / "run.rec"), "--html", str(page)]) == 0
    assert "written" in capsys.readouterr().out and page.stat().st_size > 10_000


def test_view_writes_no_page_of_a_model(capsys):
    assert main(["view", "nunchuk", "--html", "run.html"]) == 2
    assert "this is a model" in capsys.readouterr().err


def test_view_names_what_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["view", "nunchuk"]) == 2
    assert '"viser>=' in capsys.readouterr().err
