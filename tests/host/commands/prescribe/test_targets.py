"""What each target of a fit reads: its own file, openMHA, Tympan, LibrePods; or what it refuses."""

import json
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget

from device.hearing_aid.fit import INPUT_LEVELS_DB_SPL, BandFit, EarFit, Fit, FitError
from device.hearing_aid.fit_file import fit_of_text
from device.hearing_aid.prescription import fit_of_thresholds
from device.speech import speech_in_bands
from firmware_py.comparisons.space import Setting
from firmware_py.inference.laplace.standard_audiograms import FREQUENCIES_HZ as STANDARD_HZ
from firmware_py.inference.laplace.standard_audiograms import STANDARD_AUDIOGRAMS_DB_HL
from host_tools.commands.prescribe import librepods, tympan
from host_tools.commands.prescribe.exports import check_ears, fit_as
from host_tools.errors import HostError
from tests.budget import examples
from tests.device.hearing_aid.fits import plain_band, plain_ear, plain_fit, settings

TUNED = plain_fit().tune(Setting(overall_db=3.0, tilt_db=-4.0))


def test_a_fit_is_read_again() -> None:
    assert fit_of_text(fit_as(".fit", TUNED, ["remark"]).encode()) == TUNED


def test_openmha_has_the_chain_with_the_table_of_the_fit_left_ear_first() -> None:
    ears = Fit((plain_ear("left", 12.0), plain_ear("right", 30.0)), "by hand", "nobody")
    text = fit_as(".cfg", ears, ["remark"])
    (table,) = re.findall(r"dc\.gtdata = \[(.*)\]", text)
    rows = [[float(x) for x in row.split()] for row in re.findall(r"\[([^\[\]]*)\]", table)]
    wanted = np.concatenate([ears.of_ear(ear).table.gains_db for ear in ("left", "right")])

    assert text.startswith("# remark\n")
    assert "calib_out.do_clipping = yes" in text
    assert len(rows[0]) == len(INPUT_LEVELS_DB_SPL)
    # Neighbours of a band add to it: what is written is a little less than what is heard.
    assert np.abs(np.array(rows) - wanted).max() <= 1.0


# LibrePods

