"""An equaliser gets no more than loud speech leaves room for, in a file that EasyEffects reads."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from device.speech import PEAKS_DB, FloatArray, speech_in_bands
from firmware_py.terms.outcomes import Outcome
from host_tools.commands.prescribe.ear_prescription import EarPrescription, prescribe_session
from host_tools.commands.prescribe.equaliser import (
    GAIN_MAX_DB,
    Bell,
    Curve,
    bells,
    curve_of,
    highest_db,
    louder_db,
    preset,
)
from tests.host.journals import BOTH, GpPta, recorded_calibrated

pytestmark = pytest.mark.xdist_group("recorded")

FREQUENCIES_HZ: Final = np.array([250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000.0])
EVERYWHERE_HZ: Final = np.geomspace(10.0, 21000.0, 1500)
RATES_HZ: Final = (44100.0, 48000.0, 96000.0)


def analog_db(band: dict[str, Any], at_hz: FloatArray, rate_hz: float) -> FloatArray:
    """Return a bell's gain by its analog prototype, whose frequency axis the filter bends."""
    root = 10.0 ** (band["gain"] / 40.0)
    s = 1j * np.tan(np.pi * at_hz / rate_hz) / math.tan(math.pi * band["frequency"] / rate_hz)
    response = (s**2 + s * root / band["q"] + 1.0) / (s**2 + s / (root * band["q"]) + 1.0)
    return 20.0 * np.log10(np.abs(response))


def read_easyeffects(text: str) -> dict[str, Any]:
    """Read a preset as EasyEffects does, and refuse what it would reset or pass over."""
    output = json.loads(text)["output"]
    assert output["blocklist"] == []
    assert output["plugins_order"] == ["equalizer#0"]
    equaliser: dict[str, Any] = output["equalizer#0"]
    assert not equaliser["bypass"]
    assert equaliser["split-channels"]
    assert equaliser["mode"] in ("IIR", "FIR", "FFT", "SPM")
    assert 1 <= equaliser["num-bands"] <= 32
    assert -36.0 <= equaliser["input-gain"] <= 36.0
    assert equaliser["output-gain"] == equaliser["balance"] == 0.0
    for ear in ("left", "right"):
        for number in range(equaliser["num-bands"]):
            band = equaliser[ear][f"band{number}"]
            assert band["type"] == "Bell"
            assert band["mode"] == "APO (DR)"
            assert band["slope"] == "x1"
            assert not band["solo"]
            assert not band["mute"]
            assert -36.0 <= band["gain"] <= 36.0
            assert 10.0 <= band["frequency"] <= 24000.0
            assert 0.0 < band["q"] <= 100.0
    return equaliser


def made_db(equaliser: dict[str, Any], ear: str, at_hz: FloatArray, rate_hz: float) -> FloatArray:
    bands = [equaliser[ear][f"band{n}"] for n in range(equaliser["num-bands"])]
    filters: FloatArray = np.sum([analog_db(band, at_hz, rate_hz) for band in bands], axis=0)
    return filters + equaliser["input-gain"]


def drawn_curves(seed: int) -> list[Curve]:
    """Return curves as uneven as prescriptions are, with some room above them or none."""
    random = np.random.default_rng(seed)
    curves = []
    for ear in ("left", "right"):
        most_db = np.clip(np.cumsum(random.normal(1.5, 5.0, 10)), 0.0, GAIN_MAX_DB)
        gain_db = np.minimum(random.choice([0.5, 1.0]) * most_db, most_db)
        curves.append(Curve(ear, FREQUENCIES_HZ, gain_db, most_db))
    return curves


@pytest.fixture(scope="module")
def ears() -> list[EarPrescription]:
    return prescribe_session(recorded_calibrated(BOTH), "nal-r", "closed")


