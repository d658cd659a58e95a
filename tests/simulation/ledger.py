"""What the disk must keep of the journals, and what must be in them before a tone sounds."""

import json
import math
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from device.simulator.simulated_board import PlayedNoise, PlayedTone
from firmware_py.calibration import simulated
from firmware_py.calibration.in_force import NOMINAL_FULL_SCALE_DB_HL
from firmware_py.operator.manual_tone import ID_PREFIX as MANUAL_PREFIX
from firmware_py.operator.meter_tone import ID_PREFIX as CALIBRATION_PREFIX
from firmware_py.platform.data_directory import SESSION
from firmware_py.terms.calibration_states import SIMULATED
from firmware_py.terms.outcomes import Why
from firmware_py.terms.settings import LOUD_DB_HL, STEP_UP_MAX_DB
from tests.journal.simulated_disk import SimulatedDisk
from tests.simulation.day import Day
from tests.simulation.given import OUTSIDE, OUTSIDE_CONTENT
from tests.simulation.violation import Violation

MET_ANEW = ("started", "board-ready")  # events before it are of no test, or are asked again
BOARD_GONE = ("board-lost", "board-ready")
ROUNDING_DB = 0.011
CALIBRATION_TONE_FIRST_DBFS = -45.0  # 40 dB HL at 8 kHz by the calibration; less elsewhere
# By how much a band of noise is above the tone it just masks (ISO 389-4).
NOISE_CORRECTION_DB = {
    "125": 4.0, "250": 4.0, "500": 4.0, "750": 5.0, "1000": 6.0, "1500": 6.0, "2000": 6.0,
    "3000": 6.0, "4000": 5.0, "8000": 5.0,
}  # fmt: skip
# What a B71 gives on the mastoid, dB HL: nothing by bone is louder, whatever the settings allow.
VIBRATOR_MOST_DB_HL = {"250": 45.0, "500": 70.0, "750": 75.0, "1000": 75.0, "1500": 80.0}
VIA_BONE = 1  # on the wire


@dataclass
class Page:
    content: bytes = b""  # was on the disk at some time, and so has to stay
    header: dict[str, Any] = field(default_factory=dict)
    marks: list[tuple[str, int, str]] = field(default_factory=list)  # of inputs, in order
    # `plays`, `noises`: by number of the presentation: the tone, and the noise it has to have, if
    # any
    plays: dict[int, dict[str, Any]] = field(default_factory=dict)
    noises: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    noise: dict[str, Any] | None = None  # is to sound now; a board that was lost has ended it
    # `anew`: the operator is asked whether it is the same person; `moved`: says that vibrator or
    # earphones are where they are wanted, since the last tone; `vibrator_at`: the ear, at that tone
    anew: bool = False
    moved: bool = False
    vibrator_at: str | None = ""  # "": there are earphones; None: nobody knows
    outcome: str = ""
    complete: bool = False

    def read(self, content: bytes) -> None:
        """Read what has been added, up to the first torn line."""
        end = len(self.content)
        try:
            for line in content[end:].splitlines(keepends=True):
                self._take(json.loads(line))
                end += len(line)
        finally:
            self.content = content[:end]

    def _take(self, record: dict[str, Any]) -> None:
        match record:
            case {"kind": "header"}:
                self.header = record
            case {"kind": "input", "event": {"what": what}}:
                if "board" in record:
                    boot, event = record["board"]
                    self.marks.append((boot, event, what))
                if what in BOARD_GONE:
                    self.noise = None
                self._take_word(record["event"])
            case {"kind": "output", "action": {"what": "play", "number": number} as play}:
                self.noises[number] = self.noise
                self._play(number, play)
            case {"kind": "output", "action": {"what": "mask"} as noise}:
                self.noise = noise
            case {"kind": "output", "action": {"what": "unmask" | "silence"}}:
                self.noise = None
            case {"kind": "output", "action": {"what": "finish", "result": {"outcome": outcome}}}:
                self.outcome = outcome
            case {"kind": "end"}:
                self.complete = True

    def _take_word(self, event: dict[str, Any]) -> None:
        """Take in what the operator says of who sits there, and of what is where."""
        match event:
            case {"what": "paused", "why": [_, *_]}:
                self.anew = True
                self._forget_place()
            case {"what": "equipment-heard", "by": "operator" | "other-ear"}:
                self._forget_place()
            case {"what": "continued"}:
                self.anew, self.moved = False, not self.anew

    def _forget_place(self) -> None:
        self.moved = False
        if self.vibrator_at:
            self.vibrator_at = None

    def _play(self, number: int, play: dict[str, Any]) -> None:
        if self.plays.setdefault(number, play) != play:
            raise Violation(f"presentation {number} was {self.plays[number]}, and now is {play}")
        # In the ear of the noise there is an earphone beside the vibrator.
        if play.get("why") != Why.NOISE_REACHES:
            self._check_place(play)
        before = [p for n, p in self.plays.items() if n < number and p["ear"] == play["ear"]]
        known = [p for p in before if _near(p["frequency_hz"], play["frequency_hz"])] + before[-1:]
        known_db_hl = [p["level_db_hl"] for p in known]
        if before and play["level_db_hl"] > max(known_db_hl) + STEP_UP_MAX_DB:
            raise Violation(f"{play} is more than {STEP_UP_MAX_DB} dB above all of {known}")
        limit_db_hl = self.header["settings"]["level_max_db_hl"]
        if play["level_db_hl"] > limit_db_hl:
            raise Violation(f"{play} is above the limit of {limit_db_hl} dB HL")

    def _check_place(self, play: dict[str, Any]) -> None:
        at = play["ear"] if play.get("transducer") == "bone" else ""
        # Earphones may be on since before a pause that was for something else.
        may_be_on = self.vibrator_at is None and not at
        if not may_be_on and at != self.vibrator_at and not self.moved:
            raise Violation(f"{play}, and nobody put there what was at {self.vibrator_at!r}")
        self.vibrator_at, self.moved = at, False


