"""The loop that joins ports, wire, procedure, journal and console. One thread, no callbacks."""

import json
from collections.abc import Callable
from typing import Any, Final

from firmware_py.board_connection import FALL_SILENT_S, BoardConnection, Reopening
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.commands import COMMANDS
from firmware_py.configuration import Configuration
from firmware_py.console import grammar
from firmware_py.console.console import Console
from firmware_py.console.grammar import ConsoleError
from firmware_py.console.pin import LOCKED, PinLock
from firmware_py.console.words import figure, readable
from firmware_py.instrument import Instrument
from firmware_py.journal import JournalError
from firmware_py.link.client import Client
from firmware_py.link.notices import Greeted, Lost, Notice, Refused, TimeTold, UnknownEvent
from firmware_py.manual_tone import ManualTone
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError
from firmware_py.platform.exit_codes import (
    EXIT_CONFIGURATION,
    EXIT_FAULT,
    EXIT_JOURNAL,
    EXIT_TONE_GENERATOR,
)
from firmware_py.platform.ports import CLOSE_S, WRITE_TIMEOUT_S, Port, PortError
from firmware_py.platform.supervisor import Supervisor
from firmware_py.platform.wrong_pins import WrongPinsOnDisk
from firmware_py.procedure.events import Paused
from firmware_py.procedure.presenter import PAUSED
from firmware_py.procedure.printable import printable
from firmware_py.procedure.settings import Settings
from firmware_py.procedure.tells import AnswerTold, EarOverTold, ToneTold
from firmware_py.runner import Runner
from firmware_py.self_check import ButtonWatch, clock_part
from firmware_py.standstill import Standstill

LOOK_AROUND_S: Final = 0.5  # for a lost port, at least so often
# What SYST:EXIT waits at most, however busy the machine is: for the board to fall silent, for the
# operator's end to take what the firmware said last, and for both ports.
EXIT_S_MAX: Final = 2.0
LAST_WORDS_S: Final = 0.5
WRITES_AT_THE_END: Final = 5  # to the board twice, to the operator three times
assert (
    FALL_SILENT_S + LAST_WORDS_S + WRITES_AT_THE_END * WRITE_TIMEOUT_S + 2 * CLOSE_S < EXIT_S_MAX
), "SYST:EXIT takes longer than it says"


class FirmwareError(Exception):
    """The firmware has to end: with which exit code, and why in words."""

    def __init__(self, code: int, words: str) -> None:
        self.code = code
        super().__init__(words)


