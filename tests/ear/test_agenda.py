"""The first step that is proposed is done, and asking changes nothing."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from device.simulator.hearing import SimulatedTest
from firmware_py.ear import agenda, course
from firmware_py.ear.ear import EarTest
from firmware_py.session import hearing
from firmware_py.session.agenda import SESSION_REASONS, SessionState
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.settings import Settings
from tests.session.driver import Driver, Listener, two_ears


class Steps:
    """A reason that proposes these."""

    def __init__(self, *steps: int) -> None:
        self._steps = steps

    def propose(self, _known: object, /) -> Sequence[int]:
        return self._steps


def test_steps_are_done_in_order_until_one_ends_the_search() -> None:
    done: list[int] = []

    def do(step: int) -> bool:
        done.append(step)
        return step == 0

    assert agenda.take_first([Steps(), Steps(1, 2), Steps(3, 0, 4), Steps(5)], None, do)
    assert done == [1, 2, 3, 0]
    assert not agenda.take_first([Steps(), Steps(6)], None, do)


def state_of(ear: EarTest) -> tuple[Any, ...]:
    listening, attention, levels = ear.listening, ear.attention, ear.levels
    return (
        ear.evidence, ear.due, ear.outcome, ear.why, ear.retest, ear.confirmation, ear.again_hz,
        {*ear.looked_at}, dict(ear.asked_for), ear.rule.cap, ear.rule.tones_left,
        listening.checks, listening.why, listening.equipment_heard_by, listening.equipment_asked,
        [*attention.answers], attention.runs_asked_again, attention.checks_asked,
        [*levels.left_out_hz], dict(ear.audiogram.unmasked), ear.estimator.log_evidence,
    )  # fmt: skip


def state_of_session(test: HearingTest) -> tuple[Any, ...]:
    crossing = test.cross_hearing
    return (
        [state_of(ear) for ear in test.ears.values()], dict(crossing.asked_again),
        test.placing.wanted, crossing.next_check(placed=True), crossing.next_check(),
        test.ear_check.found, test.ear_check.waits,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "listener"),
    [
        ({}, two_ears(left=20.0, right=40.0)),
        ({"conduct": "clinical", "confirm": "hughson-westlake"}, two_ears(left=0.0, right=70.0)),
        ({"routes": "air, bone"}, two_ears(left=10.0, right=60.0)),
    ],
)
def test_a_reason_that_is_asked_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], listener: Listener
) -> None:
    """Asked twice it proposes the same: the order of the questions is the whole of it."""
    driver = Driver(Settings.from_record(values), listener)
    asked = 0
    take_first: Any = agenda.take_first

    def watch(reasons: Iterable[Any], known: Any, do: Callable[[Any], bool]) -> bool:
        nonlocal asked
        for each in reasons:
            before = state_of_session(driver.test)
            steps = each.propose(known)
            assert steps == each.propose(known) or "Retest" in repr(steps)
            assert state_of_session(driver.test) == before, each
            asked += 1
        return bool(take_first(reasons, known, do))

    monkeypatch.setattr(course, "take_first", watch)
    monkeypatch.setattr(hearing, "take_first", watch)
    driver.run()

    assert asked > 1000


def test_what_a_session_asks_about_is_what_it_knows() -> None:
    test = SimulatedTest(Settings(ears="left"), two_ears(left=20.0, right=20.0)).test
    known = SessionState(test.settings, test.cross_hearing, test.ear_check)
    steps = [each.propose(known) for each in SESSION_REASONS]

    assert [bool(each) for each in steps] == [False, True, *[False] * 9]
