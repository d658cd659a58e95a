"""CSV has numbers where it says numbers, in three forms; Parquet has everything.

The form of NHANES has its codes, and reads back.
"""

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from device.audiogram_tables.ears import AudiogramError
from device.simulator.audiograms import audiogram_named
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.air_bone_gap import gaps_of
from firmware_py.findings.whole_band import USUAL
from firmware_py.operator.replies import result_words
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.person import Person
from firmware_py.terms.route import Route
from host_tools.commands.export.cells import COMMA, POINT, SEMICOLON, TAB, Spelling, spelling_of
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.threshold_rows import COLUMNS
from tests.budget import quick
from tests.host.commands.export.sessions import (
    JOURNALS,
    SILENT,
    UNRELIABLE,
    as_csv,
    as_nhanes_csv,
    as_parquet,
    as_tidy_csv,
    inferred_and_confirmed,
    session_with_bone,
    session_with_marks,
    with_vibrator,
)
from tests.host.journals import BOTH

# The codebook of NHANES, AUX_I: right ear, left ear.
NAMES: Final = {
    500: "500", 1000: "1K1", 2000: "2K", 3000: "3K", 4000: "4K", 6000: "6K", 8000: "8K",
}  # fmt: skip
NHANES: Final = {hz: (f"AUXU{name}R", f"AUXU{name}L") for hz, name in NAMES.items()}


def rows_of(*examinations: Examination) -> list[dict[str, str]]:
    return read(as_csv(examinations))


def nhanes_rows(*examinations: Examination) -> list[dict[str, str]]:
    return read(as_nhanes_csv(examinations))


def tidy_rows(*examinations: Examination) -> list[dict[str, str]]:
    return read(as_tidy_csv(examinations, Spelling()))


def parquet_rows(*examinations: Examination) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        pa.BufferReader(as_parquet(examinations))
    ).to_pylist()
    return rows


def every_session() -> list[Examination]:
    made = [session_with_marks(), inferred_and_confirmed(), session_with_bone()]
    return [*made, *map(read_examination, JOURNALS)]


def read(content: bytes, separator: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode()), delimiter=separator))


def test_a_column_of_numbers_has_numbers_only_and_a_word_beside_it() -> None:
    """A mean over it is one of thresholds: no code, no limit, nothing inferred is among them."""
    for examination in every_session():
        (row,) = rows_of(examination)
        for ear in examination.result.ears:
            for found in ear.thresholds:
                place = f"{ear.route}_{found.frequency_hz}_hz"
                level, code = row[f"{place}_db_hl"], row[f"{place}_code"]
                assert code == found.mark
                assert (level != "") == (code == "measured")
                if level:
                    assert float(level) == pytest.approx(found.threshold_db_hl, abs=0.05)
    (row,) = rows_of(session_with_marks())
    codes = [row[f"right_{f}_hz_code"] for f in (250, 6000, 8000)]
    assert codes == ["hears-all", "incomplete", "no-response"]
    assert (row["identifier"], row["age_years"], row["sex"]) == ("患者7", "67.0", "F")


def test_tidy_csv_has_the_rows_and_columns_of_parquet() -> None:
    rows, table = tidy_rows(*every_session()), parquet_rows(*every_session())
    assert [*rows[0]] == [*table[0]]
    for row, whole in zip(rows, table, strict=True):
        for name, value in whole.items():
            if isinstance(value, float):
                assert float(row[name]) == pytest.approx(value, abs=0.05)
            elif isinstance(value, bool):
                assert row[name] == ("yes" if value else "no")
            elif isinstance(value, list):
                assert row[name] == "; ".join(map(str, value))
            else:
                assert row[name] == ("" if value is None else str(value))
    doubted = {row["frequency_hz"] for row in rows if row["other_ear_may_have_heard"] == "yes"}
    assert "4000" in doubted
    assert {row["masked"] for row in rows if row["kind"] == "inferred"} == {""}


@pytest.mark.parametrize(
    ("separator", "decimal", "between"),
    [(None, POINT, ","), (None, COMMA, ";"), (SEMICOLON, COMMA, ";"), (TAB, COMMA, "\t"),
     (SEMICOLON, POINT, ";")],
)  # fmt: skip
def test_separator_and_decimal_sign_change_nothing_but_the_spelling(
    separator: str | None, decimal: str, between: str
) -> None:
    spelling = spelling_of(separator, decimal)
    for write in (as_csv, as_nhanes_csv, as_tidy_csv):
        (usual, *_), (row, *_) = (
            read(write([inferred_and_confirmed()], each), each.separator)
            for each in (Spelling(), spelling)
        )
        assert spelling.separator == between
        assert [*row] == [*usual]
        for name, cell in usual.items():
            number = re.fullmatch(r"-?\d+\.\d", cell)
            listed = name.startswith(("bands_", "inferred_")) and " to " in cell
            comma = decimal == COMMA and (number or listed)
            assert row[name] == (cell.replace(".", ",") if comma else cell)


