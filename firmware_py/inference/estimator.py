"""The threshold estimator: one thin object that checks what it is told and owns the model."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Final

import numpy as np

from firmware_py.inference.answers import HEARD, SILENT, UNSURE
from firmware_py.inference.kernel import CONVERGED, Array
from firmware_py.inference.mixture.population_prior import (
    AGE_LIMITS_YEARS,
    PopulationPrior,
    Sex,
    shipped_prior,
)
from firmware_py.inference.model import (
    FREQUENCY_LIMITS_HZ,
    LEVEL_LIMITS_DB_HL,
    Hyperparameters,
    Model,
    Points,
    on_line,
    spread,
)
from firmware_py.inference.profiles import (
    LaplaceProfile,
    Listener,
    MixtureProfile,
    profile_named,
)
from firmware_py.inference.scales import scale_named

TRIALS_MAX: Final = 1024  # of `max_trials`; the paper's workspace is some 32 bytes times its square
CANDIDATES: Final = 128  # frequencies a next tone may have; 0.18 Bark apart at 125-8000 Hz
CANDIDATES_MAX: Final = 512
RESPONSE_NOISE_LIMITS_DB: Final = (0.1, 30.0)
RATE_MAX: Final = 0.45  # of lapses, and of false alarms: beyond, answers tell next to nothing
UNSURE_HALF_WIDTH_LIMITS_DB: Final = (0.0, 20.0)
WEIGHT_MAX: Final = 1e6  # of a frequency; only the ratios of weights matter


class TrialLimitError(RuntimeError):
    """More answers than the workspace was made for."""


class InferenceError(RuntimeError):
    """The posterior could not be computed."""


@dataclass(frozen=True)
class Stimulus:
    """A pure tone: frequency in Hz, level in dB HL; and what its answer is expected to tell, bits.

    Two of the same tone are equal, whatever is expected of them.
    """

    frequency_hz: float
    level_db_hl: float
    information_bits: float = field(default=math.nan, compare=False, repr=False)


class ThresholdEstimator:
    """Estimates one ear's pure-tone threshold from answers, and says what to ask next.

    Parameters
    ----------
    profile : str
        "default": a prior learned from people, listeners who lapse, expectation propagation.
        "annealed-laplace": one Gaussian process that knows no population, MAP hyperparameters and
        annealed response noise. "gp-pta-2015": the paper to the letter, evidence maximised after
        every trial.
    max_trials : int
        Answers there is room for; memory is allocated once for so many.
    response_noise_db : float or sequence of (frequency_hz, response_noise_db), optional
        SD of the perceptual noise, dB; a curve is interpolated linearly over log2 frequency. None:
        inferred from the answers ("default"), or the profile's value.
    lapse_rate, false_alarm_rate : float, optional
        Shares of tones missed, and of silences answered, whatever the level. None: inferred
        ("default"), and with both None attention may wander for a while. The other profiles model
        no such answers: None or 0.
    unsure_half_width_db : float
        Half width of the dead zone of listeners who may answer that they are unsure; 0: they may
        not. Only "default".
    age_years, sex : float and "F" or "M", optional
        Of the listener; they change the prior of "default".
    prior : PopulationPrior, optional
        In place of the one that is shipped, for "default".
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

    Raises
    ------
    ValueError
        If an argument is out of its range; the message names it, its value and what is allowed.
    """

    def __init__(
        self,
        profile: str = "default",
        *,
        max_trials: int = 128,
        response_noise_db: float | Points | None = None,
        lapse_rate: float | None = None,
        false_alarm_rate: float | None = None,
        unsure_half_width_db: float = 0.0,
        age_years: float | None = None,
        sex: Sex | None = None,
        prior: PopulationPrior | None = None,
        level_limits_db_hl: tuple[float, float] = (-10.0, 120.0),
        frequency_range_hz: tuple[float, float] = (125.0, 8000.0),
        scale: str = "bark",
        frequency_weight: Points | None = None,
        candidates: int | None = None,
    ) -> None:
        self._profile = profile_named(profile)
        self._scale = scale_named(scale)
        self.max_trials = _integer("max_trials", max_trials, 1, TRIALS_MAX)
        self.level_limits_db_hl = _interval(
            "level_limits_db_hl", level_limits_db_hl, LEVEL_LIMITS_DB_HL
        )
        self.frequency_range_hz = _interval(
            "frequency_range_hz", frequency_range_hz, FREQUENCY_LIMITS_HZ
        )
        self.unsure_half_width_db = _number(
            "unsure_half_width_db", unsure_half_width_db, *UNSURE_HALF_WIDTH_LIMITS_DB
        )
        noise_db, noise_curve = _noise(response_noise_db)
        count = candidates
        if count is not None:
            count = _integer("candidates", count, 2, CANDIDATES_MAX)
        self._model: Model
        if isinstance(self._profile, LaplaceProfile):
            unused = {
                "lapse_rate": None if _is_zero(lapse_rate) else lapse_rate,
                "false_alarm_rate": None if _is_zero(false_alarm_rate) else false_alarm_rate,
                "unsure_half_width_db": unsure_half_width_db or None,
                "response_noise_db": noise_curve and response_noise_db,
                "age_years": age_years,
                "sex": sex,
                "prior": prior,
            }
            self._model = self._laplace_model(self._profile, noise_db, count, unused)
        else:
            # Only what is used is loaded: every model has kernels of its own.
            from firmware_py.inference.mixture.model import MixtureModel

            given = _prior_of(prior, age_years, sex).within(*self.frequency_range_hz)
            self._model = MixtureModel(
                given,
                _listeners(self._profile, noise_db, lapse_rate, false_alarm_rate, self._dead_zone),
                lapse_rate is None and false_alarm_rate is None,
                noise_curve,
                self.unsure_half_width_db,
                self.max_trials,
                self._mixture_candidates(given, count),
            )
        self._weight = self._interpolate_weight(frequency_weight)
        self._ceilings_db_hl = np.empty_like(self._weight)
        self.reset()

    def reset(self) -> None:
        """Forget all answers; nothing is allocated."""
        self.trial_count = 0
        self._model.reset()

    @property
    def profile(self) -> str:
        """Return the name of the profile."""
        return self._profile.name

    @property
    def candidate_frequencies_hz(self) -> tuple[float, ...]:
        """Return the frequencies a next tone may have."""
        return tuple(self._model.candidates_hz.tolist())

    @property
    def log_evidence(self) -> float:
        """Return the log evidence (nats) of the answers at the present hyperparameters."""
        return self._model.log_evidence

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Return the present hyperparameters."""
        return self._model.hyperparameters

    @property
    def information_bits(self) -> float:
        """Return the information expected from the next stimulus, in bits."""
        return self.next_stimulus().information_bits

    @property
    def attended(self) -> Array:
        """Return (trial_count,) how likely each answer was given with attention, not by chance."""
        return self._model.attended(self.trial_count)

    @property
    def converged(self) -> bool:
        """Tell whether the last inference settled; if not, the bands are less exact."""
        return self._model.converged

    @property
    def memory_bytes(self) -> int:
        """Return the size of the workspace in bytes."""
        return self._model.nbytes

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool | None) -> None:
        """Take one answer into account.

        Parameters
        ----------
        frequency_hz, level_db_hl : float
            Of the tone.
        heard : bool or None
            None: the listener was unsure; only with an `unsure_half_width_db` above 0.

        Raises
        ------
        ValueError
            If frequency or level lie outside the ranges of this estimator.
        TypeError
            If `heard` is none of these: the labels +1 and -1 of the paper would both be true.
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
        answer = self._answer(heard)
        frequency_hz = _number("frequency_hz", frequency_hz, *self.frequency_range_hz)
        level_db_hl = _number("level_db_hl", level_db_hl, *self.level_limits_db_hl)
        self.trial_count = n + 1
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
        self._model.observe_silence(bool(answered))

    def next_stimulus(
        self,
        level_max_db_hl: float | Sequence[float] | None = None,
        exclude_hz: Collection[float] = (),
    ) -> Stimulus:
        """Return the most informative tone.

        Parameters
        ----------
        level_max_db_hl : float or sequence of float, optional
            A ceiling below the estimator's own, for this tone only; or one for each of
            `candidate_frequencies_hz`.
        exclude_hz : collection of float
            Frequencies that this tone should not have, unless there is no other.

        Raises
        ------
        ValueError
            If a ceiling lies below the lowest allowed level, there are too many or too few of
            them, or what is excluded is not a collection of frequencies.
        """
        weight = self._weight
        excluded = _numbers("exclude_hz", exclude_hz, Collection, *FREQUENCY_LIMITS_HZ)
        if excluded:
            weight = np.where(np.isin(self._model.candidates_hz, excluded), 0.0, weight)
            weight = weight if weight.any() else self._weight
        choice = self._model.choose(
            weight, self.level_limits_db_hl[0], self._ceilings(level_max_db_hl)
        )
        frequency_hz = float(self._model.candidates_hz[choice.candidate])
        return Stimulus(frequency_hz, choice.level_db_hl, choice.information_bits)

    def objective(self, levels_db_hl: Sequence[float] | Array) -> Array:
        """Return what `next_stimulus` makes the most of, for pictures of it.

        Parameters
        ----------
        levels_db_hl : (m,)

        Returns
        -------
        (candidates, m) array
            The information expected from the answer to each tone, in bits, times the weight of its
            frequency; a row for each of `candidate_frequencies_hz`.
        """
        levels = _numbers("levels_db_hl", levels_db_hl, Sequence, *LEVEL_LIMITS_DB_HL)
        objective: Array = self._weight[:, None] * self._model.information(np.array(levels))
        return objective

    def threshold(self, frequencies_hz: Sequence[float] | Array) -> tuple[Array, Array]:
        """Return posterior mean (dB HL) and SD (dB) of the threshold at these frequencies.

        Parameters
        ----------
        frequencies_hz : (m,)
            Any frequencies within `frequency_range_hz`.
        """
        return self._model.predict(self._checked_frequencies(frequencies_hz))

    def threshold_band(
        self, frequencies_hz: Sequence[float] | Array, probability: float = 0.95
    ) -> tuple[Array, Array]:
        """Return the central band (low, high), dB HL, with this probability of the threshold."""
        probability = _number("probability", probability, 1e-6, 1.0 - 1e-6)
        return self._model.band(self._checked_frequencies(frequencies_hz), probability)

    def joint_threshold(
        self, frequencies_hz: Sequence[float] | Array
    ) -> tuple[Array, Array, Array]:
        """Return the joint posterior of the threshold at m frequencies, as c Gaussians.

        For what depends on several of them, as a mean over frequencies does. `threshold` has the
        means and SDs of this, `threshold_band` its bands at each frequency.

        Parameters
        ----------
        frequencies_hz : (m,)
            Any frequencies within `frequency_range_hz`.

        Returns
        -------
        weight : (c,)
            Of each Gaussian; their sum is 1.
        mean_db_hl : (c, m)
        covariance_db2 : (c, m, m)
        """
        return self._model.joint(self._checked_frequencies(frequencies_hz))

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the probability that this tone would be heard (paper, equation 9)."""
        frequency_hz = _number("frequency_hz", frequency_hz, *self.frequency_range_hz)
        level_db_hl = _number("level_db_hl", level_db_hl, *LEVEL_LIMITS_DB_HL)
        return self._model.probability_heard(frequency_hz, level_db_hl)

    def _ceilings(self, level_max_db_hl: float | Sequence[float] | None) -> Array:
        """Return the highest level at each candidate, from one for all or one for each."""
        low, high = self.level_limits_db_hl
        ceilings = self._ceilings_db_hl
        ceilings[:] = high
        if level_max_db_hl is None:
            return ceilings
        if isinstance(level_max_db_hl, str) or not isinstance(level_max_db_hl, Sequence):
            ceiling = _number("level_max_db_hl", level_max_db_hl, low, math.inf)
            ceilings[:] = min(high, ceiling)
            return ceilings
        told = _numbers("level_max_db_hl", level_max_db_hl, Sequence, low, math.inf)
        if len(told) != len(ceilings):
            raise ValueError(
                f"level_max_db_hl has {len(told)} ceilings; allowed is one, or one for each of the "
                f"{len(ceilings)} candidate frequencies"
            )
        return np.minimum(told, high, out=ceilings)

    @property
    def _dead_zone(self) -> bool:
        return self.unsure_half_width_db > 0.0

    def _answer(self, heard: bool | None) -> int:
        if heard is None and self._dead_zone:
            return UNSURE
        if not isinstance(heard, bool | np.bool_):
            unsure = ", and None for unsure" if self._dead_zone else ""
            raise TypeError(f"heard is {heard!r}; allowed are True and False{unsure}")
        return HEARD if heard else SILENT

    def _checked_frequencies(self, frequencies_hz: Sequence[float] | Array) -> Array:
        return np.array(
            _numbers("frequencies_hz", frequencies_hz, Sequence, *self.frequency_range_hz)
        )

    def _laplace_model(
        self,
        profile: LaplaceProfile,
        noise_db: float | None,
        candidates: int | None,
        unused: Mapping[str, object],
    ) -> Model:
        from firmware_py.inference.laplace.model import LaplaceModel

        for name, value in unused.items():
            if value is not None:
                raise ValueError(
                    f"{name} is {value!r}; profile {profile.name!r} makes no use of it: "
                    f"allowed is {UNUSED_ALLOWED.get(name, 'None')}"
                )
        return LaplaceModel(
            profile,
            self.max_trials,
            profile.response_noise_db if noise_db is None else noise_db,
            self._scale,
            spread(self.frequency_range_hz, candidates or CANDIDATES, self._scale),
        )

    def _mixture_candidates(self, prior: PopulationPrior, count: int | None) -> list[float]:
        low_hz, high_hz = self.frequency_range_hz
        knots = [f for f in prior.knots_hz if low_hz <= f <= high_hz]
        if count is None and len(knots) > 1:
            return knots
        return spread(self.frequency_range_hz, count or 2, self._scale)

    def _interpolate_weight(self, pairs: Points | None) -> Array:
        if pairs is None:
            pairs = self._profile.frequency_weight
        try:
            points = [
                (
                    _number("frequency_weight", frequency_hz, *FREQUENCY_LIMITS_HZ),
                    _number("frequency_weight", weight, 0.0, WEIGHT_MAX),
                )
                for frequency_hz, weight in pairs
            ]
        except (TypeError, ValueError):
            points = []
        curve = [(self._scale.warp(frequency_hz), weight) for frequency_hz, weight in points]
        at = [self._scale.warp(float(f)) for f in self._model.candidates_hz]
        weights = [on_line(curve, x) for x in at] if _rising(points) else [0.0]
        if max(weights) <= 0.0:
            low_hz, high_hz = self.frequency_range_hz
            raise ValueError(
                f"frequency_weight is {pairs!r}; allowed are (frequency_hz, weight) pairs of "
                f"rising frequency from {FREQUENCY_LIMITS_HZ[0]:g} to {FREQUENCY_LIMITS_HZ[1]:g}, "
                f"with weights from 0 to {WEIGHT_MAX:g} that leave something of {low_hz:g} to "
                f"{high_hz:g} Hz"
            )
        return np.array(weights)


