"""The benchmark suite, on two small systems with few samples."""

import re
import shutil
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import delassus as dl
from delassus.benchmarks.suite import Plan, Run, report_of, solving
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
    return [{k: x for k, x in r.items() if k != "microseconds"} for r in records]


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


# --- report ---------------------------------------------------------------------------------------


def test_the_report_is_one_page_that_needs_nothing_else(run):
    report = report_of(run)
    paths = {path.suffix: path for path in report.save()}
    page = paths[".html"].read_text()
    assert not re.search(r"""(src|href)=["'](?!#)""", page)  # no link but those within plots
    assert page.count("<svg") == 3
    for table in report.tables:
        assert table.title in page
    tables = report.data()["tables"]
    assert [r["system"] for r in tables["simulations"]] == list(PLAN.systems)
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
