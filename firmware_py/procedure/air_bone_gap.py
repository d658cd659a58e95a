"""The air-bone gap of an ear, how sure it is, and which type of loss follows from it.

A gap is the threshold by air minus that by bone. Type of loss as recommended for genetic studies in
Europe (Mazzoli et al. 2003, Audiological Medicine 1:148-150; quoted by Martini & Trevisi 2005): by
the mean gap at 0.5, 1 and 2 kHz, sensorineural below 15 dB, else conductive with bone thresholds
below 20 dB HL, or mixed with poorer ones. At 4 kHz the reference level of vibrators is off by some
10 dB (Margolis et al. 2013, Int J Audiol 52:526-532), so no rule here looks at it.

When an examination is due before a hearing aid is the FDA's rule of 1977 (21 CFR 801.420): with a
gap of 15 dB and more at 0.5, 1 and 2 kHz; or here at those that are known, if the mean of the three
is so large whatever it is at the others.

The rules are made for clinical thresholds (`convention.py`). Two posteriors are taken as
independent: where one was made from the other the gap is surer than is said here. The SD of a mean
over frequencies is taken as if the thresholds of a route were all off by the same.

Where the gap at one of the three frequencies may be none, for the other ear may have heard the
vibrator, it counts as none: what is a mean of 15 dB even then is at least that. Where bone
conduction has no number, for the skin may have felt it or it lies beyond the vibrator, the gap is
inferred from those that were measured (`inferred_gap.py`), and is called if it is 15 dB and more
more likely than not; it is said which were inferred. That there is none is not inferred.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from math import inf, sqrt
from typing import Any, Final

from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.procedure.convention import in_convention
from firmware_py.procedure.grades import Spread
from firmware_py.procedure.inferred_gap import MeasuredGap, infer_sum
from firmware_py.procedure.outcomes import WITH_NUMBERS, Bound, Outcome
from firmware_py.procedure.reading import BEYOND, Kind, read
from firmware_py.procedure.results import EarResult, SessionResult, ThresholdResult
from firmware_py.procedure.route import BONE, BY_AIR, EARS, Route
from firmware_py.procedure.settings import CLINICAL_ASCENDING, FIFTY_PERCENT
from firmware_py.procedure.statements import may_compare

GAP_DB: Final = 15.0
NORMAL_BONE_DB_HL: Final = 20.0
TYPE_HZ: Final = (500, 1000, 2000)
_ALSO_TELLS_HZ: Final = 4000  # of the gaps there, if they are not measured
CALLED: Final = 0.5  # so likely a gap is called one
SURE: Final = 0.95  # a type of loss that is less likely is only probable
# A conductive loss cannot be larger: beyond it sound reaches the cochlea through the skull.
LARGEST_DB: Final = 60.0
# Of a threshold that perhaps lies above a limit, or above the level from which on the skin may feel
# tones by bone, the 95 % band reaches up to there; so much lower, at most, it lies.
PERHAPS_BELOW_DB: Final = 8.0
LEVEL_DIGITS: Final = 4  # of what is recorded: machines differ in the last bits
TYPE_SOURCE: Final = "Mazzoli et al. 2003"
EXAMINATION_SOURCE: Final = "21 CFR 801.420"


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
    def is_called(self) -> bool:
        """Return whether there surely enough is a gap of 15 dB and more."""
        return self.share > CALLED and self.bound != Bound.AT_MOST

    @property
    def is_denied(self) -> bool:
        """Return whether there is none."""
        return self.share <= CALLED and self.bound != Bound.AT_LEAST

    @property
    def is_undecided(self) -> bool:
        """Return whether it is neither: a bound that leaves both possible."""
        return not (self.is_called or self.is_denied)

    @property
    def is_impossible(self) -> bool:
        """Return whether it was measured, and is larger than any conductive loss."""
        return not self.inferred_hz and self.low_db is not None and self.low_db > LARGEST_DB

    @property
    def is_negative(self) -> bool:
        """Return whether it was measured, and bone conduction is surely poorer than air."""
        return not self.inferred_hz and self.high_db is not None and self.high_db < 0.0


@dataclass(frozen=True)
class EarGaps:
    """The gaps of an ear."""

    ear: str
    gaps: tuple[Gap, ...]  # each of one frequency, rising; without those of which nothing is known
    mean: Gap | None  # over `TYPE_HZ`; None: it may lie on either side of 15 dB
    loss: LossType
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
        """Return where it is larger than any conductive loss."""
        return [gap.frequencies_hz[0] for gap in self.gaps if gap.is_impossible]

    @property
    def bone_is_poorer(self) -> bool:
        """Return whether bone conduction is surely poorer than air, which no ear has."""
        return self.mean is not None and self.mean.is_negative

    @property
    def loss_is_probable(self) -> bool:
        """Return whether the type of loss is no more than probable, as is said beside it."""
        of = self.mean
        return of is not None and self.loss != LossType.UNKNOWN and 1.0 - SURE < of.share < SURE

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            **asdict(self),
            "loss_is_probable": self.loss_is_probable,
            "mean_is_undecided": self.mean is not None and self.mean.is_undecided,
            "bone_is_poorer": self.bone_is_poorer,
            "examined_hz": self.examined_hz,
            "impossible_hz": self.impossible_hz,
        }


def gaps_of(
    result: SessionResult, convention: str = FIFTY_PERCENT, gap_prior: GapPrior | None = None
) -> list[EarGaps]:
    """Return the gaps of each ear with valid tests by air and by bone, the right one first.

    Parameters
    ----------
    result : SessionResult
        As it may be told.
    convention : str
        Of its thresholds.
    gap_prior : GapPrior, optional
        What people have; by default what is shipped.
    """
    is_clinical = convention == CLINICAL_ASCENDING
    by_route = (result if is_clinical else in_convention(result, CLINICAL_ASCENDING)).by_route
    both = ((by_route.get(Route(ear)), by_route.get(Route(ear, BONE))) for ear in EARS)
    pairs = [
        (air, bone)
        for air, bone in both
        if air is not None and bone is not None and may_compare(air, bone)
    ]
    found = [_of_ear(air, bone, gap_prior) for air, bone in pairs]
    in_either = len(pairs) == len(EARS) and all(_is_open(*pair) for pair in pairs)
    return [replace(gaps, in_either=in_either) for gaps in found]


def _is_open(air: EarResult, bone: EarResult) -> bool:
    """Return whether it is open which cochlea heard the vibrator, and the gap is one if this did.

    One of both heard it: where that is so of both ears, one of them has a gap. Tones by air that
    the other ear may have heard only make it larger.
    """
    readings = [read(each) for each in bone.thresholds if each.frequency_hz in TYPE_HZ]
    by_air, by_bone = _levels(air), _levels(bone)
    if not all(each.doubtful and each.kind in (Kind.MEASURED, Kind.AT_MOST) for each in readings):
        return False
    if not {*TYPE_HZ} <= {f for f in by_air if f in by_bone and not by_air[f][0].at_most}:
        return False
    levels = [[replace(of[f][0], at_least=False) for f in TYPE_HZ] for of in (by_air, by_bone)]
    mean = _gap_between(TYPE_HZ, levels[0], levels[1], ())
    return mean is not None and mean.share > CALLED


@dataclass(frozen=True)
class _Level:
    # A threshold: a number with its SD, or a limit without one.
    db_hl: float
    sd_db: float
    at_least: bool  # it lies above, surely or because the other ear may have heard the tones
    at_most: bool

    @property
    def largest_db(self) -> float:
        """Return the level that it is at most; infinity: it lies beyond a limit."""
        return inf if self.at_least else self.db_hl


def _level(found: ThresholdResult, *, by_air: bool) -> _Level | None:
    """Return what is known of a threshold; None: nothing, or not on which side of a limit."""
    reading = read(found)
    if reading.kind in BEYOND and found.limit_db_hl is not None:
        bound = BEYOND[reading.kind]
        at_least = bound == Bound.AT_LEAST or reading.doubtful
        return _Level(found.limit_db_hl, 0.0, at_least, bound == Bound.AT_MOST)
    if reading.kind == Kind.PERHAPS_ABOVE and (by_air or _may_be_felt(found)):
        return _Level((found.limit_db_hl or 0.0) - PERHAPS_BELOW_DB, 0.0, True, False)
    if found.mark not in WITH_NUMBERS or reading.level_db_hl is None or found.sd_db is None:
        return None
    at_least = reading.limit == Bound.AT_LEAST or reading.doubtful
    return _Level(reading.level_db_hl, found.sd_db, at_least, reading.limit == Bound.AT_MOST)


def _may_be_felt(found: ThresholdResult) -> bool:
    """Return whether its limit is that of the skin, which may feel tones by bone from there on."""
    limit_db_hl, ceiling_db_hl = found.limit_db_hl, found.ceiling_db_hl
    return limit_db_hl is not None and ceiling_db_hl is not None and limit_db_hl < ceiling_db_hl


def _levels(ear: EarResult) -> dict[int, tuple[_Level, bool]]:
    """Return by frequency what is known of an ear, and whether that was inferred."""
    found = {}
    for place, each in enumerate(ear.thresholds):
        level = _level(each, by_air=ear.route.kind is BY_AIR)
        inferred = each.mark == Outcome.INFERRED
        if level is not None:
            doubtful = inferred and _is_beside_doubt(ear.thresholds, place)
            found[each.frequency_hz] = (
                replace(level, at_least=level.at_least or doubtful),
                inferred,
            )
    return found


def _is_beside_doubt(thresholds: Sequence[ThresholdResult], place: int) -> bool:
    """Return whether the other ear may have heard what an inferred threshold follows from."""
    asked = [i for i, each in enumerate(thresholds) if each.mark != Outcome.INFERRED]
    below = [i for i in asked if i < place][-1:]
    above = [i for i in asked if i > place][:1]
    return any(read(thresholds[i]).doubtful for i in below + above)


def _of_ear(air: EarResult, bone: EarResult, gap_prior: GapPrior | None) -> EarGaps:
    by_air, by_bone = _levels(air), _levels(bone)
    both = [f for f in by_air if f in by_bone]
    inferred = {f for f in both if by_air[f][1] or by_bone[f][1]}

    def gap_over(frequencies_hz: tuple[int, ...], known_hz: Sequence[int]) -> Gap | None:
        levels = [[known[f][0] for f in known_hz] for known in (by_air, by_bone)]
        among = tuple(f for f in known_hz if f in inferred)
        return _gap_between(frequencies_hz, levels[0], levels[1], among)

    def mean_gap() -> Gap | None:
        mean = gap_over(TYPE_HZ, TYPE_HZ) if {*TYPE_HZ} <= {*both} else None
        if mean is not None and mean.bound != Bound.AT_MOST:
            return mean
        some_hz = [f for f in TYPE_HZ if f in both and _is_some(by_air[f][0], by_bone[f][0])]
        least = gap_over(TYPE_HZ, some_hz) if some_hz else None
        if least is not None and least.is_called:
            return least
        probable = _mean_with_inferred(bone, by_air, by_bone, gap_prior)
        return probable if probable is not None and probable.is_called else mean

    gaps = tuple(gap for f in both if (gap := gap_over((f,), (f,))) is not None)
    mean = mean_gap()
    bone_levels = [by_bone[f][0] if f in by_bone else None for f in TYPE_HZ]
    return EarGaps(air.route.ear, gaps, mean, _loss_type(mean, bone_levels))


def _mean_with_inferred(
    bone: EarResult,
    by_air: dict[int, tuple[_Level, bool]],
    by_bone: dict[int, tuple[_Level, bool]],
    gap_prior: GapPrior | None,
) -> Gap | None:
    """Return the mean gap, inferred where bone conduction of this ear tells no number.

    There the skin may have felt the tones, or the threshold lies beyond the vibrator. Where the
    other ear may have heard them the gap counts as none. None: there is nothing to infer, or
    nothing that was measured tells of this ear.
    """
    measured: dict[int, MeasuredGap] = {
        f: MeasuredGap(a.db_hl - b.db_hl, sqrt(a.sd_db**2 + b.sd_db**2), a.at_least or b.at_most)
        for f in (*TYPE_HZ, _ALSO_TELLS_HZ)
        if f in by_air and f in by_bone
        for (a, by_others), (b, also_by_others) in [(by_air[f], by_bone[f])]
        if not by_others and not also_by_others and _is_some(a, b)
    }
    most_db = {
        f: by_air[f][0].largest_db - lowest_db_hl
        for f, lowest_db_hl in _hidden_db_hl(bone).items()
        if f in by_air and not by_air[f][0].at_most
    }
    if not measured or not most_db:
        return None
    some_hz = [
        f for f in TYPE_HZ
        if f not in most_db and f in by_air and f in by_bone
        and _is_some(by_air[f][0], by_bone[f][0])
    ]  # fmt: skip
    count = len(TYPE_HZ)
    levels = [[known[f][0] for f in some_hz] for known in (by_air, by_bone)]
    told_db = sum(a.db_hl - b.db_hl for a, b in zip(*levels, strict=True))
    told_sd_db = sqrt(sum(sum(each.sd_db for each in of) ** 2 for of in levels))
    hidden = infer_sum(measured, most_db, gap_prior or GapPrior.usual())
    spread = Spread(
        tuple(
            (weight, (told_db + db) / count, sqrt(told_sd_db**2 + sd_db**2) / count)
            for weight, db, sd_db in hidden.parts
        )
    )
    beyond = any(by_air[f][0].at_least for f in (*some_hz, *most_db))
    at_least = beyond or len(some_hz) + len(most_db) < count
    bound = Bound.AT_LEAST if at_least else Bound.NONE
    inferred_hz = {f for f in some_hz if by_air[f][1] or by_bone[f][1]} | {*most_db}
    return _make_gap(TYPE_HZ, spread, bound, (*sorted(inferred_hz),))


def _hidden_db_hl(bone: EarResult) -> dict[int, float]:
    """Return, of `TYPE_HZ`, where bone conduction tells no number, and what it is at least."""
    found = {}
    for each in bone.thresholds:
        reading = read(each)
        beyond = reading.kind in (Kind.ABOVE, Kind.PERHAPS_ABOVE) and not reading.doubtful
        if each.frequency_hz in TYPE_HZ and beyond and each.limit_db_hl is not None:
            below_db = PERHAPS_BELOW_DB if reading.kind == Kind.PERHAPS_ABOVE else 0.0
            found[each.frequency_hz] = each.limit_db_hl - below_db
    return found


def _is_some(air: _Level, bone: _Level) -> bool:
    """Return whether the gap is no less than the one between the two."""
    return not air.at_most and not bone.at_least


def _gap_between(
    frequencies_hz: tuple[int, ...],
    air: Sequence[_Level],
    bone: Sequence[_Level],
    inferred_hz: tuple[int, ...],
) -> Gap | None:
    """Return the mean gap over frequencies; None: it may lie on either side of its number.

    Levels of fewer frequencies make a mean that is at least so much: at the others there is no gap.
    """
    count = len(frequencies_hz)
    at_least = len(air) < count or any(a.at_least for a in air) or any(b.at_most for b in bone)
    at_most = any(a.at_most for a in air) or any(b.at_least for b in bone)
    if at_least and at_most:
        return None
    mean_db = sum(a.db_hl - b.db_hl for a, b in zip(air, bone, strict=True)) / count
    sd_db = sqrt(sum((sum(each.sd_db for each in of) / count) ** 2 for of in (air, bone)))
    spread = Spread(((1.0, mean_db, sd_db),))
    bound = Bound.AT_LEAST if at_least else Bound.AT_MOST if at_most else Bound.NONE
    return _make_gap(frequencies_hz, spread, bound, inferred_hz)


def _make_gap(
    frequencies_hz: tuple[int, ...], spread: Spread, bound: Bound, inferred_hz: tuple[int, ...]
) -> Gap:
    low_db, high_db = (round(end, LEVEL_DIGITS) for end in spread.band_db_hl())
    return Gap(
        frequencies_hz,
        round(spread.mean_db_hl, LEVEL_DIGITS),
        None if bound == Bound.AT_MOST else low_db,
        None if bound == Bound.AT_LEAST else high_db,
        round(spread.above(GAP_DB), LEVEL_DIGITS),
        bound,
        inferred_hz,
    )


def _loss_type(mean: Gap | None, bone: Sequence[_Level | None]) -> LossType:
    """Return the type of loss; `bone`: at `TYPE_HZ`, None where nothing is known."""
    if mean is None or mean.is_negative:  # the vibrator slipped, say
        return LossType.UNKNOWN
    if mean.is_denied:
        return LossType.SENSORINEURAL
    known = [each for each in bone if each is not None]
    if not mean.is_called or len(known) < len(bone):
        return LossType.UNKNOWN
    normal = sum(each.db_hl for each in known) / len(known) < NORMAL_BONE_DB_HL
    if any(each.at_least if normal else each.at_most for each in known):
        return LossType.UNKNOWN  # there is a gap, but bone conduction may be on either side
    return LossType.CONDUCTIVE if normal else LossType.MIXED