# What a profile without such a thing may be told all the same.
UNUSED_ALLOWED: Final = {
    "lapse_rate": "None or 0",
    "false_alarm_rate": "None or 0",
    "unsure_half_width_db": "0",
    "response_noise_db": "None or a number",
}


def _rising(points: Points) -> bool:
    frequencies = [frequency_hz for frequency_hz, _ in points]
    return bool(points) and sorted(set(frequencies)) == frequencies


def _noise(told: float | Points | None) -> tuple[float | None, Points | None]:
    """Return the response noise, and its curve over frequency as factors of it."""
    low, high = RESPONSE_NOISE_LIMITS_DB
    if told is None:
        return None, None
    try:
        points = list(told)  # type: ignore[arg-type]
    except TypeError:
        return _number("response_noise_db", told, low, high), None  # type: ignore[arg-type]
    try:
        curve = [
            (
                _number("response_noise_db", frequency_hz, *FREQUENCY_LIMITS_HZ),
                _number("response_noise_db", noise_db, low, high),
            )
            for frequency_hz, noise_db in points
        ]
    except (TypeError, ValueError):
        curve = []
    if not _rising(curve):
        raise ValueError(
            f"response_noise_db is {told!r}; allowed is {low:g} to {high:g}, or (frequency_hz, "
            f"response_noise_db) pairs of rising frequency with such values"
        )
    return 1.0, curve


