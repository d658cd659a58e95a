"""Rooms in which simulated people are tested: the noise in third octaves, over the board's time.

A room is a pure function of its seed and the time, so that it is the same however it is asked.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from firmware_py.terms.room import OFFICE, SPEECH, bands_db_spl

LEVELS_DBA: Final = (0.0, 90.0)
SLOT_US: Final = 2_000_000  # how long a burst lasts
BURST_DB: Final = 15.0
BURST_SHARE: Final = 0.3
SYLLABLE_US: Final = 200_000  # people say some four in a second
# Half a minute of speech is within some 30 dB (ANSI S3.5), nearly all of it in 12 above the mean.
SYLLABLE_SD_DB: Final = 6.0
COMES_US: Final = (15_000_000, 45_000_000)  # a slam and a train, once: while a test is under way
SLAM_DB: Final = 30.0
SLAM_DB_PER_S: Final = -60.0  # of half a second, as in a room of a reverberation time of 1 s
TRAIN_DB: Final = 20.0
TRAIN_HALF_US: Final = 10_000_000  # it rises, and falls in as long
STEP_US: Final = 25_000  # of a mean over time

Change = Callable[[int, int], float]  # seed and time (us): dB above the room's own level


def _steady(_seed: int, _at_us: int) -> float:
    return 0.0


def _speaks(seed: int, at_us: int) -> float:
    # The mean power is that of the level that was told.
    syllable_db = random.Random(f"{seed} speech {at_us // SYLLABLE_US}").gauss(0.0, SYLLABLE_SD_DB)
    return syllable_db - SYLLABLE_SD_DB**2 * math.log(10.0) / 20.0


def _bursts(seed: int, at_us: int) -> float:
    chance = random.Random(f"{seed} bursts {at_us // SLOT_US}").random()
    return BURST_DB if chance < BURST_SHARE else 0.0


def _slams(seed: int, at_us: int) -> float:
    since_s = 1e-6 * (at_us - random.Random(f"{seed} door").randint(*COMES_US))
    return max(SLAM_DB + SLAM_DB_PER_S * since_s, 0.0) if since_s >= 0.0 else 0.0


def _passes(seed: int, at_us: int) -> float:
    loudest_us = TRAIN_HALF_US + random.Random(f"{seed} train").randint(*COMES_US)
    return max(TRAIN_DB * (1.0 - abs(at_us - loudest_us) / TRAIN_HALF_US), 0.0)


_KINDS: Final[Mapping[str, tuple[str, Change]]] = {
    "steady": (OFFICE, _steady),
    "speech": (SPEECH, _speaks),
    "bursts": (OFFICE, _bursts),
    "door": (OFFICE, _slams),
    "train": (OFFICE, _passes),
}
KINDS_WORDS: Final = ", ".join(_KINDS)


@dataclass(frozen=True)
class NoisyRoom:
    """A room of a kind, whose A-weighted level is `level_dba` while nothing special happens.

    Of a room in which somebody speaks it is the mean over time.
    """

    kind: str
    level_dba: float
    seed: int

    def mean_db_spl(self, spans_us: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Return the mean power over these times, which are not empty."""
        shape, change = _KINDS[self.kind]
        changes_db = [
            change(self.seed, at_us) for span in spans_us for at_us in range(*span, STEP_US)
        ]
        mean_db = 10.0 * math.log10(sum(10.0 ** (0.1 * db) for db in changes_db) / len(changes_db))
        return tuple(level + mean_db for level in bands_db_spl(shape, self.level_dba))


def power_sum_db(*levels_db: float) -> float:
    return 10.0 * math.log10(sum(10.0 ** (level / 10.0) for level in levels_db))


def word_and_number(text: str) -> tuple[str, float]:
    """Return both of ``WORD:NUMBER``, and NaN where there is no number."""
    word, _, number = text.partition(":")
    try:
        return word, float(number)
    except ValueError:
        return word, math.nan


def room_named(text: str, seed: int) -> NoisyRoom:
    """Return the room of ``KIND:DBA``, such as ``bursts:40``; a `ValueError` if there is none."""
    kind, level_dba = word_and_number(text)
    low_dba, high_dba = LEVELS_DBA
    if kind not in _KINDS or not low_dba <= level_dba <= high_dba:
        raise ValueError(
            f"--room is {text!r}; allowed is KIND:DBA, {KINDS_WORDS} with {low_dba:g} to "
            f"{high_dba:g} dB(A)"
        )
    return NoisyRoom(kind, level_dba, seed)
