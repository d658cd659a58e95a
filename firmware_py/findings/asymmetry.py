"""Differences between the ears that published criteria call an asymmetry, each named.

Only what was asked counts: a threshold that was measured, or a limit that it surely lies beyond,
with which the ears differ by at least so much, as they do where the better ear may have heard for
the worse one. The same ear has to be worse at all frequencies of a criterion. The thresholds are
clinical ones (`firmware_py/findings/convention.py`), for which the criteria were written.

Two sets of criteria. Both are about sensorineural loss, so what of a difference is conductive does
not count. Where no ear was tested by bone a conductive loss of one ear is among what is named, and
the sentence says so. Where the worse ear was:

- An ear whose loss is conductive meets none.
- A frequency counts by air, as in the published text, if the gap was measured there and is none.
- Else it counts by bone, if that was measured in both ears.
- Else it counts by air; in doubt, for a part of that may be conductive, unless the loss of the ear
  is sensorineural by what was measured.

A criterion that is met in doubt only may be met, and not surely. It is not met if bone conduction
of both ears told, but nothing of the frequencies of the criterion.

Whether a criterion is surely met goes by the whole (`whole_band.py`): fit, type, calibration and
masking count for either ear, and the day, which is the same for both, for none.

The criteria:

- NICE guideline NG98, Hearing loss in adults (2018), on when to consider MRI of adults: 15 dB or
  more at two adjacent test frequencies of 0.5, 1, 2, 4 and 8 kHz.
- American Academy of Otolaryngology-Head and Neck Surgery Foundation, Clinical Practice Guideline:
  Age-Related Hearing Loss (2024), table "Asymmetric sensorineural hearing loss": 15 dB or more at
  3 kHz; 20 dB or more at two contiguous frequencies; 15 dB or more at two frequencies from 2 to
  8 kHz. Its fourth, 10 dB at 2 kHz after exposure to loud noise, needs a history. It is about
  people from 50 years on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, starmap
from typing import Final

from firmware_py.findings.air_bone_gap import EarGaps, LossType, gaps_of, may_be_airborne
from firmware_py.findings.whole_band import BAND_SDS, BETWEEN_EARS, USUAL, Uncertainty
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT, Route
from firmware_py.terms.settings import CLINICAL_ASCENDING
from firmware_py.terms.shown_threshold import as_shown, level_of
from firmware_py.terms.verdicts import may_compare

SHOWN: Final = 3  # differences in a sentence, the largest ones; the table has all
NICE: Final = "NICE NG98, 2018"
AAO: Final = "AAO-HNSF, 2024"
ADULT_YEARS: Final = 18.0
AAO_YEARS: Final = 50.0
_NICE_HZ: Final = (500, 1000, 2000, 4000, 8000)
_CONTIGUOUS_HZ: Final = (250, 500, 1000, 2000, 3000, 4000, 6000, 8000)


@dataclass(frozen=True)
class Criterion:
    """The ears differ by so much at each frequency of one of these groups."""

    source: str
    code: str  # of its row
    from_age_years: float  # whom the source is about
    at_least_db: float
    groups_hz: Sequence[tuple[int, ...]]

    def is_of(self, age_years: float | None) -> bool:
        return age_years is None or age_years >= self.from_age_years


CRITERIA: Final = (
    Criterion(NICE, "criterion-nice", ADULT_YEARS, 15.0, tuple(pairwise(_NICE_HZ))),
    Criterion(AAO, "criterion-aao-3000", AAO_YEARS, 15.0, ((3000,),)),
    Criterion(AAO, "criterion-aao-neighbours", AAO_YEARS, 20.0, tuple(pairwise(_CONTIGUOUS_HZ))),
    Criterion(
        AAO, "criterion-aao-high", AAO_YEARS, 15.0,
        tuple(combinations((2000, 3000, 4000, 6000, 8000), 2)),
    ),
)  # fmt: skip
LEAST_DB: Final = min(each.at_least_db for each in CRITERIA)


@dataclass(frozen=True)
class Difference:
    """By how much an ear is worse than the other at a frequency."""

    frequency_hz: int
    db: float
    half_width_db: float  # of its 95 % band, of the whole
    at_least: bool  # one of both lies beyond a limit, or the better ear heard for the worse one


@dataclass(frozen=True)
class Asymmetry:
    """An ear is worse than the other by published criteria."""

    ear: str  # the worse one
    differences: tuple[Difference, ...]  # the largest ones where a criterion is met
    more: int  # so many others there are
    criteria: tuple[Criterion, ...]  # that are met
    # one is met at the lower ends of the bands, too, and surely by a sensorineural difference
    sure: bool
    loss: LossType | None = None  # of the worse ear by bone conduction; None: not measured
    # each is met only with a difference by air that may be conductive
    may_be_conductive: bool = False
    bone_hz: tuple[int, ...] = ()  # where the ears differ by bone conduction


def asymmetries(
    result: SessionResult, age_years: float | None = None, uncertainty: Uncertainty = USUAL
) -> list[Asymmetry]:
    """Return each ear that is worse than the other by a published criterion.

    `result`: with clinical thresholds; `age_years`: of the person, None: not known;
    `uncertainty`: of the levels, which is in the bands of the differences.
    """
    criteria = [each for each in CRITERIA if each.is_of(age_years)]
    gaps = {each.ear: each for each in gaps_of(result, CLINICAL_ASCENDING)}
    ears = ((LEFT, RIGHT), (RIGHT, LEFT))
    result = replace(result, ears=tuple(_widened(ear, uncertainty) for ear in result.ears))
    found = (_asymmetry(one, _compare(result, gaps, one, other), criteria) for one, other in ears)
    return [each for each in found if each is not None]


def _widened(ear: EarResult, uncertainty: Uncertainty) -> EarResult:
    """Return an ear with SDs that hold what is not the same for both ears of a sitting."""
    widened = (uncertainty.widened(ear.route, t, BETWEEN_EARS) for t in ear.thresholds)
    return replace(ear, thresholds=tuple(widened))


@dataclass(frozen=True)
class _Compared:
    # By how much an ear is worse, as it counts; by bone where so said, in doubt where so said.
    found: Mapping[int, Difference]
    loss: LossType | None = None
    bone_hz: frozenset[int] = frozenset()
    doubtful_hz: frozenset[int] = frozenset()
    is_told_by_bone: bool = False  # somewhere bone conduction of both ears tells


def _compare(
    result: SessionResult, gaps: Mapping[str, EarGaps], worse: str, better: str
) -> _Compared:
    """Return by how much an ear is worse: by air, or where there is a gap by bone."""
    by_air, by_bone = (_between(result, worse, better, through) for through in (AIR, BONE))
    # what is heard of a vibrator through the air hides a difference: there the ears count by air
    by_bone = {f: each for f, each in by_bone.items() if not may_be_airborne(f)}
    of = gaps.get(worse)
    if of is None:
        return _Compared(by_air)
    if of.loss == LossType.CONDUCTIVE:
        return _Compared({}, of.loss)
    # where a gap was measured, and is none, and that of the other ear is surely none
    none_hz = {g.frequencies_hz[0] for g in of.gaps if g.is_denied and not g.inferred_hz}
    others = gaps[better].gaps if better in gaps else ()
    without_hz = none_hz - {g.frequencies_hz[0] for g in others if not g.is_denied}
    bone = {f: each for f, each in by_bone.items() if f not in without_hz and _tells(each)}
    mean = of.mean
    is_sensorineural = of.loss == LossType.SENSORINEURAL and not (mean and mean.inferred_hz)
    doubtful = set() if is_sensorineural else {*by_air} - without_hz - {*bone}
    by_both, told = {**by_air, **bone}, any(map(_tells, by_bone.values()))
    return _Compared(by_both, of.loss, frozenset(bone), frozenset(doubtful), told)


def _between(
    result: SessionResult, worse: str, better: str, transducer: str
) -> dict[int, Difference]:
    one, other = (result.by_route.get(Route(ear, transducer)) for ear in (worse, better))
    return differences(one, other) if one and other else {}


def _tells(by_bone: Difference) -> bool:
    """Return whether a difference by bone tells how far ears differ; if it is a least one, so far.

    By bone the better ear may have heard for the worse one, which then may be any worse.
    """
    return not by_bone.at_least or by_bone.db >= LEAST_DB


def differences(worse: EarResult, better: EarResult) -> dict[int, Difference]:
    """Return by how much an ear is worse where both were asked, by frequency.

    Of a test that is not valid nothing is compared, nor what several tone generators played.
    """
    if not may_compare(worse, better):
        return {}
    others = {t.frequency_hz: t for t in better.thresholds}
    both = ((t, others[t.frequency_hz]) for t in worse.thresholds if t.frequency_hz in others)
    return {found.frequency_hz: found for found in starmap(_difference, both) if found}


def _difference(worse: ThresholdResult, better: ThresholdResult) -> Difference | None:
    high, low = level_of(worse), level_of(better)
    asked = all(as_shown(each).known_db_hl is not None for each in (worse, better))
    if not asked or high is None or low is None:
        return None
    # The ears were asked apart, each with its own earphone: errors add up as if independent.
    found = high.minus(low)
    # Two limits, or a limit on the wrong side, say nothing of the least difference; nor does a
    # better ear that is perhaps no better, because the other one heard for it.
    if found.open_below:
        return None
    return Difference(worse.frequency_hz, found.low_db, BAND_SDS * found.sd_db, found.open_above)


def _asymmetry(worse: str, compared: _Compared, criteria: Iterable[Criterion]) -> Asymmetry | None:
    found = compared.found
    met = [(c, group) for c in criteria for group in _groups(c, compared)]
    clear = [(c, group) for c, group in met if not compared.doubtful_hz & {*group}]
    told = clear or met  # what is in doubt is told only where nothing else is met
    if not told:
        return None
    at_hz = sorted({f for _, group in told for f in group})
    shown = sorted(sorted(at_hz, key=lambda f: -found[f].db)[:SHOWN])
    return Asymmetry(
        worse, tuple(found[f] for f in shown), len(at_hz) - len(shown),
        tuple(dict.fromkeys(c for c, _ in told)),
        any(_sure(c, group, found) for c, group in clear),
        compared.loss, may_be_conductive=not clear,
        bone_hz=tuple(f for f in at_hz if f in compared.bone_hz),
    )  # fmt: skip


def _groups(criterion: Criterion, compared: _Compared) -> Iterable[tuple[int, ...]]:
    found = compared.found
    for group in criterion.groups_hz:
        if compared.is_told_by_bone and compared.doubtful_hz >= {*group}:
            continue
        if all(f in found and found[f].db >= criterion.at_least_db for f in group):
            yield group


def _sure(criterion: Criterion, group: Iterable[int], found: Mapping[int, Difference]) -> bool:
    """Tell whether the criterion is met at the lower ends of the bands, too."""
    return all(found[f].db - found[f].half_width_db >= criterion.at_least_db for f in group)
