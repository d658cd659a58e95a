"""Masking: when the other ear may hear a tone, and how loud a noise keeps it from that. No state.

`../MASKING.md` has the rule and its reasons. All levels of noise are effective masking
levels: noise of 60 dB just hides a tone of 60 dB HL in that ear.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from firmware_py.ear.levels import Highest, no_limit
from firmware_py.terms.reasons import Code, reason

SUPRA_AURAL: Final = "supra-aural"
CIRCUMAURAL: Final = "circumaural"
INSERT: Final = "insert"
KINDS: Final = (SUPRA_AURAL, CIRCUMAURAL, INSERT)

# By how much the least attenuating head seen in print lets less of a tone through to the other
# cochlea. 40 dB of earphones on the ear: British Society of Audiology, Recommended Procedure
# (2018), after Coles & Priede (1970). 55 dB of inserts: the same, after Munro & Agnew, Br. J.
# Audiol. 33 (1999); above 1 kHz 50 dB, the least of Sklare & Denenberg, Ear Hear. 8 (1987).
EXTERNAL_DB: Final = 40.0
INSERT_LOW_DB: Final = 55.0
INSERT_HIGH_DB: Final = 50.0
INSERT_LOW_HZ_MAX: Final = 1000.0

# Where bone conduction is not measured the cochlea of an ear is taken to be so much better than its
# threshold, in either ear: more is a conductive loss.
AIR_BONE_GAP_DB: Final = 15.0
COCHLEA_BEST_DB_HL: Final = -10.0  # no audiometer goes below
SAFETY_DB: Final = 10.0  # above the least noise that masks, if there is room
# A gap of the other ear that would explain a threshold is said up to here, and looked into: 1.7 to
# 4.3 % of the ears of a clinic have so much (OHHR, 0.5 to 4 kHz). Ears that hear alike would need
# 40 dB; a mark that every other test had would be overlooked.
GAP_SAID_DB: Final = 30.0
# One gap explains all thresholds that it reaches: where two are explained by so much, so are those
# that need no more than this, which is what thresholds are known to.
GAP_ALSO_DB: Final = 35.0
# Where it explains half of them and more, the others are hardly the ear's own: a gap differs by so
# much over frequency.
GAP_REST_DB: Final = 45.0
GAP_MAX_DB: Final = 60.0  # the ossicles cannot take away more: the skull conducts the rest

# An earphone that closes an ear makes it hear so much better by bone, by frequency: the largest of
# Yacullo, Clinical Masking Procedures (1996), less the air-bone gap of that ear. Those in the ear
# canal do less.
OCCLUSION_DB: Final = {250.0: 30.0, 500.0: 20.0, 750.0: 15.0, 1000.0: 10.0}
INSERT_OCCLUSION_DB: Final = {250.0: 10.0, 500.0: 10.0, 750.0: 5.0}
# Noise as loud as a tone lets half of the tones be heard, and a gap that is measured has no room.
HIDDEN_DB: Final = 5.0
# Noise that crosses the head stays so much below the tone by bone that it shall not hide.
OWN_MARGIN_DB: Final = 5.0
# From this air-bone gap of the tested ear on, above the usual one, its bone conduction may be the
# other ear's: British Society of Audiology, Recommended Procedure (2018), rule 2.
GAP_MASKED_DB: Final = 10.0

# Of frequency in Hz: a difference, dB.
Attenuation = Callable[[float], float]


class UnmaskableError(ValueError):
    """A tone for which there is no right noise, and why: without figures, for marks share it."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.word)
        self.why = reason(code)


def attenuation_db(kind: str, frequency_hz: float) -> float:
    """Return the interaural attenuation of a kind of earphones that can be relied on."""
    if kind != INSERT:
        return EXTERNAL_DB
    return INSERT_LOW_DB if frequency_hz <= INSERT_LOW_HZ_MAX else INSERT_HIGH_DB


def occlusion_db(kind: str, frequency_hz: float) -> float:
    """Return by how much better an ear hears by bone that a kind of earphones closes."""
    return (INSERT_OCCLUSION_DB if kind == INSERT else OCCLUSION_DB).get(frequency_hz, 0.0)


# Of earphones that nobody knows.
least_attenuation_db: Final = partial(attenuation_db, "")
most_occlusion_db: Final = partial(occlusion_db, "")


