"""dB HL to dBFS by hand, between the points, and all that a calibration file may not say."""

import datetime
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.calibration import simulated
from firmware_py.calibration.calibration import Calibration, Curve
from firmware_py.calibration.fields import CalibrationError
from firmware_py.calibration.file import (
    FILE_BYTES_MAX,
    POINTS_MAX,
    TEXTS,
    calibration_from,
    read_calibration,
)
from firmware_py.calibration.in_force import (
    NO_CALIBRATION,
    CalibrationInForce,
    CalibrationOnFile,
    load_calibration,
)
from firmware_py.calibration.stated import is_standard
from firmware_py.findings.whole_band import Uncertainty
from firmware_py.installation.configuration import ConfigurationError, read_configuration
from firmware_py.operator.replies import calibration_words
from firmware_py.session.boards import serial_of
from firmware_py.sessions.archive import recorded_result
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.calibration_states import CALIBRATED, OVERDUE, SIMULATED, UNCALIBRATED
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import AIR, BY_AIR, Route
from firmware_py.terms.settings import SettingError, Settings
from tests.calibration.calibrations import DUE, MADE, calibration, content, file_text, on_file
from tests.host.journals import BOTH

RIGHT, LEFT = Route("right"), Route("left")
DAY = datetime.timedelta(days=1)
IN_THE_ALPS: dict[str, Any] = {
    "calibration.temperature_c": 22, "calibration.humidity_percent": 45,
    "calibration.pressure_kpa": 94.5,
}  # fmt: skip
EXAMPLE = Path(__file__).parents[2] / "device" / "calibration" / "example.toml"


def test_a_level_goes_over_sound_pressure_to_full_scale() -> None:
    made = calibration()
    # 40 dB HL + 7.0 (TDH39, 1 kHz) = 47 dB SPL; 0 dBFS is 121 dB SPL left, 120.5 right.
    assert made.level_dbfs(Route("left"), 1000.0, 40.0) == -74.0
    assert made.level_dbfs(Route("right"), 1000.0, 40.0) == -73.5
    # 8 kHz left: 13 + 0 - 98.
    assert made.level_dbfs(Route("left"), 8000.0, 0.0) == -85.0


def test_the_highest_level_is_what_the_maximum_leaves_in_whole_decibels() -> None:
    made = calibration()
    assert made.highest_db_hl(Route("left"), 8000.0) == 98 - 10 - 13.0
    assert made.highest_db_hl(Route("right"), 8000.0) == math.floor(99.25 - 10 - 13.0) == 76
    assert made.highest_db_hl(Route("left"), 1000.0) == 121 - 10 - 7.0


def test_between_the_points_both_curves_are_straight_over_log_frequency() -> None:
    curve = Curve((1000.0, 4000.0), (10.0, 20.0))
    assert curve.at(1000.0) == 10.0
    assert curve.at(4000.0) == 20.0
    assert curve.at(2000.0) == pytest.approx(15.0)
    assert curve.at(1000.0 * 2**0.5) == pytest.approx(12.5)
    for outside_hz in (999.0, 4001.0):
        with pytest.raises(ValueError, match="allowed is 1000 to 4000"):
            curve.at(outside_hz)
    # Half an octave above 4 kHz, towards 6 kHz: RETSPL 9.5 to 15.5, sensitivity 114 to 105.
    share = math.log2(5000 / 4000) / math.log2(6000 / 4000)
    expected = 40.0 + (9.5 + share * 6.0) - (114 - share * 9.0)
    assert calibration().level_dbfs(Route("left"), 5000.0, 40.0) == pytest.approx(
        expected, abs=0.01
    )


FREQUENCIES = st.floats(125.0, 8000.0)


