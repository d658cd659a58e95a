"""Other equipment by bone: faults that nobody sees, and a vibrator that is calibrated to 6 kHz."""

from dataclasses import dataclass
from typing import Final

from device.simulator.listener import Ear, Listener, Press, Tone

SLIP_DB: Final = 12.0
WEAK_DB: Final = 15.0


@dataclass(frozen=True)
class Fault:
    """From a tone by bone on, of the whole test: counted from 0."""

    name: str
    since: int = 0
    weaker_db: float = 0.0
    noise_lost: bool = False
    to_6_khz: bool = False  # which is no fault


NO_FAULT: Final = Fault("")
FAULTS: Final = {
    fault.name: fault
    for fault in (
        Fault("noise-lost", noise_lost=True),
        *(Fault(f"slips-{tone}", tone, SLIP_DB) for tone in (2, 4, 6, 8)),
        Fault("weak", weaker_db=WEAK_DB),
        Fault("6-khz", to_6_khz=True),
    )
}


class Faulty(Listener):
    """A listener whose equipment has a fault; operators look after it in vain."""

    def __init__(self, listener: Listener, fault: Fault) -> None:
        self._listener, self._fault = listener, fault
        self._asked = 0  # by bone

    def answer(self, tone: Tone) -> Press | None:
        fault, since = self._fault, self._asked >= self._fault.since
        if fault.noise_lost and (tone.by_bone or self._asked):
            tone = tone._replace(noise=None)
        if tone.by_bone:
            weaker_db = fault.weaker_db if since else 0.0
            tone = tone._replace(level_db_hl=tone.level_db_hl - weaker_db)
            self._asked += 1
        return self._listener.answer(tone)

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        return self._listener.spontaneous_press(after_id, slot)

    def points_to(self, ear: Ear, frequency_hz: float, level_db_hl: float) -> Ear:
        return self._listener.points_to(ear, frequency_hz, level_db_hl)
