"""The errors of the host tools, and the exit codes that are the same for every command."""

from typing import ClassVar, Final

LEFT_OUT: Final = 1  # what could be done was done, and the rest named
REFUSED: Final = 2
NONSENSE: Final = 6
FAULT: Final = 70  # of the host tools themselves, with a traceback; EX_SOFTWARE of sysexits.h


class HostError(Exception):
    """Something a user can see to; the message says what."""

    exit_code: ClassVar[int] = REFUSED


class NonsenseError(HostError):
    """A journal whose lines are intact, with a record that no session of this version wrote.

    The message has file, record, field, value, and what is allowed.
    """

    exit_code: ClassVar[int] = NONSENSE
