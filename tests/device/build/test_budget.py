"""The budget of a box, against a circuit that is solved another way, from the data sheets alone."""

import math
from dataclasses import replace
from typing import Final

import numpy as np
import pytest

from device.build import budget
from device.build.budget import (
    AMPLIFIER_NOISE,
    CLIPS,
    DAC_NOISE,
    FIRST_DB_HL,
    FULL_SCALE,
    QUANTISATION,
    RESISTOR_NOISE,
    WIRE,
    Build,
    first_limit,
    first_limit_dbfs,
    limits,
    rows,
    warnings,
    worked_build,
)
from device.build.parts import AMPLIFIERS, DACS, EARPHONES, PartError, amplifier_and_gain, part
from device.calibration.retspl import TABLES
from firmware_py.terms.settings import LOUD_DB_HL

AGREES_DB: Final = 0.5

# What the data sheets say: of the HDA 280 as millivolts of 100 dB HL; dB SPL at volts of others.
HDA280_MV: Final = {
    125: 2382, 250: 449, 500: 113, 750: 70.9, 1000: 53, 1500: 66.9, 2000: 126, 3000: 189,
    4000: 169, 6000: 895, 8000: 2524,
}  # fmt: skip
DB_SPL_AT_V: Final = {
    "tdh39": (108.0, math.sqrt(1e-3 * 10.0)),  # 1 mW in 10 ohm
    "er3a-10": (102.5, 0.1),
    "er3a-50": (102.5, 0.2),
}
RESISTOR_OHM: Final = {
    "A": {"tdh39": 1000, "er3a-10": 1000, "er3a-50": 1000, "hda280": 1000},
    "B": {"tdh39": 120, "er3a-10": 150, "er3a-50": 330, "hda280": 820},
}
IMPEDANCE_OHM: Final = {"tdh39": 10, "er3a-10": 10, "er3a-50": 50, "hda280": 37}
COUPLER: Final = {"tdh39": "tdh39", "er3a-10": "er3a", "er3a-50": "er3a", "hda280": "hda280"}
# The critical bands of Zwicker's table: centre, width.
BARKS: Final = [
    (50, 100), (150, 100), (250, 100), (350, 100), (450, 110), (570, 120), (700, 140), (840, 150),
    (1000, 160), (1170, 190), (1370, 210), (1600, 240), (1850, 280), (2150, 320), (2500, 380),
    (2900, 450), (3400, 550), (4000, 700), (4800, 900), (5800, 1100), (7000, 1300), (8500, 1800),
]  # fmt: skip


def a_weighting(hz: np.ndarray) -> np.ndarray:
    """Return the weight of IEC 61672-1."""
    f2 = hz**2
    low = (f2 + 20.6**2) * np.sqrt((f2 + 107.7**2) * (f2 + 737.9**2))
    return 10.0**0.1 * 12194.0**2 * f2**2 / (low * (f2 + 12194.0**2))


def white_of_dac() -> float:
    """Return the volts per root hertz that are 112 dB, A-weighted, below 2.1 V."""
    hz = np.arange(1.0, 20e3)
    return float(2.1 * 10 ** (-112 / 20) / np.sqrt(np.sum(a_weighting(hz) ** 2)))


def volts_at_earphone(source_v: float, resistor_ohm: float, earphone_ohm: float) -> float:
    """Solve the two nodes, source and earphone, by Kirchhoff's laws."""
    g, load = 1.0 / resistor_ohm, 1.0 / earphone_ohm
    stiff = 1e9  # of the source, an ideal one as a current behind it
    matrix = np.array([[g + stiff, -g], [-g, g + load]], complex)
    return float(abs(np.linalg.solve(matrix, np.array([source_v * stiff, 0.0]))[1]))


def db_hl(name: str, volts: float, frequency_hz: int) -> float:
    """Return dB HL of volts at an earphone."""
    if name == "hda280":
        return 100.0 + 20.0 * math.log10(volts / (1e-3 * HDA280_MV[frequency_hz]))
    spl, at_v = DB_SPL_AT_V[name]
    retspl = TABLES[COUPLER[name]].levels_db_spl[frequency_hz]
    return spl + 20.0 * math.log10(volts / at_v) - retspl


def noise_v(name: str, build: str, frequency_hz: int) -> float:
    """Return the volts in the critical band at the earphone, source by source."""
    resistor, ear = RESISTOR_OHM[build][name], IMPEDANCE_OHM[name]
    amplifier = 8e-9 if build == "B" else 0.0
    thermal = math.sqrt(4 * 1.38e-23 * 293 / (1 / resistor + 1 / ear))
    sources = [volts_at_earphone(v, resistor, ear) for v in (white_of_dac(), amplifier)]
    centres, widths = zip(*BARKS, strict=True)
    band_hz = np.interp(math.log(frequency_hz), np.log(centres), widths)
    return float(np.sqrt(np.sum(np.square([*sources, thermal])) * band_hz))


