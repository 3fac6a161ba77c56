"""A recording of a walker whose joints swing, viewers that are closed at the end, and a browser."""

import pytest

import delassus as dl
from delassus.viewer import view

from .browser import PROGRAM, Browser
from .recordings import recorded, swinging


@pytest.fixture(scope="session")
def walker():
    return dl.robots.figure("walker").model


@pytest.fixture(scope="session")
def recording(walker):
    return recorded(walker, swinging(walker))


@pytest.fixture
def shown():
    """`view`, whose viewers end with the test."""
    pytest.importorskip("viser", reason="viser is not installed (extra viewer)")
    opened = []

    def show(*arguments, **options):
        opened.append(view(*arguments, **options))
        # Shadows take long without a graphics card.
        opened[-1].server.scene.configure_default_lights(cast_shadow=False)
        return opened[-1]

    yield show
    for viewer in opened:
        viewer.close()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """One browser for all tests: its first picture takes long."""
    if PROGRAM is None:
        pytest.skip("no chromium was found: apt-get install chromium, or name one by CHROMIUM")
    pytest.importorskip("websockets", reason="websockets is not installed (extra viewer)")
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def new_page(chromium):
    """A function that opens a page, which is closed with the test."""
    opened = []

    def new():
        opened.append(chromium.new_page())
        return opened[-1]

    yield new
    for page in opened:
        page.close()


@pytest.fixture
def page(new_page):
    return new_page()
