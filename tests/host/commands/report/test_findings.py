"""What is found in a session is what its journal says, worked out another way."""

import re
import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.audiograms import audiogram_named
from device.simulator.listener import Press, SimulatedListener
from device.simulator.world import World
from firmware_py.findings.grades import grades_said
from firmware_py.findings.norms import SHOWN_SDS, AgeNorm
from firmware_py.journal import read_journal
from firmware_py.procedure.given import Given, ResponseTimes
from firmware_py.procedure.mean_threshold import mean_threshold
from firmware_py.procedure.outcomes import MaskingMark, Outcome, Purpose, Verdict
from firmware_py.procedure.presentation import Presentation
from firmware_py.procedure.reading import Kind, read
from firmware_py.procedure.reasons import Code, reason
from firmware_py.procedure.results import ConfirmedThreshold, SessionResult, ThresholdResult
from firmware_py.procedure.retest import RETEST_ACCEPTED_DB, RETEST_REPEATABLE_DB, Retest
from firmware_py.procedure.route import Route
from firmware_py.procedure.settings import Settings
from host_tools.catalogue import ENGLISH, LANGUAGES, catalogue_of
from host_tools.commands.report.ear_sentence import by_kind, ear_sentence
from host_tools.commands.report.findings import Findings, Threshold, findings_of
from host_tools.commands.report.quality_words import quality_rows
from host_tools.commands.report.words import Words
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.firmware.whole_sessions import a_listener, records_of
from tests.host.journals import GOLDEN, LEFT_S2, session_of

words = Words(catalogue_of(ENGLISH))

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]


def findings(name: str) -> Findings:
    return findings_of(session_of(GOLDEN / f"{name}.journal"))


def cut(journal: Path, directory: Path, records: int) -> Path:
    """Return a copy of a journal that ends after so many records."""
    short = directory / "session-000001.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    short.write_bytes(b"".join(lines[:records]))
    return short


def test_thresholds_are_those_of_the_result() -> None:
    session = session_of(LEFT_S2)
    (ear,) = findings_of(session).ears
    for found, told in zip(ear.thresholds, session.result.ears[0].thresholds, strict=True):
        assert vars(told).items() <= vars(found).items()
        assert (found.norm_db_hl, found.norm_share_better) == (None, None)


def test_response_times_are_those_of_the_events() -> None:
    """From onset and press as the board told them; a press ends the tone, so each is one answer."""
    onset_us, times_ms = 0, []
    for event in records_of(LEFT_S2, "input"):
        if event["what"] == "tone-on":
            onset_us = event["onset_us"]
        elif event["what"] == "button-down":
            times_ms.append((event["at_us"] - onset_us) / 1000.0)
    (ear,) = findings("left-ear-s2").ears
    first, median, third = statistics.quantiles(times_ms, method="inclusive")
    found = ear.quality.response_times
    assert found is not None

    assert found.count == ear.quality.tones_heard == len(times_ms)
    assert (found.first_quartile_ms, found.median_ms, found.third_quartile_ms) == pytest.approx(
        (first, median, third)
    )


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

    def answer(self, tone_id: str, *about: Any, **more: Any) -> Press | None:
        """Answer every tone but the first."""
        self._tones.add(tone_id)
        return super().answer(tone_id, *about, **more) if len(self._tones) > 1 else None


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
    quality = findings_of(session).ears[0].quality

    assert (quality.clear_tones, quality.clear_missed) == (clear, missed)
    assert 0 < missed < clear


def test_time_and_catch_trials_are_those_of_the_journal() -> None:
    found = findings("both-ears-n3")
    records = read_journal(GOLDEN / "both-ears-n3.journal").records
    last_us = max(record["at_us"] for record in records if record["kind"] == "input")
    played = {action["number"] for action in records_of(
        GOLDEN / "both-ears-n3.journal", "output") if action["what"] == "play"}  # fmt: skip

    assert found.duration_s == pytest.approx(last_us / 1e6)
    assert sum(ear.quality.catch_trials for ear in found.ears) == found.presentations - len(played)
    for ear in found.ears:
        assert ear.quality.trial_s is not None
        assert 0.7 < ear.quality.trial_s < 3.0, "the shortest pause and an answer, or a silence"


