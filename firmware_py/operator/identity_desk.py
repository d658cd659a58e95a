"""Whose a session is, and with what it was recorded, for the console."""

import json
import sys
from typing import Any, Final

from firmware_py.console.command_row import Command
from firmware_py.console.pin import LOCKED, PinLock
from firmware_py.operator.commands import EARLIER, RESULTS
from firmware_py.operator.results import Results
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.program import run_program
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session_record import SessionHeader


class IdentityDesk:
    """Says whose a session is.

    Parameters
    ----------
    runner : Runner
        Has the last test, which may be under way.
    data : DataDirectory
        Has the others.
    lock : PinLock
        While it is locked nobody is told who it was.
    """

    def __init__(self, runner: Runner, data: DataDirectory, lock: PinLock) -> None:
        self._runner = runner
        self._results = Results(runner, data)
        self._lock = lock

    def identity(self, number: int | None) -> str:
        """Return the identity of the last session, or of one by its number, as JSON."""
        last = self._runner.last
        if last is not None and number == last.header.session:
            number = None  # it may be under way
        result, header = self._results.of(number)
        person = UNKNOWN if self._lock.state == LOCKED else header.person
        boards = {str(ear.route): list(ear.boards) for ear in result.ears}
        return json.dumps(_describe(header, person, boards))


def _describe(
    header: SessionHeader, person: Person, boards: dict[str, list[str]]
) -> dict[str, Any]:
    who = header.identity()
    return {
        "session": header.session,
        "started": header.started,
        **person.as_record(),
        "device": who.device,
        "boards": boards,
        "calibration": header.calibration.state,
        "calibration_digest": who.calibration or None,
        "transducer": who.transducer,
    }


COMMANDS: Final = (
    Command(
        "SESSion:IDENtity?", IdentityDesk.identity, "whose the last session is, as JSON",
        (EARLIER,), pin=RESULTS,
    ),
)  # fmt: skip

if __name__ == "__main__":  # for the page of the console
    from firmware_py.console.command_row import page_lines

    sys.exit(run_program(lambda: print(*page_lines(COMMANDS), sep="\n")))
