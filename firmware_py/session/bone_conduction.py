"""Bone conduction of a session's ears: what air tells of it, in which order it is asked, and how.

By bone a tone reaches both cochleae. The first test of an ear is without noise, as in clinics, and
its threshold is that of the better cochlea; where that leaves open whose it is, the ear is asked
again with noise in the other one, and the threshold is its own (`by_bone.py`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from firmware_py.ear.otherwise import Otherwise
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY, Estimate
from firmware_py.inference.curves import Curves, mean_over
from firmware_py.inference.elementary import exp
from firmware_py.inference.mixture import bone_prior
from firmware_py.inference.mixture.gap_posterior import gap_of
from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.thresholds import NORMAL_975
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.presentation import Observation, without
from firmware_py.terms.results import BONE_POORER_DB, GAP_FREQUENCIES_HZ, MeanGap
from firmware_py.terms.route import BONE, BY_BONE, Route

if TYPE_CHECKING:
    from firmware_py.ear.ear import EarTest
    from firmware_py.inference.estimator import ThresholdEstimator

OWN_SHARE: Final = 0.5  # how likely it was this ear that answered, where that matters
POORER_DB: Final = 20.0  # at one frequency: ears so far apart are asked again with noise, as a rule
GAP_HZ: Final = tuple(map(float, GAP_FREQUENCIES_HZ))  # knots, see `_curves_at`
FELT_MAX: Final = 0.05  # more likely felt for one much above, a threshold is perhaps above
MEAN_HZ: Final = (500, 1000, 2000, 4000)  # which ear is the poorer one


@dataclass(frozen=True)
class WithoutNoise:
    """What was found of an ear without noise: it is of the better cochlea."""

    curves: Curves
    lowest_db_hl: Mapping[int, float]  # by frequency: below it neither hears anything
    moved: Otherwise | None  # how the vibrator seems to have slipped; None: it does not


class BoneConduction:
    """The bone tests of one session; `ears`: those that are tested, by all routes."""

    def __init__(self, ears: Mapping[Route, "EarTest"], person: Person) -> None:
        self._ears = ears
        self._person = person
        self.tests = {route: ear for route, ear in ears.items() if route.kind is BY_BONE}
        # Of the ears that are, or were, asked again with it.
        self.without_noise: dict[Route, WithoutNoise] = {}
        self.gaps: GapPrior | None = None  # what people have of air-bone gaps; research has its own
        self.prior: PopulationPrior | None = None  # what people have by air; None: what is shipped

    def next_route(self) -> Route | None:
        """Return the test under way or next, of the better ear by air first; None: none is.

        Of that one the better cochlea is heard, which says what noise the poorer one needs.
        """
        waiting = [e for e in self.tests.values() if not e.over and self._air_known(e.route.ear)]
        begun = [ear.route for ear in waiting if ear.attention.answers]
        others = sorted((ear.route for ear in waiting), key=self._hears_less)
        return next(iter([*begun, *others]), None)

    @property
    def under_way(self) -> bool:
        """Return whether a test by bone was begun and one is to come: what is by air waits."""
        begun = any(ear.attention.answers for ear in self.tests.values())
        return begun and self.next_route() is not None

    def is_poorer(self, route: Route) -> bool:
        """Return whether an ear is so much poorer by air that its bone conduction wants noise.

        The better cochlea answers for it: that looks like a gap of this ear.
        """
        own, other = (self._ears.get(Route(ear)) for ear in (route.ear, route.noise.ear))
        if own is None or other is None or not (own.found and other.found):
            return False
        asked_hz = [f for f in MEAN_HZ if f in own.audiogram.frequencies_hz]
        levels = zip(*(each.estimator.threshold(asked_hz)[0] for each in (own, other)), strict=True)
        return any(own_db_hl - other_db_hl >= POORER_DB for own_db_hl, other_db_hl in levels)

    def by_either(self, route: Route) -> Curves:
        """Return what is known of a threshold by bone without noise, before any answer."""
        knots_hz = self._ears[route].estimator.knots_hz
        other = self.of(route.noise.ear)
        if other is not None:
            return bone_prior.other_side(self._of_either_by(other))
        own, others = (self._by_air(ear, knots_hz) for ear in (route.ear, route.noise.ear))
        return bone_prior.better_cochlea(own, others, knots_hz, self.gaps)

    def keep(self, route: Route) -> None:
        """Keep what was found without noise: from now on the ear is asked with noise.

        It was found by the other ear's test, if this one is asked with noise from the first tone.
        """
        ear = self.tests[route]
        if not ear.observations:
            ear = self.of(route.noise.ear) or ear
        frequencies_hz = ear.audiogram.frequencies_hz
        low_db_hl, _ = ear.estimator.posterior_band(frequencies_hz, BAND_PROBABILITY)
        lowest_db_hl = dict(zip(frequencies_hz, low_db_hl.tolist(), strict=True))
        moved = ear.listening.moved()
        self.without_noise[route] = WithoutNoise(self._of_either_by(ear), lowest_db_hl, moved)

    def gaps_shown_db(self, route: Route) -> dict[int, float]:
        """Return the gaps of an ear against what the other ear's test found without noise.

        By frequency, above the usual ones; none if that is not known.
        """
        other = self.of(route.noise.ear)
        if other is None or not self._air_known(route.ear):
            return {}
        knots_hz = other.estimator.knots_hz
        at_hz = [f for f in other.audiogram.frequencies_hz if f in knots_hz]
        by_air, _ = self._by_air(route.ear, tuple(map(float, at_hz))).moments()
        found, _ = self._of_either_by(other).moments()
        return {
            f: air_db_hl - float(found[knots_hz.index(f)]) - bone_prior.usual_gap_db(f, self.gaps)
            for f, air_db_hl in zip(at_hz, by_air.tolist(), strict=True)
        }

    def _of_either_by(self, ear: "EarTest") -> Curves:
        kept = self.without_noise.get(ear.route)
        return ear.estimator.curves_at_knots() if kept is None else kept.curves

    def own(self, route: Route, suspects: Sequence[Observation]) -> Curves:
        """Return what is known of the ear's own threshold, by air and by its answers without noise.

        What was found without noise was the one's or the other's. If it was this one's, that is its
        threshold, within what the skull takes away: a cochlea that is little worse than the other
        one answers nearly as early. Else it is what air tells of it, and what is its own of the
        answers: silences are. Either way each of them counts once, here, and must not be given to
        the estimator again. (When they were, bands were too narrow by a quarter.)

        `route`: by bone; what was found without noise has been kept. `suspects`: the answers that
        the other cochlea may have given.
        """
        ear, knots_hz = self._ears[route], self._ears[route].estimator.knots_hz
        by_air = bone_prior.cochlea(self._by_air(route.ear, knots_hz), knots_hz, self.gaps)
        own_answers = without(ear.evidence.tones, suspects)
        not_heard, log_evidence = by_air, 0.0
        if own_answers:
            not_heard, log_evidence = ear.would_tell(by_air, own_answers)
        # The less likely they are by what air tells, the more it was this ear that answered.
        share = OWN_SHARE / (OWN_SHARE + (1.0 - OWN_SHARE) * exp(log_evidence))
        return bone_prior.other_side(self.without_noise[route].curves).or_else(not_heard, share)

    def of(self, ear: str) -> "EarTest | None":
        """Return the test of an ear by bone; None if it is not measured, or not to be trusted."""
        found = self.tests.get(Route(ear, BONE))
        if found is None or not found.observations or not found.found:
            return None
        return None if found.outcome == Outcome.UNRELIABLE else found

    def lowest_db_hl(self, ear: str, by: Route, frequency_hz: float) -> float | None:
        """Return a level below which an ear's cochlea hears nothing; None: not measured.

        What is found without noise is of the better of both: it holds of either. So the test of the
        other ear says it too, if that is the one `by` which is asked.
        """
        found = self.of(ear)
        if found is None and by in self.without_noise:
            return self.without_noise[by].lowest_db_hl.get(int(frequency_hz))
        found = found or self.tests.get(by)
        if found is None or not found.found or frequency_hz not in found.audiogram.frequencies_hz:
            return None
        return float(found.estimator.posterior_band([frequency_hz], BAND_PROBABILITY)[0][0])

    def gap_db(self, route: Route, estimate: Estimate) -> float:
        """Return the air-bone gap of an ear, above the one that ears without a loss of it show."""
        air = self._ears[Route(route.ear)].estimator
        air_db_hl = float(air.threshold([estimate.frequency_hz])[0][0])
        usual_db = bone_prior.usual_gap_db(estimate.frequency_hz, self.gaps)
        return air_db_hl - estimate.mean_db_hl - usual_db

    def felt_hz(self, route: Route) -> list[int]:
        """Return where the skin may have answered for a cochlea that hears much less.

        What air tells of that weighs as much as the level: a threshold by bone that lies near the
        one by air is hardly another, whoever answered.
        """
        ear, kind = self.tests[route], route.kind
        estimates = [
            each for each in ear.audiogram.told_estimates()
            if kind.vibrotactile_db_hl(each.frequency_hz) < math.inf
        ]  # fmt: skip
        knots_hz = ear.estimator.knots_hz
        known = [e for e in estimates if e.frequency_hz in knots_hz]
        if not known:
            return []
        at_hz = tuple(float(each.frequency_hz) for each in known)
        expected = self._expected(route, at_hz)
        return [
            each.frequency_hz
            for place, each in enumerate(known)
            if bone_prior.felt_share(
                expected, place, each.mean_db_hl, each.sd_db,
                kind.vibrotactile_db_hl(each.frequency_hz),
            ) > FELT_MAX
        ]  # fmt: skip

    def _expected(self, route: Route, at_hz: tuple[float, ...]) -> Curves:
        """Return what air tells of the cochlea that was asked for: without noise, of the better."""
        own = self._by_air(route.ear, at_hz)
        if route in self.without_noise:
            return bone_prior.cochlea(own, at_hz, self.gaps)
        others = self._by_air(route.noise.ear, at_hz)
        return bone_prior.better_cochlea(own, others, at_hz, self.gaps)

    def mean_gap(self, route: Route) -> MeanGap | None:
        """Return the mean gap of an ear by both of its routes; None: one of them is not known."""
        own, air = self.of(route.ear), self._ears.get(Route(route.ear))
        if own is None or air is None or not self._air_known(route.ear):
            return None
        low_hz, high_hz = own.estimator.frequency_range_hz
        if not low_hz <= min(GAP_HZ) <= max(GAP_HZ) <= high_hz:
            return None
        by_air, by_bone = (each.estimator.joint_threshold(GAP_HZ) for each in (air, own))
        return MeanGap(*mean_over(*gap_of(by_air, by_bone, GAP_HZ, self.gaps).moments()))

    def moved(self, route: Route) -> Otherwise | None:
        """Return how the vibrator seems to have slipped in the tests of an ear; None: it does not.

        What the one without noise found is in what is known of the ear with noise.
        """
        kept = self.without_noise.get(route)
        return (kept and kept.moved) or self.tests[route].listening.moved()

    def poorer_than_air(self) -> str:
        """Return an ear that surely hears less by bone than by air, "": none does.

        No ear does: the vibrator sat too weakly, or slipped, and did so at the other ear perhaps.
        """
        for route in self.tests:
            gap = self.mean_gap(route)
            if gap is not None and gap.gap_db + NORMAL_975 * gap.sd_db < BONE_POORER_DB:
                return route.ear
        return ""

    def _air_known(self, ear: str) -> bool:
        air = self._ears[Route(ear)]
        return air.found and air.outcome != Outcome.UNRELIABLE and air.tally.tones > 0

    def _hears_less(self, route: Route) -> float:
        air = self._ears[Route(route.ear)]
        asked_hz = [f for f in MEAN_HZ if f in air.audiogram.frequencies_hz]
        mean_db_hl, _ = air.estimator.threshold(asked_hz)
        return float(sum(mean_db_hl.tolist()))

    def _by_air(self, ear: str, frequencies_hz: tuple[float, ...]) -> Curves:
        """Return what is known of an ear by air; of one that is not tested, what people have."""
        if Route(ear) not in self._ears or not self._air_known(ear):
            person = self._person
            return bone_prior.people(person.age_years, person.sex, frequencies_hz, self.prior)
        return _curves_at(self._ears[Route(ear)].estimator, frequencies_hz)


def _curves_at(air: "ThresholdEstimator", frequencies_hz: tuple[float, ...]) -> Curves:
    """Return the posterior of an air test; beyond what could be asked, as at the end of that.

    Between knots a sum has other bits on other machines: at these frequencies it is one term.
    """
    low_hz, high_hz = air.frequency_range_hz
    known_hz = [f for f in air.knots_hz if low_hz <= f <= high_hz]
    nearest = [min(known_hz, key=lambda k: abs(k - f)) for f in frequencies_hz]
    asked_hz = sorted({*nearest})
    at = [asked_hz.index(f) for f in nearest]
    weight, mean_db_hl, covariance_db2 = air.joint_threshold(asked_hz)
    return Curves(weight, mean_db_hl[:, at], covariance_db2[:, at][:, :, at])