class TestCurve:
    def test_it_is_the_gain_of_the_prescription_within_what_loud_speech_leaves(
        self, ears: list[EarPrescription]
    ) -> None:
        for ear in ears:
            curve = curve_of(ear)
            loud_db_spl = speech_in_bands(curve.frequencies_hz) + 15.0 + PEAKS_DB
            assert np.all(curve.gain_db >= 0.0)
            assert np.all(curve.gain_db <= GAIN_MAX_DB)
            for k, mark in enumerate(ear.marks):
                gain_db = curve.gain_db[k]
                below = gain_db + loud_db_spl[k] <= ear.output_max_db_spl.low[k] + 1e-9
                assert below or gain_db == 0.0
                gain = ear.gain_at_db[65.0]
                wanted = gain.value[k] if mark == Outcome.MEASURED else gain.low[k]
                free = wanted < curve.most_db[k] and ear.frequencies_hz[k] not in ear.given.wide_db
                assert gain_db == pytest.approx(wanted) or not free

    def test_a_threshold_in_doubt_gets_the_low_end_of_the_gain(
        self, ears: list[EarPrescription]
    ) -> None:
        # With room for loud speech.
        room = replace(ears[0].output_max_db_spl, low=ears[0].output_max_db_spl.low + 40.0)
        ear = replace(ears[0], output_max_db_spl=room)
        known = replace(ear.given, marks=(Outcome.MEASURED,) * 10, wide_db={}, doubtful_hz=())
        sure = replace(ear, given=known)
        k = ear.frequencies_hz.index(500)
        gain = ear.gain_at_db[65.0]
        assert curve_of(sure).gain_db[k] == pytest.approx(gain.value[k])
        assert gain.low[k] < gain.value[k] - 0.5
        marks = (*sure.marks[:k], Outcome.INFERRED, *sure.marks[k + 1 :])
        for doubted in (
            replace(known, marks=marks),
            replace(known, wide_db={500: (14.0, 6.0)}),
            replace(known, doubtful_hz=(500,)),
        ):
            curve = curve_of(replace(ear, given=doubted))
            assert curve.gain_db[k] == pytest.approx(gain.low[k])
            others = np.arange(10) != k
            np.testing.assert_array_equal(curve.gain_db[others], curve_of(sure).gain_db[others])


class TestBells:
    @pytest.mark.parametrize("rate_hz", RATES_HZ)
    def test_a_bell_is_that_of_the_cookbook(self, rate_hz: float) -> None:
        for gain_db in (-12.0, 3.0, 20.0):
            band = {"frequency": 3000.0, "gain": gain_db, "q": 1.41}
            found = Bell(3000.0, gain_db, 1.41).response_db(EVERYWHERE_HZ, rate_hz)
            assert found == pytest.approx(analog_db(band, EVERYWHERE_HZ, rate_hz), abs=1e-6)

    @pytest.mark.parametrize("seed", range(6))
    def test_together_they_have_the_gains_of_the_curve(self, seed: int) -> None:
        for curve in drawn_curves(seed):
            filters = bells(curve)
            at_centers = sum(f.response_db(FREQUENCIES_HZ, 48000.0) for f in filters)
            assert at_centers == pytest.approx(curve.gain_db, abs=0.1)

    @pytest.mark.parametrize("seed", range(12))
    def test_nothing_is_louder_than_without_nor_above_the_room_when_turned_up(
        self, seed: int
    ) -> None:
        curves = drawn_curves(seed)
        equaliser = read_easyeffects(preset(curves, [])[0])
        filters = [bells(curve) for curve in curves]
        assert equaliser["input-gain"] == -max(map(highest_db, filters))
        turned_db = louder_db(zip(curves, filters, strict=True), equaliser["input-gain"])
        nearest_db = []
        for curve in curves:
            known = np.log2(FREQUENCIES_HZ)
            most_db = np.interp(np.log2(EVERYWHERE_HZ), known, curve.most_db)
            for rate_hz in RATES_HZ:
                heard_db = made_db(equaliser, curve.ear, EVERYWHERE_HZ, rate_hz)
                assert heard_db.max() <= 0.02
                nearest_db.append(np.min(most_db - heard_db - turned_db))
        assert min(nearest_db) >= -0.05
        assert min(nearest_db) < 0.2, "it may be turned up as far as there is room"


class TestFiles:
    def test_easyeffects_reads_the_curve_of_each_ear(self, ears: list[EarPrescription]) -> None:
        curves = [curve_of(ear) for ear in ears]
        text, said = preset(curves, ["a remark"])

        equaliser = read_easyeffects(text)
        for curve in curves:
            found = made_db(equaliser, curve.ear, curve.frequencies_hz, 48000.0)
            assert found - equaliser["input-gain"] == pytest.approx(curve.gain_db, abs=0.1)
        assert json.loads(text)["remarks"] == [*said, "a remark"]
        assert "no hearing aid: it does not compress" in said[0]


class TestCommand:
    def test_the_file_is_written_with_its_warning(self, tmp_path: Path, gp_pta: GpPta) -> None:
        out = tmp_path / "a.easyeffects.json"
        code, _, err = gp_pta("prescribe", BOTH, "--uncalibrated", "-o", out)
        assert code == 0
        assert f"{out} written" in err
        assert "An equaliser is no hearing aid" in err
        read_easyeffects(out.read_text(encoding="utf-8"))
