"""What is refused before MuJoCo sees it: numbers that are none, and what it does not survive.

MuJoCo takes nan for "not given", and carries infinities into its model. Some input makes its
compiler run for hours, crash, or fail while it holds a lock, so that it never reads a file again:
blank numbers, files that never end, files that refer to themselves, and counts of millions.
"""

from __future__ import annotations

import copy
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree

from ....errors import FileFormatError
from ..content import file_content, is_irregular
from ..mesh_files import check_mesh, check_packed
from ..report import Report
from ..xml import HUGE, Document, Node, parse

# Attributes that hold names, paths and texts; all others hold numbers or keywords.
_TEXTS = frozenset((
    "name", "class", "childclass", "model", "prefix", "content_type", "assetdir", "meshdir",
    "texturedir", "file", "fileback", "filedown", "filefront", "fileleft", "fileright", "fileup",
    "filename", "link", "body", "body1", "body2", "joint", "joint1", "joint2", "geom", "geom1",
    "geom2", "site", "site1", "site2", "cranksite", "slidersite", "refsite", "sidesite", "tendon",
    "tendon1", "tendon2", "actuator", "sensor", "mesh", "material", "texture", "hfield", "skin",
    "flex", "frame", "camera", "light", "target", "objname", "refname", "subtree1", "subtree2",
    "instance", "plugin", "key", "node", "curve", "hash",
))  # fmt: skip
_TEXTS_OF = {("text", "data"), ("config", "value"), ("layer", "role")}
_FILES = frozenset(name for name in _TEXTS if name.startswith("file"))
_FOLDERS = ("assetdir", "meshdir", "texturedir")
_NAN = re.compile(r"[+-]?nan\(.*", re.IGNORECASE)  # as C writes it, with a text in brackets

# Elements that others refer to by file, and that are MJCF themselves.
_DOCUMENTS = ("include", "model")
# The most elements that a file may ask for by counts: MuJoCo takes a minute for 10 000.
_MOST_ELEMENTS = 10_000
_MOST_MADE = 20_000  # by all means together, beyond what the file has
_MOST_CELLS = 2**26
# Attributes whose product is the number of elements, or of cells.
_COUNTS = {
    "replicate": ("count",),
    "composite": ("count",),
    "flexcomp": ("count",),
    "size": ("nkey",),
}
_CELLS = {
    "hfield": ("nrow", "ncol"),
    "texture": ("width", "height"),
    "size": tuple(f"nuser_{kind}" for kind in ("body", "jnt", "geom", "site", "cam", "tendon")),
}


def check_mjcf(document: Document, path: Path) -> None:
    """Raise an error for a file, or one that it includes, which MuJoCo must not read."""
    main = Path(os.path.realpath(path))
    documents = list(_with_included(document, main, main.parent, [], set()))
    made = _count_made(document, main, main.parent, {})
    if made > _MOST_MADE + sum(1 for _ in document.root.descendants()):
        raise document.root.error(
            f"asks for {made:.6g} elements by <attach>, <include> and <replicate>; at most "
            f"{_MOST_MADE} more than it has are read, so expand it by MuJoCo first"
        )
    folders = {
        node.attribute(name) or ""
        for each, _ in documents
        for node in each.root.descendants("compiler")
        for name in _FOLDERS
    }
    for each, folder in documents:
        _check_encoding(each)
        for node in each.root.descendants():
            _check_counts(node)
            for name, text in node.element.attrib.items():
                if name in _FILES:
                    for place in _places(text, {folder, main.parent}, {"", *folders}):
                        _check_file(node, name, place)
                elif name not in _TEXTS and (node.tag, name) not in _TEXTS_OF:
                    _check_numbers(node, name, text)


def _check_file(node: Node, name: str, place: Path) -> None:
    """Raise an error for a file that MuJoCo must not read."""
    if is_irregular(place):
        raise node.error(f"{node.attribute(name)!r} is not a regular file", name)
    try:
        if node.tag == "mesh" and place.is_file():
            check_mesh(place)
        elif place.is_file():
            check_packed(place)
    except (FileFormatError, OSError) as error:
        raise node.error(f"{place.name!r}: {error}", name) from None


def _check_encoding(document: Document) -> None:
    tree = document.root.element.getroottree()
    encoding = (tree.docinfo.encoding or "utf-8").lower()
    is_ascii = etree.tostring(tree, encoding="unicode").isascii()
    if encoding not in ("utf-8", "ascii", "us-ascii") and not is_ascii:
        raise document.root.error(f"MuJoCo reads UTF-8 only, and this is {encoding}")


