"""The words for an answer of a tuning, and for what its answers tell."""

from enum import StrEnum


class Answer(StrEnum):
    """Which of two sounds is better, by the order in which they were heard."""

    FIRST = "first"
    SECOND = "second"
    SAME = "same"  # no difference


class Finding(StrEnum):
    """What the answers tell."""

    WISH = "wish"  # the person wants another setting than the prescription, or just that
    UNSURE = "unsure"  # a wish, but less sure than it should be
    NONE = "none"  # answers as they come by chance: the prescription stays
