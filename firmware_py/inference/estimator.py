"""The threshold estimator: one thin object that checks its arguments and owns the model."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from firmware_py.inference.checks import (
    answer_code,
    ceilings,
    floors,
    integer,
    interval,
    number,
    numbers,
)
from firmware_py.inference.construction import (
    Frequencies,
    KnownListener,
    frequency_weights,
    make_model,
    prior_given,
)
from firmware_py.inference.diagnostics import FigureCache
from firmware_py.inference.kernel import CONVERGED, Array
from firmware_py.inference.mixture.population_prior import PopulationPrior, Sex
from firmware_py.inference.mixture.prior_reading import NamesFile
from firmware_py.inference.model import FREQUENCY_LIMITS_HZ, LEVEL_LIMITS_DB_HL, Points
from firmware_py.inference.profiles import profile_named
from firmware_py.inference.psychometric import SILENT
from firmware_py.inference.record import Record
from firmware_py.inference.scales import scale_named
from firmware_py.inference.stories import Stories
from firmware_py.inference.thresholds import Thresholds
from firmware_py.inference.trial_time import TrialTime, seconds_of

TRIALS_MAX: Final = 1024  # of `max_trials`; the paper's workspace is some 32 bytes times its square
CANDIDATES_MAX: Final = 512
UNSURE_HALF_WIDTH_LIMITS_DB: Final = (0.0, 20.0)
STRIDE_DB_MAX: Final = 100.0


class TrialLimitError(RuntimeError):
    """More answers than the workspace was made for."""


class InferenceError(RuntimeError):
    """The posterior could not be computed."""


@dataclass(frozen=True)
class Stimulus:
    """A pure tone: frequency in Hz, level in dB HL, and what is expected of presenting it.

    Two stimuli of the same tone are equal, whatever is expected.
    """

    frequency_hz: float
    level_db_hl: float
    # `information_bits`: of its answer; `seconds`: that it takes, NaN if no times were given. Their
    # ratio says which of two stimuli is worth more.
    information_bits: float = field(default=math.nan, compare=False, repr=False)
    seconds: float = field(default=math.nan, compare=False, repr=False)


class ThresholdEstimator(Thresholds):
    """Estimates one ear's pure-tone threshold from answers, and says what to ask next.

    A copy (`copy.copy`, `copy.deepcopy`, `pickle`) has the same answers and shares nothing with it.
    Threads may share one: its methods wait for one another.

    Parameters
    ----------
    profile : str
        "default": a prior learned from people, listeners who lapse, expectation propagation.
        "gp-pta-2015": the paper to the letter: one Gaussian process, evidence maximised after every
        trial. Its bands are too sure of themselves, see `bench/README.md`.
    max_trials : int
        Answers there is room for; memory is allocated once for so many.
    response_noise_db : float or sequence of (frequency_hz, response_noise_db), optional
        SD of the perceptual noise, dB; a curve is interpolated linearly over log2 frequency. None:
        inferred from the answers ("default"), or the profile's value.
    lapse_rate, false_alarm_rate : float, optional
        Shares of tones missed, and of silences answered, whatever the level. None: inferred, and
        with both None attention may wander for a while. Only "default": the other takes None or 0.
    unsure_half_width_db : float, optional
        Half width of the dead zone of listeners who may be unsure; 0: they may not. None: they may,
        and it is inferred. Only "default": the other takes 0.
    age_years, sex : float and "F" or "M", optional
        Of the listener; they change the prior of "default".
    prior : PopulationPrior, str or path, optional
        In place of the one that is shipped, for "default"; or the file of one, as
        `gp-pta learn-prior` writes it.
    level_limits_db_hl : (low, high)
        Levels that may be asked.
    frequency_range_hz : (low, high)
        Frequencies that may be asked.
    scale : str
        "bark" (the paper), "traunmuller", "mel" or "log2". The prior of "default" is over log2
        frequency whatever the scale; there it only spaces `candidates` and weights.
    frequency_weight : sequence of (frequency_hz, weight), optional
        A factor on the objective, interpolated linearly on the scale, constant outside its first
        and last frequency (the paper's remedy for too many tones at the borders, section 4).
    candidates : int, optional
        Number of frequencies considered for the next tone, spread evenly on the scale. None: the
        knots of the prior ("default"), or 128.

    Attributes
    ----------
    max_trials, level_limits_db_hl, frequency_range_hz, unsure_half_width_db
        As they were given.
    trial_count : int
        Answers to tones so far.

    Raises
    ------
    ValueError
        If an argument is out of its range; the message names it, its value and what is allowed.
        If the file of `prior` is none of a prior: the error is a `PriorError`, which is one.
    OSError
        If the file of `prior` cannot be read.
    """

    def __init__(
        self,
        profile: str = "default",
        *,
        max_trials: int = 128,
        response_noise_db: float | Points | None = None,
        lapse_rate: float | None = None,
        false_alarm_rate: float | None = None,
        unsure_half_width_db: float | None = 0.0,
        age_years: float | None = None,
        sex: Sex | None = None,
        prior: PopulationPrior | str | NamesFile | None = None,
        level_limits_db_hl: tuple[float, float] = (-10.0, 120.0),
        frequency_range_hz: tuple[float, float] = (125.0, 8000.0),
        scale: str = "bark",
        frequency_weight: Points | None = None,
        candidates: int | None = None,
    ) -> None:
        arguments = dict(locals())
        del arguments["self"]
        self._profile = profile_named(profile)
        self.max_trials = integer("max_trials", max_trials, 1, TRIALS_MAX)
        self.level_limits_db_hl = interval(
            "level_limits_db_hl", level_limits_db_hl, LEVEL_LIMITS_DB_HL
        )
        self.frequency_range_hz = interval(
            "frequency_range_hz", frequency_range_hz, FREQUENCY_LIMITS_HZ
        )
        self.unsure_half_width_db = (
            None
            if unsure_half_width_db is None
            else number("unsure_half_width_db", unsure_half_width_db, *UNSURE_HALF_WIDTH_LIMITS_DB)
        )
        if candidates is not None:
            candidates = integer("candidates", candidates, 2, CANDIDATES_MAX)
        asked = Frequencies(self.frequency_range_hz, scale_named(scale), candidates)
        arguments["prior"] = prior_given(prior, self._profile)
        given = KnownListener(
            response_noise_db, lapse_rate, false_alarm_rate, self.unsure_half_width_db, age_years,
            sex, arguments["prior"],
        )  # fmt: skip
        self._model = make_model(self._profile, given, asked, self.max_trials)
        self._weight = frequency_weights(
            self._profile.frequency_weight if frequency_weight is None else frequency_weight,
            self._model.candidates_hz,
            asked,
        )
        self._floors_db_hl = np.empty_like(self._weight)
        self._ceilings_db_hl = np.empty_like(self._weight)
        self._known = FigureCache()
        self._record = Record(arguments, self.max_trials)
        self._stories = Stories(1 if self.unsure_half_width_db == 0.0 else 2)
        self.reset()

    def reset(self) -> None:
        """Forget all answers; nothing is allocated."""
        self.trial_count = 0
        self._known.forget()
        self._record.reset()
        self._stories.reset()
        self._model.reset()

    @property
    def candidate_frequencies_hz(self) -> tuple[float, ...]:
        """Return the frequencies a next tone may have."""
        return tuple(self._model.candidates_hz.tolist())

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool | None) -> None:
        """Take one answer into account.

        Parameters
        ----------
        frequency_hz, level_db_hl : float
            Of the tone.
        heard : bool or None
            None: the listener was unsure; not with an `unsure_half_width_db` of 0.

        Raises
        ------
        ValueError
            If frequency or level lie outside the ranges of this estimator.
        TypeError
            If `heard` is neither bool nor None: the labels +1 and -1 of the paper are both truthy.
        TrialLimitError
            If there is no room for another answer; nothing is changed.
        InferenceError
            If the posterior could not be computed; the answer is kept.
        """
        n = self.trial_count
        if n == self.max_trials:
            raise TrialLimitError(
                f"answer {n + 1} does not fit: this estimator was made for max_trials = {n}"
            )
        answer = answer_code(heard, self.unsure_half_width_db != 0.0)
        frequency_hz = number("frequency_hz", frequency_hz, *self.frequency_range_hz)
        level_db_hl = number("level_db_hl", level_db_hl, *self.level_limits_db_hl)
        self.trial_count = n + 1
        self._known.forget()
        self._record.tone(frequency_hz, level_db_hl, answer)
        self._stories.follow(True, answer != SILENT, self._model.log_evidence)
        status = self._model.observe(n, frequency_hz, level_db_hl, answer)
        if status != CONVERGED:
            raise InferenceError(
                f"the posterior of {self.trial_count} answers was not found (status {status})"
            )

    def observe_silence(self, answered: bool) -> None:
        """Take a catch trial into account: nothing was played.

        Raises
        ------
        TypeError
            If `answered` is not a bool.
        """
        if not isinstance(answered, bool | np.bool_):
            raise TypeError(f"answered is {answered!r}; allowed are True and False")
        self._known.forget()
        self._record.silence(bool(answered))
        self._stories.follow(False, bool(answered), self._model.log_evidence)
        self._model.observe_silence(bool(answered))

    def next_stimulus(
        self,
        level_max_db_hl: float | Sequence[float] | None = None,
        exclude_hz: Collection[float] = (),
        time: TrialTime | None = None,
        strides_db: Sequence[float] = (),
        level_min_db_hl: float | Sequence[float] | None = None,
    ) -> Stimulus:
        """Return the tone of the most information, or of the most information per second.

        Parameters
        ----------
        level_max_db_hl : float or sequence of float, optional
            A ceiling below the estimator's own, for this tone only; or one for each of
            `candidate_frequencies_hz`.
        exclude_hz : collection of float
            Frequencies that this tone should not have, unless there is no other.
        time : TrialTime, optional
            What a presentation takes; the tone is then chosen for bits per second: what is
            expected of its answer, over the time that is expected of it. None: for bits alone, BALD
            as in the paper.
        strides_db : sequence of float, optional
            How far the level goes at least after two, three ... equal answers in a row at the
            frequency, where belief follows the answers slowly. By default it is the most
            informative level.
        level_min_db_hl : float or sequence of float, optional
            A floor above the estimator's own, as the ceiling; where it lies above that, the ceiling
            counts.

        Raises
        ------
        ValueError
            If a ceiling lies below the lowest allowed level, there are too many or too few ceilings
            or floors, what is excluded is not a collection of frequencies, `time` no `TrialTime`,
            or a stride no length.
        """
        seconds = seconds_of(time)
        strides = numbers("strides_db", strides_db, Sequence, 0.0, STRIDE_DB_MAX)
        weight = self._weight
        excluded = numbers("exclude_hz", exclude_hz, Collection, *FREQUENCY_LIMITS_HZ)
        if excluded:
            weight = np.where(np.isin(self._model.candidates_hz, excluded), 0.0, weight)
            weight = weight if weight.any() else self._weight
        ceilings_db_hl = ceilings(level_max_db_hl, self.level_limits_db_hl, self._ceilings_db_hl)
        floors_db_hl = floors(level_min_db_hl, self.level_limits_db_hl, self._floors_db_hl)
        np.minimum(floors_db_hl, ceilings_db_hl, out=floors_db_hl)
        choice = self._model.choose(weight, floors_db_hl, ceilings_db_hl, seconds, strides)
        frequency_hz = float(self._model.candidates_hz[choice.candidate])
        taken = math.nan if time is None else choice.seconds
        return Stimulus(frequency_hz, choice.level_db_hl, choice.information_bits, taken)

    def objective(
        self, levels_db_hl: Sequence[float] | Array, time: TrialTime | None = None
    ) -> Array:
        """Return the objective that `next_stimulus` maximises, for pictures of it.

        Parameters
        ----------
        levels_db_hl : (m,)
        time : TrialTime, optional
            As for `next_stimulus`.

        Returns
        -------
        (candidates, m) array
            The information expected from the answer to each tone, in bits or bits per second, times
            the weight of its frequency; a row for each of `candidate_frequencies_hz`.
        """
        levels = numbers("levels_db_hl", levels_db_hl, Sequence, *LEVEL_LIMITS_DB_HL)
        objective: Array = self._weight[:, None] * self._model.rate(
            np.array(levels), seconds_of(time)
        )
        return objective

    def to_dict(self) -> dict[str, Any]:
        """Return all that it was made with and told, as values that JSON takes.

        `from_dict` makes it again, by the same calls to the same bits. A prior that was given is in
        it; the one that is shipped is not.

        Raises
        ------
        ValueError
            If there were more silences than `max_trials`: not all were kept.
        """
        from firmware_py.inference.saved import plain_values

        return plain_values(self._record, self.log_evidence)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Self:
        """Return an estimator with the arguments and answers that `to_dict` returned.

        Parameters
        ----------
        saved : mapping
            Also after a way through JSON. With `log_evidence` None it is not asked whether the
            answers still have the evidence they had.

        Raises
        ------
        ValueError
            If it is none of `to_dict`, or of another version of its format, or its answers come to
            another posterior here; the message says what is wrong, and where.
        """
        from firmware_py.inference.saved import make_again

        made: Self = make_again(cls, saved, InferenceError)
        return made
