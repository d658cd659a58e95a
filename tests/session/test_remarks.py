"""What is remarked of a session: not what all answers together say did not happen."""

from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest

from firmware_py.ear import agenda
from firmware_py.ear.caps import IN_PLACE_TONES
from firmware_py.ear.ear import EarTest
from firmware_py.ear.in_place import InPlace
from firmware_py.ear.model_checks import ClearTones
from firmware_py.ear.otherwise import Otherwise
from firmware_py.inference.stories import Story
from firmware_py.session.boards import Boards
from firmware_py.session.ear_result import result_of
from firmware_py.session.remarks import remarks_on
from firmware_py.terms.outcomes import Purpose, WhichEar, Why
from firmware_py.terms.presentation import NO_COVER, Observation, Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings

HZ: Final = (1000.0, 2000.0, 4000.0, 500.0, 250.0, 8000.0)
FLAT_DB_HL: Final = 30.0


def ear_that_was_asked() -> EarTest:
    ear = EarTest(Route("left"), Settings())
    for above_db in (-8.0, 8.0, -4.0, 4.0):
        for frequency_hz in HZ:
            answer(ear, frequency_hz, FLAT_DB_HL + above_db, above_db > 0.0)
    return ear


def answer(ear: EarTest, frequency_hz: float, level_db_hl: float, heard: bool) -> Observation:
    tone = Presentation(Purpose.MEASURE, frequency_hz, level_db_hl)
    ear.levels.note_tone(tone)
    ear.count(Observation(tone, heard, NO_COVER), None)
    return ear.observations[-1]


def remarks(ear: EarTest) -> list[Code]:
    cross_hearing: Any = SimpleNamespace(judged=False)
    found = remarks_on([(ear, result_of(ear))], cross_hearing, WhichEar.NOT_ASKED, Boards())
    return [code for each in found for code in each.codes]


@pytest.mark.parametrize(("heard", "remarked"), [(True, False), (False, True)])
def test_a_run_is_remarked_upon_if_all_answers_together_tell_of_it(
    heard: bool, remarked: bool
) -> None:
    """Six tones 20 dB above the threshold were asked again: heard, they were no run."""
    ear = ear_that_was_asked()
    run = [answer(ear, frequency_hz, FLAT_DB_HL + 20.0, heard) for frequency_hz in HZ]
    ear.do(agenda.Forget(run, Why.WITHOUT_ATTENTION))
    answer(ear, *HZ[:1], FLAT_DB_HL + 20.0, True)

    assert ear.suspected_in_vain is not remarked
    assert (Code.RUN_AWAY in remarks(ear)) is remarked


@pytest.mark.parametrize(("heard", "remarked"), [(True, False), (False, True)])
def test_a_look_at_the_earphone_is_remarked_upon_if_it_had_moved(
    heard: bool, remarked: bool
) -> None:
    """Since it was put back all is as before; what came before that tells if there was anything."""
    ear = ear_that_was_asked()
    for frequency_hz in (*HZ, *HZ):
        answer(ear, frequency_hz, FLAT_DB_HL + 12.0, heard)
    ear.listening.looks = 1
    ear.listening.last_why = (reason(Code.LEAKS, began=24, by_db=15, below_hz=1400),)
    ear.go_back(24)

    assert ear.suspected_in_vain is not remarked
    assert (Code.BROKEN_OFF in remarks(ear)) is remarked


def test_a_look_at_the_result_changes_nothing_of_it() -> None:
    """The operator may look at any time, and a replay does not know of it (soak, seed 41196)."""
    ear = ear_that_was_asked()
    ear.listening.looks, ear.listening.last_why = (
        1,
        (reason(Code.LEAKS, began=9, by_db=15, below_hz=1400),),
    )
    assert Code.BROKEN_OFF not in remarks(ear)
    known = {**vars(ear.listening)}
    ear.listening.doubted_otherwise()
    assert vars(ear.listening) == known
    none = np.zeros(len(ear.evidence.tones))
    moved = Otherwise(Story.MOVED, 0.0, none, none, softer_db=10.0)
    ear.in_place = InPlace(moved, [(1000.0, FLAT_DB_HL)], ear.levels)
    for _ in range(IN_PLACE_TONES):
        ear.in_place.take_answer(FLAT_DB_HL, True)  # it was put back

    assert Code.BROKEN_OFF in remarks(ear)


@pytest.mark.parametrize(
    ("missed", "lapse_rate", "remarked"), [(1, 0.041, True), (2, 0.039, False), (0, 0.041, False)]
)
def test_clear_tones_missed_are_remarked_upon_where_lapses_are_believed_of_4_percent(
    missed: int, lapse_rate: float, remarked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = ear_that_was_asked()
    believed = SimpleNamespace(lapse_rate=lapse_rate)
    monkeypatch.setattr(type(ear.estimator), "hyperparameters", believed)
    monkeypatch.setattr(ear.attention, "clear", lambda: ClearTones(20, missed))

    assert (Code.MISSES in remarks(ear)) is remarked
