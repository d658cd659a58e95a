"""The self-test: one word on every part of the device, and one number for all."""

import datetime
from dataclasses import dataclass
from typing import Final

from firmware_py.board_connection import BoardConnection
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.link.notices import ButtonPressed, ButtonReleased, Greeted, Missed, Notice
from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError

# In the order of the answer. A part that is at fault adds its number to the code.
PARTS: Final = {"wire": 1, "board": 2, "button": 4, "calibration": 8, "disk": 16, "clock": 32}
STUCK_US: Final = 10_000_000  # nobody holds a button so long
ANY_BUTTON: Final = 3  # a bit for each
OK: Final = "ok"
FAULT: Final = "FAULT"
UNCHECKED: Final = "unchecked"  # nobody has used it yet
NONE: Final = "none"  # it is not there, and need not be
YEAR_MIN: Final = 2026  # of this firmware: an earlier date is of a clock that was never set


@dataclass(frozen=True)
class Part:
    """What was found of one part."""

    name: str  # one of `PARTS`
    works: bool  # also True for a part that nobody has used yet
    words: str  # figures, or what is wrong
    state: str = OK  # `OK`, or another word of a part that works

    @property
    def told_state(self) -> str:
        """Return the word on it."""
        return self.state if self.works else FAULT


def answer(parts: list[Part]) -> str:
    """Return the code, and in quotes what was found of every part."""
    assert [part.name for part in parts] == [*PARTS]
    code = sum(PARTS[part.name] for part in parts if not part.works)
    found = (f"{p.name} {p.told_state}, {p.words}" for p in parts)
    words = "; ".join(part.replace(";", ",").replace('"', "'") for part in found)
    return f'{code},"{words}"'


def board_parts(board: BoardConnection) -> list[Part]:
    """Return what is known of the wire, and of the board at its end."""
    client = board.client
    wire = f"{client.counters.garbled} garbled, {client.counters.repeats} repeated"
    found = board.board if client.connected else "does not answer"
    return [Part("wire", board.port.is_open, wire), Part("board", client.connected, found)]


def calibration_part(in_force: CalibrationInForce) -> Part:
    """Return the state of the calibration; a device without one works."""
    state = NONE if in_force.calibration is None else OK
    return Part("calibration", not in_force.why, in_force.headline, state)


def disk_part(data: DataDirectory, *, write: bool) -> Part:
    """Return what is known of the disk; `write` puts a small file on it for a moment."""
    try:
        if write:
            data.try_writing()
        free_bytes = data.free_bytes()
    except DataDirectoryError as error:
        return Part("disk", False, str(error))
    return Part("disk", True, f"{free_bytes // 1_000_000} MB free")


def clock_part(now: datetime.datetime) -> Part:
    """Return what is known of the clock."""
    time, set_once = now.isoformat(timespec="seconds"), now.year >= YEAR_MIN
    return Part("clock", set_once, time if set_once else f"{time} was never set")


class ButtonWatch:
    """Counts presses, and notices a button that is held down for ever.

    It uses the board's time alone: a line that comes late does not make a short press a long one.
    """

    def __init__(self) -> None:
        self.presses = 0
        self._down_since_us: dict[int, int] = {}

    def notice(self, notice: Notice) -> tuple[str, int] | None:
        """Take in what came over the wire; return what moved and which button, if one did."""
        match notice:
            case Greeted() | Missed():  # what happened in between may never be told
                self._down_since_us.clear()
            case ButtonPressed(_, at_us, button):
                self.presses += 1
                self._down_since_us[button] = at_us
                return "button-down", button
            case ButtonReleased(_, _, button):
                self._down_since_us.pop(button, None)
                return "button-up", button
        return None

    def held(self, board_us: int, for_us: int, buttons: int = ANY_BUTTON) -> int | None:
        """Return a button that has been held down for so long, None if there is none.

        Parameters
        ----------
        board_us : int
            The board's time up to which all that happened there has been noticed.
        for_us : int
        buttons : int
            Those that mean anything, a bit for each.
        """
        for button, since_us in self._down_since_us.items():
            if board_us - since_us >= for_us and button & buttons:
                return button
        return None

    def part(self, board_us: int) -> Part:
        """Return what is known of the button; `board_us` as of `held`."""
        stuck = self.held(board_us, STUCK_US)
        if stuck is not None:
            return Part("button", False, f"button {stuck} is held down for ever")
        if not self.presses:
            return Part("button", True, "not pressed since the start", UNCHECKED)
        return Part("button", True, f"{self.presses} presses since the start")
