"""The chain of the hearing aid in openMHA: filter bank, compressor, limiters; its configuration.

openMHA reads `name = value` lines. Its `transducers` count levels in dB SPL, with digital full
scale at `FULL_SCALE_DB_SPL`, and the last thing they do at the output is to clip there: no sample
leaves above the fit's `output_max_db_spl`. Its `dc` takes one row of gains for every band, those of
the left ear first, over input levels in dB SPL in that band (openMHA's plugin documentation).
No band exceeds its limit since two limiters behind it take away at once what is too much, in the
bands of `band_limits.py`: each a filter bank without overlap and a `dc` without attack. Gains below
0 in the table, which would hold a band more slowly, would be too much: see `LIMITER_EARLY_DB`.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from device.hearing_aid.band_limits import LimitedBands, limited_bands
from device.hearing_aid.filter_bank import correct
from device.hearing_aid.fit import INPUT_LEVELS_DB_SPL, LEVEL_STEP_DB, EarFit, Fit
from device.speech import FloatArray
from firmware_py.terms.route import LEFT, RIGHT

TRANSDUCERS: Final = "mha"
CHAIN: Final = "mha.overlapadd.mhachain"
GAIN_TABLE: Final = f"{CHAIN}.dc.gtdata"

SAMPLE_RATE_HZ: Final = 24_000
BLOCK_FRAMES: Final = 56
WINDOW_FRAMES: Final = 224  # with the block and its overlap some 6 ms of delay
FFT_FRAMES: Final = 256
FULL_SCALE_DB_SPL: Final = 118.0  # of an RMS of 1; a square wave there is as loud as an aid hears
ATTACK_S: Final = 0.005  # of a syllabic compressor
RELEASE_S: Final = 0.1
LIMITER_RELEASE_S: Final = 0.01  # longer, and a step up would be followed by a dip
# So much below the limit of a band the two hold, in the order of `limited_bands`: for what sharp
# edges between bands add, and what is on both sides of one.
LIMITER_MARGINS_DB: Final = {"halfway": 1.0, "between": 2.0}
# Some so much below it a steady tone may be held: beside its own band it is soft in others, which
# give it more gain. In each window that adds to its power, up to 3 dB; where the windows overlap it
# cancels, and what comes out is softer than the limiters took it for. Gains that fall by as much as
# the level rises, as below a limit in the table, add more, and made an attack three times as long.
LIMITER_EARLY_DB: Final = 4.0
LIMITER_STEP_DB: Final = 10.0  # of a table of three gains: nothing, nothing, and softer by a step
# From so much of the maximum on the output is bent, so that most of it is not clipped hard.
SOFT_SHARE: Final = 0.8
SOFT_SLOPE: Final = 0.5


def configuration(fit: Fit, remarks: Sequence[str] = ()) -> str:
    """Return the whole chain for a fit of both ears, but for where sound comes from and goes to.

    Remarks are comments at the top. `FitError` if the fit has one ear only.
    """
    limit, limiters = output_limit(fit), " ".join(map(_parts, LIMITER_MARGINS_DB))
    levels = f"[{FULL_SCALE_DB_SPL:g} {FULL_SCALE_DB_SPL:g}]"
    settings: dict[str, str] = {
        "srate": str(SAMPLE_RATE_HZ),
        "fragsize": str(BLOCK_FRAMES),
        "nchannels_in": "2",
        "mhalib": "transducers",
        f"{TRANSDUCERS}.plugin_name": "overlapadd",
        f"{TRANSDUCERS}.calib_in.peaklevel": levels,
        f"{TRANSDUCERS}.calib_out.peaklevel": levels,
        f"{TRANSDUCERS}.calib_out.do_clipping": "yes",
        f"{TRANSDUCERS}.calib_out.softclip.threshold": f"{SOFT_SHARE * limit:.9f}",
        f"{TRANSDUCERS}.calib_out.softclip.hardlimit": f"{limit:.9f}",
        f"{TRANSDUCERS}.calib_out.softclip.slope": f"{SOFT_SLOPE:g}",
        f"{TRANSDUCERS}.overlapadd.fftlen": str(FFT_FRAMES),
        f"{TRANSDUCERS}.overlapadd.wnd.len": str(WINDOW_FRAMES),
        f"{TRANSDUCERS}.overlapadd.plugin_name": "mhachain",
        f"{CHAIN}.algos": f"[fftfilterbank dc combinechannels {limiters}]",
        f"{CHAIN}.fftfilterbank.unit": "Hz",
        f"{CHAIN}.fftfilterbank.f": row([band.center_hz for band in fit.ears[0].bands], 0),
        f"{CHAIN}.fftfilterbank.fscale": "log",
        f"{CHAIN}.fftfilterbank.ovltype": "hanning",
        f"{CHAIN}.fftfilterbank.ftype": "center",
        f"{CHAIN}.fftfilterbank.plateau": "0",
        GAIN_TABLE: gain_table(fit),
        f"{CHAIN}.dc.gtmin": f"[{INPUT_LEVELS_DB_SPL[0]:g}]",
        f"{CHAIN}.dc.gtstep": f"[{LEVEL_STEP_DB:g}]",
        f"{CHAIN}.dc.log_interp": "yes",
        f"{CHAIN}.dc.tau_attack": f"[{ATTACK_S}]",
        f"{CHAIN}.dc.tau_decay": f"[{RELEASE_S}]",
        f"{CHAIN}.dc.fb": "fftfilterbank",
        f"{CHAIN}.dc.chname": "fftfilterbank_nchannels",
        f"{CHAIN}.combinechannels.outchannels": "2",
    }
    for name, bands in zip(
        LIMITER_MARGINS_DB, limited_bands(_ears(fit), SAMPLE_RATE_HZ), strict=True
    ):
        settings |= _limiter(name, bands)
    comments = [f"# {remark}" for remark in remarks]
    lines = [f"{name} = {value}" for name, value in settings.items()]
    return "\n".join([*comments, *lines]) + "\n"


def gain_table(fit: Fit) -> str:
    """Return the gains of a fit of both ears as `dc` takes them; `FitError` if one is missing."""
    return table_text(gain_rows(fit))


def gain_rows(fit: Fit) -> FloatArray:
    """Return those gains as numbers: a row for every band, the left ear's first, over level."""
    return np.concatenate(
        [
            correct(
                ear.table.center_hz, ear.table.gains_db, SAMPLE_RATE_HZ, FFT_FRAMES, WINDOW_FRAMES
            )
            for ear in _ears(fit)
        ]
    )


