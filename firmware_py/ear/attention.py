"""Whether the listener of one ear attends: clear tones that ask for it, and what shows in answers.

The tones that tell most of a threshold are near it, where a miss tells nothing of attention. So a
few clear tones are asked when the ear is known, and more after one was missed: like catch trials,
the other way round. They are tones like others: the estimator takes their answers as well.
"""

import math
from functools import cached_property
from typing import Final

from firmware_py.ear.caps import CHECKS_IN_DOUBT, CHECKS_USUAL
from firmware_py.ear.marks import answers_above
from firmware_py.ear.model_checks import CLEAR_MARGIN_DB_MAX, CLEAR_NOISES, ClearTones, tones_away
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY, ThresholdEstimates
from firmware_py.terms.outcomes import Outcome, Why
from firmware_py.terms.presentation import Observation, without

CHECK_ABOVE_DB: Final = 2.0  # a clear tone's least: a miss of it moves the band a little
CHECKS_AFTER_AIR: Final = 1  # the listener attended then, and may have tired since
CHECKS_IN_DOUBT_AFTER_AIR: Final = 3
# A miss that had at most this probability by all other answers is surprising; a clear tone missed
# is so in any case.
SURPRISING: Final = 0.1


class Attention:
    """The checks of attention of one ear."""

    def __init__(self, audiogram: ThresholdEstimates) -> None:
        self._audiogram = audiogram
        self._levels = audiogram.levels
        self._estimator = audiogram.estimator
        self.answers: list[Observation] = []  # to every tone before the confirmation, in order
        self.doubted = False  # whether the listener missed a clear tone in the other ear
        self.away_tones = 0  # answered in runs without attention, and asked again
        self.runs_asked_again = 0
        follows_air = self._levels.route.kind.follows_air
        self._usual = CHECKS_AFTER_AIR if follows_air else CHECKS_USUAL
        self._more = CHECKS_IN_DOUBT_AFTER_AIR if follows_air else CHECKS_IN_DOUBT
        self._checks: list[Observation] = []
        self.checks_expected = 0  # in all, by the last look; 0: nobody has looked

    @cached_property
    def modelled(self) -> bool:
        """Return whether the estimator models listeners who do not attend; Laplace's do not."""
        return len(self._estimator.listener_shares) > 1

    @property
    def checks_asked(self) -> int:
        return len(self._checks)

    @property
    def checks_missed(self) -> int:
        return sum(each.heard is False for each in self._checks)

    @property
    def checks_to_come(self) -> int:
        """Return how many clear tones are still expected to be asked as checks."""
        if not self.modelled:
            return 0
        expected = self.checks_expected or self._usual + (self._more if self.doubted else 0)
        return max(expected - len(self._checks), 0)

    def clear(self) -> ClearTones:
        """Count the clear tones of this ear, by all that is known of it now."""
        if not self._estimator.trial_count:
            return ClearTones()
        low_hz, high_hz = self._estimator.frequency_range_hz
        tones = [
            each
            for each in without(self.answers, self._checks)
            if low_hz <= each.presentation.frequency_hz <= high_hz
        ]
        at_hz = list(dict.fromkeys(each.presentation.frequency_hz for each in tones))
        _, high_db_hl = self._estimator.posterior_band(at_hz, BAND_PROBABILITY)
        clear_db_hl = dict(zip(at_hz, (high_db_hl + self._margin_db()).tolist(), strict=True))
        # The checks were clear by all that was known before them.
        checks = [o for o in self._checks if not self._is_unheard(o.presentation.frequency_hz)]
        return ClearTones.of(checks) + ClearTones.of(
            each
            for each in tones
            if each.presentation.level_db_hl >= clear_db_hl[each.presentation.frequency_hz]
        )

    def _margin_db(self) -> float:
        noise_db = self._estimator.hyperparameters.response_noise_db
        return min(CLEAR_NOISES * noise_db, CLEAR_MARGIN_DB_MAX)

    def _doubt(self, tones: list[Observation]) -> bool:
        if self.doubted or self.clear().missed > 0:
            return True
        expected = self._estimator.answer_probabilities.tolist()
        return any(
            each.heard is False and probability <= SURPRISING
            for each, probability in zip(tones, expected, strict=True)
        )

    def checks_wanted(self, tones: list[Observation]) -> int:
        """Return how many clear tones are wanted in all; `tones`: the estimator's."""
        return self._usual + (self._more if self._doubt(tones) else 0)

    def next_check(self, wanted: int) -> tuple[float, float] | None:
        """Return the frequency and level of a clear tone, if not so many were asked."""
        if self._checks and self._checks[-1].heard is False:
            tone = self._checks[-1].presentation
            if len(self._checks_at(tone.frequency_hz)) == 1:
                return tone.frequency_hz, tone.level_db_hl  # was it the listener, or the ear?
        return self._clear_tone() if len(self._checks) < wanted else None

    def _clear_tone(self) -> tuple[float, float] | None:
        """Return the softest clear tone where fewest were asked, None if there is none.

        Where one tone was heard above the threshold it comes first: that may have been an accident.
        """
        found = []
        marks = self._audiogram.marks
        margin_db = self._margin_db() + CHECK_ABOVE_DB
        for each in self._audiogram.estimates():
            f, level_db_hl = each.frequency_hz, math.ceil(each.high_db_hl + margin_db)
            asked = len(self._checks_at(f))
            if (
                each.mark == Outcome.MEASURED
                and f not in self._levels.route.kind.inter_octave_hz
                and level_db_hl <= self._levels.ceiling_db_hl(f)
                and not (asked and self._is_unheard(f))
            ):
                heard = len(answers_above(marks.near(f), each.low_db_hl))
                found.append((asked, heard > 1, level_db_hl, f))
        if not found:
            return None
        *_, level_db_hl, frequency_hz = min(found)
        return frequency_hz, level_db_hl

    def take_check(self, observation: Observation) -> None:
        self._checks.append(observation)

    def _checks_at(self, frequency_hz: float) -> list[Observation]:
        return [o for o in self._checks if o.presentation.frequency_hz == frequency_hz]

    def _is_unheard(self, frequency_hz: float) -> bool:
        """Return whether no check there was heard: the threshold may be higher than believed."""
        return all(o.heard is False for o in self._checks_at(frequency_hz))

    def forget(self, observations: list[Observation]) -> int:
        """Forget these answers: nobody seems to have listened. Return how many checks are gone."""
        before = self.checks_asked
        self.answers = without(self.answers, observations)
        self._checks = without(self._checks, observations)
        return before - self.checks_asked

    def forget_by(self, why: Why, observations: list[Observation]) -> None:
        """Forget answers that are to be asked again, or count them as given without attention."""
        if why == Why.LATE_START:
            self.forget(observations)
        else:
            self.runs_asked_again += 1
            self.away_tones += len(observations)

    def away(self, tones: list[Observation]) -> list[Observation]:
        """Return those of the estimator's tones that were answered in runs without attention."""
        # Where noise moves the answers the other ear gives them: the listener attends.
        if not self.modelled or self._audiogram.marks.moves_with_noise():
            return []
        return [tones[i] for i in tones_away(self._estimator.attended.tolist())]
