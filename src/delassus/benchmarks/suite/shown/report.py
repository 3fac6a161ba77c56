"""The report: one HTML file that opens from disk, and the data beside it.

`suite.html` has all tables and plots, `suite.json` all tables and sentences, and `runs.parquet`
(or `runs.csv` where pyarrow is not installed) one line for each run of a solver on a sample.
"""

from __future__ import annotations

import csv
import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from ...reporting.pages import html_page, svg
from ...reporting.tables import Column, Record, Table
from ..solving import MODES
from ..store import replacing, write_json
from . import plots

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; margin: 0 auto 4em; max-width: 1600px;
  padding: 0 1.5em }
h1 { font-size: 26px; margin: 1.2em 0 .2em } h2 { font-size: 20px; margin: 2.2em 0 .4em;
  padding-top: .6em; border-top: 2px solid #3b6fb6 } h3 { font-size: 15px; margin: 1.6em 0 .3em }
nav a { margin-right: 1.2em } a { color: #3b6fb6; text-decoration: none }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 12.5px }
th, td { padding: 2px 9px; text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; border-bottom: 1px solid #e4e4e4 }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: #fff }
td.text { text-align: left } th { border-bottom: 2px solid #888; vertical-align: bottom }
tbody tr:hover td { background-color: #f2f5fa }
p.note, p.where { color: #555; font-size: 13px; margin: .3em 0 } p.note { white-space: pre-line }
ul.findings li { margin: .25em 0 } p.failed { color: #a02020; font-weight: 600 }
details { margin: 1em 0 } summary { cursor: pointer; color: #3b6fb6 }
svg { max-width: 100%; height: auto; display: block; margin: .6em 0 }
"""
_SHADED = "ranking", "systems", "accuracy", "profiles", "wins", "joints", "simulations_converged"
_LONG = "simulations", "sweeps"  # tables that are folded at first


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a run of the suite found."""

    folder: Path
    machine: Mapping[str, object]
    plan: Mapping[str, object]
    tables: Sequence[Table]
    runs: Sequence[Record]
    curves: Mapping[str, Mapping[str, tuple]]
    simulated: Sequence[Record] = ()
    swept: Sequence[Record] = ()
    findings: Sequence[str] = ()
    failures: Sequence[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n\n".join([self._where(), *map(str, self.tables), "\n".join(self.findings)])

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
            "findings": list(self.findings),
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
        sections = list(self._sections())
        links = "".join(f'<a href="#{key}">{title}</a>' for key, title, _ in sections)
        parts = [f'<p class="where">{html.escape(self._where())}</p>', f"<nav>{links}</nav>"]
        parts += [f'<p class="failed">FAILED: {html.escape(x)}</p>' for x in self.failures]
        parts += [f'<h2 id="{key}">{title}</h2>{"".join(x)}' for key, title, x in sections]
        return html_page("Solvers of contact on thirteen systems", _STYLE, parts)

    def _sections(self) -> Iterator[tuple[str, str, list[str]]]:
        """Keys, titles and what stands in each section."""
        found = "".join(f"<li>{html.escape(x)}</li>" for x in self.findings)
        how = f"<p>{html.escape(_HOW)}</p>"
        yield "findings", "What the data say", [how, f'<ul class="findings">{found}</ul>']
        yield "samples", "Samples", self._shown("samples")
        drawn = [plots.time_profiles(self.runs), plots.accuracy_profiles(self.runs)]
        yield "profiles", "Performance profiles", [svg(x) for x in drawn]
        for mode, title in MODES.items():
            own = [t.key for t in self.tables if t.key.endswith(f"_{mode}")]
            yield mode, title[0].upper() + title[1:], self._shown(*own)
        more = [svg(plots.convergence(self.curves))] if self.curves else []
        yield "convergence", "Convergence", more
        yield "winners", "Who wins where", self._shown("joints", "wins")
        beside = [t.key for t in self.tables if t.key.startswith("simulations")][::-1]
        drawn = [svg(plots.steps_a_second(self.simulated))] if self.simulated else []
        yield "simulations", "Whole simulations", drawn + self._shown(*beside[::-1])
        drawn = [svg(plots.sweeps(self.swept))] if self.swept else []
        yield "sweeps", "Stabilisation and softening", drawn + self._shown("sweeps")
        told = {**self.machine, **self.plan}
        told["versions"] = ", ".join(f"{k} {x}" for k, x in self.machine["versions"].items())
        lines = "".join(
            f'<tr><td>{html.escape(str(k))}</td><td class="text">{html.escape(str(x))}</td></tr>'
            for k, x in told.items()
        )
        yield "machine", "Machine, versions, plan", [f"<table><tbody>{lines}</tbody></table>"]

    def _shown(self, *keys: str) -> list[str]:
        """Tables by their keys."""
        return [_table(t) for key in keys for t in self.tables if t.key == key]


_HOW = (
    "Each system goes through a scripted scenario; problems of its steps are kept as samples, and "
    "each solver is run on each sample: cold, warm started by the step before, and with joints as "
    "rows that it iterates on. A sample is solved if the natural map of the nonlinear problem is "
    "at most 1e-6, computed from the reactions that the solver returned. Times are the shortest of "
    "several, of one core."
)


def _table(table: Table) -> str:
    """A table with its title and note; a long one is folded."""
    is_shaded = table.key.startswith(_SHADED)
    columns = [c for c in table.columns if c.is_shown]
    heads = "".join(f"<th>{html.escape(c.heading or c.key)}</th>" for c in columns)
    lines = "".join(
        "<tr>" + "".join(_cell(c, r, is_shaded) for c in columns) + "</tr>" for r in table.records
    )
    note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
    title = html.escape(table.title)
    made = (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>'
        f"</div>{note}"
    )
    if table.key in _LONG:
        return f"<details><summary>{title}</summary>{made}</details>"
    return f"<h3>{title}</h3>{made}"


def _cell(column: Column, record: Record, is_shaded: bool) -> str:
    """A cell; shares have a ground that is darker the larger they are."""
    value, text = record.get(column.key), html.escape(column.cell(record))
    if isinstance(value, str):
        return f'<td class="text">{text}</td>'
    is_share = is_shaded and column.format in (".2f", ".3f") and value is not None
    ground = f' style="background:rgba(74,157,111,{0.45 * value:.2f})"' if is_share else ""
    return f"<td{ground}>{text}</td>"


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
