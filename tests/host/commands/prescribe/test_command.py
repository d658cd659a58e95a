"""`gp-pta prescribe` on recorded sessions: table, figures, picture and openMHA's lines."""

import json
import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from matplotlib.text import Text

from device.hearing_aid.rules import insertion_gain
from host_tools.commands.prescribe.ears import EarPrescription, prescribe_ear
from host_tools.commands.prescribe.picture import prescription_figure
from host_tools.recorded import read_session
from tests.host.journals import GOLDEN, LEFT_S2, GpPta, Refused, rewrite


def figures(gp_pta: GpPta, *words: str | Path) -> dict[str, Any]:
    code, out, _ = gp_pta("prescribe", *words, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.parametrize("rule", ["nal-r", "nal-rp", "camfit", "half-gain"])
def test_gain_is_the_rules_at_the_recorded_thresholds(rule: str, gp_pta: GpPta) -> None:
    (recorded,) = read_session(LEFT_S2).result.ears
    (ear,) = figures(gp_pta, LEFT_S2, "--rule", rule)["ears"]
    thresholds = recorded.thresholds
    expected = insertion_gain(
        rule,
        [t.frequency_hz for t in thresholds],
        [cast(float, t.threshold_db_hl or t.limit_db_hl) for t in thresholds],
    )  # fmt: skip
    assert [band["gain_db"] for band in ear["bands"]] == pytest.approx(expected, abs=0.006)
    for band in ear["bands"]:
        assert band["gain_low_db"] <= band["gain_db"] <= band["gain_high_db"]


def test_the_band_of_a_half_gain_is_half_the_band_of_the_threshold() -> None:
    session = read_session(LEFT_S2)
    ear = prescribe_ear(session, "left", "half-gain")
    low_db_hl, high_db_hl = session.test.ears["left"].estimator.threshold_band(ear.frequencies_hz)
    (recorded,) = session.result.ears
    inside = [t.mark == "measured" and (t.low_db_hl or 0.0) > 0.0 for t in recorded.thresholds]

    assert sum(inside) >= 5
    half_width_db = 0.25 * (high_db_hl - low_db_hl)
    assert np.allclose(
        ear.gain_low_db[inside], 0.5 * low_db_hl[inside], atol=0.12 * half_width_db[inside]
    )
    assert np.allclose(
        ear.gain_high_db[inside], 0.5 * high_db_hl[inside], atol=0.12 * half_width_db[inside]
    )


def test_the_same_journal_prescribes_the_same(gp_pta: GpPta) -> None:
    assert figures(gp_pta, LEFT_S2) == figures(gp_pta, LEFT_S2)


def test_the_table_says_what_has_to_be_known(gp_pta: GpPta) -> None:
    code, out, _ = gp_pta("prescribe", LEFT_S2, "--rule", "nal-rp")
    assert code == 0
    assert "UNCALIBRATED: levels are nominal" in out
    assert "Byrne, Parkinson & Newall" in out
    assert re.search(r"^8000 .*\*", out, re.MULTILINE), "not published for 8 kHz"
    assert not re.search(r"^4000 .*\*", out, re.MULTILINE)


def test_pictures_and_figures_are_written_and_never_over_another(
    tmp_path: Path, gp_pta: GpPta, refused: Refused
) -> None:
    picture, numbers = tmp_path / "gain.svg", tmp_path / "gain.json"
    words = (LEFT_S2, "-o", picture, "-o", numbers)
    assert gp_pta("prescribe", *words)[0] == 0
    assert picture.read_text().startswith("<?xml")
    assert json.loads(numbers.read_text()) == figures(gp_pta, LEFT_S2)
    before = picture.read_bytes()
    assert "is there already; it is not overwritten without --force" in refused("prescribe", *words)
    assert gp_pta("prescribe", *words, "--force")[0] == 0
    assert picture.read_bytes() == before


def test_openmha_needs_both_ears(tmp_path: Path, refused: Refused) -> None:
    words = ("-o", str(tmp_path / "aid.svg"), "-o", str(tmp_path / "aid.cfg"))
    said = "gp-pta: -o: .cfg has gains of both ears, and the right ear has none\n"
    assert refused("prescribe", LEFT_S2, *words) == said
    assert list(tmp_path.iterdir()) == [], "nothing is written before that is seen"


def test_openmha_has_a_row_a_band_left_ear_first(tmp_path: Path, gp_pta: GpPta) -> None:
    journal, out = GOLDEN / "both-ears-n3.journal", tmp_path / "aid.cfg"
    ears = {e["ear"]: e for e in figures(gp_pta, journal)["ears"]}
    assert gp_pta("prescribe", journal, "-o", out)[0] == 0
    lines = out.read_text().splitlines()
    settings = dict(line.split(" = ") for line in lines if not line.startswith("#"))
    table = settings["mha.overlapadd.mhachain.dc.gtdata"]
    rows = [[float(x) for x in row.split()] for row in re.findall(r"\[?\[([^\[\]]*)\]", table)]
    step_db = float(settings["mha.overlapadd.mhachain.dc.gtstep"].strip("[]"))
    bands = len(ears["left"]["bands"])

    assert "# UNCALIBRATED: levels are nominal" in lines
    assert len(rows) == 2 * bands
    for k, ear in enumerate(("left", "right")):
        for band, row in zip(ears[ear]["bands"], rows[k * bands :], strict=False):
            levels_db_spl = step_db * np.arange(len(row))
            at_speech_db = np.interp(band["speech_db_spl"], levels_db_spl, row)
            assert at_speech_db == pytest.approx(band["gain_db"], abs=0.6)


def test_no_response_is_a_limit_and_says_so(gp_pta: GpPta) -> None:
    journal = GOLDEN / "silent-ear.journal"
    code, out, _ = gp_pta("prescribe", journal, "--rule", "half-gain")
    assert code == 0
    assert re.search(r"^1000 +>=", out, re.MULTILINE)
    assert "no response at the limit; the gain is the least the rule can mean" in out


def test_an_unfinished_session_has_to_be_asked_for(
    tmp_path: Path, gp_pta: GpPta, refused: Refused
) -> None:
    half = tmp_path / "session-000001.journal"
    half.write_bytes(LEFT_S2.read_bytes()[:20_000])
    assert "it is not finished; --unfinished prescribes from what there is" in refused(
        "prescribe", half
    )
    code, out, _ = gp_pta("prescribe", half, "--unfinished")
    assert code == 0
    assert "from a session that came to no end" in out


def test_a_damaged_journal_is_refused_as_by_export(tmp_path: Path, gp_pta: GpPta) -> None:
    damaged = tmp_path / "session-000001.journal"
    content = bytearray(LEFT_S2.read_bytes())
    content[20_000] ^= 1
    damaged.write_bytes(content)
    for words in ((), ("--unfinished",)):
        code, _, err = gp_pta("prescribe", damaged, *words)
        assert code == 2
        assert gp_pta("export", damaged, "--format", "csv", *words) == (2, "", err)
        assert err.count(str(damaged)) == 1


@pytest.mark.parametrize("size", [None, 20_000])
def test_a_journal_that_does_not_replay_is_refused_and_export_refuses_what_it_computes_again(
    size: int | None, tmp_path: Path, gp_pta: GpPta
) -> None:
    path = tmp_path / "session-000001.journal"
    path.write_bytes(LEFT_S2.read_bytes()[:size])
    rewrite(path, {"frequency_hz": 1000.0000000000001})
    said = f"{path}: does not replay to what it records (1 outputs differ); look with gp-pta replay"
    code, out, err = gp_pta("prescribe", path, "--unfinished")
    assert (code, out) == (2, "")
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


def test_a_threshold_less_sure_than_the_test_wanted_is_marked(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    half, picture = tmp_path / "session-000001.journal", tmp_path / "gain.svg"
    half.write_bytes(LEFT_S2.read_bytes()[:20_000])
    session = read_session(half)
    wide = {
        t.frequency_hz: t.half_width_db
        for t in session.result.ears[0].thresholds
        if t.mark == "measured" and t.is_wider_than(session.settings.stop_half_width_db)
    }
    assert wide
    (ear,) = figures(gp_pta, half, "--unfinished")["ears"]
    assert [b["frequency_hz"] for b in ear["bands"] if b["wide"]] == list(wide)
    _, out, err = gp_pta("prescribe", half, "--unfinished", "-o", picture)
    assert err == f"{picture} written\n"
    for frequency_hz, half_db in wide.items():
        assert re.search(rf"^ *{frequency_hz} +~", out, re.MULTILINE)
        assert f"{frequency_hz} Hz ±{half_db:.0f} dB" in out


def test_what_was_inferred_stands_in_brackets_and_says_so(tmp_path: Path, gp_pta: GpPta) -> None:
    (recorded,) = read_session(LEFT_S2).result.ears
    inferred = [t.frequency_hz for t in recorded.thresholds if t.mark == "inferred"]
    assert inferred
    (ear,) = figures(gp_pta, LEFT_S2)["ears"]
    marks = {band["frequency_hz"]: band["mark"] for band in ear["bands"]}
    assert [f for f, mark in marks.items() if mark == "inferred"] == inferred
    assert not [b for b in ear["bands"] if b["mark"] == "inferred" and b["wide"]]
    _, out, _ = gp_pta("prescribe", LEFT_S2, "-o", tmp_path / "gain.svg")
    for frequency_hz in marks:
        bracketed = re.search(rf"^ *{frequency_hz} +\(-?\d+\) +\(\d+\)", out, re.MULTILINE)
        assert (bracketed is not None) == (frequency_hz in inferred)
    named = ", ".join(map(str, inferred))
    said = f"( ): left ear not measured at {named} Hz: threshold and gain are inferred"
    assert said in out
    assert "threshold inferred, not measured" in svg_words(
        prescribe_ear(read_session(LEFT_S2), "left", "nal-r")
    )


def svg_words(ear: EarPrescription) -> str:
    """Return what is written in the picture of a prescription."""
    figure = prescription_figure([ear], "", "")
    return " ".join(text.get_text() for text in figure.findobj(Text))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ear", "right"], "the right ear was not tested; tested: left"),
        (["-o", "gain.doc"], "allowed is a name in .svg, .pdf, .png, .json, .cfg"),
        (["-o", "nowhere/gain.svg"], "in a directory that is there"),
    ],
)
def test_what_cannot_be_is_named(words: list[str], said: str, refused: Refused) -> None:
    assert said in refused("prescribe", LEFT_S2, *words)
