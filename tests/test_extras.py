"""Errors on what is missing say a command that works, as the package is in no index of pip's."""

import re
import shlex
from importlib import metadata
from pathlib import Path

import pytest

import delassus as dl
from delassus.extras import EXTRAS, install_command

SOURCES = Path(dl.__file__).parent
PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def declared():
    """The packages of all extras of `pyproject.toml`, those of extras within extras too."""
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 does not read TOML")
    table = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]

    def packages(extra):
        for name in table[extra]:
            if own := re.fullmatch(r"delassus\[(.*)\]", name):
                for other in own[1].split(","):
                    yield from packages(other)
            else:
                yield name

    return {extra: set(packages(extra)) for extra in table}


def test_the_table_of_extras_is_that_of_the_project():
    known = declared()
    assert known.keys() - EXTRAS.keys() == {"test", "all"}
    for extra, packages in EXTRAS.items():
        assert set(packages) == known[extra]
        assert known[extra] <= known["all"] <= known["test"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_command_of_an_extra_names_packages_that_pip_knows(extra):
    pip, install, *names = shlex.split(install_command(extra))
    assert (pip, install) == ("pip", "install") and names
    for name in names:
        package, least = re.fullmatch(r"([a-z0-9-]+)>=([0-9.]+)", name).groups()
        assert package != "delassus"
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue  # this one is not installed here
        assert [*map(int, re.findall(r"\d+", version))] >= [*map(int, least.split("."))]


def test_sources_ask_for_no_package_that_pip_does_not_know():
    asked = set()
    for file in SOURCES.rglob("*.py"):
        text = file.read_text()
        assert not re.search(r"pip install[^\n]*delassus\[", text), file
        asked |= set(re.findall(r"install_command\(\s*['\"](\w+)['\"]", text))
    assert asked == EXTRAS.keys()


def test_options_and_single_packages_are_named():
    assert shlex.split(install_command("robots", "--upgrade"))[2] == "--upgrade"
    (name,) = shlex.split(install_command("bench", only="matplotlib"))[2:]
    assert name.startswith("matplotlib>=")