def _prior_of(
    prior: PopulationPrior | None, age_years: float | None, sex: str | None
) -> PopulationPrior:
    if prior is not None and not isinstance(prior, PopulationPrior):
        raise ValueError(f"prior is {prior!r}; allowed is a PopulationPrior, or None")
    if age_years is not None:
        age_years = _number("age_years", age_years, *AGE_LIMITS_YEARS)
    if sex not in (None, "F", "M"):
        raise ValueError(f"sex is {sex!r}; allowed are 'F', 'M' and None")
    given: Sex | None = "F" if sex == "F" else "M" if sex == "M" else None
    return (prior or shipped_prior()).conditioned(age_years, given)


def _listeners(
    profile: MixtureProfile,
    noise_db: float | None,
    lapse_rate: float | None,
    false_alarm_rate: float | None,
    dead_zone: bool,
) -> list[Listener]:
    if lapse_rate is not None:
        lapse_rate = _number("lapse_rate", lapse_rate, 0.0, RATE_MAX)
    if false_alarm_rate is not None:
        # With two buttons each is pressed at this rate.
        most = 0.5 * RATE_MAX if dead_zone else RATE_MAX
        false_alarm_rate = _number("false_alarm_rate", false_alarm_rate, 0.0, most)
    return profile.listeners(noise_db, lapse_rate, false_alarm_rate)


