"""How a listener's answers go from tone to tone: what is unusual about each, by its number.

A course depends on its values, the seed and the tone alone. Only those that follow an answer before
(`human`, `repeating`) and the one that waits for a clear tone (`accident`) remember anything, and
they do so by the number of the tone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist
from typing import Final, SupportsInt

from numpy.random import Philox

from device.simulator.traces import Traces

NUMBERS_MAX: Final = 4096  # the course begins anew after so many tones: far beyond a session

# A criterion that drifts: a stationary process, so that the truth is its mean. Over 40 tones it
# goes 2.8 dB up or down (SD), which is a few dB a session.
DRIFT_SD_DB: Final = 2.5
DRIFT_TONES: Final = 40.0  # its correlation falls to 1/e in so many

# Two bursts in the first 25 tones, so that they fall in a short test as well: each of tones that
# are all missed, or all answered.
BURST_TONES: Final = 5
BURSTS_BEGIN: Final = ((6, 11), (16, 21))  # number of the first tone of each: at least, at most

# The criterion of people, in SDs of the response noise, estimated on 25 November 2026 from the
# autocovariance of (p - y) / phi(z) of the 65,270 yes/no answers of three trained listeners to
# tones in noise of Schoenfelder & Wichmann (2013), JASA 134, 447-463, as used by Fruend, Wichmann &
# Macke (2014), Journal of Vision 14(7):9. Means of the three.
HUMAN_SESSION_SD: Final = 0.17  # of a session's mean
HUMAN_WITHIN_SD: Final = 0.21  # of what wanders within a session,
HUMAN_WITHIN_TONES: Final = 6.0  # whose correlation falls to 1/e in so many tones
HUMAN_AFTER_PRESS: Final = 0.09  # after a press the criterion is so much lower, else so much higher

TIRING_TONES: Final = 80  # about what a brisk test of both ears takes
CLEAR_DB: Final = 10.0  # above the threshold: nobody who listens misses such a tone
NEAR_DB: Final = 10.0  # about the threshold: a tone so close to it is faint
PITCH_OCTAVES: Final = 0.5  # what is so close to the pitch of a tinnitus is taken for it
UNEVEN_HZ: Final = (250.0, 8000.0)  # between them uneven noise goes from one value to the other

_STANDARD_NORMAL: Final = NormalDist()
_DRIFT_STREAM, _BURST_STREAM, _TRACE_STREAM, _SESSION_STREAM = 1, 2, 3, 4
_PRESSER_STREAM, _REPEAT_STREAM, _EXAGGERATION_STREAM = 5, 6, 7


@dataclass(frozen=True)
class Moment:
    """What is unusual about a listener at one tone."""

    criterion_db: float = 0.0  # the threshold is so much higher
    pressed: bool | None = None  # whatever is heard; None: it is heard or not
    response_noise_db: float | None = None  # at this frequency; None: the usual
    pressed_unheard: float = 0.0  # share of the tones that are not heard and pressed all the same


@dataclass(frozen=True)
class Asked:
    """A tone, as a course sees it."""

    number: int
    frequency_hz: float
    above_db: float  # how far it is above the listener's threshold
    last: bool | None  # the answer before it, if the listener remembers; None: there was none


USUAL: Final = Moment()
MISSED: Final = Moment(pressed=False)


@dataclass(frozen=True)
class Start:
    """What a course begins with."""

    values: tuple[float, ...]  # those of the kind
    seed: int
    response_noise_db: float  # the unit of the criterion of people
    traces: Traces | None = None  # of recorded people


Moments = Callable[[Asked], Moment]


def usual(start: Start) -> Moments:
    return lambda asked: USUAL


def drifting(start: Start) -> Moments:
    """Return one whose criterion drifts about the truth."""
    slow = _slow_process(start.seed, DRIFT_TONES)
    return lambda asked: Moment(DRIFT_SD_DB * slow[asked.number])


def bursts(start: Start) -> Moments:
    """Return one with two bursts of tones, each all missed or all answered."""
    chances = uniforms(start.seed, _BURST_STREAM, 2 * len(BURSTS_BEGIN))
    at: dict[int, Moment] = {}
    for which, (first, last_first) in enumerate(BURSTS_BEGIN):
        begin = first + int(chances[2 * which] * (last_first - first + 1))
        moment = Moment(pressed=chances[2 * which + 1] < 0.5)
        at |= dict.fromkeys(range(begin, begin + BURST_TONES), moment)
    return lambda asked: at.get(asked.number, USUAL)


def human(start: Start) -> Moments:
    """Return one with the criterion of people: of recorded ones, if there are traces."""
    if start.traces is not None:
        (chance,) = uniforms(start.seed, _TRACE_STREAM, 1)
        trace = start.traces.resample(chance)
        return lambda asked: Moment(start.response_noise_db * trace[asked.number % len(trace)])
    within = _slow_process(start.seed, HUMAN_WITHIN_TONES)
    (chance,) = uniforms(start.seed, _SESSION_STREAM, 1)
    mean = HUMAN_SESSION_SD * _STANDARD_NORMAL.inv_cdf(chance)
    after = {None: mean, True: mean - HUMAN_AFTER_PRESS, False: mean + HUMAN_AFTER_PRESS}
    return lambda asked: Moment(
        start.response_noise_db * (HUMAN_WITHIN_SD * within[asked.number] + after[asked.last])
    )


def silent(start: Start) -> Moments:
    """Return one who answers nothing from a tone on until another: listener or earphone is gone."""
    first, back = start.values
    return lambda asked: MISSED if first <= asked.number < back else USUAL


def late(start: Start) -> Moments:
    """Return one who misses the first tones: the task was not understood."""
    (count,) = start.values
    return lambda asked: MISSED if asked.number <= count else USUAL


def never(start: Start) -> Moments:
    """Return one who answers no tone, whatever the hand does of itself."""
    return lambda asked: MISSED


def presser(start: Start) -> Moments:
    """Return one who answers a share of the tones, whatever they are, from a tone on."""
    share, _, first = start.values
    chances = uniforms(start.seed, _PRESSER_STREAM, NUMBERS_MAX)
    return lambda asked: (
        USUAL if asked.number < first else Moment(pressed=chances[asked.number] < share)
    )


def repeating(start: Start) -> Moments:
    """Return one who gives the last answer again, at a share of the tones."""
    (share,) = start.values
    chances = uniforms(start.seed, _REPEAT_STREAM, NUMBERS_MAX)
    return lambda asked: Moment(pressed=asked.last) if chances[asked.number] < share else USUAL


def tiring(start: Start) -> Moments:
    """Return one whose criterion moves evenly over the session, from the truth to its end."""
    (end_db,) = start.values
    return lambda asked: Moment(end_db * min(asked.number / TIRING_TONES, 1.0))


def uneven(start: Start) -> Moments:
    """Return one whose response noise goes evenly over the octaves from one value to another."""
    low_db, high_db = start.values
    low_hz, high_hz = UNEVEN_HZ

    def moment(asked: Asked) -> Moment:
        octaves = math.log2(asked.frequency_hz / low_hz) / math.log2(high_hz / low_hz)
        within = min(max(octaves, 0.0), 1.0)
        return Moment(response_noise_db=low_db + within * (high_db - low_db))

    return moment


def exaggerating(start: Start) -> Moments:
    """Return one who answers only what is so far above the threshold, and by chance further."""
    least_db, further_db = start.values
    chances = uniforms(start.seed, _EXAGGERATION_STREAM, NUMBERS_MAX)
    return lambda asked: Moment(least_db + chances[asked.number] * further_db)


def accident(start: Start) -> Moments:
    """Return one who misses the first clear tone from a tone on, and nothing else."""
    (first,) = start.values
    missed: list[int] = []  # its number, once it has come

    def moment(asked: Asked) -> Moment:
        if not missed and asked.number >= first and asked.above_db >= CLEAR_DB:
            missed.append(asked.number)
        return MISSED if asked.number in missed else USUAL

    return moment


def moved(start: Start) -> Moments:
    """Return one whose earphone moves at a tone: poorer from there on, or until another.

    Over some tones, if that is said, and at some frequencies only, as a leak is.
    """
    first, by_db, back, tones, low_hz, high_hz = start.values

    def moment(asked: Asked) -> Moment:
        if not (first <= asked.number < back and low_hz <= asked.frequency_hz <= high_hz):
            return USUAL
        return Moment(by_db * min((asked.number - first + 1) / tones, 1.0))

    return moment


def tinnitus(start: Start) -> Moments:
    """Return one who takes a share of the unheard tones near a pitch for heard."""
    pitch_hz, share = start.values
    near = Moment(pressed_unheard=share)
    return lambda asked: (
        near if abs(math.log2(asked.frequency_hz / pitch_hz)) <= PITCH_OCTAVES else USUAL
    )


def cue(start: Start) -> Moments:
    """Return one who presses at a share of the unheard tones: a lamp, or a hand, tells of them."""
    (share,) = start.values
    return lambda asked: Moment(pressed_unheard=share)


def rising(start: Start) -> Moments:
    """Return one who notices of faint tones only those louder than the one before."""
    above_db: dict[int, float] = {}  # by number

    def moment(asked: Asked) -> Moment:
        before = max((n for n in above_db if n < asked.number), default=None)
        above_db[asked.number] = asked.above_db
        faint = abs(asked.above_db) <= NEAR_DB
        no_louder = before is not None and asked.above_db <= above_db[before]
        return MISSED if faint and no_louder else USUAL

    return moment


def _slow_process(seed: int, tones: float) -> list[float]:
    """Return a stationary autoregressive process of variance 1, by number."""
    rho = math.exp(-1.0 / tones)
    fresh = math.sqrt(1.0 - rho * rho)
    first, *others = map(_STANDARD_NORMAL.inv_cdf, uniforms(seed, _DRIFT_STREAM, NUMBERS_MAX))
    return list(accumulate(others, lambda x, normal: rho * x + fresh * normal, initial=first))


def uniforms(seed: int, stream: int, count: int) -> list[float]:
    """Return numbers strictly between 0 and 1 that belong to seed and stream alone."""
    return [*map(uniform_of, Philox(key=seed | stream << 64).random_raw(count))]


def uniform_of(word: SupportsInt) -> float:
    """Return the middle of one of 2**52 equal steps: never 0, never 1, exact in a double."""
    return ((int(word) >> 12) + 0.5) * 2.0**-52
