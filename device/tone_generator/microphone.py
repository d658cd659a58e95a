"""A microphone at I2S, such as an ICS-43434: its driver, and when no earphone sounds in it.

Its left channel is read (L/R to ground). The driver asks for an empty block whenever it has filled
one; that request runs between two steps of the program, after or before one of the output.
"""

from array import array

import machine

from device.tone_generator.room_levels import BLOCK_FRAMES, MICROPHONE_RATE_HZ, TAIL_MS, RoomLevels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from device.tone_generator.outputs import I2SOutput

MICROPHONE_ID = 1  # the output has 0
BITS = 32  # of which an ICS-43434 gives 24
QUEUE_BLOCKS = 4  # 43 ms


class Microphone(RoomLevels):
    """The levels of what a microphone hears beside an output."""

    def __init__(
        self, output: "I2SOutput", pins: "dict[str, int]", full_scale_db_spl: float
    ) -> None:
        super().__init__(full_scale_db_spl)
        self._output = output
        self._block = array("i", [0] * BLOCK_FRAMES)
        self._muted = False
        self._i2s = machine.I2S(
            MICROPHONE_ID,
            sck=machine.Pin(pins["mic_bck"]),
            ws=machine.Pin(pins["mic_ws"]),
            sd=machine.Pin(pins["mic_data"]),
            mode=machine.I2S.RX,
            bits=BITS,
            format=machine.I2S.MONO,
            rate=MICROPHONE_RATE_HZ,
            ibuf=QUEUE_BLOCKS * BLOCK_FRAMES * BITS // 8,
        )
        self._i2s.irq(self._take_block)
        self._i2s.readinto(self._block)

    def mute(self) -> None:
        """Hear nothing any more."""
        self._muted = True
        self._i2s.deinit()

    def _take_block(self, _i2s: object) -> None:
        if self._muted:
            return
        # Noise leaves no time for that beside a tone, and what it leaves in the filters is gone
        # before it is quiet again.
        if self.was_quiet or not self._output.masks:
            self.hear(self._block, self._output.silent_ms >= TAIL_MS)
        self._i2s.readinto(self._block)
