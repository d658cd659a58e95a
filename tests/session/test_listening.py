"""When nobody seems to listen: the test breaks off, checks, asks again, and judges itself."""

import math
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from device.simulator.listener import Tone
from firmware_py.ear.agenda import Ask
from firmware_py.ear.caps import CHECKS_MAX
from firmware_py.ear.course import end_check, next_presentation, take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.ear.evidence import Evidence, Pauses
from firmware_py.ear.levels import Levels, near, no_limit
from firmware_py.ear.listening import CHECK_US_MAX, Listening, story_reason
from firmware_py.inference.stories import Story, Suspicion
from firmware_py.session.agenda import next_by_air
from firmware_py.session.ear_result import result_of, verdict_of
from firmware_py.session.hearing import HearingTest
from firmware_py.terms import events
from firmware_py.terms.outcomes import Outcome, Purpose, Verdict, Why
from firmware_py.terms.presentation import NO_COVER, SILENCE, Observation, Presentation
from firmware_py.terms.reasons import Code, as_json, reason
from firmware_py.terms.record_checks import object_of
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import BONE, BY_AIR, Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.tells import EquipmentCheckTold, GoingOnTold, ListenerCheckTold
from tests.session.driver import (
    REACTION_US,
    AlwaysPresses,
    Driver,
    Hears,
    Listener,
    NeverPresses,
    Reaction,
    S,
    flat,
    run_left_ear,
)

HEARD_BY_OPERATOR = {"code": "equipment-heard", "ear": "left", "hearer": "operator"}


@cache
def gone(after: int, back: int = 10_000) -> Listener:
    """Hears from 25 dB HL on, but not the tones after one and before another."""
    return Hears(lambda tone: tone.level_db_hl >= 25.0 and not after < tone.number < back)


def to_check(listener: Listener) -> Driver:
    """A test of the left ear that has just been broken off for a check."""
    driver = Driver(Settings(ears="left"), listener)
    driver.run_until(lambda action: isinstance(action, ListenerCheckTold))
    return driver


def to_question(listener: Listener, **about: Any) -> Driver:
    """A test in which the operator has just been asked who hears the tones."""
    driver = Driver(Settings(**about), listener, can_mask=True)
    driver.run_until(lambda action: isinstance(action, EquipmentCheckTold))
    return driver


def checks_of(driver: Driver) -> list[dict[str, Any]]:
    return driver.tells("listener-check")


@pytest.mark.parametrize("after", [12, 20, 34])
def test_who_falls_silent_for_good_could_not_be_tested(after: int) -> None:
    driver = run_left_ear(gone(after))
    found = driver.ear("left")

    assert len(checks_of(driver)) == CHECKS_MAX
    assert found["verdict"] == Verdict.NOT_TESTED
    assert found["outcome"] == Outcome.UNRELIABLE
    assert found["reasons"] == found["why"]
    assert [each["code"] for each in found["why"]] == [Code.FELL_SILENT_SINCE.word]
    assert all(each["threshold_db_hl"] is None for each in found["thresholds"])


def test_what_was_enough_before_the_listener_fell_silent_stays() -> None:
    """The ear ends with it at the first check that nobody passes; what came later is not used."""
    driver = run_left_ear(gone(39))  # of 42; before tone 37 a frequency lacks its own tones
    found, last = driver.ear("left"), driver.test.ears[Route("left")]

    assert (len(checks_of(driver)), found["verdict"]) == (1, Verdict.VALID)
    for each in found["thresholds"]:
        assert each["low_db_hl"] <= 25.0 <= each["high_db_hl"]
    assert [each["code"] for each in driver.result["remarks"]] == ["broken-off", "enough-before"]
    assert driver.result["remarks"][1]["tones"] == len(last.evidence.tones) <= 39
    assert last.rule.judge() is not None


