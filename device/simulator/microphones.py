"""The simulated board's microphone: what it tells of a room, and what may be wrong with it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from device.simulator.rooms import NoisyRoom, power_sum_db, word_and_number
from device.tone_generator.room_levels import (
    BLOCK_FRAMES,
    MICROPHONE_RATE_HZ,
    SIDE_SLICES,
    SLICE_BLOCKS,
    TAIL_MS,
)
from firmware_py.calibration.simulated import FULL_SCALE_DB_HL
from firmware_py.link.messages import ROOM_BANDS_HZ
from firmware_py.session.room import SELF_NOISE_DB_SPL

SIDE_US: Final = 1_000_000 * SIDE_SLICES * SLICE_BLOCKS * BLOCK_FRAMES // MICROPHONE_RATE_HZ
TAIL_US: Final = 1000 * TAIL_MS
NEWEST_US: Final = 500_000
CUSHION_DB_SPL: Final = FULL_SCALE_DB_HL + 7.0  # at 1 kHz, of a TDH39
LOW: Final = "low"
LOW_DB: Final = (0.0, 60.0)
SILENCE: Final = (-math.inf,) * len(ROOM_BANDS_HZ)


@dataclass(frozen=True)
class MicrophoneKind:
    """By how much a microphone reads too high, or too low where it is negative.

    Where it is in the cushion of an earphone a tone of 0 dBFS has `cushion_db_spl` there.
    """

    off_db: float = 0.0
    cushion_db_spl: float = -math.inf

    def tell(self, levels_db_spl: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(level + self.off_db for level in levels_db_spl)


NONE: Final = "none"
KINDS: Final[Mapping[str, MicrophoneKind | None]] = {
    NONE: None,
    "right": MicrophoneKind(),
    "dead": MicrophoneKind(-math.inf),
    "clipped": MicrophoneKind(math.inf),
    "cushion": MicrophoneKind(cushion_db_spl=CUSHION_DB_SPL),
}
WORDS: Final = f"{', '.join(KINDS)} (of an earphone) or {LOW}:DB"


def microphone_named(text: str) -> MicrophoneKind | None:
    """Return the microphone that a word names, such as ``low:6``; a `ValueError` for others."""
    if text in KINDS:
        return KINDS[text]
    word, low_db = word_and_number(text)
    if word != LOW or not LOW_DB[0] <= low_db <= LOW_DB[1]:
        raise ValueError(
            f"--microphone is {text!r}; allowed is {WORDS}, of {LOW_DB[0]:g} to {LOW_DB[1]:g} dB"
        )
    return MicrophoneKind(-low_db)


class SimulatedMicrophone:
    """Hears the room when the board's own microphone would, and no earphone; of no kind nothing.

    `now_us`: the board's time, for `newest`, which whoever has it keeps.
    """

    def __init__(self, room: NoisyRoom | None, kind: MicrophoneKind | None) -> None:
        self._room = room
        self._kind = kind
        self.now_us = 0
        self._masked = False
        self._tone_db_spl = SILENCE  # of the tone that sounds, in the cushion
        self._quiet_from_us = 0  # what sounded before has died away
        self._spans_us: list[tuple[int, int]] = []  # what was measured, or is to be

    def tone_began(
        self, now_us: int, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]
    ) -> None:
        """Take in that a tone begins: on, off, number of pulses, rise."""
        if self._kind is None:
            return
        level_db_spl = self._kind.cushion_db_spl + level_dbfs
        self._tone_db_spl = tuple(
            level_db_spl if abs(math.log2(frequency_hz / hz)) <= 1 / 6 else -math.inf
            for hz in ROOM_BANDS_HZ
        )
        on_us, off_us, pulses = 1000 * times_ms[0], 1000 * times_ms[1], times_ms[2]
        self._cut(now_us)
        measured_us = max((end_us for _, end_us in self._spans_us), default=0)
        self._add(max(now_us - SIDE_US, self._quiet_from_us, measured_us), now_us)
        for pulse in range(1, pulses):
            next_us = now_us + pulse * (on_us + off_us)
            self._add(next_us - off_us + TAIL_US, next_us)

    def tone_over(self, now_us: int) -> None:
        self._tone_db_spl = SILENCE
        self._cut(now_us)
        self._quiet_from_us = now_us + TAIL_US

    def noise_changed(self, now_us: int, masked: bool) -> None:
        """Take in that noise begins or ends: while it plays nothing is measured."""
        self._cut(now_us)
        if self._masked and not masked:
            self._quiet_from_us = now_us + TAIL_US
        self._masked = masked

    def take(self) -> tuple[float, ...]:
        """Return the mean of what was heard while nothing sounded, since this was asked."""
        spans_us, self._spans_us = self._spans_us, []
        self._add(self._quiet_from_us, self._quiet_from_us + SIDE_US)
        return self._hear(spans_us, SILENCE)

    def newest(self) -> tuple[float, ...]:
        """Return the mean of the last half second, and a tone as if it had sounded all the time."""
        from_us = max(self.now_us - NEWEST_US, 0)
        return self._hear([(from_us, self.now_us)] if self.now_us else [], self._tone_db_spl)

    def _cut(self, now_us: int) -> None:
        self._spans_us = [(a, min(b, now_us)) for a, b in self._spans_us if a < now_us]

    def _add(self, from_us: int, to_us: int) -> None:
        if from_us < to_us and not self._masked:
            self._spans_us.append((from_us, to_us))

    def _hear(
        self, spans_us: Sequence[tuple[int, int]], tone_db_spl: tuple[float, ...]
    ) -> tuple[float, ...]:
        if self._kind is None or not spans_us:
            return ()
        room_db_spl = SILENCE if self._room is None else self._room.mean_db_spl(spans_us)
        return self._kind.tell(
            tuple(map(power_sum_db, SELF_NOISE_DB_SPL, room_db_spl, tone_db_spl))
        )
