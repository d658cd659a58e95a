"""The self-test: one word on every part of the device, and one number for all."""

import datetime
import json
from dataclasses import dataclass
from typing import Final

from firmware_py.board.board_connection import BoardConnection
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.link.notices import ButtonPressed, ButtonReleased, Greeted, Missed, Notice
from firmware_py.platform.clock import YEAR_MIN
from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.words import say

# In the order of the answer. A part that is at fault adds its number to the code.
PARTS: Final = {"wire": 1, "board": 2, "button": 4, "calibration": 8, "disk": 16, "clock": 32}
STUCK_US: Final = 10_000_000  # nobody holds a button so long
ANY_BUTTON: Final = 3  # a bit for each
OK: Final = "ok"
FAULT: Final = "FAULT"
UNCHECKED: Final = "unchecked"  # nobody has used it yet
NONE: Final = "none"  # it is not there, and need not be


@dataclass(frozen=True)
class Part:
    """What was found of one part."""

    name: str  # one of `PARTS`
    works: bool  # also True for a part that nobody has used yet
    why: Reason  # figures, or what is wrong
    state: str = OK  # `OK`, or another word of a part that works
    headline: str = ""  # what stands for the words

    @property
    def told_state(self) -> str:
        return self.state if self.works else FAULT

    @property
    def words(self) -> str:
        return self.headline or say(self.why)


def answer(parts: list[Part]) -> str:
    assert [part.name for part in parts] == [*PARTS]
    code = sum(PARTS[part.name] for part in parts if not part.works)
    found = (f"{p.name} {p.told_state}, {p.words}" for p in parts)
    words = "; ".join(part.replace(";", ",").replace('"', "'") for part in found)
    return f'{code},"{words}"'


def answer_as_json(parts: list[Part]) -> str:
    found = [
        {"name": part.name, "state": part.told_state, "why": part.why.to_record()} for part in parts
    ]
    return json.dumps(found)


def board_parts(board: BoardConnection) -> list[Part]:
    client = board.client
    counters = client.counters
    wire = reason(Code.WIRE_COUNTS, garbled=counters.garbled, repeats=counters.repeats)
    found = reason(Code.TOLD, told=board.board) if client.connected else reason(Code.SILENT)
    if warms_up_s := board.warms_up_s:
        found = reason(Code.WARMS_UP, told=board.board, seconds=warms_up_s)
    return [Part("wire", board.port.is_open, wire), Part("board", client.connected, found)]


def disk_part(data: DataDirectory, needed_bytes: int, *, write: bool) -> Part:
    """Return whether the disk can be used, and has so much room.

    `write` puts a small file on it for a moment.
    """
    try:
        if write:
            data.try_writing()
        free_bytes = data.require_room(needed_bytes)
    except DataDirectoryError as error:
        (why,) = data.lacks_room(needed_bytes) or (error.why,)  # a full one cannot be written
        return Part("disk", False, why)
    return Part("disk", True, reason(Code.FREE, free_mb=free_bytes // 1_000_000))


def clock_part(now: datetime.datetime) -> Part:
    time, set_once = now.isoformat(timespec="seconds"), now.year >= YEAR_MIN
    code = Code.CLOCK_SAYS if set_once else Code.NEVER_SET
    return Part("clock", set_once, reason(code, time=time))


def calibration_part(in_force: CalibrationInForce) -> Part:
    """Return the state of the calibration; a device without one works."""
    state = NONE if in_force.calibration is None else OK
    works = in_force.why is None
    return Part("calibration", works, in_force.about, state, in_force.headline)


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

    def held_button(self, board_us: int, for_us: int, buttons: int = ANY_BUTTON) -> int | None:
        """Return a button that has been held down for so long, None if there is none.

        Up to `board_us` all that happened at the board has been noticed; `buttons` are those that
        mean anything, a bit for each.
        """
        for button, since_us in self._down_since_us.items():
            if board_us - since_us >= for_us and button & buttons:
                return button
        return None

    def part(self, board_us: int) -> Part:
        """Return what is known of the button; `board_us` as of `held_button`."""
        stuck = self.held_button(board_us, STUCK_US)
        if stuck is not None:
            return Part("button", False, reason(Code.HELD_DOWN, button=stuck))
        if not self.presses:
            return Part("button", True, reason(Code.NOT_PRESSED), UNCHECKED)
        return Part("button", True, reason(Code.PRESSES, presses=self.presses))
