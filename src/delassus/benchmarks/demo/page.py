"""The page of the demonstration: animations, plots and the table, in one file."""

from __future__ import annotations

import html
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..reporting.tables import Table
from . import plots
from .contest import Contest
from .falls import Fall, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1200px; padding: 0 1em;
  color: #222 }
.players { display: flex; gap: 12px }
iframe { flex: 1; min-width: 0; height: 560px; border: 0; border-radius: 8px; background: #1c1f26 }
pre { font-size: 13px; white-space: pre-wrap; color: #444 }
table { border-collapse: collapse; font-size: 14px }
th, td { padding: 3px 14px; text-align: right; border-bottom: 1px solid #ddd }
th:nth-child(-n+3), td:nth-child(-n+3) { text-align: left }
th { border-bottom: 2px solid #888 } p.note { color: #555; font-size: 13px }
svg { max-width: 100%; height: auto }
"""
# Within this page the plots of a player give their place to the larger ones below it.
_PLAYER = "<style>#plots { display: none }</style></head>"
_HEAD = "Two mechanisms with loops fall, touch down and settle"


def write(path: Path, falls: Sequence[Fall], found: Contest) -> None:
    """Write the page, which needs neither a network nor a server."""
    players = "".join(map(_player, falls))
    parts = [f'<div class="players">{players}</div>', *map(_fall, falls)]
    parts += ["<h2>Solvers on steps of these falls</h2>", _svg(plots.convergence(found.curves))]
    parts.append(_table(found.table))
    path.write_text(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Delassus: {_HEAD}'
        f"</title><style>{_STYLE}</style></head><body><h1>{_HEAD}</h1>"
        "<p>Drag turns a camera, the wheel moves it nearer; space plays.</p>"
        f"{''.join(parts)}</body></html>\n",
        encoding="utf-8",
    )


def _fall(one: Fall) -> str:
    """What a fall tells, and its plots."""
    summary, *lines = told(one).split("\n")
    title, about = summary.split(": ", 1)
    text = "\n".join(line.strip() for line in lines)
    return (
        f"<h2>{html.escape(title)}</h2><p>{html.escape(about)}</p><pre>{html.escape(text)}</pre>"
        f"{_svg(plots.course(one))}"
    )


def _player(one: Fall) -> str:
    """The page that plays a recording, as a frame that starts by itself."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "player.html"
        one.recording.to_html(place)
        page = place.read_text(encoding="utf-8").replace("</head>", _PLAYER, 1)
    return (
        f'<iframe title="{html.escape(one.mechanism.title)}" srcdoc="{html.escape(page)}" '
        'onload="this.contentWindow.player.play(true)"></iframe>'
    )


def _svg(made: Figure) -> str:
    """A plot as part of a page."""
    text = io.StringIO()
    made.savefig(text, format="svg")
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]


def _table(table: Table) -> str:
    heads = "".join(f"<th>{html.escape(c.heading or c.key)}</th>" for c in table.columns)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c.cell(r))}</td>" for c in table.columns) + "</tr>"
        for r in table.records
    )
    return f'<table><tr>{heads}</tr>{lines}</table><p class="note">{html.escape(table.note)}</p>'
