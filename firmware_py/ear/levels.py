"""The levels of one ear's tones: what limits them, and how fast they may rise."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import Route
from firmware_py.terms.settings import STEP_UP_MAX_DB, STEP_UP_NEARBY_OCTAVES, Settings

NEAR_OCTAVES: Final = 1.0  # so far an answer tells much of the threshold at another frequency

# Of route and frequency in Hz: the highest level that can be reached there, dB HL.
Highest = Callable[[Route, float], float]


# Of a route: the frequencies of its audiogram, rising.
AudiogramHz = Callable[[Route], tuple[int, ...]]


def usual_hz(route: Route) -> tuple[int, ...]:
    return route.kind.frequencies_hz


def no_limit(_route: Route, _frequency_hz: float) -> float:
    return math.inf


class Levels:
    """Which levels one ear may be given by a route."""

    def __init__(
        self,
        route: Route,
        settings: Settings,
        highest_db_hl: Highest,
        audiogram_hz: AudiogramHz = usual_hz,
    ) -> None:
        self.route = route
        self.frequencies_hz = audiogram_hz(route)
        self._settings = settings
        self.least_db_hl = max(settings.level_min_db_hl, route.kind.levels_db_hl[0])
        # What the room lets be heard, by frequency in Hz; nothing: as if there was no noise.
        self.room_db_hl: Mapping[int, float] = {}
        self._floors_db_hl: dict[float, float] = {}  # what `floor_db_hl` has said in this room
        # What its noise around the last tone may have hidden: softer ones.
        self.hidden_db_hl: Mapping[int, float] = {}
        self._highest_db_hl = highest_db_hl
        self._limits_db_hl: dict[float, float] = {}  # what `limit_db_hl` has said
        self.left_out_hz: list[float] = []  # nothing is asked at these
        self._last_db_hl: float | None = None
        self._last_beside_db_hl = math.inf  # by the ear's other route since then
        self._loudest_db_hl: dict[float, float] = {}  # of what was presented, by frequency

    def floor_db_hl(self, frequency_hz: float) -> float:
        """Return the lowest level whose silence tells something, whole steps above the least."""
        if not self.room_db_hl:
            return self.least_db_hl
        return min(self._above_noise_db_hl(frequency_hz), self.limit_db_hl(frequency_hz))

    def _above_noise_db_hl(self, frequency_hz: float) -> float:
        if not self.room_db_hl:
            return self.least_db_hl
        if frequency_hz not in self._floors_db_hl:
            level_db_hl = level_at(frequency_hz, self.room_db_hl)
            self._floors_db_hl[frequency_hz] = self._on_step_db_hl(level_db_hl)
        return self._floors_db_hl[frequency_hz]

    def _on_step_db_hl(self, level_db_hl: float) -> float:
        step_db = self._settings.level_step_db
        steps = math.ceil((level_db_hl - self.least_db_hl) / step_db)
        return self.least_db_hl + max(steps, 0) * step_db

    def floors_db_hl(self, frequencies_hz: Iterable[float]) -> list[float]:
        return [self.floor_db_hl(f) for f in frequencies_hz]

    def worth_asking_db_hl(self, frequency_hz: float) -> float:
        """Return from which level on the noise of the moment hides no tone; at least the floor.

        So a tone goes where a burst does not reach, and nobody waits for its end.
        """
        floor_db_hl = self.floor_db_hl(frequency_hz)
        if not self.hidden_db_hl:
            return floor_db_hl
        now_db_hl = self._on_step_db_hl(level_at(frequency_hz, self.hidden_db_hl))
        return min(max(floor_db_hl, now_db_hl), self.limit_db_hl(frequency_hz))

    def hides(self, tone: Presentation) -> bool:
        """Return whether noise of the room may have hidden a tone: its silence tells nothing."""
        return tone.level_db_hl < self.worth_asking_db_hl(tone.frequency_hz)

    def is_out_of_reach(self, frequency_hz: float) -> bool:
        """Return whether no tone tells of a threshold there: the room is louder than all."""
        return self._above_noise_db_hl(frequency_hz) > self.limit_db_hl(frequency_hz)

    def hear_room(self, room_db_hl: Mapping[int, float], *, anew: bool) -> None:
        """Take in what the room lets be heard: told `anew`, or heard. Then floors only rise.

        That is while the ear is tested: what a microphone hears comes and goes.
        """
        if not anew and self._last_db_hl is not None and self.room_db_hl:
            before = self.room_db_hl
            room_db_hl = {f: max(each, before[f]) for f, each in room_db_hl.items()}
        self.room_db_hl, self._floors_db_hl = room_db_hl, {}

    def limit_db_hl(self, frequency_hz: float) -> float:
        """Return the highest level that may be asked at a frequency, and can be reached there."""
        if frequency_hz not in self._limits_db_hl:
            reach_db_hl = self._highest_db_hl(self.route, frequency_hz)
            highest_db_hl = self.route.kind.highest_db_hl(frequency_hz)
            limit_db_hl = min(self._settings.level_max_db_hl, highest_db_hl, reach_db_hl)
            self._limits_db_hl[frequency_hz] = limit_db_hl
        return self._limits_db_hl[frequency_hz]

    def lower_limit(self, frequency_hz: float, limit_db_hl: float) -> None:
        """Ask no higher from now on at a frequency: what is louder would not tell of this ear."""
        self._limits_db_hl[frequency_hz] = min(self.limit_db_hl(frequency_hz), limit_db_hl)

    def limits_db_hl(self, frequencies_hz: Iterable[float]) -> list[float]:
        return [self.limit_db_hl(f) for f in frequencies_hz]

    def ceiling_db_hl(self, frequency_hz: float) -> float:
        """Return the highest level of the next tone if it is at this frequency.

        Nothing is much louder than the tone before, or than what was presented nearby already. A
        tone before by the other route is none to rise further from than from the last by this one,
        or from the familiar level where this one has none yet. It may lie below the floor of a
        noisy room: then tones below that lead up to it, which tell nothing if they are not heard.
        """
        limit_db_hl = self.limit_db_hl(frequency_hz)
        beside_db_hl = self._last_beside_db_hl
        if self._last_db_hl is None:
            familiar_db_hl = self._settings.familiar_level_db_hl
            return min(limit_db_hl, familiar_db_hl, beside_db_hl + STEP_UP_MAX_DB)
        known_db_hl = [
            level_db_hl
            for known_hz, level_db_hl in self._loudest_db_hl.items()
            if abs(math.log2(known_hz / frequency_hz)) <= STEP_UP_NEARBY_OCTAVES
        ]
        before_db_hl = max([min(self._last_db_hl, beside_db_hl), *known_db_hl])
        return min(limit_db_hl, before_db_hl + STEP_UP_MAX_DB)

    def within_db_hl(self, frequency_hz: float, level_db_hl: float) -> float:
        return min(max(level_db_hl, self.floor_db_hl(frequency_hz)), self.limit_db_hl(frequency_hz))

    def tone(self, purpose: Purpose, frequency_hz: float, level_db_hl: float) -> Presentation:
        """Return a tone at this level, rounded to the audiometer's step, within every limit.

        A request at or above the limit gives the limit, even where that is no whole step.
        """
        level = limit = self.limit_db_hl(frequency_hz)
        if level_db_hl < limit:
            step_db = self._settings.level_step_db
            steps = round((level_db_hl - self.least_db_hl) / step_db)
            level = self.least_db_hl + steps * step_db
        level = max(level, self.floor_db_hl(frequency_hz))
        level = max(min(level, self.ceiling_db_hl(frequency_hz)), self.least_db_hl)
        return Presentation(purpose, frequency_hz, level)

    def note_tone(self, tone: Presentation) -> None:
        """Remember a tone that was presented: the next ones may be louder by so much."""
        if tone.purpose == Purpose.CATCH:  # a silence has no level
            return
        self._last_db_hl, self._last_beside_db_hl = tone.level_db_hl, math.inf
        loudest_db_hl = self._loudest_db_hl.get(tone.frequency_hz, -math.inf)
        self._loudest_db_hl[tone.frequency_hz] = max(loudest_db_hl, tone.level_db_hl)

    def note_beside(self, tone: Presentation) -> None:
        """Remember a tone that this ear was given by its other route: it is the one before."""
        if tone.purpose != Purpose.CATCH:
            self._last_beside_db_hl = tone.level_db_hl

    def side(self, frequency_hz: float, threshold_db_hl: float) -> Outcome:
        if threshold_db_hl >= self.limit_db_hl(frequency_hz):
            return Outcome.NO_RESPONSE
        heard = threshold_db_hl <= self.floor_db_hl(frequency_hz)
        return Outcome.HEARS_ALL if heard else Outcome.MEASURED


def near(frequency_hz: float, others_hz: Iterable[float]) -> bool:
    """Return whether one of these frequencies lies so near that its answer tells much of this."""
    return any(abs(math.log2(f / frequency_hz)) <= NEAR_OCTAVES for f in others_hz)


def level_at(frequency_hz: float, of_bands: Mapping[int, float]) -> float:
    """Return a level of bands at a frequency: between two of them the higher of theirs.

    Without logarithms, which differ by a bit from machine to machine.
    """
    bands_hz = sorted(of_bands)
    below = max((f for f in bands_hz if f <= frequency_hz), default=bands_hz[0])
    above = min((f for f in bands_hz if f >= frequency_hz), default=bands_hz[-1])
    return max(of_bands[below], of_bands[above])
