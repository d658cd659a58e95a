"""Runner, wire, board and listener in one process and in no time: a hearing test from end to end.

Only the loop of `Firmware` and the ports are missing. Time stands still while bytes are carried,
and then jumps to the next moment at which anything is due, so that a session of minutes takes a
part of a second and is the same every time.
"""

import copy
import datetime
import itertools
import math
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from device.simulator.audiograms import audiogram_named
from device.simulator.board import SimulatedBoard
from device.simulator.listener import Listener, SimulatedListener
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.journal import SealKey, read_journal
from firmware_py.journal.records import TAIL_BYTES, chained_crc
from firmware_py.link.client import Client
from firmware_py.link.notices import Lost, Notice
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.procedure.pace import Pace
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.procedure.settings import Settings
from firmware_py.runner import Runner

MS: Final = 1000
S: Final = 1_000_000
STARTED: Final = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
BOARD_BEGAN_US: Final = -7_654_321  # the board was on before the session began
STEPS_MAX: Final = 100_000  # a session of two ears has some five thousand
EXCHANGES_MAX: Final = 100  # without time passing; a step has some five


class VirtualClock(SteadyClock):
    """A clock that the test moves; the time of the hearing test may go faster than the world's."""

    def __init__(self, speed: int) -> None:
        super().__init__()
        self.us = 0
        self.speed = speed

    def now_us(self) -> int:
        return self.us * self.speed

    def date(self) -> datetime.datetime:
        return STARTED

    def seconds_until(self, at_us: int) -> float:
        return max(at_us - self.now_us(), 0) / S / self.speed


def a_listener(
    audiogram: str = "N3",
    *,
    response_noise_db: float = 2.0,
    lapse_rate: float = 0.0,
    false_alarm_rate: float = 0.0,
    unsure_half_width_db: float = 0.0,
    response_time_s: float = 0.4,
) -> SimulatedListener:
    """Return a listener who neither lapses nor presses without a tone by default."""
    return SimulatedListener(
        audiogram_named(audiogram),
        response_noise_db=response_noise_db,
        lapse_rate=lapse_rate,
        false_alarm_rate=false_alarm_rate,
        seed=3,
        unsure_half_width_db=unsure_half_width_db,
        response_time_s=response_time_s,
    )


class World:
    """Everything between the journal and the listener.

    Parameters
    ----------
    directory : Path
        Of the journals.
    listener : Listener
        Who sits at the board.
    boot : int
        The number of this start of the board.
    speed : int
        How many times faster than the wire the test and the board run, as in a demonstration.
    calibration : CalibrationOnFile
        The calibration that the firmware is given.
    board : SimulatedBoard, optional
        Another board than the usual one.
    seal_key : SealKey, optional
        With which the device seals its journals.
    """

    def __init__(
        self,
        directory: Path,
        listener: Listener,
        boot: int = 0xB007,
        speed: int = 1,
        calibration: CalibrationOnFile = NO_CALIBRATION,
        board: SimulatedBoard | None = None,
        seal_key: SealKey | None = None,
    ) -> None:
        self.calibration, self.seal_key = calibration, seal_key
        self.board = board or SimulatedBoard(listener, boot=boot, host_silence_us=speed * S)
        self.clock = VirtualClock(speed)
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.notices: list[Notice] = []
        self.wire_cut = False
        self._nonces = itertools.count(1)
        self._power_on(directory)

    def _power_on(self, directory: Path) -> None:
        self.directory = directory
        self.data = DataDirectory(directory, self.seal_key)
        self.client = Client(lambda: f"{next(self._nonces):08x}", self.clock.speed)
        self.runner = Runner(
            self.data, self.client, self.clock,
            lambda what, about: self.told.append((what, about)), self.calibration,
        )  # fmt: skip
        self.wrong = self.runner.load_last()
        self.client.connect(self.clock.us)

    def begin(self, settings: Settings | None = None, person: Person = UNKNOWN) -> None:
        """Meet the board, and start a test."""
        self.until(lambda: self.client.connected)
        self.runner.begin(settings or Settings(), person)

    def finish(self) -> None:
        """Go on until the test is over."""
        self.until(lambda: self.runner.session is None)

    def live(self, changes: Mapping[str, Any] | None = None) -> Path:
        """Run a whole session with these settings changed, close, and return the journal."""
        self.begin(Settings.from_record(dict(changes or {})))
        return self.end()

    def end(self) -> Path:
        """Go on until the test is over, close, and return the journal."""
        self.finish()
        self.close()
        return self.journal()

    def until(self, come: Callable[[], bool]) -> None:
        """Go on until something has come."""
        for _ in range(STEPS_MAX):
            if come():
                return
            self.step()
        raise AssertionError(f"it did not come in {STEPS_MAX} steps; last told: {self.told[-5:]}")

    def run(self, duration_us: int) -> None:
        """Go on for some time."""
        end_us = self.clock.us + duration_us
        self.until(lambda: self.clock.us >= end_us)

    def step(self) -> None:
        """Do all that is due, and let time pass until there is more."""
        for _ in range(EXCHANGES_MAX):
            if not self._exchange():
                break
        else:
            raise AssertionError(f"bytes go back and forth for ever; last told: {self.told[-5:]}")
        self.clock.us = max(self.clock.us + 1, self._next_us())

    def _next_us(self) -> int:
        now_us = self.clock.us
        due = [now_us + S, self.client.next_deadline_us()]
        wait_s = self.runner.seconds_to_wait()
        if wait_s is not None:
            due.append(now_us + math.ceil(wait_s * S))
        board_us = self.board.next_deadline_us()
        if board_us is not None:
            due.append(math.ceil(board_us / self.clock.speed) + BOARD_BEGAN_US)
        return min(us for us in due if us is not None)

    def board_us(self) -> int:
        """Return the time of the board."""
        return (self.clock.us - BOARD_BEGAN_US) * self.clock.speed

    def _exchange(self) -> bool:
        """Do what one turn of the firmware's loop does; return whether anything was carried."""
        now_us = self.clock.us
        self.board.advance(self.board_us())
        incoming = self._from_board()
        if self.wire_cut:
            incoming = b""
        self.take(self.client.receive(incoming, now_us) + self.client.advance(now_us))
        self.runner.advance()
        self.runner.settle()
        self.take(self.client.advance(now_us))
        outgoing = self.client.transmit()
        if not self.wire_cut:
            self.board.receive(outgoing, self.board_us())
        return bool(incoming or outgoing)

    def _from_board(self) -> bytes:
        return self.board.transmit()

    def take(self, notices: list[Notice]) -> None:
        """Give the runner what came over the wire."""
        for notice in notices:
            self.notices.append(notice)
            self.runner.notice(notice)
            if isinstance(notice, Lost):
                self.client.connect(self.clock.us)

    def fork(self, directory: Path) -> "World":
        """Return the world in which the firmware was killed here and started again.

        Its disk holds what is on the disk here now; the board, which has its own power, goes on.
        """
        shutil.copytree(self.directory, directory)
        other = copy.copy(self)
        other.board = copy.deepcopy(self.board)
        other.clock = copy.copy(self.clock)
        other.told, other.notices = [], []
        other._nonces = itertools.count(0x10000)
        other._power_on(directory)
        return other

    def close(self) -> None:
        """Leave what is open."""
        self.runner.close()
        with suppress(OSError):
            self.data.close()

    def journal(self) -> Path:
        """Return the newest journal."""
        return self.data.journals()[-1]


