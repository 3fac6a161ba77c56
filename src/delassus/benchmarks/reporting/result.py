"""The result of a benchmark: shown as text, kept as JSON and drawn as plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..measuring.settings import Settings
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Result:
    """Everything that one run of a benchmark found."""

    name: str
    title: str
    settings: Settings
    tables: Sequence[Table]
    summary: Mapping[str, object]  # conclusions for programs
    conclusions: Sequence[str]  # conclusions for people
    machine: Mapping[str, object]
    plots: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    failures: Sequence[str] = ()

    def __str__(self) -> str:
        parts = [f"{self.title}\n{self._where()}", *map(str, self.tables)]
        parts += ["\n".join(self.conclusions), *(f"FAILED: {x}" for x in self.failures)]
        return "\n\n".join(parts)

    def _where(self) -> str:
        """The machine and the date."""
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
