"""What the firmware stands on: board, listener, ports, disk, clock and operator, from one story."""

import heapq
import itertools
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from device.simulator.audiograms import audiogram_named
from device.simulator.faults import FaultCounts, FaultRates, FaultyBoard
from device.simulator.lines import SimulatedLine
from device.simulator.listener import SimulatedListener
from device.simulator.microphones import MicrophoneKind
from device.simulator.room_around import QUIET, RoomAround
from device.simulator.rooms import room_named
from device.simulator.virtual_clock import S, microseconds
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.calibration.simulated import BOARD_NAME
from firmware_py.installation.configuration import Configuration
from firmware_py.platform.ports import Port
from firmware_py.sessions.session import HearingSession
from tests.firmware.whole_sessions import AWAKE, Moody
from tests.journal.simulated_disk import FREE_BYTES, PowerLoss, PowerLostError, SimulatedDisk
from tests.simulation.aids import WatchedAid
from tests.simulation.day import USUAL_DAY, Day
from tests.simulation.given import ON_FILE, OUTSIDE, OUTSIDE_CONTENT, SEAL_KEYS
from tests.simulation.ledger import Ledger
from tests.simulation.lock import Lock, WatchedPin
from tests.simulation.machine import BEGAN_US, Manager, SimulatedClock, WatchedSupervisor
from tests.simulation.operator import Operator
from tests.simulation.seconds import RESUME_WITHIN_S, Seconds
from tests.simulation.story import DISK_FAILS, MISFITS, Story
from tests.simulation.violation import Violation
from tests.simulation.watch import WatchedFirmware
from tests.simulation.watched_board import WatchedBoard

LATE_US: Final = 60 * S  # an answer may be so late when the disk or the machine is slow
SETTLES_US: Final = 10 * S  # on a healthy device all that was late has come by then
TURN_US: Final = 200  # the shortest turn of the loop
TURNS_PER_S_MAX: Final = 200  # on average; more, and the loop is spinning
TURNS_AT_ONCE: Final = 2000
AS_TOLD: Final = "ends as told"
BOARD_BEGAN_US: Final = 7_654_321  # how long a board is on before the host meets it