def test_marks_have_the_codes_of_nhanes_and_are_said_in_words() -> None:
    (row,) = nhanes_rows(session_with_marks())

    assert (row["AUXU250R"], row["AUXU6KR"], row["AUXU8KR"]) == ("-10.0", "888", "666")
    assert row["marks_right"] == (
        "250 hears-all <=-10; 4000 masking: uncertain, air_bone_gap_db: 25.5; "
        "6000 incomplete 90; 8000 no-response >90"
    )
    assert (row["marks_left"], row["calibration"]) == ("", "CALIBRATED")
    assert (row["identifier"], row["RIDAGEYR"], row["RIAGENDR"]) == ("患者7", "67.0", "2")


def test_an_ear_that_was_not_asked_is_blank_and_one_that_could_not_be_tested_has_no_number(
    deaf_ear: Path,
) -> None:
    deaf, *untested = nhanes_rows(*map(read_examination, (deaf_ear, SILENT, UNRELIABLE)))

    for row in (deaf, *untested):
        assert {row[right] for right, _ in NHANES.values()} == {""}
        assert row["calibration"] == "SIMULATED"
    assert {deaf[left] for _, left in NHANES.values()} == {"666"}
    for row in untested:
        assert {row[left] for _, left in NHANES.values()} == {"888"}
        assert "666" not in row.values()


def test_one_ear_is_read_back_for_both_and_none_that_could_not_be_tested(
    tmp_path: Path, deaf_ear: Path
) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(as_nhanes_csv([read_examination(BOTH), read_examination(deaf_ear)]))
    audiograms = audiogram_named(f"{path}:2")

    assert audiograms["right"].thresholds_db_hl == audiograms["left"].thresholds_db_hl
    assert audiograms["right"].makes_up(1000.0), "and what is made up is not called known"
    assert math.isinf(audiograms["left"].threshold_db_hl(1000))
    path.write_bytes(as_nhanes_csv([read_examination(BOTH), read_examination(SILENT)]))
    with pytest.raises(AudiogramError, match="row 2: no threshold in it"):
        audiogram_named(f"{path}:2")


def test_parquet_has_every_threshold_of_every_session_in_full() -> None:
    examinations = every_session()
    rows = parquet_rows(*examinations)
    wanted = [
        (examination, ear, threshold)
        for examination in examinations
        for ear in examination.result.ears
        for threshold in ear.thresholds
    ]
    for row, (examination, ear, threshold) in zip(rows, wanted, strict=True):
        assert (row["journal"], row["ear"]) == (examination.journal, str(ear.route))
        for key in ("frequency_hz", "mark", "limit_db_hl"):
            assert row[key] == getattr(threshold, key)
        inferred = threshold.mark == "inferred"
        assert ("inferred" in row["marks"]) == inferred
        assert not inferred or row["sd_db"] is row["high_db_hl"] is row["limit_db_hl"] is None
        names = ("threshold_db_hl", "inferred_db_hl"), ("low_db_hl", "inferred_low_db_hl")
        for measured, other in names:
            number = getattr(threshold, measured)
            if number is not None and threshold.floor_db_hl is not None:
                number = max(number, threshold.floor_db_hl)  # no tone was ever softer
            assert (row[measured], row[other]) == ((None, number) if inferred else (number, None))
    states = {row["calibration_words"] for row in rows}
    assert states == {
        "UNCALIBRATED: levels are nominal",
        "CALIBRATED (simulated board)",
        "CALIBRATED: 2026-01-02, due 2026-12-31",
    }
    marks = next(row["marks"] for row in rows if row["frequency_hz"] == 4000)
    assert marks == ["masking: uncertain", "air_bone_gap_db: 25.5"]

    alone = parquet_rows(inferred_and_confirmed())
    of = {row["frequency_hz"]: row for row in alone if row["ear"] == "right"}
    assert of[500]["pta4_inferred_hz"] == [2000]
    again = {f: (of[f]["confirmed_db_hl"], of[f]["confirmed_mark"]) for f in (500, 1000, 8000)}
    assert again == {500: (None, None), 1000: (35.0, "measured"), 8000: (None, "no-response")}


