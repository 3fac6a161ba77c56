"""Optional packages that are not installed."""

import re
import sys

import pytest

import delassus as dl
from delassus.benchmarks.peers import packages
from delassus.benchmarks.reporting.figures import figure
from delassus.extras import install_command


@pytest.mark.parametrize("name, extra", [("pinocchio", "bench"), ("casadi", "casadi"),
                                         ("scipy", "bench")])  # fmt: skip
def test_an_error_says_what_to_install(name, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(dl.MissingDependencyError, match=re.escape(install_command(extra))):
        getattr(packages, name)()


def test_plots_need_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(dl.MissingDependencyError, match="plots need Matplotlib"):
        figure(1, 5, 5, "title")
