"""What a benchmark found: records shown as aligned text, kept as JSON and drawn as plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOTHING = "-"
_GAP = "  "


@dataclass(frozen=True)
class Column:
    """A column of a table: which entry of the records it shows, and how numbers are written."""

    key: str
    heading: str | None = None  # the key, if none is given
    format: str = ""
    unit: str = ""  # written behind every number

    def cell(self, record: Mapping[str, object]) -> str:
        """The text for one record."""
        value = record.get(self.key)
        if value is None:
            return _NOTHING
        return str(value) if isinstance(value, str) else format(value, self.format) + self.unit


@dataclass(frozen=True)
class Table:
    """Records with a title; `str` aligns them for people."""

    key: str
    title: str
    columns: Sequence[Column]
    records: Sequence[Mapping[str, object]]
    note: str = ""

    def data(self) -> list[dict[str, object]]:
        """What the table shows, as records for JSON."""
        return [{c.key: record.get(c.key) for c in self.columns} for record in self.records]

    def __str__(self) -> str:
        cells = [[c.key if c.heading is None else c.heading for c in self.columns]]
        cells += [[c.cell(record) for c in self.columns] for record in self.records]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        is_text = [all(isinstance(r.get(c.key), str) for r in self.records) for c in self.columns]
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


@dataclass(frozen=True)
class Result:
    """All that one run of a benchmark found."""

    name: str
    title: str
    settings: Settings
    tables: Sequence[Table]
    summary: Mapping[str, object]  # numbers for programs
    conclusions: Sequence[str]  # the same for people
    machine: Mapping[str, object]
    plots: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    failures: Sequence[str] = ()

    def __str__(self) -> str:
        parts = [f"{self.title}\n{self._where()}", *map(str, self.tables)]
        parts += ["\n".join(self.conclusions), *(f"FAILED: {x}" for x in self.failures)]
        return "\n\n".join(parts)

    def _where(self) -> str:
        m = self.machine
        load = "" if m["load"] is None else f", load before the run {m['load']:.1f}"
        return f"{m['processor']}, {m['cores']} cores{load}, {m['date']}"

    def data(self) -> dict[str, object]:
        """The whole result as what JSON can hold."""
        return {
            "benchmark": self.name,
            "title": self.title,
            "machine": dict(self.machine),
            "settings": asdict(self.settings),
            "summary": dict(self.summary),
            "tables": {table.key: table.data() for table in self.tables},
            "failures": list(self.failures),
        }

    def save(self, folder: Path, json_only: bool = False) -> list[Path]:
        """Write NAME.json and, if not only that, NAME.txt and NAME-PLOT.png; return the paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{self.name}.json"]
        paths[0].write_text(json.dumps(self.data(), indent=2) + "\n", encoding="utf-8")
        if json_only:
            return paths
        paths.append(folder / f"{self.name}.txt")
        paths[1].write_text(f"{self}\n", encoding="utf-8")
        for plot, draw in self.plots.items():
            paths.append(folder / f"{self.name}-{plot}.png")
            draw().savefig(paths[-1], dpi=150)
        return paths
