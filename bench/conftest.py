"""What the benchmarks share: one BLAS thread, and the tables at the end."""

import os
from typing import Any

import pytest

from bench.markdown_tables import machine, others_table, ratio_table, trials_of
from tests.conftest import image  # noqa: F401 - a fixture, made once for all

# Read when NumPy is imported. For matrices of this size threads only cost.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the page of results: the machine, the trials with their ratios, and all else."""
    session = getattr(terminalreporter.config, "_benchmarksession", None)
    benchmarks: list[Any] = [] if session is None else session.benchmarks
    if not benchmarks:
        return
    terminalreporter.section("results")
    lines = [f"{machine()}; {terminalreporter.config.option.benchmark_timer}"]
    times = trials_of(benchmarks)
    if times:
        lines += ["", *ratio_table(times)]
    for line in [*lines, "", *others_table(benchmarks)]:
        terminalreporter.write_line(line)
