"""An equaliser's curves as EasyEffects reads them.

It has presets in JSON. That of the equaliser has, for each ear, bands `band0`, `band1` ... with a
frequency, a gain and a Q; with "split-channels" the ears differ. Names are those of its
equalizer_preset.cpp (version 8.2.8), whose reader passes over what it does not know, such as our
remarks.
"""

import json
from collections.abc import Sequence
from typing import Any

from host_tools.catalogue import ENGLISH, language_of
from host_tools.commands.prescribe.equaliser import (
    Bell,
    Curve,
    bells,
    equaliser_rows,
    highest_db,
    louder_db,
)


def preset(curves: Sequence[Curve], remarks: Sequence[str]) -> tuple[str, list[str]]:
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
