"""What an ear may have heard for the other: which tones need noise, and what is sure of a result.

The better ear is tested first, when nothing is known of the other one. Its answers are judged when
the other ear has been measured: those that the other may have given are forgotten, and asked again
with noise. README.md of this room has the rule and its reasons.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from firmware_py.procedure import masking
from firmware_py.procedure.asked import is_at
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.levels import near
from firmware_py.procedure.masking import GAP_ALSO_DB, GAP_REST_DB, GAP_SAID_DB
from firmware_py.procedure.outcomes import ASKED, MaskingMark, Outcome, Purpose, Why
from firmware_py.procedure.plateau import CHECK_ABOVE_DB, CHECK_ABOVE_DB_MIN, Check, Plateau
from firmware_py.procedure.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.procedure.reasons import Code, Reason, reason
from firmware_py.procedure.route import Route
from firmware_py.procedure.settings import AUTOMATIC, Settings
from firmware_py.procedure.threshold_estimates import BAND_PROBABILITY, Estimate

MASKED_FOR: Final = (*ASKED, Purpose.CONFIRM)  # what the tones with noise are for


@dataclass(frozen=True)
class Verdict:
    """What is sure of a threshold: its mark, why it is uncertain, and for which air-bone gap."""

    mark: MaskingMark  # `NOT_MASKED` (no noise there, and no doubt), `MASKED` or `UNCERTAIN`
    why: Reason | None = None  # of an uncertain one
    # an air-bone gap of the other ear from here on could have changed it; None: none that there can
    # be, or it is uncertain without any
    air_bone_gap_db: float | None = None


class CrossHearing:
    """Both ears of a session, and what lies between them.

    Parameters
    ----------
    settings : Settings
        Of the session.
    ears : mapping of Route to EarTest
        Those that are tested.
    earphones : Earphones
        What they let through, and what noise they can be given.

    Attributes
    ----------
    can_mask : bool
        Whether the tone generator has noise.
    """

    def __init__(
        self, settings: Settings, ears: Mapping[Route, EarTest], earphones: masking.Earphones
    ) -> None:
        self._settings = settings
        self._ears = ears
        self._earphones = earphones
        self._judged_again: set[Route] = set()
        self._plateaus = {route: Plateau() for route in ears}
        self.can_mask = False

    @property
    def watched(self) -> bool:
        """Return whether tones are given the noise that they need."""
        return self._settings.masking == AUTOMATIC

    @property
    def judged(self) -> bool:
        """Return whether thresholds are judged: not of one ear alone with masking off."""
        return self.watched or len(self._ears) > 1

    def cover(self, route: Route, presentation: Presentation) -> Cover:
        """Return the noise that a tone needs; none while nothing is known of the other ear."""
        if presentation.purpose == Purpose.PLATEAU:
            return self._cover_of_check(route)
        other = self._other(route, presentation.frequency_hz)
        counts = presentation.purpose in MASKED_FOR
        if not self.watched or not counts or other is None:
            return NO_COVER
        crossing_db_hl = self._crossing(presentation.frequency_hz, presentation.level_db_hl)
        if crossing_db_hl < other.cochlea_db_hl:
            return NO_COVER
        if not self.can_mask:
            return Cover(why=reason(Code.NO_NOISE))
        try:
            level_db_hl = self._noise(route, presentation, other)
        except masking.UnmaskableError as error:
            return Cover(why=error.why)
        return Cover(
            level_db_hl,
            reason(
                Code.CROSSES,
                level_db_hl=presentation.level_db_hl,
                ear=str(route.noise),
                crossing_db_hl=crossing_db_hl,
                cochlea_db_hl=other.cochlea_db_hl,
            ),
        )

    def _cover_of_check(self, route: Route) -> Cover:
        check = self._plateaus[route].due
        assert check is not None, "it is under way"
        if not self.can_mask:
            return Cover(why=reason(Code.NO_NOISE))
        return Cover(
            check.noise_db_hl, reason(Code.CHECKED, ear=str(route.noise), gap_db=check.gap_db)
        )

    def ask_again(self, route: Route) -> bool:
        """Forget what the other ear may have heard, if it can be asked again with noise.

        Only where the threshold rests on it: a tone far above both ears says little. Once an ear;
        return whether there is something to ask.
        """
        if not self.watched or not self.can_mask or route in self._judged_again:
            return False
        verdicts = self._by_noise(route)
        uncertain_hz = [f for f in verdicts if verdicts[f].mark == MaskingMark.UNCERTAIN]
        crossed = self.crossed_answers(route)
        forgotten = [o for o in crossed if near(o.presentation.frequency_hz, uncertain_hz)]
        if not forgotten:
            return False
        self._judged_again.add(route)
        self._ears[route].ask_again(forgotten)
        return True

    def crossed_answers(self, route: Route) -> list[Observation]:
        """Return the answers that the other ear may have given, to tones that can have noise."""
        suspects = self._suspects(route)
        return [o for o in suspects if self.cover(route, o.presentation).noise_db_hl is not None]

    def verdicts(self, route: Route) -> dict[int, Verdict]:
        """Say what is sure of each threshold.

        One that the other ear explains with an air-bone gap that people have is uncertain.
        """
        found = self._by_noise(route)
        plateau = self._plateaus[route]
        for frequency_hz, each in found.items():
            if each.air_bone_gap_db is not None:
                found[frequency_hz] = self._with_plateau(route, frequency_hz, each)
        said_db = _said_db(found)
        if said_db and plateau.missed is None:
            # The same words for all: marks share them.
            why = reason(Code.GAP_EXPLAINS, gap_db=min(said_db.values()), ear=str(route.noise))
            found |= {f: Verdict(MaskingMark.UNCERTAIN, why, gap) for f, gap in said_db.items()}
        return found

    def _with_plateau(self, route: Route, frequency_hz: int, verdict: Verdict) -> Verdict:
        """Say what more noise told of a threshold that a gap of the other ear may explain."""
        plateau, other = self._plateaus[route], self._other(route, frequency_hz)
        gap_db = plateau.gap_db(frequency_hz)
        if gap_db is not None and other is not None:
            possible = gap_db < other.gap_possible_db
            return replace(verdict, air_bone_gap_db=round(gap_db, 1) if possible else None)
        missed = plateau.missed
        if missed is None:
            return verdict
        why = reason(
            Code.MOVES_WITH_NOISE,
            level_db_hl=missed.level_db_hl,
            frequency_hz=missed.frequency_hz,
            noise_db_hl=missed.noise_db_hl,
            ear=str(route.noise),
        )
        return Verdict(MaskingMark.UNCERTAIN, why, verdict.air_bone_gap_db)

    def next_check(self) -> tuple[Route, Presentation] | None:
        """Return a tone to be asked with more noise in the other ear, and by which route."""
        if not self.watched or not self.can_mask:
            return None
        for route, plateau in self._plateaus.items():
            if plateau.due is None:
                plateau.due = self._check(route, plateau)
            if plateau.due is not None:
                due = plateau.due
                tone = Presentation(Purpose.PLATEAU, due.frequency_hz, due.level_db_hl)
                return route, replace(tone, why=Why.MORE_NOISE)
        return None

    def take_check(
        self, route: Route, tone: Presentation, heard: bool | None, cover: Cover
    ) -> None:
        """Take the answer to a tone that `next_check` named; None: the listener was unsure."""
        self._ears[route].levels.note_tone(tone)
        self._plateaus[route].take_answer(heard is True, cover.noise_db_hl is not None)

    def _check(self, route: Route, plateau: Plateau) -> Check | None:
        if plateau.over:
            return None
        said_db = _said_db(self.verdicts(route))
        found = {f: self._check_at(route, f) for f in said_db}
        return plateau.choose(said_db, {f: each for f, each in found.items() if each is not None})

    def _check_at(self, route: Route, frequency_hz: int) -> Check | None:
        tested, other = self._ears[route], self._other(route, frequency_hz)
        threshold_db_hl = float(tested.estimator.threshold([frequency_hz])[0][0])
        wanted_db_hl = math.ceil(threshold_db_hl + CHECK_ABOVE_DB)
        tone = tested.levels.tone(Purpose.PLATEAU, frequency_hz, wanted_db_hl)
        if other is None or tone.level_db_hl < threshold_db_hl + CHECK_ABOVE_DB_MIN:
            return None
        attenuation_db = self._earphones.attenuation_db(frequency_hz)
        highest_db_hl = self._highest_noise_db_hl(route, frequency_hz)
        return Check.of(frequency_hz, tone.level_db_hl, attenuation_db, other, highest_db_hl)

    def _by_noise(self, route: Route) -> dict[int, Verdict]:
        """Say what is sure of each threshold if no other ear has a gap above `AIR_BONE_GAP_DB`.

        Of an ear without thresholds there is nothing to say.
        """
        tested = self._ears[route]
        estimates = tested.audiogram.estimates()
        if tested.outcome in (Outcome.HEARS_ALL, Outcome.UNRELIABLE) or not tested.observations:
            return {each.frequency_hz: Verdict(MaskingMark.NOT_MASKED) for each in estimates}
        return {each.frequency_hz: self._verdict(route, each) for each in estimates}

    def _verdict(self, route: Route, estimate: Estimate) -> Verdict:
        frequency_hz = estimate.frequency_hz
        other = self._other(route, frequency_hz) or masking.UNKNOWN
        level_db_hl = min(estimate.mean_db_hl, self._ears[route].levels.limit_db_hl(frequency_hz))
        tone = Presentation(Purpose.MEASURE, frequency_hz, level_db_hl)
        if self._crossing(frequency_hz, level_db_hl) < other.cochlea_db_hl:
            return Verdict(MaskingMark.NOT_MASKED, None, self._gap(estimate, other, None))
        suspects = [each for each in self._suspects(route) if _near(each, frequency_hz)]
        if suspects:
            return Verdict(MaskingMark.UNCERTAIN, self._why(route, suspects[-1]))
        near = [each for each in self._ears[route].observations if _near(each, frequency_hz)]
        masked_hz = [
            each.presentation.frequency_hz for each in near if each.cover.noise_db_hl is not None
        ]
        if masked_hz:
            noise = self.cover(route, tone).noise_db_hl
            # What was played there, as it says beside it; elsewhere there was no noise.
            here = any(is_at(frequency_hz, hz) for hz in masked_hz)
            mark = MaskingMark.MASKED if here else MaskingMark.NOT_MASKED
            return Verdict(mark, None, self._gap(estimate, other, noise))
        beyond = estimate.side in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE)
        if beyond and not any(each.heard is not False for each in near):
            return Verdict(MaskingMark.NOT_MASKED)  # neither ear heard anything
        why = Code.NOT_MASKED_NEARBY if self.watched else Code.MASKING_OFF
        return Verdict(MaskingMark.UNCERTAIN, reason(why))

    def _other(self, route: Route, frequency_hz: float) -> masking.Threshold | None:
        """Return what is known of the other ear; None if it is not measured, or not to be trusted.

        Half an ear is not enough: its bands may still be anywhere.
        """
        other = self._ears.get(route.noise)
        if other is None or not other.found or other.outcome == Outcome.UNRELIABLE:
            return None
        mean_db_hl, _ = other.estimator.threshold([frequency_hz])
        low_db_hl, high_db_hl = other.estimator.threshold_band([frequency_hz], BAND_PROBABILITY)
        return masking.Threshold(float(mean_db_hl[0]), float(low_db_hl[0]), float(high_db_hl[0]))

    def _crossing(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the level at which a tone reaches the other cochlea at most."""
        return level_db_hl - self._earphones.attenuation_db(frequency_hz)

    def _noise(self, route: Route, tone: Presentation, other: masking.Threshold) -> float:
        return masking.noise_db_hl(
            tone.level_db_hl,
            self._earphones.attenuation_db(tone.frequency_hz),
            other,
            self._highest_noise_db_hl(route, tone.frequency_hz),
        )

    def _highest_noise_db_hl(self, route: Route, frequency_hz: float) -> float:
        """Return the limit of the noise for a tone in this ear."""
        reach_db_hl = self._earphones.highest_noise_db_hl(route.noise, frequency_hz)
        return min(reach_db_hl, self._settings.level_max_db_hl)

    def _suspects(self, route: Route) -> list[Observation]:
        """Return the answers to tones without noise that the other ear may have heard."""
        suspects = []
        for each in self._ears[route].observations:
            tone = each.presentation
            if tone.is_asked and each.heard is not False and each.cover.noise_db_hl is None:
                other = self._other(route, tone.frequency_hz) or masking.UNKNOWN
                if self._crossing(tone.frequency_hz, tone.level_db_hl) >= other.cochlea_db_hl:
                    suspects.append(each)
        return suspects

    def _why(self, route: Route, suspect: Observation) -> Reason | None:
        if suspect.cover.why:
            return suspect.cover.why
        other = self._other(route, suspect.presentation.frequency_hz)
        if other is None:
            return reason(Code.NOT_MEASURED, ear=str(route.noise))
        if not self.watched:
            return reason(Code.MASKING_OFF)
        return self.cover(route, suspect.presentation).why

    def _gap(
        self, estimate: Estimate, other: masking.Threshold, noise_db_hl: float | None
    ) -> float | None:
        """Return the air-bone gap of the other ear with which it hears a tone at the threshold."""
        if estimate.mark != Outcome.MEASURED or other is masking.UNKNOWN:
            return None
        hidden_db_hl = other.mean_db_hl if noise_db_hl is None else noise_db_hl
        crossing_db_hl = self._crossing(estimate.frequency_hz, estimate.mean_db_hl)
        gap_db = round(hidden_db_hl - crossing_db_hl, 1)
        return gap_db if gap_db < other.gap_possible_db else None


def _said_db(verdicts: Mapping[int, Verdict]) -> dict[int, float]:
    """Return the gaps that people have among those that would explain thresholds."""
    found = {f: each.air_bone_gap_db for f, each in verdicts.items()}
    gaps_db = {f: gap_db for f, gap_db in found.items() if gap_db is not None}
    most_db = GAP_SAID_DB
    for next_db, least in ((GAP_ALSO_DB, 2.0), (GAP_REST_DB, max(2.0, 0.5 * len(gaps_db)))):
        explained = sum(gap_db <= most_db for gap_db in gaps_db.values())
        most_db = next_db if explained >= least else most_db
    return {f: gap_db for f, gap_db in gaps_db.items() if gap_db <= most_db}


def _near(observation: Observation, frequency_hz: float) -> bool:
    tone = observation.presentation
    return tone.is_asked and near(tone.frequency_hz, [frequency_hz])
