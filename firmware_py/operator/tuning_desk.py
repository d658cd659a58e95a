"""What the operator can ask of a tuning at the console."""

import json
from operator import attrgetter
from typing import Final

from firmware_py.comparisons.events import Answered
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.comparisons.tuning import State, Tuning
from firmware_py.console import grammar
from firmware_py.console.arguments import Argument, Choice, Number, Word
from firmware_py.console.command_row import Command, Pin, When
from firmware_py.console.grammar import ConsoleError
from firmware_py.inference.preference.answer import Answer
from firmware_py.installation.configuration import Configuration
from firmware_py.link.aid import AidGreeted
from firmware_py.operator.refusals import refusing
from firmware_py.operator.replies import pairs
from firmware_py.operator.setting_desk import seed_by_chance
from firmware_py.sessions.identity import Identity, Meeting, differences
from firmware_py.sessions.session_record import not_finished
from firmware_py.terms.events import Aborted, Continued, Paused
from firmware_py.terms.person import Person
from firmware_py.terms.reasons import Code
from firmware_py.terms.settings import SEED_MAX
from firmware_py.terms.words import say
from firmware_py.tuning.tuner import NO_AID, Tuner
from firmware_py.tuning.tuning_record import TuningHeader

NOT_BEGUN: Final = "no tuning was begun"
NONE_YET: Final = "there was no tuning yet: TUNE:STAR starts one"


class TuningDesk:
    """What the console's commands of a tuning do."""

    def __init__(self, configuration: Configuration, tuner: Tuner) -> None:
        self._configuration = configuration
        self._tuner = tuner

    def start(self, identifier: str | None, count: int | None, seed: int | None) -> None:
        greeted = self._tuner.aid.greeted
        if greeted is None:
            words = f"{NO_AID}: {self._tuner.aid.why}; {NOT_BEGUN}"
            raise ConsoleError(grammar.HARDWARE_MISSING, words)
        with refusing(NOT_BEGUN):
            settings = TuningSettings(
                greeted.fit, greeted.ranges_db, greeted.prior_sd_db,
                TuningSettings.comparisons_max if count is None else count,
                seed=seed_by_chance() if seed is None else seed,
            )  # fmt: skip
            person = Person.enter(identifier=identifier)
            self._tuner.begin(settings, self._whose(person, greeted))

    def _whose(self, person: Person, aid: AidGreeted) -> str | None:
        """Return who is tuned, as a journal names him: the one for whom the aid is fitted."""
        recorded = self._configuration.pseudonymise(person).identifier
        for each in differences(Meeting.TUNE, Identity.of_aid(aid), Identity(recorded)):
            words = f"the fit is somebody else's: {say(each.reason)}; {NOT_BEGUN}"
            raise ConsoleError(grammar.SETTINGS_CONFLICT, words)
        return recorded or aid.person

    def pause(self) -> None:
        self._tuner.feed(Paused())

    @property
    def waits(self) -> bool:
        return self._tuner.session is not None and bool(self._tuner.session.test.waits_why)

    def go_on(self) -> None:
        tuning = self._tuner.last_test
        if tuning is None or tuning.state != State.PAUSED:
            raise ConsoleError(grammar.SETTINGS_CONFLICT, "the tuning is not paused")
        if self._tuner.foreign:
            raise ConsoleError(grammar.SETTINGS_CONFLICT, say(self._tuner.foreign))
        self._tuner.feed(Continued())

    def abort(self) -> None:
        """End the tuning; a best setting that did not win yet is not kept."""
        self._tuner.feed(Aborted.by(Code.ABORTED))
        self._tuner.settle()

    def answer(self, answer: Answer) -> None:
        tuning = self._tuner.last_test
        if tuning is None or not tuning.takes_answers:
            words = "there is nothing to answer yet: both have to be heard first"
            raise ConsoleError(grammar.SETTINGS_CONFLICT, words)
        self._tuner.feed(Answered(answer))

    def state(self) -> str:
        aid = self._tuner.aid.greeted
        words = f"aid={'lost' if aid is None else 'ready'} fit={'-' if aid is None else aid.fit}"
        tuning = self._tuner.last_test
        if tuning is None:
            return f"state=idle {words}"
        outcome = f" outcome={tuning.outcome}" if tuning.outcome else ""
        number = f" tuning={self._tuner.last.header.session}" if self._tuner.last else ""
        return (
            f"state={tuning.state}{outcome}{number} "
            f"comparisons={tuning.estimator.comparison_count} of={tuning.settings.comparisons_max} "
            f"expected_regret={tuning.estimator.expected_regret:.2f} {words}"
            f"{self._check(tuning)}"
        )

    def _check(self, tuning: Tuning) -> str:
        """Say that the tuning waits for the operator's word, and why; "" if it does not."""
        why = self._tuner.foreign or tuning.waits_why
        return f" check=identity {pairs({'why': why})}" if why and not tuning.outcome else ""

    def _last(self) -> tuple[Tuning, TuningHeader]:
        if self._tuner.last is None:
            raise ConsoleError(grammar.SETTINGS_CONFLICT, NONE_YET)
        return self._tuner.last.test, self._tuner.last.header

    def identity(self) -> str:
        recorded = self._tuner.recorded
        if recorded is not None:  # its last board is not looked for
            header, who = recorded.header, recorded.header.identity()
        else:
            tuning, header = self._last()
            who = header.identity(tuning.board)
        told = {
            name: getattr(who, name) for name in ("identifier", "device", "board", "aid", "fit")
        }
        return json.dumps({"tuning": header.session, "started": header.started, **told})

    def result(self) -> str:
        if (recorded := self._tuner.recorded) is not None:
            header, result = recorded.header, recorded.result
            if result is None:
                words = f"tuning {header.session}: {not_finished(header)}"
                raise ConsoleError(grammar.JOURNAL_DAMAGED, words)
        else:
            tuning, header = self._last()
            result = tuning.result()
        return json.dumps({"tuning": header.session, **result.to_record()})