def test_a_clinical_trial_takes_its_pause_and_its_window(clinical: Path) -> None:
    (ear,) = findings_of(session_of(clinical)).ears
    assert ear.quality.trial_s is not None
    assert 2.0 < ear.quality.trial_s < 5.0
    assert ear.quality.catch_trials > 0


def test_the_quality_of_a_brisk_test_counts_what_it_had_and_names_no_retest() -> None:
    session = session_of(LEFT_S2)
    (ear,) = findings_of(session).ears
    (tested,) = session.test.ears.values()
    pauses = [each for each in tested.measurement.evidence if isinstance(each, bool)]
    rows = dict(quality_rows(ear, words))

    assert session.settings.conduct == "brisk"
    assert not ear.quality.retest_wanted
    assert "1 kHz retest" not in rows
    assert rows["false positives"] == f"{sum(pauses)} of {len(pauses)} in pauses"
    assert len(pauses) > 5
    assert rows["clear tones, to check, missed"] == f"0 of {ear.quality.checks}"
    assert (ear.quality.checks or 0) > 0
    assert rows["doubted answers asked again"] == f"{tested.measurement.doubted_tones}"
    shown = " ".join(f"{name} {value}" for name, value in rows.items())
    for word in ("none", "0 of 0", "catch"):
        assert word not in shown


def test_the_quality_of_a_clinical_test_has_catch_trials_and_retest(clinical: Path) -> None:
    session = session_of(clinical)
    (ear,) = findings_of(session).ears
    rows = dict(quality_rows(ear, words))
    catches = [t for t in session.trials if t.purpose == "catch"]

    assert ear.quality.retest_wanted
    assert rows[
        "1 kHz retest"
    ] == f"{ear.quality.retest_difference_db:+.1f} dB (repeatable: within 5 dB)".replace(
        "-", "\u2212"
    )
    scattered = replace(ear.quality, retest_difference_db=7.9, retest_verdict="scattered")
    far = replace(ear, quality=scattered)
    told = "+7.9 dB (more than 5 dB, but no more than these answers scatter)"
    assert dict(quality_rows(far, words))["1 kHz retest"] == told
    assert rows["false positives"].endswith(f"; 0 of {len(catches)} in catch trials")
    tested = replace(ear, quality=replace(ear.quality, retest_difference_db=None))
    assert dict(quality_rows(tested, words))["1 kHz retest"] == "none", "it was to have one"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tolerances_of_a_retest_are_said_as_the_procedure_has_them(language: str) -> None:
    say = partial(catalogue_of(language).say, "report")
    for verdict in ("repeatable", "scattered", "doubtful"):
        assert f" {RETEST_REPEATABLE_DB:g} dB" in say(f"retest_{verdict}")
    assert f" {RETEST_ACCEPTED_DB:g} dB" in say("retest_rejected")


def test_what_a_profile_does_not_ask_is_not_counted_as_nothing() -> None:
    (ear,) = findings("gp-pta-2015").ears
    names = [name for name, _ in quality_rows(ear, words)]
    assert (ear.quality.checks, ear.quality.doubted_tones) == (None, None)
    assert not {"clear tones, to check, missed", "doubted answers asked again"} & {*names}


def test_the_retest_is_judged_as_by_the_procedure(clinical: Path) -> None:
    session = replay_session(clinical)
    (ear,) = session.state.test.ears.values()
    assert findings_of(session).ears[0].quality.retest_verdict == "repeatable"

    # Nothing of another is heard: far above a threshold that was thought to be known.
    ear.retest = Retest(30.0, ear.levels, 1.0, ear.estimator.hyperparameters)
    while not ear.retest.over:
        ear.retest.take_answer(ear.retest.tone().level_db_hl, False)
    assert findings_of(session).ears[0].quality.retest_verdict == "rejected"

    ear.retest = None
    assert findings_of(session).ears[0].quality.retest_verdict == ""


