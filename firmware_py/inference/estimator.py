"""The threshold estimator: one thin object that owns the workspace and calls the kernels."""

import math
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Final

import numpy as np

from firmware_py.inference import hyperparameters as search
from firmware_py.inference.elementary import exp, log, normal_cdf
from firmware_py.inference.kernel import CONVERGED, Array
from firmware_py.inference.laplace import VECTORS, predict
from firmware_py.inference.prior import mean_line
from firmware_py.inference.profiles import Profile, profile_named, units_per_bark
from firmware_py.inference.scales import scale_named
from firmware_py.inference.selection import select

TRIALS_MAX: Final = 1024  # of `max_trials`; the workspace is about 40 bytes times its square
CANDIDATES_MAX: Final = 128  # frequencies a next tone may have; 0.18 Bark apart at 125-8000 Hz
FREQUENCY_LIMITS_HZ: Final = (20.0, 20000.0)
LEVEL_LIMITS_DB_HL: Final = (-30.0, 130.0)
RESPONSE_NOISE_LIMITS_DB: Final = (0.1, 30.0)
WEIGHT_MAX: Final = 1e6  # of a frequency; only the ratios of weights matter


class TrialLimitError(RuntimeError):
    """More answers than the workspace was made for."""


class InferenceError(RuntimeError):
    """The posterior could not be computed."""


@dataclass(frozen=True)
class Stimulus:
    """A pure tone: frequency in Hz, level in dB HL."""

    frequency_hz: float
    level_db_hl: float


@dataclass(frozen=True)
class Hyperparameters:
    """The kernel's length (in units of the frequency scale) and SD, and the response noise used."""

    length: float
    sd_db: float
    response_noise_db: float


class Workspace:
    """All arrays of the inference, allocated once.

    Parameters
    ----------
    trials : int
        Trials there is room for.
    points : int
        Frequencies that can be predicted in one call.
    """

    def __init__(self, trials: int, points: int) -> None:
        wide = max(trials, points)
        self.x: Array = np.zeros(trials)
        self.residual_db: Array = np.zeros(trials)
        self.label: Array = np.zeros(trials)
        self.noise_db: Array = np.zeros(trials)
        self.a: Array = np.zeros(trials)
        self.f_db: Array = np.zeros(trials)
        self.k: Array = np.zeros((trials, trials))
        self.b: Array = np.zeros((trials, trials))
        self.b_inverse: Array = np.zeros((trials, trials))
        self.scratch: Array = np.zeros((trials, wide))
        self.vectors: Array = np.zeros((VECTORS, trials))
        self.points: Array = np.zeros((5, 2))
        self.search: Array = np.zeros(search.SEARCH_ENTRIES)
        self.choice: Array = np.zeros(3)
        self.mean_db: Array = np.zeros(points)
        self.sd_db: Array = np.zeros(points)

    @property
    def nbytes(self) -> int:
        """Return the size of all arrays in bytes."""
        return sum(array.nbytes for array in vars(self).values())


