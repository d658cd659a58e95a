"""Does the masking noise reach the ear that it is for? Without it a loss looks like another one.

A cochlear loss of one ear, asked by bone while the noise is lost on its way to the other, has an
air-bone gap that no ear has. So before the first tone with noise two tones are asked in the ear
that is to have it: one that it hears, which shows that the earphone is there; and the same one in
noise that is so much louder that nobody hears it. By air the first was heard before. Each time the
operator has put something elsewhere both are asked anew.

The tones tell nothing else. Each answer that is not as it has to be is asked once more. Then the
operator is to look at the earphone; if that was in vain, nothing is masked in that ear any more.
"""

from dataclasses import replace
from typing import Final

from firmware_py.session.placing import Placing
from firmware_py.session.way import Skull
from firmware_py.terms.outcomes import Purpose, Why
from firmware_py.terms.presentation import NO_COVER, Cover, Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route

AUDIBLE_DB: Final = 10.0  # above what the ear hears for sure
AUDIBLE_DB_MIN: Final = 5.0  # where a limit leaves no more
HIDDEN_DB: Final = 20.0  # the noise above the tone: nobody hears it
HIDDEN_DB_MIN: Final = 15.0
TRIES_MAX: Final = 2  # of a tone: one answer may be an accident
LOOKS_MAX: Final = 1  # at an earphone
# Of a tone in the ear of the noise, below full scale: as the wire has it.
BELOW_FULL_SCALE_DB: Final = 20.0
LOWEST_HZ, HIGHEST_HZ = 500.0, 4000.0  # of the tones, where the ear was asked there


class NoiseCheck:
    """Which ears the noise reaches, as far as their answers tell."""

    def __init__(self, skull: Skull, placing: Placing) -> None:
        self._skull = skull
        self._placing = placing
        self._passed: dict[Route, int] = {}  # by the ear of the noise: after how many moves
        self._looks: dict[Route, int] = {}
        self._heard: dict[Route, int] = {}  # without noise: after how many moves
        self._tries = 0  # of the tone that is due, in vain

    def tone(self, noise: Route) -> Presentation | None:
        """Return what is to be asked before noise counts as masking; None: nothing.

        `noise`: the ear that it is for. Nothing either where no level would tell.
        """
        passed = self._passed.get(noise) == self._placing.moves
        return None if passed or noise in self._skull.noise_lost else self._tone(noise)

    def _is_there(self, noise: Route) -> bool:
        """Return whether the ear has heard a tone since its earphone was put on; by air it has."""
        return self._placing.moves in (0, self._heard.get(noise))

    def _tone(self, noise: Route) -> Presentation | None:
        ear = self._skull.ears[noise]
        levels, asked_hz = ear.levels, ear.audiogram.frequencies_hz
        usual_hz = [f for f in asked_hz if LOWEST_HZ <= f <= HIGHEST_HZ]
        # Where the ear hears best the noise is softest.
        known = ((self._skull.known(noise, f).high_db_hl, f) for f in usual_hz or asked_hz)
        high_db_hl, frequency_hz = min(known)
        tone = levels.tone(Purpose.CHECK, frequency_hz, high_db_hl + AUDIBLE_DB)
        least_db_hl = high_db_hl + AUDIBLE_DB_MIN
        most_db_hl = min(
            levels.limit_db_hl(frequency_hz) - BELOW_FULL_SCALE_DB,
            self._skull.highest_noise_db_hl(noise, frequency_hz) - HIDDEN_DB_MIN,
        )
        if not least_db_hl <= most_db_hl or tone.level_db_hl < least_db_hl:
            return None
        level_db_hl = min(tone.level_db_hl, most_db_hl)
        return replace(tone, level_db_hl=level_db_hl, why=Why.NOISE_REACHES)

    def cover(self, noise: Route, tone: Presentation) -> Cover:
        """Return the noise that such a tone has, in its own ear."""
        if not self._is_there(noise):
            return NO_COVER
        highest_db_hl = self._skull.highest_noise_db_hl(noise, tone.frequency_hz)
        noise_db_hl = min(tone.level_db_hl + HIDDEN_DB, highest_db_hl)
        return Cover(noise_db_hl, reason(Code.NOISE_REACHES, ear=str(noise)), in_own_ear=True)

    def take_answer(self, noise: Route, heard: bool | None, cover: Cover) -> bool:
        """Take the answer to such a tone; return whether the earphone is to be looked at.

        A noise that was refused tells nothing, and can mask nothing.
        """
        in_noise = self._is_there(noise)
        if in_noise and cover.noise_db_hl is None:
            self._skull.noise_lost[noise] = cover.why or reason(Code.NOISE_LOST, ear=str(noise))
            return False
        if (heard is not False) == in_noise:
            return self._fail(noise)
        self._tries = 0
        known = self._passed if in_noise else self._heard
        known[noise] = self._placing.moves
        return False

    def _fail(self, noise: Route) -> bool:
        self._tries += 1
        if self._tries < TRIES_MAX:
            return False
        self._tries = 0
        self._looks[noise] = self._looks.get(noise, 0) + 1
        if self._looks[noise] > LOOKS_MAX:
            self._skull.noise_lost[noise] = reason(Code.NOISE_LOST, ear=str(noise))
        return noise not in self._skull.noise_lost
