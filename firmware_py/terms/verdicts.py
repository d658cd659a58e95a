"""What follows from the verdict on the test of an ear. Everybody who tells a result asks here.

`VALID`: everything. `DOUBTFUL`, and `NOT_JUDGED` of an older record: thresholds with their bands,
and nothing that follows from them: no mean, grade, asymmetry, age norm, change or prescription.
`NOT_TESTED`: no level at all, only why.
"""

from collections.abc import Sequence
from typing import Protocol

from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.reasons import Reasons


class Judged(Protocol):
    """An ear with a verdict on its test."""

    @property
    def verdict(self) -> Verdict: ...


class Explained(Judged, Protocol):
    """An ear with the reasons of that verdict."""

    @property
    def reasons(self) -> Reasons: ...


class Heard(Judged, Protocol):
    """An ear with the tone generators that it heard; none: nothing is known of them."""

    @property
    def boards(self) -> Sequence[str]: ...


def may_conclude(ear: Judged) -> bool:
    """Return whether anything may be said that follows from the thresholds of an ear."""
    return ear.verdict == Verdict.VALID


def may_compare(one: Heard, other: Heard) -> bool:
    """Return whether two ears may be compared: a tone generator may be louder than another."""
    same = not (one.boards and other.boards) or {*one.boards} == {*other.boards}
    return same and may_conclude(one) and may_conclude(other)


def has_thresholds(ear: Judged) -> bool:
    """Return whether a level may be said of an ear."""
    return ear.verdict != Verdict.NOT_TESTED
