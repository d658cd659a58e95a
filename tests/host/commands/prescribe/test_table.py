"""`gp-pta prescribe --audiogram`: the table's numbers, no band, and nothing that is not known."""

import json
import shlex
from pathlib import Path
from typing import Any, Final

import pytest

from device.hearing_aid.fit_file import read_fit
from device.hearing_aid.limits import CLOSED
from firmware_py.findings.rows import row
from host_tools.catalogue import language_of
from host_tools.commands.prescribe.from_table import source_of_table
from host_tools.commands.prescribe.prescription import Prescription
from tests.host.commands.prescribe.as_figures import bands_of, figures
from tests.host.journals import BOTH, LEFT_S2, GpPta, Refused

CLINIC: Final = """\
Name,R250,R500,R1000,R2000,R4000,R6000,R8000,L250,L500,L1000,L2000,L4000,L6000,L8000
Ann,20,30,40,50,60,,70,25,35,45,55,65,70,>90
Bob,20,30,40,NR,60,,70,,,,,,,
"""


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.csv"
    path.write_text(CLINIC)
    return path


def figures_of(gp_pta: GpPta, *arguments: str) -> Any:
    return figures(gp_pta, "--audiogram", *arguments)


def remarks_of(named: str, ear: str | None = None, rule: str = "nal-r") -> list[Any]:
    return Prescription.of(source_of_table(named, ear), rule, CLOSED, ear).remarks


def test_the_thresholds_of_a_session_prescribe_the_same_from_a_table_without_bands(
    gp_pta: GpPta, clinic: Path
) -> None:
    code, out, _ = gp_pta("prescribe", BOTH, "--rule", "nal-rp", "--ear", "left", "--json")
    assert code == 0
    wanted = bands_of(json.loads(out), "left")
    header, levels = (
        ",".join(f"{sign}{band[name]}" for band in wanted.values())
        for sign, name in (("t", "frequency_hz"), ("", "threshold_db_hl"))
    )
    clinic.write_text(f"ear,{header}\nL,{levels}\n")
    figures = figures_of(gp_pta, f"{clinic}:1", "--rule", "nal-rp")
    found = bands_of(figures, "left")
    assert found.keys() == wanted.keys()
    for frequency_hz, band in found.items():
        of_session = wanted[frequency_hz]
        ends = {name for name in of_session if "_low" in name or "_high" in name}
        assert band.keys() == of_session.keys() > ends
        assert {band[name] for name in ends} == {None}, "how sure they are nobody knows"
        same = of_session.keys() - ends - {"mark", "wide"}
        numbers = {name for name in same if isinstance(band[name], float)}
        assert all(band[name] == of_session[name] for name in same - numbers)
        assert all(band[name] == pytest.approx(of_session[name], abs=0.03) for name in numbers)
    assert {told["uncertainty_sd_db"] for told in figures["tuning"].values()} == {None}


def test_nothing_is_made_up_for_what_is_not_known_and_no_figure_has_a_band(
    gp_pta: GpPta, clinic: Path
) -> None:
    figures = figures_of(gp_pta, f"{clinic}:1")

    assert [*bands_of(figures, "right")] == [*bands_of(figures, "left")]
    assert 6000 not in bands_of(figures, "left")
    right, left = figures["ears"]
    assert (right["not_known_hz"], right["left_out_hz"]) == ([6000.0], [])
    assert (left["not_known_hz"], left["left_out_hz"]) == ([], [6000.0])
    assert not any(each["probabilities"] for each in figures["for_whom"])
    assert figures["measured_here"] is False
    about, *said = remarks_of(f"{clinic}:1")
    assert about["code"] == "table-about"
    assert row("lacking-not-known", ear="right", side="right", frequencies_hz=[6000.0]) in said
    assert row("lacking-of-other", ear="left", side="left", frequencies_hz=[6000.0]) in said
    assert "--ear left fits this one alone" in " ".join(figures["remarks"])
    alone = figures_of(gp_pta, f"{clinic}:1", "--ear", "left")
    assert bands_of(alone, "left")[6000]["threshold_db_hl"] == 70.0