ASKED_HZ: Final = (250, 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
LEFT_DB_HL: Final = np.array((-5.0, 10.0, 20.0, 25.0, 30.0, 45.0, 60.0, 80.0, 110.0))
RIGHT_DB_HL: Final = LEFT_DB_HL[::-1]
AUDIOGRAMS: Final = {"left": LEFT_DB_HL, "right": RIGHT_DB_HL}
# Where `parseHearingAidSettingsResponse` of LibrePods reads what, in bytes.
PLACES: Final = {
    "leftEQ": 4, "leftAmplification": 36, "leftTone": 40, "leftConversationBoost": 44,
    "leftAmbientNoiseReduction": 48, "rightEQ": 52, "rightAmplification": 84, "rightTone": 88,
    "rightConversationBoost": 92, "rightAmbientNoiseReduction": 96, "ownVoiceAmplification": 100,
}  # fmt: skip


def test_the_audiogram_is_at_the_frequencies_of_librepods() -> None:
    found = json.loads(librepods.settings(ASKED_HZ, AUDIOGRAMS, ["remark"]))
    assert found["frequencies_hz"] == [250, 500, 1000, 2000, 3000, 4000, 6000, 8000]
    assert found["leftEQ"] == [0.0, 10.0, 20.0, 30.0, 45.0, 60.0, 80.0, 100.0]
    assert found["rightEQ"] == [100.0, 80.0, 60.0, 30.0, 25.0, 20.0, 10.0, 0.0]
    assert found["remarks"] == ["remark"]


def test_what_lies_between_is_on_a_line_over_log_frequency() -> None:
    without = {ear: levels[[0, 1, 2, 4, 6, 7, 8]] for ear, levels in AUDIOGRAMS.items()}
    found = json.loads(librepods.settings((250, 500, 1000, 2000, 4000, 6000, 8000), without, []))
    assert found["leftEQ"][4] == pytest.approx(30.0 + 30.0 * np.log2(1.5), abs=0.06)


def test_what_is_not_known_is_null_and_no_bytes_are_made_of_it() -> None:
    without = {ear: levels[[0, 1, 2, 4, 8]] for ear, levels in AUDIOGRAMS.items()}
    known = (250, 500, 1000, 2000, 8000)
    found = json.loads(librepods.settings(known, without, []))
    assert found["leftEQ"] == [0.0, 10.0, 20.0, 30.0, None, None, None, 100.0]
    assert found["payload"] is None


def test_the_bytes_have_each_setting_where_librepods_reads_it() -> None:
    found = json.loads(librepods.settings(ASKED_HZ, AUDIOGRAMS, []))
    content = bytes.fromhex(found["payload"])
    assert len(content) == 104
    assert content[:4] == b"\x02\x02\x64\x00"
    for name, place in PLACES.items():
        wanted = found[name] if isinstance(found[name], list) else [float(found[name])]
        values = struct.unpack_from(f"<{len(wanted)}f", content, place)
        assert values == pytest.approx(wanted, rel=1e-6), name


def test_the_bytes_of_a_known_audiogram() -> None:
    content = librepods.payload([20.0] * 8, [40.0] * 8)
    assert content.hex() == (
        "02026400" + "0000a041" * 8 + "00000000" * 4 + "00002042" * 8 + "00000000" * 4 + "0000003f"
    )


# Tympan

# The rows of the two structures in Tympan's BTNRH_WDRC_Types.h.
DSL: Final = (
    "attack", "release", "maxdB", "ear", "nchannel", "cross_freq", "exp_cr", "exp_end_knee",
    "tkgain", "cr", "tk", "bolt",
)  # fmt: skip
WDRC: Final = (
    "attack", "release", "fs", "maxdB", "exp_cr", "exp_end_knee", "tkgain", "tk", "cr", "bolt",
)  # fmt: skip
OF_A_BAND: Final = DSL[5:]


def read(text: str, kind: str, name: str) -> dict[str, list[float]]:
    """Read a structure as Tympan does: from its head on, a row of numbers a line."""
    lines = iter(text.splitlines())
    for line in lines:
        if kind in (code := line.split("//")[0]) and name in code:
            break
    found = {}
    for row in DSL if kind == "CHA_DSL" else WDRC:
        code = next(lines).split("//")[0].strip()
        found[row] = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", code)]
        assert re.fullmatch(r"\{?[-\d., ]+\}?,?", code)
    assert next(lines) == "};"
    return found


def gain_db(values: dict[str, list[float]], band: int, input_db_spl: float) -> float:
    """Return what Tympan's compressor adds (WDRC_circuit_gain of AudioCalcGainWDRC_F32.h)."""
    flat, ratio, knee, limit = (values[row][band] for row in ("tkgain", "cr", "tk", "bolt"))
    knee = min(knee, limit - flat)
    offset = flat + knee * (1.0 - 1.0 / ratio)
    limited_from = ratio * (limit - offset)
    if input_db_spl < knee:
        return flat
    if input_db_spl > limited_from:
        return limit + (input_db_spl - limited_from) / 10.0 - input_db_spl
    return (1.0 / ratio - 1.0) * input_db_spl + offset


def both(audiogram: str, rule: str = "nal-r") -> Fit:
    thresholds_db_hl = STANDARD_AUDIOGRAMS_DB_HL[audiogram]
    ears = {"left": thresholds_db_hl, "right": thresholds_db_hl}
    return fit_of_thresholds(STANDARD_HZ, ears, rule)


@pytest.mark.parametrize("audiogram", STANDARD_AUDIOGRAMS_DB_HL)
def test_tympan_gives_the_gains_of_the_fit_to_speech(audiogram: str) -> None:
    fit = both(audiogram)
    text = tympan.preset(fit, [])
    speech_db_spl = speech_in_bands(np.array(STANDARD_HZ, dtype=np.float64))
    for number, ear in enumerate(("left", "right")):
        values = read(text, "CHA_DSL", f"_{ear}")
        assert values["ear"] == [number]
        assert values["nchannel"] == [len(STANDARD_HZ)]
        assert {len(values[row]) for row in OF_A_BAND} == {len(STANDARD_HZ)}
        assert np.all(np.diff(values["cross_freq"][:-1]) > 0.0)
        middle_db = fit.of_ear(ear).gain_of_speech_db()
        for level, off_db in ((50.0, 0.9), (65.0, 0.05), (80.0, 0.05)):
            wanted_db = fit.of_ear(ear).gain_of_speech_db(level)
            for band, wanted in enumerate(wanted_db):
                input_db_spl = speech_db_spl[band] + level - 65.0
                had = gain_db(values, band, input_db_spl)
                limited = input_db_spl + wanted > values["bolt"][band]
                # Its compressor falls less steeply than gain that a limit takes away.
                steep_db = max(0.15 * 15.0 - (15.0 - (middle_db[band] - wanted)), 0.0)
                more_db = steep_db if level == 80.0 else 0.0
                assert had <= wanted + off_db + more_db
                assert had >= wanted - off_db or limited
                assert level == 80.0 or not limited


@budget(max_examples=examples(60))
@given(setting=settings)
def test_nothing_that_tympan_takes_in_comes_out_above_the_maximum(setting: Setting) -> None:
    for fit in (both("N2"), both("N6", "nal-rp"), plain_fit()):
        tuned = fit.tune(setting)
        text = tympan.preset(tuned, [])
        for ear in tuned.ears:
            values = read(text, "CHA_DSL", f"_{ear.ear}")
            full_scale_db_spl = values["maxdB"][0]
            for k, band in enumerate(ear.bands):
                for input_db_spl in np.linspace(0.0, full_scale_db_spl, 24):
                    output_db_spl = input_db_spl + gain_db(values, k, float(input_db_spl))
                    assert output_db_spl <= band.output_max_db_spl + 0.001


@pytest.mark.parametrize("most_db_spl", [62.0, 75.0, 90.0, 105.0])
def test_at_full_scale_a_band_has_its_maximum_also_if_it_limits_before_it_compresses(
    most_db_spl: float,
) -> None:
    band = replace(plain_band(gain_db=50.0), output_max_db_spl=most_db_spl)
    ears = tuple(EarFit(ear, (band,), 110.0) for ear in ("left", "right"))
    values = read(tympan.preset(Fit(ears, "by hand", "nobody"), []), "CHA_DSL", "_left")
    full_scale_db_spl = values["maxdB"][0]
    before_it_compresses = values["bolt"][0] < values["tkgain"][0] + values["tk"][0]
    output_db_spl = full_scale_db_spl + gain_db(values, 0, full_scale_db_spl)
    assert before_it_compresses == (most_db_spl < 100.0)
    assert most_db_spl - 0.01 < output_db_spl <= most_db_spl + 0.001


def test_the_limiter_behind_the_bands_holds_them_all_together() -> None:
    fit = both("N5")
    for ear in fit.ears:
        values = read(tympan.preset(fit, []), "CHA_WDRC", f"bb_{ear.ear}")
        powers = [10.0 ** (0.1 * band.output_max_db_spl) for band in ear.bands]
        together_db_spl = 10.0 * np.log10(sum(powers))
        of_one = {row: value for row, value in values.items() if row != "fs"}
        output_db_spl = together_db_spl + gain_db(of_one, 0, together_db_spl)
        assert output_db_spl <= ear.output_max_db_spl - 3.0 + 0.011
        assert together_db_spl > ear.output_max_db_spl - 3.0, "it has something to do"


def test_gain_that_rises_with_the_level_is_constant() -> None:
    rising = BandFit(1000.0, tuple(0.4 * level for level in range(0, 125, 5)), 60.0, 100.0)
    ears = tuple(EarFit(ear, (rising,), 100.0) for ear in ("left", "right"))
    fit = Fit(ears, "by hand", "nobody")
    values = read(tympan.preset(fit, []), "CHA_DSL", "_left")
    assert values["cr"] == [1.0]
    assert values["tkgain"][0] == pytest.approx(fit.ears[0].gain_of_speech_db()[0], abs=0.01)


def test_remarks_are_comments_of_one_line() -> None:
    text = tympan.preset(plain_fit(), ["a */ b // c # d", "x" * 1000])
    first, second = text.splitlines()[:2]
    assert first == "// a -- b -- c - d"
    assert len(second) < 300, "longer than the shortest buffer of Tympan"
    assert all(len(line) < 400 for line in text.splitlines())


# What is refused

ONE_EAR: Final = Fit(TUNED.ears[1:], "by hand", "nobody")
BANDS: Final = tuple(plain_band(200.0 + 100.0 * k) for k in range(17))
MANY: Final = Fit(tuple(replace(e, bands=BANDS) for e in TUNED.ears), "by hand", "nobody")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fit_as(".cfg", ONE_EAR, []), "the fit from nobody has no left ear"),
        (lambda: fit_as(".txt", ONE_EAR, []), "the fit from nobody has no left ear"),
        (lambda: fit_as(".txt", MANY, []), "the fit has 17 bands; allowed for Tympan are 16"),
        (lambda: librepods.settings(ASKED_HZ, {"left": LEFT_DB_HL}, []),
         "audiograms of both ears, and the right has none"),
        (lambda: librepods.settings(ASKED_HZ[:-1], AUDIOGRAMS, []),
         "from 250 to 8000 Hz, and these go from 250 to 6000 Hz"),
        (lambda: check_ears([Path("a.cfg")], ["left"]),
         ".cfg has settings of both ears, and the right ear has"),
        (lambda: check_ears([Path("a.txt")], ["left"]), ".txt has settings of both ears"),
        (lambda: check_ears([Path("a.librepods.json")], ["left"]), ".librepods.json has settings"),
        (lambda: check_ears([Path("a.easyeffects.json")], ["left"]), ".easyeffects.json has sett"),
        (lambda: check_ears([Path("a.easyeffects.json")], ["right"]), "and the left ear has none"),
    ],
)  # fmt: skip
def test_what_a_target_cannot_take_is_named(make: Callable[[], object], words: str) -> None:
    with pytest.raises((FitError, HostError), match=re.escape(words)):
        make()
