"""What the paper of a recorded session is made from."""

from firmware_py.findings.checks import Checks
from firmware_py.paper.source import Source
from host_tools.recordings.recorded_session import RecordedSession


def source_of(session: RecordedSession, convention: str | None = None) -> Source:
    """Return a session as far as it may be told; in a convention, None: that of its settings."""
    test, result = session.test, session.result
    checks = {} if test is None else {
        ear.route: Checks.of(ear, test.ears[ear.route], test.given, test.settings)
        for ear in result.ears
    }  # fmt: skip
    return Source(
        header=session.header,
        result=result,
        course=session.course,
        calibration=session.calibration,
        convention=convention or session.settings.threshold_convention,
        masked=session.masked,
        given=None if test is None else test.given,
        checks=checks,
        damage=session.damage,
        differences=session.differences,
        complete=session.complete,
    )
