"""Whether a session was simulated, as its journal says: nobody was tested, or not in real time."""

from firmware_py.calibration.simulated import BOARD_NAME
from firmware_py.procedure.results import SessionResult
from firmware_py.sessions.session_record import SessionHeader


def is_simulated(header: SessionHeader, result: SessionResult) -> bool:
    """Return whether a program answered in the place of a listener.

    An emulated board calls itself as a real one does; it is known by the clock, which is its own.
    """
    boards = [header.tone_generator, *(board for ear in result.ears for board in ear.boards)]
    return BOARD_NAME in {board.partition(" ")[0] for board in boards} or header.speed is None
