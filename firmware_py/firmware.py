"""The loop that joins ports, wire, procedure, journal and console. One thread, no callbacks."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from firmware_py import __version__
from firmware_py.archive import ArchiveError, glance, recorded_result
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationInForce, CalibrationOnFile
from firmware_py.configuration import Configuration
from firmware_py.console.audiogram import draw_audiogram, legend
from firmware_py.console.commands import Console
from firmware_py.console.grammar import (
    BUTTON_STUCK,
    CALIBRATION,
    CLOCK,
    HARDWARE_MISSING,
    ILLEGAL_PARAMETER,
    JOURNAL_DAMAGED,
    MASS_STORAGE,
    SETTINGS_CONFLICT,
    TONE_GENERATOR_CHANGED,
    TONE_GENERATOR_LOST,
    TONE_REFUSED,
    ConsoleError,
)
from firmware_py.console.pin import PinLock
from firmware_py.console.words import figure, readable
from firmware_py.journal import Disk, JournalError
from firmware_py.link.client import Client
from firmware_py.link.messages import WIRE_VERSION
from firmware_py.link.notices import Greeted, Lost, Notice, Refused, TimeTold
from firmware_py.manual_tone import ManualTone
from firmware_py.platform.clock import LoopClock
from firmware_py.platform.data_directory import (
    SESSION_NUMBER_MAX,
    DataDirectory,
    DataDirectoryError,
    session_number,
)
from firmware_py.platform.exit_codes import (
    EXIT_CONFIGURATION,
    EXIT_FAULT,
    EXIT_JOURNAL,
    EXIT_TONE_GENERATOR,
)
from firmware_py.platform.ports import PortError, SerialLine
from firmware_py.platform.supervisor import Supervisor
from firmware_py.platform.waiting import POLL_S
from firmware_py.platform.wrong_pins import WrongPinsOnDisk
from firmware_py.procedure.events import Aborted, Continued, Paused
from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.outcomes import NOT_MASKED
from firmware_py.procedure.person import Person, composed
from firmware_py.procedure.presenter import FINISHED, PAUSED
from firmware_py.procedure.results import EarResult, SessionResult, ThresholdResult
from firmware_py.procedure.settings import (
    AUDIOGRAM_FREQUENCIES_HZ,
    BOTH,
    LEFT,
    OFF,
    RIGHT,
    SettingError,
    Settings,
)
from firmware_py.runner import Runner
from firmware_py.self_check import ButtonWatch, Part, answer, clock_part, disk_part

LOOK_AROUND_S: Final = 0.5  # for a lost port, at least so often
REOPEN_S: Final = 1.0  # from one try to open a lost port, or to greet a lost board, to the next
FALL_SILENT_S: Final = 0.5
HELD_US_MIN: Final = 500_000  # at the start of a test; nobody presses so long in passing
FORGET_LINE: Final = b"\x15"  # ^U
LAST_WORDS_S: Final = 1.0  # for the operator's end to take what the firmware said last

SESSIONS_LISTED: Final = 10
SESSIONS_LISTED_MAX: Final = 50  # some milliseconds each, while nothing else is done

SYSTEM_ERROR: Final = -310  # of SCPI-99: the firmware is at fault itself


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
    tone_generator, console : SerialLine
        The two serial ports, not yet open.
    data : DataDirectory
        Where the journals are kept.
    clock : LoopClock
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
        tone_generator: SerialLine,
        console: SerialLine,
        data: DataDirectory,
        clock: LoopClock,
        nonce: Callable[[], str],
        supervisor: Supervisor | None = None,
        calibration: CalibrationOnFile = NO_CALIBRATION,
    ) -> None:
        self._configuration = configuration
        self._tone_generator = tone_generator
        self._console_port = console
        self._wire_clock = clock.of_wire()
        self._client = Client(nonce)
        self._runner = Runner(data, self._client, clock, self._tell, calibration)
        self._data = data
        self._clock = clock
        self._manual_tone = ManualTone(self._client)
        self._buttons = ButtonWatch()
        wrong_pins = WrongPinsOnDisk(data.path / "wrong-pins", data.disk)
        self._console = Console(self, PinLock(configuration.pin, clock.world_s, wrong_pins))
        self._supervisor = supervisor or Supervisor({})
        self._settings: dict[str, Any] = {}
        self._events_on = configuration.events
        self._told: list[str] = []
        self._board = ""
        self._stopping = False
        self._waiting = clock.waiting()
        self._reopen_s = {tone_generator: 0.0, console: 0.0}
        self._greet_s = 0.0
        self._lost_since_s: float | None = None
        self._lost_why = ""
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
                self._report(JOURNAL_DAMAGED, words)
            self._lost_since_s = self._clock.world_s()
            self._client.connect(self._wire_clock.now_us())
            while not self._stopping:
                self.step()
        except (JournalError, DataDirectoryError) as error:
            raise self._last_words(EXIT_JOURNAL, MASS_STORAGE, str(error)) from None
        except FirmwareError:
            raise
        except Exception as error:
            self._last_words(EXIT_FAULT, SYSTEM_ERROR, f"{type(error).__name__}: {error}")
            raise
        finally:
            self._stopping = True  # what tells it to end from here on is too late
            self._supervisor.ending(self._end)
            self._fall_silent()
            self._runner.close()
            self._say_last_words()
            self._tone_generator.close()
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
        self._serve_tone_generator()
        self._watch_buttons()
        self._runner.advance()
        self._runner.settle()
        self._carry()
        self._flush_console()
        self._supervisor.alive(self._status())

    def _status(self) -> str:
        """Say what the firmware does; of a session only its number."""
        session = self._runner.session
        doing = "no test under way" if session is None else f"session {session.number} under way"
        if self._lost_since_s is None:
            return f"{doing}; tone generator {self._board}"
        why = f" is lost: {self._lost_why}" if self._lost_why else " does not answer yet"
        return f"{doing}; tone generator{why}"

    def _report_calibration(self) -> None:
        today = self._runner.calibration_today()
        if today.why:
            self._report(CALIBRATION, today.headline)

    def _report_clock(self) -> None:
        clock = clock_part(self._clock.date())
        if not clock.works:
            self._report(CLOCK, f"the clock says {clock.words}; sessions will be dated so")

    def _open_ports(self) -> None:
        try:
            self._console_port.open()
            self._tone_generator.open()
        except PortError as error:
            raise self._last_words(EXIT_CONFIGURATION, HARDWARE_MISSING, str(error)) from None

    def _wait(self) -> None:
        waits = [LOOK_AROUND_S, self._runner.seconds_to_wait()]
        deadline_us = self._client.next_deadline_us()
        if deadline_us is not None and self._tone_generator.is_open:
            waits.append(self._wire_clock.seconds_until(deadline_us))
        seconds = min(wait for wait in waits if wait is not None)
        ports = [port for port in (self._tone_generator, self._console_port) if port.is_open]
        self._waiting.wait(ports, seconds)

    # The tone generator

    def _serve_tone_generator(self) -> None:
        try:
            if not self._tone_generator.is_open and self._reopen(self._tone_generator):
                self._greet_s = 0.0
            data = self._tone_generator.read()
            now_us = self._wire_clock.now_us()
            for notice in self._client.receive(data, now_us) + self._client.advance(now_us):
                self._notice(notice)
        except PortError as error:
            self._notice(Lost(str(error)))
        self._watch_loss()

    def _carry(self) -> None:
        """Send what waits for the tone generator."""
        for notice in self._client.advance(self._wire_clock.now_us()):
            self._notice(notice)
        try:
            self._tone_generator.write(self._client.transmit())
        except PortError as error:
            self._notice(Lost(str(error)))

    def _notice(self, notice: Notice) -> None:
        match notice:
            case Greeted(board, version, _, _, serial):
                first_contact = self._board == ""
                self._board = f"{board} {version}"
                self._lost_since_s = None
                if first_contact:
                    self._supervisor.ready(self._ready_words())
                self._tell("tone-generator", {"board": self._board, "serial": serial or "-"})
                if another := self._runner.another_board(serial):
                    self._report(TONE_GENERATOR_CHANGED, another)
            case Lost(why):
                self._client.disconnect()
                self._greet_s = self._clock.world_s() + REOPEN_S
                self._reopen_s[self._tone_generator] = self._greet_s
                if self._lost_since_s is None:
                    self._lost_since_s = self._clock.world_s()
                    self._report(TONE_GENERATOR_LOST, f"tone generator lost: {why}")
                self._lost_why = why
            case Refused("tone", "noise") if self._runner.running:
                pass  # one of the test is asked again with its noise, if it is still wanted
            case Refused(verb, code, name):
                self._report(TONE_REFUSED, f"tone generator refused {verb}: {code} {name}".strip())
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
        button = self._buttons.held(self._client.told_until_us, _held_us_max(test.settings))
        if button is not None:
            words = "the test is paused: let go of it, then SESS:CONT"
            self._report(BUTTON_STUCK, f"button {button} is held down; {words}")
            self._runner.feed(Paused())

    def _ready_words(self) -> str:
        console, tones = self._console_port.url, self._tone_generator.url
        ready = f"ready; tone generator {self._board} at {tones}, console at {console}"
        words = (ready, self._runner.resumed_words(), self._runner.calibration_today().headline)
        return "; ".join(filter(None, words))

    def _reopen(self, port: SerialLine) -> bool:
        """Try to open a lost port, now and then; return whether it is open."""
        if self._clock.world_s() < self._reopen_s[port]:
            return False
        self._reopen_s[port] = self._clock.world_s() + REOPEN_S
        try:
            port.open()
        except PortError:
            return False
        return True

    def _watch_loss(self) -> None:
        """Try again while the tone generator is lost; give up after the configured time."""
        if self._lost_since_s is None:
            return
        quiet = self._tone_generator.is_open and self._client.next_deadline_us() is None
        if quiet and self._clock.world_s() >= self._greet_s:
            self._client.connect(self._wire_clock.now_us())
        first_contact = self._board == ""
        patience_s = 0.0 if first_contact else self._configuration.reconnect_s
        if self._lost_why and self._clock.world_s() - self._lost_since_s > patience_s:
            words = f"no tone generator at {self._tone_generator.url!r}: {self._lost_why}"
            if self._runner.running:
                words += "; the session is kept and goes on at the next start"
            raise self._last_words(EXIT_TONE_GENERATOR, TONE_GENERATOR_LOST, words)

    def _fall_silent(self) -> None:
        """Have the tone generator stop, as far as it can still be told."""
        self._client.silence()
        until_s = self._clock.world_s() + FALL_SILENT_S
        try:
            while self._client.busy and self._clock.world_s() < until_s:
                now_us = self._wire_clock.now_us()
                self._client.receive(self._tone_generator.read(), now_us)
                self._client.advance(now_us)
                self._tone_generator.write(self._client.transmit())
                self._waiting.sleep(POLL_S)
        except PortError:
            return

    # The console port

    def _serve_console(self) -> None:
        try:
            if not self._console_port.is_open:
                self._reopen(self._console_port)
            self._told += self._console.receive(self._console_port.read())
        except PortError as error:
            self._console_lost(error)

    def _flush_console(self) -> None:
        lines, self._told = self._told, []
        try:
            told = "".join(f"{line}\r\n" for line in lines)
            # A directory may have a name that is no text.
            self._console_port.write(told.encode(errors="backslashreplace"))
        except PortError as error:
            self._console_lost(error)

    def _console_lost(self, error: PortError) -> None:
        """Go on without the operator; a line that was half typed is forgotten."""
        self._console.receive(FORGET_LINE)
        self._console.lock.lock()
        self._reopen_s[self._console_port] = self._clock.world_s() + REOPEN_S
        self._console.errors.add(ConsoleError(HARDWARE_MISSING, str(error)))

    def _say_last_words(self) -> None:
        try:
            self._flush_console()
            self._console_port.drain(LAST_WORDS_S)
        except PortError:
            return

    def _tell(self, what: str, about: dict[str, Any]) -> None:
        if self._events_on:
            figures = "".join(f" {name}={_word(value)}" for name, value in about.items())
            self._told.append(f"! {what}{figures}")

    def _report(self, number: int, words: str) -> None:
        error = ConsoleError(number, words)
        self._console.errors.add(error)
        self._tell("error", {"number": number, "words": words})

    def _last_words(self, code: int, number: int, words: str) -> FirmwareError:
        """Say on the console, asked or not, why the firmware ends."""
        error = ConsoleError(number, words)
        self._told.append(f"ERROR {error.answer}")
        self._end = words
        return FirmwareError(code, words)

    # What the console can do (Instrument)

    def identify(self) -> str:
        """Return maker, model, serial number and version."""
        return f"GP-PTA,fitting device,0,{__version__}"

    def version(self) -> str:
        """Return the versions."""
        board, serial = self._board or "-", self._client.serial or "-"
        return (
            f"firmware {__version__},wire {WIRE_VERSION},tone generator {board},"
            f"serial number {serial}"
        )

    def self_test(self) -> str:
        """Return what is at fault, as a sum, and what was found of every part.

        A device that is not calibrated works, and says so.
        """
        counters, connected = self._client.counters, self._client.connected
        wire = f"{counters.garbled} garbled, {counters.repeats} repeated"
        calibration = self._runner.calibration_today()
        return answer(
            [
                Part("wire", self._tone_generator.is_open, wire),
                Part("board", connected, self._board if connected else "does not answer"),
                self._buttons.part(self._client.told_until_us),
                Part("calibration", not calibration.why, calibration.headline),
                # While a test is under way its own journal is the proof.
                disk_part(self._data, write=not self._runner.running),
                clock_part(self._clock.date()),
            ]
        )

    def time(self) -> str:
        """Return date and time of day."""
        return self._clock.date().isoformat(timespec="seconds")

    def reset(self) -> None:
        """Abort a running test; settings as configured."""
        self._abort("reset by the operator")
        self._manual_tone.forget()
        self._settings = {}

    def shut_down(self) -> None:
        """End the firmware."""
        self.stop()

    def set_events(self, text: str) -> None:
        """Switch the unasked lines on or off."""
        if text.upper() not in ("ON", "OFF", "1", "0"):
            raise ConsoleError(ILLEGAL_PARAMETER, f"{text!r}: allowed are ON and OFF")
        was_on, self._events_on = self._events_on, text.upper() in ("ON", "1")
        if not was_on:
            self._runner.tell_resumed()

    def events(self) -> str:
        """Return whether unasked lines are on."""
        return "ON" if self._events_on else "OFF"

    def start(
        self,
        ears: str | None,
        age_years: str | None,
        sex: str | None,
        identifier: str | None,
        seed: str | None,
    ) -> None:
        """Start a hearing test."""
        if self._runner.running:
            raise ConsoleError(SETTINGS_CONFLICT, "a test is under way: SESS:ABOR ends it")
        if not self._client.connected:
            raise ConsoleError(HARDWARE_MISSING, "the tone generator does not answer yet")
        button = self._buttons.held(self._client.told_until_us, HELD_US_MIN)
        if button is not None:
            raise ConsoleError(BUTTON_STUCK, f"button {button} is held down; no test was begun")
        changes = dict(self._settings)
        if ears is not None:
            changes["ears"] = ears.lower()
        if seed is not None:
            changes["seed"] = _value(seed)
        try:
            person = self._configuration.recorded(_person(age_years, sex, identifier))
            self._runner.begin(self._with(changes), person)
            self._manual_tone.forget()
        except SettingError as error:
            raise ConsoleError(ILLEGAL_PARAMETER, f"{error}; no test was begun") from None
        except (JournalError, DataDirectoryError) as error:
            raise ConsoleError(MASS_STORAGE, f"{error}; no test was begun") from None

    def pause(self) -> None:
        """Pause the test."""
        self._running_test()
        self._runner.feed(Paused())

    def go_on(self) -> None:
        """Go on with a paused test."""
        if self._running_test().state != PAUSED:
            raise ConsoleError(SETTINGS_CONFLICT, "the test is not paused")
        self._runner.feed(Continued())

    def abort(self) -> None:
        """End the test."""
        self._running_test()
        self._abort("aborted by the operator")

    def _abort(self, why: str) -> None:
        """End the test at once: the operator's next line, in the same bytes, may begin another."""
        self._runner.feed(Aborted(why))
        self._runner.settle()

    def state(self) -> str:
        """Return where the test is."""
        test = self._runner.last_test
        if test is None:
            return f"state=idle calibration={self._runner.calibration_today().state}"
        ear = test.ears[test.ear_under_test]
        state = f"{FINISHED} outcome={test.outcome}" if test.state == FINISHED else test.state
        widest = ear.widest()
        return (
            f"state={state} ear={ear.ear} presentation={test.number} tones={ear.tally.tones} "
            f"heard={ear.tally.heard} unsure={ear.tally.unsure} "
            f"half_width_db={widest.half_width_db:.1f} widest_hz={widest.frequency_hz} "
            f"masking={_masking(test)} resumed={self._runner.last_resumed} "
            f"calibration={self._runner.last_calibration.state}"
        )

    def sessions(self, count: str | None) -> str:
        """Return the newest sessions, the newest first."""
        wanted = _whole("count", count, SESSIONS_LISTED_MAX) if count else SESSIONS_LISTED
        newest = reversed(self._journals()[-wanted:])
        return ";".join(_entry(journal, self._data.disk) for journal in newest) or "-"

    def result(self, number: str | None) -> str:
        """Return the result as JSON."""
        result, calibration = self._result(number)
        return json.dumps({**result.to_record(), "calibration": calibration.state})

    def threshold(self, ear: str | None, number: str | None) -> str:
        """Return thresholds as frequency, level, SD and mark, and what calibration they are of."""
        result, calibration = self._result(number)
        chosen = _ears(result, ear)
        words = [f"{e.ear}=" + ";".join(map(_figures, e.thresholds)) for e in chosen]
        return " ".join([*words, f"calibration={calibration.state}"])

    def audiogram(self, number: str | None) -> Sequence[str]:
        """Return the audiogram in characters."""
        result, calibration = self._result(number)
        found = {ear.ear: ear.thresholds for ear in result.ears}
        courses = [readable(_course(ear)) for ear in result.ears]
        remarks = [f"remark: {readable(remark)}" for remark in result.remarks]
        drawn = [*draw_audiogram(found), legend(found)]
        return [*drawn, *courses, *remarks, calibration.headline]

    def _result(self, number: str | None) -> tuple[SessionResult, CalibrationInForce]:
        """Return the result of the last test, or that of a session as it was recorded."""
        if number is None:
            return self._test().result(), self._runner.last_calibration
        wanted = _whole("number", number, SESSION_NUMBER_MAX)
        session = self._runner.session
        if session is not None and session.number == wanted:
            words = f"session {wanted} is under way: without a number its result so far is told"
            raise ConsoleError(SETTINGS_CONFLICT, words)
        journal = next((j for j in self._journals() if session_number(j) == wanted), None)
        if journal is None:
            words = f"there is no session {wanted}; SESS:LIST? lists them"
            raise ConsoleError(ILLEGAL_PARAMETER, words)
        try:
            found = recorded_result(journal, self._data.disk)
            return found.result, found.header.calibration
        except ArchiveError as error:
            raise ConsoleError(JOURNAL_DAMAGED, f"session {wanted}: {error}") from None

    def _journals(self) -> list[Path]:
        try:
            return self._data.journals()
        except DataDirectoryError as error:
            raise ConsoleError(MASS_STORAGE, str(error)) from None

    def play_tone(
        self, ear: str, frequency_hz: str, level_db_hl: str, noise_db_hl: str | None
    ) -> None:
        """Play a tone by hand."""
        if self._runner.running:
            raise ConsoleError(SETTINGS_CONFLICT, "a test is under way: SESS:ABOR ends it")
        if not self._client.connected:
            raise ConsoleError(HARDWARE_MISSING, "the tone generator does not answer")
        self._runner.calibration_tone.stop()
        try:
            self._manual_tone.play(
                ear.lower(), _number(frequency_hz), _number(level_db_hl),
                self._with(self._settings), self._runner.calibration_today(),
                None if noise_db_hl is None else _number(noise_db_hl),
            )  # fmt: skip
        except ValueError as error:
            raise ConsoleError(ILLEGAL_PARAMETER, f"{error}; nothing was played") from None

    def stop_tone(self) -> None:
        """End the tone played by hand."""
        self._manual_tone.stop()

    def calibration(self) -> str:
        """Return the calibration of the next test."""
        return _calibration_words(self._runner.calibration_today())

    def calibration_limits(self, ear: str | None) -> str:
        """Return the highest level that can be asked at the audiogram frequencies."""
        wanted = BOTH if ear is None else ear.lower()
        if wanted not in (BOTH, LEFT, RIGHT):
            raise ConsoleError(ILLEGAL_PARAMETER, f"{ear!r}: allowed are LEFT and RIGHT")
        highest = self._runner.calibration_today().highest_db_hl
        asked_db_hl = self._with(self._settings).level_max_db_hl
        return " ".join(
            f"{ear}="
            + ";".join(
                f"{f},{min(asked_db_hl, highest(ear, f)):g}" for f in AUDIOGRAM_FREQUENCIES_HZ
            )
            for ear in (RIGHT, LEFT)
            if wanted in (BOTH, ear)
        )

    def play_calibration_tone(self, ear: str, frequency_hz: str, level_dbfs: str) -> None:
        """Play a tone for the sound level meter."""
        if self._runner.running:
            raise ConsoleError(SETTINGS_CONFLICT, "a test is under way: SESS:ABOR ends it")
        if not self._client.connected:
            raise ConsoleError(HARDWARE_MISSING, "the tone generator does not answer")
        self._manual_tone.stop()
        try:
            self._runner.calibration_tone.play(
                ear.lower(), _number(frequency_hz), _number(level_dbfs)
            )
        except ValueError as error:
            raise ConsoleError(ILLEGAL_PARAMETER, f"{error}; nothing was played") from None

    def calibration_tone(self) -> str:
        """Return what became of the calibration tone."""
        return self._runner.calibration_tone.state

    def stop_calibration_tone(self) -> None:
        """End the calibration tone."""
        self._runner.calibration_tone.stop()

    def set_setting(self, name: str, value: str) -> None:
        """Change a setting of the next test."""
        changes = {**self._settings, name.lower(): _value(value)}
        self._with(changes)
        self._settings = changes

    def setting(self, name: str | None) -> str:
        """Return one setting or all."""
        record = self._with(self._settings).as_record()
        if name is None:
            return json.dumps(record)
        if name.lower() not in record:
            raise ConsoleError(ILLEGAL_PARAMETER, f"{name!r} is no setting; SETT? lists them")
        return json.dumps(record[name.lower()])

    def _with(self, changes: dict[str, Any]) -> Settings:
        try:
            return Settings.from_record({**self._configuration.test.as_record(), **changes})
        except SettingError as error:
            raise ConsoleError(ILLEGAL_PARAMETER, str(error)) from None

    def _test(self) -> HearingTest:
        if self._runner.last_test is None:
            raise ConsoleError(SETTINGS_CONFLICT, "there was no test yet: SESS:STAR starts one")
        return self._runner.last_test

    def _running_test(self) -> HearingTest:
        if not self._runner.running:
            raise ConsoleError(SETTINGS_CONFLICT, "no test is under way: SESS:STAR starts one")
        return self._test()