def test_the_norm_is_beside_each_threshold(forty_tones: Path) -> None:
    found, norm = findings_of(replay_session(forty_tones)), AgeNorm(65, "M")
    assert found.norm_title == "otologically normal men of 65 (ISO 7029:2017)"
    # The norm is of clinical thresholds; these are 50 % points, and it stands as much lower.
    lower_db = found.ears[0].clinical_offset_db
    assert 2.0 < lower_db < 4.0
    for t in found.ears[0].thresholds:
        median_db_hl = norm.threshold_db_hl(t.frequency_hz) - lower_db
        if t.frequency_hz > 3000:  # the spread of men of 65 is not known there
            assert t.norm_db_hl == [None, median_db_hl, None]
            assert t.norm_share_better is None
            assert words.norm(t) == f"{median_db_hl:.0f}"
            continue
        usual = [norm.threshold_db_hl(t.frequency_hz, q) - lower_db for q in SHOWN_SDS]
        assert t.norm_db_hl == usual
        is_bound = read(t).doubtful
        if t.mark == Outcome.MEASURED and t.threshold_db_hl is not None and not is_bound:
            clinical_db_hl = t.threshold_db_hl + lower_db
            assert t.norm_share_better == norm.share_better(t.frequency_hz, clinical_db_hl)
        else:
            assert t.norm_share_better is None
    assert findings("left-ear-s2").norm_missing.startswith("age and sex were not told")


def test_answers_of_the_other_ear_are_set_aside_and_the_right_ear_comes_first() -> None:
    session = session_of(GOLDEN / "masked.journal")
    right, left = findings_of(session).ears
    assert (right.route.ear, left.route.ear) == ("right", "left")
    aside = left.quality.tones_set_aside
    assert right.quality.tones_set_aside == 0
    assert aside
    given = sum(ear.estimator.trial_count for ear in session.test.ears.values())
    asked = [t for t in session.trials if t.purpose in ("familiarise", "measure")]
    assert len(asked) - aside == given
    asked_there = [t for t in left.thresholds if t.mark != Outcome.INFERRED]
    assert {t.masking for t in asked_there} == {"masked"}
    assert {t.masking for t in left.thresholds if t not in asked_there} <= {None}


# Ears and sessions that are not as one would wish


def test_an_ear_that_hears_nothing_has_a_bound_and_no_number(deaf_ear: Path) -> None:
    found = findings_of(session_of(deaf_ear))
    (ear,) = found.ears
    assert (ear.verdict, ear.outcome) == (Verdict.VALID, "no-response")
    assert ear.pta4 is not None
    assert (ear.pta4.level_db_hl, ear.pta4.bound) == (100.0, "at-least")
    assert ear.pta4.beyond_hz == (500, 1000, 2000, 4000)
    assert grades_said(ear.pta4.bound, ear.pta4.shares) == [("complete", 1.0)]
    assert ear.quality.response_times == ResponseTimes(0, None, None, None)
    assert (ear.quality.clear_tones, ear.quality.posterior_sd_db) == (0, None)
    assert "at least 100 dB HL" in words.grades(found)[0]
    shown = {str(t.mark): words.threshold(t) for t in ear.thresholds}
    assert shown["no-response"] == "> 100"
    assert shown["incomplete"] == "? 100"
    assert shown["inferred"].startswith("(")
    assert shown.keys() == {"no-response", "incomplete", "inferred"}


def test_what_showed_that_nobody_listened_is_told() -> None:
    (silent,), (pressing,) = findings("silent-ear").ears, findings("always-answering").ears

    assert silent.reasons == (reason(Code.NOTHING_HEARD),)
    assert silent.quality.tones_heard == 0 < silent.quality.tones
    assert pressing.reasons == (reason(Code.PRESSES_ANYWAY),)
    assert pressing.quality.tones_heard == pressing.quality.tones > 0
    assert pressing.quality.catch_trials > 0