@given(st.sampled_from(["left", "right"]), FREQUENCIES, st.floats(-10.0, 120.0))
def test_no_level_within_the_limit_is_told_above_the_maximum(
    ear: str, frequency_hz: float, level_db_hl: float
) -> None:
    made = calibration()
    level_db_hl = min(level_db_hl, made.highest_db_hl(Route(ear), frequency_hz))

    level_dbfs = made.level_dbfs(Route(ear), frequency_hz, level_db_hl)
    level_db_spl = level_dbfs + made.sensitivity_db_spl[Route(ear)].at(frequency_hz)

    assert level_db_spl <= made.level_max_db_spl[Route(ear)].at(frequency_hz) + 1e-6
    assert -160.0 <= level_dbfs <= -10.0 + 1e-6
    assert level_db_spl - made.retspl_db_spl[AIR].at(frequency_hz) > level_db_hl - 0.0101


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": 2}, "format is 2; this firmware knows 1"),
        ({"format": None}, "'format' is missing"),
        ({"left": None}, "'left' is missing"),
        ({"left": 3}, "'left' is 3; it has to be a table"),
        ({"lefd": {}}, "'lefd' is not known; did you mean 'left'?"),
        ({"calibration.due": None}, "[calibration] 'due' is missing"),
        ({"transducer.kind": None}, "[transducer] 'kind' is missing"),
        ({"transducer.kind": "round"}, "[transducer] kind is 'round'; allowed are supra-aural, "),
        ({"calibration.tecnician": "x"}, "[calibration] 'tecnician' is not known; did you mean"),
        *(
            ({f"{table}.{name}": wrong}, f"[{table}] {name} is {wrong!r:.60}")
            for table, names in TEXTS.items()
            for name in names
            for wrong in ("", " ", "x" * 81, "\x1b[2J", "L\n1", "Zoë", 7)
        ),
        *(
            (
                {"calibration.uncertainty_db": wrong},
                f"[calibration] uncertainty_db is {wrong!r}; allowed are numbers from 0.2 to 5 dB",
            )
            for wrong in (0.19, 5.1, True, "1", math.nan)
        ),
        (
            {"calibration.expanded_uncertainty_db": 10.1},
            "expanded_uncertainty_db is 10.1; allowed are numbers from 0.4 to 10 dB",
        ),
        (
            {"calibration.expanded_uncertainty_db": 2.0, "calibration.uncertainty_db": 1.0},
            "[calibration] has uncertainty_db and expanded_uncertainty_db; allowed is one",
        ),
        *(
            (IN_THE_ALPS | {f"calibration.{name}": wrong}, f"[calibration] {name} is {wrong!r}")
            for name, wrong in (
                ("temperature_c", 51),
                ("humidity_percent", -1),
                ("pressure_kpa", "94"),
            )
        ),
        (IN_THE_ALPS | {"calibration.pressure_kpa": 945}, "allowed are numbers from 60 to 110 kPa"),
        ({"calibration.temperature_c": 22}, "[calibration] 'humidity_percent' is missing"),
        ({"calibration.date": "2026-02-30"}, "[calibration] date is '2026-02-30'; allowed is a"),
        ({"calibration.date": "20260102"}, "allowed is a date such as 2026-01-31"),
        ({"calibration.due": "2026-01-02"}, "due is 2026-01-02; allowed is a date after 2026-01-0"),
        ({"calibration.due": "2062-12-31"}, "due is 2062-12-31; allowed is a date after 2026-01-0"),
        (
            {"left.sensitivity_db_spl.3000": None},
            "[left.sensitivity_db_spl] lacks 3000 Hz; needed are 125, 250, 500",
        ),
        (
            {"transducer.retspl_db_spl.125": None, "transducer.retspl_db_spl.8000": None},
            "[transducer.retspl_db_spl] lacks 125, 8000 Hz",
        ),
        ({"left.sensitivity_db_spl.9000": 90}, "'9000' is not a frequency; allowed are whole num"),
        ({"left.sensitivity_db_spl": {"01000": 90}}, "'01000' is not a frequency"),
        ({"left.sensitivity_db_spl": {"1e3": 90}}, "'1e3' is not a frequency"),
        ({"left.sensitivity_db_spl": 90}, "'sensitivity_db_spl' is 90; it has to be a table"),
        ({"right.sensitivity_db_spl.1000": 145.5}, "1000 Hz is 145.5; allowed are numbers from 60"),
        ({"right.sensitivity_db_spl.1000": math.nan}, "1000 Hz is nan; allowed are numbers from"),
        ({"right.sensitivity_db_spl.1000": True}, "1000 Hz is True; allowed are numbers from"),
        ({"transducer.retspl_db_spl.250": "25"}, "250 Hz is '25'; allowed are numbers from -5 to"),
        ({"left.level_max_db_spl.1000": 140.5}, "1000 Hz is 140.5; allowed are numbers from 40 to"),
        (
            {"left.level_max_db_spl.1000": 121.5},
            "[left.level_max_db_spl] 1000 Hz is 121.5 dB SPL; allowed is up to full scale, 121 dB",
        ),
        (
            {"left.level_max_db_spl.125": 69},
            "[left.level_max_db_spl] 125 Hz is 69 dB SPL, 24 dB HL; allowed is 25 dB HL and more",
        ),
        # At a point of one curve the other two lie between theirs.
        ({"left.level_max_db_spl.5000": 115}, "5000 Hz is 115 dB SPL; allowed is up to full scale"),
        (
            {"left.level_max_db_spl": {str(f): 90 for f in range(125, 125 + POINTS_MAX + 1)}},
            "[left.level_max_db_spl] has 65 frequencies; allowed are 64",
        ),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CalibrationError) as refusal:
        calibration_from(content(changes))
    assert words in str(refusal.value)


