"""`gp-pta prescribe --discomfort`: what somebody measured sets the most output, and is told."""

from pathlib import Path

import pytest

from device.hearing_aid.fit_file import read_fit
from device.hearing_aid.limits import CLOSED
from host_tools.catalogue import language_of
from host_tools.commands.prescribe.ear_prescription import fit_of_ears, prescribe_ears
from host_tools.commands.prescribe.from_session import source_of_session
from host_tools.commands.prescribe.own_discomfort import with_levels
from host_tools.commands.prescribe.paper import Sheet
from host_tools.commands.prescribe.remarks import remark_rows
from tests.host.commands.prescribe.as_figures import bands_of
from tests.host.commands.prescribe.as_figures import figures as figures_of
from tests.host.journals import BOTH, GpPta, Refused, recorded_calibrated
from tests.host.reports import blocks

LEVELS = "left 1000:85 2000:>110 (Dr Cox, 2026-11-02)"
CLINIC = """\
Name,R500,R1000,R2000,R4000,L500,L1000,L2000,L4000,R_ucl1000,L_ucl1000,L_ucl8000
Ann,30,40,50,60,35,45,55,65,105,>110,90
"""


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.csv"
    path.write_text(CLINIC)
    return path


def test_levels_of_one_ear_set_the_most_output_of_both(gp_pta: GpPta, tmp_path: Path) -> None:
    usual = figures_of(gp_pta, str(BOTH))
    path = tmp_path / "aid.fit"
    found = figures_of(gp_pta, str(BOTH), "--discomfort", LEVELS, "-o", str(path))
    left, right = bands_of(found, "left"), bands_of(found, "right")
    assert {f: left[f]["discomfort_mark"] for f in (500, 1000, 2000)} == {
        500: "inferred", 1000: "measured", 2000: "at-least",
    }  # fmt: skip
    assert {each["discomfort_mark"] for each in right.values()} == {"inferred"}
    assert {b["discomfort_mark"] for b in bands_of(usual, "left").values()} == {"of-others"}
    (told,) = [each["discomfort_told"] for each in found["ears"] if each["ear"] == "left"]
    assert (told["source"], told["day"]) == ("Dr Cox", "2026-11-02")
    assert told["levels"][1] == {"frequency_hz": 2000, "level_db_hl": 110.0, "above": True}
    for ear in ("left", "right"):
        for f, band in bands_of(found, ear).items():
            assert band["output_max_db_spl"] > bands_of(usual, ear)[f]["output_max_db_spl"]
            middle, low = band["own_discomfort_db_spl"], band["own_discomfort_low_db_spl"]
            assert low < middle < band["own_discomfort_high_db_spl"]
            assert band["output_max_db_spl"] <= band["discomfort_db_spl"] + 0.06
    for fitted in read_fit(path).ears:
        for aid in fitted.bands:
            of_sheet = bands_of(found, fitted.ear)[round(aid.center_hz)]
            assert aid.output_max_db_spl == of_sheet["output_max_db_spl"]


def test_the_sheet_has_what_was_measured_and_says_what_was_inferred() -> None:
    source = source_of_session(recorded_calibrated(BOTH))
    source = with_levels(source, LEVELS, None, anyway=False)
    ears = prescribe_ears(source, "nal-r", CLOSED)
    fit = fit_of_ears(ears)
    assert source.session is not None
    paper = Sheet(source.session, ears, fit).paper()
    (tables,) = blocks(paper, "tables")
    rows = {
        table["of"]: {name["code"]: cells for name, cells in table["rows"]}
        for table in tables["tables"]
    }
    measured = [cell["code"] for cell in rows["left"]["discomfort-measured"]]
    at = [ears[0].frequencies_hz.index(f) for f in (1000, 2000)]
    assert [measured[k] for k in at] == ["level", "level-above"]
    assert set(measured) == {"no-value", "level", "level-above"}
    assert "discomfort-measured" not in rows["right"]
    told = {each["code"]: each for each in remark_rows(ears, fit)}
    assert told["discomfort-told"]["by"]["told"] == "Dr Cox, 2026-11-02"
    assert "output-spread" not in told
    assert 3.0 < told["output-own"]["low"] < told["output-own"]["high"] < 9.0
    assert told.keys() <= language_of("nl").sentences.keys()


def test_levels_are_columns_of_a_table_with_those_that_do_not_count_named(
    gp_pta: GpPta, clinic: Path
) -> None:
    found = figures_of(gp_pta, "--audiogram", f"{clinic}:Ann")
    assert bands_of(found, "right")[1000]["discomfort_mark"] == "measured"
    assert bands_of(found, "left")[1000]["discomfort_mark"] == "at-least"
    said = " ".join(found["remarks"])
    assert "levels of discomfort at 8000 Hz do not count" in said
    assert "> 110 dB HL at 1000 Hz" in said


