"""What stands on the paper of a session beside its result, for the console."""

import json
import sys
from dataclasses import asdict
from typing import Any, Final

from firmware_py.calibration.in_force import SIMULATED, CalibrationInForce
from firmware_py.console.command_row import Command
from firmware_py.console.pin import LOCKED, PinLock
from firmware_py.operator.commands import LAST_RESULT
from firmware_py.operator.results import Results
from firmware_py.platform.program import run_program
from firmware_py.procedure.beside import beside, without_person
from firmware_py.procedure.counted import Checks
from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.reasons import as_json
from firmware_py.procedure.results import SessionResult
from firmware_py.sessions.session_record import SessionHeader

PARTS: Final = ("calibration", "transducer")  # of a calibration that stand on paper


class PaperDesk:
    """Says how the last session was made.

    Parameters
    ----------
    results : Results
        Finds it.
    lock : PinLock
        While it is locked nobody is told of the person, whom an age norm is about.
    """

    def __init__(self, results: Results, lock: PinLock) -> None:
        self._results = results
        self._lock = lock

    def paper(self) -> str:
        """Return settings, calibration, course and checks of the last session, as JSON."""
        test, header = self._results.last()
        course = self._results.course(header)
        result, _ = self._results.of(None)
        return json.dumps(
            {
                "session": header.session,
                "started": header.started,
                "firmware": header.firmware,
                "settings": header.to_record()["settings"],
                "calibration": _calibration(course.calibration(header.calibration)),
                "breaks": [asdict(each) for each in course.breaks],
                "waits": as_json(course.waits),
                "minutes": round(course.seconds / 60.0, 1),
                "masked": test.given.masked,
                **self._beside(test, header, result),
                "checks": {
                    str(found.route): asdict(
                        Checks.of(found, test.ears[found.route], test.given, test.settings)
                    )
                    for found in result.ears
                },
            }
        )

    def _beside(
        self, test: HearingTest, header: SessionHeader, result: SessionResult
    ) -> dict[str, Any]:
        """Return what rests on the thresholds, and what was presented with them."""
        nominal = header.calibration.nominal
        told = beside(result, header.settings, test.given, header.person, nominal=nominal)
        return without_person(told) if self._lock.state == LOCKED else told


def _calibration(in_force: CalibrationInForce) -> dict[str, Any]:
    made = in_force.calibration
    about: dict[str, Any] = {}
    if made is not None and in_force.state != SIMULATED:  # that one nobody made
        about = {part: made.content[part] for part in PARTS}
    return {"state": in_force.state, "about": in_force.about.to_record(), **about}


COMMANDS: Final = (
    Command(
        "SESSion:PAPer?", PaperDesk.paper, "how the last session was made, as JSON",
        pin=LAST_RESULT,
    ),
)  # fmt: skip

if __name__ == "__main__":  # for the page of the console
    from firmware_py.console.command_row import page_lines

    sys.exit(run_program(lambda: print(*page_lines(COMMANDS), sep="\n")))
