"""What a study found, by method; every degree of loss has the same weight."""

import csv
import io
import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq

from host_tools.research.methods.interface import Array
from host_tools.research.methods.population import balance
from host_tools.research.study.measures import weighted_quantiles
from host_tools.research.study.sessions import Row
from host_tools.research.study.store import TABLE
from host_tools.terminal import markdown

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


def summary(results: Results) -> list[Row]:
    """Return what was found about every method, in their order; numbers to `DIGITS`."""
    rows = (_row(results, method) for method in results.methods)
    return [
        {name: round(each, DIGITS) if isinstance(each, float) else each for name, each in row}
        for row in rows
    ]


def as_csv(rows: list[Row]) -> str:
    """Return the summary as CSV; a value that is not there is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


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
    (median,) = weighted_quantiles(values, results.weight, (0.5,)).tolist()
    return median if math.isfinite(median) else None


def _row(results: Results, method: str) -> Iterator[tuple[str, Any]]:
    """Yield what was found about a method, by name; None: not half of the sessions have one."""
    yield "method", method
    yield "sessions", len(results.weight)
    error_db, covered = (results.mean(method, name) for name in ("rmse_db", "covered_95"))
    for n in _until(results.tones, ERROR_TONES):
        yield f"rmse_db_at_{n}", float(error_db[n])
    for n in _until(results.tones, COVERAGE_TONES):
        yield f"covered_95_at_{n}", None if np.isnan(covered[n]) else float(covered[n])
    after = {goal: results.tones_to(method, goal) for goal in GOALS_DB}
    for goal in GOALS_DB:
        yield f"tones_to_{goal}_db", _median(results, after[goal])
    for goal in GOALS_DB:
        yield f"seconds_to_{goal}_db", _median(results, results.seconds_to(method, goal))
    yield "seconds", float(results.quantiles(method, "seconds", (0.5,))[0, -1])
    for goal in GOALS_DB:
        yield f"reached_{goal}_db", float(results.weight @ np.isfinite(after[goal]))
    for flag in ("ended", "failed"):
        yield flag, float(results.weight @ results.flag(method, flag))


def table_lines(rows: list[Row]) -> list[str]:
    """Return the table in Markdown: RMSE in dB, share in the 95 % band, and tones and seconds."""
    columns: list[tuple[str, Callable[[Row], str]]] = [("method", lambda row: str(row["method"]))]
    for name in rows[0]:
        words, at, tones = name.partition("_at_")
        if at:
            head, digits = (f"RMSE @{tones}", 1) if words == "rmse_db" else (f"95 % @{tones}", 2)
            columns.append((head, partial(_number, name=name, digits=digits)))
    last = max(int(name.rpartition("_")[2]) for name in rows[0] if "_at_" in name)
    columns += [(f"tones to {goal} dB", partial(_tones_to, goal, last)) for goal in GOALS_DB]
    columns += [(f"s to {goal} dB", partial(_seconds_to, goal)) for goal in GOALS_DB]
    return markdown(
        [[head for head, _ in columns], *([say(row) for _, say in columns] for row in rows)]
    )


def _number(row: Row, name: str, digits: int) -> str:
    return "-" if row[name] is None else f"{row[name]:.{digits}f}"


def _tones_to(goal: int, last: int, row: Row) -> str:
    """Return the median, and the share of the sessions that reach the goal."""
    median, share = row[f"tones_to_{goal}_db"], row[f"reached_{goal}_db"]
    shown = f">{last}" if median is None else f"{median:.0f}"
    return f"{shown} ({share:.0%})"


def _seconds_to(goal: int, row: Row) -> str:
    """Return the median; more than all tones take if less than half reach the goal."""
    median = row[f"seconds_to_{goal}_db"]
    return f">{row['seconds']:.0f}" if median is None else f"{median:.0f}"
