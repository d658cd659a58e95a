"""Which tones reach the other cochlea, and what noise they need there."""

import math
from collections.abc import Mapping
from typing import Final

from firmware_py.ear.ear import EarTest
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.session import masking
from firmware_py.session.bone_conduction import BoneConduction
from firmware_py.terms.outcomes import ASKED, Outcome, Purpose
from firmware_py.terms.person import Person
from firmware_py.terms.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import AUTOMATIC, Settings

MASKED_FOR: Final = (*ASKED, Purpose.CONFIRM)  # what the tones with noise are for


class Crossing:
    """The ears of a session, and what of their tones reaches the other one.

    Parameters
    ----------
    settings : Settings
        Of the session.
    ears : mapping of Route to EarTest
        Those that are tested.
    earphones : Earphones
        What they let through, and what noise they can be given.
    person : Person
        Who is tested.

    Attributes
    ----------
    can_mask : bool
        Whether the tone generator has noise.
    bone : BoneConduction
        What is known of it, where it is tested.
    """

    def __init__(
        self,
        settings: Settings,
        ears: Mapping[Route, EarTest],
        earphones: masking.Earphones,
        person: Person,
    ) -> None:
        self.settings = settings
        self.ears = ears
        self.earphones = earphones
        self.bone = BoneConduction(ears, person)
        self.can_mask = False

    @property
    def watched(self) -> bool:
        """Return whether tones are given the noise that they need."""
        return self.settings.masking == AUTOMATIC

    @property
    def judged(self) -> bool:
        """Return whether thresholds are judged: not of one ear alone with masking off."""
        return self.watched or len({route.ear for route in self.ears}) > 1

    def needed_cover(self, route: Route, presentation: Presentation) -> Cover:
        """Return the noise that a tone needs."""
        other = self.other(route, presentation.frequency_hz)
        counts = presentation.purpose in MASKED_FOR
        if not self.watched or not counts or other is None:
            return NO_COVER
        frequency_hz, level_db_hl = presentation.frequency_hz, presentation.level_db_hl
        crossing_db_hl = self.crossing_db_hl(route, frequency_hz, level_db_hl)
        if crossing_db_hl < other.cochlea_db_hl:
            return NO_COVER
        if not self.can_mask:
            return Cover(why=reason(Code.NO_NOISE))
        try:
            noise_db_hl = self._noise(route, presentation, other)
        except masking.UnmaskableError as error:
            return Cover(why=error.why)
        return self._cover(route, presentation, noise_db_hl, other)

    def enough_noise(self, route: Route, tone: Presentation) -> Cover:
        """Return the least noise that keeps the other ear from a tone by bone, whatever it hides.

        None if it is not known, or above the limit of the noise.
        """
        frequency_hz, level_db_hl = tone.frequency_hz, tone.level_db_hl
        other = self.other(route, frequency_hz)
        if other is None:
            return NO_COVER
        occlusion_db = self.earphones.occlusion_db(frequency_hz)
        least = math.ceil(masking.least_bone_noise_db_hl(level_db_hl, occlusion_db, other))
        if least > self.highest_noise_db_hl(route, frequency_hz):
            return Cover(why=reason(Code.NOISE_LIMIT))
        return self._cover(route, tone, float(least), other)

    def _cover(
        self, route: Route, tone: Presentation, noise_db_hl: float, other: masking.Threshold
    ) -> Cover:
        crossing_db_hl = self.crossing_db_hl(route, tone.frequency_hz, tone.level_db_hl)
        return Cover(
            noise_db_hl,
            reason(
                Code.CROSSES,
                level_db_hl=tone.level_db_hl,
                ear=str(route.noise),
                crossing_db_hl=crossing_db_hl,
                cochlea_db_hl=other.cochlea_db_hl,
            ),
        )

    def can_be_sure(self, route: Route, tone: Presentation) -> bool:
        """Return whether a tone needs no noise, or can have it."""
        cover = self.needed_cover(route, tone)
        return cover == NO_COVER or cover.noise_db_hl is not None

    def other(self, route: Route, frequency_hz: float) -> masking.Threshold | None:
        """Return what is known of the other ear; None if it is not measured, or not to be trusted.

        Half an ear is not enough: its bands may still be anywhere.
        """
        other = self.ears.get(route.noise)
        if other is None or not other.found or other.outcome == Outcome.UNRELIABLE:
            return None
        mean_db_hl, _ = other.estimator.threshold([frequency_hz])
        low_db_hl, high_db_hl = other.estimator.threshold_band([frequency_hz], BAND_PROBABILITY)
        bone_db_hl = self.bone.lowest_db_hl(route.noise.ear, route, frequency_hz)
        return masking.Threshold(
            float(mean_db_hl[0]), float(low_db_hl[0]), float(high_db_hl[0]), bone_db_hl
        )

    def other_at_best(self, route: Route, frequency_hz: float) -> masking.Threshold:
        """Return what is known of the other ear; if it is not measured, how well it may hear."""
        unknown = masking.UNKNOWN_BY_BONE if route.by_bone else masking.UNKNOWN
        return self.other(route, frequency_hz) or unknown

    def crossing_db_hl(self, route: Route, frequency_hz: float, level_db_hl: float) -> float:
        """Return the level at which a tone reaches the other cochlea at most."""
        if route.by_bone:
            return level_db_hl - masking.SKULL_DB
        return level_db_hl - self.earphones.attenuation_db(frequency_hz)

    def _noise(self, route: Route, tone: Presentation, other: masking.Threshold) -> float:
        frequency_hz = tone.frequency_hz
        attenuation_db = self.earphones.attenuation_db(frequency_hz)
        highest_db_hl = self.highest_noise_db_hl(route, frequency_hz)
        if route.by_bone:
            occlusion_db = self.earphones.occlusion_db(frequency_hz)
            return masking.bone_noise_db_hl(
                tone.level_db_hl, attenuation_db, occlusion_db, other, highest_db_hl
            )
        return masking.noise_db_hl(
            tone.level_db_hl,
            attenuation_db,
            other,
            highest_db_hl,
            self._own_gap_db(route, frequency_hz),
        )

    def _own_gap_db(self, route: Route, frequency_hz: float) -> float:
        """Return the air-bone gap of an ear that is reckoned with when noise crosses to it.

        As bone conduction was told, of whichever cochlea that is. The attenuation of the head has
        room for its error.
        """
        bone = self.bone.of(route.ear)
        told = [] if bone is None else bone.audiogram.told_estimates()
        levels_db_hl = [each.mean_db_hl for each in told if each.frequency_hz == frequency_hz]
        if not levels_db_hl:
            return masking.AIR_BONE_GAP_DB
        mean_db_hl, _ = self.ears[route].estimator.threshold([frequency_hz])
        return min(max(float(mean_db_hl[0]) - levels_db_hl[0], 0.0), masking.GAP_MAX_DB)

    def highest_noise_db_hl(self, route: Route, frequency_hz: float) -> float:
        """Return the limit of the noise for a tone in this ear."""
        reach_db_hl = self.earphones.highest_noise_db_hl(route.noise, frequency_hz)
        return min(reach_db_hl, self.settings.level_max_db_hl)

    def suspects(self, route: Route) -> list[Observation]:
        """Return the answers to tones without noise that the other ear may have heard."""
        suspects = []
        for each in self.ears[route].observations:
            tone = each.presentation
            if tone.is_asked and each.heard is not False and each.cover.noise_db_hl is None:
                other = self.other_at_best(route, tone.frequency_hz)
                crossing_db_hl = self.crossing_db_hl(route, tone.frequency_hz, tone.level_db_hl)
                if crossing_db_hl >= other.cochlea_db_hl:
                    suspects.append(each)
        return suspects
