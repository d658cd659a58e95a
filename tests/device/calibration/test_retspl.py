"""The reference levels and forces are those that were published."""

import csv
from pathlib import Path

import numpy as np
import pytest

from device.calibration.retfl import VIBRATORS, reference_forces
from device.calibration.retspl import TABLES, UnknownTransducerError, reference_levels
from firmware_py.calibration.file import MASTOID, RETFL_LIMITS_DB_UN, RETSPL_LIMITS_DB_SPL
from firmware_py.terms.route import BY_AIR, BY_BONE

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


# By third octaves and the frequencies of an audiogram between them, or by these alone.
IN_OTHER_PROGRAMS = {
    # HearLevel of P. D. Best, 2002 to 2021, from ISO 389-8
    "hda200": (30.5, 26, 22, 18, 15.5, 13.5, 11, 8, 6, 6, 5.5, 6, 5.5, 5.5, 4.5, 3, 2.5, 4, 9.5, 14,
               17, 17.5, 17.5),
    # the same, of other earphones than DT 48 and TDH 39, from ISO 389-1
    "supra-aural": (45, 38.5, 32.5, 27, 22, 17, 13.5, 10.5, 9, 8.5, 7.5, 7.5, 7.5, 8, 9, 10.5, 11.5,
                    11.5, 12, 11, 16, 21, 15.5),
    # getdBHLinSPL_inserts of B. Gurer, 2017, from BS EN ISO 389-2:1997
    "er3a-711": (28, 17.5, 9.5, 6, 5.5, 9.5, 11.5, 13, 15, 16, 15.5),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_OTHER_PROGRAMS)
def test_another_program_has_the_same_levels(name: str) -> None:
    assert (*TABLES[name].levels_db_spl.values(),) == IN_OTHER_PROGRAMS[name]


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


def test_an_unknown_transducer_or_vibrator_is_named() -> None:
    with pytest.raises(UnknownTransducerError, match="transducer is 'tdh'; allowed are dd45, dd65"):
        reference_levels("tdh")
    with pytest.raises(UnknownTransducerError, match="vibrator is 'b72'; allowed are b71, b81"):
        reference_forces("b72")


# Forces of bone vibrators, against what is quoted of them elsewhere

# An audiometer's manual (KA 450), which quotes ISO 389-3.
QUOTED = {
    250: 67.0,
    500: 58.0,
    750: 48.5,
    1000: 42.5,
    1500: 36.5,
    2000: 31.0,
    3000: 30.0,
    4000: 35.5,
    6000: 40.0,
}


def test_they_fall_by_12_db_an_octave_as_somebody_else_found() -> None:
    """Margolis et al. 2013: with 14.1 dB less at 4 kHz, their line has -12 dB an octave."""
    levels_db_un = dict(reference_forces("b71").levels_db_un)
    levels_db_un[4000] -= 14.1
    octaves_hz = (500, 1000, 2000, 4000)
    slope, _ = np.polyfit(np.log2(octaves_hz), [levels_db_un[f] for f in octaves_hz], 1)
    assert slope == pytest.approx(-12.0, abs=0.5)


@pytest.mark.parametrize("name", VIBRATORS)
def test_every_table_of_forces_is_as_quoted_and_serves_for_a_calibration(name: str) -> None:
    forces = reference_forces(name)
    low, high = RETFL_LIMITS_DB_UN
    assert forces.levels_db_un == QUOTED
    assert (*forces.levels_db_un,) == (*BY_BONE.calibrated_hz, *BY_BONE.where_calibrated_hz)
    assert all(low <= level <= high for level in forces.levels_db_un.values())
    assert forces.placement == MASTOID
    for text in (forces.vibrator, forces.coupler, forces.source):
        assert text.isascii()
        assert 0 < len(text) <= 80
