"""Read what is exported of a session from its journal: its header and its recorded result."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from firmware_py.calibration.calibration import Calibration
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.convention import in_convention
from firmware_py.findings.result_json import result_as_json
from firmware_py.findings.statements import as_told
from firmware_py.sessions.archive import (
    ArchiveError,
    ForeignError,
    UnfinishedError,
    recorded_result,
)
from firmware_py.sessions.broken_off import Course
from firmware_py.sessions.identity import Identity
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.outcomes import UNFINISHED
from firmware_py.terms.printable import printable
from firmware_py.terms.reasons import as_json
from firmware_py.terms.results import SessionResult
from firmware_py.terms.settings import FIFTY_PERCENT
from host_tools.commands.export.document_session import DocumentSession
from host_tools.errors import HostError, NonsenseError
from host_tools.files import digest_of
from host_tools.recordings.doubles import About


@dataclass(frozen=True)
class Examination:
    """One session, as its journal has it."""

    journal: str  # its name, without the directory
    header: SessionHeader
    # as recorded and as it may be told (`statements`), or so far as an unfinished session goes
    result: SessionResult
    course: Course  # when it was, and where it was broken off
    convention: str = FIFTY_PERCENT  # of the thresholds in `result`
    where: str = ""  # the journal, as it was named
    content: str = ""  # digest of the file

    @property
    def outcome(self) -> str:
        return self.result.outcome or UNFINISHED

    @property
    def about(self) -> About:
        header, finished = self.header, self.outcome != UNFINISHED
        known = (header.device, header.session, header.started)
        return About(self.where, self.content, *known, finished)

    @property
    def calibration(self) -> CalibrationInForce:
        """Return the calibration as it was on the last day."""
        return self.course.calibration(self.header.calibration)

    @property
    def identity(self) -> Identity:
        return self.header.identity()

    @property
    def _discomfort(self) -> list[Any]:
        """Return the levels of discomfort told, of each ear that has some."""
        return [as_json(each) for each in self.course.discomfort.values() if each.levels]

    def in_document(self) -> DocumentSession:
        return DocumentSession(json.loads(json.dumps(self.as_json())))

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON values, in the form of the schema."""
        header, calibration = self.header.to_record(), self.calibration
        found = result_as_json(
            self.result,
            self.header.settings,
            self.convention,
            uncertainty=calibration.uncertainty(self.result),
        )
        return {
            "journal": self.journal,
            **{key: header[key] for key in ("session", "started", "firmware")},
            "device": self.header.device or None,
            "simulated": self.header.is_simulated(self.result),
            "speed": self.header.speed,
            "breaks": [asdict(each) for each in self.course.breaks],
            "waits": as_json(self.course.waits),
            "ended": self.course.ended,
            "outcome": self.outcome,
            "verdict": self.result.verdict,
            "person": {key: header["person"][key] for key in ("identifier", "age_years", "sex")},
            "calibration": {
                "state": calibration.state,
                "words": calibration.headline,
                "about": calibration.about.to_record(),
                "digest": self.identity.calibration or None,
                "transducer": self.identity.transducer,
                "vibrator": self.identity.vibrator,
                **_measured(calibration.calibration),
            },
            **({"discomfort": told} if (told := self._discomfort) else {}),
            **({"noise": self.course.noise} if self.course.noise else {}),
            "settings": header["settings"],
            "prior": self.header.prior or None,
            **{name: found[name] for name in found if name != "outcome"},
        }


def _measured(made: Calibration | None) -> dict[str, Any]:
    """Return what a calibration states of its measurement."""
    if made is None:
        return {}
    stated = {
        "expanded_uncertainty_db": made.expanded_uncertainty_db,
        "conditions": made.conditions,
    }
    return {name: each for name, each in stated.items() if each is not None}


def read_examination(
    path: Path, unfinished: bool = False, convention: str | None = None
) -> Examination:
    """Read what a session found: its recorded result, from a journal that is checked whole.

    `unfinished`: of a session without a result take what is known so far; its inputs are fed
    through the procedure again. Thresholds are in a convention, None: that of the settings.
    A `HostError` says why it is none or not finished, or that it does not replay so far; a
    `NonsenseError`, that it says what no session of this version wrote.
    """
    try:
        found = recorded_result(path)
    except UnfinishedError as error:
        if unfinished:
            return _so_far(path, convention)
        what_to_do = "; --unfinished exports what is known" if error.goes_on else ""
        raise HostError(f"{path}: {error}{what_to_do}") from None
    except ForeignError as error:
        raise NonsenseError(str(error)) from None
    except ArchiveError as error:
        raise HostError(str(error)) from None
    course = found.course or Course(found.header.started, found.header.started)
    return _examination(path, found.header, found.result, course, convention)


def _so_far(path: Path, convention: str | None) -> Examination:
    # Only this needs the procedure, and with it Numba.
    from host_tools.recordings.recorded_session import read_true_session

    session = read_true_session(path)
    return _examination(path, session.header, session.result, session.course, convention)


def _examination(
    path: Path,
    header: SessionHeader,
    result: SessionResult,
    course: Course,
    convention: str | None,
) -> Examination:
    name, where = map(printable, (path.name, str(path)))
    result = as_told(result, header.settings, nominal=header.calibration.nominal)
    convention = convention or header.settings.threshold_convention
    result = in_convention(result, convention)
    try:
        content = digest_of(path)
    except OSError as error:  # it went meanwhile
        raise HostError(f"{path}: cannot be read: {error.strerror}") from None
    return Examination(name, header, result, course, convention, where, content)
