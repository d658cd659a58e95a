"""The reasons to ask: the page has them as the code has, and every tone has one."""

from pathlib import Path

import pytest

from firmware_py.procedure.outcomes import Why
from firmware_py.procedure.reasons_to_ask import REASONS_TO_ASK, table
from firmware_py.procedure.settings import Settings
from tests.procedure.driver import finished
from tests.procedure.test_asked import Patient

PAGE = Path(__file__).parents[2] / "firmware_py" / "README.md"


def test_the_developers_page_has_them_in_order() -> None:
    assert "\n".join(table()) in PAGE.read_text(encoding="utf-8")


def test_each_has_a_name_of_its_own() -> None:
    of_a_session = [Why.WHICH_EAR, Why.MORE_NOISE]
    assert sorted([each.why for each in REASONS_TO_ASK] + of_a_session) == sorted(Why)


@pytest.mark.parametrize("conduct", ["brisk", "clinical"])
def test_every_tone_says_why_it_is_asked(conduct: str) -> None:
    driver = finished(Settings(conduct=conduct, ears="left"), Patient("N3", 1))
    why = [play.why for play in driver.plays]

    assert why == [told["why"] for told in driver.told("tone")]
    assert why[0] == Why.FAMILIARISE
    expected = {Why.FAMILIARISE, Why.MOST_INFORMATIVE, Why.CLEAR_TONE}
    assert set(why) >= expected | ({Why.RETEST} if conduct == "clinical" else set())
    chosen = {told["why"] for told in driver.told("tone") if "information_bits" in told}
    assert chosen <= {Why.MOST_INFORMATIVE, Why.LATE_START, Why.WITHOUT_ATTENTION}