def test_one_ear_has_no_grade_of_the_person() -> None:
    found = findings("left-ear-s2")
    assert found.grade is found.as_json()["grade"] is None
    assert words.grades(found)[-1].endswith("the grade needs both")


def test_the_better_ear_of_two_counts() -> None:
    found = findings("both-ears-n3")
    means = {ear.route.ear: ear.pta4.level_db_hl for ear in found.ears if ear.pta4 is not None}
    assert found.grade is not None
    assert found.grade.ear == min(means, key=lambda ear: means[ear])


@pytest.mark.parametrize("records", [1, 2, 60, 200])
def test_an_unfinished_session_says_so(records: int, tmp_path: Path) -> None:
    session = replay_session(cut(LEFT_S2, tmp_path, records))
    found = findings_of(session)
    (ear,) = found.ears

    assert found.status == "unfinished"
    assert ("UNFINISHED", "The session is not finished: this is what was found so far.") in (
        words.alarms(found)
    )
    assert ear.quality.tones == len([t for t in session.trials if t.frequency_hz is not None])
    if records < 60:
        assert (ear.verdict, ear.reasons) == (Verdict.NOT_TESTED, (reason(Code.NOT_BEGUN_YET),))
        assert ear.pta4_missing == "it could not be tested"
        assert [words.threshold(t) for t in ear.thresholds] == ["-"] * 10


def test_a_session_of_catch_trials_alone_has_no_number(tmp_path: Path) -> None:
    """The procedure never does this, but the figures have to hold."""
    session = replay_session(cut(LEFT_S2, tmp_path, 1))
    silence = Given(
        Route("left"), Presentation(Purpose.CATCH, 1e3, 0.0), None, 1, True, 0, None, False
    )
    session.test.given.all = [silence, replace(silence, number=2)]
    found = findings_of(session)
    times = found.ears[0].quality.response_times
    assert times is not None
    assert times.count == 0
    assert found.ears[0].quality.trial_s == 0.0


def test_frequencies_that_were_not_in_the_test_are_named(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, a_listener("N2"))
    world.begin(Settings(ears="left", tones_max=20, frequency_max_hz=3000.0, retest=False))
    (ear,) = findings_of(replay_session(world.end())).ears
    assert ear.pta4_missing == "4000 Hz were not in the test"


def test_a_record_that_comes_out_differently_is_warned_of() -> None:
    session = replay_session(LEFT_S2)
    session = replace(session, differences=1)
    assert "1 output of this record comes out differently" in findings_of(session).warnings[0]


@pytest.mark.parametrize(
    ("masking", "shown"), [("none", "34"), ("masked", "34"), ("uncertain", "34*")]
)
def test_a_threshold_that_the_other_ear_may_have_heard_has_a_star(masking: str, shown: str) -> None:
    recorded = ThresholdResult(
        1000, Outcome.MEASURED, 34.2, 2.0, 30.0, 38.0, None, MaskingMark(masking)
    )
    assert words.threshold(Threshold.of(recorded, 8.0, None)) == shown
    assert words.threshold(Threshold.of(recorded, 3.9, None)) == f"~ {shown}"


@pytest.mark.parametrize(
    ("share", "shown"),
    [(None, "-"), (0.0, "< 1 %"), (0.5, "50 %"), (0.994, "> 99 %"), (1.0, "> 99 %")],
)
def test_a_share_is_never_rounded_to_certainty(share: float | None, shown: str) -> None:
    assert words.percent(share).replace("\u00a0", " ") == shown


def inferred_threshold(threshold_db_hl: float = 34.2) -> ThresholdResult:
    return ThresholdResult(2000, Outcome.INFERRED, threshold_db_hl, 5.0, 24.0, 44.0, None)


def test_what_was_inferred_stands_in_brackets_and_says_nothing_of_peers() -> None:
    found = Threshold.of(inferred_threshold(), 8.0, AgeNorm(40, "F"))
    assert words.threshold(found) == "(34)"
    assert (words.band(found), words.spread(found)) == ("(24 to 44)", "(5.0)")
    assert found.norm_share_better is None
    assert not found.wide, "how wide it is was never wanted"


