"""The architecture: each layer imports only from those before it."""

import ast
from pathlib import Path

import delassus

PACKAGE = Path(delassus.__file__).parent
LAYERS = ["compile", "spatial", "model", "dynamics", "constrained", "embedding", "contact"]
LAYERS += ["maximal", "simulation"]
OUTSIDE = {"numba", "llvmlite"}


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, ast.parse(path.read_text()), path.relative_to(PACKAGE).with_suffix("").parts


def imported(tree, parts):
    """Absolute names within the package, and the top names of other packages."""
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


def test_no_import_goes_up():
    for path, tree, parts in modules():
        if parts[0] not in LAYERS:
            continue
        for name in imported(tree, parts):
            if name[0] in LAYERS:
                allowed = LAYERS.index(name[0]) <= LAYERS.index(parts[0])
                assert allowed, f"{path} imports {'.'.join(name)}"
            else:
                assert name[0] in ("", "errors"), f"{path} imports {'.'.join(name)}"


def test_only_the_compile_layer_knows_the_compiler():
    for path, tree, parts in modules():
        if parts[0] != "compile":
            found = {n[1] for n in imported(tree, parts) if n[0] == ""} & OUTSIDE
            assert not found, f"{path} imports {found}"
