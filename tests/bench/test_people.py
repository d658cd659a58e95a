"""Whole tests of some people: none of a rule or constant of the procedure may change unnoticed."""

import pytest

from bench.panel.rules import RULES
from tests.bench.recorded_people import how_it_went, people, recorded

RECORDED = recorded()


@pytest.mark.parametrize("name", RECORDED)
def test_somebody_is_tested_as_before(name: str) -> None:
    """What comes out is what was recorded; if that is meant, `tests.bench.recorded_people`."""
    (person,) = people([name])
    assert how_it_went(person) == {k: v for k, v in RECORDED[name].items() if k != "for"}


def test_nothing_false_is_said_of_them() -> None:
    assert [name for name, of in RECORDED.items() if of["ending"]["wrong"]] == []


def test_every_rule_has_somebody_who_needs_it() -> None:
    assert {*RULES} <= {need for of in RECORDED.values() for need in of["for"]}
