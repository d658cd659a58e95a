"""Manual bone conduction audiometry of simulated people, to compare the device with.

A staircase (ASHA 2005) finds the threshold of each ear by a vibrator, without noise. Where it is 10
dB and more better than by air (rule 2 of the British Society of Audiology, Recommended Procedure
2018) the other ear may have heard it. Then that ear is given noise, which is raised by 10 dB at a
time until the threshold is the same over 20 dB of noise: the plateau of J. D. Hood, "The principles
and practice of bone conduction audiometry", Laryngoscope 70 (1960) 1211-1228. The staircase finds
the threshold behind the first noise. Behind a louder one a tone at the last threshold that is heard
confirms it; if it is not, the tone is raised by 5 dB until it is heard.

The same staircase has found the thresholds by air, of each ear alone: as if there was no cross-
hearing, or its masking had no fault. So what is wrong with a result is due to the test by bone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from device.simulator.listener import EARS, Ear, Noise, Tone
from firmware_py.findings.air_bone_gap import TYPE_HZ
from firmware_py.session.masking import GAP_MASKED_DB, most_occlusion_db
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.route import BY_AIR, BY_BONE
from host_tools.research.methods.interface import Task
from host_tools.research.methods.staircase import (
    ASCENDING_BIAS_DB,
    AUDIBLE_DB,
    HEARS_ALL,
    NOT_REACHED,
    SETTLED,
    TONES_MAX,
    UP_DB,
    StaircaseAsha,
    StaircaseThreshold,
)
from host_tools.research.study.bone_people import SCORED_HZ
from host_tools.research.study.session import SessionClock
from host_tools.research.study.sitting import Sitting

ORDER_HZ: Final = (1000, 2000, 4000, 500)
NOISE_ABOVE_DB: Final = 10.0  # the first noise, above the threshold by air of the ear that has it
NOISE_STEP_DB: Final = 10.0
PLATEAU_LEVELS: Final = 3  # of noise, over which a threshold is the same
# Of both ears; a frequency has two staircases, and a plateau fewer tones than a third.
_SESSION_TONES_MAX: Final = len(EARS) * len(SCORED_HZ) * 3 * TONES_MAX


@dataclass(frozen=True)
class ManualThreshold:
    """A threshold by bone in dB HL, as a clinic writes it down."""

    level_db_hl: float
    outcome: str  # of the last staircase
    masking: MaskingMark = MaskingMark.NOT_MASKED  # uncertain: there was no plateau

    @property
    def heard_half_db_hl(self) -> float | None:
        """Return the level that is heard half the time; None: it lies beyond those of the test."""
        return self.level_db_hl - ASCENDING_BIAS_DB if self.outcome == SETTLED else None


@dataclass
class ManualEar:
    """What was found of an ear, by frequency."""

    by_air: dict[int, StaircaseThreshold]
    by_bone: dict[int, ManualThreshold] = field(default_factory=dict)
    tones: int = 0  # by bone, without noise
    tones_masked: int = 0

    def gap_db(self, frequency_hz: int) -> float:
        """Return by how much the ear hears better by bone; where it hears nothing, at most."""
        return self.by_air[frequency_hz].level_db_hl - self.by_bone[frequency_hz].level_db_hl

    @property
    def masked_hz(self) -> list[int]:
        """Return where the other ear may have heard what was found without noise."""
        heard = [f for f in ORDER_HZ if self.by_bone[f].outcome != NOT_REACHED]
        return [f for f in heard if self.gap_db(f) >= GAP_MASKED_DB]

    @property
    def mean_gap_db(self) -> float | None:
        """Return the mean over `TYPE_HZ`; None: a threshold is beyond the limit, or uncertain."""
        for f in TYPE_HZ:
            air, bone = self.by_air[f], self.by_bone[f]
            if NOT_REACHED in (air.outcome, bone.outcome) or bone.masking == MaskingMark.UNCERTAIN:
                return None
        return sum(map(self.gap_db, TYPE_HZ)) / len(TYPE_HZ)


class ManualTest:
    """A test of both ears by bone, which is run as it is made.

    Parameters
    ----------
    sitting : Sitting
        Who sits there; the pace and the highest level of noise are those of its settings.
    name : str
        Of the person.
    seed : int
        Response times go by it and by the name.

    Attributes
    ----------
    ears : dict of str to ManualEar
    placings : int
        How often the vibrator was put on: on each mastoid, and once more where there is noise.
    """

    def __init__(self, sitting: Sitting, name: str, seed: int) -> None:
        self._listener = sitting.listener
        self._noise_most_db_hl = sitting.settings.level_max_db_hl
        self._clock = SessionClock(
            name, seed, _SESSION_TONES_MAX, sitting.settings.conduct, sitting.response_time_s
        )
        self._played = 0
        self.ears = {ear: ManualEar(thresholds_by_air(sitting, ear)) for ear in EARS}
        self.placings = 0
        for ear, found in self.ears.items():
            found.tones = self._measure(ear, ORDER_HZ, self._without_noise)
        masked_hz = {ear: found.masked_hz for ear, found in self.ears.items()}
        for ear, found in self.ears.items():
            found.tones_masked = self._measure(ear, masked_hz[ear], self._behind_noise)

    @property
    def seconds(self) -> float:
        """Return how long the tones took, with the pauses before them."""
        return self._clock.seconds

    def _measure(
        self, ear: Ear, frequencies_hz: Sequence[int], find: Callable[[Ear, int], ManualThreshold]
    ) -> int:
        """Put the vibrator on, if anything is to be found, and return how many tones that took."""
        before = self._played
        self.placings += bool(frequencies_hz)
        for frequency_hz in frequencies_hz:
            self.ears[ear].by_bone[frequency_hz] = find(ear, frequency_hz)
        return self._played - before

    def _without_noise(self, ear: Ear, frequency_hz: int) -> ManualThreshold:
        """Begin 10 dB above the nearest threshold by bone, or, before there is one, that by air."""
        known: Mapping[int, StaircaseThreshold | ManualThreshold] = self.ears[ear].by_bone
        known = known or self.ears[ear].by_air
        nearest_hz = min(known, key=lambda each_hz: abs(math.log2(each_hz / frequency_hz)))
        begins_db_hl = known[nearest_hz].level_db_hl + AUDIBLE_DB
        found = self._staircase(ear, frequency_hz, begins_db_hl)
        return ManualThreshold(found.level_db_hl, found.outcome)

    def _behind_noise(self, ear: Ear, frequency_hz: int) -> ManualThreshold:
        """Return the threshold of a plateau, or the last one before a limit: it is uncertain."""
        last = self.ears[ear].by_bone[frequency_hz]
        same: list[ManualThreshold] = []  # behind one noise after the other
        for noise in self._noises(ear, frequency_hz):
            find = self._raise_until_heard if same else self._staircase
            found = find(ear, frequency_hz, last.level_db_hl, noise)
            if found.outcome == NOT_REACHED:
                break
            last = ManualThreshold(found.level_db_hl, found.outcome)
            same = [*same, last] if last in same else [last]
            if len(same) == PLATEAU_LEVELS:
                return replace(last, masking=MaskingMark.MASKED)
        return replace(last, masking=MaskingMark.UNCERTAIN)

    def _noises(self, ear: Ear, frequency_hz: int) -> Iterator[Noise]:
        """Yield noise in the other ear, louder and louder up to the limit.

        An earphone makes tones by bone louder there, by what the ear's gap does not do already.
        """
        other = EARS[EARS.index(ear) - 1]
        found = self.ears[other]
        occlusion_db = most_occlusion_db(frequency_hz) - max(found.gap_db(frequency_hz), 0.0)
        level_db_hl = found.by_air[frequency_hz].level_db_hl + NOISE_ABOVE_DB
        level_db_hl += max(occlusion_db, 0.0)
        while level_db_hl <= self._noise_most_db_hl:
            yield Noise(other, frequency_hz, level_db_hl)
            level_db_hl += NOISE_STEP_DB

    def _staircase(
        self, ear: Ear, frequency_hz: int, level_db_hl: float, noise: Noise | None = None
    ) -> StaircaseThreshold:
        run = StaircaseAsha.run(level_db_hl, limits_db_hl(frequency_hz))
        while run.finding is None:
            run.answer(self._hears(ear, frequency_hz, run.level_db_hl, noise))
        return run.finding

    def _raise_until_heard(
        self, ear: Ear, frequency_hz: int, level_db_hl: float, noise: Noise
    ) -> StaircaseThreshold:
        least_db_hl, most_db_hl = limits_db_hl(frequency_hz)
        while not self._hears(ear, frequency_hz, level_db_hl, noise):
            level_db_hl += UP_DB
            if level_db_hl > most_db_hl:
                return StaircaseThreshold(most_db_hl, NOT_REACHED)
        outcome = HEARS_ALL if level_db_hl == least_db_hl else SETTLED
        return StaircaseThreshold(level_db_hl, outcome)

    def _hears(self, ear: Ear, frequency_hz: int, level_db_hl: float, noise: Noise | None) -> bool:
        tone_id = str(self._played + 1)
        tone = Tone(tone_id, ear, frequency_hz, level_db_hl, noise, by_bone=True)
        heard = self._listener.answer(tone) is not None
        self._clock.play(self._played, heard)
        self._played += 1
        return heard


def limits_db_hl(frequency_hz: int) -> tuple[float, float]:
    """Return the lowest and the highest level that a vibrator plays."""
    return BY_BONE.levels_db_hl[0], BY_BONE.highest_db_hl(frequency_hz)


def thresholds_by_air(sitting: Sitting, ear: Ear) -> dict[int, StaircaseThreshold]:
    """Return what a staircase finds at `SCORED_HZ` of an ear that no other one helps."""
    alone = replace(sitting, head=replace(sitting.head, interaural_attenuation_db=math.inf))
    listener = alone.listener
    limits = BY_AIR.levels_db_hl[0], sitting.settings.level_max_db_hl
    staircase = StaircaseAsha(
        Task(level_limits_db_hl=limits, audiogram_frequencies_hz=tuple(map(float, SCORED_HZ)))
    )
    number = 0
    while (wanted := staircase.next_stimulus()) is not None:
        number += 1
        tone = Tone(str(number), ear, wanted.frequency_hz, wanted.level_db_hl)
        heard = listener.answer(tone) is not None
        staircase.observe(tone.frequency_hz, tone.level_db_hl, heard)
    return {f: staircase.findings[f] for f in SCORED_HZ}
