"""How good the test was is what its journal says, worked out another way."""

import statistics
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from device.simulator.audiograms import audiogram_named
from device.simulator.listener import Press, SimulatedListener, Tone
from device.simulator.world import World
from firmware_py.ear.retest import RETEST_ACCEPTED_DB, RETEST_REPEATABLE_DB, Retest
from firmware_py.findings.checks import set_aside
from firmware_py.journal import read_journal
from firmware_py.paper.quality import quality_table, reliability_rows
from firmware_py.presenting.answers_given import Answered, ResponseTimes
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import Route
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from host_tools.recordings.source import source_of
from tests.firmware.whole_sessions import a_listener, records_of, run_session
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, MASKED, cut, session_of
from tests.host.reports import codes_in, report_of, rows_of, with_ears

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


def test_response_times_are_those_of_the_events() -> None:
    """From onset and press as the board told them; a press ends the tone, so each is one answer."""
    onset_us, times_ms = 0, []
    for event in records_of(LEFT_S2, "input"):
        if event["what"] == "tone-on":
            onset_us = event["onset_us"]
        elif event["what"] == "button-down":
            times_ms.append((event["at_us"] - onset_us) / 1000.0)
    first, median, third = map(round, statistics.quantiles(times_ms, method="inclusive"))
    found = quality(session_of(LEFT_S2))
    (told,) = found["row-response"]

    assert (told["low"], told["median"]["ms"], told["high"]) == (first, median, third)
    assert rows_of(found["row-tones"], "tones-heard")[0]["count"] == len(times_ms)


def test_response_times_by_hand() -> None:
    five = (300.0, 500.0, None, 400.0, 600.0, 2000.0)
    assert ResponseTimes.of(five) == ResponseTimes(5, 500.0, 400.0, 600.0)
    assert ResponseTimes.of([300.0]) == ResponseTimes(1, 300.0, None, None)
    assert ResponseTimes.of([None]) == ResponseTimes(0, None, None, None)


class _LateListener(SimulatedListener):
    """Misses the first tone, at 40 dB HL, and hears 1 kHz at 10."""

    def __init__(self) -> None:
        super().__init__(audiogram_named("N1"), lapse_rate=0.0, seed=3)
        self._tones: set[str] = set()

    def answer(self, tone: Tone) -> Press | None:
        self._tones.add(tone.tone_id)
        return super().answer(tone) if len(self._tones) > 1 else None


@pytest.mark.usefixtures("quick_disk")
def test_clear_tones_are_five_db_above_what_was_found(tmp_path: Path) -> None:
    session = replay_session(World(tmp_path, _LateListener()).live({"ears": "right"}))
    estimator = session.test.ears[Route("right")].estimator
    clear = missed = 0
    for trial in session.trials:
        if trial.frequency_hz is None or trial.level_db_hl is None:
            continue
        (threshold_db_hl,), _ = estimator.threshold([trial.frequency_hz])
        if trial.level_db_hl >= threshold_db_hl + 5.0:
            clear += 1
            missed += trial.heard is False

    (told,) = quality(session)["row-clear"]
    assert (told["some"], told["of"]) == (missed, clear)
    assert 0 < missed < clear


def test_time_and_catch_trials_are_those_of_the_journal() -> None:
    session = session_of(BOTH)
    last_us = max(r["at_us"] for r in read_journal(BOTH).records if r["kind"] == "input")
    played = {each["number"] for each in records_of(BOTH, "output") if each["what"] == "play"}
    (course,) = rows_of(report_of(session).paper, "course")
    found = quality(session)

    assert course["minutes"] == pytest.approx(last_us / 6e7, abs=0.051)
    catches = sum(row["of"] for row in rows_of(found["row-silence"], "silence-catches"))
    assert catches == course["presentations"] - len(played)
    for told in found["row-trial"]:
        assert 0.7 < told["trial_s"] < 3.0, "the shortest pause and an answer, or a silence"


def test_a_brisk_test_counts_what_it_had_and_names_no_retest() -> None:
    session = session_of(LEFT_S2)
    (tested,) = session.test.ears.values()
    pauses = [each for each in tested.evidence.given if isinstance(each, bool)]
    found = quality(session)

    assert session.settings.conduct == "brisk"
    assert "row-retest" not in found
    (silence,) = found["row-silence"]
    (told,) = rows_of(silence, "silence-pauses")
    assert (told["some"], told["of"]) == (sum(pauses), len(pauses))
    assert len(pauses) > 5
    assert found["row-checks"][0]["some"] == 0 < found["row-checks"][0]["of"]
    assert "silence-catches" not in codes_in([*found.values()])