START: Final = (
    Argument("ID", Word("WORD"), optional=True, any_script=True),
    Argument("COUNT", Number("NUMBER", limits=(5, 40), whole=True), optional=True),
    Argument("SEED", Number("NUMBER", limits=(0, SEED_MAX), whole=True), optional=True),
)
ANSWERS: Final = Choice({each.upper(): each for each in Answer})

COMMANDS: Final = (
    Command(
        "TUNE:STARt", TuningDesk.start, "tune the hearing aid by preference", START,
        named=True, when=When.NOT_IN_TEST, pin=Pin(arguments=("ID",)), undone=NOT_BEGUN,
    ),
    Command("TUNE:PAUSe", TuningDesk.pause, "pause the tuning", when=When.IN_TUNING),
    Command(
        "TUNE:CONTinue", TuningDesk.go_on, "go on after a pause", when=When.IN_TUNING,
        pin=Pin(waits=attrgetter("waits")),
    ),
    Command(
        "TUNE:ABORt", TuningDesk.abort, "end it; the prescription stays, if nothing won against it",
        when=When.IN_TUNING,
    ),
    Command(
        "TUNE:ANSWer", TuningDesk.answer, "which was better, in place of the button",
        (Argument("answer", ANSWERS),), when=When.IN_TUNING,
    ),
    Command("TUNE:STATe?", TuningDesk.state, "state of the tuning and of the hearing aid"),
    Command(
        "TUNE:RESult?", TuningDesk.result, "the result as JSON, so far or final",
        pin=Pin(always=True),
    ),
    Command(
        "TUNE:IDENtity?", TuningDesk.identity, "whose the last tuning is, as JSON",
        pin=Pin(always=True),
    ),
)  # fmt: skip
