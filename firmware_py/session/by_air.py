"""By earphones: the head lets a part of a tone through, and of noise as well.

A threshold that a gap of the other ear would explain is checked with more noise (`plateau.py`).
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from firmware_py.ear.threshold_estimates import Estimate
from firmware_py.session import masking
from firmware_py.session.masking import GAP_ALSO_DB, GAP_REST_DB, GAP_SAID_DB, Threshold
from firmware_py.session.plateau import CHECK_ABOVE_DB, Check, Plateau, is_clear
from firmware_py.session.way import Again, Skull, Verdict, Way
from firmware_py.terms.outcomes import MaskingMark, Outcome, Purpose, Why
from firmware_py.terms.presentation import Cover, Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route


class Air(Way):
    """The way to an ear by an earphone."""

    unknown = masking.UNKNOWN

    def __init__(self, skull: Skull, route: Route) -> None:
        super().__init__(skull, route)
        self._plateau = Plateau()

    def attenuation_db(self, frequency_hz: float) -> float:
        """Return what the head takes of a tone, and of noise, on the way to the other ear."""
        return self.skull.earphones.attenuation_db(frequency_hz)

    def crossing_db_hl(self, frequency_hz: float, level_db_hl: float) -> float:
        return level_db_hl - self.attenuation_db(frequency_hz)

    def noise_db_hl(self, tone: Presentation, other: Threshold) -> float:
        f = tone.frequency_hz
        attenuation_db = self.attenuation_db(f)
        highest_db_hl = self.skull.highest_noise_db_hl(self.route.noise, f)
        gap_db = self._own_gap_db(f)
        return masking.noise_db_hl(tone.level_db_hl, attenuation_db, other, highest_db_hl, gap_db)

    def _own_gap_db(self, frequency_hz: float) -> float:
        """Return the air-bone gap of the ear that is reckoned with when noise crosses to it.

        As bone conduction was told, of whichever cochlea that is. The attenuation of the head has
        room for its error.
        """
        bone = self.skull.bone.of(self.route.ear)
        told = [] if bone is None else bone.audiogram.told_estimates()
        levels_db_hl = [each.mean_db_hl for each in told if each.frequency_hz == frequency_hz]
        if not levels_db_hl:
            return masking.AIR_BONE_GAP_DB
        mean_db_hl, _ = self.ear.estimator.threshold([frequency_hz])
        return min(max(float(mean_db_hl[0]) - levels_db_hl[0], 0.0), masking.GAP_MAX_DB)

    def let_begin(self) -> None:
        """Let the ear begin with what the other one told of the listener."""
        other = self.skull.ears.get(self.route.noise)
        if other is None or not (other.found and other.observations) or self.ear.begun:
            return
        if other.outcome != Outcome.UNRELIABLE:
            self.ear.expect_listener(other, self.crossed_answers())

    def to_ask_again(self) -> Again | None:
        """Return what the other ear may have heard: once, and once more when its bone is known."""
        if self.asked_again is not None and self.asked_again >= self._is_informed:
            return None
        forgotten = self.crossed_near(self.uncertain_hz())
        return Again(self.route, tuple(forgotten)) if forgotten else None

    def ask_again(self, again: Again) -> None:
        self.asked_again = self._is_informed
        self.ear.ask_again([*again.forgotten])

    @property
    def _is_informed(self) -> bool:
        return self.skull.bone.of(self.route.noise.ear) is not None

    def verdicts(self) -> dict[int, Verdict]:
        """Say what is sure; what a gap of the other ear that people have explains is uncertain."""
        found = self.by_noise()
        for frequency_hz, each in found.items():
            if each.air_bone_gap_db is not None:
                found[frequency_hz] = self._with_plateau(frequency_hz, each)
        said_db = _said_db(found)
        if self._is_informed:
            said_db |= _said_beside_db(found)
        if said_db and self._plateau.missed is None:
            # The same words for all: marks share them.
            ear = str(self.route.noise)
            why = reason(Code.GAP_EXPLAINS, gap_db=min(said_db.values()), ear=ear)
            found |= {f: Verdict(MaskingMark.UNCERTAIN, why, gap) for f, gap in said_db.items()}
        return found

    def _with_plateau(self, frequency_hz: int, verdict: Verdict) -> Verdict:
        """Say what more noise told of a threshold that a gap of the other ear may explain."""
        missed, other = self._plateau.missed, self.skull.other(self.route, frequency_hz)
        gap_db = self._plateau.gap_db(frequency_hz)
        if gap_db is not None and other is not None:
            possible = gap_db < other.gap_possible_db
            return replace(verdict, air_bone_gap_db=round(gap_db, 1) if possible else None)
        if missed is None:
            return verdict
        why = reason(
            Code.MOVES_WITH_NOISE, level_db_hl=missed.level_db_hl, frequency_hz=missed.frequency_hz,
            noise_db_hl=missed.noise_db_hl, ear=str(self.route.noise),
        )  # fmt: skip
        return Verdict(MaskingMark.UNCERTAIN, why, verdict.air_bone_gap_db)

    def gap_db(self, estimate: Estimate, other: Threshold, noise: float | None) -> float | None:
        if estimate.mark != Outcome.MEASURED or other is self.unknown:
            return None
        hidden_db_hl = other.mean_db_hl if noise is None else noise
        crossing_db_hl = self.crossing_db_hl(estimate.frequency_hz, estimate.mean_db_hl)
        gap_db = round(hidden_db_hl - crossing_db_hl, 1)
        return gap_db if gap_db < other.gap_possible_db else None

    def next_check(self) -> Presentation | None:
        check, why = self._check(), Why.MORE_NOISE
        if check is None:
            return None
        return Presentation(Purpose.PLATEAU, check.frequency_hz, check.level_db_hl, why=why)

    def begin_check(self) -> None:
        self._plateau.due = self._check()

    def cover_of_check(self, _tone: Presentation) -> Cover:
        check = self._plateau.due
        assert check is not None, "it is under way"
        why = reason(Code.CHECKED, ear=str(self.route.noise), gap_db=check.gap_db)
        return Cover(check.noise_db_hl, why)

    def take_check(self, _tone: Presentation, heard: bool, cover: Cover) -> None:
        self._plateau.take_answer(heard, cover.noise_db_hl is not None)

    def _check(self) -> Check | None:
        """Return the check that is under way, or else the one that tells most."""
        if self._plateau.due is not None or self._plateau.over:
            return self._plateau.due
        said_db = _said_db(self.verdicts())
        found = {f: self._check_at(f) for f in said_db}
        return self._plateau.choose(said_db, {f: each for f, each in found.items() if each})

    def _check_at(self, frequency_hz: int) -> Check | None:
        other = self.skull.other(self.route, frequency_hz)
        threshold_db_hl = float(self.ear.estimator.threshold([frequency_hz])[0][0])
        wanted_db_hl = math.ceil(threshold_db_hl + CHECK_ABOVE_DB)
        tone = self.ear.levels.tone(Purpose.PLATEAU, frequency_hz, wanted_db_hl)
        if other is None or not is_clear(tone.level_db_hl, threshold_db_hl):
            return None
        attenuation_db = self.attenuation_db(frequency_hz)
        highest_db_hl = self.skull.highest_noise_db_hl(self.route.noise, frequency_hz)
        return Check.of(frequency_hz, tone.level_db_hl, attenuation_db, other, highest_db_hl)


def _said_db(verdicts: Mapping[int, Verdict]) -> dict[int, float]:
    """Return the gaps that people have among those that would explain thresholds."""
    gaps_db = _gaps_db(verdicts)
    most_db = GAP_SAID_DB
    for next_db, least in ((GAP_ALSO_DB, 2.0), (GAP_REST_DB, max(2.0, 0.5 * len(gaps_db)))):
        explained = sum(gap_db <= most_db for gap_db in gaps_db.values())
        most_db = next_db if explained >= least else most_db
    return {f: gap_db for f, gap_db in gaps_db.items() if gap_db <= most_db}


def _said_beside_db(verdicts: Mapping[int, Verdict]) -> dict[int, float]:
    """Return the gaps that people have beside thresholds that are uncertain, if those are half.

    Where bone is measured there is no gap to be supposed; at 6 and 8 kHz it is not.
    """
    uncertain = sum(each.mark == MaskingMark.UNCERTAIN for each in verdicts.values())
    if 2 * uncertain < len(verdicts):
        return {}
    return {f: gap_db for f, gap_db in _gaps_db(verdicts).items() if gap_db <= GAP_REST_DB}


def _gaps_db(verdicts: Mapping[int, Verdict]) -> dict[int, float]:
    found = {f: each.air_bone_gap_db for f, each in verdicts.items()}
    return {f: gap_db for f, gap_db in found.items() if gap_db is not None}
