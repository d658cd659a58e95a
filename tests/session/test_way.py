"""The way to an ear: one class for each kind of route."""

from dataclasses import replace
from typing import Final

import pytest

from firmware_py.ear.course import next_presentation, take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.session import cross_hearing
from firmware_py.session.by_air import Air
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.session.masking import Earphones
from firmware_py.session.skull import Skull
from firmware_py.terms import route as routes
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.route import BY_AIR, EARS, THRESHOLD, Route
from firmware_py.terms.settings import Settings

INSERT: Final = "insert"
BETTER_DB_HL: Final = 0.0
WORSE_DB_HL: Final = 45.0


class Insert(Air):
    """By an earphone in the ear canal; of this head nothing reaches the other ear."""

    def attenuation_db(self, _frequency_hz: float) -> float:
        return 100.0


def verdicts_of(transducer: str) -> set[MaskingMark]:
    """Test both ears without noise, and say what is sure of the worse one."""
    settings = Settings(retest=False, catch_rate=0.0)
    ears = {Route(each, transducer): EarTest(Route(each, transducer), settings) for each in EARS}
    hearing = CrossHearing(Skull(settings, ears, Earphones(), UNKNOWN))
    for threshold_db_hl, ear in zip((BETTER_DB_HL, WORSE_DB_HL), ears.values(), strict=True):
        for number in range(1, 80):
            if not ear.over:
                tone = next_presentation(ear, number)
                take_answer(ear, tone, tone.level_db_hl > threshold_db_hl)
        assert ear.over
    return {each.mark for each in hearing.ways[ear.route].verdicts().values()}


def test_a_third_kind_of_route_is_a_class_and_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ear that an earphone on it leaves uncertain is sure with one in its canal."""
    kind = replace(BY_AIR, transducer=INSERT, wire_number=2)
    monkeypatch.setitem(routes.KIND_OF, (INSERT, THRESHOLD), kind)
    monkeypatch.setitem(cross_hearing.WAYS, kind, Insert)

    assert MaskingMark.UNCERTAIN in verdicts_of(BY_AIR.transducer)
    assert verdicts_of(INSERT) == {MaskingMark.NOT_MASKED}
