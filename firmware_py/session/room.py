"""The noise of the room under the earphones, and the softest tone that it lets be heard.

A tone is heard by the power sum of its threshold and the noise of its third octave. What lies so
far above the noise is hardly moved by it: that is the floor. No silence below it tells anything,
and a threshold below is "at most" the floor. Waiting for quiet takes longer and cures less, and a
noise in the likelihood told no more numbers.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from firmware_py.session.masking import CIRCUMAURAL, INSERT, SUPRA_AURAL
from firmware_py.terms.events import RoomHeard, RoomLevels, RoomTold
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

# Of what a microphone hears: the level that the quietest fifth of half a minute stays below.
QUIET_PART: Final = 5
HEARD_MAX: Final = 12  # tones; one takes some 2.5 s
# Fewer may all lie in one burst, and a floor that rose does not fall; until then only what noise
# may have hidden is asked again.
HEARD_MIN: Final = 5
MICROPHONE_UNCERTAINTY_DB: Final = 1.0  # ICS-43434, from the factory
# Its own noise, 29 dBA and white, in third octaves: softer rooms it does not hear.
SELF_NOISE_DB_SPL: Final = (2.7, 5.7, 8.7, 10.4, 11.7, 13.5, 14.7, 16.5, 17.7, 19.5, 20.7)
OWN_DBA: Final = 29
# Overdriven: it tells as little as a dead one. No room has so much, and tones follow the noise.
CLIPPED_DB_SPL: Final = 127.0
DEAD_DB: Final = 6.0  # so far below its own noise, in all bands, nothing works
CONTRADICTS_DB: Final = 10.0  # typed and heard levels that differ by more

TOO_LOUD_DB_HL: Final = 35.0  # a floor above it, from 500 to 4000 Hz
SPEECH_HZ: Final = (500, 4000)

Levels = dict[int, float]  # dB HL, by the frequencies of `BANDS_HZ`


def noise_db_hl(levels_db_spl: RoomLevels, kind: str, route: RouteKind) -> Levels:
    """Return the noise in an ear under earphones of a kind.

    Of an unknown kind as under supra-aural ones, which keep out least; by bone the ear is open.
    """
    by_air, usual_db = route is BY_AIR, ATTENUATION_DB[SUPRA_AURAL]
    limits_db_spl = AIR_LIMITS_DB_SPL if by_air else BONE_LIMITS_DB_SPL
    kept_out_db = ATTENUATION_DB[kind or SUPRA_AURAL] if by_air else usual_db
    bands = zip(BANDS_HZ, levels_db_spl, limits_db_spl, kept_out_db, usual_db, strict=True)
    return {
        f: level - limit - kept_out + usual + OF_LIMIT_DB_HL
        for f, level, limit, kept_out, usual in bands
    }


class Room:
    """What is known of the room; `kind` is of the earphones. A function of the events so far."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._told: RoomTold | None = None
        self._heard: deque[RoomLevels] = deque(maxlen=HEARD_MAX)
        self._quiet_db_spl: RoomLevels | None = None  # None: too little was heard
        self._heard_dba: int | None = None  # the most of that, whose floors stay
        self._fault: Code | None = None  # of the microphone, at the last tone
        # What the room has, where its noise comes from, and what of that cannot be true.
        self.about: tuple[Reason, ...] = ()

    def take(self, event: RoomTold | RoomHeard) -> None:
        if isinstance(event, RoomTold):
            self._told = event
        else:
            self._hear(event.levels_db_spl)
        self.about = (*self._say(),)

    def _hear(self, levels_db_spl: RoomLevels) -> None:
        self._fault = _fault_of(levels_db_spl)
        if self._fault is not None:
            return
        self._heard.append(levels_db_spl)
        if len(self._heard) >= HEARD_MIN:
            place = (len(self._heard) - 1) // QUIET_PART
            quiet = [sorted(band)[place] for band in zip(*self._heard, strict=True)]
            self._quiet_db_spl = _without_own(quiet)
            self._heard_dba = max(round(dba_of(self._quiet_db_spl)), self._heard_dba or 0)

    def floors_db_hl(self, route: RouteKind) -> Levels:
        """Return the softest tones that the room allows; none: nothing is known of it.

        Of what was told and what is heard the louder holds.
        """
        floors: Levels = {}
        if self._told is not None:
            floors = self._floors_db_hl(self._told.levels_db_spl, self._told.uncertainty_db, route)
        if self._quiet_db_spl is not None:
            heard = self._floors_db_hl(self._quiet_db_spl, MICROPHONE_UNCERTAINTY_DB, route)
            floors = {f: max(each, floors.get(f, each)) for f, each in heard.items()}
        return floors

    def _floors_db_hl(self, levels_db_spl: RoomLevels, guard_db: float, route: RouteKind) -> Levels:
        noise = noise_db_hl(levels_db_spl, self._kind, route)
        return {f: float(math.ceil(each + FLOOR_ABOVE_DB + guard_db)) for f, each in noise.items()}

    def hidden_db_hl(self, route: RouteKind) -> Levels:
        """Return which tones the noise that was heard last may have hidden: those below."""
        if self._fault is not None or not self._heard:
            return {}
        noise = noise_db_hl(_without_own(self._heard[-1]), self._kind, route)
        return {f: each + HIDES_DB for f, each in noise.items()}

    def _say(self) -> Iterator[Reason]:
        told, heard_dba = self._told, self._heard_dba
        # It hears no softer room than its own noise.
        heard_more = heard_dba is not None and (told is None or heard_dba > max(told.dba, OWN_DBA))
        if heard_more:
            yield reason(Code.ROOM, dba=heard_dba, spectrum=MICROPHONE)
        elif told is not None:
            yield reason(Code.ROOM, dba=told.dba, spectrum=told.spectrum)
        if told is not None and heard_dba is not None:
            off_db = heard_dba - told.dba if heard_more else told.dba - max(heard_dba, OWN_DBA)
            if off_db > CONTRADICTS_DB:
                yield reason(Code.ROOM_CONTRADICTED, dba=told.dba, heard_dba=heard_dba)
        if self._fault is not None:
            yield reason(self._fault)


def too_loud(floors_db_hl: Levels, familiar_db_hl: float) -> Reason | None:
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


def _fault_of(levels_db_spl: RoomLevels) -> Code | None:
    if max(levels_db_spl) >= CLIPPED_DB_SPL:
        return Code.MICROPHONE_CLIPPED
    own = zip(levels_db_spl, SELF_NOISE_DB_SPL, strict=True)
    dead = all(level <= max(noise - DEAD_DB, 0.0) for level, noise in own)
    return Code.MICROPHONE_DEAD if dead else None


def _without_own(levels_db_spl: Iterable[float]) -> RoomLevels:
    """Return levels less the microphone's own power, and no less than that.

    Rounded: what a power is differs by a bit from machine to machine.
    """
    return tuple(map(_rest_db_spl, levels_db_spl, SELF_NOISE_DB_SPL))


def _rest_db_spl(level_db_spl: float, own_db_spl: float) -> float:
    own = 10.0 ** (0.1 * own_db_spl)
    return round(10.0 * math.log10(max(10.0 ** (0.1 * level_db_spl) - own, own)), 1)