def test_what_was_inferred_is_blank_under_the_names_of_nhanes() -> None:
    examination = inferred_and_confirmed()
    (row,) = nhanes_rows(examination)
    (found,) = [t for t in examination.result.ears[0].thresholds if t.frequency_hz == 2000]
    whole = USUAL.of(Route("right"), found)
    assert whole is not None
    both = f"whole {whole.low_db_hl:.1f} to {whole.high_db_hl:.1f}"
    band = f"({found.low_db_hl:.1f} to {found.high_db_hl:.1f}, {both})"

    assert (row["AUXU2KR"], row["AUXU750R"]) == ("", "")
    assert row["AUXU2KL"] != ""
    assert row["marks_right"] == "750 inferred; 2000 inferred"
    assert row["inferred_right"].split("; ")[1] == f"2000 {found.threshold_db_hl:.1f} {band}"
    assert row["confirmed_right"] == "1000 35; 8000 no-response"
    assert (row["inferred_left"], row["confirmed_left"]) == ("", "")
    assert f"{both}, " not in row["bands_right"]
    assert re.match(r"250 [\d.]+ to [\d.]+, whole [\d.]+ to [\d.]+, fit; 500", row["bands_right"])


@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_a_text_that_a_spreadsheet_would_run_has_an_apostrophe_before_it(sign: str) -> None:
    examination = read_examination(BOTH)
    header = replace(examination.header, firmware=f"{sign}1+1", person=Person(identifier="-17"))
    (row,) = rows_of(replace(examination, header=header, journal=f"{sign}cmd|' /C calc'!A0"))

    assert row["journal"] == f"'{sign}cmd|' /C calc'!A0"
    assert row["firmware"] == f"'{sign}1+1"
    assert row["identifier"] == "'-17"


@pytest.mark.parametrize("sign", quick(["=", "+", "-", "@"], "=", "@"))
@pytest.mark.parametrize("separator", quick([";", "\t", "|", " "], ";", "\t"))
@pytest.mark.parametrize(
    "text",
    ["0.1.0{0}{1}cmd|' /C calc'!A0", '0.1.0{0}"{1}1+1{0}', "0.1.0{0} {1}1", "0.1.0{0}{1}{1}1",
     '0.1.0"{0}{1}1'],
    ids=["bare", "quoted", "indented", "twice", "after a quote"],
)  # fmt: skip
def test_no_text_runs_whatever_separates_the_cells(text: str, separator: str, sign: str) -> None:
    """A semicolon is the separator of lists where the comma is that of decimals."""
    told = text.format(separator, sign)
    examination = read_examination(BOTH)
    header = replace(examination.header, firmware=told)
    table = as_csv([replace(examination, header=header, journal=f"{told}.journal")]).decode()
    begin_so = [
        cell
        for row in csv.reader(io.StringIO(table), delimiter=separator)
        for cell in row
        if cell.strip().startswith(sign)
    ]
    (row,) = csv.DictReader(io.StringIO(table))

    assert begin_so == []
    assert re.sub(f"'(?={re.escape(sign)})", "", row["firmware"]) == told, "it can be taken off"


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_what_is_ours_begins_with_nothing_that_runs(path: Path) -> None:
    """Only numbers begin with a minus, and no text needs an apostrophe."""
    (row,) = rows_of(read_examination(path))
    for cell in row.values():
        assert "'" not in cell
        assert not cell.startswith("-") or math.isfinite(float(cell))
        for part in cell.split(";"):
            assert not part.strip().startswith(("=", "+", "@"))


def test_bone_has_columns_of_its_own_where_it_was_tested() -> None:
    without, with_it = inferred_and_confirmed(), session_with_bone()
    (air_only,), (both,) = rows_of(without), rows_of(with_it)
    added = [name for name in both if name not in air_only]

    assert not any("bone" in name for name in air_only)
    assert [name for name in both if name in air_only] == [*air_only], "in the same order"
    assert {n for n in added if n.endswith("_db_hl")} == {
        f"{ear}-bone_{f}_hz_db_hl"
        for ear in ("right", "left")
        for f in (250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000)
    }
    assert both["right-bone_6000_hz_code"] == "", "its vibrator has no levels there"
    by_air, by_bone = both["right_1000_hz_db_hl"], both["right-bone_1000_hz_db_hl"]
    assert float(by_air) - float(by_bone) == pytest.approx(30.0, abs=0.1)
    assert (both["right-bone_4000_hz_db_hl"], both["right-bone_4000_hz_code"]) == (
        "",
        "no-response",
    )
    assert both["right-bone_2000_hz_db_hl"] == ""
    assert both["loss_right"] in ("conductive", "mixed")
    assert both["loss_left"] == "sensorineural"
    assert re.search(r"(^|; )1000 30\.0 \(\S+ to \S+\)(; |$)", both["air_bone_gap_db_right"])
    assert " <=" in both["air_bone_gap_db_right"], "nothing was heard by bone at 4 kHz"
    (first, second) = rows_of(without, with_it)
    assert [*first] == [*second] == [*both]
    assert {first[name] for name in added} == {""}


