"""Arrows and cones are those of the simulation, live, in recordings and on pages."""

import numpy as np
import pytest

import delassus as dl
from delassus.viewer.forces import GROUPS, Contacts, Drawn, Reactions, Recorded
from delassus.viewer.motion import body_poses

from .test_page import content, numbers


@pytest.fixture(scope="module")
def box():
    """A box that lies on the ground, after some steps."""
    model = dl.robots.figure("box_on_plane").model
    sim = dl.Simulator(model, worlds=2)
    sim.rollout(1500)
    return sim


def weight(model):
    return model.mass * np.linalg.norm(model.gravity)


def test_contact_forces_carry_the_weight(box):
    for table in box.contacts:
        found = Contacts.of(table)
        assert len(found.points) == 4
        assert np.allclose(found.forces.sum(axis=0), [0, 0, weight(box.model)], atol=1e-3)
        assert np.allclose(found.normals, [0, 0, 1])
        drawn = Drawn.of(box.model, reach=0.5)
        arrows = drawn.arrows(found.points, found.forces)
        assert np.allclose(arrows[:, 0], found.points)
        assert np.isclose((arrows[:, 1] - arrows[:, 0])[:, 2].sum(), 0.5, rtol=1e-3)


def test_arrows_of_impacts_are_cut_and_forces_too_small_are_left_out():
    drawn = Drawn(newton=0.01, longest=2.0, cone=0.1)
    forces = np.array([[0.0, 0.0, 1e6], [0.0, 0.0, 50.0], [0.0, 0.0, 1e-6], [np.nan] * 3])
    arrows = drawn.arrows(np.zeros((4, 3)), forces)
    assert np.allclose(np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1), [2.0, 0.5])


def test_reactions_of_a_pendulum_at_rest_carry_its_weight():
    """Two rods that hang; the joints are turned, and so are axes and centres of mass."""
    b = dl.ModelBuilder("pendulum")
    for name, parent, place in (("upper", "world", (0.3, 0, 2)), ("lower", "upper", (0, 0, -1))):
        b.add_body(
            name, parent, dl.Revolute((0, 1, 0)), place, mass=2.0, com=(0, 0, -0.5),
            inertia=0.1 * np.eye(3),
        )  # fmt: skip
    model = b.build()
    sim = dl.Simulator(model, ground=False)
    sim.step()
    told = Reactions(model)
    points, forces = told.in_world(body_poses(model, sim.q[None]), sim.reactions[None])
    assert np.allclose(points[0], [[0.3, 0, 2], [0.3, 0, 1]])
    assert np.allclose(forces[0], [[0, 0, 4 * 9.81], [0, 0, 2 * 9.81]], atol=1e-6)


def test_recordings_keep_contacts_and_reactions_also_in_files(box, tmp_path):
    rec = box.rollout(5, contacts=True, sensors=True)
    rec.save(tmp_path / "run.rec")
    again = dl.Recording.load(tmp_path / "run.rec")
    assert np.array_equal(again.contacts, rec.contacts)
    assert np.array_equal(again.reactions, rec.reactions)
    told = Recorded(again, box.model)
    for world in range(2):
        live, kept = Contacts.of(box.contacts[world]), told.contacts(world, 4)
        for a, b in zip(live, kept, strict=True):
            assert np.array_equal(a, b)


def test_pages_have_arrows_and_cones_of_all_worlds(box, tmp_path):
    rec = box.rollout(50, contacts=True)
    rec.to_html(tmp_path / "run.html")
    data = content(tmp_path / "run.html")
    assert [f["group"] for f in data["forces"]] == [*GROUPS[:2]]
    arrows, cones = data["forces"]
    frames = len(numbers(data["time"], "<f4"))
    assert numbers(arrows["counts"], "<u2").tolist() == [8] * frames
    own = numbers(arrows["numbers"], "<f4").reshape(frames, 8, 6)
    at_end = np.concatenate([rec.contacts[rec.contacts["step"] == 49]["point"]]).reshape(2, 4, 3)
    assert np.allclose(own[-1, :4, :3], at_end[0], atol=1e-5)
    apart = own[-1, 4:, :3] - at_end[1]
    assert np.allclose(apart, apart[0], atol=1e-5) and np.linalg.norm(apart[0]) > 0.1
    cone = numbers(cones["numbers"], "<f4").reshape(frames, 8, 7)[0, 0]
    assert np.isclose(cone[6], rec.contacts["friction"][0])


def test_pages_of_recordings_without_forces_have_none(box, tmp_path):
    box.rollout(5).to_html(tmp_path / "run.html")
    assert content(tmp_path / "run.html")["forces"] == []
