"""The words for what a presentation is for, and for what came out of an ear or a frequency.

They are enumerations of text: in a record, and in a text, each is its own word.
"""

from enum import StrEnum
from typing import Final


class _Word(StrEnum):  # it looks like its text in messages, too
    def __repr__(self) -> str:
        return repr(self.value)


class Purpose(_Word):
    """What a presentation is for."""

    FAMILIARISE = "familiarise"
    MEASURE = "measure"
    RETEST = "retest"
    CATCH = "catch"  # no tone: is the button pressed without one?
    CHECK = "check"  # does anybody listen? Its answer is given to nobody
    PLATEAU = "plateau"  # does the threshold stay where it is with more noise in the other ear?
    CONFIRM = "confirm"  # the classical rule, at chosen frequencies, after all of that


class Why(_Word):
    """Why a presentation comes next; `ear/reasons_to_ask.py` and `session/agenda.py` have when."""

    WHICH_EAR = "which-ear"
    STORY_IN_DOUBT = "story-in-doubt"
    FAMILIARISE = "familiarise"
    SILENCE_DUE = "silence-due"
    BRACKET = "bracket"
    LATE_START = "late-start"
    WITHOUT_ATTENTION = "without-attention"
    RETEST = "retest"
    STILL_IN_PLACE = "still-in-place"
    IN_PLACE_AGAIN = "in-place-again"
    DECIDING = "deciding"
    CLEAR_TONE = "clear-tone"
    LAST_TONES_IN_DOUBT = "last-tones-in-doubt"
    MOST_INFORMATIVE = "most-informative"
    MORE_NOISE = "more-noise"
    NOISE_REACHES = "noise-reaches"
    CONFIRM = "confirm"
    WHO_HEARS = "who-hears"
    # No longer asked: in earlier journals.
    LIMIT_ONCE_MORE = "limit-once-more"
    DOUBTED_ANSWER = "doubted-answer"


# What the tones that count are for; the familiarisation of a clinical test does not.
ASKED: Final = (Purpose.FAMILIARISE, Purpose.MEASURE, Purpose.RETEST)


class Outcome(_Word):
    """What came out of an ear; the same words mark its frequencies."""

    MEASURED = "measured"
    NO_RESPONSE = "no-response"  # silent at the limit
    HEARS_ALL = "hears-all"  # everything heard at the floor
    UNRELIABLE = "unreliable"  # answers without tones
    INCOMPLETE = "incomplete"  # of a frequency: beyond the limit perhaps, but not for sure
    INFERRED = "inferred"  # of a frequency only: not asked there, but a number from its neighbours
    # of what is told only, never found: there was no test, so nothing is said (`statements`)
    NOT_TESTED = "could-not-be-tested"


class Verdict(_Word):
    """Whether there was a test at all: somebody listened, and the tones reached this ear.

    The best first. `statements` says what may be told by each.
    """

    VALID = "valid"
    NOT_JUDGED = "not-judged"  # recorded by a version that did not ask
    DOUBTFUL = "doubtful"
    NOT_TESTED = "could-not-be-tested"


class WhichEar(_Word):
    """Whether the listener confirmed before a test which ear is which."""

    NOT_ASKED = "not-asked"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not-confirmed"  # asked, and nobody could say
    CONTRADICTED = "contradicted"  # the other ear was named, and nobody could say better


# The marks that have a threshold with its band.
WITH_NUMBERS: Final = (Outcome.MEASURED, Outcome.INFERRED)


class MaskingMark(_Word):
    """What is known of the other ear's part in a threshold."""

    NOT_MASKED = "none"  # there was no need
    MASKED = "masked"  # the other ear had noise
    UNCERTAIN = "uncertain"  # the other ear may have heard it


class Bound(_Word):
    """What a number of a result is to what it stands for."""

    NONE = "none"  # the number itself
    AT_LEAST = "at-least"  # a limit was reached, or the other ear may have helped: it is no less
    AT_MOST = "at-most"  # everything was heard at the floor: it is no more


class SessionOutcome(_Word):
    """How a session ended."""

    COMPLETE = "complete"
    ABORTED = "aborted"  # by the operator
    FAILED = "failed"  # the tone generator did not play


# In the place of its outcome.
UNFINISHED: Final = "unfinished"
DAMAGED: Final = "damaged"
NEWER: Final = "newer"  # only a later version knows its format


# An answer is True: heard, False: silence, None: unsure, for which this is the word.
UNSURE: Final = "unsure"
