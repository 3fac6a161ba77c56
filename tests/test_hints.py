"""Public functions say what they take and what they return."""

import inspect
import typing

import pytest

import delassus as dl
from delassus import mujoco, robots

CLASSES = {name: x for name in dl.__all__ if inspect.isclass(x := getattr(dl, name))}
FUNCTIONS = {
    **{name: x for name in dl.__all__ if inspect.isfunction(x := getattr(dl, name))},
    **{
        f"{module.__name__}.{name}": x
        for module in (mujoco, robots)
        for name, x in vars(module).items()
        if inspect.isfunction(x)
        and not name.startswith("_")
        and x.__module__.startswith(module.__name__)
    },
}
METHODS = {
    f"{owner.__name__}.{name}": inspect.unwrap(getattr(x, "fget", x))
    for owner in CLASSES.values()
    if not issubclass(owner, (tuple, Exception))
    for name, x in inspect.getmembers(owner)
    if not name.startswith("_") and (inspect.isfunction(x) or isinstance(x, property))
}
# Kernels and symbols are of packages that are not imported, and so have no hints.
UNHINTED = ("delassus.compile.", "delassus.constrained.solvers.")
HINTED = {
    name: x for name, x in (FUNCTIONS | METHODS).items() if not x.__module__.startswith(UNHINTED)
}


@pytest.mark.parametrize("name", HINTED)
def test_arguments_and_results_have_hints(name):
    function = HINTED[name]
    hints = typing.get_type_hints(function)  # which fails for names that do not exist
    parameters = list(inspect.signature(function).parameters)
    wanted = [p for p in parameters if p != "self"]
    missing = [p for p in [*wanted, "return"] if p not in hints]
    assert not missing, f"{name} says nothing of {missing}"