def with_thresholds(
    session: ReplayedSession, change: Callable[[str, ThresholdResult], ThresholdResult]
) -> SessionResult:
    """Return the result with its thresholds changed, by ear, and the means that follow."""
    ears = []
    for ear in session.result.ears:
        found = replace(ear, thresholds=tuple(change(ear.route.ear, t) for t in ear.thresholds))
        mean = mean_threshold(found, session.test.ears[ear.route].estimator)
        ears.append(replace(found, pta4=mean))
    return replace(session.result, ears=tuple(ears))


def test_a_grade_of_what_the_other_ear_may_have_heard_is_a_bound(tmp_path: Path) -> None:
    session = replay_session(GOLDEN / "both-ears-n3.journal")
    session = replace(
        session,
        recorded=with_thresholds(
            session,
            lambda _, t: replace(t, masking=MaskingMark.UNCERTAIN) if t.frequency_hz == 1000 else t,
        ),
    )
    right, left, person = words.grades(findings_of(session))

    for said in (right, left):
        assert re.search(r"ear: at least 4\d dB HL \(95 % band from 4\d up\); the other ", said)
        assert "; the other ear may have heard 1000 Hz; at least moderate" in said
    assert person.startswith("person: at least moderate ")
    assert "(the better ear counts" in person


def test_a_mean_of_what_was_inferred_says_so_and_so_does_the_grade(tmp_path: Path) -> None:
    session = replay_session(GOLDEN / "both-ears-n3.journal")
    blank: dict[str, Any] = {"mark": Outcome.INFERRED, "masking": None, "air_bone_gap_db": None}
    whole = findings_of(session)
    session = replace(
        session,
        recorded=with_thresholds(
            session,
            lambda ear, t: replace(t, **blank) if (ear, t.frequency_hz) == ("left", 2000) else t,
        ),
    )
    partly = findings_of(session)
    right, left, person = words.grades(partly)

    assert "partly inferred" not in " ".join(words.grades(whole))
    assert "partly inferred, not measured at 2000 Hz" in left
    assert "partly inferred" not in right
    assert "(the better ear counts; partly inferred)" in person
    (told,) = [ear for ear in partly.as_json()["ears"] if ear["ear"] == "left"]
    (at_2_khz,) = [t for t in told["thresholds"] if t["frequency_hz"] == 2000]
    assert at_2_khz["threshold_db_hl"] is None
    assert at_2_khz["inferred"]["db_hl"] is not None
    (left_ear,) = [ear for ear in partly.ears if ear.route.ear == "left"]
    assert re.search(r"inferred, not measured, at [^;]*2000", ear_sentence(left_ear, words))


def test_only_one_width_is_compared_and_the_frequency_is_named() -> None:
    session = session_of(GOLDEN / "both-ears-n3.journal")

    def say_with(frequency_hz: int, half_db: float) -> str:
        band: dict[str, Any] = {"low_db_hl": 40.0 - half_db, "high_db_hl": 40.0 + half_db}
        place = ("right", frequency_hz)
        changed = with_thresholds(
            session, lambda ear, t: replace(t, **band) if (ear, t.frequency_hz) == place else t
        )
        found, _ = findings_of(replace(session, recorded=changed)).ears
        assert (found.short_of_db is not None) == any(t.wide for t in found.thresholds)
        return ear_sentence(found, words)

    measured = "Right ear: measured at 8 of 10 frequencies, "
    inferred = "; inferred, not measured, at 750, 1500 Hz."
    assert say_with(4000, 6.5) == f"{measured}all to ±6.5 dB{inferred}"
    short = "to ±6.6 dB; 4000 Hz short of the ±6.5 dB that were wanted"
    assert say_with(4000, 6.6) == f"{measured}{short}{inferred}"
    enough = "all to ±8.1 dB"  # a quarter wider is enough there
    assert say_with(250, 8.125) == f"{measured}{enough}{inferred}"
    short = "to ±8.8 dB; 250 Hz short of the ±8.125 dB that were wanted"
    assert say_with(250, 8.8) == f"{measured}{short}{inferred}"
    assert "12" not in say_with(1500, 12.0), "it was inferred"


