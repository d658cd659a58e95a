"""The figures of a run as tables in Markdown, with the machine they were taken on."""

import platform
import statistics
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = ("numba", "numpy", "scipy")
_MODEL: Final = Path("/proc/device-tree/model")  # of a Raspberry Pi: "Raspberry Pi 4 Model B ..."

Times = dict[int, dict[str, float]]  # seconds, by number of trials and name of the method


def machine() -> str:
    model = [_MODEL.read_text("ascii").rstrip("\0")] if _MODEL.exists() else []
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"no {package}")
    return ", ".join([*model, platform.system(), platform.machine(), *versions])


def note(benchmark: Any, name: str) -> None:
    """Have a benchmark that is no trial appear in the table of the others, by this name."""
    benchmark.extra_info["row"] = name


def trials_of(benchmarks: Sequence[Any]) -> Times:
    """Return the time of a trial: the middle one of the sessions, each where it was quickest."""
    times: Times = {}
    for benchmark in benchmarks:
        info = benchmark.extra_info
        if "trials" in info:
            data = benchmark.stats.data
            quickest = [min(data[i :: info["sessions"]]) for i in range(info["sessions"])]
            times.setdefault(info["trials"], {})[info["method"]] = statistics.median(quickest)
    return times


def ratio_table(times: Times) -> list[str]:
    """Return a row for each number of trials, and a column for each method.

    A peer is compared with the firmware of the profile that its name ends in, or of "default".
    """
    methods = list(dict.fromkeys(name for row in times.values() for name in row))
    lines = ["| trials | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for trials, row in sorted(times.items()):
        cells = []
        for method in methods:
            if method not in row:
                cells.append("")
                continue
            profile = method.rpartition(", ")[2]
            own = row.get(f"firmware, {profile}", row.get("firmware, default"))
            ratio = "" if own is None or own == row[method] else f" ({row[method] / own:.1f}x)"
            cells.append(f"{1e3 * row[method]:.3f} ms{ratio}")
        lines.append(f"| {trials} | " + " | ".join(cells) + " |")
    return lines


def others_table(benchmarks: Sequence[Any]) -> list[str]:
    """Return a row for each benchmark that is no trial, its quickest round, and what it reports."""
    rows = []
    for benchmark in benchmarks:
        info = benchmark.extra_info
        if "row" in info:
            rows.append((info["row"], f"{1e3 * benchmark.stats.min:.1f} ms"))
        rows += info.get("report", {}).items()
    if not rows:
        return []
    return ["| what | quickest, or peak |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)]