def _ears(fit: Fit) -> tuple[EarFit, EarFit]:
    return fit.of_ear(LEFT), fit.of_ear(RIGHT)


def _parts(name: str) -> str:
    return f"fftfilterbank:{name} dc:{name}_limit combinechannels:{name}_sum"


def _limiter(name: str, bands: LimitedBands) -> dict[str, str]:
    """Return the settings of a limiter: above the limit of a band 1 dB less for each that comes."""
    starts_db_spl = bands.limits_db_spl.ravel() - LIMITER_MARGINS_DB[name] - LIMITER_STEP_DB
    gains = ";".join([f"[0 0 {-LIMITER_STEP_DB:g}]"] * len(starts_db_spl))
    return {
        f"{CHAIN}.{name}.unit": "Hz",
        f"{CHAIN}.{name}.f": row(bands.edges_hz.tolist(), 2),
        f"{CHAIN}.{name}.fscale": "log",
        f"{CHAIN}.{name}.ovltype": "rect",
        f"{CHAIN}.{name}.ftype": "edge",
        f"{CHAIN}.{name}.fail_on_unique_bins": "no",
        f"{CHAIN}.{name}.flag_allow_empty_bands": "yes",
        f"{CHAIN}.{name}_limit.gtdata": f"[{gains}]",
        f"{CHAIN}.{name}_limit.gtmin": row(starts_db_spl.tolist(), 2),
        f"{CHAIN}.{name}_limit.gtstep": f"[{LIMITER_STEP_DB:g}]",
        f"{CHAIN}.{name}_limit.log_interp": "yes",
        f"{CHAIN}.{name}_limit.tau_attack": "[0]",
        f"{CHAIN}.{name}_limit.tau_decay": f"[{LIMITER_RELEASE_S}]",
        f"{CHAIN}.{name}_limit.fb": name,
        f"{CHAIN}.{name}_limit.chname": f"{name}_nchannels",
        f"{CHAIN}.{name}_sum.outchannels": "2",
    }


def table_text(rows: FloatArray) -> str:
    return f"[{';'.join(row(each.tolist(), 2) for each in rows)}]"


def output_limit(fit: Fit) -> float:
    """Return the largest sample that may leave, of full scale: that of the more sensitive ear."""
    return float(full_scale_of(min(ear.output_max_db_spl for ear in fit.ears)))


def full_scale_of(level_db_spl: float | FloatArray) -> FloatArray:
    """Return levels as amplitudes of full scale."""
    return np.asarray(10.0 ** (0.05 * (level_db_spl - FULL_SCALE_DB_SPL)))


def row(values: Sequence[float], digits: int) -> str:
    return f"[{' '.join(f'{value:.{digits}f}' for value in values)}]"
