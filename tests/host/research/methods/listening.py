"""Simulated listeners for the methods, and how one is measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from host_tools.research.methods.cast import Cast
from host_tools.research.methods.interface import Array, Method, Task
from host_tools.research.methods.population import Population

TASK = Task(
    response_noise_db=3.0,
    lapse_rate=0.02,
    false_alarm_rate=0.05,
    level_limits_db_hl=(-10.0, 90.0),
    frequency_range_hz=(250.0, 6000.0),
    audiogram_frequencies_hz=(500, 1000, 4000),
)
TONES_BOUND = 5000  # no method may go on for so long by itself


@dataclass
class Listener:
    """An ear with a straight-line audiogram, who answers by a probit with lapses and false alarms.

    The defaults hear at and above the threshold, and nothing below it.
    """

    frequencies_hz: Sequence[float]
    thresholds_db_hl: Sequence[float]
    noise_db: float = 0.0
    lapse_rate: float = 0.0
    false_alarm_rate: float = 0.0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def threshold_db_hl(self, frequency_hz: float) -> float:
        octaves = np.log2(np.asarray(self.frequencies_hz, dtype=float))
        return float(np.interp(np.log2(frequency_hz), octaves, self.thresholds_db_hl))

    def hears(self, frequency_hz: float, level_db_hl: float) -> bool:
        above_db = level_db_hl - self.threshold_db_hl(frequency_hz)
        if self.noise_db == 0.0:
            return above_db >= 0.0
        attentive = 1.0 - self.false_alarm_rate - self.lapse_rate
        p = self.false_alarm_rate + attentive * special.ndtr(above_db / self.noise_db)
        return bool(self.random.random() < p)


SLOPING = Listener([250.0, 1000.0, 8000.0], [15.0, 30.0, 70.0])


@dataclass(frozen=True)
class Answered:
    frequency_hz: float
    level_db_hl: float
    heard: bool


class EndlessCast(Cast):
    """CAST that goes on however probable a pattern is."""

    criterion = np.inf


def flat(level_db_hl: float) -> Listener:
    return Listener([1000.0], [level_db_hl])


def measure(method: Method, listener: Listener, tones: int = TONES_BOUND) -> list[Answered]:
    """Play tones until there are so many or the method ends, and return them all."""
    answered: list[Answered] = []
    for _ in range(tones):
        stimulus = method.next_stimulus()
        if stimulus is None:
            return answered
        tone = (stimulus.frequency_hz, stimulus.level_db_hl)
        heard = listener.hears(*tone)
        method.observe(*tone, heard)
        answered.append(Answered(*tone, heard))
    assert tones < TONES_BOUND, f"{type(method).__name__} still goes on after {tones} tones"
    return answered


def population(
    thresholds_db_hl: Array,
    person: Sequence[str] | None = None,
    frequencies_hz: Sequence[float] = (500.0, 1000.0, 2000.0, 4000.0),
) -> Population:
    """Ears of which nothing is known but thresholds; `person`: whose (default: each another's)."""
    n = len(thresholds_db_hl)
    return Population(
        frequencies_hz=np.array(frequencies_hz, dtype=float),
        thresholds_db_hl=thresholds_db_hl,
        censored=np.zeros(thresholds_db_hl.shape, dtype=np.bool_),
        person=tuple(str(i) for i in range(n)) if person is None else tuple(person),
        ear=("R",) * n,
        age_years=np.full(n, np.nan),
        sex=tuple("" for _ in range(n)),
    )
