"""What response times are worth: the same sessions with them as evidence, and without.

`python -m bench.response_times nhanes_audiograms.csv` measures each ear both ways, with the same
luck, and tells nothing of the listener, or noise and rates. Tones are chosen by each estimator for
itself. Times are log-normal: their median is the listener's own, and falls with the distance above
the threshold by the slope, to some SDs of the response noise.
"""

import argparse
import math
import sys
from pathlib import Path
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.platform.program import run_program
from host_tools.research.methods.interface import Array
from host_tools.research.study.ears import HELD_OUT, JITTER_DB, ears_of, read_table
from host_tools.research.study.listener import Answering, Ear, Listener, uniforms

AT_TONES: Final = (10, 20, 30)
MEDIAN_S: Final = 0.5
MEDIAN_LOG_SD: Final = 0.1  # between people
_TIME_STREAM: Final = 11
_NORMAL: Final = NormalDist()


class Times(NamedTuple):
    """How long a listener takes."""

    slope: float  # fall of log time per SD of the response noise above the threshold
    flat_from: float  # SDs above it
    log_sd: float


def session(ear: Ear, answering: Answering, times: Times, told: bool, timed: bool) -> Array:
    """Return (len(AT_TONES), 3): squared error (dB^2), share covered, half width (dB)."""
    estimator = ThresholdEstimator(
        "response-times" if timed else "default",
        max_trials=max(AT_TONES),
        response_noise_db=answering.response_noise_db if told else None,
        lapse_rate=answering.lapse_rate if told else None,
        false_alarm_rate=answering.false_alarm_rate if told else None,
    )
    listener = Listener(ear, answering, 1, max(AT_TONES))
    own, *chances = uniforms(ear.name, 1, _TIME_STREAM, 1 + max(AT_TONES)).tolist()
    own_log = math.log(MEDIAN_S) + MEDIAN_LOG_SD * _NORMAL.inv_cdf(min(max(own, 1e-12), 1 - 1e-12))
    truth_db_hl = np.array(ear.thresholds_db_hl)
    found = []
    for number, chance in enumerate(chances):
        tone = BITS.choose(estimator)
        at = tone.frequency_hz, tone.level_db_hl
        heard = listener.hears(number, *at)
        above_db = tone.level_db_hl - ear.audiogram.threshold_db_hl(tone.frequency_hz)
        distance = min(above_db / answering.response_noise_db, times.flat_from)
        z = _NORMAL.inv_cdf(min(max(chance, 1e-12), 1 - 1e-12))
        time_s = math.exp(own_log - times.slope * distance + times.log_sd * z)
        estimator.observe(*at, heard, min(max(time_s, 0.15), 3.0) if heard else None)
        if number + 1 in AT_TONES:
            low_db_hl, high_db_hl = estimator.threshold_band(ear.frequencies_hz)
            error_db = estimator.threshold(ear.frequencies_hz)[0] - truth_db_hl
            covered = (low_db_hl <= truth_db_hl) & (truth_db_hl <= high_db_hl)
            half_db = 0.5 * (high_db_hl - low_db_hl)
            found.append([np.mean(error_db**2), covered.mean(), half_db.mean()])
    return np.array(found)


def main() -> None:
    """Measure, and print a table in Markdown."""
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("audiograms", help="a table of ears; those of its people held out are measured")
    p.add_argument("--ears", type=int, default=15, help="of each of four degrees of loss")
    p.add_argument("--noise", type=float, default=2.0, help="response noise, dB")
    p.add_argument("--slope", type=float, default=0.08, help="fall of log time per SD")
    p.add_argument("--flat-from", type=float, default=3.0, help="SDs; inf: the fall has no end")
    p.add_argument("--log-sd", type=float, default=0.242, help="of log time")
    p.add_argument("--told", action="store_true", help="tell noise and rates")
    arguments = p.parse_args()
    table = read_table(Path(arguments.audiograms), "audiograms")
    ears, _ = ears_of(table.part(HELD_OUT), arguments.ears)
    answering = Answering(arguments.noise, lapse_rate=0.01, false_alarm_rate=0.01)
    times = Times(arguments.slope, arguments.flat_from, arguments.log_sd)
    how = answering, times, arguments.told
    found = np.array([
        [session(ear.jitter(1, JITTER_DB), *how, timed) for timed in (False, True)]
        for ear in ears
    ])  # fmt: skip
    print(f"{len(ears)} ears, noise {arguments.noise:g} dB, slope {arguments.slope:g}")
    print("| tones | RMSE, dB | with times | half width, dB | with times | band | with times |")
    print("|---|---|---|---|---|---|---|")
    for i, tones in enumerate(AT_TONES):
        square, covered, half = found[:, :, i].mean(axis=0).T
        gain = np.sqrt(found[:, 1, i, 0]) - np.sqrt(found[:, 0, i, 0])
        error = gain.std(ddof=1) / math.sqrt(len(gain))
        print(
            f"| {tones} | {math.sqrt(square[0]):.2f} | {math.sqrt(square[1]):.2f} "
            f"({gain.mean():+.2f} ± {error:.2f}) | {half[0]:.2f} | {half[1]:.2f} | "
            f"{covered[0]:.3f} | {covered[1]:.3f} |"
        )


if __name__ == "__main__":
    sys.exit(run_program(main))
