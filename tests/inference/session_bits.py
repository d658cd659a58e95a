"""Print the bits of short sessions: `python -m tests.inference.session_bits TRIALS`.

Without SciPy, so that it runs where the firmware does.
"""

import random
import sys
from typing import Any

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS

WIDTH_DB = 4.0  # of the dead zone, where it is not told

# Profile, scale, and what is told of the listener.
SESSIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("default", "bark", {}),
    ("default", "bark", {"false_alarm_rate": 0.02}),
    (
        "default",
        "log2",
        {
            "response_noise_db": [(250.0, 2.0), (3000.0, 5.0)],
            "lapse_rate": 0.05,
            "unsure_half_width_db": 2.0,
            "age_years": 67.0,
            "sex": "F",
            "candidates": 20,
        },
    ),
    ("default", "mel", {"unsure_half_width_db": None}),
    ("gp-pta-2015", "bark", {}),
    ("gp-pta-2015", "mel", {}),
]


def bits_of(profile: str, scale: str, told: dict[str, Any], trials: int) -> list[str]:
    """Return a line a trial: tone, information, evidence, hyperparameters, thresholds."""
    chance = random.Random(f"{profile} {scale}")
    estimator = ThresholdEstimator(profile, scale=scale, max_trials=trials, **told)
    lines = []
    for n in range(trials):
        tone = BITS.choose(estimator)
        above_db = tone.level_db_hl - 25.0 - 0.006 * tone.frequency_hz + chance.gauss(0.0, 4.0)
        half_width_db = told.get("unsure_half_width_db", 0.0)
        unsure = abs(above_db) < (WIDTH_DB if half_width_db is None else half_width_db)
        heard = None if unsure else above_db > 0.0
        information_bits = tone.information_bits
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)
        if n % 4 == 3:
            estimator.observe_silence(chance.random() < 0.1)
        found = estimator.hyperparameters
        mean_db_hl, sd_db = estimator.threshold([125.0, 1000.0, 3170.0])
        numbers = [
            tone.frequency_hz, tone.level_db_hl, information_bits, estimator.log_evidence,
            found.length or 0.0, found.sd_db or 0.0, found.response_noise_db, found.lapse_rate,
            found.false_alarm_rate, found.unsure_half_width_db, *mean_db_hl, *sd_db,
            estimator.probability_heard(1000.0, 40.0),
        ]  # fmt: skip
        if profile == "default":  # the paper's asks the C library for quantiles
            numbers += [*estimator.threshold_band([500.0, 3170.0])[0], estimator.converged]
        lines.append(" ".join(float(number).hex() for number in numbers))
    return lines


def main() -> None:
    for profile, scale, told in SESSIONS:
        print(profile, scale)
        print(*bits_of(profile, scale, told, int(sys.argv[1])), sep="\n")


if __name__ == "__main__":
    main()