def _near(frequency_hz: float, other_hz: float) -> bool:
    return other_hz / math.sqrt(2.0) <= frequency_hz <= other_hz * math.sqrt(2.0)


class Loudness:
    """How loud what a board plays is, by the content of a calibration; None: nominally."""

    def __init__(self, calibration: dict[str, Any] | None) -> None:
        self._calibration = calibration

    def level_db_hl(self, sound: PlayedTone | PlayedNoise) -> float:
        if self._calibration is None:
            return sound.level_dbfs + NOMINAL_FULL_SCALE_DB_HL
        reference, _, _ = self._curves(sound)
        return self._level_db(sound) - _at(reference, sound.frequency_hz)

    def alike(
        self, sound: PlayedTone | PlayedNoise, told: dict[str, Any], more_db: float = 0.0
    ) -> bool:
        """Return whether this is the sound that was to be played, so much higher."""
        level_db_hl = told["level_db_hl"] + more_db
        return (
            told["ear"] == sound.ear
            and (told.get("transducer") == "bone") == _is_by_bone(sound)
            and abs(told["frequency_hz"] - sound.frequency_hz) < 0.01
            and abs(self.level_db_hl(sound) - level_db_hl) <= ROUNDING_DB
        )

    def check_limits(self, tone: PlayedTone) -> None:
        """Check that neither it nor its noise is louder than calibration and vibrator allow."""
        if _is_by_bone(tone):
            most_db_hl = _at(VIBRATOR_MOST_DB_HL, tone.frequency_hz)
            if self.level_db_hl(tone) > most_db_hl + ROUNDING_DB:
                raise Violation(f"{tone} is above the {most_db_hl:.2f} dB HL of a vibrator")
        for sound in (tone, tone.noise):
            if sound is None or self._calibration is None:
                continue
            _, _, level_max = self._curves(sound)
            limit_db = _at(level_max, sound.frequency_hz)
            if self._level_db(sound) > limit_db + 1e-6:
                raise Violation(
                    f"{sound} is above the limit of {limit_db:.2f} dB of its calibration"
                )

    def _level_db(self, sound: PlayedTone | PlayedNoise) -> float:
        """Return dB SPL, by bone dB re 1 uN."""
        _, sensitivity, _ = self._curves(sound)
        return sound.level_dbfs + _at(sensitivity, sound.frequency_hz)

    def _curves(self, sound: PlayedTone | PlayedNoise) -> list[dict[str, float]]:
        """Return reference threshold, sensitivity and highest level of what it comes out of."""
        told = self._calibration
        assert told is not None
        if not _is_by_bone(sound):
            of_ear = told[sound.ear]
            levels = [of_ear["sensitivity_db_spl"], of_ear["level_max_db_spl"]]
            return [told["transducer"]["retspl_db_spl"], *levels]
        if "vibrator" not in told:
            raise Violation(f"{sound} is by bone, of which its calibration says nothing")
        of_ear = told[f"{sound.ear}-bone"]
        levels = [of_ear["sensitivity_db_un"], of_ear["level_max_db_un"]]
        return [told["vibrator"]["retfl_db_un"], *levels]


def _is_by_bone(sound: PlayedTone | PlayedNoise) -> bool:
    return isinstance(sound, PlayedTone) and sound.via == VIA_BONE


def _given_one(header: dict[str, Any]) -> dict[str, Any] | None:
    """Return the calibration that a session says the device was given; None: none.

    That of the simulated board is not given: it is of one board alone, and as loud as nominal.
    """
    told = header["calibration"]
    content, board = told.get("content"), header["tone_generator"]
    is_own = content == simulated.CONTENT
    if is_own != (told["state"] == SIMULATED) or (is_own and board != simulated.BOARD):
        raise Violation(f"{board} has the calibration {told}")
    if content is None or is_own:
        return None
    if _is_of_another(content, board):
        raise Violation(f"{board} has the calibration of another: {told}")
    return dict(content)


