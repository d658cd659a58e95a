"""Makes console errors of what goes wrong elsewhere, and of a button that is held down."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from firmware_py.board.self_check import ButtonWatch
from firmware_py.console import grammar
from firmware_py.console.grammar import ConsoleError
from firmware_py.journal import JournalError
from firmware_py.operator.meter_tone import ToneError
from firmware_py.platform.data_directory import DataDirectoryError
from firmware_py.sessions.session_record import SessionRecordError
from firmware_py.terms.record_checks import ResultError
from firmware_py.terms.settings import SettingError, Settings

HELD_US_MIN: Final = 500_000  # at the start of a test; nobody presses so long in passing


@contextmanager
def refusing(undone: str = "") -> Iterator[None]:
    """Make console errors of what may be wrong with settings and tones, and of a failing disk."""
    try:
        yield
    except (ResultError, SessionRecordError, SettingError, ToneError) as error:
        number, words = grammar.ILLEGAL_PARAMETER, str(error)
    except (JournalError, DataDirectoryError) as error:
        number, words = grammar.MASS_STORAGE, str(error)
    else:
        return
    raise ConsoleError(number, f"{words}; {undone}" if undone else words)


def require_hands_off(
    buttons: ButtonWatch, told_until_us: int, settings: Settings, undone: str
) -> None:
    """Refuse what needs the listener's hand off the button, at this time of the board's."""
    button = buttons.held_button(told_until_us, HELD_US_MIN, settings.press_buttons)
    if button is not None:
        raise ConsoleError(grammar.BUTTON_STUCK, f"button {button} is held down; {undone}")
