"""The summary of a study as a table in characters."""

from host_tools.research.study.summary import Line


def table_lines(lines: list[Line]) -> list[str]:
    """Return the table, its header the first two lines."""
    goals = lines[0].tones_to_db
    table = [
        ["", "RMSE in dB", "95 % band", "tones", "seconds"],
        [
            "method",
            "".join(f"{'@' + str(n):>6}" for n in lines[0].rmse_db),
            "".join(f"{'@' + str(n):>5}" for n in lines[0].covered_95),
            "".join(f"{f'to {goal} dB':>12}" for goal in goals),
            "".join(f"{f'to {goal} dB':>9}" for goal in goals),
        ],
    ]
    for line in lines:
        errors = "".join(f"{value:6.1f}" for value in line.rmse_db.values())
        covered = "".join(
            f"{'-' if v is None else f'{v:.2f}':>5}" for v in line.covered_95.values()
        )
        tones = "".join(f"{_tones_to(line, goal):>12}" for goal in goals)
        seconds = "".join(f"{_seconds_to(line, goal):>9}" for goal in goals)
        table.append([line.method, errors, covered, tones, seconds])
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *[c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)],
            ]
        )
        for row in table
    ]


def _tones_to(line: Line, goal: int) -> str:
    """Return the median, and the share of the sessions that reach the goal."""
    median, share = line.tones_to_db[goal], line.reached[goal]
    shown = f">{max(line.rmse_db)}" if median is None else f"{median:.0f}"
    return f"{shown} ({share:.0%})"


def _seconds_to(line: Line, goal: int) -> str:
    """Return the median; more than all tones take if less than half reach the goal."""
    median = line.seconds_to_db[goal]
    return f">{line.seconds:.0f}" if median is None else f"{median:.0f}"
