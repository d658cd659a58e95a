"""Curves of equalisers as EasyEffects and AutoEq read them.

EasyEffects has presets in JSON. That of the equaliser has, for each ear, bands `band0`, `band1` ...
with a frequency, a gain and a Q; with "split-channels" the ears differ. Names are those of its
equalizer_preset.cpp (version 8.2.8), whose reader passes over what it does not know, such as our
remarks.

AutoEq makes filters for an earphone whose response it knows. A "sound signature" is added to the
target: a CSV with the columns `frequency` and `raw` (dB), of one ear, which it centres at 1 kHz. It
extrapolates on a line, so the file goes from 20 Hz to 20 kHz.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from firmware_py.findings.rows import Row, row
from host_tools.catalogue import ENGLISH, language_of
from host_tools.commands.prescribe.equaliser import (
    Bell,
    Curve,
    bells,
    equaliser_rows,
    highest_db,
    louder_db,
)

SIGNATURE_HZ: Final = np.geomspace(20.0, 20000.0, 121)


def easyeffects_preset(curves: Sequence[Curve], remarks: Sequence[str]) -> tuple[str, list[str]]:
    """Return a preset for sound that is played, and what has to be said with it.

    Parameters
    ----------
    curves : sequence of Curve
        Of the left ear and of the right.
    remarks : sequence of str
        Of the prescription.
    """
    pairs = [(curve, bells(curve)) for curve in curves]
    preamp_db = -max(highest_db(filters) for _, filters in pairs)
    said = _in_english(equaliser_rows(louder_db(pairs, preamp_db)))
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
        equaliser[curve.ear] = {f"band{n}": _band(each) for n, each in enumerate(filters)}
    output = {"blocklist": [], "plugins_order": ["equalizer#0"], "equalizer#0": equaliser}
    return json.dumps({"remarks": [*said, *remarks], "output": output}, indent=1) + "\n", said


def _band(bell: Bell) -> dict[str, Any]:
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


def autoeq_signature(curve: Curve, remarks: Sequence[str]) -> tuple[str, list[str]]:
    """Return a sound signature for one ear, and what has to be said with it."""
    at = np.interp(np.log2(SIGNATURE_HZ), np.log2(curve.frequencies_hz), curve.gain_db)
    relative_db = at - curve.gain_db.max()
    said = _in_english([row("equaliser-no-aid"), row("autoeq-differences")])
    # A comment with a comma would be taken for the head of the two columns.
    (ear,) = _in_english([row(f"ear-{curve.ear}")])
    comments = [f"# {each.replace(',', ';')}" for each in (ear, *said, *remarks)]
    rows = [
        f"{frequency_hz:.2f},{level_db:.2f}"
        for frequency_hz, level_db in zip(SIGNATURE_HZ, relative_db, strict=True)
    ]
    return "\n".join([*comments, "frequency,raw", *rows]) + "\n", said


def _in_english(rows: Iterable[Row]) -> list[str]:
    return [*map(language_of(ENGLISH).say, rows)]
