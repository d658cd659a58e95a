"""From which level tones are uncomfortable, given the threshold: what the limits of a fit rest on.

``python -m host_tools.research.discomfort FILE.csv`` reads measured thresholds and levels of
discomfort, prints the table of `device/hearing_aid/limits.py` (the levels that one, five and nine
ears in ten find uncomfortable, at `KNOTS_DB_HL`), and what such a table learned from half of the
people is worth for the other half. A level that was found in rising steps of 5 dB lies somewhere in
the step below it; a quantile is the line over the knots with the least absolute error, weighted by
the share.
"""

import argparse
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from device.hearing_aid.limits import KNOTS_DB_HL, MEASURED_HZ, at_knots, beyond_knots_db
from firmware_py.platform.named_file import TEXT, open_named
from firmware_py.platform.program import run_program

STEP_DB: Final = 5.0  # in which both were measured
PARTS: Final = 8  # of a step
ROUNDS: Final = 200
NEAR_DB: Final = 1e-3  # a residual counts as no less, so that its weight stays finite
SHARES: Final = (0.1, 0.5, 0.9)
LIMIT: Final = 0.1  # the share that may find a limit too loud
FAR_DB: Final = 10.0
RANGES_DB_HL: Final = ((-20.0, 20.0), (20.0, 40.0), (40.0, 60.0), (60.0, 130.0))
SEED: Final = 1

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """What was measured at one frequency, an ear a row."""

    person: npt.NDArray[np.str_]
    threshold_db_hl: FloatArray
    discomfort_db_hl: FloatArray

    @classmethod
    def read(cls, path: Path, frequency_hz: float) -> Self:
        """Return those of a table with the columns ``person``, ``air1000``, ``ucl1000`` ...

        Raises
        ------
        KeyError
            If a column is missing.
        ValueError
            If a cell is no number.
        """
        air, ucl = f"air{frequency_hz:g}", f"ucl{frequency_hz:g}"
        with io.TextIOWrapper(open_named(Path(path)), TEXT, newline="") as file:
            known = [row for row in csv.DictReader(file) if row[air] and row[ucl]]
        return cls(
            np.array([row["person"] for row in known]),
            np.array([float(row[air]) for row in known]),
            np.array([float(row[ucl]) for row in known]),
        )

    def of(self, people: npt.NDArray[np.bool_]) -> Self:
        """Return those of some of the rows."""
        return type(self)(
            self.person[people], self.threshold_db_hl[people], self.discomfort_db_hl[people]
        )


def quantile(points: Points, share: float) -> FloatArray:
    """Return the levels at `KNOTS_DB_HL` that a share of the ears finds uncomfortable, dB HL."""
    below_db = STEP_DB * (np.arange(PARTS) + 0.5) / PARTS
    levels = points.discomfort_db_hl - beyond_knots_db(points.threshold_db_hl)
    levels = (levels[:, np.newaxis] - below_db).ravel()
    columns = np.repeat(at_knots(points.threshold_db_hl), PARTS, axis=0)
    found = np.array(np.linalg.lstsq(columns, levels, rcond=None)[0], dtype=np.float64)
    for _ in range(ROUNDS):  # least squares, weighted so that it has the least absolute error
        rest_db = levels - columns @ found
        weights = np.where(rest_db > 0.0, share, 1.0 - share) / np.maximum(abs(rest_db), NEAR_DB)
        weighted = columns * weights[:, np.newaxis]
        found[:] = np.linalg.solve(columns.T @ weighted, weighted.T @ levels)
    return found


def over_db(points: Points, rng: np.random.Generator) -> FloatArray:
    """Return by how much the limit is above each ear's own level, learned from other people."""
    people = np.unique(points.person)
    half = rng.permutation(people)[: len(people) // 2]
    first = np.isin(points.person, half)
    above_db = np.empty(len(first))
    for learned, judged in ((first, ~first), (~first, first)):
        known = points.of(judged)
        limits = at_knots(known.threshold_db_hl) @ quantile(points.of(learned), LIMIT)
        limits += beyond_knots_db(known.threshold_db_hl)
        above_db[judged] = limits - known.discomfort_db_hl
    return above_db


def report(measured: Sequence[Points]) -> Iterator[str]:
    """Yield the table, and what it is worth."""
    knots = ", ".join(f"{knot:g}" for knot in KNOTS_DB_HL)
    yield f"Uncomfortable from, dB HL, at thresholds of {knots} dB HL:"
    for share in SHARES:
        for frequency_hz, points in zip(MEASURED_HZ, measured, strict=True):
            levels = ", ".join(f"{level:.1f}" for level in quantile(points, share))
            yield f"{share:.0%} of {len(points.person)} ears at {frequency_hz:g} Hz: {levels}"
    yield ""
    yield f"Too loud by the limit of the other half of the people, and by more than {FAR_DB:g} dB:"
    titles = [f"{max(low, -10):g} to {high:g}" for low, high in RANGES_DB_HL]
    titles[-1] = f"{RANGES_DB_HL[-1][0]:g} and above"
    yield f"| Hz | all | {' | '.join(titles)} |"
    yield "|---:" * (len(titles) + 2) + "|"
    rng = np.random.default_rng(SEED)
    thresholds = [points.threshold_db_hl for points in measured]
    overs = [over_db(points, rng) for points in measured]
    names = [*(f"{f:g}" for f in MEASURED_HZ), "all"]
    thresholds.append(np.concatenate(thresholds))
    overs.append(np.concatenate(overs))
    for name, threshold_db_hl, above_db in zip(names, thresholds, overs, strict=True):
        cells = [_shares(above_db)]
        for low, high in RANGES_DB_HL:
            cells.append(_shares(above_db[(threshold_db_hl >= low) & (threshold_db_hl < high)]))
        yield f"| {name} | {' | '.join(cells)} |"


def _shares(above_db: FloatArray) -> str:
    return f"{np.mean(above_db > 0.0):.1%}, {np.mean(above_db > FAR_DB):.1%} of {len(above_db)}"


def main(arguments: list[str]) -> int:
    """Print what is learned, and what it is worth."""
    p = argparse.ArgumentParser(prog="python -m host_tools.research.discomfort")
    p.add_argument("file", type=Path, help="CSV: person, air500 ..., ucl500 ..., dB HL")
    path = p.parse_args(arguments).file
    print("\n".join(report([Points.read(path, frequency_hz) for frequency_hz in MEASURED_HZ])))
    return 0


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
