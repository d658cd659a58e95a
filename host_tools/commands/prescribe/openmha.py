"""A fragment of an openMHA configuration: its filter bank and its dynamic compressor `dc`.

openMHA reads `name = value` lines; `dc` takes one row of gains for every band, those of the left
ear first, over input levels in dB SPL in that band (openMHA's plugin documentation).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from device.hearing_aid.fit import INPUT_LEVELS_DB_SPL, LEVEL_STEP_DB, Fit
from firmware_py.procedure.settings import LEFT, RIGHT

CHAIN: Final = "mha.overlapadd.mhachain"  # of both, as in openMHA's own examples
ATTACK_S: Final = 0.005  # of a syllabic compressor
RELEASE_S: Final = 0.1


def configuration(fit: Fit, remarks: Sequence[str]) -> str:
    """Return the lines for a fit of both ears.

    Parameters
    ----------
    fit : Fit
    remarks : sequence of str
        Written as comments at the top.

    Raises
    ------
    FitError
        If the fit has one ear only.
    """
    ears = (fit.of_ear(LEFT), fit.of_ear(RIGHT))
    rows = [_row(band.gains_db, 2) for ear in ears for band in ear.bands]
    settings: Mapping[str, str] = {
        "fftfilterbank.unit": "Hz",
        "fftfilterbank.f": _row([band.center_hz for band in ears[0].bands], 0),
        "fftfilterbank.fscale": "log",
        "fftfilterbank.ovltype": "rect",
        "fftfilterbank.ftype": "center",
        "dc.gtdata": f"[{';'.join(rows)}]",
        "dc.gtmin": f"[{INPUT_LEVELS_DB_SPL[0]:g}]",
        "dc.gtstep": f"[{LEVEL_STEP_DB:g}]",
        "dc.tau_attack": f"[{ATTACK_S}]",
        "dc.tau_decay": f"[{RELEASE_S}]",
        "dc.fb": "fftfilterbank",
        "dc.chname": "fftfilterbank_nchannels",
    }
    comments = [f"# {remark}" for remark in remarks]
    lines = [f"{CHAIN}.{name} = {value}" for name, value in settings.items()]
    return "\n".join([*comments, *lines]) + "\n"


def _row(values: Sequence[float], digits: int) -> str:
    return f"[{' '.join(f'{value:.{digits}f}' for value in values)}]"
