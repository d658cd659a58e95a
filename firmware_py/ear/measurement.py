"""The measurement of one ear: which tone tells most next, until the stopping rule says enough."""

from collections.abc import Sequence
from dataclasses import replace

from firmware_py.ear.bracketing import SAME_TONE_MAX, Bracketing
from firmware_py.ear.levels import near
from firmware_py.ear.objective import Objective, best_within_reach
from firmware_py.ear.threshold_estimates import ThresholdEstimates
from firmware_py.inference.curves import Curves
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Observation, Presentation, without
from firmware_py.terms.settings import HONEST_PROFILES, Settings


def give(estimator: ThresholdEstimator, evidence: Observation | bool) -> None:
    """Give an answer to an estimator, or whether a pause had a press."""
    if isinstance(evidence, bool):
        estimator.observe_silence(evidence)
    elif _is_catch(evidence):
        estimator.observe_silence(evidence.heard is not False)
    else:
        tone = evidence.presentation
        estimator.observe(tone.frequency_hz, tone.level_db_hl, evidence.heard, evidence.response_s)


def _is_catch(observation: Observation) -> bool:
    return observation.presentation.purpose == Purpose.CATCH


class Measurement:
    """The estimator's tones of one ear, and the observations that count.

    Attributes
    ----------
    bracketing : Bracketing
        Which frequency is asked for its own sake.
    again_hz : tuple of float
        Only frequencies near these are asked, again; none: any.
    doubted_tones : int
        How many were asked again because their answer left two explanations.
    evidence : list of Observation or bool
        What the estimator was given, in order: answers, and whether a pause had a press.
    """

    def __init__(self, settings: Settings, audiogram: ThresholdEstimates) -> None:
        self._settings = settings
        self._audiogram = audiogram
        self._estimator = audiogram.estimator
        self._levels = audiogram.levels
        self._asked = audiogram.asked
        self.bracketing = Bracketing(settings, audiogram)
        self.again_hz: tuple[float, ...] = ()  # what is asked again with noise
        self.doubted_tones = 0
        self.evidence: list[Observation | bool] = []
        self._told: list[Observation] = []  # what is expected of the threshold rests on these
        self._silences_told = 0  # and so many silences between them come first in the evidence

    @property
    def observations(self) -> list[Observation]:
        """Return the answers that count."""
        return self._asked.observations

    def tone(self, objective: Objective) -> Presentation:
        # At a bound an answer that was expected hardly moves Laplace's mode: the same tone would
        # seem as informative as before.
        at_bound = self._asked.all_silent_at_limit() + self._asked.all_heard_at_floor()
        exhausted_hz = [f for f, count in at_bound.items() if count >= SAME_TONE_MAX]
        kind, known_hz = self._levels.route.kind, self._estimator.candidate_frequencies_hz
        never_hz = [*self._levels.left_out_hz]
        if kind.follows_air and not self._settings.ask_all:
            never_hz += kind.inter_octave_hz
        exhausted_hz += never_hz
        if self.again_hz:
            exhausted_hz += [f for f in known_hz if not near(f, self.again_hz)]
        elif self._settings.profile in HONEST_PROFILES:
            # Its bands can be trusted to say that a frequency needs no more tones; the others are
            # too sure of themselves, and choose by information alone.
            exhausted_hz += self.settled_hz()
        if {*exhausted_hz} >= {*known_hz}:
            exhausted_hz = never_hz  # once more at a bound: what is left out tells nothing
        stimulus = best_within_reach(objective, self._estimator, self._levels, exhausted_hz)
        tone = self._levels.tone(Purpose.MEASURE, stimulus.frequency_hz, stimulus.level_db_hl)
        return replace(tone, information_bits=stimulus.information_bits)

    def settled_hz(self) -> list[float]:
        """Return the frequencies that are known well enough to end the measurement."""
        candidates_hz = self._estimator.candidate_frequencies_hz
        bands_db_hl = self._audiogram.bands(candidates_hz)
        wanted_db = self._audiogram.wanted_half_width_db
        return [
            f
            for f, low, high in zip(candidates_hz, *bands_db_hl, strict=True)
            if high - low <= 2.0 * wanted_db(f)
        ]

    def observe(self, observation: Observation, pressed: bool | None = None) -> None:
        """Take an answer into account, that to a catch trial or to the retest as well.

        `pressed`: whether a button was pressed in the pauses before it; None: they were too short.
        """
        self.observations.append(observation)
        new: list[Observation | bool] = [observation]
        if pressed is not None:
            new.insert(0, pressed)
        self.evidence += new
        for each in new:
            give(self._estimator, each)

    def expect_listener(self, other: ThresholdEstimator, dropped: list[Observation]) -> None:
        """Begin with what another ear told of the listener; the familiarisation comes after it.

        `dropped`: answers that the other ear may have given.
        """
        self._asked.observations = without(self.observations, dropped)
        self.evidence = without(self.evidence, dropped)
        self._estimator.reset()
        self._estimator.expect_listener(other)
        self._give_anew(self.evidence)

    def expect_threshold(self, expected: Curves) -> None:
        """Begin with what is known of this very ear, and give the answers anew."""
        self._estimator.reset()
        self._estimator.expect_threshold(expected)
        self._give_anew(self.evidence)

    def would_tell(self, expected: Curves, answers: Sequence[Observation]) -> tuple[Curves, float]:
        """Return what these answers alone would tell, and the log evidence of them.

        `expected`: what is known before them. It is what is expected from here on.
        """
        self._estimator.reset()
        self._estimator.expect_threshold(expected)
        self._give_anew(answers)
        return self._estimator.curves_at_knots(), self._estimator.log_evidence

    def expect_own(self, expected: Curves) -> None:
        """Begin with what is known of this very ear, by the answers so far among others.

        They count there, and not once more as answers to the estimator.
        """
        self._told += self.tones()
        self.evidence = without(self.evidence, self._told)
        self._silences_told = len(self.evidence)
        self.expect_threshold(expected)

    def most_doubted(self) -> Presentation:
        """Return the tone whose answer is the most ambiguous."""
        return self.tones()[int(self._estimator.doubts.argmax())].presentation

    def forget(self, observations: list[Observation]) -> None:
        """Measure again without these answers: the other ear's, or given without attention.

        Only frequencies near theirs are asked.
        """
        self._asked.observations = without(self.observations, observations)
        self.again_hz = tuple(each.presentation.frequency_hz for each in observations)
        self.bracketing.begin_again()
        self.evidence = without(self.evidence, observations)
        self._give_anew(self.evidence)

    def tones(self) -> list[Observation]:
        """Return the tones whose answers the estimator has, in its order."""
        return [e for e in self.evidence if isinstance(e, Observation) and not _is_catch(e)]

    def log_evidence_without(self, tones: list[Observation]) -> float:
        """Return the log evidence of all but these tones, by the ear alone."""
        self._give_anew(without(self.evidence, tones))
        found = self._estimator.log_evidence
        self._give_anew(self.evidence)
        return found

    def log_evidence_around(self, tones: list[Observation]) -> tuple[list[float], list[float]]:
        """Return the log evidence of the first k of these tones, and of the others, for every k."""
        before, after = self._log_evidence_of(tones), self._log_evidence_of(tones[::-1])
        self._give_anew(self.evidence)
        return before, after[::-1]

    def _log_evidence_of(self, tones: list[Observation]) -> list[float]:
        self._give_anew([])
        found = [self._estimator.log_evidence]
        for each in tones:
            give(self._estimator, each)
            found.append(self._estimator.log_evidence)
        return found

    def _give_anew(self, evidence: Sequence[Observation | bool]) -> None:
        self._estimator.reset()
        for each in evidence:
            give(self._estimator, each)

    def go_back(self, tones: int) -> tuple[list[Observation], list[bool]]:
        """Measure as if there had been nothing after so many tones, no pause and no press either.

        Return the answers that are forgotten, and the pauses that are not.
        """
        places = [
            place for place, each in enumerate(self.evidence, 1)
            if isinstance(each, Observation) and not _is_catch(each)
        ]  # fmt: skip
        place = places[tones - 1] if tones else self._silences_told
        dropped = [each for each in self.evidence[place:] if isinstance(each, Observation)]
        self.evidence = self.evidence[:place]
        self._asked.observations = without(self.observations, dropped)
        self.bracketing.begin_again()
        self._give_anew(self.evidence)
        return dropped, [each for each in self.evidence if isinstance(each, bool)]
