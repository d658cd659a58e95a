"""The loop that joins ports, wire, procedure, journal and console. One thread, no callbacks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from firmware_py.board.board_connection import FALL_SILENT_S, BoardConnection
from firmware_py.board.self_check import ButtonWatch
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.console import grammar
from firmware_py.console.command_row import UnderWay
from firmware_py.console.console import Console
from firmware_py.console.grammar import ConsoleError
from firmware_py.console.pin import LOCKED, PinLock
from firmware_py.installation.card_system import CardSystem
from firmware_py.installation.configuration import Configuration
from firmware_py.link.client import Client
from firmware_py.link.notices import Greeted, Lost, Notice, Refused, TimeTold, UnknownEvent
from firmware_py.operator.commands import COMMANDS
from firmware_py.operator.console_connection import LAST_WORDS_S, ConsoleConnection
from firmware_py.operator.instrument import Instrument
from firmware_py.operator.manual_tone import ManualTone
from firmware_py.operator.replies import unasked_line
from firmware_py.operator.result_desk import COMMANDS as OF_RESULTS
from firmware_py.operator.result_desk import ResultDesk
from firmware_py.operator.room_desk import COMMANDS as OF_ROOM
from firmware_py.operator.setting_desk import COMMANDS as OF_SETTINGS
from firmware_py.operator.watch import Watch
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.ports import CLOSE_S, WRITE_TIMEOUT_S, Port, PortError
from firmware_py.platform.program import EXIT_CONFIGURATION, EXIT_FAULT, EXIT_TONE_GENERATOR
from firmware_py.platform.supervisor import Supervisor
from firmware_py.platform.wrong_pins import WrongPinsOnDisk
from firmware_py.sessions.driver import Driver
from firmware_py.sessions.resumption import doing_words
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session import Session
from firmware_py.terms.events import Paused
from firmware_py.terms.tells import AnswerTold, EarOverTold, ErrorTold, ToneTold

LOOK_AROUND_S: Final = 0.5  # for a lost port, at least so often
# What SYST:EXIT waits at most, however busy the machine is: for the board to fall silent, for the
# operator's end to take what the firmware said last, and for all ports.
EXIT_S_MAX: Final = 2.0
WRITES_AT_THE_END: Final = 6  # to the board twice, to the operator three times, to the aid once
PORTS: Final = 3
AS_TOLD: Final = "ends as told"
assert (
    FALL_SILENT_S + LAST_WORDS_S + WRITES_AT_THE_END * WRITE_TIMEOUT_S + PORTS * CLOSE_S
    < EXIT_S_MAX
), "SYST:EXIT takes longer than it says"


class FirmwareError(Exception):
    """The firmware has to end: with which exit code, and why in words."""

    def __init__(self, code: int, words: str) -> None:
        self.code = code
        super().__init__(words)


@dataclass(frozen=True)
class Ports:
    """The serial ports of the device, not yet open."""

    tone_generator: Port
    console: Port
    hearing_aid: Port | None = None  # of an aid that can be tuned here
    wait: bool = False  # for a tone generator that was not there yet


class Firmware:
    """The firmware of the fitting device, at ports that are not yet open.

    The `clock` is that of the hearing tests; that of the wire is never faster than real. `nonce`
    returns eight hexadecimal digits for every conversation with the board. With a bad `calibration`
    tests run at nominal levels, and everything says so and why.
    """

    def __init__(
        self,
        configuration: Configuration,
        ports: Ports,
        data: DataDirectory,
        clock: SteadyClock,
        nonce: Callable[[], str],
        supervisor: Supervisor | None = None,
        calibration: CalibrationOnFile = NO_CALIBRATION,
        system: CardSystem | None = None,
    ) -> None:
        client = Client(nonce, clock.board_speed)
        self._board = BoardConnection(
            ports.tone_generator, client, clock, configuration.reconnect_s, wait=ports.wait
        )
        self._runner = Runner(
            data, client, clock, self._tell_of_test, calibration, configuration.resume_within_s,
            configuration.prior,
        )  # fmt: skip
        self._system = system or CardSystem(None, data)
        buttons = ButtonWatch()
        self._watch = Watch(self._runner, client, buttons, clock)
        wrong_pins = WrongPinsOnDisk(data.path / "wrong-pins", data.disk)
        lock = PinLock(configuration.pin, clock.world_s, wrong_pins)
        results = ResultDesk(self._runner, data, lock)
        self._instrument = Instrument(
            configuration, self._runner, self._board, ManualTone(client),
            buttons, data, clock, self.stop, self._tell, results,
        )  # fmt: skip
        self._instrument.of_card = self._system.words
        self._console = Console(
            COMMANDS, self._instrument, lock, self._under_way, lambda: self._runner.has_begun,
            self._instrument.operator_left, self._record,
        )  # fmt: skip
        self._console.add(OF_RESULTS, results)
        self._console.add(OF_ROOM, self._instrument.room_desk)
        self._console.add(OF_SETTINGS, self._instrument.setting_desk)
        self._drivers: list[Driver[Any, Any]] = [self._runner]  # who goes first stands first
        # What not every device has comes in late.
        if ports.hearing_aid is not None:
            from firmware_py.operator.tuning_desk import COMMANDS as OF_TUNING
            from firmware_py.operator.tuning_desk import TuningDesk
            from firmware_py.tuning.tuner import Tuner

            tuner = Tuner(
                data, client, ports.hearing_aid, clock, self._tell, configuration.resume_within_s,
                self._runner,
            )  # fmt: skip
            self._console.add(OF_TUNING, TuningDesk(configuration, tuner))
            self._drivers.append(tuner)
        if self._system.place is not None:
            from firmware_py.operator.update_desk import COMMANDS as OF_UPDATES
            from firmware_py.operator.update_desk import UpdateDesk

            desk = UpdateDesk(self._system, data, data.free_bytes)
            self._console.add(OF_UPDATES, desk, desk.operator_left)
        self._operator = ConsoleConnection(ports.console, self._console, clock)
        self._supervisor = supervisor or Supervisor({})
        self._waiting = clock.waiting()
        self._end = ""  # why it ends; "": it goes on

    def _under_way(self) -> UnderWay:
        sessions = self._sessions
        if self._runner.running:
            return UnderWay.TEST_FIRST if len(sessions) > 1 else UnderWay.TEST
        if self._system.updating:
            return self._system.under_way
        return UnderWay.TUNING if sessions else UnderWay.NOTHING

    # The loop

    def run(self) -> None:
        """Run until told to stop, or a `FirmwareError`; the tone generator is told to be silent."""
        try:
            wrong = self._start()
            while not self._end:
                self.step()
                self._try_system(wrong)
        except FirmwareError:
            raise
        except Exception as error:
            self._last_words(EXIT_FAULT, grammar.SYSTEM_ERROR, f"{type(error).__name__}: {error}")
            raise
        finally:
            self._end = self._end or AS_TOLD  # stop() comes too late from here on
            self._supervisor.ending(self._end)
            self._board.fall_silent(self._waiting)
            for driver in self._drivers:
                driver.close()
            self._operator.flush_last_words(self._waiting)
            self._board.port.close()
            self._operator.port.close()
            self._waiting.close()

    def _start(self) -> list[str]:
        """Take up what was left, and greet the board; return what is wrong with journals."""
        self._open_ports()
        self._report_all(self._watch.look_at_calibration())
        self._report_all(self._watch.look_at_clock())
        wrong = [words for driver in self._drivers for words in driver.load_last()]
        self._report_all((grammar.JOURNAL_DAMAGED, words) for words in wrong)
        self._record()
        self._report_all(self._watch.look_at_disk(self._instrument.disk_part()))
        self._report_all(self._watch.look_at_waits(self._sessions))
        self._board.begin()
        if self._board.waits:  # as long as it takes: it is ready without
            self._supervisor.ready(self._ready_words())
        if not self._board.port.is_open:
            self._report(grammar.HARDWARE_MISSING, self._board.why)
        return wrong

    def stop(self) -> None:
        """End after the present step; a running test is kept and gone on with at the next start.

        A signal may call this while a step waits: the step does not wait any more.
        """
        if not self._end:
            self._end = AS_TOLD
            self._waiting.ring()

    def step(self) -> None:
        self._wait()
        self._operator.serve()
        if not self._end:  # to open a lost port may take seconds
            if self._under_way() is not UnderWay.NOTHING:  # another listener than before, perhaps
                self._instrument.end_tones()
            self._serve_tone_generator()
            self._report_all(self._watch.look_at_buttons())
            self._report_all(self._watch.look_at_test())
            for driver in self._drivers:
                driver.advance()
        self._settle()
        if self._sessions or not any(driver.disk.has_left for driver in self._drivers):
            self._board.client.acknowledge(self._board.client.last_event)
        self._report_all(self._watch.look_at_waits(self._sessions))
        self._carry()
        for words in self._system.look(idle=self._under_way() is UnderWay.NOTHING):
            self._report(grammar.CARD, words)
        self._operator.flush()
        self._supervisor.alive(self._status())

    def _settle(self) -> None:
        """Put what happened on the disk, then do what comes of it."""
        for driver in self._drivers:
            driver.settle()
        self._record()

    def _record(self) -> list[str]:
        """Put what happened on the disk; tell, and return, what that refuses."""
        for driver in self._drivers:
            driver.record()
        refused = [words for driver in self._drivers for words in driver.disk.take_words()]
        self._report_all((grammar.MASS_STORAGE, words) for words in refused)
        return refused

    def _status(self) -> str:
        """Say what the firmware does; of a session only its number."""
        return f"{doing_words(self._sessions)}; {self._board.state}"

    @property
    def _sessions(self) -> list[Session[Any, Any]]:
        return [driver.session for driver in self._drivers if driver.session]

    def _open_ports(self) -> None:
        try:
            self._operator.port.open()
            self._board.open()
        except PortError as error:
            raise self._last_words(
                EXIT_CONFIGURATION, grammar.HARDWARE_MISSING, str(error)
            ) from None

    def _try_system(self, wrong: list[str]) -> None:
        """Find out whether the system is good, if nobody knows that yet and a board answers."""
        asked = self._system.is_to_be_judged and not self._board.is_lost
        if asked and (words := self._system.judge(self._instrument.parts(), wrong)):
            raise self._last_words(EXIT_FAULT, grammar.SYSTEM_ERROR, words)

    def _wait(self) -> None:
        waits = [driver.seconds_to_wait() for driver in self._drivers]
        waits += [LOOK_AROUND_S, self._board.seconds_to_wait()]
        ports = [port for driver in self._drivers for port in driver.ports]
        ports = [p for p in (self._board.port, self._operator.port, *ports) if p.is_open]
        self._waiting.wait(ports, min(wait for wait in waits if wait is not None))

    # The tone generator

    def _serve_tone_generator(self) -> None:
        for notice in self._board.receive():
            self._notice(notice)
        if not self._board.greet_again():
            raise self._board_is_lost_for_good()

    def _board_is_lost_for_good(self) -> FirmwareError:
        words = self._board.last_words()
        if self._board.is_unsound:
            self._runner.feed(Paused())
            self._settle()
        if self._runner.running and self._board.is_unsound:
            words += "; the session is kept, and paused: SESS:CONT goes on with it"
        elif self._runner.running:
            words += "; the session is kept and goes on at the next start"
        return self._last_words(EXIT_TONE_GENERATOR, grammar.TONE_GENERATOR_LOST, words)

    def _carry(self) -> None:
        for notice in self._board.send():
            self._notice(notice)

    def _notice(self, notice: Notice) -> None:
        match notice:
            case Greeted(board, version, serial=serial):
                self._meet(f"{board} {version}", serial)
            case Lost(why, disbelieved):
                if self._board.note_loss(why, disbelieved=disbelieved):
                    self._report(grammar.TONE_GENERATOR_LOST, f"tone generator lost: {why}")
            case Refused("tone", "noise") if self._runner.running:
                pass  # one of the test is asked again with its noise, if it is still wanted
            case Refused(verb, code, name):
                self._report(
                    grammar.TONE_REFUSED, f"tone generator refused {verb}: {code} {name}".strip()
                )
            case UnknownEvent(verb=verb, why=why):
                if why and self._board.note_refusal(why):
                    self._report(grammar.TONE_GENERATOR_WRONG, f"tone generator: {why}")
                self._tell("foreign-event", {"verb": verb})
            case TimeTold():  # by which a silence counts as not heard
                self._report_all(self._watch.look_at_buttons())
        self._instrument.look_on(notice, idle=self._under_way() is UnderWay.NOTHING)
        for driver in self._drivers:
            driver.notice(notice)

    def _meet(self, board: str, serial: str) -> None:
        if self._board.meet(board) and not self._board.waits:
            self._supervisor.ready(self._ready_words())
        self._tell("tone-generator", {"board": self._board.board, "serial": serial or "-"})
        self._report_all(self._watch.look_at_calibration())
        for each in self._runner.differences()[-1:]:
            self._report(grammar.TONE_GENERATOR_CHANGED, each.words)

    def _ready_words(self) -> str:
        console, tones = self._operator.port.url, self._board.port.url
        ready = f"ready; {self._board.state} at {tones}, console at {console}"
        runner = self._runner
        words = (
            runner.resumed_words(), runner.prior_words(), runner.calibration_today().headline,
            self._watch.disk_fault,
        )  # fmt: skip
        return "; ".join(filter(None, (ready, *words)))

    # What is said

    def _tell_of_test(self, what: str, about: dict[str, Any]) -> None:
        """Tell how the test goes; of one that was begun before the start only who has the PIN.

        Its tones and answers are its thresholds, and those are of somebody else, perhaps.
        """
        if (
            self._runner.has_begun
            or self._console.lock.state != LOCKED
            or what not in (ToneTold.WHAT, AnswerTold.WHAT, EarOverTold.WHAT)
        ):
            self._tell(what, about)

    def _tell(self, what: str, about: dict[str, Any]) -> None:
        if self._instrument.events_on:
            self._operator.say(unasked_line(what, about))

    def _report_all(self, errors: Iterable[tuple[int, str]]) -> None:
        for error in errors:
            self._report(*error)

    def _report(self, number: int, words: str) -> None:
        self._console.errors.add(ConsoleError(number, words))
        self._tell(ErrorTold.WHAT, ErrorTold(number, words).figures())

    def _last_words(self, code: int, number: int, words: str) -> FirmwareError:
        """Say on the console, asked or not, why the firmware ends."""
        self._operator.say(f"ERROR {ConsoleError(number, words).answer}")
        self._end = words
        return FirmwareError(code, words)