def test_the_uncertainty_that_a_file_states_is_in_force_and_may_be_missing() -> None:
    stated, silent = calibration_from(content({"calibration.uncertainty_db": 1})), calibration()
    result = recorded_result(BOTH).result

    assert (stated.uncertainty_db, silent.uncertainty_db) == (1.0, None)
    for made, sd_db in ((stated, 1.0), (silent, None)):
        in_force = CalibrationOnFile(made).judge(MADE)
        again = CalibrationInForce.from_record(json.loads(json.dumps(in_force.as_record())))
        assert again.uncertainty(result) == Uncertainty(sd_db)
    assert NO_CALIBRATION.judge(MADE).uncertainty(result).nominal


def test_what_a_certificate_expands_is_half_of_it_and_the_air_is_held_against_iec_60645_1() -> None:
    made = calibration(IN_THE_ALPS | {"calibration.expanded_uncertainty_db": 2.4})
    assert (made.uncertainty_db, made.expanded_uncertainty_db) == (1.2, 2.4)
    assert calibration({"calibration.uncertainty_db": 1.2}).expanded_uncertainty_db == 2.4
    assert made.conditions == {"temperature_c": 22, "humidity_percent": 45, "pressure_kpa": 94.5}
    assert not is_standard(made.conditions)
    assert calibration().conditions is None
    told = json.loads(calibration_words(CalibrationOnFile(made).judge(MADE)))
    assert (told["pressure_kpa"], told["expanded_uncertainty_db"]) == (94.5, 2.4)


