"""When the measurement of an ear ends, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from firmware_py.ear.caps import AGAIN_TONES_MAX, tones_max
from firmware_py.ear.catch_trials import CatchTrials
from firmware_py.ear.objective import BITS
from firmware_py.ear.retest import RETEST_TONES_MAX
from firmware_py.ear.threshold_estimates import Estimate, ThresholdEstimates
from firmware_py.inference import enough
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import Code, Reason, Reasons, reason
from firmware_py.terms.settings import Settings

LIMIT_TONES: Final = enough.LIMIT_ANSWERS
CATCHES_BEFORE_HEARS_ALL: Final = 3


@dataclass
class Tally:
    """What one ear's tones were answered with, those of familiarisation and retest included."""

    tones: int = 0
    heard: int = 0
    unsure: int = 0

    @property
    def answered(self) -> int:
        return self.heard + self.unsure

    def count(self, heard: bool | None) -> None:
        self.tones += 1
        self.heard += heard is True
        self.unsure += heard is None


@dataclass(frozen=True)
class Stop:
    """The end of a measurement: its outcome, and why.

    `enough`: the answers are enough for numbers, or no tone is left for more; `cap`: that none is.
    """

    outcome: Outcome
    why: Reasons
    enough: bool = False
    cap: Reason | None = None


