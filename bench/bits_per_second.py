"""Seconds to a given certainty: tones chosen for bits, and for bits per second.

`python -m bench.bits_per_second nhanes_audiograms.csv` measures each ear twice, by both choices,
with the same luck, and nothing told. A session ends when the mean half width of the 95 % bands at
the ear's frequencies is small enough.
"""

import argparse
import math
import sys
from pathlib import Path
from typing import Final

import numpy as np

from firmware_py import ThresholdEstimator
from firmware_py.inference.trial_time import TrialTime
from firmware_py.platform.program import run_program
from host_tools.research.study.ears import HELD_OUT, JITTER_DB, ears_of, read_table
from host_tools.research.study.listener import Answering, Ear, Listener

HALF_WIDTHS_DB: Final = (10.0, 8.0, 6.0, 5.0)
TONES_MAX: Final = 100


def seconds_to(
    ear: Ear, answering: Answering, seed: int, time: TrialTime, choose_by: TrialTime | None
) -> list[float]:
    """Return the seconds of one session until each of HALF_WIDTHS_DB; NaN: not reached."""
    estimator = ThresholdEstimator(max_trials=TONES_MAX)
    listener = Listener(ear, answering, seed, TONES_MAX)
    found, passed_s = [math.nan] * len(HALF_WIDTHS_DB), 0.0
    for number in range(TONES_MAX):
        tone = estimator.next_stimulus(time=choose_by)
        heard = listener.hears(number, tone.frequency_hz, tone.level_db_hl)
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)
        passed_s += time.answered_s if heard else time.silent_s
        low_db_hl, high_db_hl = estimator.threshold_band(ear.frequencies_hz)
        half_width_db = 0.5 * float(np.mean(high_db_hl - low_db_hl))
        for i, wanted_db in enumerate(HALF_WIDTHS_DB):
            if math.isnan(found[i]) and half_width_db <= wanted_db:
                found[i] = passed_s
        if not math.isnan(found[-1]):
            break
    return found


def main() -> None:
    """Measure, and print a table in Markdown."""
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("audiograms", help="a table of ears; those of its people held out are measured")
    p.add_argument("--ears", type=int, default=15, help="of each of four degrees of loss")
    p.add_argument("--noise", type=float, default=2.0, help="response noise, dB")
    p.add_argument("--answered", type=float, default=1.4, help="seconds of an answered tone")
    p.add_argument("--silent", type=float, default=2.0, help="seconds of a silent one")
    arguments = p.parse_args()
    table = read_table(Path(arguments.audiograms), "audiograms")
    ears, _ = ears_of(table.part(HELD_OUT), arguments.ears)
    answering = Answering(arguments.noise, lapse_rate=0.01, false_alarm_rate=0.01)
    time = TrialTime(arguments.answered, arguments.silent)
    found = np.array([
        [seconds_to(ear.jitter(1, JITTER_DB), answering, 1, time, by) for by in (None, time)]
        for ear in ears
    ])  # fmt: skip
    print("| half width, dB | reached | bits, s | bits per second, s | saved, s (SE) | saved |")
    print("|---|---|---|---|---|---|")
    for i, wanted_db in enumerate(HALF_WIDTHS_DB):
        both = found[~np.isnan(found[:, :, i]).any(axis=1), :, i]
        saved_s = both[:, 0] - both[:, 1]
        plain_s, timed_s = both.mean(axis=0)
        error_s = saved_s.std(ddof=1) / math.sqrt(len(both))
        print(
            f"| {wanted_db:g} | {len(both)} of {len(found)} | {plain_s:.1f} | {timed_s:.1f} | "
            f"{saved_s.mean():.1f} ({error_s:.1f}) | {100.0 * saved_s.mean() / plain_s:.1f} % |"
        )


if __name__ == "__main__":
    sys.exit(run_program(main))
