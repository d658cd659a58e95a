"""A bench with the emulated board on it: commands, its pins, and their edges."""

import itertools
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from device.emulator.pico import EmulatedPico
from device.tone_generator.settings import DEFAULT_PINS
from firmware_py.link.frames import FrameError, LineReader, decode, encode

Frame = tuple[int, str, dict[str, str]]

MS: Final = 1000
ANSWER_US: Final = 100 * MS
STEP_US: Final = 500
LEFT_PIN: Final = DEFAULT_PINS["pwm_left"]
RIGHT_PIN: Final = DEFAULT_PINS["pwm_right"]
HEARD_PIN: Final = DEFAULT_PINS["heard"]
UNSURE_PIN: Final = DEFAULT_PINS["unsure"]
LIGHT_PIN: Final = DEFAULT_PINS["loud"]
BONE_LEFT_PIN: Final = 14
BONE_RIGHT_PIN: Final = 15
LIMIT_RIGHT_DBFS: Final = -20.0
LIMIT_BONE_DBFS: Final = -6.0
SETTINGS: Final[dict[str, Any]] = {
    "output": "pwm",
    "limit_dbfs_left": 0.0,
    "limit_dbfs_right": LIMIT_RIGHT_DBFS,
    "limit_dbfs_bone": LIMIT_BONE_DBFS,
    "pins": {"bone_left": BONE_LEFT_PIN, "bone_right": BONE_RIGHT_PIN},
}

TONE: dict[str, str | int] = {
    "id": "r1", "ear": "r", "hz": "1000.00", "dbfs": "-20.00",
    "on": 200, "off": 100, "n": 2, "rise": 25,
}  # fmt: skip


class Bench:
    """The board with the program running, and a host of the lowest kind."""

    _nonces = itertools.count(0x1000)

    def __init__(self, pico: EmulatedPico) -> None:
        self.pico = pico
        self._reader = LineReader()
        self._frames: list[Frame] = []
        self._changes = pico.watch(LEFT_PIN, RIGHT_PIN, BONE_LEFT_PIN, BONE_RIGHT_PIN, LIGHT_PIN)
        self.sequence = 0
        self.garbled = 0

    def settle(self) -> None:
        """End a line that was cut, and let the board answer what lies on its line still."""
        self.pico.send(b"\n")
        while True:
            self.run(100 * MS)
            if not self.events():
                return

    def meet(self) -> dict[str, str]:
        """Begin anew, as a host that has just started does; returns the answer to hello."""
        for pin in (HEARD_PIN, UNSURE_PIN):
            self.pico.release(pin)
        self.sequence = 0
        answer = self.ask("hello", wire=1, host=f"{next(self._nonces):08x}")[2]
        self.ask("ack", event=answer["event"])
        self.run(20 * MS)
        self._frames.clear()
        self._changes.clear()
        return answer

    def line(self, verb: str, **fields: str | int) -> bytes:
        self.sequence += 1
        return encode(self.sequence, verb, fields)

    def ask(self, verb: str, **fields: str | int) -> Frame:
        return self.answer_to(self.line(verb, **fields))

    def answer_to(self, line: bytes) -> Frame:
        """Send a line and wait for an answer with the number of the last command."""
        self.pico.send(line)
        until_us = self.pico.now_us + ANSWER_US
        while self.pico.now_us < until_us:
            self.run(STEP_US)
            for frame in self._frames:
                if frame[0] == self.sequence and frame[1] in ("ok", "error"):
                    self._frames.remove(frame)
                    return frame
        raise AssertionError(f"no answer to {line!r}; what came: {self._frames}")

    def run(self, duration_us: float) -> None:
        self.pico.run(duration_us)
        for line in self._reader.feed(self.pico.take_output()):
            try:
                self._frames.append(decode(line))
            except FrameError:
                self.garbled += 1

    def events(self) -> list[Frame]:
        frames, self._frames = self._frames, []
        return frames

    def moves(self, pin: int) -> list[tuple[float, bool]]:
        """Return when a switch was moved, in us, and to what."""
        return [(us, high) for us, watched, high in self._changes if watched == pin]

    def pulses(self, pin: int) -> NDArray[np.float64]:
        """Return when the waves at an output began, and for how long each was high, in us."""
        changes = [(us, high) for us, watched, high in self._changes if watched == pin]
        waves = [
            (begin, end - begin) for (begin, high), (end, _) in itertools.pairwise(changes) if high
        ]
        return np.array(waves).reshape(-1, 2)


def at_the_repl(board: Bench) -> None:
    """Have the board ready to run a piece of MicroPython, whatever it did before."""
    board.run(3100 * MS)
    board.pico.send(b"\x03")
    board.run(50 * MS)
    board.pico.take_output()
    board.pico.enter_raw_repl()
