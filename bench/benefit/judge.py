"""HASPI and HASQI of sounds, one after another; runs in an environment of its own.

A line of JSON on standard input is a sound to judge, a line on standard output the scores. Both
models add some noise of their own; it is the same for every sound, so the same sound always has
the same scores.
"""

import json
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile
from clarity.evaluator.haspi import ebm, haspi_v2
from clarity.evaluator.hasqi import hasqi_v2
from clarity.utils.audiogram import Audiogram
from scipy.signal import oaconvolve

from firmware_py.platform.program import run_program

FloatArray = npt.NDArray[np.float64]

SEED = 1


def convolve(columns: FloatArray, filter_column: FloatArray, mode: str) -> FloatArray:
    """Return columns, (m, n), convolved with one, (k, 1): what HASPI does sample by sample.

    By spectra it takes half of the time for a whole score, which differs by less than 1e-9.
    """
    found: FloatArray = oaconvolve(columns, filter_column, mode, axes=0)
    return found


def scores(sound: dict[str, Any]) -> dict[str, float]:
    """Return what the models say of a sound.

    Parameters
    ----------
    sound : dict
        `reference`, `processed`: files of one channel with the same rate; `full_scale_db_spl`: the
        level of an RMS of 1; `frequencies_hz`, `thresholds_db_hl`: of the ear that listens;
        `measures`: "haspi", "hasqi" or both.

    Returns
    -------
    scores : dict
        By measure, 0 to 1. The models find the delay by themselves.
    """
    reference, rate_hz = soundfile.read(sound["reference"])
    processed, processed_hz = soundfile.read(sound["processed"])
    ear = Audiogram(sound["thresholds_db_hl"], sound["frequencies_hz"])
    signals = (reference, rate_hz, processed, processed_hz, ear)
    level = float(sound["full_scale_db_spl"])
    found = {}
    for measure in sound["measures"]:
        np.random.seed(SEED)
        if measure == "haspi":
            found[measure] = float(haspi_v2(*signals, level1=level)[0])
        elif measure == "hasqi":
            found[measure] = float(hasqi_v2(*signals, equalisation=1, level1=level)[0])
        else:
            raise ValueError(f"measure is {measure!r}; allowed are haspi, hasqi")
    return found


def main() -> None:
    """Judge until the input ends."""
    ebm.convolve2d = convolve
    for line in sys.stdin:
        print(json.dumps(scores(json.loads(line))), flush=True)


if __name__ == "__main__":
    sys.exit(run_program(main))
