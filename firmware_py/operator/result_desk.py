"""What the operator can ask of results: of the last test, or of a recorded session."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.console import grammar
from firmware_py.console.arguments import Argument, Number
from firmware_py.console.command_row import Command, Pin
from firmware_py.console.grammar import ConsoleError
from firmware_py.console.pin import LOCKED, PinLock
from firmware_py.findings.checks import Checks
from firmware_py.findings.statements import as_told, told_now
from firmware_py.operator.refusals import refusing
from firmware_py.operator.replies import (
    audiogram_lines,
    mean_words,
    result_words,
    session_words,
    threshold_words,
    whose_line,
)
from firmware_py.paper.conventions import norm_lines
from firmware_py.paper.session_paper import paper_of
from firmware_py.paper.source import Source
from firmware_py.platform.data_directory import SESSION_NUMBER_MAX, DataDirectory, session_number
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.archive import (
    ArchiveError,
    Ends,
    FinishedSession,
    recorded_ends,
    require_result,
)
from firmware_py.sessions.broken_off import Course
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session_record import SessionHeader, not_finished
from firmware_py.terms.calibration_states import SIMULATED
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.reasons import as_json
from firmware_py.terms.results import SessionResult
from firmware_py.terms.route import Route

SESSIONS_LISTED: Final = 10
ANOTHER: Final = "SESS:STAR was refused since then: this is not the session that it was for"
PARTS: Final = ("calibration", "transducer", "vibrator")  # of a calibration that stand on paper


class ResultDesk:
    """Finds results and tells them; while the `lock` is locked nobody is told whose they are."""

    def __init__(self, runner: Runner, data: DataDirectory, lock: PinLock) -> None:
        self.was_refused = False  # the last SESS:STAR: what is shown then is not that person's
        self._runner = runner
        self._data = data
        self._lock = lock

    def sessions(self, count: int | None) -> str:
        """Return the newest sessions, the newest first; if these are not all, how many of how many.

        That is an entry without commas, such as ``50 of 312``.
        """
        journals = self.journals()
        newest = journals[-(count or SESSIONS_LISTED) :]
        told = [session_words(journal, self._data.disk) for journal in reversed(newest)]
        if len(newest) < len(journals):
            told.append(f"{len(newest)} of {len(journals)}")
        return ";".join(told) or "-"

    def result(self, number: int | None) -> str:
        return result_words(*self.of(number), named=self._may_name)

    def means(self) -> str:
        return mean_words(*self.of(None))

    def threshold(self, route: Route | None, number: int | None) -> str:
        result, header = self.of(number)
        chosen = [found for found in result.ears if route in (None, found.route)]
        if route is not None and not chosen:
            tested = ", ".join(str(found.route).upper() for found in result.ears)
            words = f"{str(route).upper()!r} was not tested; allowed: {tested}"
            raise ConsoleError(grammar.ILLEGAL_PARAMETER, words)
        return threshold_words(chosen, header)

    def audiogram(self, number: int | None) -> list[str]:
        """Return whose audiogram it is, and the audiogram in characters, line by line."""
        source = self._source(number)
        lines = [whose_line(source.header, named=self._may_name)]
        if self.was_refused and number is None:
            lines.append(ANOTHER)
        return [*lines, *audiogram_lines(source)]

    @property
    def _may_name(self) -> bool:
        return self._lock.state != LOCKED

    def identity(self, number: int | None) -> str:
        last = self._runner.last
        if last is not None and number == last.header.session:
            number = None  # it may be under way
        number = self._earlier(number)
        if number is None:
            result, header = self.of(None)
            ears = result.ears
        else:  # whose an unfinished session is can be asked, too
            ends = self._ends(number)
            header, ears = ends.header, ends.result.ears if ends.result else ()
        who = header.identity()
        about = {
            "session": header.session,
            "started": header.started,
            **(header.person if self._may_name else UNKNOWN).as_record(),
            "device": who.device,
            "boards": {str(ear.route): list(ear.boards) for ear in ears},
            "calibration": header.calibration.state,
            "calibration_digest": who.calibration or None,
            "transducer": who.transducer,
            "vibrator": who.vibrator,
        }
        return json.dumps(about)

    def paper(self) -> str:
        source = self._source(None)
        header, course = source.header, source.course
        return json.dumps(
            {
                "session": header.session,
                "started": header.started,
                "firmware": header.firmware,
                "settings": header.to_record()["settings"],
                "prior": header.prior,
                "calibration": _calibration(source.calibration),
                "breaks": [asdict(each) for each in course.breaks],
                "waits": as_json(course.waits),
                "ended": course.ended,
                "discomfort": as_json([*course.discomfort.values()]),
                "noise": course.noise,
                "minutes": round(course.seconds / 60.0, 1),
                "norm": norm_lines(source),
                "paper": paper_of(source),
            }
        )

    def _source(self, number: int | None) -> Source:
        """Return the last test, or a recorded session, as far as it may be told."""
        result, header = self.of(number)
        number = self._earlier(number)
        course = self.course(header) if number is None else self._find(number).course
        course = course or Course(header.started, header.started)
        source = Source(
            header=header,
            result=result,
            course=course,
            calibration=course.calibration(header.calibration),
            convention=header.settings.threshold_convention,
            masked=any(ear.tones_masked for ear in result.ears),
            locked=not self._may_name,
        )
        if number is not None:
            return source
        test, _ = self.last()
        checks = {
            ear.route: Checks.of(ear, test.ears[ear.route], test.given, test.settings)
            for ear in result.ears
        }
        return replace(source, masked=test.given.masked, given=test.given, checks=checks)

    # Finding

    def last(self) -> tuple[HearingTest, SessionHeader]:
        last, recorded = self._runner.last, self._runner.recorded
        if last is not None:
            return last.test, last.header
        words = "there was no test yet: SESS:STAR starts one"
        if recorded is not None:
            header = recorded.header
            words = f"session {header.session} is told as {header.recorded_by} recorded it: "
            how = "gp-pta report tells how it was made"
            words += not_finished(header) if recorded.result is None else how
        raise ConsoleError(grammar.SETTINGS_CONFLICT, words)

    def of(self, number: int | None) -> tuple[SessionResult, SessionHeader]:
        """Return the result of the last test, or that of a recorded session, as it may be told."""
        number = self._earlier(number)
        if number is None:
            test, header = self.last()
            nominal = header.calibration.nominal
            return told_now(test.result(), header.settings, nominal=nominal), header
        if (session := self._runner.session) is not None and session.number == number:
            words = f"session {number} is under way: without a number its result so far is told"
            raise ConsoleError(grammar.SETTINGS_CONFLICT, words)
        found = self._find(number)
        header = found.header
        nominal = header.calibration.nominal
        return as_told(found.result, header.settings, nominal=nominal), header

    def course(self, header: SessionHeader) -> Course:
        """Return when a session was; of one under way, or of a long one, its start alone."""
        is_over = self._runner.session is None
        course = self._find(header.session).course if is_over else None
        return course or Course(header.started, header.started)

    def journals(self) -> list[Path]:
        with refusing():
            return self._data.journals()

    def _earlier(self, number: int | None) -> int | None:
        """Return which recorded session is meant; None: the one that this firmware runs, or ran."""
        recorded = self._runner.recorded
        return recorded.header.session if number is None and recorded is not None else number

    def _find(self, number: int) -> FinishedSession:
        with _refusing_session(number):
            return require_result(self._ends(number))

    def _ends(self, number: int) -> Ends:
        named = (each for each in self.journals() if session_number(each) == number)
        if (journal := next(named, None)) is None:
            words = f"there is no session {number}; SESS:LIST? lists them"
            raise ConsoleError(grammar.ILLEGAL_PARAMETER, words)
        with _refusing_session(number):
            ends = recorded_ends(journal, self._data.disk)
        if ends.header.session != number:
            words = f"{journal.name}: its header is that of session {ends.header.session}"
            raise ConsoleError(grammar.JOURNAL_DAMAGED, words)
        return ends


@contextmanager
def _refusing_session(number: int) -> Iterator[None]:
    try:
        yield
    except ArchiveError as error:
        raise ConsoleError(grammar.JOURNAL_DAMAGED, f"session {number}: {error}") from None


def _calibration(in_force: CalibrationInForce) -> dict[str, Any]:
    made = in_force.calibration
    about: dict[str, Any] = {}
    if made is not None and in_force.state != SIMULATED:  # that one nobody made
        about = {part: made.content[part] for part in PARTS if part in made.content}
    return {"state": in_force.state, "about": in_force.about.to_record(), **about}


EARLIER: Final = Argument(
    "number", Number("NUMBER", limits=(1, SESSION_NUMBER_MAX), whole=True), optional=True
)
# Who sits there now may see the own result; that of whoever sat there before needs the PIN.
RESULTS: Final = Pin(arguments=("number",), earlier_test=True)
LAST_RESULT: Final = Pin(earlier_test=True)

COMMANDS: Final = (
    Command(
        "SESSion:IDENtity?", ResultDesk.identity, "whose the last session is, as JSON",
        (EARLIER,), pin=RESULTS,
    ),
    Command(
        "SESSion:PAPer?", ResultDesk.paper, "paper of the last session, as JSON",
        pin=LAST_RESULT,
    ),
)  # fmt: skip
