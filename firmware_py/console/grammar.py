"""The grammar of the console: SCPI-flavoured headers, numbered errors, one answer a line.

A line is a header, and after a space its arguments, separated by commas. A header is a chain of
mnemonics joined by colons, each in its short form (the capitals) or whole, in any case, with a `?`
at the end for a query: `SESSion:STATe?` is `sess:stat?` or `SESSION:STATE?`.

A line comes in UTF-8. A byte that is not UTF-8 becomes a lone surrogate (`surrogateescape` of
Python), for which the line is refused.
"""

import re
from typing import Final

LINE_CHARACTERS_MAX: Final = 200
ESCAPED_BYTES: Final = range(0xDC80, 0xDD00)  # what `surrogateescape` makes of 0x80 to 0xFF
ERRORS_MAX: Final = 20

# Numbers of SCPI-99, volume 2, chapter 21.8, and own ones above 0.
NO_ERROR: Final = 0
PARAMETER_NOT_ALLOWED: Final = -108
MISSING_PARAMETER: Final = -109
UNDEFINED_HEADER: Final = -113
COMMAND_PROTECTED: Final = -203
SETTINGS_CONFLICT: Final = -221
ILLEGAL_PARAMETER: Final = -224
TOO_MUCH_DATA: Final = -223
HARDWARE_MISSING: Final = -241
MASS_STORAGE: Final = -250
SYSTEM_ERROR: Final = -310  # the firmware is at fault itself
QUEUE_OVERFLOW: Final = -350
TONE_GENERATOR_LOST: Final = 101
JOURNAL_DAMAGED: Final = 102
TONE_REFUSED: Final = 103
CALIBRATION: Final = 104
TONE_GENERATOR_CHANGED: Final = 105
BUTTON_STUCK: Final = 106
CLOCK: Final = 107
TONE_GENERATOR_WRONG: Final = 108
TEST_STANDS: Final = 109
SESSION_WAITS: Final = 111  # for the operator to say that all is as it was
WARMS_UP: Final = 112
CARD: Final = 110  # what the system of the card says


class ConsoleError(Exception):
    """A command that was not done: a number, and why in words."""

    def __init__(self, number: int, words: str) -> None:
        self.number = number
        super().__init__(words)

    @property
    def answer(self) -> str:
        """Return the error as the console writes it: one line, a quote in the words doubled."""
        words = " ".join(str(self).split()).replace('"', '""')
        return f'{self.number},"{words}"'


class ErrorQueue:
    """The errors not yet read, oldest first: of the operator's lines, and of the device itself.

    Of each kind `ERRORS_MAX` are kept; where there were more, the newest of that kind says so. So
    no line that was typed costs an error of the device. Those of lines are the operator's, and are
    forgotten when he leaves; those of the device stay until somebody has read them, each once.
    """

    def __init__(self) -> None:
        self._errors: list[tuple[ConsoleError, bool]] = []  # and whether it answers a line

    def add(self, error: ConsoleError, *, of_line: bool = False) -> None:
        """Put an error at the end; `of_line`: it answers a line."""
        places = [n for n, (_, of) in enumerate(self._errors) if of == of_line]
        if not of_line and error.answer in (self._errors[n][0].answer for n in places):
            return
        if len(places) >= ERRORS_MAX:
            more = ConsoleError(QUEUE_OVERFLOW, "more errors than are kept")
            self._errors[places[-1]] = (more, of_line)
        else:
            self._errors.append((error, of_line))

    def next(self) -> str:
        return self._errors.pop(0)[0].answer if self._errors else f'{NO_ERROR},"No error"'

    def clear(self) -> None:
        self._errors.clear()

    def forget_lines(self) -> None:
        self._errors = [each for each in self._errors if not each[1]]


def short_form(header: str) -> str:
    return "".join(character for character in header if not character.islower())


def header_pattern(header: str) -> re.Pattern[str]:
    """Return what matches a header, written with its short forms in capitals, in all its forms."""
    parts = []
    for mnemonic in header.rstrip("?").split(":"):
        parts.append(f"(?:{re.escape(short_form(mnemonic))}|{re.escape(mnemonic)})")
    question = r"\?" if header.endswith("?") else ""
    return re.compile(":".join(parts) + question, re.IGNORECASE | re.ASCII)


def parse_line(line: str) -> tuple[str, list[str]]:
    """Split a line into its header and its arguments; `ConsoleError` if it cannot be one."""
    if len(line) > LINE_CHARACTERS_MAX:
        raise ConsoleError(
            TOO_MUCH_DATA, f"a line has at most {LINE_CHARACTERS_MAX} characters; nothing was done"
        )
    _check_printable(line)
    header, _, rest = line.strip().partition(" ")
    arguments = [argument.strip() for argument in rest.split(",")] if rest.strip() else []
    return header.removeprefix(":"), arguments


def _check_printable(line: str) -> None:
    wrong = next((character for character in line if not character.isprintable()), None)
    if wrong is None:
        return
    code = ord(wrong)
    if code in ESCAPED_BYTES:
        words = f"a line is UTF-8; the byte 0x{code - ESCAPED_BYTES.start + 0x80:02X} is none here"
    else:
        words = f"a line is made of printable characters; U+{code:04X} is none"
    raise ConsoleError(UNDEFINED_HEADER, f"{words}; nothing was done")
