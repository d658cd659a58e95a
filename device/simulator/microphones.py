"""The simulated board's microphone: what it tells of a room, and what may be wrong with it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from device.simulator.rooms import Room, power_sum_db
from device.tone_generator.room_levels import (
    BLOCK_FRAMES,
    MICROPHONE_RATE_HZ,
    SIDE_SLICES,
    SLICE_BLOCKS,
    TAIL_MS,
)
from firmware_py.calibration.simulated import FULL_SCALE_DB_HL
from firmware_py.link.messages import ROOM_BANDS_HZ

# White noise of 29 dB(A), that of an ICS-43434.
OWN_NOISE_DB_SPL: Final = tuple(11.7 + 10.0 * math.log10(hz / 1000.0) for hz in ROOM_BANDS_HZ)
SIDE_US: Final = 1_000_000 * SIDE_SLICES * SLICE_BLOCKS * BLOCK_FRAMES // MICROPHONE_RATE_HZ
TAIL_US: Final = 1000 * TAIL_MS
NEWEST_US: Final = 500_000
RIGHT, DEAD, CLIPPED, LOW, NONE = "right", "dead", "clipped", "low", "none"
CUSHION: Final = "cushion"
CUSHION_DB_SPL: Final = FULL_SCALE_DB_HL + 7.0  # at 1 kHz, of a TDH39
LOW_DB: Final = (0.0, 60.0)
WORDS: Final = f"{NONE}, {RIGHT}, {DEAD}, {CLIPPED}, {CUSHION} (of an earphone) or {LOW}:DB"


@dataclass(frozen=True)
class MicrophoneKind:
    """What a microphone makes of the levels; by `low_db` it reads too low.

    Where it is in the cushion of an earphone a tone of 0 dBFS has `cushion_db_spl` there.
    """

    fault: str = RIGHT
    low_db: float = 0.0
    cushion_db_spl: float = -math.inf

    def tell(self, levels_db_spl: tuple[float, ...]) -> tuple[float, ...]:
        if self.fault == DEAD:
            return (-math.inf,) * len(levels_db_spl)
        if self.fault == CLIPPED:
            return (math.inf,) * len(levels_db_spl)
        return tuple(level - self.low_db for level in levels_db_spl)


def microphone_named(text: str) -> MicrophoneKind | None:
    """Return the microphone that a word names, such as ``low:6``; a `ValueError` for others."""
    fault, _, number = text.partition(":")
    if text == NONE:
        return None
    if text in (RIGHT, DEAD, CLIPPED):
        return MicrophoneKind(text)
    if text == CUSHION:
        return MicrophoneKind(cushion_db_spl=CUSHION_DB_SPL)
    try:
        low_db = float(number)
    except ValueError:
        low_db = math.nan
    if fault != LOW or not LOW_DB[0] <= low_db <= LOW_DB[1]:
        raise ValueError(
            f"--microphone is {text!r}; allowed is {WORDS}, of {LOW_DB[0]:g} to {LOW_DB[1]:g} dB"
        )
    return MicrophoneKind(LOW, low_db)


class SimulatedMicrophone:
    """Hears the room when the board's own microphone would, and no earphone.

    `now_us`: the board's time, which whoever has it keeps.
    """

    def __init__(self, room: Room | None, kind: MicrophoneKind) -> None:
        self._room = room
        self._kind = kind
        self.now_us = 0
        self._masked = False
        self._tone_db_spl: tuple[float, ...] = ()  # of the tone that sounds, in the cushion
        self._quiet_from_us = 0  # what sounded before has died away
        self._spans_us: list[tuple[int, int]] = []  # what was measured, or is to be

    def tone_began(self, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]) -> None:
        """Take in that a tone begins: on, off, number of pulses, rise."""
        level_db_spl = self._kind.cushion_db_spl + level_dbfs
        self._tone_db_spl = tuple(
            level_db_spl if abs(math.log2(frequency_hz / hz)) <= 1 / 6 else -math.inf
            for hz in ROOM_BANDS_HZ
        )
        on_us, off_us, pulses = 1000 * times_ms[0], 1000 * times_ms[1], times_ms[2]
        self._cut()
        measured_us = max((end_us for _, end_us in self._spans_us), default=0)
        self._add(max(self.now_us - SIDE_US, self._quiet_from_us, measured_us), self.now_us)
        for pulse in range(1, pulses):
            next_us = self.now_us + pulse * (on_us + off_us)
            self._add(next_us - off_us + TAIL_US, next_us)

    def tone_over(self) -> None:
        self._tone_db_spl = ()
        self._cut()
        self._quiet_from_us = self.now_us + TAIL_US

    def noise_changed(self, masked: bool) -> None:
        """Take in that noise begins or ends: while it plays nothing is measured."""
        self._cut()
        if self._masked and not masked:
            self._quiet_from_us = self.now_us + TAIL_US
        self._masked = masked

    def take(self) -> tuple[float, ...]:
        """Return the mean of what was heard while nothing sounded, since this was asked."""
        spans_us, self._spans_us = self._spans_us, []
        self._add(self._quiet_from_us, self._quiet_from_us + SIDE_US)
        return self._hear(spans_us, ()) if spans_us else ()

    def newest(self) -> tuple[float, ...]:
        """Return the mean of the last half second, and a tone as if it had sounded all the time."""
        from_us = max(self.now_us - NEWEST_US, 0)
        if from_us == self.now_us:
            return ()
        return self._hear([(from_us, self.now_us)], self._tone_db_spl)

    def _cut(self) -> None:
        now_us = self.now_us
        self._spans_us = [(a, min(b, now_us)) for a, b in self._spans_us if a < now_us]

    def _add(self, from_us: int, to_us: int) -> None:
        if from_us < to_us and not self._masked:
            self._spans_us.append((from_us, to_us))

    def _hear(
        self, spans_us: Sequence[tuple[int, int]], tone_db_spl: tuple[float, ...]
    ) -> tuple[float, ...]:
        heard_db_spl = [OWN_NOISE_DB_SPL]
        if self._room is not None:
            heard_db_spl.append(self._room.mean_db_spl(spans_us))
        if tone_db_spl:
            heard_db_spl.append(tone_db_spl)
        return self._kind.tell(tuple(map(power_sum_db, *heard_db_spl)))
