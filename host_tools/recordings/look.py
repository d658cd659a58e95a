"""Look at one file, and say what it is; a bad file is no error here."""

from dataclasses import replace
from pathlib import Path

from firmware_py.findings.statements import as_told
from firmware_py.journal import (
    JournalDamagedError,
    JournalNewerError,
    JournalReadError,
    JournalUnstartedError,
    is_unbroken,
    read_journal,
)
from firmware_py.journal.records import LineError
from firmware_py.sessions.archive import Ends, read_ends, read_whole
from firmware_py.sessions.session_course import inputs_and_outputs, result_in
from firmware_py.sessions.session_record import SessionRecordError
from firmware_py.terms.outcomes import DAMAGED, NEWER, UNFINISHED, Bound
from firmware_py.terms.printable import printable
from firmware_py.terms.route import LEFT, RIGHT
from firmware_py.tuning.tuning_record import TuningHeader, is_tuning
from host_tools.files import digest_of
from host_tools.recordings.entry import (
    FOREIGN,
    LEFT_BONE,
    RIGHT_BONE,
    TUNING,
    UNREADABLE,
    UNSTARTED,
    Entry,
)


def entry_of(path: Path) -> Entry:
    """Look at a file, and check that it is whole; what is wrong with it is in the entry."""
    return replace(_look_at(path), path=str(path))


def _look_at(path: Path) -> Entry:
    try:
        return _entry_of(path.name, ends_of(path), digest_of(path))
    except OSError as error:
        return Entry(path.name, UNREADABLE, error.strerror or str(error))
    except JournalUnstartedError as error:
        return Entry(path.name, UNSTARTED, _reason(path, error))
    except JournalDamagedError as error:
        return Entry(path.name, DAMAGED, printable(f"line {error.line_number}: {error.reason}"))
    except JournalNewerError as error:
        return Entry(path.name, NEWER, _reason(path, error))
    except JournalReadError as error:
        return Entry(path.name, FOREIGN, _reason(path, error))
    except SessionRecordError as error:
        return _of_tuning(path) or Entry(path.name, FOREIGN, printable(str(error)))


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


def _of_tuning(path: Path) -> Entry | None:
    """Return what a good journal of a tuning is listed as; None: it is none."""
    try:
        recovered = read_journal(path)
        if not is_tuning(recovered.header):
            return None
        header = TuningHeader.from_record(recovered.header)
        result = result_in(inputs_and_outputs(header, recovered.records))
    except (OSError, JournalReadError):  # it changed meanwhile
        return None
    except SessionRecordError as error:
        return Entry(path.name, FOREIGN, printable(str(error)))
    outcome = UNFINISHED if result is None else result.outcome
    by = f", recorded by {header.recorded_by}" if header.is_earlier else ""
    of = f"of {header.identifier or 'nobody named'}, begun {header.started}, {outcome}{by}"
    return Entry(path.name, TUNING, of)


def _reason(path: Path, error: JournalReadError) -> str:
    return printable(str(error).removeprefix(f"{path}: "))


def ends_of(path: Path) -> Ends:
    """Return the beginning and the end of a journal, and check every line between.

    Errors are an `OSError` if it cannot be read, a `JournalError` if it is none or damaged, and a
    `SessionRecordError` if header or result are not those of a session.
    """
    try:
        ends = read_ends(path)
        if is_unbroken(path):
            return ends
    except (LineError, SessionRecordError):
        pass  # reading all of it tells what is wrong
    return read_whole(path)