def test_an_inferred_gap_stands_in_brackets_and_is_said_to_be() -> None:
    (row,) = rows_of(session_with_bone())
    told = dict(each.split(" ", 1) for each in row["air_bone_gap_db_right"].split("; "))

    assert re.fullmatch(r"30\.0 \(\S+ to \S+\)", told["1000"])
    assert re.fullmatch(r"\(30\.0\) \(\S+ to \S+\) inferred", told["2000"]), "no tone by bone"
    assert [hz for hz in told if "inferred" in told[hz]] == ["2000"]
    assert "inferred" not in row["air_bone_gap_db_left"]


def test_a_row_by_bone_has_the_gap_and_the_type_of_loss() -> None:
    examination = session_with_bone()
    table = parquet_rows(examination)
    found = {each.ear: each for each in gaps_of(examination.result, examination.convention)}
    names = [name for name in COLUMNS if name.startswith(("air_bone_gap_", "loss"))]
    assert len(names) == 9

    seen = set()
    for row in table:
        if row["conduction"] == "air":
            assert {row[name] for name in names} == {None}
            continue
        of = found[row["side"]]
        assert of.mean is not None
        assert row["loss"] == of.loss
        assert row["loss_inferred_hz"] == [*of.mean.inferred_hz]
        assert of.mean.bound == Bound.NONE
        assert row["loss_15_db_percent"] == pytest.approx(100.0 * of.mean.share)
        gap = next(g for g in of.gaps if g.frequencies_hz == (row["frequency_hz"],))
        assert row["air_bone_gap_db"] == gap.db
        assert (row["air_bone_gap_low_db"], row["air_bone_gap_high_db"]) == (
            gap.low_db,
            gap.high_db,
        )
        assert row["air_bone_gap_bound"] == gap.bound
        percent = None if gap.bound != Bound.NONE else pytest.approx(100.0 * gap.share)
        assert row["air_bone_gap_15_db_percent"] == percent, "no probability of a bound"
        assert row["air_bone_gap_inferred"] == bool(gap.inferred_hz)
        seen.add((row["side"], row["air_bone_gap_inferred"], row["air_bone_gap_bound"]))
    assert {("right", True, "none"), ("right", False, "none"), ("left", False, "none")} < seen
    assert any(bound == "at-most" for _, _, bound in seen)


def test_the_transducer_of_a_row_by_bone_is_the_vibrator() -> None:
    examination = session_with_bone()

    def names_in(of: Examination) -> set[tuple[str, str]]:
        return {(row["conduction"], row["transducer"]) for row in tidy_rows(of)}

    named = with_vibrator(examination)
    assert names_in(named) == {("air", "TDH39"), ("bone", "Radioear B71, B-1")}
    assert names_in(examination) == {("air", "simulated"), ("bone", "")}, "none is calibrated"
    (row,), (without,) = rows_of(named), rows_of(inferred_and_confirmed())
    assert (row["transducer"], row["vibrator"]) == ("TDH39", "Radioear B71, B-1")
    assert "vibrator" not in without


def test_a_device_tells_no_gap_of_nominal_levels() -> None:
    calibrated = session_with_bone()
    nominal = replace(calibrated.header, calibration=CalibrationInForce())
    of_device = [
        json.loads(result_words(calibrated.result, header, named=False))
        for header in (calibrated.header, nominal)
    ]
    assert ["air_bone_gaps" in each for each in of_device] == [True, False]


def test_a_row_a_threshold_says_by_which_route() -> None:
    rows = parquet_rows(session_with_bone())

    places = [(row["ear"], row["frequency_hz"]) for row in rows]
    assert len(places) == len(set(places)) == 2 * 10 + 2 * 8
    assert sum(ear == "right-bone" for ear, _ in places) == 8
    # Tidy: each variable in a column of its own, which together are the ear.
    parts = {(row["ear"], row["side"], row["conduction"]) for row in rows}
    assert parts == {
        ("right", "right", "air"), ("left", "left", "air"),
        ("right-bone", "right", "bone"), ("left-bone", "left", "bone"),
    }  # fmt: skip
    beyond = next(row for row in rows if (row["ear"], row["frequency_hz"]) == ("right-bone", 4000))
    assert (beyond["kind"], beyond["limit_db_hl"], beyond["masked"]) == ("above", 80.0, False)