def test_a_clinical_test_has_catch_trials_its_pause_and_a_retest(clinical: Path) -> None:
    session = session_of(clinical)
    found = quality(session)
    (ear,) = session.result.ears
    catches = [t for t in session.trials if t.purpose == "catch"]

    assert 2.0 < found["row-trial"][0]["trial_s"] < 5.0
    (told,) = found["row-retest"]
    assert ear.retest_difference_db is not None
    assert told["retest_db"] == round(ear.retest_difference_db, 1)
    assert told["verdict"] == {"code": "retest-repeatable"}
    (silence,) = rows_of(found["row-silence"], "silence-catches")
    assert (silence["some"], silence["of"]) == (0, len(catches))
    without = with_ears(session, [replace(ear, retest_difference_db=None)])
    assert quality(without)["row-retest"] == [{"code": "retest-none"}], "it was to have one"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tolerances_of_a_retest_are_said_as_the_procedure_has_them(language: str) -> None:
    said = language_of(language).sentences
    for verdict in ("repeatable", "scattered", "doubtful"):
        assert f" {RETEST_REPEATABLE_DB:g} dB" in said[f"retest-{verdict}"]
    assert f" {RETEST_ACCEPTED_DB:g} dB" in said["retest-rejected"]


def test_what_a_profile_does_not_ask_is_not_counted_as_nothing() -> None:
    found = quality(session_of(GOLDEN / "gp-pta-2015.journal"))
    assert "row-checks" not in found


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


def test_answers_of_the_other_ear_are_set_aside_and_the_right_ear_comes_first() -> None:
    session = session_of(MASKED)
    report = report_of(session)
    (left,) = rows_of(report.paper, "set-aside")
    assert left["ear"] == "left"
    given = sum(ear.estimator.trial_count for ear in session.test.ears.values())
    asked = [t for t in session.trials if t.purpose in ("familiarise", "measure")]
    assert len(asked) - left["count"] == given
    right, found = report.source.ears
    assert (right.route.ear, found.route.ear) == ("right", "left")
    asked_there = [t for t in found.thresholds if t.mark != Outcome.INFERRED]
    assert {t.masking for t in asked_there} == {"masked"}
    assert {t.masking for t in found.thresholds if t not in asked_there} <= {None}


def test_answers_behind_enough_noise_are_not_taken_from_those_that_were_set_aside() -> None:
    """They count as if they had been asked like others, and are no answers of that kind."""
    session = replay_session(GOLDEN / "bone.journal")
    ear = session.test.ears[Route("right", "bone")]
    before = set_aside(ear, session.settings)
    assert before > 0
    for _ in range(before + 1):
        ear.observe(replace(ear.observations[0]))
    assert set_aside(ear, session.settings) == before


def test_what_showed_that_nobody_listened_is_told() -> None:
    for name, heard in (("silent-ear", 0), ("always-answering", None)):
        (tones,) = quality(session_of(GOLDEN / f"{name}.journal"))["row-tones"]
        (told,) = rows_of(tones, "tones-heard")
        assert tones["count"] > 0
        assert told["count"] == (tones["count"] if heard is None else heard)


def test_a_session_of_catch_trials_alone_has_no_number(tmp_path: Path) -> None:
    """The procedure never does this, but the figures have to hold."""
    session = replay_session(cut(LEFT_S2, tmp_path, 1))
    silence = Answered(
        Route("left"), Presentation(Purpose.CATCH, 1e3, 0.0), None, 1, True, 0, None, False
    )
    session.test.given.all = [silence, replace(silence, number=2)]
    found = quality(session)
    assert found["row-response"] == found["row-sd"] == [{"code": "no-value"}]
    assert found["row-trial"][0]["trial_s"] == 0.0


def test_catch_trials_without_pauses_say_what_they_are_of() -> None:
    """What only was recorded, and is not replayed, has no pauses between tones."""
    source = source_of(session_of(GOLDEN / "clinical.journal"))
    codes = [[*map(itemgetter("code"), reliability_rows(each))]
             for each in (source, replace(source, checks={}))]  # fmt: skip
    assert [each[0] for each in codes] == ["reliability", "reliability-catches"]