def _with_included(
    document: Document, path: Path, main: Path, above: list[Path], seen: set[Path]
) -> Iterator[tuple[Document, Path]]:
    """A document and all that it includes or attaches, each with its folder."""
    yield document, path.parent
    seen.add(path)
    for tag in _DOCUMENTS:
        for node in document.root.descendants(tag):
            reference = node.attribute("file") or ""
            for place in _places(reference, {path.parent, main}, {""}):
                if place in (*above, path):
                    raise node.error(f"{reference!r} is part of itself", "file")
                if place in seen or not os.path.exists(place):
                    continue  # what does not exist, MuJoCo says
                included = parse(file_content(place), Report(place.name))
                yield from _with_included(included, place, main, [*above, path], seen)


def _count_made(document: Document, path: Path, main: Path, known: dict[Path, float]) -> float:
    """The elements that MuJoCo makes of a document: files of a few lines can ask for billions."""
    if path in known:
        return known[path]
    known[path] = 0.0  # no document is part of itself, which was looked at before

    def of_file(node: Node) -> float:
        for place in sorted(_places(node.attribute("file") or "", {path.parent, main}, {""})):
            if os.path.exists(place):
                found = parse(file_content(place), Report(place.name))
                return _count_made(found, place, main, known)
        return 0.0

    models: dict[str, float] = {}
    made = 0.0
    for node in document.root.descendants("model"):
        own = of_file(node)
        name = (node.attribute("name") or "").strip() or Path(node.attribute("file") or "").stem
        models[name] = own
        made += own
    most = max(models.values(), default=0.0)

    def of_element(element: etree._Element) -> float:
        node, times = Node(element, document), 1.0
        total = 1.0 + sum(map(of_element, element.iterchildren(tag=etree.Element)))
        if node.tag == "include":
            total += of_file(node)
        if node.tag == "attach":
            total += models.get((node.attribute("model") or "").strip(), most)
        if node.tag == "replicate":
            times = _product(node, _COUNTS)
        return times * total

    known[path] = made + of_element(document.root.element)
    return known[path]


def as_one(document: Document, path: Path) -> str:
    """The text of a document with what it includes, and with whole paths of what it attaches."""
    root = copy.deepcopy(document.root.element)
    folder = path.absolute().parent
    for _ in range(_MOST_MADE):
        include = next(root.iter("include"), None)
        if include is None:
            break
        place = _existing(include, folder)
        if place is None:
            raise document.root.error(f"there is no file {include.get('file')!r} to include")
        held = parse(file_content(place), Report(place.name)).root.element
        for child in held.iterchildren():
            include.addprevious(child)
        include.getparent().remove(include)
    for model in root.iter("model"):
        place = _existing(model, folder)
        if place is not None:
            model.set("file", str(place))
    return etree.tostring(root, encoding="unicode")


def _existing(element: etree._Element, folder: Path) -> Path | None:
    """The file that an element of a file in a folder refers to, None if there is none."""
    places = _places(element.get("file") or "", {folder}, {""})
    return next((place for place in places if place.is_file()), None)


def _places(reference: str, starts: set[Path], folders: set[str]) -> Iterator[Path]:
    """Where MuJoCo may look for a file."""
    for start in starts if reference.strip() else ():
        for folder in folders:
            for name in {reference.strip(), os.path.basename(reference.strip())}:
                yield Path(os.path.realpath(start / folder / name))


def _check_numbers(node: Node, attribute: str, text: str) -> None:
    """Raise an error if a text is blank, or holds a number that is not finite."""
    words = text.split()
    if not words and attribute == "rgba":
        return  # MuJoCo takes a blank colour for none, and goes on
    if not words:
        raise node.error("is blank", attribute)
    largest = math.inf if attribute.endswith("range") else HUGE
    for word in words:
        if not _size(word) < largest:
            too_large = ": too large" if math.isfinite(_size(word)) else ""
            raise node.error(f"expected finite numbers, got {word!r}{too_large}", attribute)


def _size(word: str) -> float:
    """The absolute value of a number, zero for a word that is none."""
    try:
        return abs(float(word))
    except ValueError:
        return math.nan if _NAN.match(word) else 0.0


def _check_counts(node: Node) -> None:
    made = _product(node, _COUNTS)
    if node.tag == "replicate":  # copies of all that it holds, and of copies in it
        made *= sum(1 for _ in node.element.iter())
        for outer in node.element.iterancestors("replicate"):
            made *= _product(Node(outer, node.document), _COUNTS)
    for number, most in ((made, _MOST_ELEMENTS), (_product(node, _CELLS), _MOST_CELLS)):
        if number > most:
            raise node.error(f"asks for {number:.6g} of what at most {most} are read")


def _product(node: Node, attributes: Mapping[str, tuple[str, ...]]) -> float:
    result = 1.0
    for name in attributes.get(node.tag, ()):
        for word in (node.attribute(name) or "").split():
            try:
                result *= max(1.0, float(word))
            except ValueError:  # which MuJoCo refuses
                continue
    return result