def _held_us_max(settings: Settings) -> int:
    """Return how long after a press the next tone may be over, but cannot have been missed."""
    held_ms = settings.pause_ms_min + settings.tone_ms + settings.response_window_ms // 2
    return 1000 * held_ms


def _ears(result: SessionResult, name: str | None) -> list[EarResult]:
    """Return the results of an ear, or of all that were tested."""
    ears = result.by_ear
    wanted = BOTH if name is None else name.lower()
    if wanted not in (BOTH, LEFT, RIGHT) or (wanted != BOTH and wanted not in ears):
        allowed = ", ".join(ear.upper() for ear in ears)
        raise ConsoleError(ILLEGAL_PARAMETER, f"{name!r} was not tested; allowed: {allowed}")
    return list(ears.values()) if wanted == BOTH else [ears[wanted]]


def _course(ear: EarResult) -> str:
    """Say what came of an ear, after how many tones, and why it ended."""
    unsure = f", {ear.tones_unsure} unsure" if ear.tones_unsure else ""
    heard = f"{ear.tones} tones, {ear.tones_heard} heard{unsure}"
    heard += f", {ear.tones_masked} with noise in the other ear" if ear.tones_masked else ""
    why = f"; {ear.why}" if ear.why else ""
    return f"{ear.ear} ear: {ear.outcome}, {heard}{why}"


