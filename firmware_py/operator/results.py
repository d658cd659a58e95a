"""Whose result it is that is asked for: that of the last test, or of a recorded session."""

from pathlib import Path

from firmware_py.console import grammar
from firmware_py.console.grammar import ConsoleError
from firmware_py.operator.refusals import refusing
from firmware_py.platform.data_directory import DataDirectory, session_number
from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.results import SessionResult
from firmware_py.procedure.statements import as_told, told_now
from firmware_py.sessions.archive import ArchiveError, Found, recorded_result
from firmware_py.sessions.broken_off import Course
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session_record import SessionHeader


class Results:
    """Finds results, each with the session that it is of.

    Parameters
    ----------
    runner : Runner
        Has the last test.
    data : DataDirectory
        Has the journals of earlier sessions.
    """

    def __init__(self, runner: Runner, data: DataDirectory) -> None:
        self._runner = runner
        self._data = data

    def last(self) -> tuple[HearingTest, SessionHeader]:
        """Return the last test, under way or over."""
        last = self._runner.last
        if last is None:
            words = "there was no test yet: SESS:STAR starts one"
            raise ConsoleError(grammar.SETTINGS_CONFLICT, words)
        return last.test, last.header

    def of(self, number: int | None) -> tuple[SessionResult, SessionHeader]:
        """Return the result of the last test, or that of a recorded session, as it may be told."""
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
        """Return the journals of all sessions, the oldest first."""
        with refusing():
            return self._data.journals()

    def _find(self, number: int) -> Found:
        """Return what an earlier session found."""
        named = (each for each in self.journals() if session_number(each) == number)
        if (journal := next(named, None)) is None:
            words = f"there is no session {number}; SESS:LIST? lists them"
            raise ConsoleError(grammar.ILLEGAL_PARAMETER, words)
        try:
            found = recorded_result(journal, self._data.disk)
        except ArchiveError as error:
            raise ConsoleError(grammar.JOURNAL_DAMAGED, f"session {number}: {error}") from None
        if found.header.session != number:
            words = f"{journal.name}: its header is that of session {found.header.session}"
            raise ConsoleError(grammar.JOURNAL_DAMAGED, words)
        return found
