"""The report: one HTML file that opens from disk, and the data beside it.

`suite.html` has all tables and plots, `suite.json` all tables, and `runs.parquet` (or `runs.csv`
where pyarrow is not installed) one line for each run of a solver on a sample.
"""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..reporting.tables import Record, Table
from . import plots
from .store import replacing, write_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1500px; padding: 0 1em }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto }
th, td { padding: 2px 8px; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
th { border-bottom: 2px solid #888 } p.note { color: #555; font-size: 13px; white-space: pre-line }
svg { max-width: 100%; height: auto }
"""


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a run of the suite found."""

    folder: Path
    machine: Mapping[str, object]
    plan: Mapping[str, object]
    tables: Sequence[Table]
    runs: Sequence[Record]
    curves: Mapping[str, Mapping[str, tuple]]
    failures: Sequence[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n\n".join([self._where(), *map(str, self.tables)])

    def _where(self) -> str:
        m = self.machine
        versions = ", ".join(f"{name} {x}" for name, x in m["versions"].items())
        return (
            f"{m['processor']}, {m['cores']} cores, {m['date']}; Python {m['python']}, {versions}"
        )

    def data(self) -> dict[str, object]:
        """Tables, machine and plan as what JSON can hold."""
        return {
            "benchmark": "suite",
            "machine": dict(self.machine),
            "plan": dict(self.plan),
            "tables": {table.key: table.data() for table in self.tables},
            "failures": list(self.failures),
        }

    def save(self, folder: Path | None = None, json_only: bool = False) -> list[Path]:
        """Write the report; it stands beside samples and solutions whatever `folder` is."""
        paths = [self.folder / "suite.json", _write_runs(self.folder, self.runs)]
        write_json(paths[0], self.data())
        if not json_only:
            paths.append(self.folder / "suite.html")
            with replacing(paths[-1]) as part:
                part.write_text(self.page(), encoding="utf-8")
        return paths

    def page(self) -> str:
        """The report as one HTML page without links to anything outside."""
        drawn = [
            plots.time_profiles(self.runs),
            plots.accuracy_profiles(self.runs),
            *([plots.convergence(self.curves)] if self.curves else []),
        ]
        parts = [f"<p>{html.escape(self._where())}</p>", *map(_svg, drawn)]
        parts += [_table(table) for table in self.tables]
        parts += [f"<p>FAILED: {html.escape(x)}</p>" for x in self.failures]
        title = "Solvers of contact on thirteen systems"
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{_STYLE}</style></head><body><h1>{title}</h1>{''.join(parts)}</body></html>\n"
        )


def _svg(made: Figure) -> str:
    """A plot as part of a page."""
    text = io.StringIO()
    made.savefig(text, format="svg")
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]


def _table(table: Table) -> str:
    columns = [c for c in table.columns if c.is_shown]
    heads = "".join(f"<th>{html.escape(c.heading or c.key)}</th>" for c in columns)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c.cell(r))}</td>" for c in columns) + "</tr>"
        for r in table.records
    )
    note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
    return f"<h2>{html.escape(table.title)}</h2><table><tr>{heads}</tr>{lines}</table>{note}"


def _write_runs(folder: Path, runs: Sequence[Record]) -> Path:
    """One line for each run: Parquet, or CSV without pyarrow."""
    flat = [{**r, "categories": ", ".join(r["categories"])} for r in runs]
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        path = folder / "runs.csv"
        with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(flat[0]) if flat else [])
            writer.writeheader()
            writer.writerows(flat)
        return path
    path = folder / "runs.parquet"
    with replacing(path) as part:
        parquet.write_table(arrow.Table.from_pylist(flat), part)
    return path
