"""Jobs: pieces of a benchmark that run one after the other, with a bar that names them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """A piece of a benchmark; `run` returns what it found."""

    label: str
    run: Callable[[], Any]


def run_jobs(jobs: Sequence[Job], title: str) -> list[Any]:
    """The results of all jobs, in order; the bar is only shown on a terminal."""
    from tqdm import tqdm

    results = []
    with tqdm(
        total=len(jobs), desc=title, unit="job", disable=None, leave=False, file=sys.stderr
    ) as bar:
        redirect = contextlib.nullcontext() if bar.disable else _lines_above(bar)
        with redirect:
            for job in jobs:
                bar.set_postfix_str(job.label)
                results.append(job.run())
                bar.update()
    return results


def _lines_above(bar) -> contextlib.AbstractContextManager:
    """Let lines that others print on stderr, such as the compiler's, appear above the bar."""
    return contextlib.redirect_stderr(_Above(bar, sys.stderr))


class _Above:
    """A stream that writes its lines above a progress bar."""

    def __init__(self, bar, stream):
        self.bar, self.stream = bar, stream

    def write(self, text: str) -> int:
        if text.strip():
            self.bar.write(text.rstrip("\n"), file=self.stream)
        return len(text)

    def flush(self) -> None:
        self.stream.flush()
