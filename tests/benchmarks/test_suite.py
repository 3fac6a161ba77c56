"""The benchmark suite, on two small systems with few samples."""

import html
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import delassus as dl
from delassus.benchmarks.suite import Plan, Run, report_of, simulating, solving, sweeping
from delassus.benchmarks.suite.categories import CATEGORIES, Measures, categories, measure
from delassus.benchmarks.suite.scenarios import SCENARIOS, script
from delassus.benchmarks.suite.store import Store, read_arrays

PLAN = Plan(("box_on_plane", "fourbar_free"), samples=2, seeds=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    made = Run(tmp_path_factory.mktemp("suite"), PLAN, is_quiet=True)
    made.make_all()
    return made


def saved(run):
    for system, own in run.index().items():
        for told in own:
            yield system, told, *run.store.sample(system, told["number"])


def without_times(records):
    times = "microseconds", "steps_per_second"
    return [{k: x for k, x in r.items() if k not in times} for r in records]


# --- samples --------------------------------------------------------------------------------------


def test_every_system_of_the_suite_has_a_scenario():
    assert list(SCENARIOS) == dl.robots.suite()


def test_a_seed_gives_the_same_scenario_and_another_seed_another_one():
    first, again, other = (script("fourbar_free", seed) for seed in (0, 0, 1))
    assert np.array_equal(first.controls, again.controls)
    assert np.array_equal(first.q, again.q)
    assert not np.array_equal(first.controls, other.controls)


def test_categories_recomputed_from_saved_samples_agree(run):
    for system, told, p, _ in saved(run):
        sizes = measure(p, told["bodies"], told["joints"])
        assert categories(sizes) == told["categories"] != []
        assert sizes.rows == p.n_rows == told["rows"]
        ours = dl.robots.figure(system).ours
        assert (told["bodies"], told["joints"]) == (ours.bodies, ours.joints)
        assert p.n_joint_rows == ours.rows


def test_systems_have_the_categories_that_they_can_have(run):
    found = {s: {c for x in own for c in x["categories"]} for s, own in run.index().items()}
    assert found["box_on_plane"] == {"single contact", "sparse contacts", "dense contacts"}
    assert {"redundant joints", "single contact", "sparse contacts"} <= found["fourbar_free"]
    for own in run.index().values():
        for category in CATEGORIES:
            assert sum(category in x["categories"] for x in own) <= PLAN.samples


def test_joints_of_a_planar_loop_have_three_rows_too_many(run):
    assert {x["rank"] for x in run.index()["fourbar_free"]} == {17}  # of 20


def test_warm_starts_are_nearer_to_a_solution_than_zero(run):
    """In the median: a landing has no step before that is like it."""
    nearer = [
        dl.contact.residuals(p, start).natural_map <= dl.contact.residuals(p, 0 * start).natural_map
        for _, _, p, start in saved(run)
    ]
    assert np.median(nearer) == 1.0


@pytest.mark.parametrize(
    ("contacts", "rows", "joint_rows", "rank", "expected"),
    [
        (0, 20, 20, 20, ["independent joints"]),
        (0, 20, 20, 17, ["redundant joints"]),
        (0, 26, 26, 23, ["dense joints"]),
        (1, 23, 20, 17, ["single contact"]),
        (2, 26, 20, 17, ["sparse contacts", "dense constraints"]),
        (9, 47, 20, 17, ["dense contacts", "dense constraints"]),
    ],
)
def test_categories_follow_densities_and_rank(contacts, rows, joint_rows, rank, expected):
    """Four bodies with four joints."""
    densities = joint_rows / 24, 3 * contacts / 24, rows / 24
    x = Measures(4, 4, rows, joint_rows, 0, contacts, *densities, rank, 1.0)
    assert categories(x) == expected


# --- solutions ------------------------------------------------------------------------------------


def test_metrics_recomputed_from_saved_solutions_agree(run):
    for system, told, p, _ in saved(run):
        for solver in dl.contact.SOLVERS:
            arrays, modes = read_arrays(run.store.solution_path(system, told["number"], solver))
            assert set(modes) == ({"cold", "warm", "split"} if p.n_joint_rows else {"cold", "warm"})
            for mode, numbers in modes.items():
                for name, x in solving.metrics(p, arrays[mode], solver).items():
                    assert x == pytest.approx(numbers[name], abs=1e-12, rel=1e-12)


def test_auto_solves_all_samples(run):
    own = [r for r in run.records() if r["solver"] == "auto" and r["mode"] != "split"]
    assert max(r["natural_map"] for r in own) <= 1.000001e-6


def test_a_run_that_is_killed_goes_on_and_comes_out_the_same(run, tmp_path, monkeypatch):
    shutil.copytree(run.store.folder / "samples", tmp_path / "samples")
    shutil.copytree(run.store.folder / "simulations", tmp_path / "simulations")
    stopped = Run(tmp_path, PLAN, is_quiet=True)
    write, count = solving.write_arrays, iter(range(7))

    def killed(path, *more):
        if next(count, None) is None:
            raise KeyboardInterrupt
        write(path, *more)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(solving, "write_arrays", killed)
        stopped.make_all()
    assert len(stopped.records()) < len(run.records())
    kept = sorted((tmp_path / "solutions").rglob("*.npz"))
    assert len(kept) == 7
    times = [path.stat().st_mtime_ns for path in kept]
    # What a process that dies while it writes leaves behind.
    (kept[0].parent / f".1.{kept[0].name}").write_bytes(b"half a file")

    again = Run(tmp_path, PLAN, is_quiet=True)
    again.make_all()
    assert [path.stat().st_mtime_ns for path in kept] == times
    assert without_times(again.records()) == without_times(run.records())


def test_samples_that_were_not_all_written_are_drawn_again_the_same(run, tmp_path):
    Run(tmp_path, PLAN, is_quiet=True)
    half = tmp_path / "samples" / "box_on_plane"
    half.mkdir(parents=True)
    shutil.copy(run.store.sample_path("box_on_plane", 0), half)
    assert Store(tmp_path).samples("box_on_plane") is None
    again = Run(tmp_path, PLAN, is_quiet=True)
    again._work("samples", [(_draw, (tmp_path, "box_on_plane"))])
    assert again.index()["box_on_plane"] == run.index()["box_on_plane"]
    for told in again.index()["box_on_plane"]:
        (p, start), (q, other) = (
            x.store.sample("box_on_plane", told["number"]) for x in (run, again)
        )
        assert np.array_equal(p.delassus, q.delassus)
        assert np.array_equal(start, other)


def _draw(folder, system):
    from delassus.benchmarks.suite.running import draw_samples

    draw_samples(folder, system, PLAN.seeds, PLAN.samples)


def test_a_folder_of_another_plan_is_an_error(run):
    with pytest.raises(dl.DelassusError, match="another plan"):
        Run(run.store.folder, Plan(("nunchuk",)))


RUN_ALL = """
import sys
from pathlib import Path
from delassus.benchmarks.suite import Plan, Run
Run(Path(sys.argv[1]), Plan(("box_on_plane", "fourbar_free"), samples=2, seeds=1)).make_all()
"""


def written(folder):
    return sum(1 for path in folder.rglob("*") if path.is_file())


def run_until_killed(folder, files, delay):
    """Run the suite in a process of its own, and kill it `delay` s after so many more files."""
    there = written(folder)
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_ALL, str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while process.poll() is None and written(folder) < there + files:
        time.sleep(0.005)
    time.sleep(delay)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def test_a_run_that_is_killed_at_random_moments_gives_the_same_tables(run, tmp_path):
    rng = np.random.default_rng(int(os.environ.get("SUITE_SEED", "0")))
    kills = int(os.environ.get("SUITE_KILLS", "2"))
    ends = [
        run_until_killed(tmp_path, int(rng.integers(1, 16)), 0.1 * rng.random())
        for _ in range(kills)
    ]
    assert ends.count(-signal.SIGKILL) >= min(kills, 2)
    again = Run(tmp_path, PLAN, is_quiet=True)
    assert len(again.records()) < len(run.records())
    again.make_all()
    assert again.index() == run.index()
    assert without_times(again.records()) == without_times(run.records())
    assert without_times(again.simulations()) == without_times(run.simulations())
    assert not list(tmp_path.rglob(".*.json")) + list(tmp_path.rglob(".*.npz"))
    tables, expected = (report_of(x).data()["tables"] for x in (again, run))
    for key in ("samples", "systems_cold", "accuracy_warm", "solvers_split"):
        assert without_times(tables[key]) == without_times(expected[key])


# --- whole simulations ----------------------------------------------------------------------------


def test_every_driver_drives_every_system(run):
    found = {(r["system"], r["driver"]) for r in run.simulations()}
    assert found == {(s, d) for s in PLAN.systems for d in simulating.drivers()}
    assert "auto" in simulating.drivers()
    for r in run.simulations():
        assert r["seconds_simulated"] == 2.0
        assert "diverged" not in r["failures"]
        if r["driver"] in ("auto", *simulating.MUJOCO):
            assert r["failures"] == []
            assert r["penetration"] < 0.05
        if r["driver"] == "auto":
            assert r["joint_error"] < 1e-5


def test_mujoco_loses_the_energy_that_we_lose(run):
    """Two simulators that share nothing: energies agree but for what contact takes."""
    pytest.importorskip("mujoco")
    energy = {(r["system"], r["driver"]): r["energy_change"] for r in run.simulations()}
    for system in PLAN.systems:
        assert energy[system, "mujoco-stiff"] == pytest.approx(energy[system, "auto"], rel=0.02)


def test_joints_are_closed_better_the_more_of_an_error_is_taken_away():
    script_ = script("nunchuk", 0, steps=500)
    errors = [
        simulating.drive(script_, **options)["joint_error"]
        for kind, value, options in sweeping.settings()
        if kind == "part" and value in (0.0, 0.1, 0.5)
    ]
    assert errors[0] > 5 * errors[1] > 5 * errors[2] > 0.0


def test_softer_joints_open_wider():
    script_ = script("nunchuk", 0, steps=500)
    errors = [
        simulating.drive(script_, **options)["joint_error"]
        for kind, value, options in sweeping.settings()
        if kind == "time constant" and value in (0.002, 0.02, 0.1)
    ]
    assert errors[0] < 0.1 * errors[1] < 0.1 * errors[2]


# --- report ---------------------------------------------------------------------------------------


def test_the_report_is_one_page_that_needs_nothing_else(run):
    report = report_of(run)
    paths = {path.suffix: path for path in report.save()}
    page = paths[".html"].read_text()
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", page)  # no link to anything outside
    assert page.count("<svg") == 4
    for table in report.tables:
        assert table.title in page
    tables = report.data()["tables"]
    drivers = len(simulating.drivers())
    assert [r["system"] for r in tables["simulations"][::drivers]] == list(PLAN.systems)
    assert report.findings and all(html.escape(x) in page for x in report.findings)
    assert [r["solver"] for r in tables["solvers_cold"]] == list(dl.contact.SOLVERS)
    count = sum(map(len, run.index().values()))
    assert {r["samples"] for r in tables["solvers_cold"]} == {count}


def test_profiles_end_at_the_share_that_is_solved(run):
    tables = report_of(run).data()["tables"]
    solved = {r["solver"]: r["solved"] for r in tables["solvers_cold"]}
    for r in tables["profiles_cold"]:
        assert r["tau_1"] <= r["tau_10"] <= solved[r["solver"]] + 1e-12


def test_without_pyarrow_runs_are_text(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (path,) = [path for path in report_of(run).save(json_only=True) if path.suffix == ".csv"]
    assert len(path.read_text().splitlines()) == 1 + len(run.records())


def test_runs_are_kept_as_parquet(run):
    parquet = pytest.importorskip("pyarrow.parquet")
    (path,) = [path for path in report_of(run).save(json_only=True) if path.suffix == ".parquet"]
    table = parquet.read_table(path)
    assert table.num_rows == len(run.records())
    assert {"system", "solver", "mode", "natural_map", "microseconds"} <= set(table.column_names)


def test_profiles_recomputed_from_the_data_beside_the_report_agree(run):
    parquet = pytest.importorskip("pyarrow.parquet")
    report = report_of(run)
    (path,) = [path for path in report.save(json_only=True) if path.suffix == ".parquet"]
    rows = [r for r in parquet.read_table(path).to_pylist() if r["mode"] == "cold"]
    rows = [r for r in rows if "ccp" not in r["solver"]]
    for told in report.data()["tables"]["profiles_cold"]:
        for tau in (1, 2, 5, 10, 100):
            within = []
            for own in (r for r in rows if r["solver"] == told["solver"]):
                same = [
                    r for r in rows if (r["system"], r["number"]) == (own["system"], own["number"])
                ]
                solved = [r["microseconds"] for r in same if r["natural_map"] <= 1.000001e-6]
                is_solved = own["natural_map"] <= 1.000001e-6
                within.append(is_solved and own["microseconds"] <= tau * min(solved))
            assert np.mean(within) == pytest.approx(told[f"tau_{tau}"], abs=1e-12)


def browse(page, tmp_path):
    """What a headless browser makes of a page: its text, and whether it says or asks anything."""
    names = "chromium", "chromium-browser", "google-chrome", "chrome"
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip("no chromium was found")
    log = tmp_path / "net.json"
    options = [
        *("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--enable-logging=stderr"),
        *("--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}"),
        *(f"--log-net-log={log}", "--dump-dom"),
    ]
    done = subprocess.run(
        [browser, *options, f"file://{page}"], capture_output=True, text=True, timeout=300
    )
    # Requests of a page from disk have no origin; those of the browser itself are named otherwise.
    return done.stdout, "CONSOLE" in done.stderr, '"initiator":"null"' in log.read_text()


def test_the_report_opens_in_a_browser_without_errors_and_asks_no_other_host(run, tmp_path):
    (page,) = [path for path in report_of(run).save() if path.suffix == ".html"]
    text, has_errors, has_asked = browse(page, tmp_path)
    assert '<h2 id="findings">' in text
    assert not has_errors and not has_asked
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://example.org/a.png"><script>unknown()</script>')
    assert browse(bad, tmp_path)[1:] == (True, True)