def test_who_comes_back_at_the_check_is_tested_as_if_nothing_had_happened() -> None:
    driver = run_left_ear(gone(14, back=to_check(gone(14)).test.number + 3))
    found = driver.ear("left")

    assert len(checks_of(driver)) == 1
    assert driver.tells("continued") != []
    assert found["verdict"] == Verdict.VALID
    assert found["outcome"] == Outcome.MEASURED
    for each in found["thresholds"]:
        if each["mark"] == Outcome.MEASURED:
            assert each["low_db_hl"] - 2.0 <= 25.0 <= each["high_db_hl"] + 2.0
    (remark,) = driver.result["remarks"]
    assert (remark["code"], remark["ear"], remark["checks"]) == ("broken-off", "left", 1)


def test_the_tone_of_a_check_was_heard_before_and_is_no_louder() -> None:
    driver = run_left_ear(gone(14))
    checks = driver.tells("tone", purpose=Purpose.CHECK)
    before = [each for each in driver.tells("tone")[:14] if each["level_db_hl"] >= 25.0]
    heard = [each["level_db_hl"] for each in before if near(each["frequency_hz"], [1000.0])]

    assert checks
    assert {each["frequency_hz"] for each in checks} == {BY_AIR.familiar_hz}
    assert {each["level_db_hl"] for each in checks} == {max([40.0, *heard])}
    assert max(each["level_db_hl"] for each in before) > max([40.0, *heard]), "elsewhere"


def test_a_check_ends_by_itself_after_a_minute() -> None:
    driver = to_check(gone(14))
    began_us = driver.now_us
    driver.run_until(lambda action: isinstance(action, GoingOnTold))

    assert CHECK_US_MAX <= driver.now_us - began_us <= CHECK_US_MAX + 10 * S
    assert driver.purpose != Purpose.CHECK


@pytest.mark.parametrize("when", ["listening", "late"])
def test_a_check_ends_at_the_operators_word(when: str) -> None:
    driver = to_check(gone(14))
    while driver.test.state != when:
        driver.step()
    number = driver.test.number
    actions = driver.feed(events.Continued())

    assert actions[0] == events.Silence()
    assert any(isinstance(action, GoingOnTold) for action in actions)
    assert not driver.test.checking
    assert driver.test.number == number + 1
    assert driver.purpose == Purpose.MEASURE


@dataclass(frozen=True)
class Learns(Listener):
    """Presses all the time until the check, and listens from then on."""

    until: int

    def to_tone(self, tone: Tone) -> Reaction:
        return REACTION_US if tone.number <= self.until or tone.level_db_hl >= 25.0 else None

    def to_silence(self, number: int) -> Reaction:
        return REACTION_US if number <= self.until else None


def test_who_understands_the_task_at_the_check_is_tested() -> None:
    """A silence without a press, and then a tone with one, pass it."""
    driver = run_left_ear(Learns(to_check(AlwaysPresses()).test.number))
    found = driver.ear("left")

    assert len(checks_of(driver)) == 1
    assert found["verdict"] == Verdict.VALID
    assert found["outcome"] == Outcome.MEASURED
    assert found["false_alarms"] == 0, "those from before it was understood are forgotten"


# Nobody answered


def ask_by_bone(heard_until: int) -> EarTest:
    """An ear by bone that hears from 20 dB HL on, but nothing after a tone."""
    ear = EarTest(Route("left", BONE), Settings(routes="air, bone"))
    while not ear.over:
        tone = next_presentation(ear, ear.tally.tones + 1)
        hears = tone.is_asked and tone.level_db_hl >= 20.0
        take_answer(ear, tone, hears and ear.tally.tones < heard_until)
        if ear.phase == Purpose.CHECK:
            end_check(ear)
    return ear


