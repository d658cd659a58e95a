"""What the operator can ask for at the console; `commands` says by which line.

A query returns its answer, a command nothing. What cannot be done is a `ConsoleError`.
"""

from collections.abc import Callable
from typing import Any, Final

from firmware_py.board.board_connection import WARM_UP_S, BoardConnection
from firmware_py.board.self_check import (
    ButtonWatch,
    Part,
    answer,
    answer_as_json,
    board_parts,
    calibration_part,
    clock_part,
    disk_part,
)
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.console import grammar
from firmware_py.console.console import Left
from firmware_py.console.grammar import ConsoleError
from firmware_py.installation.configuration import Configuration
from firmware_py.link.notices import Notice
from firmware_py.operator.discomfort_desk import DiscomfortDesk
from firmware_py.operator.manual_tone import ManualTone
from firmware_py.operator.refusals import refusing, require_hands_off
from firmware_py.operator.replies import (
    calibration_words,
    idle_words,
    limit_words,
    state_words,
    version_words,
)
from firmware_py.operator.result_desk import ResultDesk
from firmware_py.operator.room_desk import RoomDesk
from firmware_py.operator.setting_desk import SettingDesk
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.version import full_version
from firmware_py.presenting.presenter import PAUSED
from firmware_py.sessions.attendance import check_of
from firmware_py.sessions.runner import Runner
from firmware_py.terms.events import Aborted, Continued, EarNamed, EquipmentHeard, Paused
from firmware_py.terms.person import Person, Sex
from firmware_py.terms.reasons import Code
from firmware_py.terms.route import ROUTES, Route
from firmware_py.terms.words import say

NOT_BEGUN: Final = "no test was begun"
NOT_PLAYED: Final = "nothing was played"


def _end_test(runner: Runner, code: Code) -> None:
    """End the test at once: the operator's next line, in the same bytes, may begin another."""
    runner.feed(Aborted.by(code))
    runner.settle()


