"""The self-test: one word on every part of the device, and one number for all."""

import datetime
from dataclasses import dataclass
from typing import Final

from firmware_py.data_directory import DataDirectory, DataDirectoryError
from firmware_py.link.client import Greeted, Notice, Told
from firmware_py.link.frames import FrameError, parse_whole
from firmware_py.procedure.events import HEARD_BUTTON

# In the order of the answer. A part that is at fault adds its number to the code.
PARTS: Final = {"wire": 1, "board": 2, "button": 4, "calibration": 8, "disk": 16, "clock": 32}
STUCK_S: Final = 10.0  # nobody holds a button so long
YEAR_MIN: Final = 2026  # of this firmware: an earlier date is of a clock that was never set


@dataclass(frozen=True)
class Part:
    """What was found of one part.

    Attributes
    ----------
    name : str
        One of `PARTS`.
    works : bool
        A part that is only not proven works.
    words : str
        Figures, or what is wrong.
    """

    name: str
    works: bool
    words: str


def answer(parts: list[Part]) -> str:
    """Return the code, and in quotes what was found of every part."""
    assert [part.name for part in parts] == [*PARTS]
    code = sum(PARTS[part.name] for part in parts if not part.works)
    found = (f"{p.name} {'ok' if p.works else 'FAULT'}, {p.words}" for p in parts)
    words = "; ".join(part.replace(";", ",").replace('"', "'") for part in found)
    return f'{code},"{words}"'


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
    """Counts presses, and sees a button that is held for ever."""

    def __init__(self) -> None:
        self.presses = 0
        self._down_since_s: dict[int, float] = {}

    def notice(self, notice: Notice, now_s: float) -> tuple[str, int] | None:
        """Take in what came over the wire; return what moved and which button, if one did."""
        match notice:
            case Greeted():  # what happened in between may never be told
                self._down_since_s.clear()
            case Told(_, "button-down" | "button-up" as verb, fields):
                try:
                    button = parse_whole(fields.get("button", str(HEARD_BUTTON)))
                except FrameError:
                    return None
                if verb == "button-down":
                    self.presses += 1
                    self._down_since_s[button] = now_s
                else:
                    self._down_since_s.pop(button, None)
                return verb, button
        return None

    def held(self, now_s: float, for_s: float) -> int | None:
        """Return a button that has been held down for so long, None if there is none."""
        for button, since_s in self._down_since_s.items():
            if now_s - since_s >= for_s:
                return button
        return None

    def part(self, now_s: float) -> Part:
        """Return what is known of the button."""
        stuck = self.held(now_s, STUCK_S)
        if stuck is not None:
            return Part("button", False, f"button {stuck} is held down for ever")
        presses = f"{self.presses} presses" if self.presses else "not pressed yet"
        return Part("button", True, f"{presses} since the start")