class World:
    """Everything but the firmware; it is also what the loop waits with.

    Attributes
    ----------
    healthy : bool
        Nothing goes wrong any more.
    was_slow : bool
        Disk or processor kept the firmware waiting for long: it may be killed for that.
    excused_until_us : float
        Until when the firmware may end by itself.
    reported : list of str
        Every error that the firmware told its operator, read or not.
    jumped_unseen : bool
        The board's clock jumped while no firmware ran: nobody can tell that from time that passed,
        and a press that comes after it is too late for the tone before it.
    """

    def __init__(
        self, story: Story, board: type[WatchedBoard] = WatchedBoard,
        disk: type[SimulatedDisk] = SimulatedDisk, day: Day = USUAL_DAY,
    ) -> None:  # fmt: skip
        self.story, self.day = story, day
        self.firmware: WatchedFirmware | None = None
        self.healthy = self.was_slow = False
        self.excused_until_us: float = math.inf
        self.clock = SimulatedClock(self, day.jump)
        self.disk: SimulatedDisk = disk(meanwhile=self._while_writing)
        for path, content in {OUTSIDE: OUTSIDE_CONTENT, **day.files}.items():
            self.disk.put(path, content)
        self.disk.free = FREE_BYTES if day.free_bytes is None else day.free_bytes
        self.moved: dict[Path, bytes] = {}  # to make room
        self.ledger = Ledger(day)
        self.loss = (PowerLoss.KEPT, 0)
        self.counts: list[FaultCounts] = []  # of every cable there was
        self.seal_key = SEAL_KEYS[0] if story.sealed else None
        self.on_file = day.on_file or ON_FILE[story.calibration]
        self.started_with = NO_CALIBRATION
        self.manager = Manager()
        self.lock = Lock(DISK_FAILS.isdisjoint(story.kinds())) if story.pin else None
        self.seconds = Seconds(lambda: self.clock.us, day)
        self.operator = Operator(
            random.Random(f"operator {story.seed}"), story.settings, story.talkative,
            self._take_typed, self.lock, self.seconds,
        )  # fmt: skip
        self.operator.tells_rooms = bool(story.room)
        self.off_s = 0.0  # how much longer the power stays away
        self.tones = SimulatedLine("/dev/tone-generator", self._to_board, self._check_power)
        self.console = SimulatedLine(
            "/dev/console", self._to_operator, self._check_power, self.operator.hang_up
        )
        self.aids: SimulatedLine | None = None
        self.aid: WatchedAid | None = None
        if story.aid:
            self.aids = SimulatedLine("/dev/hearing-aid", self._to_aid, self._check_power)
            self.aid = WatchedAid(0, self.seconds.identifier)
        self.rates = story.rates
        self.hung_until_us = self.slow_until_us = self.slow_us = 0
        self.serial, self.has_noise = day.serial, True
        self._board_type = board
        self.jumped_unseen = False
        self._boots = 0
        self._other_board: tuple[WatchedBoard, int] | None = None
        self.befallen: set[str] = set()
        self.reported: list[str] = []
        self._rung = self._dead = False
        self._stands_still = 0
        self._turns = 0
        self._order = itertools.count()  # of those due at once
        self._begun: dict[Path, tuple[str, int]] = {}  # by journal: boot and newest event
        self._agenda: list[tuple[int, int, Callable[[], None]]] = []
        someone = self._person(**story.listener)
        self.listener = Moody(someone, hears_bone="head" in story.listener)
        self._truth = self.on_file.calibration
        room = room_named(story.room, story.seed) if story.room else None
        self._room = RoomAround(room, MicrophoneKind()) if room else QUIET
        self.boot_board()

    @staticmethod
    def _person(audiogram: str, **options: Any) -> SimulatedListener:
        return SimulatedListener(audiogram_named(audiogram), **options)

    def another_person(self, audiogram: str) -> None:
        self.seconds.person += 1
        told = {**self.story.listener, "audiogram": audiogram}
        self.listener.listener = self._person(**told)

    # What the firmware is started with

    def configuration(self) -> Configuration:
        within_min = RESUME_WITHIN_S / 60.0
        if self.lock is None:
            return Configuration(seed=1, resume_within_min=within_min)
        pin = WatchedPin.that_tells(self._pin_is_looked_at)
        return Configuration(seed=1, pin=pin, resume_within_min=within_min)

    def calibration(self) -> CalibrationOnFile:
        """Return the calibration of the next start; tell the ledger what the device is given."""
        self.started_with, key = self.on_file, self.seal_key
        known = self.on_file.calibration
        self.ledger.given.append((key.name if key else "", known.content if known else None))
        return self.on_file

    def supervisor(self) -> WatchedSupervisor:
        return WatchedSupervisor(self.manager, self.clock)

    def _pin_is_looked_at(self, right: bool) -> None:
        assert self.lock is not None
        self.lock.look_at(self.clock.us, right)

    # Time

    def at(self, seconds: float, happen: Callable[[], None]) -> None:
        at_us = BEGAN_US + microseconds(seconds)
        heapq.heappush(self._agenda, (at_us, next(self._order), happen))

    def after(self, seconds: float, happen: Callable[[], None]) -> None:
        self.at(self.clock.seconds + seconds, happen)

    def move(self, us: int) -> None:
        """Let time pass, and everything happen that is due by then."""
        while (due_us := self._next_us()) <= us:
            self.clock.us = max(self.clock.us, due_us)
            self._happen()
        self.clock.us = max(self.clock.us, us)
        self._happen()

    def stand_still(self, seconds: float) -> None:
        """Let time pass in which the firmware's processor does nothing for it."""
        self.was_slow, self.operator.slack_us = True, LATE_US
        self._stands_still += 1
        try:
            self.move(self.clock.us + microseconds(seconds))
        finally:
            self._stands_still -= 1
        self.excuse()

    def _next_us(self) -> int:
        due = [self.clock.us + S]
        if self._agenda:
            due.append(self._agenda[0][0])
        if self.console.is_talking:
            due.append(self.operator.due_us)
        aid_us = self.aid.next_deadline_us() if self.aid else None
        if aid_us is not None:
            due.append(max(aid_us, self.clock.us + 1))
        board_us = self.cable.next_deadline_us()
        if board_us is not None:
            due.append(self._board_began_us + board_us)
        return min(due)

    def _happen(self) -> None:
        now_us = self.clock.us
        self._note_beginning()
        self.cable.advance(self._board_us())
        if self.aid is not None:
            self.aid.advance(now_us)
            self._fetch_from_aid()
        if now_us >= self.hung_until_us and self.tones.takes:
            self._fetch()
        if self.console.is_talking and self.operator.due_us <= now_us:
            self.operator.look(now_us)
        while self._agenda and self._agenda[0][0] <= now_us:
            heapq.heappop(self._agenda)[2]()
        if self.healthy and not self._stands_still and now_us > self.excused_until_us + SETTLES_US:
            self.was_slow, self.operator.slack_us = False, 0
        if not self._stands_still and self.manager.loses_patience(self.clock.now_us()):
            self._kill_what_hangs()

    def _kill_what_hangs(self) -> None:
        """Do as systemd does with a process that does not say that it lives."""
        if self.clock.us > self.excused_until_us or not self.was_slow:
            raise Violation("the firmware did not say that it lives")
        self.lose_power(PowerLoss.KEPT, 0)

    # Waiting

    def wait(self, ports: Sequence[Port], seconds: float) -> None:
        self._check_power()
        self._turns += 1
        if self._turns > TURNS_AT_ONCE + TURNS_PER_S_MAX * self.clock.seconds:
            raise Violation(f"{self._turns} turns of the loop after {self.clock.seconds:.1f} s")
        until_us = self.clock.us + max(microseconds(seconds), TURN_US)
        self.move(self.clock.us + TURN_US)
        while not self._rung and self.clock.us < until_us and not self._ready(ports):
            self.move(min(until_us, max(self._next_us(), self.clock.us)))

    def sleep(self, seconds: float) -> None:
        self._check_power()
        self.move(self.clock.us + microseconds(seconds))

    def ring(self) -> None:
        self._rung = True

    def close(self) -> None:
        self._rung = False

    def _ready(self, ports: Sequence[Port]) -> bool:
        lines = (line for line in self._lines if line in ports)
        return any(line.is_ready for line in lines)

    # Power

    def _check_power(self) -> None:
        if self._dead or self.disk.power_is_gone:
            raise PowerLostError

    def board_clock_goes(self, **how: int) -> None:
        """Have the board's clock go at another rate, jump or wrap from now on."""
        self.jumped_unseen = self.jumped_unseen or self.firmware is None
        self.board.server.worn_clock.go(self.board.now_us, **how)

    def lose_power(self, loss: PowerLoss, chance: int) -> None:
        """Have the firmware's power go, or its process killed, which keeps all writes."""
        if self.firmware is not None:
            self._dead, self.loss = True, (loss, chance)
            self.disk.lose_power()
            raise PowerLostError

    def come_back(self) -> None:
        """Make the disk what it is after the power, or the process, was gone."""
        if self.disk.power_is_gone:
            self.disk = self.disk.after_power_loss(*self.loss)
            self.ledger.compare(self.disk)
            self._begun = {
                path: event for path, event in self._begun.items() if self.disk.durable(path)
            }
        self.disk.close_all()
        self._dead = self._rung = False
        self.firmware = None
        self.seconds.end()
        self.manager.restarts()
        if self.lock is not None:
            self.lock.restart()
        for line in self._lines:
            line.close()
        self.operator.hang_up()

    def _while_writing(self) -> None:
        if self.clock.us < self.slow_until_us:
            self.move(self.clock.us + self.slow_us)
            self.excuse()

    # The aid

    @property
    def _lines(self) -> tuple[SimulatedLine, ...]:
        return (self.tones, self.console, *([self.aids] if self.aids else []))

    def swap_aid(self, number: int) -> None:
        """Put an aid in this one's place, fitted for who sits there."""
        if self.aids is not None:
            self.aids.vanish()
            self.aid = WatchedAid(number, self.seconds.identifier)
            self.after(0.5, lambda: setattr(self.aids, "there", True))

    def have_aid_lie(self, now: bytes, of_itself: tuple[str, str]) -> None:
        """Have the aid say something false now, and of itself when it is greeted next."""
        if self.aid is not None and self.aids is not None:
            self.aid.false_words = of_itself
            if self.aids.is_talking:
                self.aids.incoming += now

    def _to_aid(self, data: bytes) -> None:
        assert self.aid is not None
        self.aid.firmware = self.firmware
        self.aid.receive(data, self.clock.us)
        self._fetch_from_aid()

    def _fetch_from_aid(self) -> None:
        if self.aid is not None and self.aids is not None:
            come = self.aid.transmit()
            if self.aids.is_talking:
                self.aids.incoming += come

    # The board

    def boot_board(self) -> None:
        self._boots += 1
        self.board = self._board_type(
            self.listener, 0xB000 + self._boots, self.serial, self.has_noise,
            self._truth if self._truth and self._truth.board_serial == self.serial else None,
            self._take_tone, self._take_acknowledgement, self._room,
        )  # fmt: skip
        self._board_began_us = self.clock.us - BOARD_BEGAN_US
        self.board.advance(BOARD_BEGAN_US)
        self.plug_in_cable()

    def swap_boards(self) -> None:
        """Put the other of two boards in this one's place; it has been on all the time."""
        here, other = (self.board, self._board_began_us), self._other_board
        self._other_board = here
        if other is None:
            self.serial = f"{self.serial}-2"
            self.boot_board()
            return
        self.board, self._board_began_us = other
        self.board.advance(self._board_us())
        self.plug_in_cable()

    def plug_in_cable(self) -> None:
        """Put a new cable between board and port; what was in the old one is lost."""
        self.cable = FaultyBoard(self.board, self.rates, self.story.seed * 100 + self._boots)
        self.counts.append(self.cable.counts)
        self.cable.advance(self._board_us())

    def _board_us(self) -> int:
        return self.clock.us - self._board_began_us

    def _to_board(self, data: bytes) -> None:
        if self.clock.us >= self.hung_until_us:
            self.cable.receive(data, self._board_us())
            self._fetch()

    def _fetch(self) -> None:
        come = self.cable.transmit()
        if self.tones.is_talking:
            self.tones.incoming += come

    def _take_tone(self, board: WatchedBoard) -> None:
        tone = board.played[-1]
        session = self._note_beginning()
        if session is not None and tone.tone_id.partition("-")[0] == str(session.number % 1000):
            self.seconds.tone_of(session.journal.path)
        if self.firmware is not None and not self.manager.ready:
            raise Violation(f"{tone} sounds, and the supervisor was not told of any readiness")
        self.ledger.look(self.disk)
        calibration = self.started_with.calibration
        holds = calibration is not None and calibration.board_serial == board.serial
        self.ledger.check_tone(tone, calibration.content if calibration and holds else None)

    def _note_beginning(self) -> HearingSession | None:
        """Note what had happened on the board when a session began; return the one that runs."""
        session = self.firmware.runner.session if self.firmware else None
        if session is not None and session.journal.path not in self._begun:
            self._begun[session.journal.path] = self.board.boot, max(self.board.happened, default=0)
        if session is not None:
            self.seconds.session_runs(session.journal.path, session.header)
        return session

    def _take_acknowledgement(self, board: WatchedBoard, before: int, upto: int) -> None:
        self.ledger.look(self.disk)
        session = self._note_beginning()
        if session is None or session.over:
            return
        if self.ledger.is_foreign(session.journal.path, f"{BOARD_NAME} {board.serial}"):
            return
        boot, newest = self._begun[session.journal.path]
        if boot == board.boot:
            before = max(before, newest)  # what was before is of no test
        tone_id = f"{session.number}-{session.test.number}"
        for number in range(before + 1, upto + 1):
            verb, fields = board.happened[number]
            # Buttons that the wire page does not have mean nothing.
            if fields.get("button") in (1, 2) or fields.get("id") == tone_id:
                self.ledger.check_acknowledged(
                    session.journal.path, board.boot, number, verb, board.newest_met
                )

    # The operator

    def _take_typed(self, data: bytes) -> None:
        if self.console.is_talking:
            self.console.incoming += data

    def _to_operator(self, data: bytes) -> None:
        assert self.firmware is not None
        self.operator.hear(self.clock.us, data, self.firmware._end not in ("", AS_TOLD))

    # In the end

    def excuse(self) -> None:
        """Allow what comes of earlier trouble a moment to show, if all is well now."""
        if self.healthy:
            # What a board was wrong by shows when it answers again: the loss too many. A port that
            # was opened while its name led elsewhere is greeted to the end: 1.8 s.
            shows_late = self.befallen & {*MISFITS, "tone port leads elsewhere"}
            moment_us = 5 * S if shows_late else S
            self.excused_until_us = self.clock.us + moment_us

    def _make_room(self) -> None:
        """Empty the disk; where it was full, the operator moves journals away."""
        session = self.firmware.runner.session if self.firmware else None
        under_way = session.journal.path if session else None
        if self.day.free_bytes is not None:
            self.ledger.look(self.disk)
            if begun := [path.name for path in self.ledger.pages if path not in self.day.files]:
                raise Violation(f"{begun} were begun on a full disk")
            there = {path: self.disk.durable(path) or b"" for path in self.disk.paths()}
            for path in self.day.moved(there, under_way):
                self.moved[path] = self.ledger.let_go(self.disk, path)
                self.seconds.forget(path)
        self.disk.free = FREE_BYTES

    def heal(self) -> None:
        self.healthy = True
        self.excuse()
        self.disk.heal()
        self._make_room()
        self.rates = FaultRates()
        self.hung_until_us = self.slow_until_us = 0
        for line in self._lines:
            line.there = line.takes = True
            line.elsewhere = False
        self.listener.mood = AWAKE
        self.board.hurry()
        self.board.mend()
        if self.board.serial == self.day.serial:
            self.plug_in_cable()
        else:  # a test that waits for it may go on
            self.serial = self.day.serial
            self.boot_board()