def test_a_row_of_a_table_tells_of_a_session_unless_it_is_of_another_person(
    gp_pta: GpPta, clinic: Path, tmp_path: Path, refusal_of: Refused
) -> None:
    row = ("--discomfort", f"{clinic}:Ann")
    found = figures_of(gp_pta, str(BOTH), *row)
    assert bands_of(found, "right")[1000]["discomfort_mark"] == "measured"
    bob = tmp_path / "bob.csv"
    bob.write_text(CLINIC.replace("Ann", "Bob"))
    why = refusal_of("prescribe", "--audiogram", f"{bob}:1", *row)
    assert "is of Ann, and" in why
    assert "of Bob; allowed are levels of one person" in why
    clinic.write_text("Name,R_ucl500,R500,level_unit\nAnn,100,10,dB SPL\n")
    assert "its levels are no dB HL: dB SPL; allowed are" in refusal_of(
        "prescribe", str(BOTH), *row
    )
    clinic.write_text("Name,R500,R1000\nAnn,10,20\n")
    assert "has no level of an ear" in refusal_of("prescribe", str(BOTH), *row)


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ("left 4000:55", "discomfort of the left ear, 4000:55, is at or below the threshold"),
        ("right 1000:130", ""),
        ("left 1000:95 dB SPL", "dB SPL are none"),
        ("nobody.csv:1", "is 'nobody.csv:1'; allowed are levels of tones"),
        (f"right 1000:95 ({'a' * 260}: 3)", ""),
        (f"right {'9' * 400}:95", "allowed are levels of tones in dB HL"),
        ("right 1000:95 (in dB SPL)", "dB SPL are none"),
        ("right 1000:95 (narrow-band noise)", "a level of noise or speech has no frequency"),
        ("right 1000:95 (2026-02-29)", "discomfort day is '2026-02-29'; allowed is one such as"),
        ("right 1000:95 (2026-2-3)", "discomfort day is '2026-2-3'; allowed is one such as"),
        ("right 1000:95 (2026-11-02, 2026-11-03)", "allowed is one"),
    ],
)
def test_what_is_rather_a_mistake_is_refused_until_it_is_meant(
    levels: str, words: str, gp_pta: GpPta, refusal_of: Refused
) -> None:
    asked = ("prescribe", str(BOTH), "--discomfort", levels)
    if not words:
        assert gp_pta(*asked)[0] == 0
        return
    why = refusal_of(*asked)
    assert words in why
    if "--discomfort-anyway takes it" in why:
        assert gp_pta(*asked, "--discomfort-anyway")[0] == 0


def test_far_above_the_usual_is_asked_and_an_ear_without_thresholds_is_named(
    gp_pta: GpPta, tmp_path: Path, refusal_of: Refused
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("R500,R1000,R2000,R4000\n-10,-10,-10,-10\n")
    asked = ("prescribe", "--audiogram", f"{path}:1", "--discomfort")
    why = refusal_of(*asked, "right 500:130")
    assert "is more than 40 dB above 87 dB HL, which is expected of these thresholds" in why
    code, said, _ = gp_pta(*asked, "left 500:90")
    assert code == 0
    assert "its levels of discomfort do not count, since no threshold of it is known" in said


def test_what_levels_mean_at_nominal_ones_is_not_known(
    gp_pta: GpPta, tmp_path: Path, refusal_of: Refused
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("R500,R1000,R2000,R4000,level_unit\n10,10,30,40,nominal\n")
    asked = ("prescribe", "--audiogram", f"{path}:1", "--discomfort", "right 1000:95")
    assert "--uncalibrated" in refusal_of(*asked)
    code, said, _ = gp_pta(*asked, "--uncalibrated")
    assert code == 0
    assert "what the measured levels of discomfort mean for this aid is not known" in " ".join(
        said.split()
    )


def test_no_level_makes_a_fit_that_no_aid_may_get(gp_pta: GpPta, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    ucl = ",".join(f"R_ucl{f}" for f in (500, 1000, 2000, 4000))
    path.write_text(f"R500,R1000,R2000,R4000,{ucl}\n-10,-10,-10,-10,0,0,0,0\n")
    found = bands_of(figures_of(gp_pta, "--audiogram", f"{path}:1"), "right")
    assert min(band["output_max_db_spl"] for band in found.values()) == 0.0


def test_the_level_of_the_other_ear_counts_though_one_is_fitted_alone(
    gp_pta: GpPta, tmp_path: Path, refusal_of: Refused
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "R500,R1000,R2000,R4000,L500,L1000,L2000,L4000,L_ucl1000\n40,40,50,60,40,40,50,60,70\n"
    )
    of_both = bands_of(figures_of(gp_pta, "--audiogram", f"{path}:1"), "right")
    alone = figures_of(gp_pta, "--audiogram", f"{path}:1", "--ear", "right")
    assert bands_of(alone, "right")[1000]["output_max_db_spl"] == pytest.approx(
        of_both[1000]["output_max_db_spl"]
    )
    assert "discomfort measured elsewhere" in " ".join(alone["remarks"])
    path.write_text("ear,t500,t1000,ucl1000\n,40,40,100\n")
    assert "has no level of an ear" in refusal_of(
        "prescribe", str(BOTH), "--discomfort", f"{path}:1"
    )


def test_a_level_without_a_limit_does_not_count_and_is_named(gp_pta: GpPta, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("R500,R1000,R2000,R4000,R_ucl1000\n40,40,50,60,NR\n")
    said = " ".join(figures_of(gp_pta, "--audiogram", f"{path}:1")["remarks"])
    assert "levels of discomfort at 1000 Hz do not count: up to which level" in said


def test_the_gains_that_are_shown_lie_within_the_most_that_is_shown(gp_pta: GpPta) -> None:
    levels = "right 500:130 1000:0 2000:130 4000:0"
    asked = (str(BOTH), "--rule", "camfit", "--discomfort", levels, "--discomfort-anyway")
    for ear in figures_of(gp_pta, *asked)["ears"]:
        for band in ear["bands"]:
            assert band["gain_db"] <= band["gain_max_db"] + 0.011
            off_db = band["gain_db"] + band["limit_takes_db"] - band["rule_gain_db"]
            assert off_db == pytest.approx(0.0, abs=0.9)  # the table rounds a knee off