def records_of(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the events (kind "input") or actions (kind "output") of a journal."""
    inner = {"input": "event", "output": "action"}[kind]
    return [record[inner] for record in read_journal(path).records if record["kind"] == kind]


def stimuli_of(path: Path) -> list[dict[str, Any]]:
    """Return the different tones of a journal, in order; one that was asked again comes once."""
    plays = [action for action in records_of(path, "output") if action["what"] == "play"]
    by_number: dict[int, dict[str, Any]] = {}
    for play in plays:
        assert by_number.setdefault(play["number"], play) == play, "asked again, but another tone"
    return list(by_number.values())


def result_of(path: Path) -> dict[str, Any]:
    """Return the result that a journal ends with."""
    (finish,) = (action for action in records_of(path, "output") if action["what"] == "finish")
    result: dict[str, Any] = finish["result"]
    return result


def lines_of_session(path: Path, number: int) -> list[bytes]:
    """Return the lines of a journal, as they were if its session had another number."""
    crc, lines = "", []
    for line in path.read_bytes().splitlines(keepends=True):
        body = re.sub(rb'"session": \d+', b'"session": %d' % number, line[:-TAIL_BYTES], count=1)
        crc = chained_crc(crc, body)
        lines.append(body + f', "crc": "{crc}"}}\n'.encode())
    return lines


def run_session(
    directory: Path, listener: Listener, changes: Mapping[str, Any] | None = None
) -> Path:
    """Run a whole session and return its journal."""
    return World(directory, listener).live(changes)


def asked_again_though_answered(path: Path) -> list[int]:
    """Return the numbers of tones that were played again although they had an answer.

    Only the events are looked at. An answer is a press that is not too late, or an event that shows
    that the pause after the tone is over, while nothing disturbed the presentation.
    """
    records = read_journal(path).records
    settings = Settings.from_record(records[0]["settings"])
    pace = Pace(settings)
    answered: set[int] = set()
    wrong: list[int] = []
    number, onset_us = 0, None
    for what in (record.get("event") or record.get("action") or {} for record in records):
        match what:
            case {"what": "play"}:
                number, onset_us = what["number"], None
                wrong += [number] * (number in answered)
            case {"what": "tone-on"} if what["number"] == number:
                onset_us = what["onset_us"]
            case {"what": "button-down", "button": 2} if not settings.unsure_button:
                pass  # of a button that there is not
            case {"what": "button-down" | "board-time", "at_us": at_us} if onset_us is not None:
                since_us = at_us - onset_us
                pressed = what["what"] == "button-down"
                in_time = MS * settings.response_ms_min <= since_us <= pace.late_us
                over_us = pace.window_us + pace.pause_us(number + 1)
                if number not in answered and (in_time if pressed else since_us > over_us):
                    answered.add(number)
                    if pressed:
                        pace.answered(since_us)
            case {"what": "tone-off", "cut": True} | {"what": "paused" | "board-lost"}:
                onset_us = None
    return wrong
