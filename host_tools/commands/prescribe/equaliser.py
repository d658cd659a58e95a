"""An equaliser's curve from a prescription: its linear part, held where nothing else would hold it.

An equaliser is no hearing aid. It has one gain for all levels, so the gain is also right for loud
speech: it is no more than what keeps its peaks below the most output of the fit. Doubt counts
against it: that limit is the low end of its band, and a gain that rests on a threshold which is
inferred, wide or in doubt is the low end of the gain's. How loud an earphone plays is not known, so
a curve is written below 0 dB: without a turn of the volume nothing is louder than before.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from device.speech import CONVERSATION_DB_SPL, LOUD_DB_SPL, FloatArray
from firmware_py.findings.rows import Row, row
from firmware_py.terms.outcomes import Outcome
from host_tools.catalogue import ENGLISH, language_of
from host_tools.commands.prescribe.ear_prescription import EarPrescription

GAIN_MAX_DB: Final = 20.0  # ours: more would leave too little of 16 bits
SAMPLE_RATES_HZ: Final = (44100.0, 48000.0, 96000.0)  # a bell near half of it is a little narrower
CHECKED_HZ: Final = np.geomspace(20.0, 20000.0, 721)
CORRECTIONS: Final = 40  # of the gains of bells, which overlap
BELL_MAX_DB: Final = 30.0
DIGITS: Final = 2


@dataclass(frozen=True)
class Curve:
    """What an equaliser is to do for one ear."""

    ear: str
    frequencies_hz: FloatArray  # (m,), rising
    gain_db: FloatArray  # (m,), 0 and more
    most_db: FloatArray  # (m,) with more gain, loud speech would exceed the most output


@dataclass(frozen=True)
class Bell:
    """A filter: a peak of this gain, dB, about a frequency (Bristow-Johnson's audio cookbook)."""

    frequency_hz: float
    gain_db: float
    q: float

    def response_db(self, at_hz: FloatArray, sample_rate_hz: float) -> FloatArray:
        """Return its gain at frequencies below half of the sample rate, (n,)."""
        root = 10.0 ** (self.gain_db / 40.0)
        angle = 2.0 * math.pi * self.frequency_hz / sample_rate_hz
        alpha = math.sin(angle) / (2.0 * self.q)
        z = np.exp(-2j * math.pi * np.asarray(at_hz) / sample_rate_hz)
        middle = -2.0 * math.cos(angle)
        above = 1.0 + alpha * root + middle * z + (1.0 - alpha * root) * z**2
        below = 1.0 + alpha / root + middle * z + (1.0 - alpha / root) * z**2
        gain_db: FloatArray = 20.0 * np.log10(np.abs(above / below))
        return gain_db


def curve_of(ear: EarPrescription) -> Curve:
    assert ear.given.has_bands, "doubt counts against the gain"
    centers_hz = np.array(ear.frequencies_hz, dtype=np.float64)
    room_db = ear.prescribed.linear_gain_max_db(ear.output_max_db_spl.low)
    most_db = np.clip(room_db, 0.0, GAIN_MAX_DB)
    gain = ear.gain_at_db[CONVERSATION_DB_SPL]
    doubted = [
        mark != Outcome.MEASURED or f in ear.given.wide_db or f in ear.given.doubtful_hz
        for f, mark in zip(ear.frequencies_hz, ear.marks, strict=True)
    ]
    wanted_db = np.where(doubted, np.minimum(gain.low, gain.value), gain.value)
    return Curve(ear.ear, centers_hz, np.clip(wanted_db, 0.0, most_db), most_db)


def bells(curve: Curve) -> list[Bell]:
    """Return a filter at each frequency, which together have the gains of the curve there."""
    qs = _qs(curve.frequencies_hz)
    centers_hz = [float(f) for f in curve.frequencies_hz]
    unit = [Bell(f, 1.0, q) for f, q in zip(centers_hz, qs, strict=True)]
    overlap = np.stack([_response_db([bell], curve.frequencies_hz) for bell in unit], axis=-1)
    gains_db = np.zeros(len(unit))
    for _ in range(CORRECTIONS):
        made = _bells(centers_hz, gains_db, qs)
        missing_db = curve.gain_db - _response_db(made, curve.frequencies_hz)
        gains_db = gains_db + 0.5 * np.linalg.solve(overlap, missing_db)
        gains_db = np.clip(gains_db, -BELL_MAX_DB, BELL_MAX_DB)
    return _bells(centers_hz, gains_db.round(DIGITS), qs)


def highest_db(filters: Sequence[Bell]) -> float:
    """Return the largest gain of filters at any frequency and usual sample rate, rounded up."""
    most_db = max(float(_response_db(filters, CHECKED_HZ, rate).max()) for rate in SAMPLE_RATES_HZ)
    return math.ceil(max(most_db, 0.0) * 10.0**DIGITS) / 10.0**DIGITS


def louder_db(pairs: Iterable[tuple[Curve, Sequence[Bell]]], preamp_db: float) -> float:
    """Return how much louder all may be played so that no ear exceeds its `most_db`.

    Between the frequencies of a curve that is on a line over log frequency, beyond them held.
    """
    room_db = [
        np.interp(np.log2(CHECKED_HZ), np.log2(curve.frequencies_hz), curve.most_db)
        - (_response_db(filters, CHECKED_HZ, rate) + preamp_db)
        for curve, filters in pairs
        for rate in SAMPLE_RATES_HZ
    ]
    return max(math.floor(float(np.min(room_db)) * 10.0) / 10.0, 0.0)


def preset(curves: Sequence[Curve], remarks: Sequence[str]) -> tuple[str, list[str]]:
    """Return a preset of EasyEffects for both ears, left first, and what has to be said with it.

    It has presets in JSON. That of the equaliser has, for each ear, bands `band0`, `band1` ... with
    a frequency, a gain and a Q; with "split-channels" the ears differ. Names are those of its
    equalizer_preset.cpp (version 8.2.8), whose reader passes over what it does not know, such as
    our remarks.
    """
    pairs = [(curve, bells(curve)) for curve in curves]
    preamp_db = -max(highest_db(filters) for _, filters in pairs)
    said = [*map(language_of(ENGLISH).say, equaliser_rows(louder_db(pairs, preamp_db)))]
    equaliser: dict[str, Any] = {
        "bypass": False,
        "input-gain": preamp_db,
        "output-gain": 0.0,
        "mode": "IIR",
        "num-bands": len(pairs[0][1]),
        "split-channels": True,
        "balance": 0.0,
        "pitch-left": 0.0,
        "pitch-right": 0.0,
    }
    for curve, filters in pairs:
        equaliser[curve.ear] = {f"band{n}": _as_band(each) for n, each in enumerate(filters)}
    output = {"blocklist": [], "plugins_order": ["equalizer#0"], "equalizer#0": equaliser}
    return json.dumps({"remarks": [*said, *remarks], "output": output}, indent=1) + "\n", said


def _as_band(bell: Bell) -> dict[str, Any]:
    return {
        "type": "Bell",
        "mode": "APO (DR)",
        "slope": "x1",
        "solo": False,
        "mute": False,
        "gain": bell.gain_db,
        "frequency": bell.frequency_hz,
        "q": bell.q,
        "width": 4.0,
    }


def equaliser_rows(louder: float) -> list[Row]:
    """Say what a file is not, and how loud it may be played."""
    figures = {"offset_db": louder, "level": LOUD_DB_SPL, "gain_max_db": GAIN_MAX_DB}
    return [row("equaliser-no-aid"), row("equaliser-louder", **figures)]


def _bells(centers_hz: Sequence[float], gains_db: FloatArray, qs: Sequence[float]) -> list[Bell]:
    rows = zip(centers_hz, gains_db.tolist(), qs, strict=True)
    return [Bell(frequency_hz, gain_db, q) for frequency_hz, gain_db, q in rows]


def _qs(centers_hz: FloatArray) -> list[float]:
    """Return the Q of each bell: as wide as it is far to its neighbours."""
    apart = np.diff(np.log2(centers_hz))
    widths = 0.5 * (np.concatenate((apart[:1], apart)) + np.concatenate((apart, apart[-1:])))
    ratios = 2.0**widths
    return [round(float(q), DIGITS) for q in np.sqrt(ratios) / (ratios - 1.0)]


def _response_db(
    filters: Iterable[Bell], at_hz: FloatArray, sample_rate_hz: float = SAMPLE_RATES_HZ[1]
) -> FloatArray:
    together: FloatArray = np.sum([f.response_db(at_hz, sample_rate_hz) for f in filters], axis=0)
    return together
