"""Every URDF file of example-robot-data reads as Pinocchio reads it."""

import warnings

import numpy as np
import pytest

import delassus as dl
from delassus import robots
from delassus.model.formats import ModelFileWarning, load

pin = pytest.importorskip("pinocchio")

try:
    FOLDER = robots.path("panda").parents[2]
except dl.MissingDependencyError:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.urdf"))
BROKEN = {
    "falcon_description/urdf/falcon.urdf": "'Z_propeller' does not exist",
    "ur_description/urdf/ur3.urdf": "<robot>: needs the attribute 'name'",
}


def quietly(path, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelFileWarning)
        return load(path, **how)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("file", [f for f in FILES if f not in BROKEN])
def test_same_joints_frames_and_masses(file, floating):
    path = FOLDER / file
    model = quietly(path, floating_base=floating)
    root = [pin.JointModelFreeFlyer()] if floating else []
    expected = pin.buildModelFromUrdf(str(path), *root)
    assert model.nv == expected.nv
    joints = list(expected.joints)[1:]
    assert model.nq == sum(1 if (j.nq, j.nv) == (2, 1) else j.nq for j in joints)
    assert set(model.joint_names) == set(expected.names) - {"universe"}
    assert model.mass == pytest.approx(pin.computeTotalMass(expected), rel=1e-12)
    frames = {frame.name for frame in expected.frames} - {"universe", "world"}
    assert frames <= set(model.frame_names)


@pytest.mark.parametrize("file", sorted(BROKEN.keys() & FILES))
def test_broken_files_say_what_is_wrong(file):
    with pytest.raises(dl.FileFormatError, match=BROKEN[file]):
        load(FOLDER / file)


@pytest.mark.parametrize("name", ["panda", "kinova", "talos", "tiago", "romeo"])
def test_same_mass_matrix(name):
    model = quietly(robots.path(name), floating_base=True)
    expected = pin.buildModelFromUrdf(str(robots.path(name)), pin.JointModelFreeFlyer())
    q = model.random_configuration(3)
    theirs, order = np.zeros(expected.nq), np.zeros(model.nv, int)
    for joint in model.joints:
        other = expected.joints[expected.getJointId(joint.name)]
        angle = q[joint.q]
        is_continuous = other.nq == 2
        own = [np.cos(angle[0]), np.sin(angle[0])] if is_continuous else angle
        theirs[other.idx_q : other.idx_q + other.nq] = own
        order[joint.v] = range(other.idx_v, other.idx_v + other.nv)
    matrix = pin.crba(expected, expected.createData(), theirs)
    matrix = np.triu(matrix) + np.triu(matrix, 1).T
    ours = dl.mass_matrix(model, q)
    np.testing.assert_allclose(ours, matrix[np.ix_(order, order)], atol=1e-12 * matrix.max())