@dataclass(frozen=True)
class Earphones:
    """What the rule has to know of the earphones and of the noise they can be given."""

    kind: str = ""  # one of `KINDS`; "": nobody knows
    attenuation_db: Attenuation = least_attenuation_db
    # of ear and frequency: the highest effective masking level that can be reached there
    highest_noise_db_hl: Highest = no_limit
    occlusion_db: Attenuation = most_occlusion_db  # by how much better a closed ear hears by bone


@dataclass(frozen=True)
class Threshold:
    """What is known of an ear at a frequency: mean and 95 % band by air, dB HL."""

    mean_db_hl: float
    low_db_hl: float
    high_db_hl: float
    # the lower end of the band of the better cochlea; None: bone conduction was not measured
    bone_low_db_hl: float | None = None

    @property
    def cochlea_db_hl(self) -> float:
        """Return the lowest level that the ear may hear when it comes through the skull."""
        low_db_hl = self.bone_low_db_hl
        if low_db_hl is None:
            low_db_hl = min(self.low_db_hl, self.mean_db_hl - AIR_BONE_GAP_DB)
        return max(low_db_hl, COCHLEA_BEST_DB_HL)

    @property
    def gap_db(self) -> float:
        if self.bone_low_db_hl is None:
            return AIR_BONE_GAP_DB
        return min(max(self.mean_db_hl - self.cochlea_db_hl, 0.0), GAP_MAX_DB)

    @property
    def gap_possible_db(self) -> float:
        """Return the greatest air-bone gap that the ear can have: no cochlea is better than all."""
        best_db_hl = COCHLEA_BEST_DB_HL if self.bone_low_db_hl is None else self.cochlea_db_hl
        return min(self.high_db_hl - best_db_hl, GAP_MAX_DB)


UNKNOWN: Final = Threshold(AIR_BONE_GAP_DB, 0.0, math.inf)  # perhaps young and healthy: 0 dB HL
# By bone there is no head between that takes anything away: perhaps it hears all that is played.
UNKNOWN_BY_BONE: Final = Threshold(AIR_BONE_GAP_DB, -math.inf, math.inf)


def noise_db_hl(
    level_db_hl: float, attenuation_db: float, other: Threshold, highest_db_hl: float,
    own_gap_db: float = AIR_BONE_GAP_DB,
) -> float:  # fmt: skip
    """Return the level of the noise that a tone by air needs in the other ear, whole dB.

    `attenuation_db`: between the ears, for tone and noise. `own_gap_db`: the air-bone gap of the
    ear that hears the tone, which keeps out nothing that crosses to it. Raise `UnmaskableError` if
    what masks enough would mask the tone itself, or is above `highest_db_hl`.
    """
    least = max(other.high_db_hl, level_db_hl - attenuation_db + other.gap_db)
    return _between(least, level_db_hl + attenuation_db - own_gap_db, highest_db_hl)


def bone_noise_db_hl(
    level_db_hl: float, attenuation_db: float, occlusion_db: float, other: Threshold,
    highest_db_hl: float,
) -> float:  # fmt: skip
    """Return the level of the noise that a tone by bone needs in the other ear, whole dB.

    As by air; `attenuation_db`: between the ears, for the noise.
    """
    least = least_bone_noise_db_hl(level_db_hl, occlusion_db, other)
    return _between(least, level_db_hl + attenuation_db - OWN_MARGIN_DB, highest_db_hl)


def least_bone_noise_db_hl(level_db_hl: float, occlusion_db: float, other: Threshold) -> float:
    """Return from which noise on the other ear, occluded by so much, cannot hear a tone by bone."""
    # What a conductive loss keeps out, it keeps in as well: by so much the ear is occluded less.
    louder_db = max(occlusion_db, other.gap_db)
    return max(other.high_db_hl, level_db_hl + louder_db + HIDDEN_DB)


def _between(least: float, most: float, highest_db_hl: float) -> float:
    """Return a level from what masks enough to what does not mask too much."""
    if least > most:
        raise UnmaskableError(Code.DILEMMA)
    if least > highest_db_hl:
        raise UnmaskableError(Code.NOISE_LIMIT)
    wanted = math.ceil(min(least + SAFETY_DB, 0.5 * (least + most)))
    return min(float(wanted), highest_db_hl)
