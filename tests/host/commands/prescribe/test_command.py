"""`gp-pta prescribe` on recorded sessions: table, figures, picture and openMHA's lines."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from matplotlib.text import Text

from device.hearing_aid.fit import Fit
from device.hearing_aid.fit_file import read_fit, write_fit
from device.hearing_aid.limits import limits
from device.hearing_aid.rules import insertion_gain
from device.hearing_aid.whose import Whose
from device.simulator.audiogram import Audiogram
from device.simulator.listener import EARS, SimulatedListener
from device.simulator.world import World
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.findings.convention import ear_in_convention
from firmware_py.findings.whole_band import USUAL
from firmware_py.journal import read_journal
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CLINICAL_ASCENDING
from host_tools.catalogue import language_of
from host_tools.commands.prescribe.ear_prescription import (
    EarPrescription,
    fit_of_ears,
    prescribe_session,
)
from host_tools.commands.prescribe.gain_picture import prescription_figure, prescription_svg
from host_tools.commands.prescribe.source import NothingToPrescribeError
from host_tools.recordings.recorded_session import RecordedSession, ReplayedSession, replay_session
from tests.budget import quick
from tests.host.commands.prescribe.as_figures import figures
from tests.host.commands.report.test_bone import beyond
from tests.host.journals import (
    BOTH,
    GOLDEN,
    LEFT_S2,
    MASKED,
    GpPta,
    Refused,
    recorded_calibrated,
    rewrite,
    session_of,
    write_again,
)
from tests.host.judged import judge
from tests.host.pdfs import ReadPdf
from tests.host.reports import with_ears

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once


def fit_of(session: RecordedSession, rule: str = "nal-r") -> Fit:
    return fit_of_ears(prescribe_session(session, rule, "closed"))


@pytest.mark.parametrize(
    "rule", quick(["nal-r", "nal-rp", "camfit", "half-gain"], "nal-rp", "half-gain")
)
def test_gain_is_the_rules_at_the_recorded_thresholds(rule: str, gp_pta: GpPta) -> None:
    (found,) = session_of(LEFT_S2).result.ears
    (ear,) = figures(gp_pta, LEFT_S2, "--rule", rule)["ears"]
    thresholds = ear_in_convention(found, CLINICAL_ASCENDING).thresholds
    assert found.clinical_offset_db > 2.0
    expected = insertion_gain(
        rule,
        [t.frequency_hz for t in thresholds],
        [cast(float, t.threshold_db_hl or t.limit_db_hl) for t in thresholds],
    )  # fmt: skip
    assert [band["rule_gain_db"] for band in ear["bands"]] == pytest.approx(expected, abs=0.006)
    for band in ear["bands"]:
        limited_db = min(band["rule_gain_db"], band["gain_max_db"])
        # between the levels of the table it is on a line, which rounds off where a limit begins
        near_limit = abs(band["rule_gain_db"] - band["gain_max_db"]) < 5.0
        assert band["gain_db"] == pytest.approx(limited_db, abs=1.25 if near_limit else 0.011)
        assert band["held"] == (band["gain_db"] < band["rule_gain_db"] - 0.5)


def test_the_band_of_a_half_gain_is_half_the_band_of_the_threshold() -> None:
    session = recorded_calibrated(BOTH)
    ear = prescribe_session(session, "half-gain", "closed", "left")[0]
    gain = ear.gain_at_db[65.0]
    found = session.result.by_route[Route("left")]
    whole = [USUAL.widened(found.route, each) for each in found.thresholds]
    band_db_hl = [(each.low_db_hl or 0.0, each.high_db_hl or 0.0) for each in whole]
    low_db_hl, high_db_hl = np.array(band_db_hl).T + found.clinical_offset_db
    inside = [t.mark == "measured" and (t.low_db_hl or 0.0) > 0.0 for t in found.thresholds]

    assert sum(inside) >= 5
    half_width_db = 0.25 * (high_db_hl - low_db_hl)
    centers_hz = np.array(ear.frequencies_hz, dtype=np.float64)
    for found_db, level_db_hl in ((gain.low, low_db_hl), (gain.high, high_db_hl)):
        room_db = limits(centers_hz, level_db_hl).gain_max_db() - 0.5 * level_db_hl
        off_db = np.abs(found_db - 0.5 * level_db_hl - np.minimum(room_db, 0.0))
        # A table of gains rounds off the end of a line.
        assert np.all((off_db <= np.where(room_db > 2.0, 0.12 * half_width_db, 0.7))[inside])


def test_pictures_and_figures_are_the_same_each_time(tmp_path: Path, gp_pta: GpPta) -> None:
    picture, numbers = tmp_path / "gain.svg", tmp_path / "gain.json"
    picture.touch()
    words = (LEFT_S2, "-o", picture, "-o", numbers, "--force")
    assert gp_pta("prescribe", *words)[0] == 0
    assert picture.read_text().startswith("<svg")
    assert json.loads(numbers.read_text()) == figures(gp_pta, LEFT_S2)
    ears = prescribe_session(recorded_calibrated(LEFT_S2), "nal-r", "closed")
    one, other = (prescription_svg(ears, fit_of_ears(ears), language_of("en")) for _ in range(2))
    assert one == other


def test_what_an_aid_reads_needs_both_ears(tmp_path: Path, refusal_of: Refused) -> None:
    words = ("-o", str(tmp_path / "aid.svg"), "-o", str(tmp_path / "aid.cfg"))
    said = "gp-pta: -o: .cfg has settings of both ears, and the right ear has none\n"
    assert refusal_of("prescribe", LEFT_S2, *words) == said
    assert list(tmp_path.iterdir()) == [], "nothing is written before that is seen"


def test_levels_that_are_no_db_hl_are_refused_or_said_to_be_that(
    tmp_path: Path, gp_pta: GpPta, refusal_of: Refused
) -> None:
    journal = tmp_path / "session-000001.journal"
    journal.write_bytes(LEFT_S2.read_bytes())
    said = refusal_of("prescribe", journal)
    assert f"{journal}: UNCALIBRATED: levels are nominal; a rule takes" in said
    out = [tmp_path / f"aid{ending}" for ending in (".fit", ".json", ".pdf")]
    words = [word for path in out for word in ("-o", path)]
    code, said, _ = gp_pta("prescribe", journal, "--uncalibrated", *words)
    assert code == 0
    assert "UNCALIBRATED: levels are nominal" in said
    fit = read_fit(out[0])
    assert (fit.of.calibration, fit.of.thresholds) == ("UNCALIBRATED", CLINICAL_ASCENDING)
    assert [found.code for found in fit.for_whom] == ["not-judged"]
    told = json.loads(out[1].read_text())
    assert told["of"]["calibration"] == "UNCALIBRATED"
    assert "UNCALIBRATED: levels are nominal" in told["remarks"]
    text = ReadPdf(out[2].read_bytes()).text
    for each in ("NOT FINAL: UNCALIBRATED", "it is no prescription", "the levels are not dB HL"):
        assert each in text


def test_every_file_says_for_whom_the_fit_is(tmp_path: Path, gp_pta: GpPta) -> None:
    ears = prescribe_session(recorded_calibrated(BOTH), "nal-r", "open", None)
    fit = fit_of_ears(ears)
    assert {found.code for found in fit.for_whom} == {"inaudible", "peaks-only"}
    endings = (".fit", ".json", ".cfg", ".txt", ".librepods.json")
    out = [tmp_path / f"aid{ending}" for ending in endings]
    words = [word for path in out for word in ("-o", path)]
    code, said, _ = gp_pta("prescribe", BOTH, "--coupling", "open", *words)
    assert code == 0
    assert read_fit(out[0]).for_whom == fit.for_whom
    told = json.loads(out[1].read_text())
    assert told["for_whom"] == [found.as_record() for found in fit.for_whom]
    texts = [said, *(path.read_text() for path in out[1:])]
    assert all("speech at 65 dB SPL stays inaudible at 8000" in text for text in texts)
    assert "# CALIBRATED (simulated board)\n" in out[2].read_text()


def test_nothing_inferred_between_limits_gets_more_gain_than_they_do(
    deaf_ear: Path, gp_pta: GpPta
) -> None:
    (ear,) = figures(gp_pta, deaf_ear, "--rule", "half-gain")["ears"]
    inferred = [band for band in ear["bands"] if band["mark"] == "inferred"]
    assert inferred
    assert {band["threshold_db_hl"] for band in inferred} == {100.0}
    assert {band["rule_gain_db"] for band in ear["bands"]} == {50.0}


def with_limits(session: ReplayedSession, limits_db_hl: dict[int, float]) -> ReplayedSession:
    """Return a session without a response at these limits, by frequency."""
    return with_ears(session, (
        replace(ear, thresholds=tuple(
            beyond(t, limits_db_hl[t.frequency_hz]) if t.frequency_hz in limits_db_hl else t
            for t in ear.thresholds
        ))
        for ear in session.result.ears
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("limits_db_hl", "most_db_hl"), [({500: 20.0}, 20.0), ({500: 20.0, 8000: 45.0}, 45.0)]
)
def test_an_inferred_threshold_is_held_to_the_highest_limit_of_all(
    limits_db_hl: dict[int, float], most_db_hl: float
) -> None:
    session = recorded_calibrated(BOTH)
    before, after = (
        prescribe_session(each, "half-gain", "closed", "left")[0]
        for each in (session, with_limits(session, limits_db_hl))
    )
    inferred = [k for k, mark in enumerate(after.marks) if mark == "inferred"]
    held = np.minimum(before.threshold_db_hl, most_db_hl)
    assert max(before.threshold_db_hl[inferred]) > 45.0
    assert [*after.threshold_db_hl[inferred]] == [*held[inferred]]


def test_a_measured_threshold_is_held_to_the_limit_of_its_own_frequency_alone() -> None:
    session = recorded_calibrated(BOTH)
    limited = with_limits(session, {500: 20.0})
    before, after = (
        prescribe_session(each, "half-gain", "closed", "left")[0] for each in (session, limited)
    )
    at = before.frequencies_hz.index(500)
    assert (after.marks[at], after.threshold_db_hl[at]) == ("no-response", 20.0)
    measured = [k for k, mark in enumerate(after.marks) if mark == "measured"]
    assert max(after.threshold_db_hl[measured]) > 30.0
    assert [*after.threshold_db_hl[measured]] == [*before.threshold_db_hl[measured]]

    (ear,) = prescribe_session(recorded_calibrated(MASKED), "half-gain", "closed", "left")
    above = [t.frequency_hz for t in ear.given.clinical if (t.threshold_db_hl or 0.0) > 100.0]
    at_limit = [f for f, db_hl in zip(ear.frequencies_hz, ear.threshold_db_hl, strict=True)
                if db_hl == 100.0]  # fmt: skip
    assert {*above} == {4000}
    assert {*above} <= {*at_limit}


def test_an_unfinished_session_has_to_be_asked_for(
    tmp_path: Path, gp_pta: GpPta, refusal_of: Refused
) -> None:
    half = tmp_path / "session-000001.journal"
    half.write_bytes(BOTH.read_bytes()[:60_000])  # in the second ear
    assert "it is not finished; --unfinished prescribes from what there is" in refusal_of(
        "prescribe", half
    )
    told = tmp_path / "told.json"
    code, out, _ = gp_pta("prescribe", half, "--unfinished", "-o", told)
    assert code == 0
    assert "from a session that came to no end" in out
    assert "left ear: nothing is prescribed" in out
    assert [ear["ear"] for ear in json.loads(told.read_text())["ears"]] == ["right"]


@pytest.mark.parametrize(
    ("size", "said"),
    [(-1, "damaged at line"), (None, "does not replay to what it records (1 outputs differ)"),
     (20_000, "does not replay to what it records (1 outputs differ); look with gp-pta replay")],
)  # fmt: skip
def test_a_journal_that_is_not_true_is_refused_and_export_refuses_what_it_computes_again(
    size: int | None, said: str, tmp_path: Path, gp_pta: GpPta
) -> None:
    path, content = tmp_path / "session-000001.journal", bytearray(LEFT_S2.read_bytes())
    if size == -1:
        content[20_000] ^= 1
        path.write_bytes(content)
    else:
        path.write_bytes(content[:size])
        rewrite(path, {"frequency_hz": 1000.0000000000001})
    code, out, err = gp_pta("prescribe", path, "--unfinished")
    assert (code, out, err.startswith(f"gp-pta: {path}: ")) == (2, "", True)
    assert said in err
    exported = gp_pta("export", path, "--format", "csv", "--unfinished")
    if size is None:
        assert exported[0] == 0, "a result that was recorded is not computed again"
    else:
        assert exported == (2, "", err)


def test_an_ear_that_was_not_asked_for_is_not_missing(gp_pta: GpPta) -> None:
    both = str(GOLDEN / "both-ears-n3.journal")
    code, out, _ = gp_pta("prescribe", both, "--ear", "right")
    assert code == 0
    assert "right ear" in out
    assert "left ear" not in out


def svg_words(ear: EarPrescription, against: Fit | None = None) -> str:
    fit = fit_of_ears([ear])
    figure = prescription_figure([ear], fit, language_of("en"), against)
    return " ".join(text.get_text() for text in figure.findobj(Text))


def test_the_fit_that_is_written_is_the_one_that_is_shown(tmp_path: Path, gp_pta: GpPta) -> None:
    out = tmp_path / "aid.fit"
    told = figures(gp_pta, BOTH, "-o", out)
    fit = read_fit(out)

    assert fit == fit_of(recorded_calibrated(BOTH))
    assert fit.source == BOTH.name
    for ear in told["ears"]:
        fitted = fit.of_ear(ear["ear"])
        for name, level in (("soft_gain", 50.0), ("gain", 65.0), ("loud_gain", 80.0)):
            gains_db = [band[f"{name}_db"] for band in ear["bands"]]
            assert gains_db == pytest.approx(fitted.gain_of_speech_db(level), abs=0.006)
        for band, of_fit in zip(ear["bands"], fitted.bands, strict=True):
            assert band["output_max_db_spl"] == of_fit.output_max_db_spl <= 111.0
            assert band["gain_max_db"] <= of_fit.gain_max_db
    assert {name: row["uncertainty_sd_db"] for name, row in told["tuning"].items()} == dict(
        zip([d.name for d in DIMENSIONS], fit.uncertainty_db, strict=True)
    )


BANDED = ("gain{}_db", "soft_gain{}_db", "loud_gain{}_db", "compression_ratio{}", "knee{}_db_spl",
          "output_max{}_db_spl")  # fmt: skip


@pytest.mark.parametrize("coupling", ["closed", "open"])
def test_every_setting_has_a_band_that_holds_it(coupling: str, gp_pta: GpPta) -> None:
    (ear,) = figures(gp_pta, LEFT_S2, "--coupling", coupling)["ears"]
    for band in ear["bands"]:
        for name in BANDED:
            low, value, high = (band[name.format(end)] for end in ("_low", "", "_high"))
            assert low <= value + 0.011
            assert value <= high + 0.011
    widths = {
        name: max(b[name.format("_high")] - b[name.format("_low")] for b in ear["bands"])
        for name in BANDED
    }
    # The knee is that of soft speech for every ear, but where a limit raises it.
    assert min(width for name, width in widths.items() if "knee" not in name) > 0.1
    assert widths["knee{}_db_spl"] > 0.1


def test_a_line_has_knee_ratio_and_limits(gp_pta: GpPta) -> None:
    (ear,) = figures(gp_pta, LEFT_S2)["ears"]
    (band,) = [b for b in ear["bands"] if b["frequency_hz"] == 1000]
    _, out, _ = gp_pta("prescribe", LEFT_S2)
    (line,) = re.findall(r"^1000 .*$", out, re.MULTILINE)
    names = (
        "compression_ratio", "knee_db_spl", "gain_max_db", "output_max_db_spl",
        "limited_from_db_spl",
    )  # fmt: skip
    ratio, *others = (band[name] for name in names)
    assert line.split()[-5:] == [f"{ratio:.1f}", *(f"{value:.0f}" for value in others)]
    _, out, _ = gp_pta("prescribe", LEFT_S2, "--coupling", "open")
    assert re.search(r"^4000 +\d+\* +20\*\^ ", out, re.MULTILINE), "signs stand at the figures"
    assert re.search(r"^750 +\(24\) +\(11\) ", out, re.MULTILINE)
    assert "Gain held below the rule's at left ear 2000, 3000, 4000, 6000, 8000 Hz" in out


def test_another_rule_is_compared_with(tmp_path: Path, gp_pta: GpPta) -> None:
    other = tmp_path / "other.fit"
    camfit = figures(gp_pta, BOTH, "--rule", "camfit", "-o", other)
    told = figures(gp_pta, BOTH, "--against", "camfit")
    for k, ear in enumerate(told["against"]["ears"]):
        ours, theirs = (
            [band["gain_db"] for band in each["ears"][k]["bands"]] for each in (told, camfit)
        )
        assert ear["difference_db"] == pytest.approx(np.subtract(ours, theirs), abs=0.011)

    picture, numbers = tmp_path / "both.svg", tmp_path / "both.json"
    words = ("--against", other, "-o", picture, "-o", numbers)
    code, out, _ = gp_pta("prescribe", BOTH, *words)
    assert code == 0
    assert picture.read_text().startswith("<svg")
    assert json.loads(numbers.read_text()) == told
    assert f"right ear against CAMFIT, closed fitting from {BOTH.name}: on average" in out
    header = replay_session(BOTH).header
    assert out.startswith(f"session {header.session}, begun {header.started}\n")
    assert told["of"]["session"] == header.session


@pytest.mark.thorough
def test_a_fit_that_cannot_be_compared_with_is_named(
    tmp_path: Path, gp_pta: GpPta, refusal_of: Refused
) -> None:
    damaged, left, other = (tmp_path / f"{name}.fit" for name in ("damaged", "left", "other"))
    assert gp_pta("prescribe", BOTH, "--ear", "left", "-o", left)[0] == 0
    told = figures(gp_pta, BOTH, "--against", left, "-o", tmp_path / "both.svg")
    assert [ear["ear"] for ear in told["against"]["ears"]] == ["left"], "where it has an ear"
    assert set(told["against"]["ears"][0]["difference_db"]) == {0.0}
    damaged.write_text(left.read_text().replace('"version": 3', '"version": 7'))
    fit = fit_of(recorded_calibrated(BOTH))
    write_fit(other, replace(fit, of=Whose("P-B")))
    header, *records = read_journal(BOTH).records
    of_a = tmp_path / "of-a.journal"
    person: Any = header["person"]
    of = {"person": {**person, "identifier": "P-A"}, "device": "box-1"}
    write_again(of_a, {**header, **of}, records)
    said = refusal_of("prescribe", of_a, "--against", other)
    assert "other.fit: identifier 'P-B', not 'P-A': only fits of one person are compared" in said
    write_fit(other, replace(fit, of=Whose("P-A", device="box-2")))
    _, _, said = gp_pta("prescribe", of_a, "--against", other)
    assert "other.fit: device 'box-2', not 'box-1'" in said
    assert gp_pta("prescribe", of_a, "-o", tmp_path / "of-a.fit")[0] == 0
    whose = read_fit(tmp_path / "of-a.fit").of
    assert (whose.person, whose.session, whose.started) == ("P-A", 1, header["started"])
    assert whose.boards.keys() == {"left", "right"}
    for words, said in (
        (["louder"], "--against is 'louder'; allowed is a file in .fit, or one of nal"),
        ([tmp_path / "no.fit"], "no.fit: cannot be read: No such file or directory"),
        ([damaged], "damaged.fit: version is 7; allowed is 3: made by another gp-pta"),
        ([left, "--ear", "right"], "left.fit: has the left ear only, and nothing else"),
    ):
        assert said in refusal_of("prescribe", BOTH, "--against", *words)


def test_a_picture_of_two_fits_says_which_is_which() -> None:
    session = recorded_calibrated(LEFT_S2)
    ear = prescribe_session(session, "nal-r", "closed", "left")[0]
    assert "no marker: threshold inferred, not measured" in svg_words(ear)
    against = replace(fit_of(session, "camfit"), rule="camfit, 聴力 $x$" + "y" * 1000)
    words = svg_words(ear, against)
    assert "against: camfit, 聴力 $x$" in words or "against: camfit, <U+8074>" in words
    assert "y" * 40 not in words
    assert "difference, dB" in words


def test_an_ear_that_hears_everything_needs_no_gain(tmp_path: Path) -> None:
    """What is inferred between frequencies heard at the floor lies below what a rule takes."""
    keen = Audiogram((125.0, 8000.0), (-99.0, -99.0))
    listener = SimulatedListener(dict.fromkeys(EARS, keen), seed=1)
    session = replay_session(World(tmp_path, listener).live({"ears": "left"}))
    inferred = [t for t in session.result.ears[0].thresholds if t.mark == "inferred"]
    assert min(cast(float, t.threshold_db_hl) for t in inferred) < -30.0
    with pytest.raises(NothingToPrescribeError, match="left ear: doubtful: the button is pressed"):
        prescribe_session(session, "nal-r", "closed", "left")
    # As if there had been no doubt: somebody who hears all of it looks like one who only presses.
    result = judge(session.result, {"left": (Verdict.VALID, [])})
    session = replace(session, recorded=result)
    ear = prescribe_session(session, "nal-r", "closed", "left")[0]
    assert [*ear.gain_db] == [0.0] * len(ear.frequencies_hz)
    assert float(ear.threshold_db_hl.min()) == -30.0
