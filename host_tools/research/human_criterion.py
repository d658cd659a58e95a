"""How the criterion of recorded people wanders: estimates from a table of their yes/no answers.

``python -m host_tools.research.human_criterion FILE.csv`` prints the constants of the kind of
listener ``human`` (`device/simulator/courses.py`), for each listener of the table and in the mean.
The table is described in `device/simulator/traces.py`; the constants come from that of Schoenfelder
& Wichmann (2013), JASA 134, 447-463, as used by Fruend, Wichmann & Macke (2014), Journal of Vision
14(7):9.

An answer is `y = 1` with the probability `Phi(z - c)`, `z` the probit of the share of yes to that
amplitude and `c` the criterion, so that `(p - y) / phi(z)` is an estimate of `c` with much noise.
Its products at a distance of two answers and more are estimates of the autocovariance of `c`, to
which `S**2 + SD**2 exp(-distance / tones)` is fitted: what belongs to a run, and what wanders
within it. The effect of the last answer is what that does not explain of the covariance of
neighbours.
"""

import sys
from pathlib import Path
from typing import Final

import numpy as np

from device.simulator.traces import Run, TraceError, read_runs
from firmware_py.inference.kernel import Array
from firmware_py.platform.program import run_program

DISTANCES: Final = (*range(2, 400),)  # in answers
TONES_TRIED: Final = np.geomspace(3.0, 120.0, 100)


def wandering(runs: list[Run]) -> tuple[float, float, float]:
    """Return the SD of a run's mean, and SD and correlation length of what wanders within a run.

    By least squares, in SDs of the response noise and in answers.
    """
    distances = np.array(DISTANCES, dtype=float)
    found = np.array([_autocovariance(runs, distance) for distance in DISTANCES])
    best = (np.inf, 0.0, 0.0, 0.0)
    for tones in TONES_TRIED:
        shape = np.stack([np.ones(len(distances)), np.exp(-distances / tones)])
        variances = np.maximum(np.linalg.lstsq(shape.T, found, rcond=None)[0], 0.0)
        left = float(np.sum((found - variances @ shape) ** 2))
        run_sd, sd = np.sqrt(variances).tolist()
        best = min(best, (left, run_sd, sd, float(tones)))
    return best[1:]


def after_press(runs: list[Run], run_sd: float, sd: float, tones: float) -> float:
    """Return by how much the last answer moves the criterion, either way.

    `y[t-1] - p[t-1]` tells of the last answer and of the slow part before it; the share of the
    latter in the covariance with the next estimate is known.
    """
    covariance, variance, slope = [], [], []
    for run in runs:
        estimate, surprise = _estimates(run), np.array(run.answers) - np.array(run.expected)
        covariance.append(-estimate[1:] * surprise[:-1])
        variance.append(surprise[:-1] ** 2)
        slope.append(np.array(run.slope)[:-1])
    mean = [float(np.mean(np.concatenate(each))) for each in (covariance, variance, slope)]
    slow = (run_sd**2 + sd**2 * float(np.exp(-1.0 / tones))) * mean[2]
    # The criterion is lower by `a` after yes, higher after no: 2 a times the variance of y.
    return 0.5 * (mean[0] - slow) / mean[1]


def _estimates(run: Run) -> Array:
    """Return an estimate of the criterion from each answer."""
    expected, slope, answers = (np.array(each) for each in (run.expected, run.slope, run.answers))
    estimates: Array = (expected - answers) / slope
    return estimates


def _autocovariance(runs: list[Run], distance: int) -> float:
    products = []
    for run in runs:
        c = _estimates(run)
        products.append(c[distance:] * c[:-distance])
    return float(np.mean(np.concatenate(products)))


def main(arguments: list[str]) -> int:
    """Print the estimates."""
    if len(arguments) != 1:
        print("one table of answers is wanted: FILE.csv", file=sys.stderr)
        return 2
    try:
        runs = read_runs(Path(arguments[0]))
    except TraceError as error:
        print(error, file=sys.stderr)
        return 2
    print("listener  of a run  within  tones  after a press")
    rows = []
    for name in sorted({run.listener for run in runs}):
        own = [run for run in runs if run.listener == name]
        wander = wandering(own)
        rows.append((*wander, after_press(own, *wander)))
        print("{:8}  {:8.3f}  {:6.3f}  {:5.0f}  {:13.3f}".format(name, *rows[-1]))
    print("{:8}  {:8.3f}  {:6.3f}  {:5.0f}  {:13.3f}".format("mean", *np.mean(rows, axis=0)))
    return 0


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
