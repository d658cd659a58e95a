"""The noise of the room under the earphones, and the softest tone that it lets be heard.

A tone is heard by the power sum of its threshold and the noise of its third octave. What lies so
far above the noise is hardly moved by it: nothing softer is asked, and a threshold below is "at
most" that. Waiting for quiet takes longer and cures less, and a noise in the likelihood told no
more numbers.
"""

import math
from collections import deque
from collections.abc import Mapping
from typing import Final

from firmware_py.ear.levels import level_at
from firmware_py.session.masking import CIRCUMAURAL, INSERT, SUPRA_AURAL
from firmware_py.terms.events import RoomHeard, RoomLevels, RoomTold
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.room import BANDS_HZ, MICROPHONE, dba_of
from firmware_py.terms.route import BY_AIR, RouteKind

# The third-octave levels in the bands that move a threshold of 0 dB HL by 2 dB: ISO 8253-1:2010,
# Table 2 (air, tones from 125 Hz on) and Table 4 (bone, both ears open), dB SPL.
AIR_LIMITS_DB_SPL: Final = (28, 19, 18, 20, 23, 27, 30, 34, 36, 34, 33)
BONE_LIMITS_DB_SPL: Final = (20, 13, 8, 7, 7, 8, 8, 4, 2, 9, 15)
# They are of supra-aural earphones with the first of these attenuations; others may have so much
# more noise: ISO 8253-1:2010, Table 3 and Annex, of TDH 39 with MX 41/AR, HDA 200 and ER-3A.
ATTENUATION_DB: Final[Mapping[str, tuple[int, ...]]] = {
    SUPRA_AURAL: (3, 5, 7, 11, 15, 21, 26, 31, 32, 26, 24),
    CIRCUMAURAL: (15, 16, 23, 27, 29, 31, 32, 41, 46, 45, 44),
    INSERT: (33, 36, 38, 37, 37, 34, 33, 37, 40, 42, 43),
}
# A noise of so much, in dB HL, moves a threshold of 0 dB HL by 2 dB: 10 lg(10^0.2 - 1).
OF_LIMIT_DB_HL: Final = -2.33
FLOOR_ABOVE_DB: Final = 5.0  # a threshold so far above the noise is moved by 1.2 dB
# A tone that was not heard, with noise from so far below it on, may have been hidden.
HIDES_DB: Final = 4.0

# Of what a microphone hears: the level that is exceeded for most of the time, over half a minute.
QUIET_SHARE: Final = 0.2
HEARD_MAX: Final = 12  # tones; one takes some 2.5 s
# Fewer may all lie in one burst, and a floor that rose does not fall; until then only what noise
# may have hidden is asked again.
HEARD_MIN: Final = 5
MICROPHONE_UNCERTAINTY_DB: Final = 1.0  # ICS-43434, from the factory
# Its own noise, 29 dBA and white, in third octaves: softer rooms it does not hear.
SELF_NOISE_DB_SPL: Final = (2.7, 5.7, 8.7, 10.4, 11.7, 13.5, 14.7, 16.5, 17.7, 19.5, 20.7)
DEAD_DB: Final = 6.0  # so far below its own noise, in all bands, nothing works
CONTRADICTS_DB: Final = 10.0  # typed and heard levels that differ by more

TOO_LOUD_DB_HL: Final = 35.0  # a floor above it, from 500 to 4000 Hz
SPEECH_HZ: Final = (500, 4000)

Floors = dict[int, float]  # by frequency in Hz: the softest tone that may be asked, dB HL


def noise_db_hl(levels_db_spl: RoomLevels, kind: str, route: RouteKind) -> tuple[float, ...]:
    """Return the noise in an ear under earphones of a kind, in dB HL at `BANDS_HZ`.

    Of an unknown kind as under supra-aural ones, which keep out least; by bone the ear is open.
    """
    if route is not BY_AIR:
        return tuple(
            level - limit + OF_LIMIT_DB_HL
            for level, limit in zip(levels_db_spl, BONE_LIMITS_DB_SPL, strict=True)
        )
    usual_db, keeps_out_db = ATTENUATION_DB[SUPRA_AURAL], ATTENUATION_DB[kind or SUPRA_AURAL]
    bands = zip(levels_db_spl, AIR_LIMITS_DB_SPL, keeps_out_db, usual_db, strict=True)
    return tuple(
        level - limit - keeps_out + usual + OF_LIMIT_DB_HL
        for level, limit, keeps_out, usual in bands
    )


