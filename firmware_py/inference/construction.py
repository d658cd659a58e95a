"""From the estimator's arguments to a model: what each profile takes, and makes no use of."""

from dataclasses import dataclass
from numbers import Real
from typing import Final

import numpy as np

from firmware_py.inference.checks import curve, number
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.population_prior import (
    AGE_LIMITS_YEARS,
    PopulationPrior,
    Sex,
    shipped_prior,
)
from firmware_py.inference.mixture.prior_reading import NamesFile, in_short
from firmware_py.inference.model import FREQUENCY_LIMITS_HZ, Model, Points, on_line, spread
from firmware_py.inference.profiles import LaplaceProfile, Listener, MixtureProfile
from firmware_py.inference.scales import Scale

CANDIDATES: Final = 128  # frequencies a next tone may have; 0.18 Bark apart at 125-8000 Hz
RESPONSE_NOISE_LIMITS_DB: Final = (0.1, 30.0)
RATE_MAX: Final = 0.45  # of lapses, and of false alarms: beyond, answers tell next to nothing
WEIGHT_MAX: Final = 1e6  # of a frequency; only the ratios of weights matter

# What may be given of each argument that a Laplace profile makes no use of.
UNUSED_ALLOWED: Final = {
    "lapse_rate": "None or 0",
    "false_alarm_rate": "None or 0",
    "unsure_half_width_db": "0",
    "response_noise_db": "None or a number",
}


@dataclass(frozen=True)
class KnownListener:
    """What is known of the listener, as `ThresholdEstimator` describes it; None: not known."""

    response_noise_db: float | Points | None
    lapse_rate: float | None
    false_alarm_rate: float | None
    unsure_half_width_db: float | None
    age_years: float | None
    sex: Sex | None
    prior: PopulationPrior | None


@dataclass(frozen=True)
class Frequencies:
    """Which frequencies may be asked: their range and scale, and how many (None: the default)."""

    range_hz: tuple[float, float]
    scale: Scale
    candidates: int | None


def make_model(
    profile: LaplaceProfile | MixtureProfile,
    given: KnownListener,
    asked: Frequencies,
    max_trials: int,
) -> Model:
    """Return the model of a profile; only its own modules and kernels are loaded.

    A `ValueError` says what is out of its range, or of no use to the profile.
    """
    noise_db, noise_curve = _noise(given.response_noise_db)
    if isinstance(profile, LaplaceProfile):
        from firmware_py.inference.laplace.model import LaplaceModel

        _refuse_unused(profile, given, noise_curve)
        return LaplaceModel(
            profile,
            max_trials,
            profile.response_noise_db if noise_db is None else noise_db,
            asked.scale,
            spread(asked.range_hz, asked.candidates or CANDIDATES, asked.scale),
        )
    from firmware_py.inference.mixture.model import MixtureModel

    prior = _prior_of(given).within(*asked.range_hz)
    return MixtureModel(
        prior,
        _listeners(profile, given, noise_db),
        given.lapse_rate is None and given.false_alarm_rate is None,
        noise_curve,
        max_trials,
        _mixture_candidates(prior, asked),
    )


def _refuse_unused(
    profile: LaplaceProfile, given: KnownListener, noise_curve: Points | None
) -> None:
    nothing_told = {
        "lapse_rate": given.lapse_rate is None or _is_zero(given.lapse_rate),
        "false_alarm_rate": given.false_alarm_rate is None or _is_zero(given.false_alarm_rate),
        "unsure_half_width_db": given.unsure_half_width_db == 0.0,
        "response_noise_db": noise_curve is None,
        "age_years": given.age_years is None,
        "sex": given.sex is None,
    }
    for name, fine in nothing_told.items():
        if not fine:
            raise _useless(name, getattr(given, name), profile)


def _useless(name: str, value: object, profile: LaplaceProfile) -> ValueError:
    """Return the error of an argument that the profile makes no use of."""
    return ValueError(
        f"{name} is {value!r}; profile {profile.name!r} makes no use of it: allowed is "
        f"{UNUSED_ALLOWED.get(name, 'None')}"
    )


