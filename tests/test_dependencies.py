"""Each package that the library asks for does what it is asked for: one short test for each.

`make test-lowest` runs these with the lowest versions that `pyproject.toml` allows.
"""

import numpy as np
import pytest

import delassus as dl

URDF = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<origin xyz="0 0 0.3"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<origin xyz="0 0 1"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint></robot>"""
MJCF = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="b" pos="0 0 1">
<freejoint/><geom name="ball" size="0.1" mass="2"/></body></worldbody></mujoco>"""
TETRAHEDRON = """v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0 0 0.2
f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"""


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "mesh.obj").write_text(TETRAHEDRON)
    (tmp_path / "arm.urdf").write_text(URDF.format(mesh=tmp_path / "mesh.obj"))
    return dl.load(tmp_path / "arm.urdf")


def test_numba_compiles_one_state_and_batches(arm):
    """NumPy, Numba and lxml."""
    q, v = np.linspace(-1, 1, 9)[:, None], np.ones((9, 1))
    tau = dl.inverse_dynamics(arm, q, v, v)
    assert tau == pytest.approx((0.1 + 0.09) + 0.3 * -9.81 * np.sin(q), abs=1e-12)
    for k in (0, 5):
        assert dl.inverse_dynamics(arm, q[k], v[k], v[k]) == pytest.approx(tau[k], abs=1e-12)
    assert dl.inverse_dynamics(arm, *(x.astype(np.float32) for x in (q, v, v))).dtype == np.float32


def test_a_file_that_is_no_xml_is_refused_with_its_line(tmp_path):
    (tmp_path / "bad.urdf").write_text("<robot name='a'>\n<link></robot>")
    with pytest.raises(dl.FileFormatError):
        dl.load(tmp_path / "bad.urdf")


def test_coal_makes_hulls_that_collide(arm):
    pytest.importorskip("coal")
    sim = dl.Simulator(arm)
    (hull,) = [s for s in sim.geometry.shapes if len(s.vertices)]
    assert len(hull.vertices) == 4


def test_casadi_traces(arm):
    pytest.importorskip("casadi")
    traced = dl.symbolic(dl.mass_matrix, arm)
    assert float(traced([0.3])) == pytest.approx(0.19)
    assert dl.operation_count(dl.forward_dynamics, arm).total > 0


def test_mujoco_reads_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "ball.xml").write_text(MJCF)
    model = dl.load(tmp_path / "ball.xml")
    assert model.keyframes["qpos0"].q[2] == 1.0 and model.bodies[0].inertia.mass == 2.0


def test_named_robots_are_found():
    if "panda" not in dl.robots.names():
        pytest.skip("example-robot-data is not installed")
    assert dl.robots.load("panda").nv == 9
    assert dl.robots.load("talos").nv > 30


def test_fclib_files_are_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "bad.hdf5", "w") as file:
        file.create_group("nothing")
    with pytest.raises(dl.FileFormatError):
        dl.contact.load(tmp_path / "bad.hdf5")


def test_viser_shows_a_model(arm):
    pytest.importorskip("viser")
    from delassus.viewer import view

    viewer = view(arm, port=9000)
    try:
        viewer.update([0.5])
        assert viewer.url.startswith("http://127.0.0.1:")
    finally:
        viewer.close()


def test_trimesh_reads_collada(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    from delassus.viewer.meshes import read_triangles

    trimesh.creation.box((1, 2, 3)).export(tmp_path / "box.dae")
    assert np.abs(read_triangles(str(tmp_path / "box.dae"))).max() == pytest.approx(1.5)


def test_pinocchio_agrees(tmp_path):
    pin = pytest.importorskip("pinocchio")
    (tmp_path / "arm.urdf").write_text(URDF.format(mesh="none.obj"))
    model = pin.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    q = np.array([0.4])
    mine = dl.load(tmp_path / "arm.urdf")
    assert dl.gravity_forces(mine, q) == pytest.approx(
        pin.computeGeneralizedGravity(model, model.createData(), q)
    )


def test_matplotlib_plots_a_recording(arm):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    rec = dl.Simulator(arm, ground=False).rollout(5, sensors=True)
    figure = rec.plot("q", "v", "torques", "reactions", "natural_map", "j")
    assert [ax.get_ylabel() for ax in figure.axes][:2] == ["q", "v"]
    assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == ["j"]
    assert len(rec.plot().axes) == len(rec.metrics)
    with pytest.raises(dl.UnknownNameError, match=r"there are q, v, .* metrics: contacts"):
        rec.plot("velocity")
    with pytest.raises(dl.SettingError, match="sensors=True"):
        dl.Simulator(arm, ground=False).rollout(2).plot("torques")


def test_scipy_and_pyarrow_are_there_for_benchmarks(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    pytest.importorskip("pyarrow")
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    table = arrow.table({"x": np.arange(3.0)})
    parquet.write_table(table, tmp_path / "x.parquet")
    assert parquet.read_table(tmp_path / "x.parquet") == table
    assert sparse.eye(3).nnz == 3
