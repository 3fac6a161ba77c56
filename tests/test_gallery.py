"""The gallery has a picture of every system, small enough, with the line that makes it move."""

import re
from pathlib import Path

import pytest

import delassus as dl

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
LINES = dict(re.findall(r"!\[[^]]+\]\(pictures/(\w+)\.png\)\n\n```python\n([^`]+)\n```", PAGE))
LARGEST = 150_000  # bytes
WIDTH, HEIGHT = 640, 420


def test_every_system_of_the_suite_is_shown_by_its_own_line():
    assert list(LINES)[: len(dl.robots.suite())] == list(dl.robots.suite())
    for name in dl.robots.suite():
        assert f'("{name}"' in LINES[name]
    assert len(LINES) == PAGE.count("pictures/") - PAGE.count("docs/pictures/gallery.py")


@pytest.mark.parametrize("name", LINES)
def test_pictures_are_there_and_small(name):
    content = (DOCS / "pictures" / f"{name}.png").read_bytes()
    assert len(content) < LARGEST
    assert content.startswith(b"\x89PNG")
    size = [int.from_bytes(content[k : k + 4], "big") for k in (16, 20)]
    assert size == [WIDTH, HEIGHT]
