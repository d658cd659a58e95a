"""What an ear may have heard for the other: which tones need noise, and what is sure of a result.

The better ear is tested first, when nothing is known of the other one. Its answers are judged when
the other ear has been measured: those that the other may have given are forgotten, and asked again
with noise. `../PROCEDURE.md` has the rule and its reasons.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from firmware_py.ear.ear import EarTest
from firmware_py.ear.levels import near
from firmware_py.ear.marks import is_at
from firmware_py.ear.threshold_estimates import Estimate
from firmware_py.session import masking
from firmware_py.session.masking import GAP_ALSO_DB, GAP_REST_DB, GAP_SAID_DB
from firmware_py.session.own_bone import OwnBone
from firmware_py.session.plateau import CHECK_ABOVE_DB, CHECK_ABOVE_DB_MIN, Check, Plateau
from firmware_py.terms.outcomes import MaskingMark, Outcome, Purpose, Why
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings


@dataclass(frozen=True)
class Verdict:
    """What is sure of a threshold: its mark, why it is uncertain, and for which air-bone gap."""

    mark: MaskingMark  # `NOT_MASKED` (no noise there, and no doubt), `MASKED` or `UNCERTAIN`
    why: Reason | None = None  # of an uncertain one
    # an air-bone gap of the other ear from here on could have changed it; None: none that there can
    # be, or it is uncertain without any
    air_bone_gap_db: float | None = None


class CrossHearing(OwnBone):
    """Both ears of a session, and what lies between them: what is sure of each."""

    def __init__(
        self,
        settings: Settings,
        ears: Mapping[Route, EarTest],
        earphones: masking.Earphones,
        person: Person = UNKNOWN,
    ) -> None:
        super().__init__(settings, ears, earphones, person)
        self._plateaus = {route: Plateau() for route in ears if not route.by_bone}

    def cover(self, route: Route, presentation: Presentation) -> Cover:
        """Return the noise that a tone needs; none while nothing is known of the other ear."""
        if presentation.purpose == Purpose.PLATEAU:
            return self._cover_of_check(route, presentation)
        # By bone either cochlea may answer at first; what matters is asked again with noise.
        at_first = route.by_bone and route not in self.asked_again
        return NO_COVER if at_first else self.needed_cover(route, presentation)

    def _cover_of_check(self, route: Route, tone: Presentation) -> Cover:
        if not self.can_mask:
            return Cover(why=reason(Code.NO_NOISE))
        if route.by_bone:
            return self.enough_noise(route, tone)
        check = self._plateaus[route].due
        assert check is not None, "it is under way"
        return Cover(
            check.noise_db_hl, reason(Code.CHECKED, ear=str(route.noise), gap_db=check.gap_db)
        )

    def ask_again(self, route: Route) -> bool:
        """Forget what the other ear may have heard, if it can be asked again with noise.

        Only where the threshold rests on it: a tone far above both ears says little. Once an ear;
        return whether there is something to ask.
        """
        if not self._may_ask_again(route):
            return False
        uncertain_hz = self._uncertain_hz(route)
        forgotten = self._crossed_near(route, uncertain_hz)
        if not forgotten:
            if route.by_bone:
                self.want_behind_noise(route, uncertain_hz)
            return False
        if self.bone.placing.wait_for(route, noise=True):
            return True  # nothing is forgotten before the operator's word
        if route.by_bone:
            self.ask_own(route)
            return True
        self.asked_again[route] = self._is_informed(route)
        self.ears[route].ask_again(forgotten)
        return True

    def wants_noise(self, route: Route) -> bool:
        """Return whether an ear that is known would be asked again with noise."""
        may = self._may_ask_again(route)
        return may and bool(self._crossed_near(route, self._uncertain_hz(route)))

    def _is_informed(self, route: Route) -> bool:
        return route.by_bone or self.bone.of(route.noise.ear) is not None

    def _may_ask_again(self, route: Route) -> bool:
        once = self.asked_again.get(route, -1) >= self._is_informed(route)
        return self.watched and self.can_mask and not once

    def _uncertain_hz(self, route: Route) -> list[int]:
        verdicts = self._by_noise(route)
        return [f for f in verdicts if verdicts[f].mark == MaskingMark.UNCERTAIN]

    def _crossed_near(self, route: Route, frequencies_hz: list[int]) -> list[Observation]:
        crossed = self.crossed_answers(route)
        return [o for o in crossed if near(o.presentation.frequency_hz, frequencies_hz)]

    def crossed_answers(self, route: Route) -> list[Observation]:
        """Return the answers that the other ear may have given, to tones that can have noise."""
        suspects = self.suspects(route)
        return [
            o for o in suspects if self.needed_cover(route, o.presentation).noise_db_hl is not None
        ]

    def verdicts(self, route: Route) -> dict[int, Verdict]:
        """Say what is sure of each threshold.

        One that the other ear explains with an air-bone gap that people have is uncertain.
        """
        found = self._by_noise(route)
        if route.by_bone:
            return found
        plateau = self._plateaus[route]
        for frequency_hz, each in found.items():
            if each.air_bone_gap_db is not None:
                found[frequency_hz] = self._with_plateau(route, frequency_hz, each)
        said_db = _said_db(found)
        if self.bone.of(route.noise.ear) is not None:
            said_db |= _said_beside_db(found)
        if said_db and plateau.missed is None:
            # The same words for all: marks share them.
            why = reason(Code.GAP_EXPLAINS, gap_db=min(said_db.values()), ear=str(route.noise))
            found |= {f: Verdict(MaskingMark.UNCERTAIN, why, gap) for f, gap in said_db.items()}
        return found

    def _with_plateau(self, route: Route, frequency_hz: int, verdict: Verdict) -> Verdict:
        """Say what more noise told of a threshold that a gap of the other ear may explain."""
        plateau, other = self._plateaus[route], self.other(route, frequency_hz)
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
        behind = self.next_behind_noise()
        if behind is not None or not self.watched or not self.can_mask or self.bone.under_way:
            return behind
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
        """Take the answer to a tone that one of these two named; None: the listener was unsure."""
        self.ears[route].levels.note_tone(tone)
        if route.by_bone:
            whys = {f: each.why for f, each in self._by_noise(route).items()}
            self.take_behind_noise(route, tone, heard is True, cover, whys)
            return
        self._plateaus[route].take_answer(heard is True, cover.noise_db_hl is not None)

    def _check(self, route: Route, plateau: Plateau) -> Check | None:
        if plateau.over:
            return None
        said_db = _said_db(self.verdicts(route))
        found = {f: self._check_at(route, f) for f in said_db}
        return plateau.choose(said_db, {f: each for f, each in found.items() if each is not None})

    def _check_at(self, route: Route, frequency_hz: int) -> Check | None:
        tested, other = self.ears[route], self.other(route, frequency_hz)
        threshold_db_hl = float(tested.estimator.threshold([frequency_hz])[0][0])
        wanted_db_hl = math.ceil(threshold_db_hl + CHECK_ABOVE_DB)
        tone = tested.levels.tone(Purpose.PLATEAU, frequency_hz, wanted_db_hl)
        if other is None or tone.level_db_hl < threshold_db_hl + CHECK_ABOVE_DB_MIN:
            return None
        attenuation_db = self.earphones.attenuation_db(frequency_hz)
        highest_db_hl = self.highest_noise_db_hl(route, frequency_hz)
        return Check.of(frequency_hz, tone.level_db_hl, attenuation_db, other, highest_db_hl)

    def _by_noise(self, route: Route) -> dict[int, Verdict]:
        """Say what is sure of each threshold if no other ear has a gap above `AIR_BONE_GAP_DB`.

        Of an ear without thresholds there is nothing to say.
        """
        tested = self.ears[route]
        estimates = tested.audiogram.estimates()
        if tested.outcome == Outcome.UNRELIABLE or not tested.observations:
            return {each.frequency_hz: Verdict(MaskingMark.NOT_MASKED) for each in estimates}
        return {each.frequency_hz: self._verdict(route, each) for each in estimates}

    def _verdict(self, route: Route, estimate: Estimate) -> Verdict:
        frequency_hz = estimate.frequency_hz
        audiogram, levels = self.ears[route].audiogram, self.ears[route].levels
        if audiogram.is_unmasked(estimate):
            open_for = audiogram.unmasked[frequency_hz].why
            mark = MaskingMark.UNCERTAIN if open_for else MaskingMark.NOT_MASKED
            return Verdict(mark, open_for)
        other = self.other_at_best(route, frequency_hz)
        level_db_hl = levels.within_db_hl(frequency_hz, estimate.mean_db_hl)
        tone = Presentation(Purpose.MEASURE, frequency_hz, level_db_hl)
        # What is measured by bone has no room for errors of this ear, which what is assumed has.
        measured = other.bone_low_db_hl is not None
        highest_db_hl = max(level_db_hl, estimate.high_db_hl) if measured else level_db_hl
        if self.crossing_db_hl(route, frequency_hz, highest_db_hl) < other.cochlea_db_hl:
            return Verdict(MaskingMark.NOT_MASKED, None, self._gap(route, estimate, other, None))
        masked_hz = self._masked_hz(route, frequency_hz)
        no_gap = route.by_bone and self.bone.gap_db(route, estimate) < masking.GAP_MASKED_DB
        if no_gap and not masked_hz:
            return Verdict(MaskingMark.NOT_MASKED)  # both cochleae would explain the same
        suspects = [each for each in self.suspects(route) if _near(each, frequency_hz)]
        if suspects:
            return Verdict(MaskingMark.UNCERTAIN, self._why(route, suspects[-1]))
        if masked_hz:
            noise = self.needed_cover(route, tone).noise_db_hl
            # What was played there, as it says beside it; elsewhere there was no noise.
            here = any(is_at(frequency_hz, hz) for hz in masked_hz)
            mark = MaskingMark.MASKED if here else MaskingMark.NOT_MASKED
            return Verdict(mark, None, self._gap(route, estimate, other, noise))
        beyond = estimate.side in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE)
        if beyond and not any(each.heard is not False for each in self._near(route, frequency_hz)):
            return Verdict(MaskingMark.NOT_MASKED)  # neither ear heard anything
        why = Code.NOT_MASKED_NEARBY if self.watched else Code.MASKING_OFF
        return Verdict(MaskingMark.UNCERTAIN, reason(why))

    def _near(self, route: Route, frequency_hz: float) -> list[Observation]:
        return [each for each in self.ears[route].observations if _near(each, frequency_hz)]

    def _masked_hz(self, route: Route, frequency_hz: float) -> list[float]:
        """Return the frequencies near this one that were asked with noise."""
        return [
            each.presentation.frequency_hz
            for each in self._near(route, frequency_hz)
            if each.cover.noise_db_hl is not None
        ]

    def _why(self, route: Route, suspect: Observation) -> Reason | None:
        if suspect.cover.why:
            return suspect.cover.why
        other = self.other(route, suspect.presentation.frequency_hz)
        if other is None:
            return reason(Code.NOT_MEASURED, ear=str(route.noise))
        if not self.watched:
            return reason(Code.MASKING_OFF)
        return self.needed_cover(route, suspect.presentation).why

    def _gap(
        self, route: Route, estimate: Estimate, other: masking.Threshold, noise_db_hl: float | None
    ) -> float | None:
        """Return the air-bone gap of the other ear with which it hears a tone at the threshold."""
        if estimate.mark != Outcome.MEASURED or other is masking.UNKNOWN or route.by_bone:
            return None
        hidden_db_hl = other.mean_db_hl if noise_db_hl is None else noise_db_hl
        crossing_db_hl = self.crossing_db_hl(route, estimate.frequency_hz, estimate.mean_db_hl)
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


def _said_beside_db(verdicts: Mapping[int, Verdict]) -> dict[int, float]:
    """Return the gaps that people have beside thresholds that are uncertain, if those are half.

    Where bone is measured there is no gap to be supposed; at 6 and 8 kHz it is not.
    """
    uncertain = sum(each.mark == MaskingMark.UNCERTAIN for each in verdicts.values())
    if 2 * uncertain < len(verdicts):
        return {}
    found = {f: each.air_bone_gap_db for f, each in verdicts.items()}
    return {f: gap for f, gap in found.items() if gap is not None and gap <= GAP_REST_DB}


def _near(observation: Observation, frequency_hz: float) -> bool:
    tone = observation.presentation
    return tone.is_asked and near(tone.frequency_hz, [frequency_hz])
