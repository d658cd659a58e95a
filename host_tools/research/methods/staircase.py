"""The clinic's staircases, up 5 and down 10 dB: ASHA 2005 and ISO 8253-1.

R. Carhart and J. F. Jerger, "Preferred method for clinical determination of pure-tone thresholds",
J. Speech Hear. Disord. 24 (1959) 330-345; American Speech-Language-Hearing Association, "Guidelines
for manual pure-tone threshold audiometry" (2005); ISO 8253-1:2010, 6.2, ascending method.

What all of them report is the lowest level of a 5 dB grid that is heard reliably, and not the level
that is heard half the time. A sharp threshold lies anywhere in the 5 dB below that level, so on
average 2.5 dB below it (`ASCENDING_BIAS_DB`); simulated listeners with a response noise of 1.5 to 5
dB give 2.2 to 3.0 dB.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from host_tools.research.methods.interface import Array, Stimulus, Task, interpolate
from host_tools.research.methods.per_frequency import FIRST_FREQUENCY_HZ, frequencies_to_measure

UP_DB: Final = 5.0
DOWN_DB: Final = 10.0
ASCENDING_BIAS_DB: Final = UP_DB / 2.0
AUDIBLE_DB: Final = 10.0  # first tone of the next frequency above the threshold of the nearest one
SILENT_AT_LIMIT: Final = 2  # unheard so often in a row at the highest level: not reached
INTER_OCTAVE_DB: Final = 20.0  # octaves that differ so much call for the frequency between them

FAMILIAR_UP_DB: Final = 10.0
ASHA_FAMILIAR_DB_HL: Final = (30.0, 50.0)  # first tone; second if that was not heard
ISO_FAMILIAR_DB_HL: Final = 40.0
ISO_FAMILIAR_DOWN_DB: Final = 20.0

ASHA_HEARD: Final = 2  # ascending presentations heard at a level, and half of them there
ISO_EQUAL: Final = 3  # ascents that end at one level
ISO_ASCENTS: Final = 5  # of at most so many
ISO_RESTART_DB: Final = 10.0
# At one frequency. A listener with a response noise of 2 dB needs some 9 (ASHA) or 14 (ISO); by
# ISO's criterion, which counts anew and anew, one of 5 dB gets here less than once in 100.
TONES_MAX: Final = 120

# What became of a frequency.
SETTLED: Final = "settled"
HEARS_ALL: Final = "hears-all"  # the criterion is met at the lowest level there is
NOT_REACHED: Final = "not-reached"  # unheard at the highest level there is
UNSETTLED: Final = "unsettled"  # no criterion met within TONES_MAX tones

# The frequency between two octaves.
INTER_OCTAVES_HZ: Final = {
    750.0: (500.0, 1000.0),
    1500.0: (1000.0, 2000.0),
    3000.0: (2000.0, 4000.0),
    6000.0: (4000.0, 8000.0),
}


@dataclass(frozen=True)
class StaircaseThreshold:
    """What was found at one frequency: a level in dB HL, and what it is worth.

    At "not-reached" the level is the highest that was tried, at "hears-all" the lowest there is,
    and at "unsettled" the last estimate.
    """

    level_db_hl: float
    outcome: str


class _Stage:
    """Tones at one frequency, whose level stays within limits."""

    def __init__(self, level_db_hl: float, limits_db_hl: tuple[float, float]) -> None:
        self._low, self._high = limits_db_hl
        self.level_db_hl = self._clip(level_db_hl)
        self.rising = False
        self._silent_at_limit = 0

    @property
    def not_reached(self) -> bool:
        """Return whether the highest level was not heard, twice in a row."""
        return self._silent_at_limit >= SILENT_AT_LIMIT

    @property
    def at_floor(self) -> bool:
        return self.level_db_hl <= self._low

    def note(self, heard: bool) -> None:
        silent = not heard and self.level_db_hl >= self._high
        self._silent_at_limit = self._silent_at_limit + 1 if silent else 0

    def move(self, step_db: float) -> None:
        self.level_db_hl = self._clip(self.level_db_hl + step_db)

    def _clip(self, level_db_hl: float) -> float:
        return min(max(level_db_hl, self._low), self._high)


class _Familiarisation(_Stage, ABC):
    """The first tones at 1 kHz, which show the task, and where to start: 10 dB below the last."""

    over = False

    def answer(self, heard: bool) -> None:
        """Take an answer; once it is over, the level is where to start."""
        self.note(heard)
        step_db = self._step_db(heard)
        self.over = step_db is None
        self.move(-DOWN_DB if step_db is None else step_db)
        self.rising = self.rising or not heard

    @abstractmethod
    def _step_db(self, heard: bool) -> float | None:
        """Return how far to go after an answer; None: it is over."""


class _FamiliarisationAsha(_Familiarisation):
    """30 dB HL; not heard: 50 and then 10 dB more each time, until heard."""

    def _step_db(self, heard: bool) -> float | None:
        up_db = max(FAMILIAR_UP_DB, ASHA_FAMILIAR_DB_HL[1] - self.level_db_hl)
        return None if heard else up_db


class _FamiliarisationIso(_Familiarisation):
    """40 dB HL, 20 dB down until not heard (or there is no lower level), 10 dB up until heard."""

    def _step_db(self, heard: bool) -> float | None:
        if heard and (self.rising or self.at_floor):
            return None
        return -ISO_FAMILIAR_DOWN_DB if heard else FAMILIAR_UP_DB


class _Run(_Stage, ABC):
    """Up 5 and down 10 dB at one frequency until a criterion is met.

    A presentation is ascending if the one before it was not heard, or if there is no level below
    it from which to ascend.
    """

    def __init__(self, level_db_hl: float, limits_db_hl: tuple[float, float]) -> None:
        super().__init__(level_db_hl, limits_db_hl)
        self.tones = 0
        self.ascending_db_hl: list[float] = []  # presentations that count
        self.ascents_db_hl: list[float] = []  # those of them that were heard, which ends an ascent
        self.finding: StaircaseThreshold | None = None

    @property
    def estimate_db_hl(self) -> float:
        """Return the (lower) median of the ascents, before the first one the level to come."""
        if not self.ascents_db_hl:
            return self.level_db_hl
        return sorted(self.ascents_db_hl)[(len(self.ascents_db_hl) - 1) // 2]

    def answer(self, heard: bool) -> None:
        """Take an answer; `finding` is there once the criterion is met or cannot be."""
        level_db_hl, ascending = self.level_db_hl, self.rising or self.at_floor
        self.tones += 1
        self.note(heard)
        if ascending:
            self.ascending_db_hl.append(level_db_hl)
            if heard:
                self.ascents_db_hl.append(level_db_hl)
        if ascending and heard and self._is_last_ascent(level_db_hl):
            outcome = HEARS_ALL if self.at_floor else SETTLED
            self.finding = StaircaseThreshold(level_db_hl, outcome)
        elif self.not_reached:
            self.finding = StaircaseThreshold(level_db_hl, NOT_REACHED)
        elif self.tones == TONES_MAX:
            self.finding = StaircaseThreshold(self.estimate_db_hl, UNSETTLED)
        self.move(self._step_db(heard, ascending))
        self.rising = not heard

    @abstractmethod
    def _is_last_ascent(self, level_db_hl: float) -> bool:
        """Return whether the ascent that just ended at this level is the last one needed."""

    def _step_db(self, heard: bool, ascending: bool) -> float:
        return -DOWN_DB if heard else UP_DB


class _RunAsha(_Run):
    """Until a level was heard in at least two, and half, of its ascending presentations."""

    def _is_last_ascent(self, level_db_hl: float) -> bool:
        heard = self.ascents_db_hl.count(level_db_hl)
        return heard >= ASHA_HEARD and 2 * heard >= self.ascending_db_hl.count(level_db_hl)


class _RunIso(_Run):
    """Until three of at most five ascents end at one level; else 10 dB up, and count anew."""

    def _is_last_ascent(self, level_db_hl: float) -> bool:
        return self.ascents_db_hl.count(level_db_hl) >= ISO_EQUAL

    def _step_db(self, heard: bool, ascending: bool) -> float:
        if heard and ascending and len(self.ascents_db_hl) == ISO_ASCENTS:
            self.ascents_db_hl.clear()
            return ISO_RESTART_DB
        return super()._step_db(heard, ascending)


class Staircase:
    """The course of an audiogram by staircases: which frequency, from which level, and the end.

    1 kHz after a familiarisation there, the frequencies above it upwards, 1 kHz again, those below
    it downwards, and last what lies between two octaves whose thresholds differ by 20 dB or more.
    Each frequency but the first begins 10 dB above the threshold of the nearest one that is known.

    Noise and rates of the task are not used; a `ValueError`: it has no 1000 Hz. `subtract_bias`
    takes off the 2.5 dB by which an ascending staircase lies above the 50 % point. `findings` has
    every frequency that is done; `retest_difference_db` is the second result at 1 kHz minus the
    first one, and what to do about 10 dB and more (ISO 8253-1 has further frequencies repeated) is
    left to the reader.
    """

    familiarisation: type[_Familiarisation]
    run: type[_Run]
    first_level_db_hl: float

    def __init__(self, task: Task, *, subtract_bias: bool = False) -> None:
        self._task = task
        self._bias_db = ASCENDING_BIAS_DB if subtract_bias else 0.0
        order = frequencies_to_measure(task)
        if order[0] != FIRST_FREQUENCY_HZ:
            raise ValueError(
                f"audiogram_frequencies_hz is {sorted(order)}; allowed is what has 1000 Hz in it, "
                "where a staircase begins"
            )
        above = [f for f in order if f > FIRST_FREQUENCY_HZ]
        below = [f for f in order if f < FIRST_FREQUENCY_HZ]
        self._plan = [FIRST_FREQUENCY_HZ, *above, FIRST_FREQUENCY_HZ, *below]
        self._inter_octaves_planned = False
        self.findings: dict[float, StaircaseThreshold] = {}
        self.retest_difference_db: float | None = None
        limits = task.level_limits_db_hl
        self._familiar = self.familiarisation(self.first_level_db_hl, limits)
        self._run = self.run(self.first_level_db_hl, limits)

    def next_stimulus(self) -> Stimulus | None:
        """Return the tone to play next, as in `Method`; None once all frequencies are measured."""
        if not self._plan:
            return None
        return Stimulus(self._plan[0], self._stage().level_db_hl)

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Take the answer to the tone that was to be played: a staircase goes its own way only."""
        *tone, heard = self._task.check(frequency_hz, level_db_hl, heard)
        wanted = self.next_stimulus()
        if wanted is None:
            raise ValueError(f"the tone is {_words(*tone)}; allowed is none, the staircase is over")
        if tone != [wanted.frequency_hz, wanted.level_db_hl]:
            raise ValueError(
                f"the tone is {_words(*tone)}; allowed is the one asked for, "
                f"{_words(wanted.frequency_hz, wanted.level_db_hl)}"
            )
        stage = self._stage()
        stage.answer(heard)
        if isinstance(stage, _Run):
            if stage.finding is not None:
                self._note_finding(stage.finding)
        elif stage.not_reached:
            self._note_finding(StaircaseThreshold(wanted.level_db_hl, NOT_REACHED))
        elif stage.over:
            self._run = self.run(stage.level_db_hl, self._task.level_limits_db_hl)

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        """Return what is known so far, as in `Method`; a staircase has no SD, so that is NaN.

        A frequency that is done has its level (of the two at 1 kHz the lower, as the British
        Society of Audiology takes it). One under way has the median of the levels at which its
        ascents ended, before the first of these the level of the tone to come. All other
        frequencies are interpolated linearly in log2 frequency, and constant outside. Before
        anything is known it is the level of the first tone everywhere. A threshold that was not
        reached stands at the highest level, below which it does not lie.

        With `subtract_bias` what rests on ascents is 2.5 dB lower, limits and guesses are not.
        """
        wanted_hz = self._task.checked_frequencies(frequencies_hz)
        known = self._levels_found()
        values = interpolate(sorted(known), [known[f] for f in sorted(known)], wanted_hz)
        return values, np.full_like(values, math.nan)

    def _stage(self) -> _Familiarisation | _Run:
        return self._run if self._familiar.over else self._familiar

    def _levels_found(self) -> dict[float, float]:
        known = {
            frequency_hz: found.level_db_hl
            - (self._bias_db if found.outcome in (SETTLED, UNSETTLED) else 0.0)
            for frequency_hz, found in self.findings.items()
        }
        running = self._plan[0] if self._plan else FIRST_FREQUENCY_HZ
        if running not in known and (self._run.tones or not known):
            bias_db = self._bias_db if self._run.ascents_db_hl else 0.0
            level_db_hl = self._stage().level_db_hl
            if self._familiar.over:
                level_db_hl = self._run.estimate_db_hl
            known[running] = level_db_hl - bias_db
        return known

    def _note_finding(self, finding: StaircaseThreshold) -> None:
        """Note what was found at the frequency under way and begin with the next."""
        frequency_hz = self._plan.pop(0)
        first = self.findings.get(frequency_hz)
        if first is not None:
            self.retest_difference_db = finding.level_db_hl - first.level_db_hl
            finding = min(first, finding, key=lambda found: found.level_db_hl)
        self.findings[frequency_hz] = finding
        self._familiar.over = True
        if not self._plan and not self._inter_octaves_planned:
            self._inter_octaves_planned = True
            self._plan = [f for f in INTER_OCTAVES_HZ if self._needs(f)]
        if self._plan:
            level_db_hl = self._nearest_db_hl(self._plan[0]) + AUDIBLE_DB
            self._run = self.run(level_db_hl, self._task.level_limits_db_hl)

    def _needs(self, frequency_hz: float) -> bool:
        """Return whether an inter-octave frequency is to be measured."""
        low_hz, high_hz = self._task.frequency_range_hz
        if frequency_hz in self.findings or not low_hz <= frequency_hz <= high_hz:
            return False
        octaves = [self.findings.get(f) for f in INTER_OCTAVES_HZ[frequency_hz]]
        levels = [found.level_db_hl for found in octaves if found is not None]
        return len(levels) == 2 and abs(levels[1] - levels[0]) >= INTER_OCTAVE_DB

    def _nearest_db_hl(self, frequency_hz: float) -> float:
        nearest = min(self.findings, key=lambda f: abs(math.log2(f / frequency_hz)))
        return self.findings[nearest].level_db_hl


class StaircaseAsha(Staircase):
    """The staircase of ASHA 2005, after Carhart & Jerger 1959."""

    familiarisation = _FamiliarisationAsha
    run = _RunAsha
    first_level_db_hl = ASHA_FAMILIAR_DB_HL[0]


class StaircaseIso(Staircase):
    """The ascending method of ISO 8253-1."""

    familiarisation = _FamiliarisationIso
    run = _RunIso
    first_level_db_hl = ISO_FAMILIAR_DB_HL


def _words(frequency_hz: float, level_db_hl: float) -> str:
    return f"{frequency_hz:g} Hz at {level_db_hl:g} dB HL"