def test_by_bone_it_is_the_vibrator_that_is_to_be_looked_after() -> None:
    silent, gone = ask_by_bone(0), ask_by_bone(12)
    silent.begin_equipment_check()
    (who,) = silent.listening.why
    (nothing,), (left,) = result_of(silent).reasons, result_of(gone).reasons

    changed = story_reason(Suspicion(Story.CHANGED, 1.0, 9), [], silent.route)

    assert [each.code for each in (who, nothing, left)] == [
        Code.WHO_HEARS_BONE, Code.NOTHING_HEARD_BONE, Code.FELL_SILENT_SINCE_BONE,
    ]  # fmt: skip
    assert changed == reason(Code.ANOTHER_LISTENER_BONE, began=10), "the first after nine"
    assert gone.listening.last_why == (left,)


def test_the_reasons_that_a_test_by_bone_once_had_are_read_as_they_are() -> None:
    record = {**as_json(result_of(ask_by_bone(0))), "reasons": [{"code": "nothing-heard"}]}
    read = object_of(EarResult)("ear", record)
    assert (read.route, read.reasons) == (Route("left", BONE), (reason(Code.NOTHING_HEARD),))


@pytest.mark.parametrize(
    "word",
    [
        None,
        events.Continued(),
        events.EquipmentHeard(events.NOBODY),
        events.EquipmentHeard(events.OPERATOR),
    ],
)
def test_an_ear_that_heard_nothing_could_not_be_tested_unless_somebody_heard_its_earphone(
    word: events.Event | None,
) -> None:
    """It is over once, whoever is asked about it, and what was heard is not to be checked."""
    driver = to_question(NeverPresses(), ears="left")
    driver.run() if word is None else driver.feed(word)
    found, heard = driver.ear("left"), word == events.EquipmentHeard(events.OPERATOR)

    assert driver.test.outcome == "complete"
    assert len(driver.tells("ear-over")) == 1
    assert found["verdict"] == (Verdict.VALID if heard else Verdict.NOT_TESTED)
    assert found["reasons"] == ([] if heard else [{"code": "nothing-heard"}])
    assert (driver.result["remarks"] == [HEARD_BY_OPERATOR]) == heard


def test_who_never_answered_is_said_unless_the_earphones_of_both_ears_were_heard() -> None:
    driver = to_question(NeverPresses(), first_ear="left")
    driver.feed(events.EquipmentHeard(events.OPERATOR))
    driver.run()

    assert driver.result["remarks"] == [HEARD_BY_OPERATOR, {"code": "never-answered"}]


def listening_to(answers: list[bool], level_db_hl: float = 60.0, **believed: Any) -> Listening:
    """The checks of an ear with these answers; `believed`: by its estimator."""
    tone = Presentation(Purpose.MEASURE, 1000.0, level_db_hl)
    belief: Any = SimpleNamespace(
        evidence=Evidence(tuple(Observation(tone, heard, NO_COVER) for heard in answers)),
        estimator=SimpleNamespace(**believed), suppose=lambda _rest, _ask: 0.0,
    )  # fmt: skip
    return Listening(Settings(), belief, Levels(Route("left"), Settings(), no_limit))


@pytest.mark.parametrize(
    ("silent", "odds", "is_late"),
    [
        (3, 150.0, False), (4, 150.0, True), (14, 150.0, True), (15, 150.0, False),
        (4, 52.0, False), (4, 56.0, True),
    ],
)  # fmt: skip
def test_from_4_to_14_silences_are_a_late_start_if_odds_are_better_than_one_in_50(
    silent: int, odds: float, is_late: bool
) -> None:
    """`odds`: so much more probable are the others alone than all answers are."""
    listening = listening_to([False] * silent + [True] * 9, log_evidence=-math.log(odds))
    assert len(listening.late_start()) == silent * is_late


def test_the_first_press_of_a_late_start_may_be_an_accident() -> None:
    answers = [False] * 4 + [True] + [False] * 4 + [True] * 9
    assert len(listening_to(answers, log_evidence=-150.0).late_start()) == 9


