"""The simulated listener of a study: the same one for every method.

Each ear and seed has its own stream of random numbers from raw Philox words, one number a tone. So
all methods have the same listener with the same luck (common random numbers), and answers do not
depend on what else is simulated, where, or when.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from device.simulator.audiogram import Audiogram
from device.simulator.courses import USUAL, Moment
from device.simulator.kinds import HONEST, Course, Kind
from firmware_py.inference.elementary import normal_cdf
from firmware_py.inference.mixture.population_prior import Sex
from host_tools.research.methods.interface import Array
from host_tools.research.methods.population import uniform

# Parts of the Philox counter, beside the seed and the ear in the key.
_ANSWER_STREAM: Final = 1
_JITTER_STREAM: Final = 2
_DRAW_STREAM: Final = 3
_COURSE_STREAM: Final = 4  # 5 and 8 are of robustness_sessions.py
_SESSION_STREAM: Final = 6
_TIME_STREAM: Final = 7


@dataclass(frozen=True)
class Ear:
    """An ear to be measured: its truth is linear in log2 frequency, and constant outside."""

    name: str  # no other ear of the study has it
    stratum: str  # the degree of loss, over which results are averaged in equal parts
    frequencies_hz: tuple[float, ...]  # rising
    thresholds_db_hl: tuple[float, ...]
    age_years: float | None = None  # whose ear it is, as far as that is known
    sex: Sex | None = None
    truth: Audiogram | None = None  # finer than the frequencies at which errors are taken

    @property
    def audiogram(self) -> Audiogram:
        return self.truth or Audiogram(self.frequencies_hz, self.thresholds_db_hl)

    def jitter(self, seed: int, within_db: float) -> "Ear":
        """Return the ear with thresholds moved evenly within +-`within_db`, by name and seed.

        A finer truth is moved at its own frequencies, which no table has rounded: not at all.
        """
        if self.truth is not None:
            return self
        draws = uniforms(self.name, seed, _JITTER_STREAM, len(self.thresholds_db_hl)).tolist()
        moved = [
            threshold_db_hl + within_db * (2.0 * draw - 1.0)
            for threshold_db_hl, draw in zip(self.thresholds_db_hl, draws, strict=True)
        ]
        return replace(self, thresholds_db_hl=tuple(moved))


@dataclass(frozen=True)
class Answering:
    """How listeners answer: P = f + (1 - f - l) Phi((level - threshold) / noise)."""

    response_noise_db: float
    lapse_rate: float  # l
    false_alarm_rate: float  # f
    kind: Kind = HONEST  # what else is unusual, or stands in place of noise and lapse rate

    @property
    def words(self) -> str:
        """Return who answers, with the noise and the rates, as the head of a table has it."""
        how = self.as_told()
        unless = "where it says nothing else, " if self.kind.source else ""
        return (
            f"listeners: {self.kind.text}; {unless}noise {how.response_noise_db:g} dB, lapses "
            f"{how.lapse_rate:g}, false alarms {how.false_alarm_rate:g}"
        )

    @property
    def about(self) -> dict[str, str | float]:
        """Return the same as JSON values."""
        how = self.as_told()
        return {
            "listener": self.kind.text,
            "response_noise_db": how.response_noise_db,
            "lapse_rate": how.lapse_rate,
            "false_alarm_rate": how.false_alarm_rate,
        }

    def as_told(self) -> "Answering":
        """Return it with the noise and the lapse rate of the kind, which methods are told."""
        noise_db, lapse_rate = self.kind.response_noise_db, self.kind.lapse_rate
        return replace(
            self,
            response_noise_db=self.response_noise_db if noise_db is None else noise_db,
            lapse_rate=self.lapse_rate if lapse_rate is None else lapse_rate,
        )


class Listener:
    """A listener with this ear, under one seed, who can be asked so many tones."""

    def __init__(self, ear: Ear, answering: Answering, seed: int, tones: int) -> None:
        self._audiogram = ear.audiogram
        self._answering = answering.as_told()
        course_seed = _seed(ear.name, seed, _COURSE_STREAM)
        self._course = Course(answering.kind, course_seed, self._answering.response_noise_db)
        self._luck = uniforms(ear.name, seed, _ANSWER_STREAM, tones)

    def probability_heard(
        self, frequency_hz: float, level_db_hl: float, moment: Moment = USUAL
    ) -> float:
        """Return the probability that this tone is answered, if there is nothing but its level."""
        how = self._answering
        above_db = self._above_db(frequency_hz, level_db_hl) - moment.criterion_db
        attentive = 1.0 - how.false_alarm_rate - how.lapse_rate
        phi = float(normal_cdf(above_db / (moment.response_noise_db or how.response_noise_db)))
        heard = how.false_alarm_rate + attentive * phi
        return heard + (1.0 - heard) * moment.pressed_unheard

    def _above_db(self, frequency_hz: float, level_db_hl: float) -> float:
        return level_db_hl - self._audiogram.threshold_db_hl(frequency_hz)

    def hears(self, tone: int, frequency_hz: float, level_db_hl: float) -> bool:
        """Return the answer to tone number 0, 1, 2 ...; each number always has the same luck.

        Of two tones with the same number, the louder is heard whenever the softer is.
        """
        moment = self._course.at(tone, frequency_hz, self._above_db(frequency_hz, level_db_hl))
        p = self.probability_heard(frequency_hz, level_db_hl, moment)
        heard = bool(self._luck[tone] < p) if moment.pressed is None else moment.pressed
        self._course.take_answer(tone, heard)
        return heard

    def answers(
        self, tone: int, frequency_hz: float, level_db_hl: float, half_width_db: float
    ) -> bool | None:
        """Return the same of one who has a second button, for "perhaps"; None: it was pressed.

        Within +-`half_width_db` of the threshold; 0: never. Each button has the false-alarm rate.
        """
        how = self._answering
        above_db = self._above_db(frequency_hz, level_db_hl)
        moment = self._course.at(tone, frequency_hz, above_db)
        if half_width_db == 0.0 or moment.pressed is not None:
            return self.hears(tone, frequency_hz, level_db_hl)
        attentive = 1.0 - 2.0 * how.false_alarm_rate - how.lapse_rate
        above_db -= moment.criterion_db
        noise_db = moment.response_noise_db or how.response_noise_db
        sure, answered = (
            presses * how.false_alarm_rate
            + attentive * float(normal_cdf((above_db - bound_db) / noise_db))
            for presses, bound_db in ((1.0, half_width_db), (2.0, -half_width_db))
        )
        sure, answered = (p + (1.0 - p) * moment.pressed_unheard for p in (sure, answered))
        luck = float(self._luck[tone])
        self._course.take_answer(tone, luck < answered)
        if luck < sure:
            return True
        return None if luck < answered else False


def session_seed(name: str, seed: int) -> int:
    """Return the seed of a whole session with this ear: of its pauses, and of who answers."""
    return _seed(name, seed, _SESSION_STREAM)


def response_speeds(name: str, seed: int, tones: int) -> list[float]:
    """Return a number strictly between 0 and 1 for each tone: how slowly it is answered."""
    return [u + 2.0**-54 for u in uniforms(name, seed, _TIME_STREAM, tones).tolist()]


def _seed(name: str, seed: int, stream: int) -> int:
    (chance,) = uniforms(name, seed, stream, 1).tolist()
    return int(chance * 2.0**53)


def uniforms(name: str, seed: int, stream: int, count: int) -> Array:
    """Return numbers in [0, 1), multiples of 2**-53, that depend on name, seed and stream alone."""
    word = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
    return uniform(seed, word, count, stream)


def place_in_draw(name: str) -> float:
    """Return a number in [0, 1) that depends on the name alone; the lowest are drawn first."""
    return float(uniforms(name, 1, _DRAW_STREAM, 1)[0])