def _is_zero(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and value == 0


def _noise(told: float | Points | None) -> tuple[float | None, Points | None]:
    """Return the response noise, and its curve over frequency as factors of it."""
    low, high = RESPONSE_NOISE_LIMITS_DB
    if told is None:
        return None, None
    if not hasattr(told, "__iter__"):
        return number("response_noise_db", told, low, high), None
    points = curve(told, low, high)
    if not points:
        raise ValueError(
            f"response_noise_db is {told!r}; allowed is {low:g} to {high:g}, or (frequency_hz, "
            f"response_noise_db) pairs of rising frequency with such values"
        )
    return 1.0, points


def prior_given(
    prior: PopulationPrior | str | NamesFile | None, profile: LaplaceProfile | MixtureProfile
) -> PopulationPrior | None:
    """Return the prior that was given as one, or as the file of one.

    A `ValueError` says that it is neither, or of no use to the profile.
    """
    if prior is None:
        return None
    if isinstance(profile, LaplaceProfile):
        raise _useless("prior", prior, profile)
    if isinstance(prior, PopulationPrior):
        return prior
    if not isinstance(prior, str | NamesFile):
        raise ValueError(
            f"prior is {in_short(prior)}; allowed are a PopulationPrior, as of its from_json, the "
            "path of its file, and None"
        )
    return PopulationPrior.from_file(prior)


def _prior_of(given: KnownListener) -> PopulationPrior:
    prior, age_years, sex = given.prior, given.age_years, given.sex
    if age_years is not None:
        age_years = number("age_years", age_years, *AGE_LIMITS_YEARS)
    if sex not in (None, "F", "M"):
        raise ValueError(f"sex is {sex!r}; allowed are 'F', 'M' and None")
    return (prior or shipped_prior()).condition(age_years, sex)


def _listeners(
    profile: MixtureProfile, given: KnownListener, noise_db: float | None
) -> list[Listener]:
    lapse_rate, false_alarm_rate = given.lapse_rate, given.false_alarm_rate
    if lapse_rate is not None:
        lapse_rate = number("lapse_rate", lapse_rate, 0.0, RATE_MAX)
    if false_alarm_rate is not None:
        # With two buttons each is pressed at this rate.
        most = RATE_MAX if given.unsure_half_width_db == 0.0 else 0.5 * RATE_MAX
        false_alarm_rate = number("false_alarm_rate", false_alarm_rate, 0.0, most)
    return profile.listeners(noise_db, lapse_rate, false_alarm_rate, given.unsure_half_width_db)


def _mixture_candidates(prior: PopulationPrior, asked: Frequencies) -> list[float]:
    low_hz, high_hz = asked.range_hz
    knots = [f for f in prior.knots_hz if low_hz <= f <= high_hz]
    if asked.candidates is None and len(knots) > 1:
        return knots
    return spread(asked.range_hz, asked.candidates or 2, asked.scale)


def frequency_weights(pairs: Points, candidates_hz: Array, asked: Frequencies) -> Array:
    """Return the weight of each candidate: (frequency_hz, weight) points, linear on the scale.

    A `ValueError` says that they are no such points, or leave no candidate with a weight.
    """
    points = curve(pairs, 0.0, WEIGHT_MAX)
    warped = [(asked.scale.warp(frequency_hz), weight) for frequency_hz, weight in points]
    at = [asked.scale.warp(frequency_hz) for frequency_hz in candidates_hz.tolist()]
    weights = [on_line(warped, x) for x in at] if points else [0.0]
    if max(weights) <= 0.0:
        low_hz, high_hz = asked.range_hz
        raise ValueError(
            f"frequency_weight is {pairs!r}; allowed are (frequency_hz, weight) pairs of "
            f"rising frequency from {FREQUENCY_LIMITS_HZ[0]:g} to {FREQUENCY_LIMITS_HZ[1]:g}, "
            f"with weights from 0 to {WEIGHT_MAX:g} that leave something of {low_hz:g} to "
            f"{high_hz:g} Hz"
        )
    return np.array(weights)
