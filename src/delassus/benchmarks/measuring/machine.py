"""Where and with what a benchmark runs: processor, versions, memory, compiled kernels."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ...compile import kernels
from ...compile.native import cache, cpu

_PACKAGES = ("delassus", "numpy", "numba", "llvmlite", "pin", "example-robot-data")
# A kernel is kept on disk as one file per way to call it, whose name ends in one of these.
_ENTRIES = ("single", "single_full", "batch64", "batch32")


def describe() -> dict[str, object]:
    """The processor, the system, the versions and the date."""
    return {
        "processor": processor(),
        "llvm_processor": cpu.name(),
        "vector_bits": 8 * cpu.vector_bytes(),
        "cores": os.cpu_count() or 1,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: found for name in _PACKAGES if (found := _version(name))},
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def processor() -> str:
    """The name of the processor as people know it."""
    commands = {"Linux": ["lscpu"], "Darwin": ["sysctl", "machdep.cpu.brand_string"]}
    names = {"Model name", "machdep.cpu.brand_string"}
    for line in _lines(commands.get(platform.system())):
        key, _, value = line.partition(":")
        if key.strip() in names and value.strip() not in ("", "-"):
            return value.strip()
    return platform.processor() or cpu.name()


def _lines(command: list[str] | None) -> list[str]:
    """What a command prints, in English; nothing if it cannot be run."""
    if command is None:
        return []
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()


def _version(package: str) -> str | None:
    """The installed version of a package, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def resident_memory() -> tuple[int, int] | None:
    """The memory of this process now and at its peak, in bytes; None if not on Linux."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    sizes = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    if "VmRSS" not in sizes or "VmHWM" not in sizes:
        return None
    now, peak = (int(sizes[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))
    return now, peak


def compiled_kernels() -> tuple[int, int, Path | None]:
    """How many kernels have been compiled, how many there are, and where compiled ones are kept."""
    folder = cache.folder()
    kept = cache.kept_entries()
    names = list(kernels())
    compiled = [n for n in names if any(f"{n}_{entry}" in kept for entry in _ENTRIES)]
    return len(compiled), len(names), folder
