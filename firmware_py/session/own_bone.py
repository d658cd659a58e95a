"""What of a test by bone is the ear's own, and how it is asked for that, with the other one beside.

Without noise either cochlea may answer. What matters of an ear is asked again with noise, where
that can be of the right level; and behind noise that may be too much, where it cannot
(`behind_noise.py`).
"""

import math
from collections.abc import Container, Mapping
from dataclasses import replace

from firmware_py.ear.ear import EarTest
from firmware_py.ear.threshold_estimates import Estimate, Unmasked
from firmware_py.session import masking
from firmware_py.session.behind_noise import TIMES, BehindNoise
from firmware_py.session.crossing import Crossing
from firmware_py.session.plateau import CHECK_ABOVE_DB, CHECK_ABOVE_DB_MIN
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.person import Person
from firmware_py.terms.presentation import Cover, Presentation
from firmware_py.terms.reasons import Reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings


class OwnBone(Crossing):
    """The ears of a session, and what is asked of each by bone alone.

    Attributes
    ----------
    asked_again : dict of Route to bool
        Routes that were asked again with noise, by air too, and whether bone conduction of the
        other ear was known then: with it, an ear is judged once more.
    """

    def __init__(
        self,
        settings: Settings,
        ears: Mapping[Route, EarTest],
        earphones: masking.Earphones,
        person: Person,
    ) -> None:
        super().__init__(settings, ears, earphones, person)
        self.asked_again: dict[Route, bool] = {}
        self._behind_noise = {route: BehindNoise() for route in ears if route.by_bone}

    def ask_own(self, route: Route) -> None:
        """Ask an ear by bone again, with noise: one answer of the other would be wrong for all."""
        self._begin_with_own(route)
        self._limit_to_masked(route)
        suspects = self.suspects(route)
        self.ears[route].ask_again(suspects, self.bone.own(route, suspects))

    def _begin_with_own(self, route: Route) -> None:
        self.asked_again[route] = True
        self.bone.keep(route)

    def _limit_to_masked(self, route: Route) -> None:
        """Ask nothing that no noise would mask which the other ear may have: it tells nothing.

        Nor where only levels could be masked that are softer than what was heard without noise.
        """
        levels = self.ears[route].levels
        for each in self.ears[route].audiogram.estimates():
            f = each.frequency_hz
            wanted = range(math.floor(levels.limit_db_hl(f)), math.floor(levels.floor_db_hl), -1)
            tones = (Presentation(Purpose.MEASURE, f, float(level)) for level in wanted)
            sure = next((t.level_db_hl for t in tones if self.can_be_sure(route, t)), -math.inf)
            if sure <= each.mean_db_hl:
                levels.left_out_hz.append(f)
                self._keep_unmasked(route, each)
            else:
                levels.lower_limit(f, sure)

    def _keep_unmasked(self, route: Route, found: Estimate) -> None:
        """Keep what was heard without noise where none masks: whose it is cannot be told."""
        frequency_hz, levels = found.frequency_hz, self.ears[route].levels
        level_db_hl = levels.within_db_hl(frequency_hz, math.floor(found.mean_db_hl) + 1.0)
        cover = self.needed_cover(route, Presentation(Purpose.MEASURE, frequency_hz, level_db_hl))
        heard = found.mark not in (Outcome.INFERRED, Outcome.NO_RESPONSE)
        if heard and cover.noise_db_hl is None and cover.why is not None:
            self.ears[route].audiogram.unmasked[frequency_hz] = Unmasked(found, cover.why)
            self._want_behind_noise(route, found)

    def want_behind_noise(self, route: Route, frequencies_hz: Container[int]) -> None:
        """Have tones of an ear be asked behind enough noise: there is none of the right level.

        Parameters
        ----------
        route : Route
            By bone.
        frequencies_hz : container of int
            Where its threshold may be the other ear's.
        """
        for each in self.ears[route].audiogram.estimates():
            if each.frequency_hz in frequencies_hz:
                self._want_behind_noise(route, each)

    def _want_behind_noise(self, route: Route, found: Estimate) -> None:
        """Have a tone be asked behind enough noise, if one that is heard would be this ear's."""
        frequency_hz = found.frequency_hz
        most_db_hl = self.ears[route].levels.limit_db_hl(frequency_hz)
        felt_db_hl = route.kind.vibrotactile_db_hl(frequency_hz)
        wanted_db_hl = math.ceil(found.mean_db_hl + CHECK_ABOVE_DB)
        level_db_hl = float(min(wanted_db_hl, math.floor(most_db_hl), felt_db_hl - 1.0))
        tone = Presentation(Purpose.PLATEAU, frequency_hz, level_db_hl)
        room = level_db_hl >= found.mean_db_hl + CHECK_ABOVE_DB_MIN
        if room and self.enough_noise(route, tone).noise_db_hl is not None:
            self._behind_noise[route].want(frequency_hz, level_db_hl)

    def next_behind_noise(self) -> tuple[Route, Presentation] | None:
        """Return a tone by bone behind noise that may hide it, and by which route.

        When an ear was asked again, while the vibrator is where it was.
        """
        if not self.can_mask or self.bone.under_way:
            return None
        for route, behind in self._behind_noise.items():
            ear = self.ears[route]
            room = ear.estimator.trial_count + TIMES <= ear.estimator.max_trials
            while ear.over and ear.outcome != Outcome.UNRELIABLE and room and (due := behind.due):
                tone = ear.levels.tone(due.purpose, due.frequency_hz, due.level_db_hl)
                if self.enough_noise(route, tone).noise_db_hl is not None:
                    return route, replace(tone, why=due.why)
                behind.leave_out()  # more is known of the other ear than when it was wanted
        return None

    def take_behind_noise(
        self,
        route: Route,
        tone: Presentation,
        heard: bool,
        cover: Cover,
        whys: Mapping[int, Reason | None],
    ) -> None:
        """Take the answer to a tone that `next_behind_noise` named.

        The first answers that are surely this ear's end those of either. What was heard without
        noise is kept where none follow: `whys`, by frequency, why it is uncertain whose it is.
        """
        answers = self._behind_noise[route].take_answer(tone, heard, cover)
        ear, audiogram = self.ears[route], self.ears[route].audiogram
        if answers and route not in self.asked_again:
            for found in audiogram.estimates():
                f = found.frequency_hz
                if found.mark != Outcome.INFERRED:
                    audiogram.unmasked[f] = Unmasked(found, whys[f])
            self._begin_with_own(route)
            suspects = self.suspects(route)
            ear.expect_own(self.bone.own(route, suspects), suspects)
        for each in answers:
            ear.observe(each)
