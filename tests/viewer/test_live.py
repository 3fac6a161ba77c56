"""The viewer in a browser: ports, hosts, what it serves."""

import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

import delassus as dl
from delassus.viewer import view
from delassus.viewer.live import free_port

from .recordings import recorded, swinging


@pytest.fixture
def shown():
    pytest.importorskip("viser", reason="viser is not installed (extra viewer)")
    opened = []

    def show(*arguments, **options):
        opened.append(view(*arguments, **options))
        return opened[-1]

    yield show
    for viewer in opened:
        viewer.close()


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


def test_a_simulator_can_be_looked_at(shown, monkeypatch):
    pytest.importorskip("viser", reason="viser is not installed (extra viewer)")
    from types import SimpleNamespace

    figure = dl.robots.figure("box_on_plane")
    like = SimpleNamespace(model=figure.model, q=np.stack([figure.start] * 2))
    viewer = dl.Simulator.view(like, port=8300)
    try:
        assert viewer.worlds == 2
    finally:
        viewer.close()


def test_bad_input_is_named(walker, recording):
    with pytest.raises(dl.ShapeError, match="q must be"):
        view(walker, np.zeros(3))
    with pytest.raises(dl.ModelError, match="another model"):
        view(dl.robots.figure("misha").model, recording=recording)


def test_without_viser_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(dl.MissingDependencyError, match=r"pip install 'delassus\[viewer\]'"):
        view(dl.robots.figure("nunchuk").model)


def test_the_library_does_not_import_the_viewer():
    code = "import sys, delassus; print([m for m in sys.modules if 'viser' in m or '.viewer' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
