"""The emulated board with a listener at its buttons, to be used like `SimulatedBoard`.

The listener hears what the output really does, by the commands that ask for it and the events that
say so, and presses the pins of the emulated Pico.
"""

from typing import Final

from device.emulator.pico import EmulatedPico
from device.simulator.board import FULL_SCALE_DB_HL
from device.simulator.listener import HEARD_BUTTON, UNSURE_BUTTON, Ear, Listener
from device.tone_generator.settings import DEFAULT_PINS
from firmware_py.link.frames import FrameError, LineReader, decode

STEP_US: Final = 5000  # how long a frame may lie before it is carried
TONES_HEARD_MAX: Final = 64  # asked for and not begun
BUTTON_PINS: Final = {
    HEARD_BUTTON: DEFAULT_PINS["heard"],
    UNSURE_BUTTON: DEFAULT_PINS["unsure"],
}
_EARS: Final[dict[str, Ear]] = {"l": "left", "r": "right"}


class EmulatedBoard:
    """A running board, its line, and a listener.

    Parameters
    ----------
    pico : EmulatedPico
        With the program of the tone generator running.
    listener : Listener
        Who presses the buttons; nobody presses without a tone here.
    """

    def __init__(self, pico: EmulatedPico, listener: Listener) -> None:
        self._pico = pico
        self._listener = listener
        self._from_host = LineReader()
        self._from_board = LineReader()
        self._asked: dict[str, tuple[Ear, float, float]] = {}
        self._now_us: int | None = None
        self.presses = 0

    def next_deadline_us(self) -> int | None:
        """Give the time at which the board is to be looked at again."""
        return None if self._now_us is None else self._now_us + STEP_US

    def advance(self, now_us: int) -> None:
        """Let time pass; the first time given is when it begins."""
        if self._now_us is not None and now_us > self._now_us:
            self._pico.run(now_us - self._now_us)
        self._now_us = now_us

    def receive(self, data: bytes, now_us: int) -> None:
        """Take bytes from the host."""
        self.advance(now_us)
        self._pico.send(data)
        for verb, fields in _frames(self._from_host, data):
            if verb == "tone" and len(self._asked) < TONES_HEARD_MAX:
                level_db_hl = float(fields["dbfs"]) + FULL_SCALE_DB_HL
                self._asked[fields["id"]] = (
                    _EARS[fields["ear"]], float(fields["hz"]), level_db_hl,
                )  # fmt: skip

    def transmit(self) -> bytes:
        """Hand over what the board has sent."""
        data = self._pico.received()
        for verb, fields in _frames(self._from_board, data):
            if verb == "tone-on" and fields["id"] in self._asked:
                self._listen(fields["id"], *self._asked.pop(fields["id"]))
        return data

    def _listen(self, tone_id: str, ear: Ear, frequency_hz: float, level_db_hl: float) -> None:
        press = self._listener.answer(tone_id, ear, frequency_hz, level_db_hl)
        if press is None:
            return
        pin = BUTTON_PINS[press.button]
        down_us = self._pico.now_us + press.delay_us
        self._pico.at(down_us, lambda: self._pico.press(pin))
        self._pico.at(down_us + press.hold_us, lambda: self._pico.release(pin))
        self.presses += 1


def _frames(reader: LineReader, data: bytes) -> list[tuple[str, dict[str, str]]]:
    frames = []
    for line in reader.feed(data):
        try:
            frames.append(decode(line)[1:])
        except FrameError:
            continue
    return frames
