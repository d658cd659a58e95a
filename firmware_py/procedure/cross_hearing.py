"""What an ear may have heard for the other: which tones need noise, and what is sure of a result.

The better ear is tested first, when nothing is known of the other one. Its answers are judged when
the other ear has been measured: those that the other may have given are forgotten, and asked again
with noise. README.md of this room has the rule and its reasons.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firmware_py.procedure import masking, words
from firmware_py.procedure.asked import ASKED
from firmware_py.procedure.audiogram import BAND_PROBABILITY, Estimate
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.levels import near
from firmware_py.procedure.outcomes import MaskingMark, Outcome, Purpose
from firmware_py.procedure.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.procedure.settings import AUTOMATIC, LEFT, RIGHT, Settings

OTHER: Final = {LEFT: RIGHT, RIGHT: LEFT}
MASKED_FOR: Final = (*ASKED, Purpose.CONFIRM)  # what the tones with noise are for


@dataclass(frozen=True)
class Verdict:
    """What is sure of a threshold: its mark, why it is uncertain, and for which air-bone gap."""

    mark: MaskingMark  # `NOT_MASKED` (no need), `MASKED` or `UNCERTAIN`
    why: str = ""  # of an uncertain one
    # an air-bone gap of the other ear from here on could have changed it; None: none that there can
    # be, or it is uncertain anyway
    air_bone_gap_db: float | None = None


class CrossHearing:
    """Both ears of a session, and what lies between them.

    Parameters
    ----------
    settings : Settings
        Of the session.
    ears : mapping of ear to EarTest
        Those that are tested.
    earphones : Earphones
        What they let through, and what noise they can be given.

    Attributes
    ----------
    can_mask : bool
        Whether the tone generator has noise.
    """

    def __init__(
        self, settings: Settings, ears: Mapping[str, EarTest], earphones: masking.Earphones
    ) -> None:
        self._settings = settings
        self._ears = ears
        self._earphones = earphones
        self._judged_again: set[str] = set()
        self.can_mask = False

    @property
    def watched(self) -> bool:
        """Return whether anybody looks where noise is needed."""
        return self._settings.masking == AUTOMATIC

    def cover(self, ear: str, presentation: Presentation) -> Cover:
        """Return the noise that a tone needs; none while nothing is known of the other ear."""
        other = self._other(ear, presentation.frequency_hz)
        counts = presentation.purpose in MASKED_FOR
        if not self.watched or not counts or other is None:
            return NO_COVER
        crossing_db_hl = self._crossing(presentation.frequency_hz, presentation.level_db_hl)
        if crossing_db_hl < other.cochlea_db_hl:
            return NO_COVER
        if not self.can_mask:
            return Cover(why=words.NO_NOISE)
        try:
            level_db_hl = self._noise(ear, presentation, other)
        except masking.UnmaskableError as error:
            return Cover(why=str(error))
        return Cover(
            level_db_hl,
            words.CROSSES.format(
                level_db_hl=presentation.level_db_hl,
                ear=OTHER[ear],
                crossing_db_hl=crossing_db_hl,
                cochlea_db_hl=other.cochlea_db_hl,
            ),
        )

    def ask_again(self, ear: str) -> bool:
        """Forget what the other ear may have heard, if it can be asked again with noise.

        Only where the threshold rests on it: a tone far above both ears says little. Once an ear;
        return whether there is something to ask.
        """
        if not self.watched or not self.can_mask or ear in self._judged_again:
            return False
        verdicts = self.verdicts(ear)
        uncertain_hz = [f for f in verdicts if verdicts[f].mark == MaskingMark.UNCERTAIN]
        forgotten = [
            each for each in self._suspects(ear)
            if near(each.presentation.frequency_hz, uncertain_hz)
            and self.cover(ear, each.presentation).noise_db_hl is not None
        ]  # fmt: skip
        if not forgotten:
            return False
        self._judged_again.add(ear)
        self._ears[ear].forget(forgotten)
        return True

    def verdicts(self, ear: str) -> dict[int, Verdict]:
        """Say what is sure of each threshold; of an ear without any there is nothing to say."""
        tested = self._ears[ear]
        estimates = tested.audiogram.estimates()
        if tested.outcome in (Outcome.HEARS_ALL, Outcome.UNRELIABLE) or not tested.observations:
            return {each.frequency_hz: Verdict(MaskingMark.NOT_MASKED) for each in estimates}
        return {each.frequency_hz: self._verdict(ear, each) for each in estimates}

    def _verdict(self, ear: str, estimate: Estimate) -> Verdict:
        frequency_hz = estimate.frequency_hz
        other = self._other(ear, frequency_hz) or masking.UNKNOWN
        level_db_hl = min(estimate.mean_db_hl, self._ears[ear].levels.limit_db_hl(frequency_hz))
        tone = Presentation(Purpose.MEASURE, frequency_hz, level_db_hl)
        if self._crossing(frequency_hz, level_db_hl) < other.cochlea_db_hl:
            return Verdict(MaskingMark.NOT_MASKED, "", self._gap(estimate, other, None))
        suspects = [each for each in self._suspects(ear) if _near(each, frequency_hz)]
        if suspects:
            return Verdict(MaskingMark.UNCERTAIN, self._why(ear, suspects[-1]))
        near = [each for each in self._ears[ear].observations if _near(each, frequency_hz)]
        if any(each.cover.noise_db_hl is not None for each in near):
            noise = self.cover(ear, tone).noise_db_hl
            return Verdict(MaskingMark.MASKED, "", self._gap(estimate, other, noise))
        beyond = estimate.side in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE)
        if beyond and not any(each.heard is not False for each in near):
            return Verdict(MaskingMark.NOT_MASKED)  # neither ear heard anything
        return Verdict(MaskingMark.UNCERTAIN, words.NOT_MASKED_NEARBY)

    def _other(self, ear: str, frequency_hz: float) -> masking.Threshold | None:
        """Return what is known of the other ear; None if it is not measured, or not to be trusted.

        Half an ear is not enough: its bands may still be anywhere.
        """
        other = self._ears.get(OTHER[ear])
        if other is None or not other.found or other.outcome == Outcome.UNRELIABLE:
            return None
        mean_db_hl, _ = other.estimator.threshold([frequency_hz])
        low_db_hl, high_db_hl = other.estimator.threshold_band([frequency_hz], BAND_PROBABILITY)
        return masking.Threshold(float(mean_db_hl[0]), float(low_db_hl[0]), float(high_db_hl[0]))

    def _crossing(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the level at which a tone reaches the other cochlea at most."""
        return level_db_hl - self._earphones.attenuation_db(frequency_hz)

    def _noise(self, ear: str, tone: Presentation, other: masking.Threshold) -> float:
        reach_db_hl = self._earphones.highest_noise_db_hl(OTHER[ear], tone.frequency_hz)
        return masking.noise_db_hl(
            tone.level_db_hl,
            self._earphones.attenuation_db(tone.frequency_hz),
            other,
            min(reach_db_hl, self._settings.level_max_db_hl),
        )

    def _suspects(self, ear: str) -> list[Observation]:
        """Return the answers to tones without noise that the other ear may have heard."""
        suspects = []
        for each in self._ears[ear].observations:
            tone = each.presentation
            if tone.purpose in ASKED and each.heard is not False and each.cover.noise_db_hl is None:
                other = self._other(ear, tone.frequency_hz) or masking.UNKNOWN
                if self._crossing(tone.frequency_hz, tone.level_db_hl) >= other.cochlea_db_hl:
                    suspects.append(each)
        return suspects

    def _why(self, ear: str, suspect: Observation) -> str:
        if suspect.cover.why:
            return suspect.cover.why
        other = self._other(ear, suspect.presentation.frequency_hz)
        if other is None:
            return words.NOT_MEASURED.format(ear=OTHER[ear])
        return self.cover(ear, suspect.presentation).why

    def _gap(
        self, estimate: Estimate, other: masking.Threshold, noise_db_hl: float | None
    ) -> float | None:
        """Return the air-bone gap of the other ear with which it hears a tone at the threshold."""
        if estimate.mark != Outcome.MEASURED or other is masking.UNKNOWN:
            return None
        hidden_db_hl = other.mean_db_hl if noise_db_hl is None else noise_db_hl
        crossing_db_hl = self._crossing(estimate.frequency_hz, estimate.mean_db_hl)
        gap_db = round(hidden_db_hl - crossing_db_hl, 1)
        possible_db = min(other.high_db_hl - masking.COCHLEA_BEST_DB_HL, masking.GAP_MAX_DB)
        return gap_db if gap_db < possible_db else None


def _near(observation: Observation, frequency_hz: float) -> bool:
    tone = observation.presentation
    return tone.purpose in ASKED and near(tone.frequency_hz, [frequency_hz])