def test_what_was_confirmed_stands_beside_what_was_measured() -> None:
    session = replay_session(GOLDEN / "left-ear-s2.journal")
    (ear,) = session.result.ears
    again = (
        ConfirmedThreshold(1000, 35.0, Outcome.MEASURED, 9),
        ConfirmedThreshold(8000, None, Outcome.NO_RESPONSE, 4),
    )
    session = replace(
        session, recorded=replace(session.result, ears=(replace(ear, confirmed=again),))
    )
    found = findings_of(session)
    shown = {t.frequency_hz: words.confirmation(t) for t in found.ears[0].thresholds}

    assert (shown[1000], shown[8000], shown[500]) == ("35", "no response", "-")
    (told,) = [t for t in found.as_json()["ears"][0]["thresholds"] if t["frequency_hz"] == 1000]
    assert told["confirmed"]["threshold_db_hl"] == 35.0
    assert told["threshold_db_hl"] != 35.0


MARKS: Final = [each for each in Outcome if each != Outcome.INFERRED]


@pytest.mark.parametrize("outcome", MARKS)
@pytest.mark.parametrize("mark", list(Outcome))
def test_the_sentence_of_an_ear_says_of_each_frequency_one_thing(
    outcome: Outcome, mark: Outcome
) -> None:
    """What no test finds too: the sentence is the readings', whatever they are."""
    (ear,) = findings_of(session_of(GOLDEN / "left-ear-s2.journal")).ears
    beyond = mark not in (Outcome.MEASURED, Outcome.INFERRED)
    thresholds = [
        replace(t, mark=mark, limit_db_hl=90.0 if beyond else None) if t.frequency_hz < 1000 else t
        for t in ear.thresholds
    ]
    found = replace(ear, outcome=outcome, thresholds=thresholds, short_of_db=None)
    sentence, kinds = ear_sentence(found, words), by_kind(found)

    assert [t for each in kinds.values() for t in each] == sorted(
        thresholds, key=lambda t: list(kinds).index(read(t).kind)
    )
    assert sentence.startswith("Left ear: ")
    assert sentence.endswith(".")
    for key, kind in (
        ("part_above", Kind.ABOVE), ("part_at_most", Kind.AT_MOST),
        ("part_perhaps_above", Kind.PERHAPS_ABOVE), ("part_inferred", Kind.INFERRED),
        ("part_unknown", Kind.UNKNOWN),
    ):  # fmt: skip
        at_hz = ", ".join(str(t.frequency_hz) for t in kinds[kind])
        assert (words.say(key, frequencies_hz=at_hz) in sentence) == bool(at_hz)
    measured = len(kinds[Kind.MEASURED])
    assert (f"measured at {measured} of 10 frequencies" in sentence) == (measured > 0)
    assert ("unreliable" in sentence) == (outcome == Outcome.UNRELIABLE)
    assert ("not finished" in sentence) == (outcome == Outcome.INCOMPLETE)


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.journal")))
def test_no_remark_says_of_a_measured_ear_what_its_sentence_says(name: str) -> None:
    """The device tells of the band that is widest for its frequency, the sentence of the widest."""
    found = findings(name)
    remarks = " ".join(words.remarks(found))
    for ear in found.ears:
        if ear.outcome == Outcome.MEASURED:
            assert "band" not in remarks
            widest_db = max(t.half_width_db or 0.0 for t in by_kind(ear)[Kind.MEASURED])
            assert f"to ±{widest_db:.1f} dB" in ear_sentence(ear, words)
        else:
            assert ear.outcome == Outcome.NOT_TESTED
            assert "ended by" not in remarks, "it would tell a level; the verdict says why"
            assert [verdict.text for verdict in words.verdicts(found) if not verdict.valid] != []
    assert ("the cap of 68 tones" in remarks) == (name == "disturbed")
