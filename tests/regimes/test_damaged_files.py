"""Damaged files of every kind: read, or one error that names the file. No crash, no hang."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from . import damaging
from .cases import seeds

FILES = seeds(30, 400)  # of each kind
PATIENCE = 300.0  # seconds for one file, on a machine that does other things; most take 1 ms


@pytest.mark.parametrize("kind", damaging.KINDS)
def test_the_valid_file_is_read(tmp_path, kind):
    ending, make, read, _ = damaging.KINDS[kind]
    path = tmp_path / f"valid{ending}"
    make(path)
    read(path)


def test_damaged_files_are_read_or_are_errors_that_name_them(tmp_path):
    """In a process of its own, which a library in C++ may end."""
    wrong, waiting = [], [(kind, FILES[0], len(FILES)) for kind in damaging.KINDS]
    while waiting:
        jobs = [":".join(map(str, job)) for job in waiting]
        script = [sys.executable, damaging.__file__, str(tmp_path), *jobs]
        told = tmp_path / "told.txt"
        with told.open("wb") as out:
            child = subprocess.Popen(script, stdout=out, stderr=subprocess.DEVNULL)
            _wait(child, told)
        lines = [json.loads(line) for line in told.read_text().splitlines() if line.endswith("]")]
        wrong += [f"{kind} {seed}: {what}" for kind, seed, what in lines if what]
        if child.returncode == 0:
            break
        assert lines, "the process ended before the first file"
        kind, seed, _ = lines[-1]
        wrong.append(f"{kind} {seed}: the process ended with {child.returncode}")
        waiting = _after(waiting, kind, seed)
    assert not wrong, "\n".join(wrong)


def _wait(child: subprocess.Popen, told: Path) -> None:
    """Until a process ends; one that says nothing for long is ended."""
    size = -1
    while child.poll() is None:
        try:
            child.wait(PATIENCE if size >= 0 else 2.0)
        except subprocess.TimeoutExpired:
            if told.stat().st_size == size:
                child.kill()
                child.wait()
            size = told.stat().st_size


def _after(jobs: list, kind: str, seed: int) -> list:
    """The jobs that are left after a file of one of them."""
    place = next(k for k, job in enumerate(jobs) if job[0] == kind)
    _, first, count = jobs[place]
    left = first + count - seed - 1
    return [*([(kind, seed + 1, left)] if left > 0 else []), *jobs[place + 1 :]]