class Room:
    """What is known of the room; `kind` is of the earphones. A function of the events so far."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.told: RoomTold | None = None
        self._heard: deque[RoomLevels] = deque(maxlen=HEARD_MAX)
        self._now: RoomLevels | None = None  # around the last tone; None: nothing was heard
        self._dead = False  # the microphone, at the last tone

    def take(self, event: RoomTold | RoomHeard) -> None:
        if isinstance(event, RoomTold):
            self.told = event
            return
        self._dead = _is_dead(event.levels_db_spl)
        self._now = None if self._dead else event.levels_db_spl
        if self._now is not None:
            self._heard.append(self._now)

    def begin_tone(self) -> None:
        """Forget what was heard around the tone before: around this one nothing was yet."""
        self._now = None

    def floors_db_hl(self, route: RouteKind) -> Floors:
        """Return the softest tones that the room allows; none: nothing is known of it.

        Of what was told and what is heard the louder holds.
        """
        known = [] if self.told is None else [(self.told.levels_db_spl, self.told.uncertainty_db)]
        if self._hears:
            known.append((self.quiet_db_spl(), MICROPHONE_UNCERTAINTY_DB))
        floors: Floors = {}
        for levels_db_spl, guard_db in known:
            noise = noise_db_hl(levels_db_spl, self._kind, route)
            for f, each in zip(BANDS_HZ, noise, strict=True):
                floor_db_hl = float(math.ceil(each + FLOOR_ABOVE_DB + guard_db))
                floors[f] = max(floor_db_hl, floors.get(f, -math.inf))
        return floors

    @property
    def _hears(self) -> bool:
        return len(self._heard) >= HEARD_MIN

    def quiet_db_spl(self) -> RoomLevels:
        """Return what the room has most of the time: each band's level that 20 % are softer than.

        What the microphone adds of its own is taken out, down to that: it hears no softer room.
        """
        place = math.floor(QUIET_SHARE * (len(self._heard) - 1))
        quiet = [sorted(band)[place] for band in zip(*self._heard, strict=True)]
        return tuple(map(_without_own, quiet, SELF_NOISE_DB_SPL))

    def hidden_db_hl(self, route: RouteKind) -> Floors:
        """Return which tones the noise around the last one may have hidden: those below."""
        if self._now is None:
            return {}
        own = tuple(map(_without_own, self._now, SELF_NOISE_DB_SPL))
        noise = noise_db_hl(own, self._kind, route)
        return {f: each + HIDES_DB for f, each in zip(BANDS_HZ, noise, strict=True)}

    def hides(self, route: RouteKind, tone: Presentation) -> bool:
        hidden_db_hl = self.hidden_db_hl(route)
        return bool(hidden_db_hl) and tone.level_db_hl < level_at(tone.frequency_hz, hidden_db_hl)

    def about(self) -> list[Reason]:
        """Say what the room has, where its noise comes from, and what of that cannot be true."""
        found, told = [], self.told
        heard_dba = round(dba_of(self.quiet_db_spl())) if self._hears else None
        if heard_dba is not None and (told is None or heard_dba >= told.dba):
            found.append(reason(Code.ROOM, dba=heard_dba, spectrum=MICROPHONE))
        elif told is not None:
            found.append(reason(Code.ROOM, dba=told.dba, spectrum=told.spectrum))
        if told and heard_dba is not None and abs(heard_dba - told.dba) > CONTRADICTS_DB:
            found.append(reason(Code.ROOM_CONTRADICTED, dba=told.dba, heard_dba=heard_dba))
        if self._dead:
            found.append(reason(Code.MICROPHONE_DEAD))
        return found


def too_loud(floors_db_hl: Floors, familiar_db_hl: float) -> Reason | None:
    """Say at which frequency the room leaves too little to ask for a test to mean anything."""
    most_db_hl = min(TOO_LOUD_DB_HL, familiar_db_hl - 10.0)
    asked = {f: each for f, each in floors_db_hl.items() if SPEECH_HZ[0] <= f <= SPEECH_HZ[1]}
    loudest_hz = max(asked, key=lambda f: asked[f], default=0)
    if not asked or asked[loudest_hz] <= most_db_hl:
        return None
    return reason(
        Code.ROOM_TOO_LOUD, level_db_hl=asked[loudest_hz], frequency_hz=loudest_hz,
        highest_db_hl=most_db_hl,
    )  # fmt: skip


def _is_dead(levels_db_spl: RoomLevels) -> bool:
    own = zip(levels_db_spl, SELF_NOISE_DB_SPL, strict=True)
    return all(level <= max(noise - DEAD_DB, 0.0) for level, noise in own)


def _without_own(level_db_spl: float, own_db_spl: float) -> float:
    """Return a level less the microphone's own power, and no less than that.

    Rounded: what a power is differs by a bit from machine to machine.
    """
    rest = 10.0 ** (0.1 * level_db_spl) - 10.0 ** (0.1 * own_db_spl)
    return round(10.0 * math.log10(max(rest, 10.0 ** (0.1 * own_db_spl))), 1)