@pytest.mark.parametrize(("heard_db_hl", "asked_db_hl"), [(20.0, 40.0), (60.0, 60.0)])
def test_a_check_is_as_loud_as_the_first_tone_or_as_what_was_heard(
    heard_db_hl: float, asked_db_hl: float
) -> None:
    listening = listening_to([True] * 5 + [False] * 9, heard_db_hl)
    listening.begin(Suspicion(Story.SILENT, 0.99, 5))
    assert listening.check.level_db_hl == asked_db_hl


@pytest.mark.parametrize(("in_silence", "passed"), [(False, True), (None, False), (True, False)])
def test_a_check_of_presses_is_passed_by_who_was_still_in_its_silence(
    in_silence: bool | None, passed: bool
) -> None:
    listening = listening_to([True] * 9)
    listening.begin(Suspicion(Story.PRESSING, 0.99, 0))
    assert not listening.check.take_answer(SILENCE, in_silence)
    assert listening.check.take_answer(Presentation(Purpose.CHECK, 1000.0, 60.0), True) == passed


@pytest.mark.parametrize(("since", "checked"), [(12, True), (13, False)])
def test_a_doubt_about_twelve_tones_is_settled_before_the_ear_ends(
    since: int, checked: bool
) -> None:
    story = Suspicion(Story.SILENT, 0.5, 40 - since)
    listening = listening_to([True] * (40 - since) + [False] * since, stories=[story])
    assert listening.doubt_of_last() == (story if checked else None)


# The verdict


@pytest.mark.parametrize(
    ("probability", "verdict"), [(0.19, Verdict.VALID), (0.21, Verdict.DOUBTFUL)]
)
def test_another_listener_who_is_as_probable_as_one_in_five_is_a_doubt(
    probability: float, verdict: Verdict
) -> None:
    ear, answer, _ = two_like_answers()
    ear.count(answer, None)
    ear.due, ear.listening.change = None, Suspicion(Story.CHANGED, probability, 9)
    assert verdict_of(ear)[0] == verdict


def test_an_ear_in_which_somebody_else_went_on_is_in_doubt() -> None:
    """It hears from 20 dB HL on, and from a tone on is somebody who hears worse."""

    def hears(tone: Tone) -> bool:
        worse_db = 20.0 + 6.0 * math.log2(tone.frequency_hz / 250.0)
        return tone.level_db_hl >= 20.0 + (worse_db if tone.number >= 14 else 0.0)

    found = run_left_ear(Hears(hears)).ear("left")

    assert found["verdict"] == Verdict.DOUBTFUL
    (why,) = found["reasons"]
    assert (why["code"], why["began"] in range(12, 17)) == ("another-listener", True)


def test_a_test_that_was_ended_early_is_in_doubt_and_one_that_was_not_begun_is_none() -> None:
    driver = Driver(Settings(), flat(25.0))
    driver.run_to_tone(Purpose.MEASURE)
    driver.feed(events.Aborted())
    verdicts = {ear["ear"]: (ear["verdict"], ear["reasons"]) for ear in driver.result["ears"]}

    assert verdicts["right"] == (Verdict.DOUBTFUL, [{"code": "ended-early"}])


def two_like_answers() -> tuple[EarTest, Observation, Observation]:
    """An ear, and answers that are still to be given to it."""
    tone = Presentation(Purpose.MEASURE, 1000.0, 40.0)
    first, second = (Observation(tone, True, NO_COVER) for _ in range(2))
    return EarTest(Route("right"), Settings(ears="right")), first, second


def test_forgetting_an_answer_keeps_another_one_that_is_like_it() -> None:
    ear, first, second = two_like_answers()
    nothing = ear.estimator.log_evidence
    ear.observe(first)
    alone = ear.estimator.log_evidence
    ear.observe(second)
    both = ear.estimator.log_evidence
    without = ear.evidence.without([first])
    assert ear.belief.suppose(without, lambda estimator: estimator.log_evidence) == alone
    around = ear.belief.log_evidence_around([first, second])
    assert around == ([nothing, alone, both], [both, alone, nothing])
    assert ear.estimator.log_evidence == both
    ear.forget([first])
    assert [each is second for each in ear.observations] == [True]
    assert ear.estimator.log_evidence == alone


