"""The exit codes of the firmware's process."""

from typing import Final

EXIT_DONE: Final = 0
EXIT_FAULT: Final = 1  # of the firmware itself, with a traceback
EXIT_CONFIGURATION: Final = 2
EXIT_TONE_GENERATOR: Final = 3
EXIT_JOURNAL: Final = 4
