"""What a study found, by method; every degree of loss has the same weight."""

import csv
import io
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq

from host_tools.research.methods.interface import Array
from host_tools.research.methods.population import balance
from host_tools.research.study.store import TABLE

# After how many tones; the last one comes last.
ERROR_TONES: Final = (5, 10, 15, 20, 30, 40)
COVERAGE_TONES: Final = (10, 20, 30, 40)
GOALS_DB: Final = (5, 3)
STEP_S: Final = 0.5  # between the places of a course over time
DIGITS: Final = 4  # after the decimal point; further ones are chance


class Results:
    """The table in the directory of a study, read method by method."""

    def __init__(self, directory: Path, methods: tuple[str, ...], tones: int) -> None:
        self.methods = methods
        self.tones = tones
        self._path = directory / TABLE
        self._column = cache(self._read)
        self.weight = balance(self._column(methods[0], "stratum")[:, 0].astype(str))

    def metric(self, method: str, name: str) -> Array:
        """Return (sessions, tones + 1), NaN where the method does not give it."""
        values: Array = self._column(method, name).astype(np.float64)
        return values

    def flag(self, method: str, name: str) -> Any:
        """Return (sessions,) of bool: `ended` or `failed` with the last tone."""
        return self._column(method, name)[:, -1].astype(bool)

    def mean(self, method: str, name: str) -> Array:
        """Return (tones + 1,) the mean, the degrees of loss in equal parts."""
        mean: Array = self.weight @ self.metric(method, name)
        return mean

    def quantiles(self, method: str, name: str, at: tuple[float, ...]) -> Array:
        """Return (len(at), tones + 1), the degrees of loss in equal parts."""
        values = self.metric(method, name)
        return np.array([weighted_quantiles(column, self.weight, at) for column in values.T]).T

    def over_time(self, method: str, at: tuple[float, ...]) -> tuple[Array, Array]:
        """Return (places,) seconds, and (len(at), places) quantiles of the RMSE until then.

        They end where half of the sessions have had all their tones.
        """
        seconds, rmse_db = self.metric(method, "seconds"), self.metric(method, "rmse_db")
        (end_s,) = weighted_quantiles(seconds[:, -1], self.weight, (0.5,)).tolist()
        places = np.arange(0.0, end_s + STEP_S, STEP_S)
        quantiles = [
            weighted_quantiles(_at_time(seconds, rmse_db, place), self.weight, at)
            for place in places
        ]
        return places, np.array(quantiles).T

    def tones_to(self, method: str, goal_db: float) -> Array:
        """Return (sessions,) the tones from which on the RMSE stays within the goal.

        Infinite if the last RMSE is not. A session that leaves the goal again has not reached it:
        the prior alone may be within it by luck.
        """
        return tones_to(self.metric(method, "rmse_db"), goal_db)

    def seconds_to(self, method: str, goal_db: float) -> Array:
        """Return (sessions,) the seconds that those tones take; infinite if the goal is missed."""
        tones, seconds = self.tones_to(method, goal_db), self.metric(method, "seconds")
        reached = np.isfinite(tones)
        column = np.where(reached, tones, 0.0).astype(int)[:, None]
        return np.where(reached, np.take_along_axis(seconds, column, axis=1)[:, 0], np.inf)

    def _read(self, method: str, name: str) -> Any:
        table = pq.read_table(self._path, columns=[name], filters=[("method", "==", method)])
        values = table.column(name).to_numpy(zero_copy_only=False)
        return values.reshape(-1, self.tones + 1)