@pytest.mark.parametrize(
    ("key", "good", "outside"),
    [
        ("temperature_c", (15, 35), (14.9, 35.1)),
        ("humidity_percent", (30, 90), (29.9, 90.1)),
        ("pressure_kpa", (98, 104), (97.9, 104.1)),
    ],
)
def test_the_air_that_iec_60645_1_wants(
    key: str, good: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    air = {"temperature_c": 22.0, "humidity_percent": 45.0, "pressure_kpa": 101.0}
    assert [is_standard(air | {key: each}) for each in (*good, *outside)] == [
        True,
        True,
        False,
        False,
    ]


def test_nothing_is_louder_than_when_full_scale_counted_as_less() -> None:
    """A level is softer now, and a board's own limit, in dBFS, is as loud as it was."""
    before, now = (CalibrationInForce(full_scale_db_hl=each) for each in (120.0, 132.0))
    assert now == CalibrationInForce()
    for level_db_hl in (-10.0, 40.0, 100.0, 120.0):
        levels_dbfs = [
            each.level_dbfs(Route("left"), 1000.0, level_db_hl) for each in (before, now)
        ]
        assert levels_dbfs[1] == levels_dbfs[0] - 12.0


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "calibration.toml"
    path.write_text(file_text())
    assert read_calibration(path) == calibration()


def test_a_configuration_names_the_file_from_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    path.write_text('[device]\ncalibration = "made/left.toml"\n')
    assert read_configuration(path).calibration == tmp_path / "made" / "left.toml"
    path.write_text('[device]\ncalibration = "/etc/c.toml"\n')
    assert read_configuration(path).calibration == Path("/etc/c.toml")
    for wrong in ("3", '""', "true", '["c.toml"]'):
        path.write_text(f"[device]\ncalibration = {wrong}\n")
        with pytest.raises(ConfigurationError, match=r"allowed is the path of a calibration file"):
            read_configuration(path)


def test_the_example_is_good() -> None:
    made = read_calibration(EXAMPLE)
    assert (made.content["transducer"]["name"], made.due.isoformat()) == ("TDH39", "2027-01-15")
    assert all(made.highest_db_hl(Route("left"), f) >= 60.0 for f in BY_AIR.calibrated_hz)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"format = ", "is not TOML"),
        (b"\xff", "is not TOML"),
        (b"format = " + 5000 * b"1", "is not TOML"),
        (b"[" * 20_000, "is not TOML"),
        (b"a" * (FILE_BYTES_MAX + 1), f"is longer than {FILE_BYTES_MAX} bytes"),
        (b"", "'format' is missing"),
        (b"format = 1\ncalibration = 3\ntransducer = 1\nleft = 1\nright = 1\n", "'calibration' is"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "calibration.toml"
    path.write_bytes(data)
    with pytest.raises(CalibrationError) as refusal:
        read_calibration(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert words in str(refusal.value)
    assert load_calibration(path).fault == str(refusal.value)


@pytest.mark.parametrize(
    ("today", "state", "headline"),
    [
        (MADE, CALIBRATED, "CALIBRATED: 2026-01-02, due 2026-12-31"),
        (DUE, CALIBRATED, "CALIBRATED: 2026-01-02, due 2026-12-31"),
        (DUE + DAY, OVERDUE, "OVERDUE: calibrated 2026-01-02, was due 2026-12-31"),
        (
            MADE - DAY,
            OVERDUE,
            "OVERDUE: calibrated 2026-01-02, but the clock says 2026-01-01: is it right?",
        ),
    ],
)
def test_it_holds_up_to_its_due_date(today: datetime.date, state: str, headline: str) -> None:
    in_force = on_file().judge(today)
    assert (in_force.state, in_force.headline) == (state, headline)
    assert in_force.judged_on == today.isoformat()
    assert in_force.level_dbfs(Route("left"), 1000.0, 40.0) == -74.0, (
        "overdue, but better than nothing"
    )


def test_without_one_levels_are_nominal_and_it_says_so(tmp_path: Path) -> None:
    in_force = NO_CALIBRATION.judge(MADE)
    assert in_force.headline == "UNCALIBRATED: levels are nominal"
    assert in_force.level_dbfs(Route("left"), 1000.0, 40.0) == -92.0
    assert in_force.highest_db_hl(Route("left"), 1000.0) == math.inf
    assert in_force.as_record() == {"state": UNCALIBRATED, "full_scale_db_hl": 132.0}
    older = CalibrationInForce.from_record(in_force.as_record() | {"full_scale_db_hl": 120})
    assert older.level_dbfs(Route("left"), 1000.0, 40.0) == -80.0
    assert (
        older.highest_noise_db_hl(Route("left"), 1000.0)
        == in_force.highest_noise_db_hl(Route("left"), 1e3) - 12
    )
    bad = load_calibration(tmp_path / "none.toml").judge(MADE)
    assert bad.headline.startswith("UNCALIBRATED: levels are nominal (")
    assert "none.toml: cannot be read" in bad.headline


@pytest.mark.parametrize("board", ["", "pico 51b0000000000001", "sim 51b0000000000002", "card x"])
def test_only_the_simulated_board_has_its_own_and_a_file_goes_before(board: str) -> None:
    own = NO_CALIBRATION.judge(MADE, simulated.BOARD)

    assert (own.state, own.headline) == (SIMULATED, "CALIBRATED (simulated board)")
    assert own.level_dbfs(Route("left"), 1000.0, 40.0) == -92.0
    assert own.highest_db_hl(Route("right"), 8000.0) == 132.0
    assert NO_CALIBRATION.judge(DUE + 999 * DAY, simulated.BOARD).state == SIMULATED
    assert NO_CALIBRATION.judge(MADE, board) == CalibrationInForce()
    assert on_file().judge(MADE, simulated.BOARD).state == CALIBRATED
    assert CalibrationOnFile(fault="x").judge(MADE, simulated.BOARD).state == UNCALIBRATED


@pytest.mark.parametrize("today", [MADE, DUE + DAY])
@pytest.mark.parametrize("board", ["pico 51b0000000000002", "sim x", "card 51b00000 00000001"])
def test_with_another_board_than_was_measured_levels_are_nominal(
    today: datetime.date, board: str
) -> None:
    in_force = on_file().judge(today, board)
    told = f"tone generator {simulated.SERIAL}, and this is {serial_of(board)}"
    assert in_force.headline == f"UNCALIBRATED: levels are nominal (the calibration is of {told})"
    assert in_force.level_dbfs(Route("left"), 1000.0, 40.0) == -92.0
    assert CalibrationInForce.from_record(in_force.as_record()) == in_force
    assert on_file().judge(MADE, f"card {simulated.SERIAL}").state == CALIBRATED


@pytest.mark.parametrize(
    "in_force",
    [
        on_file().judge(MADE),
        NO_CALIBRATION.judge(MADE, simulated.BOARD),
        on_file().judge(DUE + DAY),
        CalibrationInForce(),
        CalibrationInForce(why=reason(Code.NOMINAL_SINCE, told="x.toml: is not TOML")),
    ],
)
def test_what_is_recorded_is_all_there_is(in_force: CalibrationInForce) -> None:
    assert CalibrationInForce.from_record(in_force.as_record()) == in_force


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state": "FINE"}, "its state is 'FINE'; allowed are CALIBRATED, OVERDUE, UNCALIBRATED"),
        ({"content": None}, "its content is None; it has to be a table"),
        ({"state": "SIMULATED"}, "its content is not that of the simulated board"),
        ({"content": simulated.CONTENT}, "'full_scale_db_hl' is not known"),
        ({"digest": "0"}, "its digest is not that of its content"),
        ({"state": "UNCALIBRATED"}, "'judged_on' is not known; allowed are full_scale_db_hl"),
        ({"seed": 1}, "its 'seed' is not known; allowed are judged_on, digest, content"),
        ({"state": "OVERDUE"}, "judged on 2026-01-02 it is 'CALIBRATED: 2026-01-02, due 2026-12"),
        ({"judged_on": "2027-01-01"}, "judged on 2027-01-01 it is 'OVERDUE: calibrated 2026-01-0"),
        ({"judged_on": None}, "its judged_on is None; allowed is a date such as 2026-01-31"),
    ],
)
def test_a_header_that_is_none_of_this_version_is_refused(
    changes: dict[str, Any], words: str
) -> None:
    record = on_file().judge(MADE).as_record() | changes
    with pytest.raises(CalibrationError) as refusal:
        CalibrationInForce.from_record(record)
    assert words in str(refusal.value)