def test_no_response_is_the_limit_where_the_table_tells_it_and_nothing_where_not(
    gp_pta: GpPta, clinic: Path
) -> None:
    figures = figures_of(gp_pta, f"{clinic}:Ann")
    band = bands_of(figures, "left")[8000]
    assert (band["threshold_db_hl"], band["mark"]) == (90.0, "no-response")
    assert {"ear": "left", "code": "not-heard-at", "frequencies_hz": [8000.0],
            "probabilities": []} in figures["for_whom"]  # fmt: skip

    bob = figures_of(gp_pta, f"{clinic}:Bob", "--rule", "half-gain")
    assert [ear["ear"] for ear in bob["ears"]] == ["right"]
    assert 2000 not in bands_of(bob, "right")
    assert bob["ears"][0]["no_response_without_limit_hz"] == [2000.0]
    told = {each["code"]: each for each in remarks_of(f"{clinic}:Bob", rule="half-gain")}
    assert told["lacking-no-limit"]["frequencies_hz"] == [2000.0]

    code, shown, _ = gp_pta("prescribe", "--audiogram", f"{clinic}:Ann")
    assert code == 0
    assert "> 90" in shown
    assert "≥" in shown
    assert "95 %" not in shown


def test_what_a_mean_lacks_and_what_is_above_every_band_of_an_aid_is_said(
    gp_pta: GpPta, clinic: Path
) -> None:
    clinic.write_text("ear,t500,t2000,t8000,t12500,t16000\nR,30,50,60,70,NR\n")
    figures = figures_of(gp_pta, f"{clinic}:1")
    assert [*bands_of(figures, "right")] == [500, 2000, 8000]
    (ear,) = figures["ears"]
    assert (ear["left_out_hz"], ear["above_all_bands_hz"]) == ([], [12500, 16000])
    told = {each["code"]: each for each in remarks_of(f"{clinic}:1")}
    assert told["lacking-above-bands"]["frequencies_hz"] == [12500.0, 16000.0]
    assert told["gains-for"]["frequencies_hz"] == [500, 2000, 8000]
    assert told["mean-lacks"]["frequencies_hz"] == [1000.0]
    assert told.keys() <= language_of("es").sentences.keys()


def test_files_for_aids_say_where_the_numbers_are_from(
    gp_pta: GpPta, clinic: Path, tmp_path: Path
) -> None:
    outs = [tmp_path / f"aid{ending}" for ending in (".fit", ".cfg", ".json", ".librepods.json")]
    gp_pta("prescribe", "--audiogram", f"{clinic}:Ann", *(f"-o{out}" for out in outs))

    fit = read_fit(outs[0])
    assert (fit.of.person, fit.of.session, fit.of.calibration) == ("Ann", None, None)
    assert "clinic.csv, row 1" in fit.source
    assert not any(found.probabilities for found in fit.for_whom)
    assert "were not measured here" in outs[1].read_text()
    assert json.loads(outs[2].read_text())["measured_here"] is False
    assert json.loads(outs[3].read_text())["leftEQ"][0] == 25.0
    assert json.loads(outs[3].read_text())["rightEQ"][5] == 60.0


