"""A recorded session tells its trials as the journal has them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from firmware_py.inference.kernel import Array
from firmware_py.journal import read_journal
from firmware_py.platform.version import full_version
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions import format_2
from firmware_py.terms.outcomes import Why
from firmware_py.terms.route import Route
from host_tools.errors import HostError, NonsenseError
from host_tools.recordings.as_recorded import Mixture, RecordedThresholds
from host_tools.recordings.recorded_session import (
    RecordedSession,
    ReplayedSession,
    Trial,
    read_session,
    read_true_session,
    replay_session,
)
from tests.firmware.whole_sessions import records_of
from tests.formats import journals_of
from tests.host.journals import GOLDEN, LEFT_S2, GpPta, write_again
from tests.host.reports import report_of, rows_of


def test_the_trials_are_those_that_the_result_counts() -> None:
    session = replay_session(LEFT_S2)
    (ear,) = session.result.ears
    tones = [trial for trial in session.trials if trial.frequency_hz is not None]
    catches = [trial for trial in session.trials if trial.purpose == "catch"]

    assert session.complete
    assert len(tones) == ear.tones
    assert sum(trial.heard is True for trial in tones) == ear.tones_heard
    assert len(catches) == ear.catch_trials
    assert session.trials_of(Route("left")) == session.trials
    assert session.trials_of(Route("right")) == []


def test_a_trial_is_the_last_tone_with_its_number_and_its_press() -> None:
    events, actions = records_of(LEFT_S2, "input"), records_of(LEFT_S2, "output")
    played = {action["number"]: action for action in actions if action["what"] == "play"}
    onsets_us = {e["number"]: e["onset_us"] for e in events if e["what"] == "tone-on"}
    presses_us = {event["at_us"] for event in events if event["what"] == "button-down"}
    heard = [t for t in replay_session(LEFT_S2).trials if t.heard and t.frequency_hz is not None]

    assert len(heard) > 10
    for trial in heard:
        assert trial.response_ms is not None
        play = played[trial.number]
        assert (trial.frequency_hz, trial.level_db_hl) == (
            play["frequency_hz"],
            play["level_db_hl"],
        )
        assert onsets_us[trial.number] + round(1000 * trial.response_ms) in presses_us


def test_whoever_watches_sees_the_test_after_each_trial() -> None:
    seen: list[tuple[int, int]] = []

    def watch(test: HearingTest, trial: Trial) -> None:
        seen.append((trial.number, test.ears[Route(trial.route.ear)].tally.tones))

    session = replay_session(LEFT_S2, watch)
    tones = 0
    for trial, (number, tones_then) in zip(session.trials, seen, strict=True):
        tones += trial.frequency_hz is not None
        assert (number, tones_then) == (trial.number, tones)


def test_half_a_session_has_a_result_so_far(tmp_path: Path) -> None:
    half = tmp_path / "session-000001.journal"
    half.write_bytes(LEFT_S2.read_bytes()[:20_000])
    session = replay_session(half)

    assert not session.complete
    assert session.result.outcome == ""
    assert session.result.ears[0].tones == len(
        [trial for trial in session.trials if trial.frequency_hz is not None]
    )


def test_a_trial_has_the_noise_that_played_with_it() -> None:
    journal = GOLDEN / "masked.journal"
    playing_db_hl, with_tone = None, {}
    for record in read_journal(journal).records:
        action = record.get("action", {})
        if action.get("what") == "mask":
            playing_db_hl = action["level_db_hl"]
        elif action.get("what") in ("unmask", "finish"):
            playing_db_hl = None
        elif action.get("what") == "play":
            with_tone[action["number"]] = playing_db_hl
    trials = replay_session(journal).trials
    tones = [trial for trial in trials if trial.frequency_hz is not None]

    assert {t.number: t.noise_db_hl for t in tones} == {
        t.number: with_tone[t.number] for t in tones
    }
    assert {trial.noise_db_hl is None for trial in tones} == {True, False}
    assert all(trial.noise_db_hl is None for trial in replay_session(LEFT_S2).trials)


# What another version recorded in today's format


def recorded_elsewhere(path: Path, firmware: str, *, records: int | None = None) -> Path:
    """Write a session again whose procedure asked another tone, as `firmware` recorded it."""
    header, *told = read_journal(LEFT_S2).records[:records]
    louder = next(r for r in told if r.get("action", {}).get("what") == "play")
    louder["action"]["level_db_hl"] += 5.0
    write_again(path, {**header, "firmware": firmware}, told)
    return path


@pytest.mark.parametrize("read", [read_session, read_true_session])
def test_what_another_version_recorded_stands_though_it_does_not_come_out(
    read: Callable[[Path], RecordedSession], tmp_path: Path
) -> None:
    """An update changes which tones are asked: no record becomes worse by it."""
    session = read(recorded_elsewhere(tmp_path / "elsewhere.journal", "0.0.9"))
    true = replay_session(LEFT_S2)
    assert (session.test, session.differences, session.complete) == (None, 1, True)
    assert session.result == true.result
    assert session.course == true.course
    for ear in true.result.ears:
        at_hz = [t.frequency_hz for t in ear.thresholds]
        known, full = session.thresholds_of(ear), true.thresholds_of(ear)
        np.testing.assert_allclose(known.threshold(at_hz)[0], full.threshold(at_hz)[0], atol=0.06)
        assert (known.threshold(at_hz)[1] > full.threshold(at_hz)[1] - 0.06).all()


@pytest.mark.parametrize("name", ["both-ears-n3", "left-ear-s2", "clinical", "masked"])
def test_no_mean_and_no_difference_is_surer_as_recorded_than_replayed(name: str) -> None:
    """How thresholds go together is not recorded: `WIDER` makes up for it."""
    session = replay_session(GOLDEN / f"{name}.journal")
    at_hz = (500, 1000, 2000, 4000)
    for ear in session.result.ears:
        replayed, recorded = (
            _covariance(known.joint_threshold(at_hz))
            for known in (session.thresholds_of(ear), RecordedThresholds(ear))
        )
        for weights in ((1, 1, 1, 1), (1, 1, -1, -1), (1, -1, 1, -1), (1, 0, 0, -1), (1, 0, 0, 0)):
            of = np.array(weights)
            assert of @ recorded @ of >= of @ replayed @ of - 0.01


def _covariance(mixture: Mixture) -> Array:
    weight, mean, covariance = mixture
    off = mean - weight @ mean
    return np.einsum("k,kij->ij", weight, covariance + off[:, :, None] * off[:, None, :])


def test_a_report_of_it_says_so_and_is_not_final(tmp_path: Path, gp_pta: GpPta) -> None:
    """A difference may be the version's, and may be a forger's: nobody is told that it is none."""
    path = recorded_elsewhere(tmp_path / "elsewhere.journal", "0.0.9")
    code, out, _ = gp_pta("report", path, "--json")
    found = json.loads(out)["paper"]
    assert (code, len(rows_of(found, "differences-one"))) == (1, 1)
    paper = report_of(read_session(path)).paper
    (told,) = rows_of(paper, "as-recorded-differs")
    assert (told["version"], told["format"]) == ("0.0.9", 3)
    assert not paper["final"]
    code, out, _ = gp_pta("replay", path)
    assert (code, "it was recorded by 0.0.9 (format 3), and replays there" in out) == (1, True)


def test_a_tone_of_a_reason_that_is_no_longer_asked_is_told_as_recorded(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    path = tmp_path / "session-000003.journal"
    shutil.copy(journals_of(2, "session")[2], path)
    records = read_journal(path).records
    given = [each["action"] for each in records if each["kind"] == "output"]
    assert Why.DOUBTED_ANSWER in {action.get("why") for action in given}
    told = read_session(path)
    (finish,) = [action for action in given if action["what"] == "finish"]
    assert told.recorded is not None
    assert told.recorded.to_record() == format_2.result(finish["result"])
    code, _, _ = gp_pta("export", path, "-o", tmp_path / "out.json")
    (session,) = json.loads((tmp_path / "out.json").read_text())["sessions"]
    ears = [ear["clinical_offset_db"] for ear in session["ears"]]
    assert (code, ears) == (0, [2.78, 2.73])
    code, out, _ = gp_pta("sessions", tmp_path, "--no-index")
    assert (code, " complete " in out) == (0, True)
    code, out, _ = gp_pta("report", path, "--json")
    assert (code, len(rows_of(json.loads(out)["paper"], "as-recorded"))) == (0, 1)
    code, _, err = gp_pta("replay", path)
    assert code == 2
    assert "it was recorded by 0.1.0 (format 2), and replays with commit" in err


def test_a_damaged_journal_of_an_earlier_format_is_told_as_damaged(tmp_path: Path) -> None:
    content = bytearray(journals_of(1, "session")[0].read_bytes())
    content[60_000] ^= 1
    (tmp_path / "damaged.journal").write_bytes(content)
    with pytest.raises(HostError, match="damaged at line"):
        read_session(tmp_path / "damaged.journal")


def test_what_this_version_recorded_has_to_come_out(tmp_path: Path) -> None:
    own = recorded_elsewhere(tmp_path / "own.journal", full_version())
    assert read_session(own).differences == 1
    with pytest.raises(HostError, match="does not replay to what it records"):
        read_true_session(own)


def test_another_version_s_unfinished_session_is_told_as_it_replays(tmp_path: Path) -> None:
    path = recorded_elsewhere(tmp_path / "unfinished.journal", "0.0.9", records=60)
    session = read_session(path)
    assert isinstance(session, ReplayedSession)
    assert (session.recorded, session.differences) == (None, 1)


@pytest.mark.parametrize("records", [None, 60])
def test_a_bad_record_is_named_whoever_recorded_it(records: int | None, tmp_path: Path) -> None:
    path = recorded_elsewhere(tmp_path / "bad.journal", "0.0.9", records=records)
    header, *told = read_journal(path).records
    told[3]["event" if "event" in told[3] else "action"] = {"what": "nonsense", "result": 1}
    told[0]["at_us"] = -1
    path.unlink()
    write_again(path, header, told)
    with pytest.raises(NonsenseError, match="record 1: at_us is -1"):
        read_session(path)
