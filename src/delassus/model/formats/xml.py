"""XML read safely and with errors that say where: no entities, no network, no surprises.

A `Document` remembers which elements and attributes its reader asked for; what nobody asked for is
reported, so that nothing in a file is ignored in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from xml.parsers import expat

import numpy as np
from lxml import etree

from ...errors import DelassusError, FileFormatError
from .report import Report

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
HUGE = 1e100  # beyond this, products of the numbers of a model overflow


def parse(content: bytes, report: Report) -> Document:
    """The document of a file's bytes."""
    _refuse_document_type(content, report.file)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        line = getattr(error, "lineno", None)
        where = f"{report.file}:{line}" if line else report.file
        raise FileFormatError(f"{where}: not well-formed XML: {error}") from None
    if root is None:
        raise FileFormatError(f"{report.file}: an XML file without an element")
    if root.getroottree().docinfo.doctype:
        raise _document_type_error(report.file)
    return Document(root, report)


class _PrologEnd(Exception):
    """Raised at the first element, or before at a declaration that is refused."""


def _refuse_document_type(content: bytes, file: str) -> None:
    """Stop before a parser sees entity declarations, whatever the file's encoding."""
    refused = False

    def refuse(*_):
        nonlocal refused
        refused = True
        raise _PrologEnd

    def stop(*_):
        raise _PrologEnd

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = stop
    # What is malformed is described better by the real parser.
    with suppress(_PrologEnd, expat.ExpatError, ValueError, LookupError):
        parser.Parse(content, True)
    if refused:
        raise _document_type_error(file)


def _document_type_error(file: str) -> FileFormatError:
    return FileFormatError(
        f"{file}: declares a document type (<!DOCTYPE>); model files have none, and entities are "
        "not expanded"
    )


class Document:
    """A parsed file and what its reader has used of it."""

    def __init__(self, root: etree._Element, report: Report):
        self.report = report
        self._used: set[etree._Element] = set()
        self._used_attributes: set[tuple[etree._Element, str]] = set()
        self.root = Node(root, self)

    @property
    def file(self) -> str:
        """The file's name, for messages."""
        return self.report.file

    def use(self, element: etree._Element, attribute: str | None = None) -> None:
        """Remember that an element, or one of its attributes, was read."""
        if attribute is None:
            self._used.add(element)
        else:
            self._used_attributes.add((element, attribute))

    def report_unused(self) -> None:
        """Count every element and attribute that was not read."""
        pending = [self.root.element]
        while pending:
            element = pending.pop()
            if element not in self._used:
                self.report.ignore(f"<{_tag(element)}>")
                continue
            for name in element.attrib:
                if (element, name) not in self._used_attributes:
                    self.report.ignore(f"{_local(name, element)}= of <{_tag(element)}>")
            pending.extend(element)


