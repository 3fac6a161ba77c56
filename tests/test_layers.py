"""The architecture: each layer, and each room of a layer, imports only from those before it."""

import ast
from pathlib import Path

import pytest

import delassus

PACKAGE = Path(delassus.__file__).parent
FILES = ""  # stands for the files of a folder that are in none of its rooms
# The rooms of each folder, from the ground up. A folder's `__init__` may import all of them.
ROOMS = {
    (): [
        *("errors", "extras", "checks", "files", "compile", "spatial", "model", "dynamics"),
        "constrained",
        *("embedding", "contact", "maximal", "simulation", "robots", "mujoco", "benchmarks"),
        *("viewer", "cli", "__main__"),
    ],
    ("compile",): ["language", "recorded", "native", FILES],
    ("spatial",): [FILES],
    ("model",): ["parts", FILES, "formats"],
    ("model", "formats"): [FILES, "urdf", "sdf", "mjcf"],
    ("dynamics",): ["steps", FILES, "derivatives", "actuation"],
    ("embedding",): ["structure", "steps", "algorithms", FILES],
    ("contact",): ["laws", "operators", "solvers", "reference", FILES],
    ("maximal",): ["structure", "rows", FILES],
    ("simulation",): [
        *("narrow", "collision", "actuation", "structure", "solution", "told", "given", FILES)
    ],
    ("benchmarks",): [
        *("peers", "measuring", "reporting", "comparing", FILES),
        *("tree", "seed_000", "seed_002", "seed_003", "seed_004", "contact", "simulation"),
        *("suite", "demo"),
    ],
    ("constrained",): [
        "rows",
        "recursion",
        "factor",
        "solvers",
        "delassus",
        "derivatives",
        "tasks",
    ],
}
MOST_FILES = 20  # on one floor
# Layers that use the library as its users do: they may import public names from its root.
USERS = ("benchmarks", "cli")


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, ast.parse(path.read_text()), path.relative_to(PACKAGE).with_suffix("").parts


def imported(tree, parts):
    """Names within the package, by parts, and after an empty one the names of other packages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = parts[: len(parts) - node.level]
                target = (*base, *(node.module or "").split("."))
                names = [(*target, a.name) for a in node.names]
                yield from (tuple(p for p in n if p) for n in names)
            else:
                yield ("", node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            yield from (("", a.name.split(".")[0]) for a in node.names)


def room(parts, depth):
    """The room of a module in the folder at a depth, or FILES."""
    is_folder = PACKAGE.joinpath(*parts[: depth + 1]).is_dir()
    return parts[depth] if is_folder or depth == 0 else FILES


def test_no_import_goes_up():
    for path, tree, parts in modules():
        for name in imported(tree, parts):
            if name[0] == "":
                continue
            if parts[0] in USERS and len(name) == 1 and name[0] in delassus.__all__:
                continue
            depth = 0
            while True:
                folder = parts[:depth]
                if parts[depth] == "__init__" or folder not in ROOMS or len(name) <= depth:
                    break
                rooms, own, other = ROOMS[folder], room(parts, depth), room(name, depth)
                says = f"{path.relative_to(PACKAGE)} imports {'.'.join(name)}"
                assert own in rooms and other in rooms, says
                assert rooms.index(other) <= rooms.index(own), says
                if own != other or own == FILES:
                    break
                depth += 1


@pytest.mark.parametrize("top", [PACKAGE, Path(__file__).parent], ids=["sources", "tests"])
def test_no_floor_is_crowded(top):
    for folder in [top, *(f for f in top.rglob("*") if f.is_dir())]:
        files = list(folder.glob("*.py"))
        assert len(files) <= MOST_FILES, f"{folder} has {len(files)} files"


def test_every_folder_says_what_it_is_for():
    for path, tree, parts in modules():
        if parts[-1] == "__init__":
            assert ast.get_docstring(tree), f"{path} has no head"


def test_only_the_compile_layer_knows_the_compiler():
    for path, tree, parts in modules():
        if parts[0] != "compile":
            found = {n[1] for n in imported(tree, parts) if n[0] == ""} & {"numba", "llvmlite"}
            assert not found, f"{path} imports {found}"


def test_recorded_functions_know_no_compiler():
    for path, tree, parts in modules():
        if parts[:2] == ("compile", "recorded"):
            found = {n[1] for n in imported(tree, parts) if n[0] == ""} & {"numba", "llvmlite"}
            assert not found, f"{path} imports {found}"
