"""What the benchmarks share: one BLAS thread, few columns, and a table of ratios."""

import os
from typing import Any

import pytest

# Read when NumPy is imported. For matrices of this size threads only cost: with more of them the
# SciPy reference would look slower than it is.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

COLUMNS = ["median", "iqr", "min", "max", "rounds"]


def pytest_configure(config: pytest.Config) -> None:
    """Show few columns, in the order of the names, unless told otherwise on the command line."""
    told = " ".join(config.invocation_params.args)
    if "--benchmark-columns" not in told:
        config.option.benchmark_columns = COLUMNS
    if "--benchmark-sort" not in told:
        config.option.benchmark_sort = "name"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print median times, and how many of the first of each group the others are."""
    session = getattr(terminalreporter.config, "_benchmarksession", None)
    benchmarks: list[Any] = [] if session is None else session.benchmarks
    medians: dict[int, dict[str, float]] = {}
    for benchmark in benchmarks:
        if "trials" in benchmark.extra_info:
            of_trial = medians.setdefault(benchmark.extra_info["trials"], {})
            of_trial[benchmark.extra_info["method"]] = benchmark.stats.median
    if medians:
        terminalreporter.section("one trial: median, and ratio to the firmware with that profile")
        for line in ratio_table(medians):
            terminalreporter.write_line(line)
    for benchmark in benchmarks:
        for name, value in benchmark.extra_info.get("report", {}).items():
            terminalreporter.write_line(f"{name}: {value}")


def ratio_table(medians: dict[int, dict[str, float]]) -> list[str]:
    """Return a Markdown table: a row for each number of trials, a column for each method.

    Parameters
    ----------
    medians : dict
        By number of trials and name of the method, in seconds. A peer is compared with the firmware
        of the profile that its name ends in, or of "default".
    """
    methods = list(dict.fromkeys(name for row in medians.values() for name in row))
    lines = ["| trials | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for trials, row in sorted(medians.items()):
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
