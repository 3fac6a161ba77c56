"""The page of the demonstration: animations, plots and the table, in one file."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..reporting.pages import html_page, svg
from ..reporting.tables import Table
from . import plots
from .contest import Contest
from .falls import Fall, told

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
_HEAD = "Delassus: two mechanisms with loops fall, touch down and settle"


def write(path: Path, falls: Sequence[Fall], found: Contest) -> None:
    """Write the page, which needs neither a network nor a server."""
    players = "".join(map(_player, falls))
    parts = ["<p>Drag turns a camera, the wheel moves it nearer; space plays.</p>"]
    parts += [f'<div class="players">{players}</div>', *map(_fall, falls)]
    parts += ["<h2>Solvers on steps of these falls</h2>", svg(plots.convergence(found.curves))]
    parts.append(_table(found.table))
    path.write_text(html_page(_HEAD, _STYLE, parts), encoding="utf-8")


def _fall(one: Fall) -> str:
    """What a fall tells, and its plots."""
    summary, *lines = told(one).split("\n")
    title, about = summary.split(": ", 1)
    text = "\n".join(line.strip() for line in lines)
    return (
        f"<h2>{html.escape(title)}</h2><p>{html.escape(about)}</p><pre>{html.escape(text)}</pre>"
        f"{svg(plots.course(one))}"
    )


def _player(one: Fall) -> str:
    """The page that plays a recording, as a frame that starts by itself."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "player.html"
        one.recording.to_html(place)
        player = place.read_text(encoding="utf-8").replace("</head>", _PLAYER, 1)
    return (
        f'<iframe title="{html.escape(one.mechanism.title)}" srcdoc="{html.escape(player)}" '
        'onload="this.contentWindow.player.play(true)"></iframe>'
    )


def _table(table: Table) -> str:
    heads = "".join(f"<th>{html.escape(c.heading or c.key)}</th>" for c in table.columns)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c.cell(r))}</td>" for c in table.columns) + "</tr>"
        for r in table.records
    )
    return f'<table><tr>{heads}</tr>{lines}</table><p class="note">{html.escape(table.note)}</p>'
