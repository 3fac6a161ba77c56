"""The viewer in a browser: ports, hosts, what it serves."""

import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

import delassus as dl
from delassus.cli import main
from delassus.viewer import view
from delassus.viewer.live import free_port
from delassus.viewer.motion import rotated

from .recordings import recorded, swinging


def test_a_port_in_use_leads_to_the_next_free_one():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) < port + 100


def test_a_model_is_served_to_this_machine(shown, capsys):
    figure = dl.robots.figure("fourbar_fixed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        viewer = shown(figure.model, port=port)
    assert viewer.url.startswith("http://127.0.0.1:") and viewer.port != port
    assert f"port {port} is in use: taking {viewer.port}" in capsys.readouterr().out
    with urllib.request.urlopen(viewer.url, timeout=10) as answer:
        assert answer.status == 200
    q = figure.start.copy()
    q[7] = 0.1
    viewer.update(q)


def test_recordings_and_worlds_are_shown(shown, walker, recording):
    assert shown(walker, recording=recording, port=8200).worlds == 1
    many = recorded(walker, np.stack([swinging(walker, 20)] * 4))
    assert shown(walker, recording=many, port=8200).worlds == 4


def test_bad_input_is_named(walker, recording):
    with pytest.raises(dl.ShapeError, match="q must be"):
        view(walker, np.zeros(3))
    with pytest.raises(dl.ModelError, match="another model"):
        view(dl.robots.figure("misha").model, recording=recording)
    with pytest.raises(dl.ModelError, match="'walker', which is another model than 'double'"):
        view(walker.replace(name="double"), recording=recording)
    sim = dl.Simulator(dl.robots.figure("box_on_plane").model)
    with pytest.raises(dl.ModelError, match="another model"):
        view(walker, simulator=sim)


def test_a_recording_of_another_version_is_refused(tmp_path):
    file = tmp_path / "new.rec"
    file.write_bytes(b"delassus recording 12\n" + bytes(100))
    with pytest.raises(dl.FileFormatError, match="of version 12, and this reads version 2"):
        dl.Recording.load(file)
    assert main(["view", str(file), "--no-browser"]) == 2


def test_without_viser_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(dl.MissingDependencyError, match=r'pip install .*"viser>='):
        view(dl.robots.figure("nunchuk").model)


def test_the_library_does_not_import_the_viewer():
    code = "import sys, delassus; print([m for m in sys.modules if 'viser' in m or '.viewer' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_shapes_stand_where_their_bodies_are(shown):
    """Boxes, cylinders and others of two worlds, by the poses of their bodies."""
    figure = dl.robots.figure("gazelle")
    q = np.stack([swinging(figure.model, 40)[k] for k in (3, 17)])
    viewer = shown(figure.model, q, port=8400)
    found = []
    viewer.stage.show("collision", True)
    for batch in viewer.stage._batches:
        handle = batch.handle
        corners = handle.vertices * 1.0
        for w, p, s in zip(
            handle.batched_wxyzs, handle.batched_positions, handle.batched_scales, strict=True
        ):
            turn = np.roll(w, -1).astype(float)
            found.append((p + rotated(turn[None], corners * s)).mean(axis=0))
    wanted = []
    names = figure.model.body_names
    for world, offset in enumerate(viewer.stage.offsets):
        placed = dl.forward_kinematics(figure.model, q[world], names)
        for thing in viewer.scene.things:
            R, p = placed.rotation[thing.place], placed.translation[thing.place]
            wanted.append(p + R @ thing.placement.translation + offset)
    assert {t.kind for t in viewer.scene.things} >= {"box", "capsule"}
    nearest = np.linalg.norm(np.array(wanted)[:, None] - np.array(found)[None], axis=2).min(axis=1)
    assert nearest.max() < 1e-5  # surfaces are symmetric: their middle is the shape's place
