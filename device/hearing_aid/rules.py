"""The rules: insertion gain in dB from thresholds in dB HL, in closed form.

Every rule is a share of the threshold at the frequency, plus a constant of the frequency, plus, for
NAL's, something of the three-frequency average H3 = (H(500) + H(1000) + H(2000)) / 3. The constants
are published at some frequencies; between them they lie on a line over log frequency, and beyond
the first and last they are held.

H is the threshold by air, also of an ear with a conductive loss. Of its air-bone gap a quarter is
added: Lybarger proposed that beside his half gain, and NAL-R took it over (both as quoted by
Johnson 2013, J Am Acad Audiol 24:452-460), so NAL-RP has it, which differs for severe losses only.
Newer formulas begin at the threshold by bone and add three quarters of the gap (NAL-NL2, ibid.);
for half gain that is the same sum, and for a compressing rule it is not. CAMFIT's linear formula is
made for cochlear loss, without a share of the gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.speech import FloatArray

NAL_R: Final = "nal-r"
NAL_RP: Final = "nal-rp"
CAMFIT: Final = "camfit"
HALF_GAIN: Final = "half-gain"

THRESHOLD_LIMITS_DB_HL: Final = (-30.0, 140.0)  # what can be meant; a test asks -10 to 120
FREQUENCY_LIMITS_HZ: Final = (20.0, 20000.0)

AVERAGE_FREQUENCIES_HZ: Final = (500.0, 1000.0, 2000.0)
SEVERE_FREQUENCY_HZ: Final = 2000.0
SEVERE_AVERAGE_DB_HL: Final = 60.0  # of H3: above it NAL-RP adds gain
SEVERE_SHARE: Final = 0.20
GAP_SHARE: Final = 0.25  # of the air-bone gap, in the rules that have one


@dataclass(frozen=True)
class Rule:
    """A prescription rule."""

    # `name`, `source`: as it is called here, and who published it
    name: str
    source: str
    share: float  # of the threshold at the frequency
    average_share: float = 0.0  # of H3
    # `frequencies_hz`, `constants_db`: the published constants
    frequencies_hz: tuple[float, ...] = (1000.0,)
    constants_db: tuple[float, ...] = (0.0,)
    gap_share: float = 0.0  # of the air-bone gap; 0: none is published
    severe: bool = False  # whether NAL-RP's additions for severe and profound losses belong to it

    @property
    def needs_average(self) -> bool:
        return self.average_share > 0.0

    def lacks_hz(self, frequencies_hz: Sequence[float]) -> list[float]:
        """Return which frequencies of H3 are none of these, if it belongs to the rule."""
        needed = AVERAGE_FREQUENCIES_HZ if self.needs_average else ()
        return [f for f in needed if f not in frequencies_hz]


_NAL_FREQUENCIES_HZ: Final = (250.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 6000.0)
_NAL_CONSTANTS_DB: Final = (-17.0, -8.0, 1.0, 1.0, -1.0, -2.0, -2.0, -2.0)
_CAMFIT_FREQUENCIES_HZ: Final = (
    125.0, 250.0, 500.0, 750.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 5000.0,
)  # fmt: skip
_CAMFIT_CONSTANTS_DB: Final = (-11.0, -10.0, -8.0, -6.0, 0.0, -1.0, 1.0, -1.0, 0.0, 1.0)

RULES: Final = {
    rule.name: rule
    for rule in (
        Rule(
            NAL_R, "Byrne & Dillon, Ear and Hearing 7 (1986) 257-265",
            0.31, 0.15, _NAL_FREQUENCIES_HZ, _NAL_CONSTANTS_DB, gap_share=GAP_SHARE,
        ),
        Rule(
            NAL_RP, "Byrne, Parkinson & Newall, Ear and Hearing 11 (1990) 40-49; 1991",
            0.31, 0.15, _NAL_FREQUENCIES_HZ, _NAL_CONSTANTS_DB, gap_share=GAP_SHARE, severe=True,
        ),
        Rule(
            CAMFIT, "Moore & Glasberg, British Journal of Audiology 32 (1998) 317-335",
            0.48, 0.0, _CAMFIT_FREQUENCIES_HZ, _CAMFIT_CONSTANTS_DB,
        ),
        Rule(HALF_GAIN, "Lybarger 1944", 0.5, gap_share=GAP_SHARE),
    )
}  # fmt: skip

# Of NAL-RP, in dB: a row for each threshold at 2 kHz, a column for each of NAL's frequencies. They
# begin at 95 dB HL; between two rows they lie on a line.
PROFOUND_DB_HL: Final = (95.0, 100.0, 105.0, 110.0, 115.0, 120.0)
PROFOUND_DB: Final = (
    (4.0, 3.0, 0.0, -1.0, -2.0, -2.0, -2.0, -2.0),
    (6.0, 4.0, 0.0, -2.0, -3.0, -3.0, -3.0, -3.0),
    (8.0, 5.0, 0.0, -3.0, -5.0, -5.0, -5.0, -5.0),
    (11.0, 7.0, 0.0, -3.0, -6.0, -6.0, -6.0, -6.0),
    (13.0, 8.0, 0.0, -4.0, -8.0, -8.0, -8.0, -8.0),
    (15.0, 9.0, 0.0, -5.0, -9.0, -9.0, -9.0, -9.0),
)


def insertion_gain(
    rule: str,
    frequencies_hz: Sequence[float] | FloatArray,
    thresholds_db_hl: Sequence[float] | FloatArray,
    gaps_db: Sequence[float] | FloatArray | None = None,
) -> FloatArray:
    """Return the insertion gain that a rule prescribes at each frequency, (..., m), not below 0.

    Frequencies, (m,), rise from 20 to 20000 Hz. NAL's rules need the thresholds at 500, 1000 and
    2000 Hz; one that is missing is taken from the line over log frequency between its neighbours.
    Thresholds are by air, of one audiogram or of many. Of air-bone gaps a rule takes its share;
    none: no conductive part. `ValueError` if there is no such rule, the frequencies do not rise or
    do not span what it needs, or a threshold is no level in dB HL.
    """
    chosen = rule_named(rule)
    frequencies = _checked_frequencies(chosen, frequencies_hz)
    thresholds = _checked_thresholds(thresholds_db_hl, len(frequencies))
    published, at = np.log(chosen.frequencies_hz), np.log(frequencies)
    gains_db = chosen.share * thresholds + np.interp(at, published, chosen.constants_db)
    if chosen.needs_average:
        average = _at(AVERAGE_FREQUENCIES_HZ, frequencies, thresholds).mean(axis=-1, keepdims=True)
        gains_db += chosen.average_share * average
        if chosen.severe:
            gains_db += SEVERE_SHARE * np.maximum(average - SEVERE_AVERAGE_DB_HL, 0.0)
            gains_db += _profound_db(frequencies, thresholds)
    if gaps_db is not None:
        gains_db += chosen.gap_share * np.asarray(gaps_db, dtype=np.float64)
    return np.maximum(gains_db, 0.0)


def rule_named(name: str) -> Rule:
    if name not in RULES:
        raise ValueError(f"rule is {name!r}; allowed are {', '.join(RULES)}")
    return RULES[name]


def within_publication(rule: str, frequency_hz: float) -> bool:
    """Return whether the rule was published for this frequency, or its neighbours."""
    published_hz = rule_named(rule).frequencies_hz
    return len(published_hz) == 1 or published_hz[0] <= frequency_hz <= published_hz[-1]


def _profound_db(frequencies_hz: FloatArray, thresholds_db_hl: FloatArray) -> FloatArray:
    """Return the correction for a profound loss at 2 kHz, (..., m)."""
    severe_db_hl = _at((SEVERE_FREQUENCY_HZ,), frequencies_hz, thresholds_db_hl)[..., 0]
    columns = np.stack(
        [
            np.interp(severe_db_hl, PROFOUND_DB_HL, column, left=0.0)
            for column in zip(*PROFOUND_DB, strict=True)
        ],
        axis=-1,
    )
    return _line(np.log(frequencies_hz), np.log(_NAL_FREQUENCIES_HZ), columns)


def _at(
    wanted_hz: Sequence[float], frequencies_hz: FloatArray, thresholds_db_hl: FloatArray
) -> FloatArray:
    return _line(np.log(wanted_hz), np.log(frequencies_hz), thresholds_db_hl)


def _line(x: FloatArray, x_known: FloatArray, y_known: FloatArray) -> FloatArray:
    """Interpolate along the last axis of y_known, constantly beyond its ends."""
    right = np.clip(np.searchsorted(x_known, x, side="right"), 1, len(x_known) - 1)
    left = right - 1
    share = np.clip((x - x_known[left]) / (x_known[right] - x_known[left]), 0.0, 1.0)
    return (1.0 - share) * y_known[..., left] + share * y_known[..., right]


def _checked_frequencies(rule: Rule, frequencies_hz: Sequence[float] | FloatArray) -> FloatArray:
    frequencies = np.asarray(frequencies_hz, dtype=np.float64)
    low_hz, high_hz = FREQUENCY_LIMITS_HZ
    inside = (frequencies >= low_hz) & (frequencies <= high_hz)
    if frequencies.ndim != 1 or not len(frequencies) or not inside.all():
        raise ValueError(
            f"frequencies_hz is {frequencies_hz!r}; allowed is a row of numbers from {low_hz:g} to "
            f"{high_hz:g} Hz"
        )
    if not np.all(np.diff(frequencies) > 0.0):
        raise ValueError(f"frequencies_hz is {frequencies_hz!r}; they have to rise")
    lowest_hz, highest_hz = AVERAGE_FREQUENCIES_HZ[0], AVERAGE_FREQUENCIES_HZ[-1]
    if rule.needs_average and not (frequencies[0] <= lowest_hz and highest_hz <= frequencies[-1]):
        raise ValueError(
            f"frequencies_hz goes from {frequencies[0]:g} to {frequencies[-1]:g} Hz; {rule.name} "
            f"needs the thresholds from {lowest_hz:g} to {highest_hz:g} Hz"
        )
    return frequencies


def _checked_thresholds(
    thresholds_db_hl: Sequence[float] | FloatArray, frequencies: int
) -> FloatArray:
    thresholds = np.asarray(thresholds_db_hl, dtype=np.float64)
    if thresholds.ndim == 0 or thresholds.shape[-1] != frequencies:
        raise ValueError(
            f"thresholds_db_hl has shape {thresholds.shape}; allowed is one threshold for each of "
            f"the {frequencies} frequencies"
        )
    low_db_hl, high_db_hl = THRESHOLD_LIMITS_DB_HL
    wrong = thresholds[~((thresholds >= low_db_hl) & (thresholds <= high_db_hl))]
    if wrong.size:
        raise ValueError(
            f"thresholds_db_hl has {wrong.flat[0]:g}; allowed is {low_db_hl:g} to "
            f"{high_db_hl:g} dB HL"
        )
    return thresholds