def test_forgetting_an_answer_leaves_the_silences_where_they_were() -> None:
    """All of them once came first: a press then looked as if no silence had been kept before it."""
    ear = EarTest(Route("right"), Settings(ears="right"))
    answers = [
        Observation(Presentation(Purpose.MEASURE, 1000.0, level), True, NO_COVER)
        for level in (40.0, 30.0, 20.0)
    ]
    for answer, pressed in zip(answers, (None, False, True), strict=True):
        ear.observe(answer, pressed)
    ear.forget(answers[1:2])
    assert ear.evidence.given == (answers[0], False, True, answers[2])


def test_a_check_that_is_passed_ends_what_it_was_about_with_the_press_that_began_it() -> None:
    """A press in the last pause stayed, so that one passed check followed the other in vain."""
    ear, first, second = two_like_answers()
    for answer, pressed in ((first, False), (second, True)):
        ear.observe(answer, pressed)
    ear.go_back(1)
    assert [each is first for each in ear.observations] == [True]
    assert ear.evidence.given == (False, first)
    assert ear.evidence.pauses == Pauses(1, 0)
    ear.go_back(0)
    assert not ear.evidence.given


def test_a_check_of_an_ear_that_is_asked_again_keeps_the_silences_of_before() -> None:
    ear, first, second = two_like_answers()
    ear.observe(first, True)
    ear.expect_own(ear.estimator.curves_at_knots(), [])
    ear.observe(second, False)
    ear.go_back(0)
    assert ear.observations == [first]
    assert ear.evidence.pauses == Pauses(1, 1)


def test_the_word_who_hears_the_tones_ends_the_check_of_who_fell_silent() -> None:
    driver = to_check(gone(12))
    assert driver.feed(events.EquipmentHeard(events.NOBODY)) == []
    told = driver.feed(events.EquipmentHeard(events.OTHER_EAR))
    assert GoingOnTold() in told
    driver.run()
    assert len(checks_of(driver)) == 1, "silence is no story any more"
    assert driver.ear("left")["verdict"] == Verdict.VALID


def test_a_dead_ear_whose_first_tone_the_other_one_heard_heard_nothing() -> None:
    """The left one hears from 10 dB HL on: through the skull what is played to the right."""

    def hears(tone: Tone) -> bool:
        crossing_db = 0.0 if tone.ear == "left" else 45.0
        return tone.noise is None and tone.level_db_hl - crossing_db >= 10.0

    driver = to_question(Hears(hears))
    right = driver.test.ears[Route("right")]
    assert right.tally.heard == 1, "through the skull, before the left ear was known"
    assert right.heard_nothing
    assert checks_of(driver) == []
    driver.feed(events.EquipmentHeard(events.OTHER_EAR))
    assert driver.ear("right")["outcome"] == Outcome.NO_RESPONSE
    assert driver.ear("right")["verdict"] == Verdict.VALID


@pytest.mark.parametrize(
    "other", [Ask(Why.FAMILIARISE, Purpose.FAMILIARISE), Ask(Why.MOST_INFORMATIVE, Purpose.MEASURE)]
)
def test_a_check_is_made_in_the_ear_that_it_is_about(other: Ask) -> None:
    """That which ends the familiarisation of both ears, too."""
    test = HearingTest(Settings())
    test.ears[Route("right")].due = other
    test.ears[Route("left")].due = Ask(Why.STORY_IN_DOUBT, Purpose.CHECK)

    assert next_by_air(test.settings, [*test.ears.values()]) == Route("left")
