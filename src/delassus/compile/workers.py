"""Threads that help the calling thread with a batch.

A thread pool of the standard library costs as much time for each task as a small batch in all. Here
a task costs one entry in a queue.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue


@cache
def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Team:
    """Threads that wait for tasks. They are started when needed, and end with the process."""

    def __init__(self):
        self.tasks: SimpleQueue = SimpleQueue()
        self.size = 0
        self._growing = threading.Lock()

    def grow(self, size: int) -> None:
        with self._growing:
            for number in range(self.size, size):
                name = f"delassus-{number}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()
            self.size = max(self.size, size)

    def _serve(self) -> None:
        while True:
            task, done = self.tasks.get()
            try:
                task()
                done.put(None)
            except BaseException as error:
                done.put(error)


_team = _Team()


def run(task: Callable[[], None], helpers: int) -> None:
    """Run a task in this thread and, at the same time, in `helpers` other threads."""
    helpers = min(helpers, max(available_cores(), 2) * 4)
    if helpers > _team.size:
        _team.grow(helpers)
    done: SimpleQueue = SimpleQueue()
    for _ in range(helpers):
        _team.tasks.put((task, done))
    try:
        task()
    finally:
        errors = [done.get() for _ in range(helpers)]
    for error in errors:
        if error is not None:
            raise error


def _start_anew() -> None:
    """Forget all threads after a fork, which none survives: the child starts its own."""
    global _team
    _team = _Team()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
