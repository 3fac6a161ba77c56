"""What reports in a browser are made of: a page that needs nothing else, and plots in it."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def html_page(title: str, style: str, parts: Iterable[str]) -> str:
    """A whole page: the title, which is its heading too, and parts that are HTML already."""
    shown = html.escape(title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{shown}</title>'
        f'<link rel="icon" href="data:,"><style>{style}</style></head><body><h1>{shown}</h1>'
        f"{''.join(parts)}</body></html>\n"
    )


def svg(made: Figure) -> str:
    """A plot as part of a page."""
    text = io.StringIO()
    made.savefig(text, format="svg")
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]