@dataclass(frozen=True)
class Line:
    """What a study found about one method."""

    method: str
    sessions: int
    rmse_db: dict[int, float]  # by tones
    covered_95: dict[int, float | None]  # by tones: the truths in the band; None: there is none
    tones_to_db: dict[int, float | None]  # by goal: the median; None: less than half reach it
    seconds_to_db: dict[int, float | None]  # the same
    seconds: float  # that all tones take, the median
    reached: dict[int, float]  # by goal: the share of the sessions that reach it
    ended: float  # share of the sessions that the method ended by itself
    failed: float  # share that it could not go on with

    def flat(self) -> dict[str, Any]:
        """Return everything by a name of its own, numbers to `DIGITS`."""
        values = {
            "method": self.method,
            "sessions": self.sessions,
            **{f"rmse_db_at_{n}": value for n, value in self.rmse_db.items()},
            **{f"covered_95_at_{n}": value for n, value in self.covered_95.items()},
            **{f"tones_to_{goal}_db": value for goal, value in self.tones_to_db.items()},
            **{f"seconds_to_{goal}_db": value for goal, value in self.seconds_to_db.items()},
            "seconds": self.seconds,
            **{f"reached_{goal}_db": value for goal, value in self.reached.items()},
            "ended": self.ended,
            "failed": self.failed,
        }
        return {
            name: round(value, DIGITS) if isinstance(value, float) else value
            for name, value in values.items()
        }


def summary(results: Results) -> list[Line]:
    """Return what was found about every method, in their order."""
    return [_line(results, method) for method in results.methods]


def as_csv(lines: list[Line]) -> str:
    """Return the summary as CSV; a value that is not there is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0].flat()), lineterminator="\n")
    writer.writeheader()
    writer.writerows(line.flat() for line in lines)
    return text.getvalue()


def weighted_quantiles(values: Array, weight: Array, at: tuple[float, ...]) -> Array:
    """Return the smallest values at or below which lies at least such a share of the weight."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    # The tolerance is for the rounding of the sum.
    index = np.searchsorted(below, np.array(at) * below[-1] * (1.0 - 1e-12))
    quantiles: Array = values[order][np.minimum(index, len(values) - 1)]
    return quantiles


def tones_to(rmse_db: Array, goal_db: float) -> Array:
    """Return (sessions,) the first column from which on all of a row is at most the goal."""
    stays = np.logical_and.accumulate((rmse_db <= goal_db)[:, ::-1], axis=1)[:, ::-1]
    return np.where(stays.any(axis=1), stays.argmax(axis=1), np.inf)


def _until(last: int, tones: tuple[int, ...]) -> list[int]:
    return [*[n for n in tones if n < last], last]


def _at_time(seconds: Array, values: Array, at_s: float) -> Array:
    """Return (sessions,) the value after the last tone that was over by then."""
    tones = np.sum(seconds <= at_s, axis=1, keepdims=True) - 1
    # Once a session has ended its seconds stand still, and so do its values.
    found: Array = np.take_along_axis(values, tones, axis=1)[:, 0]
    return found


def _median(results: Results, values: Array) -> float | None:
    """Return the median of the sessions, None if less than half have one."""
    (median,) = weighted_quantiles(values, results.weight, (0.5,)).tolist()
    return median if math.isfinite(median) else None


def _line(results: Results, method: str) -> Line:
    error_db = results.mean(method, "rmse_db")
    covered = results.mean(method, "covered_95")
    reached_after = {goal: results.tones_to(method, goal) for goal in GOALS_DB}
    seconds_to = {goal: results.seconds_to(method, goal) for goal in GOALS_DB}
    return Line(
        method=method,
        sessions=len(results.weight),
        rmse_db={n: float(error_db[n]) for n in _until(results.tones, ERROR_TONES)},
        covered_95={
            n: None if np.isnan(covered[n]) else float(covered[n])
            for n in _until(results.tones, COVERAGE_TONES)
        },
        tones_to_db={goal: _median(results, tones) for goal, tones in reached_after.items()},
        seconds_to_db={goal: _median(results, seconds) for goal, seconds in seconds_to.items()},
        seconds=float(results.quantiles(method, "seconds", (0.5,))[0, -1]),
        reached={
            goal: float(results.weight @ np.isfinite(tones))
            for goal, tones in reached_after.items()
        },
        ended=float(results.weight @ results.flag(method, "ended")),
        failed=float(results.weight @ results.flag(method, "failed")),
    )


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
