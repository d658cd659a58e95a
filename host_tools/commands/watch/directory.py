"""Watch a session by its journal; the firmware is not asked for anything."""

import fnmatch
import os
from contextlib import suppress
from pathlib import Path

from firmware_py.ear.ear import EarTest
from firmware_py.ear.objective import BITS
from firmware_py.findings.statements import so_far
from firmware_py.platform.data_directory import session_number
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.attendance import why_checked
from firmware_py.sessions.replay import HearingReplay
from firmware_py.terms.outcomes import ASKED, Purpose
from firmware_py.terms.results import SessionResult
from firmware_py.terms.route import Route
from firmware_py.terms.words import say
from host_tools.commands.watch.view import Answered, View, under_way
from host_tools.errors import HostError
from host_tools.files import cannot_be_read
from host_tools.recordings.names import by_number
from host_tools.recordings.newest import JOURNALS
from host_tools.recordings.recorded_session import (
    ReplayedSession,
    Trial,
    UnstartedError,
    replay_session,
)


class DirectoryWatch:
    """Follows the newest journal of a directory.

    A journal without a whole header is passed over, as the firmware does. If the newest journal
    cannot be read, the view says why, until there is a newer one.

    Parameters
    ----------
    directory : Path
    awaits_next : bool
        Whether a session that is over at the first look is passed over, and the next one is
        waited for.

    Raises
    ------
    HostError
        If there is no such directory.
    """

    def __init__(self, directory: Path, awaits_next: bool = False) -> None:
        if not directory.is_dir():
            raise HostError(f"{str(directory)!r} is no directory")
        self._directory = directory
        self._awaits_next = awaits_next
        self._passed_over: Path | None = None
        self._journal: JournalWatch | None = None

    def look(self) -> View:
        """Return what there is to see now; the journal is only read again when it has grown.

        Raises
        ------
        HostError
            If the directory cannot be read.
        """
        journals = self._newest_first()
        for journal in journals:
            with suppress(UnstartedError):
                return self._look_at(journal)
        self._awaits_next = False  # whatever comes after the first look is the next one
        why = ": nothing was recorded in the journals that were begun" if journals else ""
        return View("", f"waiting for a test in {self._directory}; there is no session yet{why}")

    def _look_at(self, journal: Path) -> View:
        if journal == self._passed_over:
            return self._waiting(journal)
        if self._journal is None or self._journal.path != journal:
            self._journal = JournalWatch(journal, tells_errors=True)
        view = self._journal.look()
        awaits_next, self._awaits_next = self._awaits_next, False
        if awaits_next and view.over:
            self._passed_over = journal
            return self._waiting(journal)
        return view

    def _waiting(self, journal: Path) -> View:
        number = session_number(journal)
        return View(
            "",
            f"waiting for a test in {self._directory}; the last one, session {number}, is over: "
            f"gp-pta watch {journal} shows it",
        )

    def _newest_first(self) -> list[Path]:
        try:
            names = fnmatch.filter(os.listdir(self._directory), JOURNALS)
        except OSError as error:
            raise cannot_be_read(self._directory, error) from None
        return [self._directory / name for name in sorted(names, key=by_number, reverse=True)]

    def close(self) -> None:
        """Do nothing: nothing is held open."""


class JournalWatch:
    """Follows one journal.

    Parameters
    ----------
    path : Path
    tells_errors : bool
        Whether what is wrong with the journal is shown in a view, and not raised.
    """

    def __init__(self, path: Path, *, tells_errors: bool = False) -> None:
        self.path = path
        self._tells_errors = tells_errors
        self._seen: tuple[int, View] | None = None

    def look(self) -> View:
        """Return what there is to see now; the journal is only read again when it has grown.

        Raises
        ------
        HostError
            If it cannot be read.
        """
        try:
            size = self.path.stat().st_size
        except OSError as error:
            raise cannot_be_read(self.path, error) from None
        if self._seen is None or self._seen[0] != size:
            self._seen = size, self._view()
        return self._seen[1]

    def _view(self) -> View:
        try:
            return view_of(self.path)
        except UnstartedError:
            raise
        except HostError as error:
            if not self._tells_errors:
                raise
            return View("", str(error))

    def close(self) -> None:
        """Do nothing: nothing is held open."""


def view_of(journal: Path) -> View:
    """Read a journal and return what there is to see of its session."""
    answers: list[Answered] = []
    expected_bits: dict[Route, float] = {}

    def watch(test: HearingTest, trial: Trial) -> None:
        ear = test.ears[trial.route]
        answers.append(_as_answered(trial, ear, expected_bits.get(trial.route)))
        expected_bits[trial.route] = BITS.choose(ear.estimator).information_bits

    session = replay_session(journal, watch)
    lost = not session.test.presenter.board_ready
    return View(
        name=session.name,
        state=_state(session),
        calibration=session.calibration.headline,
        nominal=session.calibration.nominal,
        result=session.result if session.test.outcome else _so_far(session),
        answers=answers,
        elapsed_s=session.state.at_us / 1e6,
        seconds_to_go=None if session.test.outcome or lost else session.test.time_to_go.seconds(),
        over=session.test.outcome != "",
        check=say(why_checked(session.test)),
        resumed=session.state.resumed,
    )


def _so_far(session: ReplayedSession) -> SessionResult:
    return so_far(session.test.result(), nominal=session.calibration.nominal)


def _as_answered(trial: Trial, ear: EarTest, expected_bits: float | None) -> Answered:
    return Answered(
        trial.number, trial.route, trial.purpose, trial.frequency_hz, trial.level_db_hl,
        trial.heard,
        expected_bits if trial.purpose == Purpose.MEASURE else None,
        ear.audiogram.widest().half_width_db if trial.purpose in ASKED else None,
    )  # fmt: skip


def _state(session: ReplayedSession) -> str:
    state: HearingReplay = session.state
    if session.damage:
        return f"damaged: {session.damage}"
    if state.test.outcome:
        return state.test.outcome
    waits = f": {say(state.test.waits_why)}" if state.test.waits_why else ""
    what = f"{state.test.state}{waits or f', {state.test.presenter.trial.route.words}'}"
    return under_way(what, lost=not state.test.presenter.board_ready)
