"""Tympan reads a preset line by line, and with it gives the gains of the fit and no more."""

import re
from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget

from device.hearing_aid.fit import BandFit, EarFit, Fit, FitError
from device.hearing_aid.prescription import fit_of_thresholds
from device.speech import speech_in_bands
from firmware_py.comparisons.space import Setting
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from host_tools.commands.prescribe.tympan import preset
from tests.budget import examples
from tests.device.hearing_aid.fits import plain_band, plain_fit, settings

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
    return fit_of_thresholds(FREQUENCIES_HZ, ears, rule)


@pytest.mark.parametrize("audiogram", STANDARD_AUDIOGRAMS_DB_HL)
def test_tympan_gives_the_gains_of_the_fit_to_speech(audiogram: str) -> None:
    fit = both(audiogram)
    text = preset(fit, [])
    speech_db_spl = speech_in_bands(np.array(FREQUENCIES_HZ, dtype=np.float64))
    for number, ear in enumerate(("left", "right")):
        values = read(text, "CHA_DSL", f"_{ear}")
        assert values["ear"] == [number]
        assert values["nchannel"] == [len(FREQUENCIES_HZ)]
        assert {len(values[row]) for row in OF_A_BAND} == {len(FREQUENCIES_HZ)}
        assert np.all(np.diff(values["cross_freq"][:-1]) > 0.0)
        for level, off_db in ((50.0, 0.9), (65.0, 0.05), (80.0, 0.05)):
            wanted_db = fit.of_ear(ear).gain_of_speech_db(level)
            for band, wanted in enumerate(wanted_db):
                input_db_spl = speech_db_spl[band] + level - 65.0
                had = gain_db(values, band, input_db_spl)
                limited = input_db_spl + wanted > values["bolt"][band]
                assert had == pytest.approx(wanted, abs=off_db) or (limited and had < wanted)
                assert level == 80.0 or not limited


@budget(max_examples=examples(60))
@given(setting=settings)
def test_nothing_that_tympan_takes_in_comes_out_above_the_maximum(setting: Setting) -> None:
    for fit in (both("N2"), both("N6", "nal-rp"), plain_fit()):
        tuned = fit.tune(setting)
        text = preset(tuned, [])
        for ear in tuned.ears:
            values = read(text, "CHA_DSL", f"_{ear.ear}")
            full_scale_db_spl = values["maxdB"][0]
            for k, band in enumerate(ear.bands):
                for input_db_spl in np.linspace(0.0, full_scale_db_spl, 24):
                    output_db_spl = input_db_spl + gain_db(values, k, float(input_db_spl))
                    assert output_db_spl <= band.output_max_db_spl + 0.001


def test_the_limiter_behind_the_bands_holds_them_all_together() -> None:
    fit = both("N5")
    for ear in fit.ears:
        values = read(preset(fit, []), "CHA_WDRC", f"bb_{ear.ear}")
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
    values = read(preset(fit, []), "CHA_DSL", "_left")
    assert values["cr"] == [1.0]
    assert values["tkgain"][0] == pytest.approx(fit.ears[0].gain_of_speech_db()[0], abs=0.01)


def test_remarks_are_comments_of_one_line() -> None:
    text = preset(plain_fit(), ["a */ b // c # d", "x" * 1000])
    first, second = text.splitlines()[:2]
    assert first == "// a -- b -- c - d"
    assert len(second) < 300, "longer than the shortest buffer of Tympan"
    assert all(len(line) < 400 for line in text.splitlines())


def test_what_tympan_cannot_take_is_named() -> None:
    one = Fit(plain_fit().ears[:1], "by hand", "nobody")
    with pytest.raises(FitError, match="has no right ear"):
        preset(one, [])
    bands = tuple(plain_band(200.0 + 100.0 * k) for k in range(17))
    many = Fit(tuple(replace(ear, bands=bands) for ear in plain_fit().ears), "by hand", "nobody")
    with pytest.raises(FitError, match="the fit has 17 bands; allowed for Tympan are 16"):
        preset(many, [])
