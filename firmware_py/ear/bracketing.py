"""The tones that make a frequency measured: on the side of its threshold where none was answered.

The tones that tell most leave out frequencies that others already tell much about. There, before an
ear ends, a tone or two are asked: an audiologist expects every octave to be measured.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from firmware_py.ear.levels import near
from firmware_py.ear.marks import answers_above, heard_at, silent_at, silent_below
from firmware_py.ear.threshold_estimates import Estimate, ThresholdEstimates
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.settings import STEP_UP_MAX_DB, Settings

BRACKET_TONES_MAX: Final = 3  # at a frequency, if not all have to be asked
SAME_TONE_MAX: Final = 3  # a tone is unheard at the limit, or heard at the floor, at most so often
DONE: Final = (Outcome.MEASURED, Outcome.NO_RESPONSE, Outcome.HEARS_ALL)


class Bracketing:
    """Which frequency of one ear is asked next for its own sake, and at which level."""

    def __init__(self, settings: Settings, audiogram: ThresholdEstimates) -> None:
        self._all = settings.ask_all
        self._audiogram = audiogram
        self._levels = audiogram.levels
        self._asked: Counter[int] = Counter()

    def count_tone(self, frequency_hz: int) -> None:
        self._asked[frequency_hz] += 1

    def begin_again(self) -> None:
        self._asked.clear()

    def tones_missing(self) -> int:
        """Return how many tones it takes if they are answered as expected."""
        return sum(self._sides_missing(each) for each in self._open())

    def next_tone(self, again_hz: Sequence[float] = ()) -> tuple[int, float] | None:
        """Return a frequency and a level to ask there; `again_hz`: if any, near one of these."""
        return self._easiest(((each, self._level(each)) for each in self._open()), again_hz)

    def second_tone(self, again_hz: Sequence[float] = ()) -> tuple[int, float] | None:
        """Return a tone for a second answer where a threshold depends on one, on its side."""
        above = [(each, each.high_db_hl) for each in self._audiogram.on_one_answer(heard=True)]
        tone = self._easiest(above, again_hz)
        if tone is not None:
            return tone
        below = [(each, each.low_db_hl) for each in self._audiogram.on_one_answer(heard=False)]
        return self._easiest(below, again_hz)

    def _easiest(
        self, wanted: Iterable[tuple[Estimate, float]], again_hz: Sequence[float]
    ) -> tuple[int, float] | None:
        """Return the one of these frequencies and levels that takes the fewest tones."""
        found = []
        for each, end_db_hl in wanted:
            frequency_hz = each.frequency_hz
            level_db_hl = self._levels.within_db_hl(frequency_hz, end_db_hl)
            if again_hz and not near(frequency_hz, again_hz):
                continue
            above_db = level_db_hl - self._levels.ceiling_db_hl(frequency_hz)
            climb = math.ceil(max(above_db, 0.0) / STEP_UP_MAX_DB)
            asked = self._asked[frequency_hz]
            if self._all or asked + climb < BRACKET_TONES_MAX:
                found.append((climb, asked, frequency_hz, level_db_hl))
        if not found:
            return None
        _, _, frequency_hz, level_db_hl = min(found)
        return frequency_hz, level_db_hl

    def _open(self) -> list[Estimate]:
        """Return the frequencies that are not measured yet, and that a tone can help."""
        return [
            each
            for each in self._audiogram.estimates()
            if each.mark not in DONE
            and each.frequency_hz not in self._levels.left_out_hz
            and not self._levels.is_out_of_reach(each.frequency_hz)
            and (self._all or each.frequency_hz not in self._levels.route.kind.inter_octave_hz)
            and not self._is_used_up(each)
        ]

    def _is_used_up(self, estimate: Estimate) -> bool:
        """Return whether a bound of the levels was asked there often enough."""
        tones = self._audiogram.marks.near(estimate.frequency_hz)
        silent = silent_at(tones, self._levels.limit_db_hl(estimate.frequency_hz))
        bound = max(silent, heard_at(tones, self._levels.floor_db_hl(estimate.frequency_hz)))
        # What is perhaps beyond its limit was asked there.
        perhaps = estimate.mark == Outcome.INCOMPLETE and not self._all
        return bound >= SAME_TONE_MAX or perhaps

    def _sides_missing(self, estimate: Estimate) -> int:
        if estimate.side != Outcome.MEASURED:
            return 1
        marks = self._audiogram.marks
        tones, wanted = marks.near(estimate.frequency_hz), marks.silent_below_min
        above = min(len(answers_above(tones, estimate.low_db_hl)), 1)
        return 1 + wanted - above - min(len(silent_below(tones, estimate.high_db_hl)), wanted)

    def _level(self, estimate: Estimate) -> float:
        """Return the level that tells on which side the threshold lies, within the limits.

        It is the end of the band on the side that is missing; if both are, the middle makes one of
        them.
        """
        if estimate.side in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE):
            return self._levels.limit_db_hl(estimate.frequency_hz)
        if estimate.side == Outcome.HEARS_ALL:
            return self._levels.floor_db_hl(estimate.frequency_hz)
        tones, level_db_hl = self._audiogram.marks.near(estimate.frequency_hz), estimate.mean_db_hl
        if answers_above(tones, estimate.low_db_hl):
            level_db_hl = estimate.low_db_hl
        elif silent_below(tones, estimate.high_db_hl):
            level_db_hl = estimate.high_db_hl
        return level_db_hl
