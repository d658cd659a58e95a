"""What every table says of a session: which it was, of whom, with what."""

from typing import Any, Final

from firmware_py.procedure.words import say
from host_tools.commands.export.examination import Examination

ABOUT: Final = (
    "journal", "session", "started", "firmware", "outcome", "calibration", "level_unit",
    "identifier",
)  # fmt: skip
WITH_WHAT: Final = ("device", "transducer", "calibration_digest", "broken_off", "waited")


def about(examination: Examination) -> dict[str, Any]:
    """Return which session it was, and of whom."""
    header = examination.header
    return {
        "journal": examination.journal,
        "session": header.session,
        "started": header.started,
        "firmware": header.firmware,
        "outcome": examination.outcome,
        "calibration": examination.calibration.state,
        "level_unit": examination.calibration.unit,
        "identifier": header.person.identifier,
    }


def with_what(examination: Examination) -> dict[str, Any]:
    """Return which device it was, and with what, and where it was broken off."""
    identity, course = examination.identity, examination.course
    breaks = [f"{each.left or '?'} to {each.resumed}" for each in course.breaks]
    waits = [f"{each.at} {say(each.why)}" for each in course.waits]
    told = (identity.device, identity.transducer, identity.calibration or None, breaks, waits)
    return dict(zip(WITH_WHAT, told, strict=True))
