"""Checks of the answers themselves: which of them the model of an honest listener did not expect.

Each check has a criterion that an honest listener rarely meets, whatever the noise of the answers;
`../PROCEDURE.md` has how often one does, and the command. By remark, of 240 honest tests with a
noise of 2 / 4 dB, and of others: clear tones missed 0 / 0 %, with 15 % lapses 52 %; runs 0 / 1 % of
ears, with two bursts of five 75 %, and once more 0 / 0 % and 2 %; pauses and catch trials 0 / 0 %;
retest at most 1 / 2 % of ears, where they became worse by 15 dB 80 %
(`tests/ear/test_model_checks.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

from firmware_py.inference.elementary import exp, normal_cdf
from firmware_py.inference.model import Hyperparameters
from firmware_py.terms.presentation import Observation

# A tone so far above the upper end of the final band, in SDs of the response noise, is clear: an
# attentive listener misses one in a hundred and fifty, if the threshold lies at that very end. A
# listener who is believed to be noisy because tones were missed does not hide them.
CLEAR_NOISES: Final = 2.5
CLEAR_MARGIN_DB_MAX: Final = 10.0
# Who is believed to miss so large a share of tones, in the mean of both ears, does not attend.
LAPSE_RATE_MAX: Final = 0.04

# A run of tones that were answered without attention: so many tones, in which the probabilities
# that attention was away add up to so much.
RUN_TONES: Final = 5
RUN_AWAY: Final = 2.5
RUN_MEMBER: Final = 0.3  # a tone belongs to a run if attention was away with this probability

# The retest is remarked upon if it differs by more than `retest.RETEST_REPEATABLE_DB`, and a
# difference like this or larger has at most this probability with this listener.
RETEST_IMPROBABLE: Final = 0.02
_QUADRATURE: Final = tuple(0.25 * step for step in range(-16, 17))  # in SDs of the threshold


@dataclass(frozen=True)
class ClearTones:
    """How many tones were clear, and how many of these were missed."""

    asked: int = 0
    missed: int = 0

    def __add__(self, other: "ClearTones") -> "ClearTones":
        return ClearTones(self.asked + other.asked, self.missed + other.missed)

    @classmethod
    def of(cls, tones: Iterable[Observation]) -> Self:
        """Count tones that are clear; an unsure answer is no miss."""
        heard = [each.heard for each in tones]
        return cls(len(heard), heard.count(False))


def tones_away(attended: Sequence[float]) -> list[int]:
    """Return the places of tones in runs without attention, by the probability of it at each."""
    away = [1.0 - each for each in attended]
    found: set[int] = set()
    for begin in range(len(away) - RUN_TONES + 1):
        window = range(begin, begin + RUN_TONES)
        if sum(away[i] for i in window) >= RUN_AWAY:
            found.update(i for i in window if away[i] >= RUN_MEMBER)
    for order in (range(len(away)), reversed(range(len(away)))):
        for before, here in pairwise(order):  # a run is longer than its window
            if before in found and away[here] >= RUN_MEMBER:
                found.add(here)
    return sorted(found)


def ascent_probability(
    levels_db_hl: Sequence[float],
    higher: bool,
    threshold_db_hl: float,
    sd_db: float,
    listener: Hyperparameters,
) -> float:
    """Return how probable an ascent is that ends as late as this one, or as early, two-sided.

    The last of its levels was the first that was heard. If it came out `higher` than the threshold
    it is compared with later ends. `threshold_db_hl` and `sd_db` (a normal distribution) and the
    `listener` are what was believed before it.
    """
    silent = levels_db_hl[:-1] if higher else levels_db_hl
    total = tail = 0.0
    for step in _QUADRATURE:
        weight = exp(-0.5 * step * step)
        all_silent = 1.0
        for level_db_hl in silent:
            z = (level_db_hl - threshold_db_hl - step * sd_db) / listener.response_noise_db
            rate = listener.false_alarm_rate
            all_silent *= 1.0 - rate - (1.0 - rate - listener.lapse_rate) * normal_cdf(z)
        total += weight
        tail += weight * (all_silent if higher else 1.0 - all_silent)
    return min(1.0, 2.0 * tail / total)
