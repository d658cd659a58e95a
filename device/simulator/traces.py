"""How the criterion of recorded people wandered, from a table of their yes/no answers.

The table has an answer a row, in order, with the columns ``listener``, ``block``, ``condition``,
``amplitude`` and ``answer`` (1: yes). Within a listener and condition each amplitude has its share
of yes, whose probit is where that amplitude lies above the criterion on average. Along the answers
the criterion is where a window of them says it is, drawn towards the mean by as much as chance
alone would have moved it.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from statistics import NormalDist
from typing import Final

import numpy as np

from firmware_py.platform.named_file import TEXT, open_named

COLUMNS: Final = ("listener", "block", "condition", "amplitude", "answer")
WINDOW_ANSWERS: Final = 50
TRACE_ANSWERS_MIN: Final = 2 * WINDOW_ANSWERS
SHARE_MIN: Final = 0.005  # of yes, and of no: nearer to 0 a share has no probit worth the name

_STANDARD_NORMAL: Final = NormalDist()


class TraceError(ValueError):
    """A file that is no table of answers; the message says where and what is allowed."""


@dataclass(frozen=True)
class Run:
    """The answers of one listener in one block, in order."""

    listener: str
    expected: tuple[float, ...]  # the probability of yes at the mean criterion
    slope: tuple[float, ...]  # by how much that falls, per SD of the criterion
    answers: tuple[float, ...]  # 1: yes


@dataclass(frozen=True)
class Traces:
    """Criterion above its mean, in SDs of the response noise, answer by answer; one a run."""

    traces: tuple[tuple[float, ...], ...]

    def resample(self, chance: float) -> tuple[float, ...]:
        """Return the rest of a trace from anywhere on, and its beginning; `chance` in [0, 1)."""
        place = int(chance * sum(map(len, self.traces)))
        for trace in self.traces:
            if place < len(trace):
                return trace[place:] + trace[:place]
            place -= len(trace)
        raise ValueError(f"chance is {chance}, allowed are 0 to less than 1")


def read_traces(path: Path) -> Traces:
    """Read a table of answers, and return the traces of its runs; a `TraceError` if it is none."""
    return traces_of(read_runs(path))


def traces_of(runs: Iterable[Run]) -> Traces:
    smoothed = [_smooth(run) for run in runs]
    moved = np.concatenate([each[0] for each in smoothed])
    by_chance = np.concatenate([each[1] for each in smoothed])
    # Of the variance of a window's criterion the part that is not chance is real.
    real = max(float(np.mean(moved**2) - np.mean(by_chance)), 0.0)
    return Traces(
        tuple(
            tuple((real / (real + chance) * shift).tolist() if real else (0.0 * shift).tolist())
            for shift, chance in smoothed
        )
    )


def read_runs(path: Path) -> list[Run]:
    """Read the runs of a table of answers; a `TraceError` if it is none."""
    try:
        with TextIOWrapper(open_named(path), encoding=TEXT, newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"{path}: is not a CSV file in UTF-8: {error}") from None
    missing = [name for name in COLUMNS if not rows or rows[0].get(name) is None]
    if missing:
        raise TraceError(
            f"{path}: column {', '.join(missing)} is missing, wanted are {', '.join(COLUMNS)}"
        )
    runs = _runs(path, rows)
    if not runs:
        raise TraceError(f"{path}: no block of {TRACE_ANSWERS_MIN} answers, wanted is at least one")
    return runs


def _runs(path: Path, rows: list[dict[str, str]]) -> list[Run]:
    shares: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    runs: dict[tuple[str, str, str], list[tuple[tuple[str, str, str], float]]] = defaultdict(list)
    for number, row in enumerate(rows, 1):
        if row["answer"] not in ("0", "1"):
            raise TraceError(
                f"{path}, row {number}: answer is {row['answer']!r}, allowed are 0 and 1"
            )
        stimulus = (row["listener"], row["condition"], row["amplitude"])
        shares[stimulus].append(float(row["answer"]))
        block = (row["listener"], row["condition"], row["block"])
        runs[block].append((stimulus, float(row["answer"])))
    expected = {
        stimulus: min(max(float(np.mean(answers)), SHARE_MIN), 1.0 - SHARE_MIN)
        for stimulus, answers in shares.items()
    }
    slope = {
        stimulus: _STANDARD_NORMAL.pdf(_STANDARD_NORMAL.inv_cdf(share))
        for stimulus, share in expected.items()
    }
    return [
        Run(
            name,
            tuple(expected[stimulus] for stimulus, _ in answers),
            tuple(slope[stimulus] for stimulus, _ in answers),
            tuple(answer for _, answer in answers),
        )
        for (name, _, _), answers in runs.items()
        if len(answers) >= TRACE_ANSWERS_MIN
    ]


def _smooth(run: Run) -> tuple["np.ndarray[tuple[int], np.dtype[np.float64]]", ...]:
    """Return the criterion of the window about each answer, and its variance by chance."""
    expected, slope, answers = (np.array(each) for each in (run.expected, run.slope, run.answers))
    window = np.ones(WINDOW_ANSWERS)
    information = np.convolve(slope**2 / (expected * (1.0 - expected)), window, "same")
    score = np.convolve(
        slope * (expected - answers) / (expected * (1.0 - expected)), window, "same"
    )
    return score / information, 1.0 / information
