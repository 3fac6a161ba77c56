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
    with pytest.raises(dl.FileFormatError, match="of version 12, and this program reads version 1"):
        dl.Recording.load(file)
    assert main(["view", str(file), "--no-browser"]) == 2


def test_without_viser_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(dl.MissingDependencyError, match=r"pip install 'delassus\[viewer\]'"):
        view(dl.robots.figure("nunchuk").model)


def test_the_library_does_not_import_the_viewer():
    code = "import sys, delassus; print([m for m in sys.modules if 'viser' in m or '.viewer' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
