"""What a person may say of two sounds; whoever only reads it needs no kernel."""

from enum import StrEnum


class Answer(StrEnum):
    """Which of two sounds is better, by the order in which they were heard."""

    FIRST = "first"
    SECOND = "second"
    SAME = "same"  # no difference
