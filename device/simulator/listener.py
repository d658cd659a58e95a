"""A listener who can be asked the same twice: every answer is a pure function of the question.

The random numbers are raw Philox words under a key made of the seed and of the question itself, so
nothing depends on how often or in which order a listener is asked, and a tone that is played again
under its old id, after a crash, gets its old answer. A listener who is not the same all the time
(`kinds.py`) is so by the number in which a tone's id ends: the firmware counts its tones.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal, NamedTuple

from numpy.random import Philox

from device.simulator.audiogram import Audiogram
from device.simulator.courses import uniform_of
from device.simulator.head import USUAL, Head
from device.simulator.kinds import HONEST, TWICE_S, Course, Kind
from device.simulator.rooms import power_sum_db
from firmware_py.terms.route import BONE, Route

Ear = Literal["left", "right"]

EARS: Final[tuple[Ear, Ear]] = ("right", "left")  # the order of a text "RIGHT,LEFT"
START: Final = "-"  # stands for the tone before the first one; no tone may be called so
IDLE_SLOT_S: Final = 2.5  # about a trial (FIELD.md: 2.5-4 s), so that a rate is "per trial"
RESPONSE_TIME_LOG_SD: Final = 0.25  # of the natural logarithm
RESPONSE_TIME_FLAT_FROM_SDS: Final = 3.0  # so far above the threshold people are as fast as ever
RESPONSE_TIME_S_MIN: Final = 0.15  # nobody reacts to a sound faster
# FIELD.md: 1.2 s at most; slow people have a median of 2.5 s, and this is their 1 in 400.
RESPONSE_TIME_S_MAX: Final = 5.0
HOLD_TIME_S: Final = (0.15, 0.25)  # the button is held between them
SEED_MAX: Final = 2**64 - 1  # one word of the Philox key
HEARD_BUTTON: Final = 1
UNSURE_BUTTON: Final = 2
NOISE_HALF_BAND_OCTAVES: Final = 0.5  # noise masks tones so near its centre, and no others

_STANDARD_NORMAL: Final = NormalDist()
_NUMBER: Final = re.compile(r"[0-9]{1,9}\Z", re.ASCII)
_ID_WORDS: Final = 4  # one for the key, three for the counter, whose lowest word counts

assert RESPONSE_TIME_S_MIN < RESPONSE_TIME_S_MAX
assert HOLD_TIME_S[0] < HOLD_TIME_S[1] < TWICE_S[0]


@dataclass(frozen=True)
class Press:
    """One press of a button."""

    # from the question's beginning (a tone's onset, the start of an idle slot) to the press
    delay_us: int
    hold_us: int  # from the press to the release
    button: int = HEARD_BUTTON  # `HEARD_BUTTON` or `UNSURE_BUTTON`
    again_us: int = 0  # from this press to another one, 0: there is none
    for_good: bool = False  # and so on, whatever is played


@dataclass(frozen=True)
class Noise:
    """Narrow-band noise in an ear, by its centre and effective masking level.

    It just masks a tone of this level in that ear.
    """

    ear: Ear
    frequency_hz: float
    level_db_hl: float


class Tone(NamedTuple):
    """A tone that is played to an ear, or by bone behind it, with noise or without.

    The room's own noise just masks a tone of `room_db_hl` by the same way.
    """

    tone_id: str
    ear: Ear
    frequency_hz: float
    level_db_hl: float
    noise: Noise | None = None
    by_bone: bool = False
    room_db_hl: float = -math.inf

    @property
    def number(self) -> int:
        return number_of(self.tone_id)


def tone_by(
    route: Route,
    tone_id: str,
    sound: tuple[float, float],
    noise: Noise | None = None,
    room_db_hl: float = -math.inf,
) -> Tone:
    """Return a tone by a route, frequency and level of which are `sound`."""
    by_bone = route.transducer == BONE
    return Tone(tone_id, EARS[EARS.index(route.ear)], *sound, noise, by_bone, room_db_hl)


class Listener:
    """Who sits at the simulated board: presses nothing, and hears each ear where it is."""

    def answer(self, _tone: Tone, /) -> Press | None:
        """Say whether and when a tone is answered: the delay counts from its onset."""
        return None

    def spontaneous_press(self, _after_id: str, _slot: int, /) -> Press | None:
        """Say whether and when the button is pressed in a slot in which nothing sounds."""
        return None

    def seat(self) -> None:
        """Let the operator put earphones back that moved."""

    def points_to(self, ear: Ear, _frequency_hz: float, _level_db_hl: float, /) -> Ear:
        """Say in which ear a tone is heard."""
        return ear


class SimulatedListener(Listener):
    """Answers tones by a probit psychometric function, with lapses, false alarms and delays.

    ``P(press) = f + (1 - f - l) Phi((level - threshold) / noise)`` with the false-alarm rate f and
    the lapse rate l. With a dead zone of half width d this is an ordinal probit with two buttons,
    and accidents of each at the rate f: the first (heard) is pressed with
    ``f + (1 - 2 f - l) Phi((level - threshold - d) / noise)``, either of them with
    ``2 f + (1 - 2 f - l) Phi((level - threshold + d) / noise)``.

    A tone is heard by the ear that hears it better: by the one it is played to, or, weaker by the
    interaural attenuation, by the other, which hears through the skull by its air-bone gap better
    than through the air. Noise raises the threshold of a cochlea to the power sum of both, and
    reaches the other one as weakened as a tone does; what comes by air is weakened by the gap, and
    so is the noise of the room, in both. A tone by bone is heard by the better of the two cochleas
    as well; see `head.py`.

    The response time is log-normal with log-SD `RESPONSE_TIME_LOG_SD`, limited to
    `RESPONSE_TIME_S_MIN` ... `RESPONSE_TIME_S_MAX`. Its logarithm falls by the slope for each SD of
    the response noise above the threshold, within `RESPONSE_TIME_FLAT_FROM_SDS` of it.

    Parameters
    ----------
    thresholds : mapping of Ear to Audiogram
        Both ears.
    response_noise_db : float
        SD of the psychometric function, above 0.
    lapse_rate : float
        Share of tones missed whatever their level, 0 to 1. Exactly 1: never answers, whatever the
        false-alarm rate says.
    false_alarm_rate : float
        Share of tones answered with a button whatever their level, 0 to 1, and the probability of
        a spontaneous press of it in each idle slot of `IDLE_SLOT_S`. Exactly 1: always answers,
        whatever the lapse rate says.
    response_time_s : float
        Median (of a tone at the threshold, with a slope), within the limits above.
    seed : int
        0 to `SEED_MAX`.
    unsure_half_width_db : float
        The d above, 0 or more; 0: the second button is never pressed.
    kind : Kind, optional
        What is unusual about this listener; its noise and lapse rate, if it has some, are in place
        of those above.
    head : Head
        What lies between the sounds and the cochleas.

    Raises
    ------
    ValueError
        A parameter is out of its range, the rates add up to more than 1.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - each is an option of the command line
        self,
        thresholds: Mapping[Ear, Audiogram],
        response_noise_db: float = 2.0,
        lapse_rate: float = 0.01,
        false_alarm_rate: float = 0.01,
        response_time_s: float = 0.4,
        seed: int = 1,
        unsure_half_width_db: float = 0.0,
        kind: Kind = HONEST,
        head: Head = USUAL,
    ) -> None:
        if kind.response_noise_db is not None:
            response_noise_db = kind.response_noise_db
        if kind.lapse_rate is not None:
            lapse_rate = kind.lapse_rate
        for name, value, allowed, words in (
            ("response_noise_db", response_noise_db, 0.0 < response_noise_db < math.inf,
             "is above 0"),
            ("response_time_s", response_time_s,
             RESPONSE_TIME_S_MIN <= response_time_s <= RESPONSE_TIME_S_MAX,
             f"are {RESPONSE_TIME_S_MIN:g} to {RESPONSE_TIME_S_MAX:g} s"),
            ("response_time_slope", kind.response_time_slope,
             0.0 <= kind.response_time_slope <= 1.0,
             "are 0 to 1"),
            ("seed", seed, 0 <= seed <= SEED_MAX, f"are 0 to {SEED_MAX}"),
            ("unsure_half_width_db", unsure_half_width_db, 0.0 <= unsure_half_width_db < math.inf,
             "is 0 and more"),
        ):  # fmt: skip
            if not allowed:
                raise ValueError(f"{name} is {value}, allowed {words}")
        self.head = head
        self._unsure_half_width_db = unsure_half_width_db
        self._lapse_rate, self._false_alarm_rate = _rates(lapse_rate, false_alarm_rate)
        if self._lapse_rate + self._buttons * self._false_alarm_rate > 1.0:
            raise ValueError(
                f"false_alarm_rate is {false_alarm_rate} of each button; with lapse_rate "
                f"{lapse_rate} allowed is at most {(1.0 - lapse_rate) / self._buttons:g}"
            )
        self._thresholds = dict(thresholds)
        self._response_noise_db = response_noise_db
        self._response_time_s = response_time_s
        self._seed = seed
        self._kind = kind
        self._course = Course(kind, seed, response_noise_db)

    def probabilities(
        self, ear: Ear, frequency_hz: float, level_db_hl: float, noise: Noise | None = None
    ) -> tuple[float, float]:
        """Give the probability that a tone is answered with the first button, and with either.

        Of an honest listener: what the kind makes of it is left out.
        """
        sensation_db = self._sensation_db(Tone("", ear, frequency_hz, level_db_hl, noise))
        return self._probabilities(sensation_db, self._response_noise_db)

    def _probabilities(self, sensation_db: float, noise_db: float) -> tuple[float, float]:
        half_width_db = self._unsure_half_width_db
        heard = self._probability_above(half_width_db, sensation_db, noise_db)
        answered = self._probability_above(-half_width_db, sensation_db, noise_db)
        rate = self._false_alarm_rate
        return rate + heard, self._buttons * rate + answered

    @property
    def _buttons(self) -> int:
        return 2 if self._unsure_half_width_db > 0.0 else 1

    def _sensation_db(self, tone: Tone) -> float:
        # In dB above the threshold, of the ear that hears it better.
        by_air_db_hl = tone.level_db_hl - self.head.gap_db(tone.ear, tone.frequency_hz)
        own_db = by_air_db_hl - self._threshold_db_hl(tone.ear, tone)
        crossing_db_hl = tone.level_db_hl - self.head.interaural_attenuation_db
        other = EARS[EARS.index(tone.ear) - 1]
        return max(own_db, crossing_db_hl - self._threshold_db_hl(other, tone))

    def bone_sensation_db(self, tone: Tone) -> float:
        """Return by how much a tone by bone is above the threshold of the better cochlea.

        Or above what the skin feels, if that is more.
        """
        covered = None if tone.noise is None else tone.noise.ear
        heard_db = (
            tone.level_db_hl
            + self.head.bone_db(tone.ear, to, tone.frequency_hz, tone.number, covered)
            - self._threshold_db_hl(to, tone)
            for to in EARS
        )
        return max(*heard_db, tone.level_db_hl - self.head.touch_db_hl(tone.frequency_hz))

    def _threshold_db_hl(self, ear: Ear, tone: Tone) -> float:
        # Of the cochlea, which is better than the ear by the air-bone gap, with all that it hears
        # beside the tone.
        frequency_hz, noise = tone.frequency_hz, tone.noise
        gap_db = self.head.gap_db(ear, frequency_hz)
        threshold_db_hl = self._thresholds[ear].threshold_db_hl(frequency_hz) - gap_db
        if tone.room_db_hl > -math.inf:
            threshold_db_hl = power_sum_db(threshold_db_hl, tone.room_db_hl - gap_db)
        if noise is None:
            return threshold_db_hl
        if abs(math.log2(frequency_hz / noise.frequency_hz)) > NOISE_HALF_BAND_OCTAVES:
            return threshold_db_hl
        crossing_db = gap_db if ear == noise.ear else self.head.interaural_attenuation_db
        return power_sum_db(threshold_db_hl, noise.level_db_hl - crossing_db)

    def _probability_above(self, bound_db: float, sensation_db: float, noise_db: float) -> float:
        # That the sensation is above a bound, and there is no accident.
        z = (sensation_db - bound_db) / noise_db
        attentive = 1.0 - self._buttons * self._false_alarm_rate - self._lapse_rate
        return attentive * _STANDARD_NORMAL.cdf(z)

    def answer(self, tone: Tone) -> Press | None:
        """Say whether and when a tone is answered: always the same for the same tone."""
        frequency_hz = tone.frequency_hz
        name = f"{tone.tone_id} {tone.ear}" + " bone" * tone.by_bone
        numbers = f"{float(frequency_hz).hex()} {float(tone.level_db_hl).hex()}"
        chance, speed, grip, gap = self._uniforms(f"tone {name} {numbers}")
        sensation_db = self.bone_sensation_db(tone) if tone.by_bone else self._sensation_db(tone)
        number = tone.number
        moment = self._course.at(number, frequency_hz, sensation_db)
        noise_db = moment.response_noise_db or self._response_noise_db
        sensation_db -= moment.criterion_db
        heard, answered = self._probabilities(sensation_db, noise_db)
        heard, answered = (p + (1.0 - p) * moment.pressed_unheard for p in (heard, answered))
        if moment.pressed is not None:
            heard = answered = float(moment.pressed)
        self._course.take_answer(number, chance < answered)
        if chance >= answered:
            return None
        end = RESPONSE_TIME_FLAT_FROM_SDS
        above = min(max(sensation_db / noise_db, -end), end)
        faster = self._kind.response_time_slope * above
        time_s = response_time_s(self._response_time_s, speed, faster)
        button = HEARD_BUTTON if chance < heard else UNSURE_BUTTON
        again_us = _between_us(TWICE_S, gap) if self._kind.twice else 0
        return Press(round(time_s * 1e6), _between_us(HOLD_TIME_S, grip), button, again_us)

    def seat(self) -> None:
        self._course.seat()

    def points_to(self, ear: Ear, frequency_hz: float, level_db_hl: float) -> Ear:
        """Say in which ear a tone is heard: the other one may hear it better, through the skull."""
        tone = Tone("", ear, frequency_hz, level_db_hl)
        by_air_db_hl = level_db_hl - self.head.gap_db(ear, frequency_hz)
        own_db = by_air_db_hl - self._threshold_db_hl(ear, tone)
        crossing_db = self._sensation_db(tone)
        return ear if own_db >= crossing_db else EARS[EARS.index(ear) - 1]

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        """Say whether and when the button is pressed in a slot in which nothing sounds.

        Slots of `IDLE_SLOT_S`, from 0 on, follow the end of a tone, or `START`. The delay of a
        press counts from the start of its slot, and is shorter. One who presses in rhythm begins in
        the first slot of all, and goes on for good.
        """
        chance, moment, grip, _ = self._uniforms(f"idle {after_id} {slot:d}")
        hold_us = _between_us(HOLD_TIME_S, grip)
        if self._kind.beat_s is not None and (after_id, slot) == (START, 0):
            beat_us = round(self._kind.beat_s * 1e6)
            return Press(int(moment * beat_us), hold_us, again_us=beat_us, for_good=True)
        rate = self._kind.silence_rate(number_of(after_id))
        if rate is None:
            rate = self._false_alarm_rate
        if chance >= self._buttons * rate:
            return None
        button = HEARD_BUTTON if chance < rate else UNSURE_BUTTON
        return Press(int(moment * IDLE_SLOT_S * 1e6), hold_us, button)

    def _uniforms(self, question: str) -> tuple[float, float, float, float]:
        # Four numbers strictly between 0 and 1 that belong to this seed and question alone.
        digest = hashlib.sha256(question.encode()).digest()
        words = [int.from_bytes(digest[8 * i : 8 * i + 8], "little") for i in range(_ID_WORDS)]
        stream = Philox(
            key=self._seed | words[0] << 64,
            counter=words[1] << 64 | words[2] << 128 | words[3] << 192,
        )
        first, second, third, fourth = map(uniform_of, stream.random_raw(4))
        return first, second, third, fourth