def _number(name: str, value: float, low: float, high: float) -> float:
    """Return value as a float, or say which argument is not a number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; allowed is {low:g} to {high:g}")
    return float(value)


def _numbers(
    name: str, values: Collection[float] | Array, kind: type, low: float, high: float
) -> list[float]:
    """Return values as floats, or say what is not in [low, high] or no collection of this kind."""
    single = isinstance(values, str) or (isinstance(values, np.ndarray) and values.ndim == 0)
    if single or not isinstance(values, kind | np.ndarray):
        raise ValueError(
            f"{name} is {values!r}; allowed is a {kind.__name__.lower()} of numbers from {low:g} "
            f"to {high:g}"
        )
    return [_number(name, value, low, high) for value in values]


def _is_zero(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and value == 0


def _integer(name: str, value: int, low: int, high: int) -> int:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | np.integer)
        or not low <= value <= high
    ):
        raise ValueError(f"{name} is {value!r}; allowed are whole numbers from {low} to {high}")
    return int(value)


def _interval(
    name: str, value: tuple[float, float], limits: tuple[float, float]
) -> tuple[float, float]:
    try:
        low, high = (_number(name, bound, *limits) for bound in value)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not low < high:
        raise ValueError(
            f"{name} is {value!r}; allowed is (low, high) with "
            f"{limits[0]:g} <= low < high <= {limits[1]:g}"
        )
    return low, high
