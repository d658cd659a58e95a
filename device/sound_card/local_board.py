"""A board made of a computer: the tone generator's own program with other ends to it."""

from typing import Final

from device.sound_card.keyboard import Keyboard, KeyButton
from device.sound_card.output import SampledOutput
from device.tone_generator.server import ToneGenerator, has_host

BOARD_NAME: Final = "card"
SERIAL: Final = "sound-card"  # which one it is, nobody is told
HEARD_KEY: Final = b" "
UNSURE_KEY: Final = b"p"
POLL_US: Final = 4000  # how late a key or the end of a tone is noticed


class LocalBoard:
    """What `serve` puts behind a pty.

    No level in either ear exceeds `limit_dbfs`; `boot` is the number of this start of the board.
    """

    def __init__(
        self, output: SampledOutput, keyboard: Keyboard, limit_dbfs: float, boot: int
    ) -> None:
        self._output = output
        self._keyboard = keyboard
        self._buttons = (KeyButton(1, HEARD_KEY), KeyButton(2, UNSURE_KEY))
        self._server = ToneGenerator(output, (limit_dbfs, limit_dbfs), boot, SERIAL, BOARD_NAME)
        self._now_us = 0

    def next_deadline_us(self) -> int | None:
        return self._now_us + POLL_US

    def advance(self, now_us: int) -> None:
        """Tell what has been heard and pressed by now, and fall silent when the host has."""
        self._now_us = now_us
        self._output.advance(now_us)
        self._server.advance(now_us)
        self._output.attend(has_host(self._server, now_us))
        self._poll_keys(now_us)

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)  # what a ping's answer says has been told, has been told
        self._server.receive(data, now_us, now_us)
        self._output.attend(has_host(self._server, now_us))

    def transmit(self, frames_max: int | None = None) -> bytes:
        return self._server.outbox.take(frames_max)

    def _poll_keys(self, now_us: int) -> None:
        keys = self._keyboard.keys()
        for button in self._buttons:
            if button.key in keys and button.press(now_us):
                self._server.button(button.number, True, now_us)
            elif button.is_released(now_us):
                self._server.button(button.number, False, now_us)
