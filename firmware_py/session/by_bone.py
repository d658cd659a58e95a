"""By a vibrator: what of a test is the ear's own, and how it is asked for that.

Without noise either cochlea may answer. What matters of an ear is asked again with noise, where
that can be of the right level; and behind noise that may be too much, where it cannot.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from firmware_py.ear.threshold_estimates import Estimate, Unmasked
from firmware_py.session import masking
from firmware_py.session.plateau import CHECK_ABOVE_DB, is_clear
from firmware_py.session.way import Again, Skull, Way
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route

TIMES: Final = 2  # a tone behind noise has to be heard
NOISE_AT_ONCE_DB: Final = 15.0  # a gap that shows is by so much above the usual


class BehindNoise:
    """The tones of an ear by bone that are asked behind noise which may hide them.

    Where least noise is more than most a silence tells nothing: the noise may have crossed the head
    and hidden the tone from the ear that is asked. But a tone that is heard, behind noise enough to
    keep the other cochlea from it, is this ear's, however much of the noise crosses. So it is asked
    a little above what was found without noise, with the least noise that is enough: heard, the
    threshold lies between the two, and is this ear's. It is the plateau of clinics with two noises,
    none and enough. One press may be an accident: a tone has to be heard each time.
    """

    def __init__(self) -> None:
        self._wanted: dict[float, Presentation] = {}  # by frequency, each once
        self._heard: dict[float, list[Observation]] = {}  # of those that are still to be asked

    def new_ones(self, tones: Iterable[Presentation | None]) -> tuple[Presentation, ...]:
        return tuple(each for each in tones if each and each.frequency_hz not in self._wanted)

    def want(self, tones: Iterable[Presentation]) -> None:
        for tone in tones:
            self._wanted[tone.frequency_hz] = tone
            self._heard[tone.frequency_hz] = []

    @property
    def due(self) -> list[Presentation]:
        return [self._wanted[frequency_hz] for frequency_hz in self._heard]

    def take_answer(self, tone: Presentation, heard: bool, cover: Cover) -> list[Observation]:
        """Take the answer to a tone that is due; return the answers that count by now.

        None of them do if one was a silence, or the noise did not play.
        """
        answers = self._heard[tone.frequency_hz]
        tells = heard and cover.noise_db_hl is not None
        if tells:
            answers.append(Observation(replace(tone, purpose=Purpose.MEASURE), True, cover))
            if len(answers) < TIMES:
                return []
        del self._heard[tone.frequency_hz]
        return answers if tells else []


class Bone(Way):
    """The way to an ear by a vibrator behind it."""

    unknown = masking.UNKNOWN_BY_BONE
    is_placed = True

    def __init__(self, skull: Skull, route: Route) -> None:
        super().__init__(skull, route)
        self._behind_noise = BehindNoise()

    def crossing_db_hl(self, _frequency_hz: float, level_db_hl: float) -> float:
        # The skull takes 0 to 15 dB of it: nothing that can be relied on.
        return level_db_hl

    def noise_db_hl(self, tone: Presentation, other: masking.Threshold) -> float:
        f, earphones = tone.frequency_hz, self.skull.earphones
        return masking.bone_noise_db_hl(
            tone.level_db_hl, earphones.attenuation_db(f), earphones.occlusion_db(f), other,
            self.skull.highest_noise_db_hl(self.route.noise, f),
        )  # fmt: skip

    def let_begin(self) -> None:
        """Let the ear begin with what air told of it and of the listener."""
        if self.ear.evidence.listener is not None:
            return
        bone, ears = self.skull.bone, self.skull.ears
        by_air = [
            ears[route] for route in (Route(self.route.ear), self.route.noise) if route in ears
        ]
        self.ear.listening.across = bone.is_poorer(self.route)
        if self.has_noise:
            self.asked_again = True
            bone.keep(self.route)
            self.ear.begin_by_bone(bone.own(self.route, ()), *by_air)
        else:
            self.ear.begin_by_bone(bone.by_either(self.route), *by_air)

    @property
    def has_noise(self) -> bool:
        """Return whether the ear is asked with noise: again, or from its first tone on.

        The other ear's test has found what the better cochlea hears. Where that leaves no doubt
        that noise will be needed, and it can be had whatever this ear hears, it begins with it.
        """
        if self.asked_again is not None or self.ear.attention.answers:
            return self.asked_again is not None
        if not self.skull.watched or self.skull.no_noise(self.route):
            return False
        gaps_db = self.skull.bone.gaps_shown_db(self.route)
        return max(gaps_db.values(), default=0.0) >= NOISE_AT_ONCE_DB and all(
            self._can_have_noise(f, gap_db) for f, gap_db in gaps_db.items()
        )

    def _can_have_noise(self, frequency_hz: int, gap_db: float) -> bool:
        """Return whether noise masks the tone that this ear hears if it has this gap, or none."""
        air_db_hl = self.skull.known(Route(self.route.ear), frequency_hz).mean_db_hl
        limit_db_hl = self.ear.levels.limit_db_hl(frequency_hz)
        levels_db_hl = (air_db_hl - gap_db, min(air_db_hl, limit_db_hl))
        return all(self._is_sure(frequency_hz, level) for level in levels_db_hl)

    def explains_both(self, estimate: Estimate) -> bool:
        return self.skull.bone.gap_db(self.route, estimate) < masking.GAP_MASKED_DB

    def to_ask_again(self) -> Again | None:
        """Return all that may be the other ear's: one answer of it would be wrong for all."""
        if self.asked_again is not None:
            return None
        uncertain_hz = self.uncertain_hz()
        if self.crossed_near(uncertain_hz):
            return Again(self.route, tuple(self.suspects()))
        found = [e for e in self.ear.audiogram.estimates() if e.frequency_hz in uncertain_hz]
        tones = self._behind_noise.new_ones(map(self._behind, found))
        return Again(self.route, behind_noise=tones) if tones else None

    def want_behind_noise(self, again: Again) -> None:
        self._behind_noise.want(again.behind_noise)

    def ask_again(self, again: Again) -> None:
        """Ask the ear again, with noise, and begin with what is its own."""
        self._end_without_noise()
        self._limit_to_masked()
        suspects = [*again.forgotten]
        self.ear.ask_again(suspects, self.skull.bone.own(self.route, suspects))

    def _end_without_noise(self) -> None:
        self.asked_again = True
        self.skull.bone.keep(self.route)
        self.ear.listening.across = True  # noise may raise the threshold by some dB

    def _limit_to_masked(self) -> None:
        """Ask nothing that no noise would mask which the other ear may have: it tells nothing.

        Nor where only levels could be masked that are softer than what was heard without noise.
        """
        levels = self.ear.levels
        for each in self.ear.audiogram.estimates():
            f = each.frequency_hz
            wanted = range(math.floor(levels.limit_db_hl(f)), math.floor(levels.floor_db_hl(f)), -1)
            sure = next((float(level) for level in wanted if self._is_sure(f, level)), -math.inf)
            if sure <= each.mean_db_hl:
                levels.left_out_hz.append(f)
                self._keep_unmasked(each)
            else:
                levels.lower_limit(f, sure)

    def _is_sure(self, frequency_hz: int, level_db_hl: float) -> bool:
        """Return whether a tone needs no noise, or can have it."""
        cover = self.needed_cover(Presentation(Purpose.MEASURE, frequency_hz, level_db_hl))
        return cover == NO_COVER or cover.noise_db_hl is not None

    def _keep_unmasked(self, found: Estimate) -> None:
        """Keep what was heard without noise where none masks: whose it is cannot be told."""
        f, wanted_db_hl = found.frequency_hz, math.floor(found.mean_db_hl) + 1.0
        level_db_hl = self.ear.levels.within_db_hl(f, wanted_db_hl)
        cover = self.needed_cover(Presentation(Purpose.MEASURE, f, level_db_hl))
        heard = found.mark not in (Outcome.INFERRED, Outcome.NO_RESPONSE)
        if heard and cover.noise_db_hl is None and cover.why is not None:
            self.ear.audiogram.unmasked[f] = Unmasked(found, cover.why)
            self._behind_noise.want(self._behind_noise.new_ones([self._behind(found)]))

    def _behind(self, found: Estimate) -> Presentation | None:
        """Return a tone behind enough noise, heard by this ear alone, where no noise is right."""
        f, most_db_hl = found.frequency_hz, self.ear.levels.limit_db_hl(found.frequency_hz)
        felt_db_hl = self.route.kind.vibrotactile_db_hl(f)
        wanted_db_hl = math.ceil(found.mean_db_hl + CHECK_ABOVE_DB)
        level_db_hl = float(min(wanted_db_hl, math.floor(most_db_hl), felt_db_hl - 1.0))
        tone = Presentation(Purpose.PLATEAU, f, level_db_hl)
        room = is_clear(level_db_hl, found.mean_db_hl)
        return tone if room and self.cover_of_check(tone).noise_db_hl is not None else None

    def next_check(self) -> Presentation | None:
        ear = self.ear
        room = ear.estimator.trial_count + TIMES <= ear.estimator.max_trials
        if not room or not ear.over or ear.outcome == Outcome.UNRELIABLE:
            return None
        for due in self._behind_noise.due:
            tone = ear.levels.tone(due.purpose, due.frequency_hz, due.level_db_hl)
            # More may be known of the other ear than when it was wanted.
            if self.cover_of_check(tone).noise_db_hl is not None:
                return replace(tone, why=Why.MORE_NOISE)
        return None

    def cover_of_check(self, tone: Presentation) -> Cover:
        """Return the least noise that keeps the other ear from a tone, whatever it hides.

        None if it is not known, or above the limit of the noise.
        """
        frequency_hz = tone.frequency_hz
        other = self.skull.other(self.route, frequency_hz)
        if other is None:
            return NO_COVER
        occlusion_db = self.skull.earphones.occlusion_db(frequency_hz)
        least = math.ceil(masking.least_bone_noise_db_hl(tone.level_db_hl, occlusion_db, other))
        if least > self.skull.highest_noise_db_hl(self.route.noise, frequency_hz):
            return Cover(why=reason(Code.NOISE_LIMIT))
        return self.cover_with(float(least), tone, other)

    def take_check(self, tone: Presentation, heard: bool, cover: Cover) -> None:
        """Take the answer to a tone of `next_check`.

        The first answers that are surely this ear's end those of either. What was heard without
        noise is kept where none follow, with why it is uncertain whose it is.
        """
        answers = self._behind_noise.take_answer(tone, heard, cover)
        ear, audiogram = self.ear, self.ear.audiogram
        if answers and self.asked_again is None:
            verdicts = self.by_noise()
            for found in audiogram.estimates():
                if found.mark != Outcome.INFERRED:
                    why = verdicts[found.frequency_hz].why
                    audiogram.unmasked[found.frequency_hz] = Unmasked(found, why)
            self._end_without_noise()
            suspects = self.suspects()
            ear.expect_own(self.skull.bone.own(self.route, suspects), suspects)
        for each in answers:
            ear.observe(each)
