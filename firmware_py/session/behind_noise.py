"""Whether a threshold by bone is this ear's, where noise for the other ear may reach this one, too.

Where least noise is more than most a silence tells nothing: the noise may have crossed the head and
hidden the tone from the ear that is asked. But a tone that is heard, behind noise enough to keep
the other cochlea from it, is this ear's, however much of the noise crosses. So it is asked a little
above what was found without noise, with the least noise that is enough: heard, the threshold lies
between the two, and is this ear's. It is the plateau of clinics with two noises, none and enough.

One press may be an accident: a tone has to be heard each time. No session in here.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Cover, Observation, Presentation

TIMES: Final = 2


class BehindNoise:
    """The tones of an ear by bone that are asked behind noise which may hide them."""

    def __init__(self) -> None:
        self._wanted: dict[float, Presentation] = {}  # by frequency, each once
        self._heard: dict[float, list[Observation]] = {}  # of those that are still to be asked

    def new_ones(self, tones: Iterable[Presentation | None]) -> tuple[Presentation, ...]:
        """Return those that were not wanted before."""
        return tuple(each for each in tones if each and each.frequency_hz not in self._wanted)

    def want(self, tones: Iterable[Presentation]) -> None:
        """Have new ones be asked."""
        for tone in tones:
            self._wanted[tone.frequency_hz] = tone
            self._heard[tone.frequency_hz] = []

    @property
    def due(self) -> list[Presentation]:
        """Return what is still to be asked, in order."""
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
