"""A server of viser that answers pages of its own only, and that never publishes itself.

Any site that is open in a browser may send requests to this machine. What tells it apart from the
viewer's own page are two headers that a browser sets itself and that pages cannot change:

| header | must be | else |
| --- | --- | --- |
| Host | a name of this machine, and the port of the server | a site's name was made to lead here |
| Origin, if any | http:// and that host and port | a page of another site asks |

Programs that are no browsers send no Origin. viser itself looks at neither, and has no place for
such a check, so it is put where the server is made. At the end the server is asked with a foreign
Host: one that answers, as another version of viser might, is ended.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ...errors import DelassusError, MissingDependencyError
from ...extras import install_command

_FORBIDDEN = 403
_FOREIGN = "delassus-viewer.invalid"  # a name that no machine has
_PATIENCE = 10.0  # s
_making = threading.Lock()


def guarded_server(host: str, port: int) -> Any:
    """A `viser.ViserServer` that listens at a host and port, guarded."""
    viser = _viser()

    class Server(viser.ViserServer):
        """Requests for an address in the internet are dropped, whoever sends them."""

        def request_share_url(self, verbose: bool = True) -> None:
            """Do nothing: a viewer is not published."""

        def disconnect_share_url(self) -> None:
            """Do nothing: there is no such address."""

    with _checking(host):
        server = Server(host=host, port=port, verbose=False)
    if _answers_anybody(server.get_host(), server.get_port()):
        server.stop()
        raise DelassusError(
            f"viser {viser.__version__} cannot be kept from answering pages of other sites: use "
            "another version"
        )
    return server


def _viser() -> Any:
    try:
        import viser
    except ImportError:
        raise MissingDependencyError(
            f"the viewer needs viser, which is not installed: {install_command('viewer')}"
        ) from None
    return viser


# --- the rule -------------------------------------------------------------------------------------


def is_own_request(headers: Any, host: str, port: int) -> bool:
    """Whether a request is one of the viewer's own page, or of no page.

    `headers` has `get_all`; `host` is what the server was told to listen at.
    """
    hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
    if len(hosts) != 1 or len(origins) > 1:
        return False
    asked = hosts[0].strip().lower()
    if not _is_name_of(asked, host, port):
        return False
    return not origins or origins[0].strip().lower() == f"http://{asked}"


def _is_name_of(asked: str, host: str, port: int) -> bool:
    """Whether a Host header names a server."""
    name, colon, number = asked.rpartition(":")
    if not colon or asked.endswith("]"):
        name, number = asked, "80"
    if number != str(port):
        return False
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    if bare in ("localhost", host.lower()):
        return True
    address, own = _address(bare), _address("127.0.0.1" if host == "localhost" else host)
    if own is not None and own.is_loopback:
        return address is not None and address.is_loopback
    # Others may look, too. A number cannot be made to lead here, as the name of a site can.
    return address is not None or bare in _names_of_this_machine()


def _address(name: str) -> Any:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _names_of_this_machine() -> set[str]:
    name = socket.gethostname().lower()
    return {name, f"{name}.local", socket.getfqdn().lower()}


# --- where it is put ------------------------------------------------------------------------------


def _guard(host: str, inner: Callable | None) -> Callable:
    """The function by which a server looks at requests, before viser's own."""

    def look(connection: Any, request: Any) -> Any:
        port = connection.transport.get_extra_info("sockname")[1]
        if not is_own_request(request.headers, host, port):
            return connection.respond(_FORBIDDEN, "this viewer answers its own page only\n")
        return None if inner is None else inner(connection, request)

    return look


@contextlib.contextmanager
def _checking(host: str) -> Iterator[None]:
    """While this lasts, servers that viser makes at a host are guarded."""
    module = importlib.import_module("websockets.asyncio.server")
    with _making:
        plain = module.serve

        def serve(handler: Callable, at: Any = None, *places: Any, **options: Any) -> Any:
            inner = options.get("process_request")
            if at == host and getattr(inner, "__module__", "").startswith("viser."):
                options["process_request"] = _guard(host, inner)
            return plain(handler, at, *places, **options)

        module.serve = serve
        try:
            yield
        finally:
            module.serve = plain


def _answers_anybody(host: str, port: int) -> bool:
    """Whether a server answers a request with a foreign Host."""
    here = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)
    connection = http.client.HTTPConnection(here, port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/", headers={"Host": _FOREIGN})
        return connection.getresponse().status != _FORBIDDEN
    except (OSError, http.client.HTTPException):
        return False  # what does not answer does not tell either
    finally:
        connection.close()
