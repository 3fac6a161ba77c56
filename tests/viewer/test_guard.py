"""Who may look at a viewer: pages of other sites get nothing, and nobody can publish it."""

import http.client
import socket
import time

import pytest

import delassus as dl
from delassus.viewer.access import guard

FOREIGN = "evil.example"


@pytest.fixture
def viewer(shown):
    b = dl.ModelBuilder("one")
    b.add_body("link", "world", dl.Revolute([0, 0, 1]), mass=1.0)
    return shown(b.build(), port=8600)


def status(viewer, *headers, path="/"):
    """What a server answers to a request with such headers."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=10)
    connection.putrequest("GET", path, skip_host=True)
    for header in headers:
        connection.putheader(*header)
    connection.endheaders()
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def connected(viewer, host, origin):
    """A websocket to the viewer, as a page of this origin opens it."""
    viser = pytest.importorskip("viser")
    client = pytest.importorskip("websockets.sync.client")
    return client.connect(
        f"ws://{host}/",
        sock=socket.create_connection(("127.0.0.1", viewer.port)),
        origin=origin,
        subprotocols=[f"viser-v{viser.__version__}"],
        compression=None,
        max_size=None,
        open_timeout=10,
    )


def test_a_page_is_asked_for_by_the_names_of_this_machine(viewer):
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        host = f"{name}:{viewer.port}"
        assert status(viewer, ("Host", host)) == 200
        assert status(viewer, ("Host", host), ("Origin", f"http://{host}")) == 200


@pytest.mark.parametrize("path", ["/", "/index.html", "/nothing"])
def test_a_foreign_host_or_origin_gets_nothing(viewer, path):
    own = f"127.0.0.1:{viewer.port}"
    for host in (FOREIGN, f"{FOREIGN}:{viewer.port}", "127.0.0.1", f"127.0.0.1:{viewer.port + 1}",
                 f"127.0.0.1.{own}", f"user@{own}", "", f"10.0.0.1:{viewer.port}"):  # fmt: skip
        assert status(viewer, ("Host", host), path=path) == 403, host
    for origin in (f"http://{FOREIGN}", "null", f"https://{own}", f"http://localhost:{viewer.port}",
                   "http://127.0.0.1", f"http://127.0.0.1:{viewer.port + 1}", f"http://{own}.x",
                   ""):  # fmt: skip
        assert status(viewer, ("Host", own), ("Origin", origin), path=path) == 403, origin
    assert status(viewer, path=path) in (400, 403)
    assert status(viewer, ("Host", own), ("Host", FOREIGN), path=path) in (400, 403)


def test_a_websocket_of_a_foreign_page_is_refused(viewer):
    exceptions = pytest.importorskip("websockets.exceptions")
    own = f"127.0.0.1:{viewer.port}"
    for host, origin in [
        (own, f"http://{FOREIGN}"),
        (own, f"http://{FOREIGN}:{viewer.port}"),
        (own, "null"),
        (own, f"http://localhost:{viewer.port}"),
        (f"{FOREIGN}:{viewer.port}", f"http://{FOREIGN}:{viewer.port}"),
        (f"{FOREIGN}:{viewer.port}", None),
    ]:
        with pytest.raises(exceptions.InvalidStatus) as refused, connected(viewer, host, origin):
            pass
        assert refused.value.response.status_code == 403
    for origin in (f"http://{own}", None):
        with connected(viewer, own, origin) as page:
            assert len(page.recv(timeout=10)) > 0  # the scene
    assert not viewer.server.get_clients()


def test_no_message_publishes_the_viewer(viewer, monkeypatch):
    msgpack = pytest.importorskip("msgspec.msgpack")
    tunnels = []
    monkeypatch.setattr("viser._viser.ViserTunnel", lambda *given: tunnels.append(given))
    own = f"localhost:{viewer.port}"
    with connected(viewer, own, f"http://{own}") as page:
        for kind in ("ShareUrlRequest", "ShareUrlDisconnect", "ShareUrlRequest"):
            page.send(msgpack.encode({"type": kind}))
        time.sleep(0.5)
        page.send(msgpack.encode({"type": "ShareUrlRequest"}))
        assert page.recv(timeout=10)
    assert viewer.server.request_share_url() is None
    assert tunnels == []


def test_a_viewer_for_others_is_found_by_numbers_and_by_its_names_only(monkeypatch):
    monkeypatch.setattr(guard, "_names_of_this_machine", lambda: {"robot", "robot.local"})
    headers = http.client.HTTPMessage

    def answers(host, listening):
        told = headers()
        told["Host"] = host
        told.get_all_or_none, told.get_all = told.get_all, lambda n: told.get_all_or_none(n, [])
        return guard.is_own_request(told, listening, 8080)

    for host in ("192.168.0.7:8080", "[fe80::1]:8080", "robot.local:8080", "localhost:8080"):
        assert answers(host, "0.0.0.0")
        assert answers(host, "127.0.0.1") == host.startswith("localhost")
    assert answers("lab.example:8080", "lab.example")
    for host in ("evil.example:8080", "8080", "robot", "[]:8080"):
        assert not answers(host, "0.0.0.0")


def test_a_server_that_answers_anybody_is_not_kept(monkeypatch):
    monkeypatch.setattr(guard, "is_own_request", lambda *_: True)
    with pytest.raises(dl.DelassusError, match="answering pages of other sites"):
        guard.guarded_server("127.0.0.1", 8700)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 8700), timeout=1)


def test_servers_of_others_are_left_alone(viewer):
    viser = pytest.importorskip("viser")
    server = viser.ViserServer(host="127.0.0.1", port=8800, verbose=False)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.get_port(), timeout=10)
        connection.request("GET", "/", headers={"Host": FOREIGN})
        assert connection.getresponse().status == 200
    finally:
        server.stop()
