"""The reference levels are those that were published."""

import csv
from pathlib import Path

import pytest

from device.calibration.retspl import TABLES, UnknownTransducerError, reference_levels
from firmware_py.calibration.file import RETSPL_LIMITS_DB_SPL
from firmware_py.terms.route import BY_AIR

# The project's collection of quotations lies beside it where it is developed.
# A maker's own table is in none of the quotations.
SHARED = Path(__file__).parents[4] / "shared" / "data" / "retspl.csv"
COLUMNS = {
    "tdh39": ("TDH39", "NBS-9A / IEC 60318-3 (6cc)"),
    "tdh49": ("TDH49/50", "NBS-9A / IEC 60318-3 (6cc)"),
    "supra-aural": ("generic supra-aural", "IEC 60318-1 ear simulator (label inferred)"),
    "dd45": ("DD45", "6cc coupler (IEC 60318-3)"),
    "dd65v2": ("DD65v2", "IEC 60318-1"),
    "er3a": ("ER-3A / ER-5A / IP30 insert", "HA-2 2cc with tube (DB-0138)"),
    "er3a-711": ("ER-3A / ER-5A insert", "IEC 711 occluded-ear simulator"),
    "er3a-ha1": ("ER-3A / ER-5A insert", "HA-1 2cc"),
    "hda200": ("HDA200 (circumaural); also DD450 per HearMate app", "IEC 60318-1 + adapter"),
}


@pytest.mark.skipif(not SHARED.exists(), reason="the table of quotations is not here")
@pytest.mark.parametrize("name", COLUMNS)
def test_every_value_is_that_of_the_quotations(name: str) -> None:
    with SHARED.open(newline="", encoding="utf-8") as file:
        rows = [
            row for row in csv.DictReader(file)
            if (row["transducer"], row["coupler"]) == COLUMNS[name]
        ]  # fmt: skip
    quoted = {
        int(row["freq_hz"]): float(row["retspl_db_spl"])
        for row in rows
        if int(row["freq_hz"]) <= 8000
    }
    assert quoted == TABLES[name].levels_db_spl


@pytest.mark.parametrize(
    ("name", "frequency_hz", "level_db_spl"),
    [
        ("tdh39", 1000, 7.0),  # ISO 389-1, ANSI S3.6
        ("tdh39", 6000, 15.5),
        ("tdh39", 750, 8.0),  # ANSI S3.6; ISO 389-1 has 7.5, and the source says so
        ("er3a", 1000, 0.0),  # ISO 389-2, 2cc coupler
        ("er3a", 250, 14.0),
        ("hda200", 4000, 9.5),  # ISO 389-8
        ("hda200", 125, 30.5),
        ("dd45", 1000, 6.0),  # PTB-DTU 2010
        ("hda280", 125, 38.5),  # its maker, IEC 60318-3
        ("hda280", 1000, 7.5),
        ("hda280", 8000, 18.0),
    ],
)
def test_spot_values(name: str, frequency_hz: int, level_db_spl: float) -> None:
    assert reference_levels(name).levels_db_spl[frequency_hz] == level_db_spl


def test_every_table_is_held_against_its_source() -> None:
    assert {*COLUMNS, "hda280"} == {*TABLES}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_serves_for_a_calibration(name: str) -> None:
    reference = reference_levels(name)
    low, high = RETSPL_LIMITS_DB_SPL
    assert set(BY_AIR.calibrated_hz) <= set(reference.levels_db_spl)
    assert all(low <= level <= high for level in reference.levels_db_spl.values())
    for text in (reference.transducer, reference.coupler, reference.source):
        assert text.isascii()
        assert 0 < len(text) <= 80


def test_what_was_not_published_is_interpolated_and_said_so() -> None:
    dd45 = reference_levels("dd45")
    assert dd45.levels_db_spl[750] == 8.9  # 13.0 and 6.0, 0.585 of an octave above 500 Hz
    assert dd45.source.endswith("; 750 Hz interpolated")
    assert reference_levels("dd65v2").source.endswith("; 750, 1500 Hz interpolated")
    assert "interpolated" not in reference_levels("tdh39").source
    assert "7.5 at 750 Hz" in reference_levels("tdh39").source


def test_an_unknown_transducer_is_named() -> None:
    with pytest.raises(UnknownTransducerError, match="transducer is 'tdh'; allowed are dd45, dd65"):
        reference_levels("tdh")
