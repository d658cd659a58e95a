"""How much room on the disk a test, a tuning and an update need: reckoned once, for all of them.

A test is reckoned as large as its caps of tones let it become, with seals. Only presses, pauses
and noise without end make one larger: a session under way is ended while there is room for its
result.
"""

from typing import TYPE_CHECKING, Final

from firmware_py.ear.caps import presentations_max
from firmware_py.journal.records import HEADER_BYTES_MAX
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.settings import Settings

if TYPE_CHECKING:  # not every device tunes
    from firmware_py.comparisons.settings import TuningSettings

# Of sealed journals: up to 1790 a presentation, of masked tones and by bone, with its answer and
# its pause; and 1040 a sound of a tuning.
PRESENTATION_BYTES: Final = 2048
SOUND_BYTES: Final = 1280
# Of a session under way, to be able to end: what waits to be written, and why it ends with its
# result. Neither is longer than a header may be.
TO_END_BYTES: Final = 2 * HEADER_BYTES_MAX
TO_BEGIN_AND_END_BYTES: Final = HEADER_BYTES_MAX + TO_END_BYTES
ROUNDS_OF_COMPARISON: Final = 2  # one without an answer is asked once more
TESTS_AFTER_UPDATE: Final = 8  # of the size that they can become; usually it is some hundred
KB: Final = 1000


def of_test(settings: Settings) -> int:
    """Return how many bytes a hearing test with these settings can take."""
    return TO_BEGIN_AND_END_BYTES + PRESENTATION_BYTES * presentations_max(settings)


def of_tuning(settings: "TuningSettings") -> int:
    """Return how many bytes a tuning with these settings can take."""
    sounds = 2 * settings.rounds * ROUNDS_OF_COMPARISON * settings.comparisons_max
    return TO_BEGIN_AND_END_BYTES + SOUND_BYTES * sounds


LEFT_BY_UPDATE_BYTES: Final = TESTS_AFTER_UPDATE * of_test(Settings())


def no_room(free_bytes: int, needed_bytes: int) -> Reason:
    needed_kb = -(-needed_bytes // KB)
    return reason(Code.NO_ROOM, free_kb=free_bytes // KB, needed_kb=needed_kb)
