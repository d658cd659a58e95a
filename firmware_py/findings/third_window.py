"""Whether an ear may have a third window of the inner ear, by its gap at low frequencies.

Where bone is missing over a canal, most often the superior one, the cochlea hears low tones better
than normal by bone and worse by air: there is a gap, and no fault of the middle ear (Minor 2005,
Laryngoscope 115:1717-1727; Merchant & Rosowski 2008, Otol Neurotol 29:282-289). From 2 kHz on there
is none. Tympanogram and stapedius reflexes are normal then, which is not known here.

It is said with more than even odds that all of this holds. How the errors at several frequencies go
together is not recorded, so these are the least odds there can be: the probabilities that a part
does not hold are added up. What the other ear may have heard tells nothing.
"""

from collections.abc import Mapping
from typing import Final

from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.terms.level import Level

LOW_HZ: Final = (250, 500)  # the mean of those that were asked by bone: of the second at least
HIGH_HZ: Final = (2000, 4000)
# By bone, a clinic that goes in steps of 5 dB notes -5 dB HL or less from here on.
SUPRANORMAL_DB_HL: Final = -2.5
GAP_DB: Final = 15.0  # above the gap of ears without a conductive loss, which reference levels make
CALLED: Final = 0.5  # so likely it is called one


def may_be_third_window(both: Mapping[int, tuple[Level, Level]], gaps: GapPrior) -> bool:
    """Return whether an ear hears as one with a third window does.

    `both`: its clinical thresholds by air and by bone, dB HL, by frequency in Hz; `gaps`: what
    people have.
    """
    low_hz = [f for f in LOW_HZ if f in both and not both[f][1].inferred]
    if LOW_HZ[-1] not in low_hz or not {*HIGH_HZ} <= both.keys():
        return False
    air, bone = (Level.mean(levels) for levels in zip(*map(both.__getitem__, low_hz), strict=True))
    usual_db = sum(map(gaps.usual_db, low_hz)) / len(low_hz)
    is_not = [
        bone.probabilities_at_least(SUPRANORMAL_DB_HL)[1],
        1.0 - air.minus(bone).probabilities_at_least(usual_db + GAP_DB)[0],
    ]
    for f in HIGH_HZ:
        by_air, by_bone = both[f]
        gap = by_air.minus(by_bone)
        is_not.append(gap.probabilities_at_least(gaps.usual_db(f) + GAP_DB)[1])
    return sum(is_not) < 1.0 - CALLED