def _masking(test: HearingTest) -> str:
    """Return the level of the noise, or whether there can be any, or that nobody looks."""
    if not test.cross_hearing.watched:
        return OFF
    if test.noise is not None:
        return f"{test.noise.level_db_hl:g}"
    return "ready" if test.cross_hearing.can_mask else "none"


def _entry(journal: Path, disk: Disk) -> str:
    """Return number, outcome, start, ears and identifier of a session."""
    seen = glance(journal, disk)
    words = (seen.outcome, seen.started, seen.ears, seen.identifier)
    return ",".join((str(session_number(journal)), *(word or "-" for word in words)))


def _whole(name: str, text: str, largest: int) -> int:
    """Return a whole number from 1 on that an operator wrote."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= largest:
        words = f"{name} is {text!r}; allowed are whole numbers from 1 to {largest}"
        raise ConsoleError(ILLEGAL_PARAMETER, words)
    return number


def _figures(found: ThresholdResult) -> str:
    mean, sd = found.threshold_db_hl, found.sd_db
    figures = "-,-" if mean is None else f"{mean:.1f},{sd:.1f}"
    marks = [found.mark] if found.masking in (NOT_MASKED, None) else [found.mark, found.masking]
    return f"{found.frequency_hz},{figures},{','.join(marks)}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def _calibration_words(in_force: CalibrationInForce) -> str:
    """Return the state of a calibration, and its figures as JSON values."""
    words: dict[str, Any] = {"state": in_force.state}
    if in_force.why:
        words["why"] = in_force.why
    if in_force.calibration is not None:
        words |= {"digest": in_force.calibration.digest}
        for table in ("calibration", "transducer"):
            about = in_force.calibration.content[table]
            words |= {name: value for name, value in about.items() if isinstance(value, str)}
    return json.dumps(words)


def _value(text: str) -> Any:
    """Return what an operator wrote as a number, true, false, null, or else as the word it is."""
    try:
        return json.loads(text.lower())
    except ValueError:
        return text.lower()


def _person(age_years: str | None, sex: str | None, identifier: str | None) -> Person:
    told: dict[str, Any] = {}  # what is not allowed is refused where it is checked
    if age_years is not None:
        told["age_years"] = _value(age_years)
    if sex is not None:
        told["sex"] = sex.upper()
    if identifier is not None:
        told["identifier"] = composed(identifier)
    return Person(**told)


def _word(value: Any) -> str:
    """Return a value for an unasked line: without spaces, or in quotes."""
    if isinstance(value, float):
        return figure(value)
    text = str(value).lower() if isinstance(value, bool) else readable(str(value))
    return json.dumps(text, ensure_ascii=False) if " " in text or text == "" else text
