"""Print the bits of short sessions: `python -m tests.inference.session_bits TRIALS`.

Without SciPy, so that it runs where the firmware does.
"""

import random
import sys

from firmware_py import ThresholdEstimator

SESSIONS = [("default", "bark"), ("gp-pta-2015", "bark"), ("default", "mel")]


def bits_of(profile: str, scale: str, trials: int) -> list[str]:
    """Return a line a trial: tone, information, evidence, hyperparameters, thresholds."""
    chance = random.Random(f"{profile} {scale}")
    estimator = ThresholdEstimator(profile, scale=scale, max_trials=trials)
    lines = []
    for _ in range(trials):
        tone = estimator.next_stimulus()
        heard = tone.level_db_hl > 25.0 + 0.006 * tone.frequency_hz + chance.gauss(0.0, 4.0)
        information_bits = estimator.information_bits
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)
        hyperparameters = estimator.hyperparameters
        mean_db_hl, sd_db = estimator.threshold([125.0, 1000.0, 3170.0])
        numbers = [
            tone.frequency_hz, tone.level_db_hl, information_bits, estimator.log_evidence,
            hyperparameters.length, hyperparameters.sd_db, hyperparameters.response_noise_db,
            *mean_db_hl, *sd_db, estimator.probability_heard(1000.0, 40.0),
        ]  # fmt: skip
        lines.append(" ".join(float(number).hex() for number in numbers))
    return lines


def main() -> None:
    """Print all sessions."""
    for profile, scale in SESSIONS:
        print(profile, scale)
        print(*bits_of(profile, scale, int(sys.argv[1])), sep="\n")


if __name__ == "__main__":
    main()
