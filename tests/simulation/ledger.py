"""What the disk is bound to keep of the journals, and what has to be in them by when."""

import json
import math
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from device.simulator.board import PlayedTone
from firmware_py.calibration import NOMINAL_FULL_SCALE_DB_HL
from firmware_py.journal.simulated_disk import SimulatedDisk
from firmware_py.procedure.settings import STEP_UP_MAX_DB
from tests.simulation.violation import Violation

MET_ANEW = ("started", "board-ready")  # events before it are of no test, or are asked again
ROUNDING_DB = 0.011


@dataclass
class Page:
    """What is known of one journal.

    Attributes
    ----------
    content : bytes
        That was on the disk at some time, and so has to stay.
    marks : list of (boot, event number, what)
        Of inputs, in order.
    plays : dict
        By number of the presentation.
    """

    content: bytes = b""
    header: dict[str, Any] = field(default_factory=dict)
    marks: list[tuple[str, int, str]] = field(default_factory=list)
    plays: dict[int, dict[str, Any]] = field(default_factory=dict)
    outcome: str = ""
    complete: bool = False

    def read(self, content: bytes) -> None:
        """Take in what has been added."""
        for record in [json.loads(line) for line in content[len(self.content) :].splitlines()]:
            self._take(record)
        self.content = content

    def _take(self, record: dict[str, Any]) -> None:
        match record:
            case {"kind": "header"}:
                self.header = record
            case {"kind": "input", "board": [boot, event], "event": {"what": what}}:
                self.marks.append((boot, event, what))
            case {"kind": "output", "action": {"what": "play", "number": number} as play}:
                self._play(number, play)
            case {"kind": "output", "action": {"what": "finish", "result": {"outcome": outcome}}}:
                self.outcome = outcome
            case {"kind": "end"}:
                self.complete = True

    def _play(self, number: int, play: dict[str, Any]) -> None:
        if self.plays.setdefault(number, play) != play:
            raise Violation(f"presentation {number} was {self.plays[number]}, and now is {play}")
        before = [p for n, p in self.plays.items() if n < number and p["ear"] == play["ear"]]
        known = [p for p in before if _near(p["frequency_hz"], play["frequency_hz"])] + before[-1:]
        known_db_hl = [p["level_db_hl"] for p in known]
        if before and play["level_db_hl"] > max(known_db_hl) + STEP_UP_MAX_DB:
            raise Violation(f"{play} is more than {STEP_UP_MAX_DB} dB above all of {known}")
        limit_db_hl = self.header["settings"]["level_max_db_hl"]
        if play["level_db_hl"] > limit_db_hl:
            raise Violation(f"{play} is above the limit of {limit_db_hl} dB HL")


def _near(frequency_hz: float, other_hz: float) -> bool:
    """Return whether two tones are half an octave apart at most."""
    return other_hz / math.sqrt(2.0) <= frequency_hz <= other_hz * math.sqrt(2.0)


class Ledger:
    """Looks at the disk from outside the firmware."""

    def __init__(self) -> None:
        self.pages: dict[Path, Page] = {}

    def compare(self, disk: SimulatedDisk) -> None:
        """Check that nothing is gone that was on the disk before."""
        for path, page in self.pages.items():
            if not (disk.durable(path) or b"").startswith(page.content):
                raise Violation(f"{path.name} has lost some of its {len(page.content)} bytes")

    def look(self, disk: SimulatedDisk) -> None:
        """Take in what is on the disk now; only while the firmware runs, which mends torn ends."""
        self.compare(disk)
        for path in disk.paths():
            content = disk.durable(path)
            if path.suffix == ".journal" and content and path not in self.pages:
                self.pages[path] = Page()
            if content and path in self.pages:
                with suppress(ValueError):  # of a journal that was never begun, or never mended
                    self.pages[path].read(content[: content.rfind(b"\n") + 1])

    def page_of(self, session: int) -> Page | None:
        """Return the newest page of a session number, or of what a tone's id has of one."""
        found = [p for p in self.pages.values() if p.header.get("session", -1) % 1000 == session]
        return found[-1] if found else None

    def check_tone(self, tone: PlayedTone) -> None:
        """Check that a tone of a session was on the disk before it is heard, as it is heard."""
        session, _, number = tone.tone_id.partition("-")
        page = self.page_of(int(session))
        play = page.plays.get(int(number)) if page else None
        if play is None:
            raise Violation(f"tone {tone.tone_id} sounds, and is in no journal")
        level_db_hl = tone.level_dbfs + NOMINAL_FULL_SCALE_DB_HL
        alike = play["ear"] == tone.ear and abs(play["frequency_hz"] - tone.frequency_hz) < 0.01
        if not alike or abs(level_db_hl - play["level_db_hl"]) > ROUNDING_DB:
            raise Violation(f"{tone} sounds, and the journal has {play}")

    def check_acknowledged(
        self, path: Path, boot: str, number: int, what: str, newest_met: int
    ) -> None:
        """Check that an event that the board may forget is in the journal of the running test."""
        page = self.pages[path]
        if page.complete:
            return
        for marked, event, recorded in page.marks:
            if marked == boot and event >= number:
                if event > number and recorded not in MET_ANEW:
                    raise Violation(f"event {number} of {boot}, {what}, was passed over")
                return
        known = any(marked == boot for marked, _, _ in page.marks)
        if known or number > newest_met:
            raise Violation(f"event {number} of {boot}, {what}, is acknowledged and in no journal")
