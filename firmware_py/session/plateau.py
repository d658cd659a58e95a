"""Does a threshold stay where it is when the other ear has more noise? No session in it.

A tone 10 dB above a threshold is heard whatever the other ear has, if the threshold is this ear's.
If it is the other one's, which hears through the skull what an air-bone gap keeps from it on the
way through the air, enough noise hides the tone. Clinics raise the noise until the threshold moves
no more, the plateau; here one tone is asked, with as much noise as cannot hide it by itself.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from firmware_py.session.masking import AIR_BONE_GAP_DB, Threshold

CHECK_ABOVE_DB: Final = 10.0  # the threshold; noise in the other ear may raise it by some 5 dB
CHECK_ABOVE_DB_MIN: Final = 5.0  # where a limit leaves no more
# The noise hides the tone behind such a gap; 0.6 % of the ears of a clinic have more. Where a limit
# leaves less, it has to be more than what is said without a check (`GAP_ALSO_DB`).
GAP_DB: Final = 50.0
GAP_DB_MIN: Final = 36.0
# An ear that hears by itself at a frequency does so from a third to three times it: two checks are
# enough for all.
REACH_TIMES: Final = 3
CHECKS_MAX: Final = 2  # frequencies of an ear
TRIES_MAX: Final = 2  # a tone that was not heard may have been missed


@dataclass(frozen=True)
class Check:
    """A tone and its noise; all levels dB HL."""

    frequency_hz: int
    level_db_hl: float
    noise_db_hl: float
    gap_db: float  # up to this air-bone gap of the other ear the noise hides the tone from it

    @classmethod
    def of(
        cls, frequency_hz: int, level_db_hl: float, attenuation_db: float, other: Threshold,
        highest_db_hl: float,
    ) -> Self | None:  # fmt: skip
        """Return the check of a tone; None: no noise that the other ear may have would tell.

        `attenuation_db`: between the ears, for tone and noise. `highest_db_hl`: limit of the noise.
        """
        crossing_db_hl = level_db_hl - attenuation_db
        possible_db = other.gap_possible_db
        wanted_db_hl = max(crossing_db_hl + min(possible_db, GAP_DB), other.high_db_hl)
        most_db_hl = min(level_db_hl + attenuation_db - AIR_BONE_GAP_DB, highest_db_hl)
        noise_db_hl = float(min(math.ceil(wanted_db_hl), math.floor(most_db_hl)))
        gap_db = noise_db_hl - crossing_db_hl
        heard = noise_db_hl >= other.high_db_hl  # in the other ear
        tells = heard and gap_db >= min(possible_db, GAP_DB_MIN)
        return cls(frequency_hz, level_db_hl, noise_db_hl, gap_db) if tells else None


class Plateau:
    """What an ear was asked with more noise in the other one, and what that tells."""

    def __init__(self) -> None:
        self.due: Check | None = None  # under way, or to be asked again
        self._heard: list[Check] = []
        self._misses = 0  # of the one that is due
        self.missed: Check | None = None  # not heard, so that it may be the other ear's
        self._impossible = False

    @property
    def over(self) -> bool:
        return self._impossible or self.missed is not None or len(self._heard) >= CHECKS_MAX

    def choose(self, said_hz: Iterable[int], checks: Mapping[int, Check]) -> Check | None:
        """Return the check that tells most: of the lowest frequency, and as many above as can be.

        `said_hz`: where a gap of the other ear would explain the threshold. `checks`: those that
        are possible, by frequency.
        """
        if self.over or not checks:
            return None
        reach_hz = REACH_TIMES * min(said_hz)
        chosen_hz = max((f for f in checks if f <= reach_hz), default=min(checks))
        return checks[chosen_hz]

    def take_answer(self, heard: bool, with_noise: bool) -> None:
        """Take the answer to the check that is due; without its noise it tells nothing."""
        check = self.due
        assert check is not None, "an answer is to a tone"
        self._misses += not heard
        if not with_noise:
            self._impossible = True
        elif heard:
            self._heard.append(check)
        elif self._misses >= TRIES_MAX:
            self.missed = check
        else:
            return  # once more
        self.due, self._misses = None, 0

    def gap_db(self, frequency_hz: float) -> float | None:
        """Return up to which gap of the other ear a threshold is known to be this ear's.

        None: nothing near it was heard with more noise.
        """
        near = [each for each in self._heard if _is_in_reach(each.frequency_hz, frequency_hz)]
        return max((each.gap_db for each in near), default=None)


def is_clear(level_db_hl: float, threshold_db_hl: float) -> bool:
    return level_db_hl >= threshold_db_hl + CHECK_ABOVE_DB_MIN


def _is_in_reach(frequency_hz: float, other_hz: float) -> bool:
    low_hz, high_hz = sorted((frequency_hz, other_hz))
    return high_hz <= REACH_TIMES * low_hz