class Node:
    """An element whose content is read with checks."""

    def __init__(self, element: etree._Element, document: Document):
        self.element = element
        self.document = document
        document.use(element)

    @property
    def tag(self) -> str:
        """The element's tag, with its prefix if it has one."""
        return _tag(self.element)

    # --- neighbours -------------------------------------------------------------------------------

    def child(self, tag: str) -> Node | None:
        """The first child of a tag; further ones stay unread, and are reported."""
        element = self.element.find(tag)
        return None if element is None else Node(element, self.document)

    def required_child(self, tag: str) -> Node:
        """The first child of a tag, which must exist."""
        child = self.child(tag)
        if child is None:
            raise self.error(f"needs a <{tag}>")
        return child

    def children(self, tag: str) -> list[Node]:
        """All children of a tag, in the file's order."""
        return [Node(e, self.document) for e in self.element.findall(tag)]

    def descendants(self, tag: str | None = None) -> Iterator[Node]:
        """The element itself and all below it, or those of a tag, in the file's order."""
        return (Node(e, self.document) for e in self.element.iter(tag or "*"))

    def skip(self, *tags: str) -> None:
        """Let children of these tags, with all they hold, pass without a report."""
        for tag in tags:
            for child in self.element.findall(tag):
                for element in child.iter():
                    self.document.use(element)
                    for name in element.attrib:
                        self.document.use(element, name)

    # --- attributes -------------------------------------------------------------------------------

    def attribute(self, name: str) -> str | None:
        """An attribute's text, None if it is absent."""
        self.document.use(self.element, name)
        return self.element.get(name)

    def required(self, name: str) -> str:
        """An attribute's text, which must exist and not be blank."""
        text = (self.attribute(name) or "").strip()
        if not text:
            raise self.error(f"needs the attribute {name!r}")
        return text

    def number(self, name: str, default: float | None = None, huge: float = HUGE) -> float:
        """An attribute that is one finite number; without a default it must exist."""
        text = self.required(name) if default is None else self.attribute(name)
        return default if text is None else self._numbers(text, 1, name, huge)[0]

    def limit(self, name: str, default: float | None = None) -> float:
        """A number that may be as large as a computer can hold, which is said instead of none."""
        return self.number(name, default, huge=np.inf)

    def vector(self, name: str, count: int, default=None, huge: float = HUGE) -> np.ndarray:
        """An attribute of so many finite numbers; without a default it must exist."""
        text = self.required(name) if default is None else self.attribute(name)
        return np.array(default if text is None else self._numbers(text, count, name, huge), float)

    def flag(self, name: str) -> bool | None:
        """An attribute that is true or false, None if it is absent."""
        text = self.attribute(name)
        return None if text is None else self._flag(text, name)

    # --- text -------------------------------------------------------------------------------------

    def text(self) -> str:
        """The element's own text, which must not be blank."""
        text = (self.element.text or "").strip()
        if not text:
            raise self.error("is empty")
        return text

    def text_number(self, infinite: bool = False) -> float:
        """The element's text as a number, finite unless infinity is allowed."""
        text = self.text()
        if infinite and _INFINITY.fullmatch(text):
            return float(text)
        return self._numbers(text, 1, huge=np.inf if infinite else HUGE)[0]

    def text_vector(self, count: int, huge: float = HUGE) -> np.ndarray:
        """The element's text as so many finite numbers."""
        return np.array(self._numbers(self.text(), count, huge=huge))

    def text_flag(self) -> bool:
        """The element's text as true or false."""
        return self._flag(self.text())

    # --- errors -----------------------------------------------------------------------------------

    def error(self, message: str, attribute: str | None = None) -> FileFormatError:
        """An error that names the file, the line, the element and its nearest named ancestor."""
        path = [self.element]
        for ancestor in self.element.iterancestors():
            if path[-1].get("name") or ancestor.getparent() is None:
                break
            path.append(ancestor)
        parts = [_start_tag(e) for e in reversed(path)]
        if attribute is not None:
            own = parts.pop()
            parts.append(own if self.element.get("name") else f"{own[:-1]} {attribute}>")
            if self.element.get("name"):
                parts.append(attribute)
        where = f"{self.document.file}:{self.element.sourceline}"
        return FileFormatError(f"{where}: {': '.join(parts)}: {message}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Errors in this block are told as this element's."""
        try:
            yield
        except FileFormatError:
            raise
        except DelassusError as error:
            raise self.error(str(error)) from None

    def _numbers(
        self, text: str, count: int, attribute: str | None = None, huge: float = HUGE
    ) -> list[float]:
        words = text.split()
        expected = "a number" if count == 1 else f"{count} numbers"
        if len(words) != count or not all(map(_NUMBER.fullmatch, words)):
            hint = "; run xacro on the file first" if "${" in text or "$(" in text else ""
            raise self.error(f"expected {expected}, got {_shortened(text)}{hint}", attribute)
        numbers = [float(word) for word in words]
        if not all(abs(x) < huge for x in numbers):
            raise self.error(f"expected {expected}, got {_shortened(text)}: too large", attribute)
        return numbers

    def _flag(self, text: str, attribute: str | None = None) -> bool:
        word = text.strip().lower()
        if word not in ("true", "false", "1", "0"):
            raise self.error(f"expected true or false, got {_shortened(text)}", attribute)
        return word in ("true", "1")


def _tag(element: etree._Element) -> str:
    return _local(element.tag, element)


def _local(name: str, element: etree._Element) -> str:
    """A name as the file writes it: prefix:name for one of a namespace."""
    if not name.startswith("{"):
        return name
    uri, local = name[1:].split("}", 1)
    prefixes = [p for p, u in element.nsmap.items() if u == uri and p]
    return f"{prefixes[0]}:{local}" if prefixes else local


def _start_tag(element: etree._Element) -> str:
    name = element.get("name")
    return f'<{_tag(element)} name="{name}">' if name else f"<{_tag(element)}>"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
