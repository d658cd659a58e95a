"""The room around a simulated test, from the options of a command: who hears it, and what."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from device.simulator.microphones import (
    NONE,
    WORDS,
    MicrophoneKind,
    SimulatedMicrophone,
    microphone_named,
)
from device.simulator.rooms import KINDS_WORDS, NoisyRoom, room_named
from firmware_py.ear.levels import level_at
from firmware_py.session.masking import SUPRA_AURAL
from firmware_py.session.room import noise_db_hl
from firmware_py.terms.route import Route

# As `argparse` takes them.
ROOM_OPTIONS: Final[Mapping[str, dict[str, Any]]] = {
    "--room": {
        "default": "",
        "metavar": "KIND:DBA",
        "help": f"the noise of the room: {KINDS_WORDS}, and its level (default: none at all)",
    },
    "--microphone": {
        "default": NONE,
        "metavar": "WHICH",
        "help": f"the board's microphone for the room: {WORDS} too low (default: {NONE})",
    },
}


@dataclass(frozen=True)
class RoomAround:
    """A room, and the microphone that the board has in it, if any; earphones are supra-aural."""

    room: NoisyRoom | None = None
    microphone: MicrophoneKind | None = None

    def masking_db_hl(self, route: Route, frequency_hz: float, span_us: tuple[int, int]) -> float:
        """Return the level of the tones that the mean noise of a time just masks."""
        if self.room is None:
            return -math.inf
        noise = noise_db_hl(self.room.mean_db_spl([span_us]), SUPRA_AURAL, route.kind)
        return level_at(frequency_hz, noise)

    def placed_microphone(self) -> SimulatedMicrophone:
        """Return a microphone that has heard nothing yet, and never will where there is none."""
        return SimulatedMicrophone(self.room, self.microphone)


QUIET: Final = RoomAround()


def room_around_of(options: Mapping[str, Any]) -> RoomAround:
    """Return what the options describe; an option that is not allowed is a `ValueError`."""
    room = room_named(options["room"], options["seed"]) if options["room"] else None
    return RoomAround(room, microphone_named(options["microphone"]))
