"""The reasons to ask: the page has them as the code has, and every tone has one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firmware_py.ear.agenda import Ask, Begin, End, LookedAt
from firmware_py.ear.course import take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.ear.objective import Objective
from firmware_py.ear.reasons_to_ask import (
    BY_NAME,
    Bracket,
    LastTonesInDoubt,
    LateStart,
    Look,
    MostInformative,
    SilenceDue,
    WithoutAttention,
)
from firmware_py.ear.stopping import Stop, Tally
from firmware_py.inference.estimator import Stimulus
from firmware_py.inference.stories import Story, Suspicion
from firmware_py.session.agenda import table_lines
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from tests.ear.test_marks import patient
from tests.session.driver import Driver, familiar, run_to_end

PAGE = Path(__file__).parents[2] / "firmware_py" / "README.md"


def test_the_developers_page_has_them_in_order() -> None:
    assert "\n".join(table_lines()) in PAGE.read_text(encoding="utf-8")


def test_each_has_a_name_of_its_own() -> None:
    others = [Why.WHICH_EAR, Why.NOISE_REACHES, Why.MORE_NOISE, SilenceDue.why]
    no_longer = [Why.LIMIT_ONCE_MORE, Why.DOUBTED_ANSWER]
    assert sorted([*BY_NAME, *others, *no_longer]) == sorted(Why)


def test_a_late_start_is_looked_for_once() -> None:
    driver = Driver(Settings(ears="left"), patient("N3", 1))
    (ear,) = driver.test.ears.values()
    ear.do(LookedAt(Why.LATE_START))
    driver.run()

    assert LateStart().propose(Look(ear)) == ()
    ear.looked_at.clear()
    assert LateStart().propose(Look(ear)) == (LookedAt(Why.LATE_START),)


@pytest.mark.parametrize(
    ("left", "end", "asked"),
    [
        (24, None, True), (25, None, False), (1, Outcome.MEASURED, True),
        (0, Outcome.MEASURED, False), (1, Outcome.UNRELIABLE, False),
    ],
)  # fmt: skip
def test_it_is_asked_when_four_tones_more_are_left_than_that_takes(
    left: int, end: Outcome | None, asked: bool
) -> None:
    """Or any, when the ear could end (`end`) with what its answers say."""
    bracketing = SimpleNamespace(tones_missing=lambda: 20, next_tone=lambda _: (1000, 40.0))
    stop = None if end is None else Stop(end, ())
    ear: Any = SimpleNamespace(
        settings=Settings(ask_all=True), audiogram=SimpleNamespace(is_rough=False),
        rule=SimpleNamespace(tones_left=left, judge=lambda: stop), bracketing=bracketing,
        again_hz=(),
    )  # fmt: skip

    assert bool(Bracket().propose(Look(ear))) is asked


def test_a_second_run_without_attention_ends_the_ear_and_both_are_said() -> None:
    stop = Stop(Outcome.MEASURED, (), enough=True)
    attention = SimpleNamespace(away=lambda _: [1, 2, 3], runs_asked_again=1, away_tones=5)
    ear: Any = SimpleNamespace(
        attention=attention, evidence=SimpleNamespace(tones=[]), tally=Tally(tones=40),
        rule=SimpleNamespace(judge=lambda: stop),
    )  # fmt: skip

    why = (reason(Code.AWAY, away=8, tones=40),)
    assert WithoutAttention().propose(Look(ear)) == (End(Outcome.UNRELIABLE, why),)


@pytest.mark.parametrize("heard_nothing", [False, True])
def test_a_doubt_of_the_last_tones_is_none_of_an_ear_that_heard_nothing(
    heard_nothing: bool,
) -> None:
    """Who hears its tones is asked when it is over."""
    stop, story = Stop(Outcome.MEASURED, (), enough=True), Suspicion(Story.SILENT, 0.5, 30)
    ear: Any = SimpleNamespace(
        listening=SimpleNamespace(doubt_of_last=lambda: story), heard_nothing=heard_nothing,
        rule=SimpleNamespace(judge=lambda: stop),
    )  # fmt: skip

    check = (Begin(story), Ask(Why.LAST_TONES_IN_DOUBT, Purpose.CHECK))
    assert LastTonesInDoubt().propose(Look(ear)) == (() if heard_nothing else check)


def left_out_of(ear: EarTest) -> set[float]:
    """The frequencies that the most informative tone of an ear may not have."""
    seen = set[float]()

    class Seeing(Objective):
        def choose(
            self, estimator: Any, allowed: Any = None, excluded_hz: Any = (), *floors: Any
        ) -> Stimulus:
            seen.update(excluded_hz)
            return super().choose(estimator, allowed, excluded_hz, *floors)

    MostInformative().presentation(ear, Seeing())
    return seen


@pytest.mark.parametrize(("silences", "left_out"), [(2, False), (3, True)])
def test_a_frequency_is_left_out_that_was_silent_at_its_limit_three_times(
    silences: int, left_out: bool
) -> None:
    ear = familiar(EarTest(Route("left"), Settings(ears="left")))
    for _ in range(silences):
        take_answer(ear, Presentation(Purpose.MEASURE, 1000.0, 100.0), False)

    assert (1000.0 in left_out_of(ear)) == left_out


def test_when_all_is_known_only_what_tells_nothing_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ear = familiar(EarTest(Route("left"), Settings(ears="left")))
    known_hz = ear.estimator.candidate_frequencies_hz
    monkeypatch.setattr(ear.audiogram, "settled_hz", lambda: [*known_hz])
    ear.levels.left_out_hz.append(known_hz[0])

    assert left_out_of(ear) == {known_hz[0]}


@pytest.mark.parametrize("conduct", ["brisk", "clinical"])
def test_every_tone_says_why_it_is_asked(conduct: str) -> None:
    driver = run_to_end(Settings(conduct=conduct, ears="left"), patient("N3", 1))
    why = [play.why for play in driver.plays]

    assert why == [told["why"] for told in driver.tells("tone")]
    assert why[0] == Why.FAMILIARISE
    expected = {Why.FAMILIARISE, Why.MOST_INFORMATIVE, Why.CLEAR_TONE}
    assert set(why) >= expected | ({Why.RETEST} if conduct == "clinical" else set())
    chosen = {told["why"] for told in driver.tells("tone") if "information_bits" in told}
    assert chosen <= {Why.MOST_INFORMATIVE, Why.LATE_START, Why.WITHOUT_ATTENTION}
