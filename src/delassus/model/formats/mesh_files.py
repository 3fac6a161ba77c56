"""Mesh files and pictures before others read them: what would take all memory, or never end.

Archives are not unpacked, as a small one may hold anything. Coordinates of STL, OBJ and COLLADA are
looked at, which is cheap: beyond 1e30 products overflow, and hulls and axes are never found.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ...errors import FileFormatError
from ...files import MIB, largest, too_large
from .content import is_irregular

MESHES = 256 * MIB  # bytes of a file
FARTHEST = 1e30  # a coordinate, of whatever unit
MOST_PIXELS = 2**26
STL_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])

_ARCHIVES = {
    b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"\x1f\x8b": "gzip", b"BZh": "bzip2",
    b"\xfd7zXZ": "xz", b"7z\xbc\xaf": "7z", b"\x28\xb5\x2f\xfd": "zstandard", b"Rar!": "rar",
}  # fmt: skip
_PNG = b"\x89PNG\r\n\x1a\n"
# Only a text with one of these can have a coordinate that is too large or none.
_SUSPICIOUS = re.compile(rb"[eE]\+?0*(?:[3-9]\d|[1-9]\d\d)|\d{30}|nan|inf", re.IGNORECASE)
_INDICES = ("p", "v", "vcount", "h", "int_array")  # elements of COLLADA that hold whole numbers
_COUNTS = ("count", "stride", "offset", "set")
_NOT_WHOLE = re.compile(r"[^\d\s+-]|\d{11}|[+-](?!\d)|\d[+-]", re.ASCII)
_VERTEX = re.compile(rb"^[ \t]*(?:v|vertex)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)", re.MULTILINE)


def check_packed(path: Path) -> bytes:
    """The first bytes of a file; an error for one that unpacks to what nobody can tell."""
    if is_irregular(path):
        raise FileFormatError("it is not a regular file")
    with open(path, "rb") as file:
        start = file.read(32)
    for mark, kind in _ARCHIVES.items():
        if start.startswith(mark):
            raise FileFormatError(f"it is an archive ({kind}), which is not unpacked here")
    if start.startswith(_PNG):
        width, height = (int.from_bytes(start[k : k + 4], "big") for k in (16, 20))
        if width * height > MOST_PIXELS:
            raise FileFormatError(
                f"it is a picture of {width} by {height}; at most {MOST_PIXELS} pixels are read"
            )
    return start


def check_mesh(path: Path) -> None:
    """Raise an error for a mesh file that must not be read."""
    check_packed(path)
    size, most = path.stat().st_size, largest(MESHES)
    if size > most:
        raise FileFormatError(too_large(size, most))
    suffix = path.suffix.lower()
    if suffix == ".dae":
        _check_collada(path.read_bytes())
    if suffix in (".stl", ".obj"):
        content = path.read_bytes()
        corners = stl_records(content) if suffix == ".stl" else None
        if corners is not None:
            check_coordinates(corners["corners"])
        elif _SUSPICIOUS.search(content):
            try:
                corners = np.array(_VERTEX.findall(content), dtype="S").astype(float)
            except ValueError:
                raise FileFormatError("it has vertices that are no numbers") from None
            check_coordinates(corners)


def _check_collada(content: bytes) -> None:
    """Raise an error for numbers of COLLADA on which readers in C++ go round for ever."""
    from lxml import etree  # not before a file is read: `import delassus` is to be quick

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, recover=False
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise FileFormatError(f"it is no well-formed XML: {error}") from None
    for element in root.iter(etree.Element):
        tag, text = etree.QName(element).localname, element.text or ""
        if tag in _INDICES and _NOT_WHOLE.search(text):
            raise FileFormatError(f"line {element.sourceline}: <{tag}> holds no whole numbers")
        if tag == "float_array" and _SUSPICIOUS.search(text.encode()):
            try:
                check_coordinates(np.array(text.split(), dtype=float))
            except FileFormatError:
                raise
            except ValueError:
                raise FileFormatError(f"line {element.sourceline}: no numbers") from None
        for name in _COUNTS:
            given = element.get(name, "0").strip()
            if not (given.isascii() and given.isdigit()) or int(given) > len(content):
                told = f"line {element.sourceline}: {name}={given[:40]!r} is no count of this file"
                raise FileFormatError(told)


def stl_records(content: bytes) -> np.ndarray | None:
    """The triangles of a binary STL file's bytes, None of one that is a text."""
    count = int.from_bytes(content[80:84], "little")
    if len(content) < 84 or len(content) != 84 + 50 * count:
        return None
    return np.frombuffer(content, STL_RECORD, count, 84)


def check_coordinates(points: np.ndarray) -> None:
    """Raise an error for coordinates with which nothing can be computed."""
    if not np.isfinite(points).all():
        raise FileFormatError("it has coordinates that are not finite")
    farthest = np.abs(points).max(initial=0.0)
    if farthest > FARTHEST:
        raise FileFormatError(f"it has a coordinate of {farthest:.3g}: beyond {FARTHEST:g}")