@pytest.mark.parametrize("name", EARPHONES)
@pytest.mark.parametrize("build", ["A", "B"])
def test_the_worked_builds_agree_with_a_circuit_that_is_solved_apart(build: str, name: str) -> None:
    for row in rows(worked_build(build, EARPHONES[name])):
        full = volts_at_earphone(2.1, RESISTOR_OHM[build][name], IMPEDANCE_OHM[name])
        highest = db_hl(name, full, row.frequency_hz)
        noise = db_hl(name, noise_v(name, build, row.frequency_hz), row.frequency_hz)
        assert row.highest.db_hl == pytest.approx(highest, abs=AGREES_DB)
        assert row.noise.db_hl == pytest.approx(noise, abs=AGREES_DB)
        assert row.lowest.db_hl == pytest.approx(highest - 20 * math.log10(2**23), abs=AGREES_DB)
        assert row.noise_below_db == -10.0 - row.noise.db_hl


def test_one_step_by_step_in_decibels() -> None:
    """Build B, TDH39, 1 kHz: 2.1 V, 10 ohm of 130, 128 dB SPL at 1 V, 7 dB are 0 dB HL."""
    row = {r.frequency_hz: r for r in rows(worked_build("B", EARPHONES["tdh39"]))}[1000]
    assert row.highest.db_hl == pytest.approx(6.44 - 22.28 + 128.0 - 7.0, abs=0.01)
    # 105.6 dB are between 2.1 V and 47.2 nV per root hertz less 22.1 dB of the band; 0.1 of 8 nV.
    assert row.noise.db_hl == pytest.approx(105.16 - 152.96 + 22.1 + 0.12, abs=0.1)


def test_a_level_that_no_data_sheet_has_is_inferred_and_wide() -> None:
    for name, earphone in EARPHONES.items():
        for row in rows(worked_build("B", earphone)):
            read = name == "hda280" or row.frequency_hz == 1000
            wide_db = row.highest.high_db_hl - row.highest.low_db_hl
            assert row.inferred == (not read)
            assert wide_db > 30.0 if row.inferred else wide_db < 18.0
            assert row.highest.low_db_hl < row.highest.db_hl < row.highest.high_db_hl
            for each in (row.lowest, row.noise):
                assert each.high_db_hl - each.db_hl == pytest.approx(
                    row.highest.high_db_hl - row.highest.db_hl
                )


@pytest.mark.parametrize(
    ("build", "name", "db_spl_at_1_v", "at_hz", "inferred_db", "tolerance_db", "impedance"),
    [
        ("A", "tdh39", 128.0, 1500, 6.0, 5.0, 1.5),
        ("B", "tdh39", 128.0, 1500, 6.0, 5.0, 1.5),
        ("A", "er3a-50", 116.5, 8000, 6.0, 5.0, 1.5),
        ("A", "hda280", 132.96, 1000, 0.0, 3.0, 1.2),
        ("B", "hda280", 132.96, 1000, 0.0, 3.0, 1.2),
    ],
)
def test_at_the_first_limit_the_loudest_parts_give_no_more_than_100_db_hl(
    build: str,
    name: str,
    db_spl_at_1_v: float,
    at_hz: int,
    inferred_db: float,
    tolerance_db: float,
    impedance: float,
) -> None:
    """6 % more of the DAC, 1 % of two resistors, impedance and sensitivity of the earphone."""
    ear, resistor = impedance * IMPEDANCE_OHM[name], RESISTOR_OHM[build][name]
    volts = 2.1 * 1.06 * 1.02 * ear / (ear + resistor)
    loudest = db_spl_at_1_v + inferred_db + tolerance_db + 20.0 * math.log10(volts)
    loudest -= TABLES[COUPLER[name]].levels_db_spl[at_hz]
    limit = first_limit_dbfs(build, name)
    assert FIRST_DB_HL == LOUD_DB_HL == 100.0
    assert 99.4 <= loudest + limit <= 100.05
    assert limit == round(2 * limit) / 2


def test_the_first_limit_of_a_name() -> None:
    assert first_limit_dbfs("a", "TDH-39") == first_limit_dbfs("A", "tdh39")
    of_impedances = [first_limit_dbfs("A", name) for name in ("er3a-10", "er3a-50")]
    assert first_limit_dbfs("A", "er3a") == first_limit_dbfs("A", "er3a-711") == min(of_impedances)
    for unknown in ("dd45", "er3a-30", "tdh39-p", ""):
        wanted = f"transducer is '{unknown}'; allowed are tdh39, er3a-10"
        with pytest.raises(PartError, match=wanted):
            first_limit_dbfs("A", unknown)
    with pytest.raises(PartError, match="build is 'C'; allowed are A, B"):
        first_limit_dbfs("C", "tdh39")
    soft = replace(worked_build("A", EARPHONES["tdh39"]), attenuator_ohm=100_000.0)
    assert first_limit(soft) == 0.0


