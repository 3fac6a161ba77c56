"""Tables: records shown to people as aligned text, and to programs as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

# A row of a table: numbers and names by their keys.
Record = dict[str, object]
# The records of a benchmark by the keys of its tables.
Findings = Mapping[str, Sequence[Record]]

_NOTHING = "-"
_GAP = "  "


@dataclass(frozen=True)
class Column:
    """A column of a table: which entry of the records it shows, and how numbers are written."""

    key: str
    heading: str | None = None  # the key, if none is given
    format: str = ""
    unit: str = ""  # written behind every number
    is_shown: bool = True  # otherwise the entry is in the JSON only

    def cell(self, record: Record) -> str:
        """The text for one record."""
        value = record.get(self.key)
        if value is None:
            return _NOTHING
        return str(value) if isinstance(value, str) else format(value, self.format) + self.unit


def named(*keys: str) -> list[Column]:
    """Columns that are headed by their keys and written as they are."""
    return [Column(key) for key in keys]


def numbers(format: str, **headings: str) -> list[Column]:
    """Columns of numbers in one format; `headings` gives their keys and headings."""
    return [Column(key, heading, format) for key, heading in headings.items()]


@dataclass(frozen=True)
class Table:
    """Records with a title; `str` aligns them for people."""

    key: str
    title: str
    columns: Sequence[Column]
    records: Sequence[Record] = ()
    note: str = ""

    def filled(self, records: Sequence[Record]) -> Table:
        """A table of this layout with other records."""
        return replace(self, records=records)

    def data(self) -> list[Record]:
        """All columns of all records, for JSON."""
        return [{c.key: record.get(c.key) for c in self.columns} for record in self.records]

    def __str__(self) -> str:
        columns = [c for c in self.columns if c.is_shown]
        cells = [[c.key if c.heading is None else c.heading for c in columns]]
        cells += [[c.cell(record) for c in columns] for record in self.records]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        is_text = [all(isinstance(r.get(c.key), str) for r in self.records) for c in columns]
        lines = [
            _GAP.join(
                text.ljust(width) if left else text.rjust(width)
                for text, width, left in zip(row, widths, is_text, strict=True)
            ).rstrip()
            for row in cells
        ]
        rule = "─" * max(map(len, lines))
        body = [self.title, rule, lines[0], rule, *lines[1:], rule]
        return "\n".join(body + ([self.note] if self.note else []))