@pytest.mark.parametrize("value", [None, True, "132", 99.9, 150.1, math.nan, math.inf])
def test_a_nominal_full_scale_of_no_build_is_refused(value: object) -> None:
    with pytest.raises(CalibrationError, match=r"its full scale is .*; allowed are"):
        CalibrationInForce.from_record({"state": UNCALIBRATED, "full_scale_db_hl": value})


def test_a_calibration_is_due_within_two_years() -> None:
    assert calibration_from(content({"calibration.due": "2028-01-03"})).due.year == 2028

    with pytest.raises(CalibrationError, match=r"due is 2028-01-04; allowed is .* up to 731 days"):
        calibration_from(content({"calibration.due": "2028-01-04"}))


def test_by_a_route_that_it_lacks_nothing_can_be_reached_and_no_test_begins() -> None:
    made = calibration()
    lacking = replace(made, sensitivity_db_spl={LEFT: made.sensitivity_db_spl[LEFT]})
    in_force = CalibrationOnFile(lacking).judge(MADE)

    assert in_force.highest_db_hl(LEFT, 1000.0) > 0.0
    assert in_force.highest_db_hl(RIGHT, 1000.0) == -math.inf
    assert in_force.level_dbfs(RIGHT, 1000.0, 40.0) == NO_CALIBRATION.judge(MADE).level_dbfs(
        RIGHT, 1000.0, 40.0
    )
    about = 1, "2026-01-02T03:04:05+00:00", Settings(ears="left"), UNKNOWN, in_force
    assert [*SessionHeader(*about).new_test().ears] == [LEFT]
    with pytest.raises(SettingError, match=r"^the calibration has no levels of the right ear$"):
        replace(SessionHeader(*about), settings=Settings()).new_test()


def test_the_simulated_boards_calibration_knows_its_digest() -> None:
    assert simulated.CALIBRATION.digest == Calibration.digest.__get__(simulated.CALIBRATION)