class ThresholdEstimator:
    """Estimates one ear's pure-tone threshold from answers, and says what to ask next.

    Parameters
    ----------
    profile : str
        "default": MAP hyperparameters and annealed response noise. "gp-pta-2015": the paper to the
        letter, evidence maximised after every trial.
    max_trials : int
        Answers there is room for; memory is allocated once for so many.
    response_noise_db : float, optional
        SD of the perceptual noise, dB; the profile's value if None.
    lapse_rate, false_alarm_rate, age_years, sex : optional
        Not part of these profiles' model; anything but None (or a rate of 0) is refused.
    level_limits_db_hl : (low, high)
        Levels that may be asked.
    frequency_range_hz : (low, high)
        Frequencies that may be asked.
    scale : str
        "bark" (the paper), "traunmuller", "mel" or "log2".
    frequency_weight : sequence of (frequency_hz, weight), optional
        A factor on the objective, interpolated linearly on the scale, constant outside its first
        and last frequency (the paper's remedy for too many tones at the borders, section 4).
    candidates : int
        Number of frequencies considered for the next tone.

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
        response_noise_db: float | None = None,
        lapse_rate: float | None = None,
        false_alarm_rate: float | None = None,
        age_years: float | None = None,
        sex: str | None = None,
        level_limits_db_hl: tuple[float, float] = (-10.0, 120.0),
        frequency_range_hz: tuple[float, float] = (125.0, 8000.0),
        scale: str = "bark",
        frequency_weight: Sequence[tuple[float, float]] | None = None,
        candidates: int = CANDIDATES_MAX,
    ) -> None:
        self._profile = profile_named(profile)
        self._scale = scale_named(scale)
        _refuse_unused(self._profile, lapse_rate, false_alarm_rate, age_years, sex)
        self.max_trials = _integer("max_trials", max_trials, 1, TRIALS_MAX)
        self.response_noise_db = (
            self._profile.response_noise_db
            if response_noise_db is None
            else _number("response_noise_db", response_noise_db, *RESPONSE_NOISE_LIMITS_DB)
        )
        self.level_limits_db_hl = _interval(
            "level_limits_db_hl", level_limits_db_hl, LEVEL_LIMITS_DB_HL
        )
        self.frequency_range_hz = _interval(
            "frequency_range_hz", frequency_range_hz, FREQUENCY_LIMITS_HZ
        )
        count = _integer("candidates", candidates, 2, 4 * CANDIDATES_MAX)
        self._intercept_db_hl, self._slope = mean_line(scale)
        self._candidates_hz = self._spread(count)
        self._candidates_x = self._warp(self._candidates_hz)
        self._prior_mean_db_hl = self._intercept_db_hl + self._slope * self._candidates_x
        self._weight = self._interpolate_weight(frequency_weight)
        self._box = _search_box(self._profile, units_per_bark(scale))
        self._workspace = Workspace(self.max_trials, len(self._candidates_hz))
        self._mean_db_hl = np.zeros_like(self._candidates_hz)
        self._sd_db = np.zeros_like(self._candidates_hz)
        self.reset()

    def reset(self) -> None:
        """Forget all answers; nothing is allocated."""
        self.trial_count = 0
        self._noise_db = self._profile.noise_db(self.response_noise_db, 0)
        w = self._workspace
        w.a[:] = 0.0
        w.search[:2] = self._box[search.MEDIAN]
        w.search[search.LOG_EVIDENCE] = 0.0
        search.reset_curvature(w.search)
        self._predict_candidates()

    @property
    def profile(self) -> str:
        """Return the name of the profile."""
        return self._profile.name

    @property
    def candidate_frequencies_hz(self) -> tuple[float, ...]:
        """Return the frequencies a next tone may have."""
        return tuple(self._candidates_hz.tolist())

    @property
    def log_evidence(self) -> float:
        """Return the log evidence (nats) of the answers at the present hyperparameters."""
        return float(self._workspace.search[search.LOG_EVIDENCE])

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Return the present hyperparameters."""
        theta = self._workspace.search
        return Hyperparameters(exp(theta[0]), exp(theta[1]), self._noise_db)

    @property
    def information_bits(self) -> float:
        """Return the information expected from the next stimulus, in bits."""
        self.next_stimulus()
        return float(self._workspace.choice[2])

    @property
    def memory_bytes(self) -> int:
        """Return the size of the workspace in bytes."""
        return self._workspace.nbytes

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Take one answer into account.

        Raises
        ------
        ValueError
            If frequency or level lie outside the ranges of this estimator.
        TypeError
            If `heard` is not a bool: the labels +1 and -1 of the paper would both be true.
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
        if not isinstance(heard, bool | np.bool_):
            raise TypeError(f"heard is {heard!r}; allowed are True and False")
        frequency_hz = _number("frequency_hz", frequency_hz, *self.frequency_range_hz)
        level_db_hl = _number("level_db_hl", level_db_hl, *self.level_limits_db_hl)
        w = self._workspace
        w.x[n] = self._scale.warp(frequency_hz)
        w.residual_db[n] = level_db_hl - (self._intercept_db_hl + self._slope * w.x[n])
        w.label[n] = 1.0 if heard else -1.0
        w.a[n] = 0.0
        self.trial_count = n + 1
        self._noise_db = self._profile.noise_db(self.response_noise_db, n + 1)
        w.noise_db[: n + 1] = self._noise_db
        self._infer()

    def next_stimulus(
        self, level_max_db_hl: float | None = None, exclude_hz: Collection[float] = ()
    ) -> Stimulus:
        """Return the most informative tone.

        Parameters
        ----------
        level_max_db_hl : float, optional
            A ceiling below the estimator's own, for this tone only.
        exclude_hz : collection of float
            Frequencies that this tone should not have, unless there is no other.

        Raises
        ------
        ValueError
            If the ceiling lies below the lowest allowed level, or what is excluded is not a
            collection of frequencies.
        """
        low, high = self.level_limits_db_hl
        if level_max_db_hl is not None:
            high = min(high, _number("level_max_db_hl", level_max_db_hl, low, math.inf))
        choice = self._workspace.choice
        weight = self._weight
        excluded = _numbers("exclude_hz", exclude_hz, Collection, *FREQUENCY_LIMITS_HZ)
        if excluded:
            weight = np.where(np.isin(self._candidates_hz, excluded), 0.0, weight)
            weight = weight if weight.any() else self._weight
        select(
            len(self._candidates_hz), self._mean_db_hl, self._sd_db, self._noise_db, weight,
            low, high, choice,
        )  # fmt: skip
        return Stimulus(float(self._candidates_hz[int(choice[0])]), float(choice[1]))

    def threshold(self, frequencies_hz: Sequence[float] | Array) -> tuple[Array, Array]:
        """Return posterior mean (dB HL) and SD (dB) of the threshold at these frequencies.

        Parameters
        ----------
        frequencies_hz : (m,)
            Any frequencies within `frequency_range_hz`.
        """
        frequencies = np.array(
            _numbers("frequencies_hz", frequencies_hz, Sequence, *self.frequency_range_hz)
        )
        mean_db_hl, sd_db = np.empty_like(frequencies), np.empty_like(frequencies)
        step = len(self._candidates_hz)
        for start in range(0, len(frequencies), step):
            part = slice(start, start + step)
            x = self._warp(frequencies[part])
            self._predict(x, mean_db_hl[part], sd_db[part])
            mean_db_hl[part] += self._intercept_db_hl + self._slope * x
        return mean_db_hl, sd_db

    def threshold_band(
        self, frequencies_hz: Sequence[float] | Array, probability: float = 0.95
    ) -> tuple[Array, Array]:
        """Return the central band (low, high), dB HL, with this probability of the threshold."""
        from statistics import NormalDist  # 1 MB that the device does not need

        probability = _number("probability", probability, 1e-6, 1.0 - 1e-6)
        mean_db_hl, sd_db = self.threshold(frequencies_hz)
        half_width_db = NormalDist().inv_cdf(0.5 + 0.5 * probability) * sd_db
        return mean_db_hl - half_width_db, mean_db_hl + half_width_db

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the probability that this tone would be heard (paper, equation 9)."""
        frequency_hz = _number("frequency_hz", frequency_hz, *self.frequency_range_hz)
        level_db_hl = _number("level_db_hl", level_db_hl, *LEVEL_LIMITS_DB_HL)
        mean_db_hl, sd_db = self.threshold([frequency_hz])
        spread_db = math.sqrt(self._noise_db**2 + float(sd_db[0]) ** 2)
        return float(normal_cdf((level_db_hl - float(mean_db_hl[0])) / spread_db))

    def _infer(self) -> None:
        w = self._workspace
        status = search.fit(
            self.trial_count, w.x, w.residual_db, w.label, w.noise_db,
            self._profile.offset_sd_db, self._box, w.k, w.a, w.f_db, w.b, w.vectors, w.scratch,
            w.b_inverse, w.points, w.search,
        )  # fmt: skip
        if status != CONVERGED:
            raise InferenceError(
                f"the posterior of {self.trial_count} answers was not found (status {status})"
            )
        self._predict_candidates()

    def _predict_candidates(self) -> None:
        self._predict(self._candidates_x, self._mean_db_hl, self._sd_db)
        self._mean_db_hl += self._prior_mean_db_hl

    def _predict(self, x: Array, f_mean_db: Array, f_sd_db: Array) -> None:
        w = self._workspace
        length, sd_db = exp(w.search[0]), exp(w.search[1])
        predict(
            self.trial_count, w.x, len(x), x, length, sd_db, self._profile.offset_sd_db,
            w.a, w.b, w.vectors, w.scratch, f_mean_db, f_sd_db,
        )  # fmt: skip

    def _warp(self, frequencies_hz: Array) -> Array:
        return np.array([self._scale.warp(float(f)) for f in frequencies_hz])

    def _spread(self, count: int) -> Array:
        """Return whole-hertz frequencies, evenly spread over the range on the scale."""
        low_hz, high_hz = self.frequency_range_hz
        low, high = self._scale.warp(low_hz), self._scale.warp(high_hz)
        step = (high - low) / (count - 1)
        inner = {float(round(self._scale.unwarp(low + i * step))) for i in range(1, count - 1)}
        return np.array(sorted({low_hz, high_hz} | {f for f in inner if low_hz < f < high_hz}))

    def _interpolate_weight(self, pairs: Sequence[tuple[float, float]] | None) -> Array:
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
        frequencies = [frequency_hz for frequency_hz, _ in points]
        rising = bool(points) and sorted(set(frequencies)) == frequencies
        x = [self._scale.warp(frequency_hz) for frequency_hz in frequencies]
        y = [weight for _, weight in points]
        weights = [_on_line(x, y, float(at)) for at in self._candidates_x] if rising else [0.0]
        if max(weights) <= 0.0:
            low_hz, high_hz = self.frequency_range_hz
            raise ValueError(
                f"frequency_weight is {pairs!r}; allowed are (frequency_hz, weight) pairs of "
                f"rising frequency from {FREQUENCY_LIMITS_HZ[0]:g} to {FREQUENCY_LIMITS_HZ[1]:g}, "
                f"with weights from 0 to {WEIGHT_MAX:g} that leave something of {low_hz:g} to "
                f"{high_hz:g} Hz"
            )
        return np.array(weights)


def _on_line(x: list[float], y: list[float], at: float) -> float:
    """Interpolate linearly between rising x, constantly beyond them.

    In Python, where every operation is rounded by itself: NumPy's may fuse two on some machines.
    """
    after = bisect_right(x, at)
    if after in (0, len(x)):
        return y[min(after, len(x) - 1)]
    fraction = (at - x[after - 1]) / (x[after] - x[after - 1])
    return y[after - 1] + fraction * (y[after] - y[after - 1])


def _search_box(profile: Profile, units: float) -> Array:
    """Return bounds and prior of (log length, log SD) as the kernels take them."""
    length, sd = profile.length_bark, profile.sd_db
    box = np.empty((4, 2))
    box[search.LOW] = log(profile.length_limits_bark[0] * units), log(profile.sd_limits_db[0])
    box[search.HIGH] = log(profile.length_limits_bark[1] * units), log(profile.sd_limits_db[1])
    box[search.MEDIAN] = log(length.median * units), log(sd.median)
    box[search.PRECISION] = length.precision, sd.precision
    return box


def _refuse_unused(
    profile: Profile,
    lapse_rate: float | None,
    false_alarm_rate: float | None,
    age_years: float | None,
    sex: str | None,
) -> None:
    for name, rate in (("lapse_rate", lapse_rate), ("false_alarm_rate", false_alarm_rate)):
        if rate is not None and rate != 0:
            raise ValueError(
                f"{name} is {rate!r}; profile {profile.name!r} models no such answers: "
                "allowed are None and 0"
            )
    for name, fact in (("age_years", age_years), ("sex", sex)):
        if fact is not None:
            raise ValueError(
                f"{name} is {fact!r}; the prior of profile {profile.name!r} does not depend on "
                "it: allowed is None"
            )


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
