"""Makes console errors of what goes wrong elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from firmware_py.calibration.tone import ToneError
from firmware_py.console import grammar
from firmware_py.console.grammar import ConsoleError
from firmware_py.journal import JournalError
from firmware_py.platform.data_directory import DataDirectoryError
from firmware_py.procedure.settings import SettingError


@contextmanager
def refusing(undone: str = "") -> Iterator[None]:
    """Make console errors of what may be wrong with settings and tones, and of a failing disk."""
    try:
        yield
    except (SettingError, ToneError) as error:
        number, words = grammar.ILLEGAL_PARAMETER, str(error)
    except (JournalError, DataDirectoryError) as error:
        number, words = grammar.MASS_STORAGE, str(error)
    else:
        return
    raise ConsoleError(number, f"{words}; {undone}" if undone else words)