def response_time_s(median_s: float, uniform: float, faster: float = 0.0) -> float:
    """Return a response time, from a number strictly between 0 and 1.

    `faster`: by how much its natural logarithm is less than of a tone at the threshold.
    """
    log_ratio = RESPONSE_TIME_LOG_SD * _STANDARD_NORMAL.inv_cdf(uniform) - faster
    time_s = median_s * math.exp(log_ratio)
    return min(max(time_s, RESPONSE_TIME_S_MIN), RESPONSE_TIME_S_MAX)


def number_of(tone_id: str) -> int:
    """Return the number in which the id of a tone ends, 0 if it ends in none."""
    found = _NUMBER.search(tone_id)
    return int(found[0]) if found else 0


def _between_us(seconds: tuple[float, float], uniform: float) -> int:
    low_s, high_s = seconds
    return round((low_s + uniform * (high_s - low_s)) * 1e6)


def _rates(lapse_rate: float, false_alarm_rate: float) -> tuple[float, float]:
    # Checked; a rate of exactly 1 leaves nothing to the other.
    for name, rate in (("lapse_rate", lapse_rate), ("false_alarm_rate", false_alarm_rate)):
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"{name} is {rate}, allowed are 0 to 1")
    if lapse_rate == 1.0 and false_alarm_rate != 1.0:
        return 1.0, 0.0
    if false_alarm_rate == 1.0 and lapse_rate != 1.0:
        return 0.0, 1.0
    if lapse_rate + false_alarm_rate > 1.0:
        raise ValueError(
            f"lapse_rate {lapse_rate} and false_alarm_rate {false_alarm_rate} add up to "
            f"{lapse_rate + false_alarm_rate:g}, allowed is at most 1"
        )
    return lapse_rate, false_alarm_rate