@pytest.mark.parametrize(
    ("table", "arguments", "words"),
    [
        ("t500\n10\n", ["{}:2"], "row 2 is not there, allowed are 1 to 1"),
        ("ear,t500\nR,10\n", ["{}:1", "--ear", "left"], "is of the right ear; asked for is the l"),
        ("ear,t500,t1000\nR,1,2\n", ["{}:1"], "nal-r needs the thresholds from 500 to 2000 Hz"),
        ("id,ear,t500\n1,R,1\n2,L,2\n", ["{}:1,{}:2"], "are of 1 and 2; allowed are the ears of"),
        ("ear,t500\nR,x\n", ["{}:1"], "row 1, column t500: 'x' is not a number of dB HL"),
        ("hz,ear,level,verdict\n500,R,1,doubtful\n", ["{}:1"], "its test is not valid: doubtful"),
        ("hz,ear,level,level_unit\n500,R,1,nominal\n", ["{}:1"], "--uncalibrated makes a fit of"),
        ("ear,t500\nR,10\n", ["{}:1", "--rule", "half-gain", "-oa.pdf"], "allowed are .fit, .cfg"),
        ("ear,t500\nR,10\n", ["{}:1", "-oa.easyeffects.json"], "a table does not say it"),
        ("ear,t500\nR,NR\n", ["{}:1"], "at no frequency up to 8000 Hz is a level known, so"),
        ("R500,L1000\n1,2\n", ["{}:1"], "is a level known of both ears, so nothing is"),
        ("ear,t500\nR,10\n", ["{}:1", "--against", "camfit"], "--audiogram and --against: one of"),
        ("ear,t500\nR,10\n", ["{}:1", "--tuning", "t"], "--audiogram and --tuning: one of them"),
        ("ear,t500\nR,10\n", ["{}:1", "--unfinished"], "--audiogram and --unfinished: one of"),
        ("ear,t500\nR,10\n", ["{}:1", str(LEFT_S2)], "--audiogram and a journal: one of them"),
    ],
)  # fmt: skip
def test_what_cannot_be_prescribed_is_refused(
    refusal_of: Refused, tmp_path: Path, table: str, arguments: list[str], words: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(table)
    named = [argument.replace("{}", str(path)) for argument in arguments]
    assert words in refusal_of("prescribe", "--audiogram", *named)


def test_columns_that_have_to_be_said_are_taken_as_proposed(
    gp_pta: GpPta, refusal_of: Refused, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("L AC 500 Hz,L AC 1 kHz,L AC 2 kHz,L BC 500 Hz\n30,40,50,5\n")
    why = refusal_of("prescribe", "--audiogram", f"{path}:1")
    (columns,) = shlex.split(why.partition("--columns ")[2])
    figures = figures_of(gp_pta, f"{path}:1", "--columns", columns)
    levels = {f: band["threshold_db_hl"] for f, band in bands_of(figures, "left").items()}
    assert levels == {500: 30.0, 1000: 40.0, 2000: 50.0}


def test_levels_that_are_no_db_hl_are_taken_where_that_is_wanted_and_said(
    gp_pta: GpPta, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("hz,ear,level,level_unit\n500,R,20,nominal dB\n1000,R,30,nominal dB\n")
    figures = figures_of(gp_pta, f"{path}:1", "--rule", "half-gain", "--uncalibrated")
    assert figures["of"]["calibration"] == "UNCALIBRATED"
    assert [found["code"] for found in figures["for_whom"]] == ["not-judged"]
    assert any("it is no prescription" in remark for remark in figures["remarks"])


@pytest.mark.parametrize(
    ("levels", "rule", "apart", "near"),
    [
        ((60, 70, 80, 94, 100), "nal-rp", False, "left"),
        ((20, 25, 40, 80, 90), "nal-r", True, None),
        ((60, 70, 80, 80, 80), "nal-rp", True, None),
        ((10, 12, 15, 20, 25), "nal-r", False, None),
    ],
)
def test_gains_that_change_at_once_are_named(
    levels: tuple[int, ...], rule: str, apart: bool, near: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "one.csv"
    path.write_text(f"ear,t250,t500,t1000,t2000,t4000\nL,{','.join(map(str, levels))}\n")
    told = {each["code"]: each for each in remarks_of(f"{path}:1", rule=rule)}
    assert ("gains-apart" in told) == apart
    if apart:
        places = told["gains-apart"]["by_ear"][0]["places"]
        assert all(each["level"] > 10 for each in places)
    assert told.get("nal-rp-step", {}).get("ear") == near
