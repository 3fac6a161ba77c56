"""Robots by name that are built, not read from files."""

import pickle

import numpy as np
import pytest

import delassus as dl
from delassus import robots

FLOATING = ["jvrc1", "mini_cheetah", "mit_humanoid", "tello", "walker"]
FIXED = ["crank_rocker", "four_bar_leg", "mit_humanoid_leg", "parallel_ankle"]


def test_they_are_there_without_the_collection(without_collection):
    assert robots.names() == sorted(FLOATING + FIXED)
    for name in robots.names():
        assert robots.load(name).name == name


def test_they_stand_among_those_of_the_collection():
    assert set(FLOATING + FIXED) <= set(robots.names())
    assert robots.names() == sorted(set(robots.names()))


@pytest.mark.parametrize("name", FLOATING + FIXED)
def test_loading_one_is_calling_its_function(name):
    assert str(robots.load(name)) == str(getattr(robots, name)())


@pytest.mark.parametrize("name", FLOATING)
def test_bases_float_unless_one_asks_otherwise(name):
    fixed = robots.load(name, floating_base=False)
    assert robots.load(name, floating_base=True).nv == robots.load(name).nv == fixed.nv + 6
    base = robots.load(name).body_names[0]
    assert fixed.frame(base).body == -1


@pytest.mark.parametrize("name", FIXED)
def test_mechanisms_without_a_base_cannot_float(name):
    assert robots.load(name, floating_base=False).nv == robots.load(name).nv
    with pytest.raises(dl.ModelError, match="no base that could float"):
        robots.load(name, floating_base=True)


def test_they_have_no_file():
    with pytest.raises(dl.MissingFileError, match=r"built by delassus\.robots\.tello\(\)"):
        robots.path("tello")


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one():
    with pytest.raises(dl.UnknownNameError, match="did you mean 'tello'"):
        robots.load("telo")


@pytest.mark.parametrize("name", FLOATING + FIXED)
def test_every_joint_is_marked_as_independent_or_not(name):
    assert all(isinstance(j.independent, bool) for j in robots.load(name).joints)


@pytest.mark.parametrize("name", FLOATING + FIXED)
def test_they_can_be_pickled(name):
    model = robots.load(name)
    again = pickle.loads(pickle.dumps(model))
    assert str(again) == str(model)
    errors = [dl.Constraints(m).position_error(model.neutral()) for m in (model, again)]
    assert np.array_equal(*errors)