class Instrument:
    """What the console's commands do.

    The settings of the `configuration` are those of a test where the operator has not changed them.
    `tell` is told what happens, in words and figures, for the operator.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - each is a part of the device
        self,
        configuration: Configuration,
        runner: Runner,
        board: BoardConnection,
        manual_tone: ManualTone,
        buttons: ButtonWatch,
        data: DataDirectory,
        clock: SteadyClock,
        stop: Callable[[], None],
        tell: Callable[[str, dict[str, Any]], None],
        results: ResultDesk,
    ) -> None:
        self.events_on = configuration.events
        self._runner = runner
        self._board = board
        self.manual_tone = manual_tone
        self.buttons = buttons
        self._data = data
        self._clock = clock
        self._stop, self._tell = stop, tell
        self.results = results
        self.of_card = ""  # which machine it is in, and the slot of the firmware's system
        self.setting_desk = SettingDesk(configuration)
        self.discomfort_desk = DiscomfortDesk(runner)
        self.room_desk = RoomDesk(configuration.room, runner, self.setting_desk.settings)

    # The device

    def identify(self) -> str:
        return f"GP-PTA,fitting device,{self._data.device or 0},{full_version()}"

    def version(self) -> str:
        return version_words(self._board, self.of_card)

    def self_test(self) -> str:
        return answer(self.parts())

    def self_test_parts(self) -> str:
        return answer_as_json(self.parts())

    def parts(self) -> list[Part]:
        """Return what was found of every part.

        A device that is not calibrated works, and says so.
        """
        return [
            *board_parts(self._board),
            self.buttons.part(self._board.client.told_until_us),
            calibration_part(self._runner.calibration_today()),
            self.disk_part(),
            clock_part(self._clock.date()),
        ]

    def disk_part(self) -> Part:
        """Return whether a test that would begin now could be recorded, or that under way."""
        needed_bytes = self._runner.needed_bytes(self.setting_desk.settings())
        # While a test is under way its own journal is the proof.
        return disk_part(self._data, needed_bytes, write=not self._runner.running)

    def time(self) -> str:
        """Return date and time of day; the clock is never set from here."""
        return self._clock.date().isoformat(timespec="seconds")

    def reset(self) -> None:
        _end_test(self._runner, Code.RESET)
        self.manual_tone.forget()
        self.setting_desk.forget()

    def look_on(self, notice: Notice, *, idle: bool) -> None:
        """Tell of tones by hand, and of buttons while nothing under way says what they mean."""
        moved = self.buttons.notice(notice)
        if moved is not None and idle:
            self._tell(moved[0], {"button": moved[1]})
        sounded = self.manual_tone.notice(notice)
        if sounded is not None:
            self._tell(*sounded)

    def end_tones(self) -> None:
        """End tones by hand and for the meter: who wears the earphones now did not ask for them."""
        self.manual_tone.forget()

    def operator_left(self, left: Left) -> None:
        """Forget what an operator has set up; a test under way goes on."""
        self.end_tones()
        names = self.setting_desk.forget(unasked=left is Left.UNASKED)
        if names:
            self._tell("settings", {"forgotten": names})
        if left is Left.LINE:
            self.events_on = self.setting_desk.configuration.events

    def shut_down(self) -> None:
        self._stop()

    def set_events(self, on: bool) -> None:
        was_on, self.events_on = self.events_on, on
        if not was_on:
            self._runner.tell_resumed()

    def events(self) -> str:
        return "ON" if self.events_on else "OFF"

    # The test

    def start_refused(self) -> None:
        """Take in that a test was not begun: what is shown then is not that person's."""
        self.results.was_refused = True

    def start(
        self,
        ears: str | None,
        age_years: float | None,
        sex: Sex | None,
        identifier: str | None,
        seed: int | None,
    ) -> None:
        self._require_board()
        told = {"ears": ears, "seed": seed}
        changes = {name: value for name, value in told.items() if value is not None}
        with refusing(NOT_BEGUN):
            settings = self.setting_desk.of_test(changes)
            self.room_desk.require_quiet()
            self._require_warm(self._runner.calibration_today(), NOT_BEGUN)
            require_hands_off(self.buttons, self._board.client.told_until_us, settings, NOT_BEGUN)
            person = Person.enter(age_years, sex, identifier)
            self._runner.begin(settings, self.setting_desk.configuration.pseudonymise(person))
        if differences := self.setting_desk.differences():
            self._tell("settings", {"differ": differences})
        self.setting_desk.forget()
        self.results.was_refused = False
        self.manual_tone.forget()

    def pause(self) -> None:
        self._runner.feed(Paused())

    @property
    def waits(self) -> bool:
        test = self._runner.last_test
        return test is not None and check_of(test) == "identity"

    def go_on(self) -> None:
        test = self._runner.last_test
        if test is None or (test.state != PAUSED and not check_of(test)):
            raise ConsoleError(grammar.SETTINGS_CONFLICT, "the test is not paused")
        if foreign := self._runner.foreign:
            raise ConsoleError(grammar.SETTINGS_CONFLICT, say(foreign))
        if lacking := self._runner.lacking(test.settings):
            raise ConsoleError(grammar.SETTINGS_CONFLICT, say(lacking))
        if check_of(test) == "identity":  # after a short break it is not cold
            self._require_warm(self._runner.last_calibration, "the test waits")
        self._runner.feed(Continued())

    def equipment_heard(self, by: str) -> None:
        test = self._runner.last_test
        asked = test is not None and check_of(test) in ("equipment", "silence")
        if test is None or not asked or not test.takes_word_of(by):
            raise ConsoleError(grammar.SETTINGS_CONFLICT, "nobody is asked who hears the tones")
        self._runner.feed(EquipmentHeard(by))

    def ear_named(self, named: str) -> None:
        test = self._runner.last_test
        if test is None or check_of(test) != "ear":
            raise ConsoleError(grammar.SETTINGS_CONFLICT, "nobody is asked in which ear a tone is")
        self._runner.feed(EarNamed(named))

    def abort(self) -> None:
        _end_test(self._runner, Code.ABORTED)

    def state(self) -> str:
        runner, lost = self._runner, self._board.is_lost
        if (last := runner.last) is None:
            return idle_words(runner.calibration_today(), lost=lost)
        return state_words(last.test, last.resumed, last.header, lost=lost)

    # Tones and calibration

    def play_tone(
        self, route: Route, frequency_hz: float, level_db_hl: float, noise_db_hl: float | None
    ) -> None:
        self._require_board()
        today = self._runner.calibration_today()
        with refusing(NOT_PLAYED):
            self.manual_tone.play(
                route, frequency_hz, level_db_hl, self.setting_desk.of_tone(), today, noise_db_hl
            )

    def tone_limits(self) -> str:
        today = self._runner.calibration_today()
        return self.manual_tone.limits(self.setting_desk.of_tone(), today)

    def calibration(self) -> str:
        return calibration_words(self._runner.calibration_today())

    def calibration_limits(self, route: Route | None) -> str:
        today = self._runner.calibration_today()
        if route and (lacking := today.lacks(route)):
            raise ConsoleError(grammar.SETTINGS_CONFLICT, lacking)
        asked_db_hl = self.setting_desk.settings().level_max_db_hl

        def highest_db_hl(route: Route, frequency_hz: float) -> float:
            reach_db_hl = today.highest_db_hl(route, frequency_hz)
            return min(asked_db_hl, route.kind.highest_db_hl(frequency_hz), reach_db_hl)

        measured = [each for each in ROUTES if not today.lacks(each)]
        return limit_words(highest_db_hl, today.audiogram_hz, [route] if route else measured)

    def play_calibration_tone(
        self, route: Route, frequency_hz: float, level_dbfs: float, pulsed: bool | None
    ) -> None:
        """Play a tone for a sound level meter; the first is as soft as one of a test."""
        self._require_board()
        today, settings = self._runner.calibration_today(), self.setting_desk.of_tone()
        with refusing(NOT_PLAYED):
            self.manual_tone.play_for_meter(
                route, frequency_hz, level_dbfs, settings, today, pulsed=bool(pulsed)
            )

    def calibration_tone(self) -> str:
        return self.manual_tone.for_meter.state

    # Settings

    def set_setting(self, name: str, text: str) -> None:
        with refusing():
            self.setting_desk.change(name, text)

    def _require_board(self) -> None:
        if not self._board.client.connected:
            raise ConsoleError(grammar.HARDWARE_MISSING, "the tone generator does not answer")

    def _require_warm(self, calibration: CalibrationInForce, undone: str) -> None:
        """Refuse levels in dB HL while the tone generator warms up; nominal ones are none."""
        if not calibration.nominal and (seconds := self._board.warms_up_s):
            raise ConsoleError(
                grammar.WARMS_UP,
                f"the tone generator warms up: {seconds} s more of {WARM_UP_S:g} s; {undone}",
            )
