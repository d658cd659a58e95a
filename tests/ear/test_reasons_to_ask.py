"""The reasons to ask: the page has them as the code has, and every tone has one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firmware_py.ear.agenda import LookedAt
from firmware_py.ear.reasons_to_ask import BY_NAME, Bracket, LateStart, Look, SilenceDue
from firmware_py.session.agenda import table_lines
from firmware_py.terms.outcomes import Why
from firmware_py.terms.settings import Settings
from tests.ear.test_marks import patient
from tests.session.driver import Driver, run_to_end

PAGE = Path(__file__).parents[2] / "firmware_py" / "README.md"


def test_the_developers_page_has_them_in_order() -> None:
    assert "\n".join(table_lines()) in PAGE.read_text(encoding="utf-8")


def test_each_has_a_name_of_its_own() -> None:
    others = [Why.WHICH_EAR, Why.MORE_NOISE, SilenceDue.why]
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


@pytest.mark.parametrize(("left", "asked"), [(24, True), (25, False)])
def test_it_is_asked_when_four_tones_more_are_left_than_that_takes(left: int, asked: bool) -> None:
    bracketing = SimpleNamespace(tones_missing=lambda: 20, next_tone=lambda _: (1000, 40.0))
    ear: Any = SimpleNamespace(
        settings=Settings(ask_all=True), audiogram=SimpleNamespace(is_rough=False),
        rule=SimpleNamespace(tones_left=left, judge=lambda: None), bracketing=bracketing,
        again_hz=(),
    )  # fmt: skip

    assert bool(Bracket().propose(Look(ear))) is asked


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
