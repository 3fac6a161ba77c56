"""Robots by name, from files."""

import pytest

import delassus as dl
from delassus import robots

REQUIRED = {
    "panda",
    "hyq",
    "talos",
    "talos_full",
    "g1",
    "g1_hands",
    "solo12",
    "anymal",
    "go1",
    "go2",
    "a1",
    "ur5",
    "ur10",
    "kinova",
    "tiago",
    "icub",
    "romeo",
    "double_pendulum",
    "allegro_left",
    "allegro_right",
    "cassie",
}

try:
    robots.path("panda")
except dl.MissingDependencyError:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)


def test_the_well_known_ones_are_there():
    assert REQUIRED.issubset(robots.names())
    assert robots.names() == sorted(robots.names())
    assert len(robots.names()) >= 68


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_loads_without_a_warning(name, recwarn):
    model = robots.load(name)
    assert model.nv > 0
    assert not recwarn.list


def test_legged_robots_float_and_arms_stand_unless_one_asks_otherwise():
    assert robots.load("solo12").nv == 18
    assert robots.load("solo12", floating_base=False).nv == 12
    assert robots.load("panda").nv == 9
    assert robots.load("panda", floating_base=True).nv == 15


def test_an_unknown_name_is_answered_with_known_ones():
    with pytest.raises(KeyError, match="did you mean 'talos'"):
        robots.load("talus")
    with pytest.raises(dl.DataTypeError):
        robots.load(None)


def test_without_the_collection_the_error_says_what_to_install(without_collection):
    with pytest.raises(dl.MissingDependencyError, match='pip install "example-robot-data>='):
        robots.load("panda")
    (without_collection / "share" / "example-robot-data" / "robots").mkdir(parents=True)
    with pytest.raises(dl.MissingDependencyError, match="another release"):
        robots.load("panda")
