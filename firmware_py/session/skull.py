"""The skull between two ears: what the other one may hear, and what noise it may be given."""

from collections.abc import Mapping

from firmware_py.ear.ear import EarTest
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.session.bone_conduction import BoneConduction
from firmware_py.session.masking import Earphones, Threshold
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.route import Route
from firmware_py.terms.settings import AUTOMATIC, Settings


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
        self._level_max_db_hl = settings.level_max_db_hl

    def other(self, route: Route, frequency_hz: float) -> Threshold | None:
        """Return what is known of the other ear; None if it is not measured, or not to be trusted.

        Half an ear is not enough: its bands may still be anywhere.
        """
        other = self.ears.get(route.noise)
        if other is None or not other.found or other.outcome == Outcome.UNRELIABLE:
            return None
        mean_db_hl, _ = other.estimator.threshold([frequency_hz])
        low_db_hl, high_db_hl = other.estimator.threshold_band([frequency_hz], BAND_PROBABILITY)
        mean, low, high = (float(each[0]) for each in (mean_db_hl, low_db_hl, high_db_hl))
        lowest_db_hl = self.bone.lowest_db_hl(route.noise.ear, route, frequency_hz)
        return Threshold(mean, low, high, lowest_db_hl)

    def highest_noise_db_hl(self, route: Route, frequency_hz: float) -> float:
        """Return the limit of the noise for a tone in this ear."""
        reach_db_hl = self.earphones.highest_noise_db_hl(route.noise, frequency_hz)
        return min(reach_db_hl, self._level_max_db_hl)