class Firmware:
    """The firmware of the fitting device.

    Parameters
    ----------
    configuration : Configuration
        As read from its file.
    tone_generator, console : Port
        The two serial ports, not yet open.
    data : DataDirectory
        Where the journals are kept.
    clock : SteadyClock
        The clock of the hearing tests; that of the wire is never faster than real.
    nonce : callable
        Returns a new eight-digit hexadecimal number for every conversation with the board.
    supervisor : Supervisor, optional
        Told when the tone generator answers and commands are taken, and that the loop goes round.
    calibration : CalibrationOnFile, optional
        As loaded from its file. With a bad one tests run at nominal levels, and everything says
        so and why.
    """

    def __init__(
        self,
        configuration: Configuration,
        tone_generator: Port,
        console: Port,
        data: DataDirectory,
        clock: SteadyClock,
        nonce: Callable[[], str],
        supervisor: Supervisor | None = None,
        calibration: CalibrationOnFile = NO_CALIBRATION,
    ) -> None:
        self._console_port = console
        self._console_reopening = Reopening(console, clock)
        self._client = Client(nonce, clock.board_speed)
        self._board = BoardConnection(
            tone_generator, self._client, clock, configuration.reconnect_s
        )
        self._runner = Runner(data, self._client, clock, self._tell_of_test, calibration)
        self._clock = clock
        self._manual_tone = ManualTone(self._client)
        self._buttons = ButtonWatch()
        self._standstill = Standstill(clock.of_wire())
        self._instrument = Instrument(
            configuration, self._runner, self._board, self._manual_tone,
            self._buttons, data, clock, self.stop,
        )  # fmt: skip
        wrong_pins = WrongPinsOnDisk(data.path / "wrong-pins", data.disk)
        lock = PinLock(configuration.pin, clock.world_s, wrong_pins)
        self._console = Console(
            COMMANDS, self._instrument, lock, lambda: self._runner.running,
            lambda: self._runner.has_begun,
        )  # fmt: skip
        self._supervisor = supervisor or Supervisor({})
        self._told: list[str] = []
        self._stopping = False
        self._waiting = clock.waiting()
        self._end = "ends as told"

    # The loop

    def run(self) -> None:
        """Run until told to stop.

        Raises
        ------
        FirmwareError
            If the firmware cannot go on; the tone generator has been told to be silent.
        """
        try:
            self._open_ports()
            self._report_calibration()
            self._report_clock()
            for words in self._runner.load_last():
                self._report(grammar.JOURNAL_DAMAGED, words)
            self._board.begin()
            while not self._stopping:
                self.step()
        except (JournalError, DataDirectoryError) as error:
            raise self._last_words(EXIT_JOURNAL, grammar.MASS_STORAGE, str(error)) from None
        except FirmwareError:
            raise
        except Exception as error:
            self._last_words(EXIT_FAULT, grammar.SYSTEM_ERROR, f"{type(error).__name__}: {error}")
            raise
        finally:
            self._stopping = True  # stop() comes too late from here on
            self._supervisor.ending(self._end)
            self._board.fall_silent(self._waiting)
            self._runner.close()
            self._say_last_words()
            self._board.port.close()
            self._console_port.close()
            self._waiting.close()

    def stop(self) -> None:
        """End after the present step; a running test is kept and gone on with at the next start.

        A signal may call this while a step waits: the step does not wait any more.
        """
        if not self._stopping:
            self._stopping = True
            self._waiting.ring()

    def step(self) -> None:
        """Wait for something to happen, and see to it."""
        self._wait()
        self._serve_console()
        if not self._stopping:  # to open a lost port may take seconds
            self._serve_tone_generator()
            self._watch_buttons()
            self._watch_test()
            self._runner.advance()
        self._runner.settle()
        self._carry()
        self._flush_console()
        self._supervisor.alive(self._status())

    def _status(self) -> str:
        """Say what the firmware does; of a session only its number."""
        session = self._runner.session
        doing = "no test under way" if session is None else f"session {session.number} under way"
        return f"{doing}; {self._board.state}"

    def _report_calibration(self) -> None:
        today = self._runner.calibration_today()
        if today.why:
            self._report(grammar.CALIBRATION, today.headline)

    def _report_clock(self) -> None:
        clock = clock_part(self._clock.date())
        if not clock.works:
            self._report(grammar.CLOCK, f"the clock says {clock.words}; sessions will be dated so")

    def _open_ports(self) -> None:
        try:
            self._console_port.open()
            self._board.port.open()
        except PortError as error:
            raise self._last_words(
                EXIT_CONFIGURATION, grammar.HARDWARE_MISSING, str(error)
            ) from None

    def _wait(self) -> None:
        waits = (LOOK_AROUND_S, self._runner.seconds_to_wait(), self._board.seconds_to_wait())
        ports = [port for port in (self._board.port, self._console_port) if port.is_open]
        self._waiting.wait(ports, min(wait for wait in waits if wait is not None))

    # The tone generator

    def _serve_tone_generator(self) -> None:
        for notice in self._board.receive():
            self._notice(notice)
        if not self._board.greet_again():
            raise self._board_is_lost_for_good()

    def _board_is_lost_for_good(self) -> FirmwareError:
        words = self._board.last_words()
        if self._runner.running and self._board.is_unsound:
            self._runner.feed(Paused())
            self._runner.settle()
            words += "; the session is kept, and paused: SESS:CONT goes on with it"
        elif self._runner.running:
            words += "; the session is kept and goes on at the next start"
        return self._last_words(EXIT_TONE_GENERATOR, grammar.TONE_GENERATOR_LOST, words)

    def _carry(self) -> None:
        """Send what waits for the tone generator."""
        for notice in self._board.send():
            self._notice(notice)

    def _notice(self, notice: Notice) -> None:
        match notice:
            case Greeted(board, version, _, _, serial):
                if self._board.greeted(f"{board} {version}"):
                    self._supervisor.ready(self._ready_words())
                self._tell("tone-generator", {"board": self._board.board, "serial": serial or "-"})
                if another := self._runner.another_board(serial):
                    self._report(grammar.TONE_GENERATOR_CHANGED, another)
            case Lost(why, disbelieved):
                if self._board.lost(why, disbelieved=disbelieved):
                    self._report(grammar.TONE_GENERATOR_LOST, f"tone generator lost: {why}")
            case Refused("tone", "noise") if self._runner.running:
                pass  # one of the test is asked again with its noise, if it is still wanted
            case Refused(verb, code, name):
                self._report(
                    grammar.TONE_REFUSED, f"tone generator refused {verb}: {code} {name}".strip()
                )
            case UnknownEvent(why=why) if why and self._board.refused(why):
                self._report(grammar.TONE_GENERATOR_WRONG, f"tone generator: {why}")
            case TimeTold():  # by which a silence counts as not heard
                self._watch_buttons()
        self._look_on(notice)
        self._runner.notice(notice)

    def _look_on(self, notice: Notice) -> None:
        """Tell of tones by hand, and of buttons while no test says what they mean."""
        moved = self._buttons.notice(notice)
        if moved is not None and not self._runner.running:
            self._tell(moved[0], {"button": moved[1]})
        sounded = self._manual_tone.notice(notice)
        if sounded is not None:
            self._tell(*sounded)

    def _watch_buttons(self) -> None:
        """Pause a test whose listener cannot answer, before silence counts as not heard."""
        test = self._runner.last_test
        if test is None or not self._runner.running or test.state == PAUSED:
            return
        settings = test.settings
        button = self._buttons.held(
            self._client.told_until_us, _held_us_max(settings), settings.press_buttons
        )
        if button is not None:
            words = "the test is paused: let go of it, then SESS:CONT"
            self._report(grammar.BUTTON_STUCK, f"button {button} is held down; {words}")
            self._runner.feed(Paused())

    def _watch_test(self) -> None:
        """Pause a test that does not go on, whatever the tone generator says."""
        test = self._runner.last_test if self._runner.running else None
        words = self._standstill.look(test, answered=self._client.connected)
        if words:
            paused = "the test is paused: SESS:CONT goes on with it"
            self._report(grammar.TEST_STANDS, f"{words}; {paused}")
            self._runner.feed(Paused())

    def _ready_words(self) -> str:
        console, tones = self._console_port.url, self._board.port.url
        ready = f"ready; {self._board.state} at {tones}, console at {console}"
        words = (ready, self._runner.resumed_words(), self._runner.calibration_today().headline)
        return "; ".join(filter(None, words))

    # The console port

    def _serve_console(self) -> None:
        try:
            self._console_reopening.try_again()
            self._told += self._console.receive(self._console_port.read())
        except PortError as error:
            self._console_lost(error)

    def _flush_console(self) -> None:
        lines, self._told = self._told, []
        try:
            # What is told may come from a file, or be the name of one.
            told = "".join(f"{printable(line)}\r\n" for line in lines)
            self._console_port.write(told.encode())
        except PortError as error:
            self._console_lost(error)

    def _console_lost(self, error: PortError) -> None:
        """Go on without the operator; a line that was half typed is forgotten."""
        self._console.forget_line()
        self._console.lock.lock()
        self._console_reopening.lost()
        self._console.errors.add(ConsoleError(grammar.HARDWARE_MISSING, str(error)))

    def _say_last_words(self) -> None:
        try:
            self._flush_console()
            self._console_port.drain(LAST_WORDS_S, self._clock.world_s, self._waiting.sleep)
        except PortError:
            return

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
            figures = "".join(f" {name}={_word(value)}" for name, value in about.items())
            self._told.append(f"! {what}{figures}")

    def _report(self, number: int, words: str) -> None:
        self._console.errors.add(ConsoleError(number, words))
        self._tell("error", {"number": number, "words": words})

    def _last_words(self, code: int, number: int, words: str) -> FirmwareError:
        """Say on the console, asked or not, why the firmware ends."""
        self._told.append(f"ERROR {ConsoleError(number, words).answer}")
        self._end = words
        return FirmwareError(code, words)


def _held_us_max(settings: Settings) -> int:
    """Return how long after a press the next tone may be over, but cannot have been missed."""
    return 1000 * (settings.pause_ms_min + settings.window_ms_min)


def _word(value: Any) -> str:
    """Return a value for an unasked line: without spaces, or in quotes."""
    if isinstance(value, float):
        return figure(value)
    text = str(value).lower() if isinstance(value, bool) else readable(str(value))
    return json.dumps(text, ensure_ascii=False) if " " in text or text == "" else text