class StoppingRule:
    """Judges after every answer of an ear if there are enough."""

    def __init__(
        self,
        settings: Settings,
        audiogram: ThresholdEstimates,
        catch_trials: CatchTrials,
        tally: Tally,
    ) -> None:
        self._settings = settings
        self._audiogram = audiogram
        self._estimator = audiogram.estimator
        self._levels = audiogram.levels
        self._tally = tally
        self._catch_trials = catch_trials
        self._tones_max = tones_max(settings, self._levels.route.kind)
        self._beside = 0  # tones that the cap does not count
        self._kept = RETEST_TONES_MAX if settings.retest else 0  # tones for the retest
        # That the tones were used up, once they were: those that are free later are for what was
        # not asked yet, and for bands that the retest made wider.
        self.cap: Reason | None = None

    def ask_again(self) -> None:
        """Allow the tones for what is asked again with noise; there is no second retest."""
        self._kept = 0
        self.allow(AGAIN_TONES_MAX)

    def allow(self, tones: int) -> None:
        """Allow so many tones on top of the cap, and of the checks of attention above it."""
        self._tones_max = max(self._tones_max, self._counted) + tones
        self.cap = None

    def leave_out(self, tones: int) -> None:
        """Do not count so many tones, of those that were asked, for the cap."""
        self._beside += tones

    @property
    def _counted(self) -> int:
        return self._tally.tones - self._beside

    def retest_is_over(self) -> None:
        self._kept = 0

    @property
    def tones_left(self) -> int:
        """Return how many tones are left beside those kept for the retest.

        Checks of attention come above the cap too: it may be less than none.
        """
        return self._tones_max - self._kept - self._counted

    @property
    def retest_fits(self) -> bool:
        """Return whether a retest is wanted, and its tones are left."""
        return 0 < self._kept <= self._tones_max - self._counted

    @property
    def needs_catches(self) -> bool:
        """Return whether it has to be seen if the button is pressed without a tone as well."""
        return self._hears_all() and self._catch_trials.count < CATCHES_BEFORE_HEARS_ALL

    def judge(self) -> Stop | None:
        catches = self._catch_trials
        if catches.judgeable and catches.unreliable:
            return Stop(Outcome.UNRELIABLE, (catches.alarms(),))
        if self._hears_nothing():
            limits_db_hl = self._levels.limits_db_hl(self._audiogram.frequencies_hz)
            return Stop(Outcome.NO_RESPONSE, (_no_response(limits_db_hl),))
        if self._hears_all():
            if self.needs_catches:
                return None
            if catches.unreliable:
                return Stop(Outcome.UNRELIABLE, (catches.alarms(),))
            floors_db_hl = self._levels.floors_db_hl(self._audiogram.frequencies_hz)
            return Stop(
                Outcome.HEARS_ALL, (_at_each(floors_db_hl, Code.ALL_HEARD, Code.ALL_HEARD_AT_EACH),)
            )
        both_sides = self._tally.answered > 0 and self._tally.heard < self._tally.tones
        if not both_sides or not self._estimator.trial_count:
            return None
        cap = self.cap or self._cap_now()
        enough = self._enough(cap)
        if not enough:
            return None
        outcome = self._audiogram.common_mark() or Outcome.MEASURED
        return Stop(outcome, enough, enough=True, cap=cap if cap in enough else None)

    def _cap_now(self) -> Reason | None:
        """Say that the tones are used up, if they are: all but those kept for the retest."""
        most, tones, kept = self._tones_max, self._counted, self._kept
        if self.tones_left > 0:
            return None
        if not kept:
            return reason(Code.CAP, tones_max=most)
        left = most - tones
        if left >= kept:
            return reason(Code.CAP_KEPT, tones_max=most, tones=tones, kept=kept)
        return reason(Code.CAP_TOO_FEW, tones_max=most, tones=tones, left=left)

    def _hears_nothing(self) -> bool:
        """Return whether nothing was heard, or by accident only, up to the limit."""
        tally, silent = self._tally, self._audiogram.marks.all_silent_at_limit()
        if tally.answered == 0 and tally.tones >= self._settings.tones_max:
            return True
        return silent.total() >= LIMIT_TONES and (
            tally.answered == 0 or self._audiogram.common_side() == Outcome.NO_RESPONSE
        )

    def _hears_all(self) -> bool:
        """Return whether everything was heard, but for accidents, down to the floor.

        Where a room raises some floors, tones at these tell nothing of the other frequencies: each
        is to be known.
        """
        tally = self._tally
        if tally.heard == tally.tones >= self._settings.tones_max:
            return True
        if self._audiogram.marks.all_heard_at_floor().total() < LIMIT_TONES:
            return False
        if self._audiogram.common_side() == Outcome.HEARS_ALL:
            return True
        return tally.heard == tally.tones and (not self._levels.room_db_hl or self._is_narrow)

    @property
    def _is_narrow(self) -> bool:
        return self._audiogram.width_of_wanted(self._audiogram.widest()) <= 1.0

    def _enough(self, cap: Reason | None) -> Reasons:
        """Return why the answers are enough; nothing if they are not. `cap`: none is left."""
        least_bits = self._settings.stop_information_bits
        least = 0 if self._levels.route.kind.follows_air else self._settings.tones_min
        if self._tally.tones < min(least, self._tones_max - self._kept):
            return ()
        asked_hz = self._audiogram.silent_up_to_limits_hz()
        if self._levels.left_out_hz and asked_hz:
            return (_no_response(self._levels.limits_db_hl(asked_hz)),)
        widest = self._audiogram.widest()
        if self._is_narrow:
            return (self._band(Code.NARROW_ENOUGH, widest),)
        if cap:
            return self._short(cap, widest)
        if least_bits > 0.0:
            candidates_hz = self._estimator.candidate_frequencies_hz
            limits_db_hl = self._levels.limits_db_hl(candidates_hz)
            floors_db_hl = self._levels.floors_db_hl(candidates_hz)
            best = BITS.choose(self._estimator, limits_db_hl, floors_db_hl=floors_db_hl)
            bits = best.information_bits
            if bits <= least_bits:
                return self._short(reason(Code.NEXT_ANSWER_TELLS, information_bits=bits), widest)
        return ()

    def _band(self, code: Code, widest: Estimate, **more: float) -> Reason:
        half_width_db, frequency_hz = self._audiogram.half_width_db(widest), widest.frequency_hz
        return reason(code, half_width_db=half_width_db, frequency_hz=frequency_hz, **more)

    def _short(self, end: Reason, widest: Estimate) -> Reasons:
        wanted_db = self._audiogram.wanted_half_width_db(widest.frequency_hz)
        why = [end, self._band(Code.WIDE_STILL, widest, wanted_db=wanted_db)]
        limits_db_hl = {
            each.frequency_hz: self._levels.limit_db_hl(each.frequency_hz)
            for each in self._audiogram.estimates()
            if each.mark == Outcome.INCOMPLETE
        }
        return (*why, _perhaps_beyond(limits_db_hl)) if limits_db_hl else tuple(why)


def _no_response(limits_db_hl: Sequence[float]) -> Reason:
    """Say that nothing was heard up to the limits of the audiogram frequencies."""
    return _at_each(limits_db_hl, Code.NO_RESPONSE, Code.NO_RESPONSE_AT_EACH)


def _at_each(levels_db_hl: Sequence[float], alike: Code, differing: Code) -> Reason:
    low_db_hl, high_db_hl = min(levels_db_hl), max(levels_db_hl)
    if low_db_hl == high_db_hl:
        return reason(alike, **{alike.parts[0]: high_db_hl})
    return reason(differing, low_db_hl=low_db_hl, high_db_hl=high_db_hl)


def _perhaps_beyond(limits_db_hl: Mapping[int, float]) -> Reason:
    """Name the limits at the frequencies where the threshold lies perhaps beyond them."""
    levels = {*limits_db_hl.values()}
    if len(levels) == 1:
        return reason(Code.PERHAPS_BEYOND, limit_db_hl=levels.pop(), frequencies_hz=[*limits_db_hl])
    each = limits_db_hl.items()
    limits = [reason(Code.LIMIT_AT, limit_db_hl=limit, frequency_hz=f) for f, limit in each]
    return reason(Code.PERHAPS_BEYOND_EACH, limits=limits)