def build_b(**other: object) -> Build:
    return replace(worked_build("B", EARPHONES["tdh39"]), **other)  # type: ignore[arg-type]


def test_what_limits_a_build_is_said() -> None:
    assert limits(build_b()) == (FULL_SCALE, QUANTISATION, DAC_NOISE)
    dac = DACS["pcm5102a"]
    assert limits(build_b(dac=replace(dac, bits=16))).noise == QUANTISATION
    assert limits(build_b(dac=replace(dac, bits=32))).lowest == WIRE
    loud = replace(AMPLIFIERS["opa1688"], noise_nv=60.0)
    assert limits(build_b(amplifier=loud)).noise == AMPLIFIER_NOISE
    quiet = replace(dac, noise_below_full_scale_db=150.0)
    assert limits(build_b(dac=quiet, amplifier=None)).noise == RESISTOR_NOISE
    clipped = build_b(gain_db=6.0)
    assert limits(clipped).highest == CLIPS
    volts = 20 * math.log10((5.0 - 1.5) / math.sqrt(2) / 2.1)
    assert rows(clipped)[4].highest.db_hl == pytest.approx(rows(build_b())[4].highest.db_hl + volts)
    # What clips is as loud as it would be, for the first limit.
    assert first_limit(clipped) == pytest.approx(first_limit(build_b()) - 6.0)


def test_the_noise_grows_with_the_gain_and_a_16_bit_dac_is_worse() -> None:
    at_1k = [rows(build_b(gain_db=g))[4].noise.db_hl for g in (0.0, 12.0)]
    assert at_1k[1] - at_1k[0] == pytest.approx(12.0, abs=0.1)
    # Rounding to 16 bits is noise of 98.1 dB below full scale up to 24 kHz.
    dac = replace(DACS["pcm5102a"], bits=16, noise_below_full_scale_db=200.0)
    row = rows(build_b(dac=dac, amplifier=None))[4]
    in_band = 98.1 + 10 * math.log10(24000 / 162.2)
    assert row.highest.db_hl - row.noise.db_hl == pytest.approx(in_band, abs=0.1)


def test_warnings() -> None:
    assert [*warnings(build_b()), *warnings(worked_build("A", EARPHONES["hda280"]))] == []
    said = {
        "the DAC drives 130 ohm; allowed are 1000 ohm and more": build_b(amplifier=None),
        "the amplifier clips above -4.6 dBFS at +-5 V": build_b(gain_db=6.0),
        "full scale takes 297 mA of the amplifier; allowed are 56": build_b(attenuator_ohm=0.0),
        "only the gain is known": build_b(amplifier=amplifier_and_gain("0")[0]),
        "good ears may hear the noise at 1500, 4000, 8000 Hz": build_b(attenuator_ohm=75.0),
    }
    for words, build in said.items():
        assert [each for each in warnings(build) if words in each], words
    assert not [*warnings(build_b(amplifier=None, dac_resistor_ohm=870.0))]


def test_the_board_of_the_dac_is_in_series_without_an_amplifier_only() -> None:
    with_470 = build_b(amplifier=None, dac_resistor_ohm=470.0, attenuator_ohm=530.0)
    assert rows(with_470)[4].highest == rows(worked_build("A", EARPHONES["tdh39"]))[4].highest
    assert rows(build_b(dac_resistor_ohm=470.0))[4].highest == rows(build_b())[4].highest


@pytest.mark.parametrize(
    ("words", "name", "gain_db"),
    [
        ("none", "", 0.0), ("OPA1688", "OPA1688", 0.0), ("opa-1622:6", "OPA1622", 6.0),
        ("-3", "an amplifier", -3.0),
    ],
)  # fmt: skip
def test_a_gain_is_an_amplifier_or_decibels(words: str, name: str, gain_db: float) -> None:
    amplifier, gain = amplifier_and_gain(words)
    assert (amplifier.name if amplifier else "", gain) == (name, gain_db)


@pytest.mark.parametrize("words", ["lm386", "lm386:3", "opa1688:x", "", "41", "nan"])
def test_another_gain_is_refused_with_what_is_allowed(words: str) -> None:
    with pytest.raises(PartError, match=r"^gain is .*; allowed (is -40 to|are none, opa1622)"):
        amplifier_and_gain(words)


def test_another_dac_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(PartError, match="--dac is 'uda1334'; allowed are pcm5100a, pcm5101a"):
        part("--dac", "uda1334", DACS)
    assert part("--dac", "PCM-5102A", DACS).name == "PCM5102A"


def test_the_constant_of_the_weighting_is_that_of_the_weighting() -> None:
    assert (
        pytest.approx(white_of_dac(), rel=1e-3)
        == 2.1 * 10 ** (-112 / 20) / budget.A_WEIGHTED_ROOT_HZ
    )
