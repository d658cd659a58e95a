"""Kinds of listeners: what is unusual about how somebody answers, by the number of the tone.

A kind is named on the command line: ``honest``, ``drifting``, ``bursts``, ``noisy=8``,
``lapses=.15``, ``human``, ``human=FILE``. The same kinds sit at the simulated board and in a study.

What is unusual about a tone depends on the kind, the seed and the number of the tone alone, so a
tone that is played again under its old number finds the listener as before. Of ``human`` the answer
before it counts as well: it is remembered by its number, for as long as the listener sits there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import NormalDist
from typing import Final

from numpy.random import Philox

from device.simulator.traces import TraceError, Traces, read_traces

NUMBERS_MAX: Final = 4096  # the course begins anew after so many tones: far beyond a session

# A criterion that drifts: a stationary process, so that the truth is its mean. Over 40 tones it
# goes 2.8 dB up or down (SD), which is a few dB a session.
DRIFT_SD_DB: Final = 2.5
DRIFT_TONES: Final = 40.0  # its correlation falls to 1/e in so many

# Two bursts in the first 25 tones, so that they fall in a short test as well: each of tones that
# are all missed, or all answered.
BURST_TONES: Final = 5
BURSTS_BEGIN: Final = ((6, 11), (16, 21))  # number of the first tone of each: at least, at most

# The criterion of people, in SDs of the response noise, estimated by
# `python -m host_tools.research.human_criterion` from the 65,270 yes/no answers of three trained
# listeners to tones in noise of Schoenfelder & Wichmann (2013), JASA 134, 447-463, as used by
# Fruend, Wichmann & Macke (2014), Journal of Vision 14(7):9. Means of the three.
HUMAN_SESSION_SD: Final = 0.17  # of a session's mean
HUMAN_WITHIN_SD: Final = 0.21  # of what wanders within a session,
HUMAN_WITHIN_TONES: Final = 6.0  # whose correlation falls to 1/e in so many tones
HUMAN_AFTER_PRESS: Final = 0.09  # after a press the criterion is so much lower, else so much higher

_NOISE_LIMITS_DB: Final = (0.1, 30.0)
_STANDARD_NORMAL: Final = NormalDist()
_DRIFT_STREAM, _BURST_STREAM, _TRACE_STREAM, _SESSION_STREAM = 1, 2, 3, 4


class KindError(ValueError):
    """A text that names no kind of listener; the message says what is allowed."""


@dataclass(frozen=True)
class Moment:
    """What is unusual about a listener at one tone."""

    criterion_db: float = 0.0  # the threshold is so much higher
    pressed: bool | None = None  # whatever is heard; None: it is heard or not


USUAL: Final = Moment()


@dataclass(frozen=True)
class Kind:
    """A kind of listener."""

    text: str = "honest"  # as it was named
    name: str = "honest"
    response_noise_db: float | None = None  # in place of what else is said; None: that
    lapse_rate: float | None = None
    traces: Traces | None = None  # of recorded people


HONEST: Final = Kind()


class Course:
    """How a listener of a kind is from tone to tone, under one seed.

    Parameters
    ----------
    kind : Kind
    seed : int
        0 to 2**64 - 1.
    response_noise_db : float
        The unit of the criterion of people.
    """

    def __init__(self, kind: Kind, seed: int, response_noise_db: float) -> None:
        self._moment = _COURSES[kind.name](kind, seed, response_noise_db)
        self._remembers = kind.name == "human" and kind.traces is None
        self._pressed: dict[int, bool] = {}

    def at(self, number: int) -> Moment:
        """Return what is unusual at a tone, by its number."""
        before = max((n for n in self._pressed if n < number), default=None)
        last = None if before is None else self._pressed[before]
        return self._moment(number % NUMBERS_MAX, last)

    def answered(self, number: int, pressed: bool) -> None:
        """Take in the answer to a tone."""
        if self._remembers:
            self._pressed[number] = pressed


# Of the number of a tone, and the answer before it (None: there was none).
_Moments = Callable[[int, bool | None], Moment]


def kind_named(text: str) -> Kind:
    """Find the kind a text names.

    Raises
    ------
    KindError
        There is none, or its value or file is not what it has to be.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if name not in _COURSES:
        raise KindError(f"no kind of listener is called {text!r}, allowed are {KINDS_WORDS}")
    if name in _PLAIN and equals:
        raise KindError(f"listener {text!r}: {name} has no value, allowed are {KINDS_WORDS}")
    if name == "noisy":
        return Kind(text, name, response_noise_db=_number(text, value, *_NOISE_LIMITS_DB, "dB"))
    if name == "lapses":
        return Kind(text, name, lapse_rate=_number(text, value, 0.0, 0.99, "of the tones"))
    if name == "human" and equals:
        try:
            return Kind(text, name, traces=read_traces(Path(value)))
        except TraceError as error:
            raise KindError(f"listener {text!r}: {error}") from None
    return Kind(text, name)


