"""A recording becomes one page with all that it needs."""

import base64
import json
import re

import numpy as np
import pytest

import delassus as dl
from delassus.viewer.motion import body_poses, quantized

from .recordings import recorded, swinging


def content(path):
    text = path.read_text()
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    return json.loads(found[1])


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


def test_a_page_needs_nothing_else(recording, tmp_path):
    recording.to_html(tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    assert not re.search(r"https?://|<link|<img|src=|import\(|fetch\(", text)
    assert not re.search("@(TITLE|DATA|SCRIPT)@", text)


@pytest.mark.parametrize("name", ["@DATA@", "@SCRIPT@ @TITLE@", "</script><b>", "\\1 \\g<1>"])
def test_a_model_may_have_any_name(walker, tmp_path, name):
    named = walker.replace(name=name)
    recorded(named, swinging(named, 100)).to_html(tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    assert content(tmp_path / "run.html")["name"] == name
    assert text.count("</script>") == 2 and text.rstrip().endswith("</html>")


def test_ten_seconds_of_31_bodies_are_below_ten_megabytes(walker, tmp_path):
    recorded(walker, swinging(walker, 10_000)).to_html(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size < 1e6
    assert len(numbers(content(tmp_path / "run.html")["time"], "<f4")) == 600


def test_poses_on_the_page_are_those_of_kinematics(recording, walker, tmp_path):
    recording.to_html(tmp_path / "run.html")
    data = content(tmp_path / "run.html")
    packed = numbers(data["poses"], "<u2").reshape(-1, walker.n_bodies, 7).astype(float)
    time = numbers(data["time"], "<f4")
    low, step = np.array(data["low"]), np.array(data["step"])
    steps = np.round(time / 1e-3).astype(int) - 1
    for frame in (0, 17, len(time) - 1):
        placed = dl.forward_kinematics(walker, recording.q[steps[frame]], walker.body_names)
        assert np.allclose(low + step * packed[frame, :, :3], placed.translation, atol=2e-5)
        q = packed[frame, :, 3:] / 32767.0 - 1.0
        R = placed.rotation
        x, y, z, w = q.T
        assert np.allclose(1.0 - 2.0 * (y * y + z * z), R[:, 0, 0], atol=2e-4)
        assert np.allclose(2.0 * (x * z + y * w), R[:, 0, 2], atol=2e-4)


def test_frames_are_at_most_sixty_a_second(recording, tmp_path):
    recording.to_html(tmp_path / "run.html")
    time = numbers(content(tmp_path / "run.html")["time"], "<f4")
    assert (len(time) - 1) / (time[-1] - time[0]) <= 60.0 and np.isclose(time[-1], 2.0)


def test_a_recording_of_one_step_is_a_page(walker, tmp_path):
    recorded(walker, swinging(walker, 1)).to_html(tmp_path / "run.html")
    assert len(numbers(content(tmp_path / "run.html")["time"], "<f4")) == 1


def test_a_recording_that_diverged_is_shown_up_to_there(walker, tmp_path):
    q = swinging(walker, 500)
    q[300:] = np.nan
    recorded(walker, q).to_html(tmp_path / "run.html")
    assert np.isclose(numbers(content(tmp_path / "run.html")["time"], "<f4")[-1], 0.3)


def test_worlds_stand_side_by_side(walker, tmp_path):
    q = np.stack([swinging(walker, 100)] * 3)
    recorded(walker, q).to_html(tmp_path / "run.html")
    data = content(tmp_path / "run.html")
    assert data["places"] == 3 * walker.n_bodies
    bases = np.array(data["low"])[:: walker.n_bodies]
    assert np.linalg.norm(bases[1] - bases[0]) > 0.5 < np.linalg.norm(bases[2] - bases[1])


def test_names_cannot_break_the_page(tmp_path):
    b = dl.ModelBuilder("</script><b>")
    b.add_body("rod", mass=1.0, com=(0, 0, -1), inertia=np.eye(3))
    model = b.build()
    recorded(model, np.zeros((10, 1))).to_html(tmp_path / "run.html")
    assert content(tmp_path / "run.html")["name"] == "</script><b>"
    assert "<title>&lt;/script&gt;" in (tmp_path / "run.html").read_text()


def test_a_mesh_that_cannot_be_shown_is_listed(tmp_path):
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    b = dl.ModelBuilder("arm")
    b.add_body("rod", mass=1.0, com=(0, 0, -1), inertia=np.eye(3))
    for k, name in enumerate(("broken.stl", "absent.obj")):
        path = str(tmp_path / name)
        b.add_shape(dl.Shape(f"s{k}", "rod", "visual", "mesh", size=(1, 1, 1), mesh=path))
    recorded(b.build(), np.zeros((10, 1))).to_html(tmp_path / "run.html")
    data = content(tmp_path / "run.html")
    assert [text.split(":")[0] for text in data["missing"]] == ["broken.stl", "absent.obj"]
    assert [s["kind"] for s in data["shapes"]] == ["box"]  # of the body's inertia


def test_meshes_are_on_the_page(tmp_path):
    model = dl.robots.figure("misha", meshes=tmp_path).model
    recorded(model, swinging(model, 50)).to_html(tmp_path / "run.html")
    data = content(tmp_path / "run.html")
    assert data["missing"] == [] and len(data["meshes"]) == 7
    corners = [numbers(m["corners"], "<f4").reshape(-1, 3) for m in data["meshes"]]
    widths = sorted(np.ptp(c[:, 0]) for c in corners)
    assert np.isclose(widths[-1], 2 * 0.14, rtol=0.02)  # that of the base


def test_poses_as_integers_are_near():
    model = dl.robots.figure("gazelle").model
    motion = body_poses(model, swinging(model, 40))
    packed = quantized(motion)
    back = packed.low + packed.step * packed.numbers[..., :3]
    assert np.abs(back - motion.positions).max() < 1e-5
    assert np.abs(packed.numbers[..., 3:] / 32767.0 - 1.0 - motion.quaternions).max() < 2e-5


def test_a_recording_from_a_file_needs_its_model(recording, walker, tmp_path):
    recording.save(tmp_path / "run.rec")
    again = dl.Recording.load(tmp_path / "run.rec")
    with pytest.raises(dl.ModelError, match="does not hold its model"):
        again.to_html(tmp_path / "run.html")
    with pytest.raises(dl.ModelError, match="another model"):
        again.to_html(tmp_path / "run.html", dl.robots.figure("misha").model)
    again.to_html(tmp_path / "run.html", walker)
    assert content(tmp_path / "run.html")["places"] == 31


def test_a_folder_that_is_not_there_is_named(recording, tmp_path):
    with pytest.raises(dl.FileAccessError, match="cannot be written"):
        recording.to_html(tmp_path / "nowhere" / "run.html")
