"""Whether a threshold by bone is this ear's, where noise for the other ear may reach this one, too.

Where least noise is more than most a silence tells nothing: the noise may have crossed the head and
hidden the tone from the ear that is asked. But a tone that is heard, behind noise enough to keep
the other cochlea from it, is this ear's, however much of the noise crosses. So it is asked a little
above what was found without noise, with the least noise that is enough: heard, the threshold lies
between the two, and is this ear's. It is the plateau of clinics with two noises, none and enough.

One press may be an accident: a tone has to be heard each time. No session in here.
"""

from dataclasses import replace
from typing import Final

from firmware_py.terms.outcomes import Purpose, Why
from firmware_py.terms.presentation import Cover, Observation, Presentation

TIMES: Final = 2


class BehindNoise:
    """The tones of an ear by bone that are asked behind noise which may hide them."""

    def __init__(self) -> None:
        self._levels_db_hl: dict[int, float] = {}  # by frequency, of those that are to be asked
        self._wanted_hz: set[int] = set()
        self._heard: list[Observation] = []  # at the first of them

    def want(self, frequency_hz: int, level_db_hl: float) -> None:
        """Have a frequency be asked, once."""
        if frequency_hz not in self._wanted_hz:
            self._wanted_hz.add(frequency_hz)
            self._levels_db_hl[frequency_hz] = level_db_hl

    @property
    def due(self) -> Presentation | None:
        """Return what is asked next; None: nothing."""
        for frequency_hz, level_db_hl in self._levels_db_hl.items():
            return Presentation(Purpose.PLATEAU, frequency_hz, level_db_hl, why=Why.MORE_NOISE)
        return None

    def take_answer(self, tone: Presentation, heard: bool, cover: Cover) -> list[Observation]:
        """Take the answer to the tone that is due; return the answers that count by now.

        None of them do if one was a silence, or the noise did not play.
        """
        counted = []
        if heard and cover.noise_db_hl is not None:
            as_asked = replace(tone, purpose=Purpose.MEASURE)
            self._heard.append(Observation(as_asked, True, cover))
            if len(self._heard) < TIMES:
                return []
            counted = self._heard
        self.leave_out()
        return counted

    def leave_out(self) -> None:
        """Ask no more of the frequency that is due."""
        del self._levels_db_hl[next(iter(self._levels_db_hl))]
        self._heard = []
