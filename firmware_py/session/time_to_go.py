"""How long a session still takes: an estimate for the operator, on which nothing in the test rests.

What is missing is counted in bits, at every frequency the logarithm of how often its band has to be
halved. The first answers, which tell of many frequencies at once, bring more of them than the last:
an ear takes tones about as the square root of its bits.
"""

import math
from dataclasses import dataclass
from typing import Final

from firmware_py.ear.bracketing import DONE
from firmware_py.ear.ear import EarTest
from firmware_py.inference.elementary import LOG_2, log
from firmware_py.presenting.pace import Pace
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CLINICAL, Settings


@dataclass(frozen=True)
class Missing:
    """What an ear does not know yet.

    `bits`: summed over the audiogram frequencies, the binary logarithm of the width of the band as
    a part of the one that is wanted.
    """

    bits: float
    frequencies: int  # that are still to be asked themselves
    checks: int  # clear tones still to come
    measuring: bool  # none of them was asked yet, for the bands are too wide


@dataclass(frozen=True)
class Tones:
    """How many tones it takes: in any case, for the root of the bits, and for each frequency."""

    in_any_case: float
    a_root_bit: float
    a_frequency: float


# By least absolute error, of people of NHANES with two ears, 32 sessions of each conduct; rounded:
# gp-pta study --time-to-go --audiograms nhanes_audiograms.csv --people 32
# Where tones are chosen by bits a second, each tells less and is over sooner.
BY_BITS_PER_SECOND: Final = Tones(0.2, 5.8, 0.0)
BY_BITS: Final = Tones(0.1, 4.0, 0.7)
FAMILIAR_TONES: Final = 4  # two or three down, one or two up
RETEST_TONES: Final = 3  # one ascent from 10 dB below in 5 dB steps: heard at the third, as a rule
CONFIRM_TONES: Final = 9  # a frequency
# Medians of simulated tests by air and bone. By bone an ear begins with what air tells of it: until
# then its bands say nothing of how many tones it takes. Anew it is asked with noise.
BONE_TONES: Final = 12
BONE_AGAIN_TONES: Final = 11
AGAIN_TONES: Final = 3
AGAIN_SHARE: Final = 0.2  # of ears by bone that do not begin with it
PLACING_S: Final = 10.0  # of the vibrator, or of the earphones once more

PACE_TRIALS: Final = 10.0  # what is expected of the pace is worth so many presentations
TRIAL_S_MAX: Final = 8.0  # what took longer was a pause of the operator, or a board that was lost