def _is_of_another(calibration: dict[str, Any], board: str) -> bool:
    if calibration == simulated.CONTENT:
        return board != simulated.BOARD
    return bool(calibration["calibration"]["tone_generator_serial"] != board.partition(" ")[2])


def _at(curve: dict[str, float], frequency_hz: float) -> float:
    """Return a level between the points of a curve, linear over log frequency."""
    points_hz = sorted(map(float, curve))
    levels_db = [curve[f"{point_hz:.0f}"] for point_hz in points_hz]
    return float(np.interp(np.log(frequency_hz), np.log(points_hz), levels_db))


class Ledger:
    """Looks at the disk from outside; `given`: key and calibration of each start."""

    def __init__(self, day: Day) -> None:
        self.given: list[tuple[str, dict[str, Any] | None]] = []
        self.pages: dict[Path, Page] = {
            path: Page(day.files[path], header, complete=True) for path, header in day.known.items()
        }
        self._for_meter_dbfs: dict[str, float] = {}  # the last calibration tone, by ear

    def compare(self, disk: SimulatedDisk) -> None:
        """Check that nothing is gone that was on the disk before, nor written through a link."""
        for path, page in self.pages.items():
            if not (disk.durable(path) or b"").startswith(page.content):
                raise Violation(f"{path.name} has lost some of its {len(page.content)} bytes")
        if disk.content(OUTSIDE) != OUTSIDE_CONTENT:
            raise Violation("something was written through a link")

    def let_go(self, disk: SimulatedDisk, path: Path) -> bytes:
        """Have a file taken from the disk, and return what it held; it need not stay any more."""
        self.look(disk)
        self.pages.pop(path, None)
        return disk.take_away(path)

    def look(self, disk: SimulatedDisk) -> None:
        """Take in what is on the disk now, up to a torn end, which the firmware mends."""
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
        tests = (page for path, page in self.pages.items() if path.name.startswith(SESSION))
        found = [p for p in tests if p.header.get("session", -1) % 1000 == session]
        return found[-1] if found else None

    def check_tone(self, tone: PlayedTone, calibration: dict[str, Any] | None) -> None:
        """Check a tone that begins to sound; with this calibration the device was started."""
        if tone.tone_id.startswith(MANUAL_PREFIX):
            loudness = Loudness(calibration)
            loudness.check_limits(tone)
            if loudness.level_db_hl(tone) > LOUD_DB_HL + ROUNDING_DB:
                raise Violation(f"{tone} was played by hand, above {LOUD_DB_HL} dB HL")
            self._for_meter_dbfs.clear()
        elif tone.tone_id.startswith(CALIBRATION_PREFIX):
            self._check_for_meter(tone)
        else:
            self._check_of_session(tone)
            self._for_meter_dbfs.clear()

    def _check_for_meter(self, tone: PlayedTone) -> None:
        """Check that a calibration tone is climbed to from a soft one, since somebody listened."""
        before_dbfs = self._for_meter_dbfs.get(tone.ear)
        limit_dbfs = CALIBRATION_TONE_FIRST_DBFS
        if before_dbfs is not None:
            limit_dbfs = min(before_dbfs + STEP_UP_MAX_DB, 0.0)
        if tone.level_dbfs > limit_dbfs:
            raise Violation(f"{tone} is a calibration tone above {limit_dbfs} dBFS")
        self._for_meter_dbfs[tone.ear] = tone.level_dbfs

    def _check_of_session(self, tone: PlayedTone) -> None:
        """Check that a tone of a session was on the disk before it is heard, as it is heard."""
        session, _, number = tone.tone_id.partition("-")
        page = self.page_of(int(session)) if session.isdigit() else None
        play = page.plays.get(int(number)) if page else None
        if play is None:
            raise Violation(f"tone {tone.tone_id} sounds, and is in no journal")
        assert page is not None
        calibration = _given_one(page.header)
        sealed_now, board = self.given[-1][0], page.header["tone_generator"]
        known = [
            None if given and _is_of_another(given, board) else given for _, given in self.given
        ]
        if page.header.get("seal_key", "") != sealed_now or calibration not in known:
            raise Violation(f"session {session} has a seal key or a calibration it was not given")
        loudness = Loudness(calibration)
        if not loudness.alike(tone, play):
            raise Violation(f"{tone} sounds, and the journal has {play}")
        noise, sounds = page.noises[int(number)], tone.noise
        alike = noise is None and sounds is None
        if noise and sounds:
            alike = loudness.alike(sounds, noise, _at(NOISE_CORRECTION_DB, sounds.frequency_hz))
        if not alike:
            raise Violation(f"{sounds} sounds with a tone, and the journal has {noise}")
        loudness.check_limits(tone)

    def is_foreign(self, path: Path, board: str) -> bool:
        """Return whether the calibration of a test is not of this board: it cannot go on."""
        content = self.pages[path].header["calibration"].get("content")
        return content is not None and _is_of_another(content, board)

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
