"""Say of one file of a directory of journals what it is; a bad file is no error here."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from firmware_py.findings.rows import Row, level_row, no_value
from firmware_py.findings.statements import as_told
from firmware_py.journal import (
    JournalDamagedError,
    JournalNewerError,
    JournalReadError,
    JournalUnstartedError,
    read_journal,
)
from firmware_py.platform.data_directory import session_number
from firmware_py.sessions.archive import DAMAGED, NEWER, UNFINISHED, Ends
from firmware_py.sessions.session_course import inputs_and_outputs, result_in
from firmware_py.sessions.session_record import SessionRecordError
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.route import BONE, LEFT, RIGHT, Route
from firmware_py.terms.shown_threshold import Kind, ShownThreshold
from firmware_py.tuning.tuning_record import TuningHeader, is_tuning
from host_tools.files import digest_of
from host_tools.recordings.doubles import About, ends_of

RIGHT_BONE, LEFT_BONE = (str(Route(ear, BONE)) for ear in (RIGHT, LEFT))

# In the place of an outcome, beside those of the archive.
FOREIGN: Final = "foreign"  # no journal, or not of a session
TUNING: Final = "tuning"  # of a hearing aid: no hearing test, and nothing is wrong with it
UNREADABLE: Final = "unreadable"
UNSTARTED: Final = "unstarted"  # the power went before its header was whole
# Of these there are words, and no row of a session.
BROKEN: Final = (DAMAGED, FOREIGN, NEWER, TUNING, UNREADABLE, UNSTARTED)


@dataclass(frozen=True)
class Entry:
    """What is listed of a file; texts are "" where nothing is known."""

    name: str  # without the directory
    outcome: str  # as in the result, `UNFINISHED`, or one of `BROKEN`
    words: str = ""  # what is wrong with a broken one, and whose a tuning is
    session: int | None = None
    started: str = ""  # ISO 8601
    ears: str = ""  # "both", "left" or "right"
    identifier: str = ""
    calibration: str = ""  # its state
    pta4_right_db_hl: float | None = None  # None: not tested, or not known
    pta4_left_db_hl: float | None = None
    # `at_least`, `at_most`, `inferred`: the ears, apart by a space, whose average is a bound, or
    # has a number in it that was not measured
    at_least: str = ""
    at_most: str = ""
    inferred: str = ""
    tones: int = 0  # of all ears
    # whether the test of an ear was one; "" if there is no result of it
    verdict_right: str = ""
    verdict_left: str = ""
    verdict_right_bone: str = ""
    verdict_left_bone: str = ""
    routes: str = ""  # by which it was to be tested: "air", or "air, bone"
    device: str = ""  # serial number of the fitting device
    prior: str = ""  # the hash of the prior that somebody brought; "": the one that ships
    content: str = ""  # digest of the file
    recorded_by: str = ""  # the version and the format, of an earlier one

    @property
    def broken(self) -> bool:
        return self.outcome in BROKEN

    @property
    def begun(self) -> str:
        """Return when it was begun, to the minute, with the offset that was recorded."""
        try:
            return datetime.fromisoformat(self.started).isoformat(" ", "minutes")
        except ValueError:
            return self.started

    @property
    def about(self) -> About:
        finished = self.outcome != UNFINISHED
        known = (self.content, self.device, self.session, self.started)
        return About(self.name, *known, finished)

    @property
    def verdicts(self) -> dict[str, str]:
        """Return the verdicts that there are, by route, those by air first."""
        told = {
            RIGHT: self.verdict_right,
            LEFT: self.verdict_left,
            RIGHT_BONE: self.verdict_right_bone,
            LEFT_BONE: self.verdict_left_bone,
        }
        return {route: verdict for route, verdict in told.items() if verdict}

    def mean_of(self, ear: str) -> Row:
        db_hl = self.pta4_db_hl.get(ear)
        if db_hl is None:
            return no_value()
        bound = Bound.AT_MOST if ear in self.at_most.split() else Bound.NONE
        bound = Bound.AT_LEAST if ear in self.at_least.split() else bound
        return mean_row(db_hl, bound, ear in self.inferred.split())

    @property
    def pta4_db_hl(self) -> dict[str, float]:
        """Return the averages that are known, by ear."""
        known = {RIGHT: self.pta4_right_db_hl, LEFT: self.pta4_left_db_hl}
        return {ear: db_hl for ear, db_hl in known.items() if db_hl is not None}


def mean_row(db_hl: float, bound: Bound, inferred: bool) -> Row:
    """Return the mean threshold of an ear; `inferred`: a number in it was not measured."""
    return level_row(
        ShownThreshold(Kind.INFERRED if inferred else Kind.MEASURED, db_hl, limit=bound)
    )


def entry_of(path: Path) -> Entry:
    """Look at a file, and check that it is whole; what is wrong with it is in the entry."""
    try:
        if tuning := _tuning_words(path):
            return Entry(path.name, TUNING, tuning)
        return _entry_of(path.name, ends_of(path), digest_of(path))
    except OSError as error:
        return Entry(path.name, UNREADABLE, error.strerror or str(error))
    except JournalUnstartedError as error:
        return Entry(path.name, UNSTARTED, _reason(path, error))
    except JournalDamagedError as error:
        return Entry(path.name, DAMAGED, f"line {error.line_number}: {error.reason}")
    except JournalNewerError as error:
        return Entry(path.name, NEWER, _reason(path, error))
    except JournalReadError as error:
        return Entry(path.name, FOREIGN, _reason(path, error))
    except SessionRecordError as error:
        return Entry(path.name, FOREIGN, str(error))


def _entry_of(name: str, ends: Ends, content: str) -> Entry:
    header = ends.header
    nominal = header.calibration.nominal
    told = as_told(ends.result, header.settings, nominal=nominal) if ends.result else None
    ears = told.ears if told else ()
    verdicts = {str(ear.route): str(ear.verdict) for ear in ears}
    pta4 = {str(ear.route): ear.pta4 for ear in ears if ear.pta4 is not None}
    return Entry(
        name,
        ends.result.outcome if ends.result else UNFINISHED,
        session=header.session,
        started=header.started,
        ears=header.settings.ears,
        identifier=header.person.identifier or "",
        calibration=header.calibration.state,
        pta4_right_db_hl=pta4[RIGHT].level_db_hl if RIGHT in pta4 else None,
        pta4_left_db_hl=pta4[LEFT].level_db_hl if LEFT in pta4 else None,
        at_least=" ".join(ear for ear, mean in pta4.items() if mean.bound == Bound.AT_LEAST),
        at_most=" ".join(ear for ear, mean in pta4.items() if mean.bound == Bound.AT_MOST),
        inferred=" ".join(ear for ear, mean in pta4.items() if mean.inferred_hz),
        tones=sum(ear.tones for ear in ears),
        verdict_right=verdicts.get(RIGHT, ""),
        verdict_left=verdicts.get(LEFT, ""),
        verdict_right_bone=verdicts.get(RIGHT_BONE, ""),
        verdict_left_bone=verdicts.get(LEFT_BONE, ""),
        routes=header.settings.routes,
        device=header.device,
        prior=header.prior,
        content=content,
        recorded_by="" if header.replays_here else header.recorded_by,
    )


def _tuning_words(path: Path) -> str:
    """Say whose a tuning is, and what came of it; "" of what is no good journal of one.

    Errors are those of `ends_of`.
    """
    if session_number(path) == 0 or not path.name.startswith(TUNING):
        return ""
    recovered = read_journal(path)
    if not is_tuning(recovered.header):
        return ""
    header = TuningHeader.from_record(recovered.header)
    result = result_in(inputs_and_outputs(header, recovered.records))
    outcome = UNFINISHED if result is None else result.outcome
    by = f", recorded by {header.recorded_by}" if header.is_earlier else ""
    return f"of {header.identifier or 'nobody named'}, begun {header.started}, {outcome}{by}"


def _reason(path: Path, error: JournalReadError) -> str:
    return str(error).removeprefix(f"{path}: ")
