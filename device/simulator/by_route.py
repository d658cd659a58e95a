"""Who answers a tone by which route: by air every listener, by bone who knows of it."""

from typing import Protocol, runtime_checkable

from device.simulator.listener import EARS, Ear, Listener, Noise, Press
from firmware_py.terms.route import BONE, Route


@runtime_checkable
class HearsBone(Protocol):
    """Who answers tones by bone too."""

    def answer_by_bone(
        self,
        tone_id: str,
        ear: Ear,
        frequency_hz: float,
        level_db_hl: float,
        noise: Noise | None = None,
    ) -> Press | None:
        """Say whether and when a tone is answered; `ear`: where the vibrator is to sit."""


def answer_of(
    listener: Listener,
    route: Route,
    tone_id: str,
    sound: tuple[float, float],
    noise: Noise | None = None,
) -> Press | None:
    """Return the answer to a tone by a route, frequency and level of which are `sound`.

    Who knows no bone does not hear what comes by it.
    """
    ear = EARS[EARS.index(route.ear)]
    if route.transducer != BONE:
        return listener.answer(tone_id, ear, *sound, noise)
    if isinstance(listener, HearsBone):
        return listener.answer_by_bone(tone_id, ear, *sound, noise)
    return None
