"""The emulated board, alone or with a listener at its buttons, used like `SimulatedBoard`.

The listener hears what the output really does, by the commands that ask for it and the events that
say so, and presses the pins of the emulated Pico.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from device.emulator.pico import EmulatedPico
from device.simulator.listener import (
    HEARD_BUTTON,
    IDLE_SLOT_S,
    START,
    UNSURE_BUTTON,
    Ear,
    Listener,
    Press,
    tone_by,
)
from device.tone_generator.settings import DEFAULT_PINS
from firmware_py.calibration.in_force import NOMINAL_FULL_SCALE_DB_HL
from firmware_py.link.frames import FrameError, LineReader, decode
from firmware_py.terms.route import AIR, BONE, Route

STEP_US: Final = 5000  # how long a frame may lie before it is carried
STEP_US_MAX: Final = 2 * STEP_US  # at once
TONES_HEARD_MAX: Final = 64  # asked for and not begun
IDLE_SLOT_US: Final = 1e6 * IDLE_SLOT_S
BUTTON_PINS: Final = {
    HEARD_BUTTON: DEFAULT_PINS["heard"],
    UNSURE_BUTTON: DEFAULT_PINS["unsure"],
}
_EARS: Final[dict[str, Ear]] = {"l": "left", "r": "right"}


class EmulatedLine:
    """A running board at the end of a line, to be served like any other `Board`.

    Nobody else may use its Pico meanwhile. `tell_time` is called with the board's time (us)
    whenever some has passed, before what it has sent by then is handed over.
    """

    def __init__(
        self, pico: EmulatedPico, tell_time: Callable[[float], None] = lambda _: None
    ) -> None:
        self._pico = pico
        self._tell_time = tell_time
        self._now_us: int | None = None

    def next_deadline_us(self) -> int | None:
        return None if self._now_us is None else self._now_us + STEP_US

    def advance(self, now_us: int) -> None:
        """Let time pass; the first time given is when it begins.

        Who comes late, for the emulator took longer than what it emulated, finds a board whose
        time has passed more slowly: were it caught up with, every answer would come later still.
        So whoever waits for it waits by its time.
        """
        if self._now_us is not None and now_us > self._now_us:
            self._pico.run(min(now_us - self._now_us, STEP_US_MAX))
            self._tell_time(self._pico.now_us)
        self._now_us = now_us

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)
        self._pico.send(data)

    def transmit(self, frames_max: int | None = None) -> bytes:
        return self._pico.take_output()


class EmulatedBoard(EmulatedLine):
    """A board that runs the tone generator's program, and a listener who presses its buttons."""

    def __init__(
        self,
        pico: EmulatedPico,
        listener: Listener,
        tell_time: Callable[[float], None] = lambda _: None,
    ) -> None:
        super().__init__(pico, tell_time)
        self._listener = listener
        self._from_host = LineReader()
        self._from_board = LineReader()
        self._unsent: deque[bytes] = deque()  # whole lines
        self._partial = b""
        self._asked: dict[str, tuple[Route, float, float]] = {}
        self._silent_since: tuple[str, float] | None = (START, pico.now_us)  # tone, and its end
        self._slot = 0
        self.presses = 0

    def advance(self, now_us: int) -> None:
        super().advance(now_us)
        self._sit_idle()

    def receive(self, data: bytes, now_us: int) -> None:
        super().receive(data, now_us)
        for verb, fields in _frames(self._from_host, data):
            if verb == "tone" and len(self._asked) < TONES_HEARD_MAX:
                level_db_hl = float(fields["dbfs"]) + NOMINAL_FULL_SCALE_DB_HL
                route = Route(_EARS[fields["ear"]], BONE if fields.get("via") == "1" else AIR)
                self._asked[fields["id"]] = route, float(fields["hz"]), level_db_hl

    def transmit(self, frames_max: int | None = None) -> bytes:
        """Hand over what the board has sent, whole lines."""
        data = self._pico.take_output()
        for verb, fields in _frames(self._from_board, data):
            if verb == "tone-on":
                self._listen(fields["id"])
            elif verb == "tone-off":
                self._silent_since, self._slot = (fields["id"], self._pico.now_us), 0
        *whole, self._partial = (self._partial + data).split(b"\n")
        self._unsent.extend(line + b"\n" for line in whole)
        count = len(self._unsent) if frames_max is None else min(frames_max, len(self._unsent))
        return b"".join(self._unsent.popleft() for _ in range(count))

    def _listen(self, tone_id: str) -> None:
        self._silent_since = None
        if tone_id in self._asked:
            route, *sound = self._asked.pop(tone_id)
            self._press(self._listener.answer(tone_by(route, tone_id, (sound[0], sound[1]))))

    def _sit_idle(self) -> None:
        # Every slot of a silence is a question of its own, as at the simulated board.
        while self._silent_since is not None:
            after_id, since_us = self._silent_since
            if self._pico.now_us < since_us + self._slot * IDLE_SLOT_US:
                return
            self._press(self._listener.spontaneous_press(after_id, self._slot))
            self._slot += 1

    def _press(self, press: Press | None) -> None:
        if press is None:
            return
        pin = BUTTON_PINS[press.button]
        down_us = self._pico.now_us + press.delay_us
        self._pico.at(down_us, lambda: self._pico.press(pin))
        self._pico.at(down_us + press.hold_us, lambda: self._pico.release(pin))
        if press.again_us:
            again = replace(
                press,
                delay_us=press.again_us,
                again_us=press.again_us if press.for_good else 0,
            )
            self._pico.at(down_us, lambda: self._press(again))
        self.presses += 1


def _frames(reader: LineReader, data: bytes) -> list[tuple[str, dict[str, str]]]:
    frames = []
    for line in reader.feed(data):
        try:
            frames.append(decode(line)[1:])
        except FrameError:
            continue
    return frames
