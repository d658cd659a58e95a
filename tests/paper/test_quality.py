"""How good the test was is what its journal says, worked out another way."""

from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from firmware_py.ear.retest import RETEST_ACCEPTED_DB, RETEST_REPEATABLE_DB, Retest
from firmware_py.findings.checks import set_aside
from firmware_py.paper.quality import quality_table, reliability_rows
from firmware_py.presenting.answers_given import ResponseTimes
from firmware_py.terms.route import Route
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from host_tools.recordings.source import source_of
from tests.firmware.whole_sessions import a_listener, run_session
from tests.host.journals import GOLDEN, session_of
from tests.host.reports import codes_in

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]


@pytest.fixture(scope="module")
def clinical(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a clinical test of a left ear: with catch trials and a retest."""
    settings = {"ears": "left", "seed": 3, "conduct": "clinical"}
    return run_session(tmp_path_factory.mktemp("clinical") / "data", a_listener("S2"), settings)


def quality(session: ReplayedSession) -> dict[str, list[Any]]:
    """Return the cells of the table by the codes of its rows, each in the order of the ears."""
    return {name["code"]: cells for name, cells in quality_table(source_of(session))["rows"]}


def test_response_times_by_hand() -> None:
    five = (300.0, 500.0, None, 400.0, 600.0, 2000.0)
    assert ResponseTimes.of(five) == ResponseTimes(5, 500.0, 400.0, 600.0)
    assert ResponseTimes.of([300.0]) == ResponseTimes(1, 300.0, None, None)
    assert ResponseTimes.of([None]) == ResponseTimes(0, None, None, None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tolerances_of_a_retest_are_said_as_the_procedure_has_them(language: str) -> None:
    said = language_of(language).sentences
    for verdict in ("repeatable", "scattered", "doubtful"):
        assert f" {RETEST_REPEATABLE_DB:g} dB" in said[f"retest-{verdict}"]
    assert f" {RETEST_ACCEPTED_DB:g} dB" in said["retest-rejected"]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "retest further frequencies"),
        ("de", "weitere Frequenzen wiederholen"),
        ("nl", "hertest verdere frequenties"),
        ("es", "repita más frecuencias"),
    ],
)
def test_a_doubtful_retest_says_what_iso_8253_1_has_done_then(language: str, words: str) -> None:
    said = language_of(language).sentences
    assert words in said["retest-differs"]
    assert f" {RETEST_REPEATABLE_DB:g} dB" in said["retest-differs"]
    assert all("ISO 8253-1" in said[f"retest-{each}"] for each in ("differs", "scattered"))


def test_the_retest_is_judged_as_by_the_procedure(clinical: Path) -> None:
    session = replay_session(clinical)
    (ear,) = session.test.ears.values()

    # Nothing of another is heard: far above a threshold that was thought to be known.
    ear.retest = Retest(30.0, ear.levels, 1.0, ear.estimator.hyperparameters)
    while not ear.retest.over:
        ear.retest.take_answer(ear.retest.tone().level_db_hl, False)
    assert codes_in(quality(session)["row-retest"]) == ["retest-value", "retest-rejected"]
    ear.retest = None  # it is told as recorded
    assert codes_in(quality(session)["row-retest"]) == ["retest-difference"]


def test_answers_behind_enough_noise_are_not_taken_from_those_that_were_set_aside() -> None:
    """They count as if they had been asked like others, and are no answers of that kind."""
    session = replay_session(GOLDEN / "bone.journal")
    ear = session.test.ears[Route("left", "bone")]
    before = set_aside(ear, session.settings)
    assert before > 0
    for _ in range(before + 1):
        ear.observe(replace(ear.observations[0]))
    assert set_aside(ear, session.settings) == before


def test_catch_trials_without_pauses_say_what_they_are_of() -> None:
    """What only was recorded, and is not replayed, has no pauses between tones."""
    source = source_of(session_of(GOLDEN / "clinical.journal"))
    codes = [[*map(itemgetter("code"), reliability_rows(each))]
             for each in (source, replace(source, checks={}))]  # fmt: skip
    assert [each[0] for each in codes] == ["reliability", "reliability-catches"]