class TimeToGo:
    """The expected time to the end of a session.

    Its median absolute error at 25, 50 and 75 % of an ear was 6, 6 and 4 s of 108 s in brisk
    sessions of two ears, and 12, 9 and 6 s of 250 s in clinical ones: 32 people each, whom the
    coefficients were not fitted to (--part held-out --seed 101). When something is to be placed by
    bone it was 10 s off in the median in brisk sessions, and 15 s in clinical ones (24 of each,
    with conductive losses). It does not foresee what makes a session longer by surprise.
    """

    def __init__(self, settings: Settings, hearing: CrossHearing, pace: Pace) -> None:
        self._settings = settings
        self._hearing = hearing
        self._pace = pace
        # Which ears want noise, by what is known of all: until the next answer tells more of one.
        self._wanting: tuple[list[int], dict[Route, float]] | None = None
        self._answered_us: int | None = None
        self._trials = 0
        self._trials_us = 0

    def take_answer(self, now_us: int) -> None:
        """Learn from the time of an answer how long a presentation takes."""
        before_us, self._answered_us = self._answered_us, now_us
        if before_us is not None and now_us - before_us <= 1e6 * TRIAL_S_MAX:
            self._trials += 1
            self._trials_us += now_us - before_us

    @property
    def trial_s(self) -> float:
        expected = self._pace.trial_time
        expected_s = 0.5 * (expected.answered_s + expected.silent_s)
        seconds = PACE_TRIALS * expected_s + 1e-6 * self._trials_us
        return seconds / (PACE_TRIALS + self._trials)

    def seconds(self) -> float:
        again = self._asked_again()
        tones = sum(self._tones(ear) for ear in self._hearing.ears.values())
        tones += sum(
            share * (BONE_AGAIN_TONES if route.by_bone else AGAIN_TONES)
            for route, share in again.items()
        )
        placings = self._placings(again)
        if not tones and placings:
            tones = AGAIN_TONES  # for an ear that is known the operator is asked for no place
        if self._settings.conduct == CLINICAL:
            tones /= 1.0 - self._settings.catch_rate
        return tones * self.trial_s + PLACING_S * placings

    def _asked_again(self) -> dict[Route, float]:
        hearing = self._hearing
        if not (hearing.watched and hearing.can_mask):
            return {}
        known = [ear.estimator.changes * ear.found for ear in hearing.ears.values()]
        known += [len(hearing.asked_again), sum(hearing.asked_again.values())]
        if self._wanting is None or self._wanting[0] != known:
            shares = {route: self._again_share(route) for route in hearing.ears}
            self._wanting = known, {route: share for route, share in shares.items() if share}
        return self._wanting[1]

    def _again_share(self, route: Route) -> float:
        hearing = self._hearing
        if hearing.ears[route].found:
            again = hearing.to_ask_again(route)
            return float(again is not None and bool(again.forgotten))
        if not route.by_bone or route in hearing.asked_again:
            return 0.0
        return 0.0 if hearing.ways[route].has_noise else AGAIN_SHARE

    def _placings(self, again: dict[Route, float]) -> float:
        """Return how often vibrator or earphones are still put where they are not."""
        by_bone = [ear for route, ear in self._hearing.ears.items() if route.by_bone]
        if not by_bone:
            return 0
        begun = [ear for ear in by_bone if ear.attention.answers]
        count = float(len(by_bone) - len(begun))
        count += sum(share for route, share in again.items() if route.by_bone)
        if self._settings.confirmed_hz or any(not route.by_bone for route in again if begun):
            count += 1  # earphones
        return max(count, float(self._hearing.placing.wanted is not None))

    def _tones(self, ear: EarTest) -> float:
        s = self._settings
        confirm = 0.0
        if s.confirmed_hz and (ear.confirmation is None or not ear.over):
            begun = () if ear.confirmation is None else ear.confirmation.results()
            confirm = CONFIRM_TONES * len(s.confirmed_hz) - sum(each.tones for each in begun)
            confirm = max(confirm, 1.0)
        if ear.found:
            return confirm
        retest = RETEST_TONES if s.retest and ear.retest is None else 0
        if ear.route.by_bone and not ear.attention.answers:
            return BONE_TONES + retest
        missing = self.missing(ear)
        if ear.phase == Purpose.RETEST:
            return RETEST_TONES - 1.0 + missing.checks + confirm
        of, tones = BY_BITS_PER_SECOND if s.per_second else BY_BITS, 0.0
        if missing.measuring:
            tones = of.in_any_case + of.a_root_bit * math.sqrt(missing.bits)
            tones += of.a_frequency * missing.frequencies
        if ear.phase == Purpose.FAMILIARISE:
            tones += max(FAMILIAR_TONES - ear.tally.tones, 1)
        tones = min(tones + retest, max(s.tones_max - ear.tally.tones, 0.0))
        return max(tones + missing.checks, 1.0) + confirm

    def missing(self, ear: EarTest) -> Missing:
        estimates = ear.audiogram.estimates()
        bits = sum(
            max(log(ear.audiogram.width_of_wanted(each)) / LOG_2, 0.0)
            for each in ear.audiogram.deciding_estimates()
        )
        frequencies = sum(
            each.mark not in DONE
            and (self._settings.ask_all or each.frequency_hz not in ear.route.kind.inter_octave_hz)
            for each in estimates
        )
        attention = ear.attention
        return Missing(bits, frequencies, attention.checks_to_come, attention.checks_asked == 0)
