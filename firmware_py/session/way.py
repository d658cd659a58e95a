"""The skull between two ears, and the way to one of them: which of its tones the other may hear."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from firmware_py.ear.ear import EarTest
from firmware_py.ear.levels import near
from firmware_py.ear.marks import is_at
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY, Estimate
from firmware_py.session.bone_conduction import BoneConduction
from firmware_py.session.masking import Earphones, Threshold, UnmaskableError
from firmware_py.session.placing import EARPHONES, Place
from firmware_py.terms.outcomes import ASKED, MaskingMark, Outcome, Purpose
from firmware_py.terms.person import Person
from firmware_py.terms.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import AUTOMATIC, Settings

MASKED_FOR: Final = (*ASKED, Purpose.CONFIRM)  # what the tones with noise are for


@dataclass(frozen=True)
class Verdict:
    """What is sure of a threshold: its mark, why it is uncertain, and for which air-bone gap."""

    mark: MaskingMark  # `NOT_MASKED` (no noise there, and no doubt), `MASKED` or `UNCERTAIN`
    why: Reason | None = None  # of an uncertain one
    # an air-bone gap of the other ear from here on could have changed it; None: none that there can
    # be, or it is uncertain without any
    air_bone_gap_db: float | None = None


@dataclass(frozen=True)
class Again:
    """What is to be asked of an ear once more."""

    route: Route
    forgotten: tuple[Observation, ...] = ()  # before that: they may be the other ear's
    behind_noise: tuple[Presentation, ...] = ()  # where nothing can be; not wanted before


class Skull:
    """The ears of a session, and what each knows of the other one."""

    def __init__(
        self, settings: Settings, ears: Mapping[Route, EarTest], earphones: Earphones,
        person: Person,
    ) -> None:  # fmt: skip
        self.ears = ears
        self.earphones = earphones
        self.bone = BoneConduction(ears, person)
        self.watched = settings.masking == AUTOMATIC  # tones are given the noise that they need
        self.can_mask = False  # the tone generator has noise
        self.noise_lost: dict[Route, Reason] = {}  # the ears that it does not reach, and why
        self._level_max_db_hl = settings.level_max_db_hl

    def other(self, route: Route, frequency_hz: float) -> Threshold | None:
        """Return what is known of the other ear; None if it is not measured, or not to be trusted.

        Half an ear is not enough: its bands may still be anywhere.
        """
        other = self.ears.get(route.noise)
        if other is None or not other.found or other.outcome == Outcome.UNRELIABLE:
            return None
        found = self.known(route.noise, frequency_hz)
        lowest_db_hl = self.bone.lowest_db_hl(route.noise.ear, route, frequency_hz)
        return replace(found, bone_low_db_hl=lowest_db_hl)

    def known(self, route: Route, frequency_hz: float) -> Threshold:
        """Return what the test of an ear tells of its threshold."""
        found = self.ears[route].estimator
        mean_db_hl, _ = found.threshold([frequency_hz])
        low_db_hl, high_db_hl = found.posterior_band([frequency_hz], BAND_PROBABILITY)
        return Threshold(*(float(each[0]) for each in (mean_db_hl, low_db_hl, high_db_hl)))

    def no_noise(self, route: Route) -> Reason | None:
        """Return why no noise would keep the other ear from hearing a tone; None: one would."""
        if not self.can_mask:
            return reason(Code.NO_NOISE)
        return self.noise_lost.get(route.noise)

    def highest_noise_db_hl(self, noise: Route, frequency_hz: float) -> float:
        """Return the loudest noise that may be played in the ear it is for."""
        reach_db_hl = self.earphones.highest_noise_db_hl(noise, frequency_hz)
        return min(reach_db_hl, self._level_max_db_hl)


class Way:
    """The way to one ear. What differs by the kind of its route is overridden: a class for each."""

    unknown: ClassVar[Threshold]  # what an other ear is taken for that is not measured
    # The operator puts it behind an ear: it is checked as long as it is there.
    is_placed: ClassVar[bool] = False

    def __init__(self, skull: Skull, route: Route) -> None:
        self.skull = skull
        self.route = route
        self.ear = skull.ears[route]
        # Once it was, with noise: whether bone conduction of the other ear was known then.
        self.asked_again: bool | None = None

    def crossing_db_hl(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the level at which a tone reaches the other cochlea at most."""
        raise NotImplementedError

    def noise_db_hl(self, tone: Presentation, other: Threshold) -> float:
        """Return the noise that a tone needs; raise `UnmaskableError` if none is right."""
        raise NotImplementedError

    @property
    def has_noise(self) -> bool:
        """Return whether the ear is, or will be, asked with noise where that is to be placed."""
        return self.asked_again is not None

    def place(self, noise: bool) -> Place:
        """Return where the operator has to put what plays; `noise`: in the other ear.

        Without noise a vibrator leaves the other ear open: under an earphone it hears bone better.
        """
        return Place(self.route.ear, noise) if self.is_placed else EARPHONES

    def let_begin(self) -> None:
        raise NotImplementedError

    def to_ask_again(self) -> Again | None:
        """Return what the other ear may have heard, and is asked again with noise."""
        raise NotImplementedError

    def ask_again(self, again: Again) -> None:
        raise NotImplementedError

    def want_behind_noise(self, again: Again) -> None:
        raise NotImplementedError

    def next_check(self) -> Presentation | None:
        """Return a tone to be asked with more noise in the other ear."""
        raise NotImplementedError

    def begin_check(self) -> None:
        """Take in that this tone is asked."""

    def cover_of_check(self, tone: Presentation) -> Cover:
        raise NotImplementedError

    def take_check(self, tone: Presentation, heard: bool, cover: Cover) -> None:
        raise NotImplementedError

    def verdicts(self) -> dict[int, Verdict]:
        return self.by_noise()

    def explains_both(self, _estimate: Estimate) -> bool:
        """Return whether a threshold would be the same whichever ear heard it."""
        return False

    def gap_db(self, _estimate: Estimate, _other: Threshold, _noise: float | None) -> float | None:
        """Return the air-bone gap of the other ear with which it hears a tone at the threshold."""
        return None

    def other_at_best(self, frequency_hz: float) -> Threshold:
        """Return what is known of the other ear; if it is not measured, how well it may hear."""
        return self.skull.other(self.route, frequency_hz) or self.unknown

    def needed_cover(self, tone: Presentation) -> Cover:
        other = self.skull.other(self.route, tone.frequency_hz)
        if not self.skull.watched or tone.purpose not in MASKED_FOR or other is None:
            return NO_COVER
        if self.crossing_db_hl(tone.frequency_hz, tone.level_db_hl) < other.cochlea_db_hl:
            return NO_COVER
        if why := self.skull.no_noise(self.route):
            return Cover(why=why)
        try:
            return self.cover_with(self.noise_db_hl(tone, other), tone, other)
        except UnmaskableError as error:
            return Cover(why=error.why)

    def cover_with(self, noise_db_hl: float, tone: Presentation, other: Threshold) -> Cover:
        why = reason(
            Code.CROSSES, level_db_hl=tone.level_db_hl, ear=str(self.route.noise),
            crossing_db_hl=self.crossing_db_hl(tone.frequency_hz, tone.level_db_hl),
            cochlea_db_hl=other.cochlea_db_hl,
        )  # fmt: skip
        return Cover(noise_db_hl, why)

    def suspects(self) -> list[Observation]:
        """Return the answers to tones without noise that the other ear may have heard."""
        suspects = []
        for each in self.ear.observations:
            tone, hz = each.presentation, each.presentation.frequency_hz
            if tone.is_asked and each.heard is not False and each.cover.noise_db_hl is None:
                cochlea_db_hl = self.other_at_best(hz).cochlea_db_hl
                if self.crossing_db_hl(hz, tone.level_db_hl) >= cochlea_db_hl:
                    suspects.append(each)
        return suspects

    def crossed_answers(self) -> list[Observation]:
        """Return the answers that the other ear may have given, to tones that can have noise."""
        found = [(each, self.needed_cover(each.presentation)) for each in self.suspects()]
        return [each for each, cover in found if cover.noise_db_hl is not None]

    def crossed_near(self, frequencies_hz: list[int]) -> list[Observation]:
        """Return those that thresholds rest on: a tone far above both ears says little."""
        crossed = self.crossed_answers()
        return [o for o in crossed if near(o.presentation.frequency_hz, frequencies_hz)]

    def uncertain_hz(self) -> list[int]:
        verdicts = self.by_noise()
        return [f for f in verdicts if verdicts[f].mark == MaskingMark.UNCERTAIN]

    def by_noise(self) -> dict[int, Verdict]:
        """Say what is sure of each threshold if no other ear has a gap above `AIR_BONE_GAP_DB`."""
        estimates = self.ear.audiogram.estimates()
        if self.ear.outcome == Outcome.UNRELIABLE or not self.ear.observations:
            return {each.frequency_hz: Verdict(MaskingMark.NOT_MASKED) for each in estimates}
        return {each.frequency_hz: self._verdict(each) for each in estimates}

    def _verdict(self, estimate: Estimate) -> Verdict:
        frequency_hz, audiogram = estimate.frequency_hz, self.ear.audiogram
        if audiogram.is_unmasked(estimate):
            open_for = audiogram.unmasked[frequency_hz].why
            mark = MaskingMark.UNCERTAIN if open_for else MaskingMark.NOT_MASKED
            return Verdict(mark, open_for)
        other = self.other_at_best(frequency_hz)
        level_db_hl = self.ear.levels.within_db_hl(frequency_hz, estimate.mean_db_hl)
        # What is measured by bone has no room for errors of this ear, which what is assumed has.
        measured = other.bone_low_db_hl is not None
        highest_db_hl = max(level_db_hl, estimate.high_db_hl) if measured else level_db_hl
        if self.crossing_db_hl(frequency_hz, highest_db_hl) < other.cochlea_db_hl:
            return Verdict(MaskingMark.NOT_MASKED, None, self.gap_db(estimate, other, None))
        asked = [each for each in self.ear.observations if _near(each, frequency_hz)]
        masked_hz = [o.presentation.frequency_hz for o in asked if o.cover.noise_db_hl is not None]
        if self.explains_both(estimate) and not masked_hz:
            return Verdict(MaskingMark.NOT_MASKED)
        suspects = [each for each in self.suspects() if _near(each, frequency_hz)]
        if suspects:
            return Verdict(MaskingMark.UNCERTAIN, self._why(suspects[-1]))
        if masked_hz:
            tone = Presentation(Purpose.MEASURE, frequency_hz, level_db_hl)
            gap_db = self.gap_db(estimate, other, self.needed_cover(tone).noise_db_hl)
            # What was played there, as it says beside it; elsewhere there was no noise.
            here = any(is_at(frequency_hz, hz) for hz in masked_hz)
            return Verdict(MaskingMark.MASKED if here else MaskingMark.NOT_MASKED, None, gap_db)
        beyond = estimate.side in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE)
        if beyond and not any(each.heard is not False for each in asked):
            return Verdict(MaskingMark.NOT_MASKED)  # neither ear heard anything
        why = Code.NOT_MASKED_NEARBY if self.skull.watched else Code.MASKING_OFF
        return Verdict(MaskingMark.UNCERTAIN, reason(why))

    def _why(self, suspect: Observation) -> Reason | None:
        if suspect.cover.why:
            return suspect.cover.why
        if self.skull.other(self.route, suspect.presentation.frequency_hz) is None:
            return reason(Code.NOT_MEASURED, ear=str(self.route.noise))
        if not self.skull.watched:
            return reason(Code.MASKING_OFF)
        return self.needed_cover(suspect.presentation).why


def _near(observation: Observation, frequency_hz: float) -> bool:
    tone = observation.presentation
    return tone.is_asked and near(tone.frequency_hz, [frequency_hz])
