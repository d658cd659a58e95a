"""The air-bone gap of an ear, how sure it is, and which type of loss follows from it.

A gap is the threshold by air minus that by bone. Type of loss as recommended for genetic studies in
Europe (Mazzoli et al. 2003, Audiological Medicine 1:148-150; quoted by Martini & Trevisi 2005): by
the mean gap at 0.5, 1 and 2 kHz, sensorineural below 15 dB, else conductive with bone thresholds
below 20 dB HL, or mixed with poorer ones. At 4 kHz the reference level of vibrators is off by some
10 dB (Margolis et al. 2013, Int J Audiol 52:526-532), so no rule here looks at it.

An examination is due before a hearing aid by the FDA's rule of 1977 (21 CFR 801.420): with a gap of
15 dB and more at 0.5, 1 and 2 kHz; or here at those that are known, if the mean is so large anyway.

The rules are made for clinical thresholds (`convention.py`). The mean gap is that of both routes
together (`inference/mixture/gap_posterior.py`), where it is no bound. At one frequency the two
posteriors are taken as independent: the gap there is surer than is said.

Where the gap at one of the three frequencies may be none, for the other ear may have heard the
vibrator, it counts as none: what is a mean of 15 dB even then is at least that. Where bone
conduction has no number, for the skin may have felt it or it lies beyond the vibrator, the gap is
inferred: as much larger than usual as those that were measured. It is called if it is 15 dB and
more with more than even odds; it is said which were inferred. That there is none is told where both
routes together tell it, although bone may lie higher: then the gap is smaller.

A gap that no ear has is an error, of the vibrator, the noise or the calibration. At one of the
three frequencies it counts as not known, so that no type of loss is told, and an examination is due
only if the others want it; of a mean that no ear has nothing follows. Either is named. No
probability is told of such a gap, nor of one that is a bound.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Final

from firmware_py.findings.convention import in_convention
from firmware_py.findings.third_window import may_be_third_window
from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.terms.level import Level, Spread
from firmware_py.terms.outcomes import Bound, Outcome
from firmware_py.terms.results import (
    BONE_POORER_DB,
    GAP_FREQUENCIES_HZ,
    EarResult,
    MeanGap,
    SessionResult,
    ThresholdResult,
)
from firmware_py.terms.route import BONE, BY_BONE, EARS, Route
from firmware_py.terms.settings import CLINICAL_ASCENDING, FIFTY_PERCENT
from firmware_py.terms.shown_threshold import Kind, as_shown, level_of
from firmware_py.terms.verdicts import may_compare

GAP_DB: Final = 15.0
NORMAL_BONE_DB_HL: Final = 20.0
TYPE_HZ: Final = GAP_FREQUENCIES_HZ
_ALSO_TELLS_HZ: Final = 4000  # of the gaps there, if they are not measured
ALIKE_SD_DB: Final = 8.0  # of a gap about those beside it, over the shipped prior
CALLED: Final = 0.5  # so likely a gap is called one
SURE: Final = 0.95  # a type of loss that is less likely is only probable
# A conductive loss cannot be larger: beyond it sound reaches the cochlea through the skull.
LARGEST_DB: Final = 60.0
LEVEL_DIGITS: Final = 4  # of what is recorded: machines differ in the last bits
TYPE_SOURCE: Final = "Mazzoli et al. 2003"
EXAMINATION_SOURCE: Final = "21 CFR 801.420"
Pair = tuple[Level, Level]  # a threshold by air, and by bone
# Where the gap may be none, or any.
_NO_GAP: Final = Level.at(0.0)
_ANY_GAP: Final[Pair] = (Level.at(0.0, open_above=True), _NO_GAP)


def may_be_airborne(frequency_hz: int) -> bool:
    """Return whether a vibrator may have been heard through the air, so that a gap is none.

    Up to 4 kHz that is little, on average.
    """
    return frequency_hz in BY_BONE.where_calibrated_hz


class LossType(StrEnum):
    """Where the loss of an ear is."""

    SENSORINEURAL = "sensorineural"  # no gap: whatever loss there is lies in cochlea or nerve
    CONDUCTIVE = "conductive"
    MIXED = "mixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Gap:
    """An air-bone gap at a frequency, or its mean over several."""

    frequencies_hz: tuple[int, ...]
    db: float
    # `low_db`, `high_db`: the 95 % band; None: on that side it is open, for the gap is a bound
    low_db: float | None
    high_db: float | None
    # how likely the gap is 15 dB or more; of one that is at least so much, at least so likely, and
    # of one that is at most so much, at most
    share: float
    bound: Bound = Bound.NONE
    inferred_hz: tuple[int, ...] = ()  # where no tone was asked by air, or none by bone

    @property
    def told_share(self) -> float | None:
        """Return how likely it is 15 dB or more, as it is told; None: a bound, or no ear has it."""
        return self.share if self.bound == Bound.NONE and not self.is_impossible else None

    @property
    def is_called(self) -> bool:
        """Return whether there surely enough is a gap of 15 dB and more."""
        return self.share > CALLED and self.bound != Bound.AT_MOST and not self.is_impossible

    @property
    def is_denied(self) -> bool:
        return self.share <= CALLED and self.bound != Bound.AT_LEAST

    @property
    def is_impossible(self) -> bool:
        """Return whether it was measured, and is larger than any conductive loss."""
        return self._is_measured and self.low_db is not None and self.low_db > LARGEST_DB

    @property
    def is_negative(self) -> bool:
        """Return whether it was measured, and bone conduction is surely poorer than air."""
        return self._is_measured and self.high_db is not None and self.high_db < BONE_POORER_DB

    @property
    def _is_measured(self) -> bool:
        return {*self.inferred_hz} != {*self.frequencies_hz}


@dataclass(frozen=True)
class EarGaps:
    """The gaps of an ear."""

    ear: str
    gaps: tuple[Gap, ...]  # each of one frequency, rising; without those of which nothing is known
    mean: Gap | None  # over `TYPE_HZ`; None: it may lie on either side of 15 dB
    loss: LossType
    third_window: bool = False  # it may have a third window of the inner ear
    in_either: bool = False  # it or the other ear has a gap of 15 dB and more; open is which

    @property
    def examined_hz(self) -> list[int]:
        """Return where gaps of 15 dB and more want an examination; nowhere: there is no need.

        That is at each of `TYPE_HZ`. Where one is not known the mean has to be so large without it.
        """
        told = [gap for gap in self.gaps if gap.frequencies_hz[0] in TYPE_HZ]
        if self.mean is None or not self.mean.is_called or any(gap.is_denied for gap in told):
            return []
        return [gap.frequencies_hz[0] for gap in told if gap.is_called]

    @property
    def impossible_hz(self) -> list[int]:
        """Return where a gap, or the mean over these frequencies, is one that no ear has."""
        mean = () if self.mean is None else (self.mean,)
        impossible = (gap.frequencies_hz for gap in (*self.gaps, *mean) if gap.is_impossible)
        return sorted({f for frequencies_hz in impossible for f in frequencies_hz})

    @property
    def bone_is_poorer(self) -> bool:
        """Return whether bone conduction is surely poorer than air, which no ear has."""
        return self.mean is not None and self.mean.is_negative

    @property
    def loss_is_probable(self) -> bool:
        """Return whether the type of loss is no more than probable, as is said beside it."""
        mean, is_known = self.mean, self.loss != LossType.UNKNOWN
        return mean is not None and is_known and 1.0 - SURE < mean.share < SURE

    def to_record(self) -> dict[str, Any]:
        told, mean = asdict(self), self.mean
        for each, gap in zip(told["gaps"], self.gaps, strict=True):
            each["share"] = gap.told_share
        if mean is not None:
            told["mean"]["share"] = mean.told_share
        return {
            **told,
            "loss_is_probable": self.loss_is_probable,
            "mean_is_undecided": mean is not None and not (mean.is_called or mean.is_denied),
            "bone_is_poorer": self.bone_is_poorer,
            "examined_hz": self.examined_hz,
            "impossible_hz": self.impossible_hz,
        }


def gaps_of(
    result: SessionResult, convention: str = FIFTY_PERCENT,
    gap_prior: GapPrior | None = None, *, nominal: bool = False,
) -> list[EarGaps]:  # fmt: skip
    """Return the gaps of each ear with valid tests by air and by bone, the right one first.

    `result`: as it may be told, in this convention; `gap_prior`: what people have, by default what
    is shipped. Without a calibration (`nominal`) the two transducers may be off by anything against
    each other: there is none.
    """
    if nominal:
        return []
    is_clinical = convention == CLINICAL_ASCENDING
    by_route = (result if is_clinical else in_convention(result, CLINICAL_ASCENDING)).by_route
    both = ((by_route.get(Route(ear)), by_route.get(Route(ear, BONE))) for ear in EARS)
    pairs = [(air, bone) for air, bone in both if air and bone and may_compare(air, bone)]
    found = [_of_ear(air, bone, gap_prior) for air, bone in pairs]
    in_either = len(pairs) == len(EARS) and all(_is_open(*pair) for pair in pairs)
    return [replace(gaps, in_either=in_either) for gaps in found]


def _is_open(air: EarResult, bone: EarResult) -> bool:
    """Return whether it is open which cochlea heard the vibrator, and the gap is one if this did.

    One of both heard it: where that is so of both ears, one of them has a gap. Tones by air that
    the other ear may have heard only make it larger. Where noise left no doubt, it is this ear's.
    """
    by_air, by_bone = _levels(air), _levels(bone)
    heard: dict[int, Pair] = {
        f: (replace(a, open_above=False), replace(b, open_above=False))
        for f, a, b in ((f, by_air[f], by_bone[f]) for f in TYPE_HZ if f in by_air and f in by_bone)
        if not a.open_below and not b.inferred and (b.sd_db or b.open_below)
    }
    is_open = len(heard) == len(TYPE_HZ) and any(bone.doubtful for _, bone in heard.values())
    mean = _mean_gap(_possible(heard)) if is_open else None
    return mean is not None and mean.is_called


def _levels(ear: EarResult) -> dict[int, Level]:
    """Return by frequency what is known of an ear.

    What is inferred beside a threshold that the other ear may have heard is as doubtful. By bone a
    limit that the threshold perhaps lies above tells nothing, but where it is that of the skin.
    """
    asked = [each for each in ear.thresholds if each.mark != Outcome.INFERRED]
    found = {}
    for each in ear.thresholds:
        hz, level = each.frequency_hz, level_of(each)
        perhaps = ear.route.by_bone and as_shown(each).kind == Kind.PERHAPS_ABOVE
        if level is None or (perhaps and not _may_be_felt(each)):
            continue
        if level.inferred:
            below = [t for t in asked if t.frequency_hz < hz][-1:]
            above = [t for t in asked if t.frequency_hz > hz][:1]
            doubtful = any(as_shown(t).doubtful for t in below + above)
            level = replace(level, open_above=level.open_above or doubtful, doubtful=doubtful)
        found[hz] = level
    return found


def _may_be_felt(found: ThresholdResult) -> bool:
    """Return whether its limit is that of the skin, which may feel tones by bone from there on."""
    limit_db_hl, ceiling_db_hl = found.limit_db_hl, found.ceiling_db_hl
    return limit_db_hl is not None and ceiling_db_hl is not None and limit_db_hl < ceiling_db_hl


def _of_ear(air: EarResult, bone: EarResult, gap_prior: GapPrior | None) -> EarGaps:
    by_air, by_bone = _levels(air), _levels(bone)
    both = {f: (by_air[f], by_bone[f]) for f in by_air if f in by_bone}
    gaps = (_gap_between((f,), [pair]) for f, pair in both.items())
    possible = _possible(both)
    mean = _by_both_routes(possible, bone.gap)
    if mean is None or not mean.is_called:
        probable = _mean_with_inferred(bone, by_air, possible, gap_prior)
        mean = probable if probable is not None and probable.is_called else mean
    known = [by_bone[f] for f in TYPE_HZ if f in by_bone and (f in possible or f not in both)]
    return EarGaps(
        air.route.ear, (*filter(None, gaps),), mean, _loss_type(mean, known),
        may_be_third_window(possible, gap_prior or GapPrior.usual()),
    )  # fmt: skip


def _possible(both: Mapping[int, Pair]) -> dict[int, Pair]:
    """Return the pairs but those whose gap no ear has."""
    gaps = {f: _gap_between((f,), [pair]) for f, pair in both.items()}
    return {f: both[f] for f, gap in gaps.items() if gap is None or not gap.is_impossible}


def _mean_gap(both: Mapping[int, Pair]) -> Gap | None:
    """Return the mean over `TYPE_HZ`; None: it may lie on either side of 15 dB."""
    mean = _gap_between(TYPE_HZ, [both[f] for f in TYPE_HZ]) if {*TYPE_HZ} <= {*both} else None
    if mean is not None and mean.bound != Bound.AT_MOST:
        return mean
    some = _some(both)
    least = _gap_between(TYPE_HZ, [some.get(f, _ANY_GAP) for f in TYPE_HZ]) if some else None
    return least if least is not None and least.is_called else mean


def _by_both_routes(both: Mapping[int, Pair], found: MeanGap | None) -> Gap | None:
    """Return the mean as both routes told it together, if that was recorded and it is no bound.

    How much better than the floor a cochlea is, is inferred from the others. Where it may be worse
    than was found, or lies beyond the vibrator, the mean is at most so much.
    """
    for pairs in (both, {f: (air, _at_floor(bone)) for f, (air, bone) in both.items()}):
        mean = _mean_gap(pairs)
        if found is not None and mean is not None and mean.bound == Bound.NONE:
            return replace(mean, **_figures(Spread(((1.0, found.gap_db, found.sd_db),))))
    mean = _mean_gap(both)
    if found is None or mean is None or mean.bound != Bound.AT_MOST:
        return mean
    told = _figures(Spread(((1.0, found.gap_db, found.sd_db),)))
    return replace(mean, **{**told, "low_db": None})


def _at_floor(bone: Level) -> Level:
    return replace(bone, open_below=False, inferred=True) if bone.open_below else bone


def _some(both: Mapping[int, Pair]) -> dict[int, Pair]:
    """Return the pairs between which the gap is no less than it shows."""
    return {f: (air, bone) for f, (air, bone) in both.items() if not air.minus(bone).open_below}


def _mean_with_inferred(
    bone: EarResult, by_air: Mapping[int, Level], both: Mapping[int, Pair], prior: GapPrior | None
) -> Gap | None:
    """Return the mean gap, inferred where bone conduction of this ear tells no number.

    There the skin may have felt the tones, or the threshold lies beyond the vibrator. Where the
    other ear may have heard them the gap counts as none. None: there is nothing to infer, or
    nothing that was measured tells of this ear.
    """
    some = _some(both)
    gaps = ((f, some[f][0].minus(some[f][1])) for f in (*TYPE_HZ, _ALSO_TELLS_HZ) if f in some)
    measured: dict[int, Level] = {f: gap for f, gap in gaps if not gap.inferred}
    most_db = {
        f: by_air[f].most_db - level.low_db
        for f, level in _beyond(bone).items()
        if f in by_air and not by_air[f].open_below
    }
    if not measured or not most_db:
        return None
    usual_db = (prior or GapPrior.usual()).usual_db
    alike_db = math.fsum(gap.low_db - usual_db(f) for f, gap in measured.items()) / len(measured)
    for f, most in most_db.items():
        like = Level.at(min(usual_db(f) + alike_db, most), ALIKE_SD_DB)
        some[f] = replace(like, open_above=by_air[f].open_above, inferred=True), _NO_GAP
    return _gap_between(TYPE_HZ, [some.get(f, _ANY_GAP) for f in TYPE_HZ])


def _beyond(bone: EarResult) -> dict[int, Level]:
    """Return, of `TYPE_HZ`, where bone conduction tells no number, and what it is at least."""
    levels = ((t.frequency_hz, level_of(t)) for t in bone.thresholds if t.frequency_hz in TYPE_HZ)
    return {f: b for f, b in levels if b and b.open_above and not (b.sd_db or b.doubtful)}


def _gap_between(frequencies_hz: tuple[int, ...], pairs: Sequence[Pair]) -> Gap | None:
    air, bone = zip(*pairs, strict=True)
    gap = Level.mean(air).minus(Level.mean(bone))
    if gap.bound is None:
        return None
    figures = _figures(Spread(((1.0, gap.low_db, gap.sd_db),)))
    figures["low_db"] = None if gap.open_below else figures["low_db"]
    figures["high_db"] = None if gap.open_above else figures["high_db"]
    among = zip(frequencies_hz, pairs, strict=True)
    inferred_hz = tuple(f for f, (a, b) in among if a.inferred or b.inferred)
    return Gap(frequencies_hz, **figures, bound=gap.bound, inferred_hz=inferred_hz)


def _figures(gap: Spread) -> dict[str, Any]:
    found = {"db": gap.mean_db, "share": gap.above(GAP_DB)}
    found |= zip(("low_db", "high_db"), gap.band_db(), strict=True)
    return {name: round(figure, LEVEL_DIGITS) for name, figure in found.items()}


def _loss_type(mean: Gap | None, levels: Sequence[Level]) -> LossType:
    """Return the type of loss; `levels`: by bone at those of `TYPE_HZ` where it may rest on it."""
    if mean is None or mean.is_negative:  # the vibrator slipped, say
        return LossType.UNKNOWN
    if mean.is_denied:
        return LossType.SENSORINEURAL
    if not mean.is_called or len(levels) < len(TYPE_HZ):
        return LossType.UNKNOWN
    # There is a gap, but bone conduction may be on either side: then none is told.
    bone = replace(Level.mean(levels), sd_db=0.0).probability_at_least(NORMAL_BONE_DB_HL)
    return {None: LossType.UNKNOWN, 0.0: LossType.CONDUCTIVE, 1.0: LossType.MIXED}[bone]