def _number(text: str, value: str, low: float, high: float, unit: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        raise KindError(f"listener {text!r}: allowed are numbers from {low:g} to {high:g} {unit}")
    return number


def _usual(kind: Kind, seed: int, noise_db: float) -> _Moments:
    return lambda number, last: USUAL


def _drifting(kind: Kind, seed: int, noise_db: float) -> _Moments:
    slow = _slow_process(seed, DRIFT_TONES)
    return lambda number, last: Moment(DRIFT_SD_DB * slow[number])


def _bursts(kind: Kind, seed: int, noise_db: float) -> _Moments:
    chances = _uniforms(seed, _BURST_STREAM, 2 * len(BURSTS_BEGIN))
    at: dict[int, Moment] = {}
    for which, (first, last_first) in enumerate(BURSTS_BEGIN):
        begin = first + int(chances[2 * which] * (last_first - first + 1))
        moment = Moment(pressed=chances[2 * which + 1] < 0.5)
        at |= dict.fromkeys(range(begin, begin + BURST_TONES), moment)
    return lambda number, last: at.get(number, USUAL)


def _human(kind: Kind, seed: int, noise_db: float) -> _Moments:
    if kind.traces is not None:
        (chance,) = _uniforms(seed, _TRACE_STREAM, 1)
        trace = kind.traces.resampled(chance)
        return lambda number, last: Moment(noise_db * trace[number % len(trace)])
    within = _slow_process(seed, HUMAN_WITHIN_TONES)
    (chance,) = _uniforms(seed, _SESSION_STREAM, 1)
    mean = HUMAN_SESSION_SD * _STANDARD_NORMAL.inv_cdf(chance)
    after = {None: mean, True: mean - HUMAN_AFTER_PRESS, False: mean + HUMAN_AFTER_PRESS}

    def moment(number: int, last: bool | None) -> Moment:
        return Moment(noise_db * (HUMAN_WITHIN_SD * within[number] + after[last]))

    return moment


_COURSES: Final[dict[str, Callable[[Kind, int, float], _Moments]]] = {
    "honest": _usual,
    "drifting": _drifting,
    "bursts": _bursts,
    "noisy": _usual,
    "lapses": _usual,
    "human": _human,
}
_PLAIN: Final = ("honest", "drifting", "bursts")
KINDS_WORDS: Final = "honest, drifting, bursts, noisy=DB, lapses=P, human, human=FILE.csv"


def _slow_process(seed: int, tones: float) -> list[float]:
    """Return a stationary autoregressive process of variance 1, by number."""
    rho = math.exp(-1.0 / tones)
    fresh = math.sqrt(1.0 - rho * rho)
    first, *others = map(_STANDARD_NORMAL.inv_cdf, _uniforms(seed, _DRIFT_STREAM, NUMBERS_MAX))
    return list(accumulate(others, lambda x, normal: rho * x + fresh * normal, initial=first))


def _uniforms(seed: int, stream: int, count: int) -> list[float]:
    """Return numbers strictly between 0 and 1 that belong to seed and stream alone."""
    words = Philox(key=seed | stream << 64).random_raw(count)
    return [((int(word) >> 12) + 0.5) * 2.0**-52 for word in words]
