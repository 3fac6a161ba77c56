"""A recording of a walker whose joints swing."""

import pytest

import delassus as dl

from .recordings import recorded, swinging


@pytest.fixture(scope="session")
def walker():
    return dl.robots.figure("walker").model


@pytest.fixture(scope="session")
def recording(walker):
    return recorded(walker, swinging(walker))
