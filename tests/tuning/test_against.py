"""What counts of the comparisons with the prescription."""

import pytest

from firmware_py.comparisons.against import PRESCRIPTION_DB, AgainstPrescription
from firmware_py.inference.preference.answer import Answer

BEST_DB = (3.0, 0.0, -2.0, 0.0)


@pytest.mark.parametrize(
    ("won", "is_won"),
    [
        ("+", False), ("++", True), ("+-", False), ("+-+", True), ("-++", True), ("+-=", False),
        ("==", False), ("+==", False), ("+=+", True), ("--+", False), ("++-", True),
        ("++--", False),
    ],
)  # fmt: skip
def test_two_tell_a_difference_and_more_are_won_than_lost(won: str, is_won: bool) -> None:
    against = AgainstPrescription()
    for sign in won:
        first, _ = against.ask(BEST_DB, 0.3)
        better = Answer.FIRST if (first == BEST_DB) == (sign == "+") else Answer.SECOND
        against.take(Answer.SAME if sign == "=" else better)
    assert against.is_won == is_won
    counted = (against.asked, against.won, against.lost)
    assert counted == (len(won), won.count("+"), won.count("-"))


@pytest.mark.parametrize("drawn", [0.2, 0.8])
def test_of_each_two_both_orders_are_heard(drawn: float) -> None:
    against, orders = AgainstPrescription(), []
    for _ in range(4):
        pair = against.ask(BEST_DB, drawn)
        assert {*pair} == {BEST_DB, PRESCRIPTION_DB}
        orders.append(pair[0] == PRESCRIPTION_DB)
        against.take(Answer.SAME)
    assert orders == [drawn < 0.5, drawn >= 0.5] * 2
