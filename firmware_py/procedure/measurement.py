"""The measurement of one ear: which tone tells most next, until the stopping rule says enough."""

import math
from dataclasses import replace
from typing import Final

from firmware_py.inference.estimator import Stimulus
from firmware_py.procedure.audiogram import BAND_PROBABILITY, Audiogram
from firmware_py.procedure.levels import near
from firmware_py.procedure.outcomes import Outcome, Purpose
from firmware_py.procedure.presentation import Observation, Presentation
from firmware_py.procedure.settings import STEP_UP_MAX_DB, Settings
from firmware_py.procedure.stopping import Stop, StoppingRule

# The profile whose band can be trusted to say that a frequency needs no more tones; the others are
# too sure of themselves, and choose by information alone.
HONEST_BANDS: Final = "default"
SAME_TONE_MAX: Final = 3  # a tone is unheard at the limit, or heard at the floor, at most so often


class Measurement:
    """The estimator's tones of one ear, and the observations that count."""

    def __init__(self, settings: Settings, audiogram: Audiogram, rule: StoppingRule) -> None:
        self._settings = settings
        self._audiogram = audiogram
        self._estimator = audiogram.estimator
        self._levels = audiogram.levels
        self._tally = audiogram.tally
        self._rule = rule
        self.observations: list[Observation] = []
        self._again_hz: tuple[float, ...] = ()  # what is asked again with noise
        self._once_more_hz: int | None = None  # to be asked at its limit once more

    def tone(self) -> Presentation:
        """Return the next tone."""
        if self._once_more_hz is not None:
            limit_db_hl = self._levels.limit_db_hl(self._once_more_hz)
            return self._levels.tone(Purpose.MEASURE, self._once_more_hz, limit_db_hl)
        # At a bound an answer that was expected hardly moves Laplace's mode: the same tone would
        # seem as informative as before.
        at_bound = self._tally.silent_at_limit + self._tally.heard_at_floor
        exhausted_hz = [f for f, count in at_bound.items() if count >= SAME_TONE_MAX]
        if self._again_hz:
            known_hz = self._estimator.candidate_frequencies_hz
            exhausted_hz += [f for f in known_hz if not near(f, self._again_hz)]
        elif self._settings.profile == HONEST_BANDS:
            exhausted_hz += self.settled_hz()
        stimulus = self._most_informative(exhausted_hz)
        tone = self._levels.tone(Purpose.MEASURE, stimulus.frequency_hz, stimulus.level_db_hl)
        return replace(tone, information_bits=stimulus.information_bits)

    def settled_hz(self) -> list[float]:
        """Return the frequencies that are known well enough to end the measurement."""
        candidates_hz = self._estimator.candidate_frequencies_hz
        low_db_hl, high_db_hl = self._estimator.threshold_band(candidates_hz, BAND_PROBABILITY)
        widest_db = 2.0 * self._settings.stop_half_width_db
        return [
            f
            for f, low, high in zip(candidates_hz, low_db_hl, high_db_hl, strict=True)
            if high - low <= widest_db
        ]

    def observe(self, observation: Observation) -> None:
        """Take an answer into account, that to a catch trial or to the retest as well."""
        self.observations.append(observation)
        self._estimate(observation)

    def judge(self) -> Stop | None:
        """Return the end of the measurement, None if it goes on.

        Before an end in numbers a frequency that may lie beyond its limit is asked there again.
        """
        stop = self._rule.judge()
        if stop is not None and stop.enough:
            self._once_more_hz = self._silent_once_hz()
            if self._once_more_hz is not None:
                return None
        return stop

    def forget(self, observations: list[Observation]) -> None:
        """Measure again without these answers, which may be the other ear's.

        Only frequencies near theirs are asked.
        """
        self.observations = [each for each in self.observations if each not in observations]
        self._again_hz = tuple(each.presentation.frequency_hz for each in observations)
        self._once_more_hz = None
        self._rule.ask_again()
        self._estimator.reset()
        for each in self.observations:
            self._estimate(each)

    def _estimate(self, observation: Observation) -> None:
        tone, heard = observation.presentation, observation.heard
        if tone.purpose == Purpose.CATCH:
            self._estimator.observe_silence(heard is not False)
        else:
            self._estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)

    def _most_informative(self, exhausted_hz: list[float]) -> Stimulus:
        """Return the tone that tells most now, or the first of the climb to one that tells more.

        The information of a tone above its ceiling is divided by the number of tones it takes to
        get there. Without that, nothing is asked at the foot of a steep loss.
        """
        candidates_hz = self._estimator.candidate_frequencies_hz
        allowed_db_hl = [self._levels.ceiling_db_hl(f) for f in candidates_hz]
        now = self._estimator.next_stimulus(allowed_db_hl, exhausted_hz)
        limits_db_hl = self._levels.limits_db_hl(candidates_hz)
        wanted = self._estimator.next_stimulus(limits_db_hl, exhausted_hz)
        above_db = wanted.level_db_hl - self._levels.ceiling_db_hl(wanted.frequency_hz)
        tones = 1 + math.ceil(max(above_db, 0.0) / STEP_UP_MAX_DB)
        share_bits = wanted.information_bits / tones
        if share_bits > now.information_bits:
            return replace(wanted, information_bits=share_bits)
        return now

    def _silent_once_hz(self) -> int | None:
        """Return a frequency that is incomplete for want of a second silence at its limit.

        None: there is none, or no tone is left for it.
        """
        if self._rule.exhausted:
            return None
        silent = self._tally.silent_at_limit
        once = [f for f in self._audiogram.frequencies_hz if silent[f] == 1]
        marks = {e.frequency_hz: e.mark for e in self._audiogram.estimates()} if once else {}
        return next((f for f in once if marks[f] == Outcome.INCOMPLETE), None)
