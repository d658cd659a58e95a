"""A fragment of an openMHA configuration: its filter bank and its dynamic compressor `dc`.

openMHA reads `name = value` lines; `dc` takes one row of gains for every band, those of the left
ear first, over input levels in dB SPL in that band (openMHA's plugin documentation).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from device.hearing_aid.compression import Compression
from device.hearing_aid.speech import FloatArray

CHAIN: Final = "mha.overlapadd.mhachain"  # of both, as in openMHA's own examples
LEVEL_MIN_DB_SPL: Final = 0
LEVEL_MAX_DB_SPL: Final = 120
LEVEL_STEP_DB: Final = 5
ATTACK_S: Final = 0.005  # of a syllabic compressor
RELEASE_S: Final = 0.1


def configuration(left: Compression, right: Compression, remarks: Sequence[str]) -> str:
    """Return the lines for both ears.

    Parameters
    ----------
    left, right : Compression
        With the same bands.
    remarks : sequence of str
        Written as comments at the top.
    """
    steps = range(LEVEL_MIN_DB_SPL, LEVEL_MAX_DB_SPL + 1, LEVEL_STEP_DB)
    rows = [
        _row([ear.gain_at(level)[band] for level in steps])
        for ear in (left, right)
        for band in range(len(ear.center_hz))
    ]
    settings: Mapping[str, str] = {
        "fftfilterbank.unit": "Hz",
        "fftfilterbank.f": _row(left.center_hz, 0),
        "fftfilterbank.fscale": "log",
        "fftfilterbank.ovltype": "rect",
        "fftfilterbank.ftype": "center",
        "dc.gtdata": f"[{';'.join(rows)}]",
        "dc.gtmin": f"[{LEVEL_MIN_DB_SPL}]",
        "dc.gtstep": f"[{LEVEL_STEP_DB}]",
        "dc.tau_attack": f"[{ATTACK_S}]",
        "dc.tau_decay": f"[{RELEASE_S}]",
        "dc.fb": "fftfilterbank",
        "dc.chname": "fftfilterbank_nchannels",
    }
    comments = [f"# {remark}" for remark in remarks]
    lines = [f"{CHAIN}.{name} = {value}" for name, value in settings.items()]
    return "\n".join([*comments, *lines]) + "\n"


def _row(values: Sequence[float] | FloatArray, digits: int = 1) -> str:
    return f"[{' '.join(f'{value:.{digits}f}' for value in values)}]"
