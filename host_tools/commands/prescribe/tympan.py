"""A preset of Tympan, the open hearing aid on a Teensy: the text that it reads from its SD card.

Tympan's library keeps the compressor of the bands in a structure `CHA_DSL` and the limiter behind
them in a `CHA_WDRC` (BTNRH_WDRC_Types.h), of which the sketch with presets reads those of the left
ear and those of the right from Preset_16_00.txt. A value, or a value a band, stands on a line, in
the order of the structure; what follows // is a comment, and / * # else would end a line.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from device.hearing_aid.fit import EarFit, Fit, FitError
from device.hearing_aid.prescription import SINE_PEAK_DB
from device.speech import CONVERSATION_DB_SPL, LOUD_DB_SPL, SOFT_DB_SPL, speech_in_bands
from firmware_py.findings.rows import row
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.catalogue import ENGLISH, language_of

CHANNELS_MAX: Final = 16  # DSL_MXCH_TYMPAN
ATTACK_MS: Final = 5.0
RELEASE_MS: Final = 100.0
LIMITER_ATTACK_MS: Final = 1.0
LIMITER_RELEASE_MS: Final = 50.0
SAMPLE_RATE_HZ: Final = 24000.0  # the sketch ignores it
# What the microphone's input is at 0 dBFS in the presets that come with Tympan: to be changed to
# that of the aid, for all levels rest on it.
FULL_SCALE_DB_SPL: Final = 115.0
LIMITING_RATIO: Final = 10.0  # above `bolt`, in Tympan's program
SLOPE_MAX: Final = 0.85  # of the gain over the level: a ratio of 6.7, below that of the limiter
NOTHING_ENDS_A_LINE: Final = str.maketrans(dict.fromkeys("/*#", "-"))
DIGITS: Final = 4
LINE_CHARACTERS_MAX: Final = 250  # its shortest buffer has 300


@dataclass(frozen=True)
class _Channel:
    """The compressor of a band as Tympan has it: flat, a line, and a limit at a ratio of 10."""

    gain_db: float  # up to the knee
    knee_db_spl: float
    ratio: float
    limit_db_spl: float  # at the output, from where it limits


def preset(fit: Fit, remarks: Sequence[str]) -> str:
    """Return the preset for a fit of both ears, with remarks as comments at the top.

    Between soft and loud speech each band has the gains of the fit where these lie on a line that
    ends at a knee; at 0 dBFS nothing is above the fit's maximum output. `FitError` if the fit has
    one ear only, or more bands than Tympan.
    """
    ears = [fit.of_ear(ear) for ear in (LEFT, RIGHT)]
    if len(ears[0].bands) > CHANNELS_MAX:
        raise FitError(
            f"the fit has {len(ears[0].bands)} bands; allowed for Tympan are {CHANNELS_MAX}"
        )
    most_output = language_of(ENGLISH).say(row("tympan-most-output"))
    comments = [
        f"// {remark.translate(NOTHING_ENDS_A_LINE)[:LINE_CHARACTERS_MAX]}"
        for remark in (*remarks, most_output)
    ]
    parts = [part for number, ear in enumerate(ears) for part in _structures(number, ear)]
    return "\n".join([*comments, *parts]) + "\n"


def _structures(number: int, ear: EarFit) -> list[str]:
    channels = _channels(ear)
    centers_hz = [band.center_hz for band in ear.bands]
    crossings_hz = [math.sqrt(low * high) for low, high in itertools.pairwise(centers_hz)]
    # Tympan reads as many crossings as channels, and uses one less.
    crossings_hz.append(crossings_hz[-1] if crossings_hz else centers_hz[-1])
    bands = [
        ("ear (0 left, 1 right)", [float(number)]),
        ("number of channels", [float(len(channels))]),
        ("crossing frequencies (Hz)", crossings_hz),
        ("expansion: ratio, none", [1.0] * len(channels)),
        ("expansion: knee (dB SPL), never reached", [0.0] * len(channels)),
        ("gain up to the knee (dB)", [channel.gain_db for channel in channels]),
        ("compression: ratio", [channel.ratio for channel in channels]),
        ("compression: knee (dB SPL)", [channel.knee_db_spl for channel in channels]),
        (
            "limiter: from this output on (dB SPL)",
            [channel.limit_db_spl for channel in channels],
        ),
    ]
    limit_db_spl = _down(_limit_of_all_db_spl(ear))
    behind = [
        ("sample rate (Hz), ignored", [SAMPLE_RATE_HZ]),
        ("level of 0 dBFS (dB SPL)", [FULL_SCALE_DB_SPL]),
        ("expansion: ratio, none", [1.0]),
        ("expansion: knee (dB SPL), never reached", [0.0]),
        ("gain (dB)", [0.0]),
        ("compression: knee (dB SPL)", [limit_db_spl]),
        ("compression: ratio, none", [1.0]),
        ("limiter: from this output on (dB SPL)", [limit_db_spl]),
    ]
    return [
        _structure(
            "CHA_DSL", f"dsl_{ear.ear}",
            [*_times(ATTACK_MS, RELEASE_MS), ("level of 0 dBFS (dB SPL)", [FULL_SCALE_DB_SPL]),
             *bands],
        ),
        _structure(
            "CHA_WDRC", f"bb_{ear.ear}", [*_times(LIMITER_ATTACK_MS, LIMITER_RELEASE_MS), *behind]
        ),
    ]  # fmt: skip


def _times(attack_ms: float, release_ms: float) -> list[tuple[str, list[float]]]:
    return [("attack (ms)", [attack_ms]), ("release (ms)", [release_ms])]


def _structure(kind: str, name: str, rows: Sequence[tuple[str, Sequence[float]]]) -> str:
    lines = [f"BTNRH_WDRC::{kind} {name} {{"]
    for place, (meaning, values) in enumerate(rows):
        numbers = ", ".join(f"{value:.{DIGITS}f}" for value in values)
        row = f"{{{numbers}}}" if len(values) > 1 else numbers
        comma = "," if place < len(rows) - 1 else ""
        lines.append(f"  {row}{comma} // {meaning}")
    return "\n".join([*lines, "};", ""])


def _down(level_db: float) -> float:
    """Round down to what is written: a limit is not to be more for it."""
    return math.floor(level_db * 10.0**DIGITS) / 10.0**DIGITS


def _channels(ear: EarFit) -> list[_Channel]:
    speech = speech_in_bands(ear.table.center_hz)
    soft, middle, loud = (
        ear.gain_of_speech_db(level) for level in (SOFT_DB_SPL, CONVERSATION_DB_SPL, LOUD_DB_SPL)
    )
    return [
        _channel(
            (float(soft[k]), float(middle[k]), float(loud[k])),
            float(speech[k]),
            band.output_max_db_spl,
        )
        for k, band in enumerate(ear.bands)
    ]


def _channel(
    gains_db: tuple[float, float, float], speech_db_spl: float, output_max_db_spl: float
) -> _Channel:
    """Return what has these gains for soft, conversational and loud speech.

    The line goes through the latter two, and up to the gain for soft speech. Gain that rises with
    the level is not Tympan's: there it is constant.
    """
    soft_db, middle_db, loud_db = gains_db
    slope = (middle_db - loud_db) / (LOUD_DB_SPL - CONVERSATION_DB_SPL)
    slope = min(max(slope, 0.0), SLOPE_MAX)
    flat_db = max(soft_db, middle_db) if slope else middle_db
    knee_db_spl = speech_db_spl - ((flat_db - middle_db) / slope if slope else 0.0)
    # As it is written: the limit has to be right for that.
    gain_db, knee_db_spl = round(flat_db, DIGITS), round(knee_db_spl, DIGITS)
    ratio = round(1.0 / (1.0 - slope), DIGITS)
    limit_db_spl = _down(_limit_db_spl(gain_db, knee_db_spl, ratio, output_max_db_spl))
    return _Channel(gain_db, knee_db_spl, ratio, limit_db_spl)


def _limit_db_spl(
    gain_db: float, knee_db_spl: float, ratio: float, output_max_db_spl: float
) -> float:
    """Return the output from which a band has to limit, so that 0 dBFS comes out at the maximum.

    Above it 1 dB is added for every 10 of the input.
    """
    at_zero_db = gain_db + knee_db_spl * (1.0 - 1.0 / ratio)  # its line, at 0 dB SPL
    if at_zero_db + FULL_SCALE_DB_SPL / ratio <= output_max_db_spl:
        return output_max_db_spl
    above = (FULL_SCALE_DB_SPL + ratio * at_zero_db) / LIMITING_RATIO
    limit_db_spl = (output_max_db_spl - above) / (1.0 - ratio / LIMITING_RATIO)
    if limit_db_spl >= gain_db + knee_db_spl:
        return limit_db_spl
    # It limits before it compresses.
    above = (FULL_SCALE_DB_SPL + gain_db) / LIMITING_RATIO
    return (output_max_db_spl - above) / (1.0 - 1.0 / LIMITING_RATIO)


def _limit_of_all_db_spl(ear: EarFit) -> float:
    """Return the output from which the limiter behind the bands has to limit."""
    wanted_db_spl = ear.output_max_db_spl - SINE_PEAK_DB
    powers = (10.0 ** (0.1 * band.output_max_db_spl) for band in ear.bands)
    together_db_spl = 10.0 * math.log10(sum(powers))
    if together_db_spl <= wanted_db_spl:
        return wanted_db_spl
    return (wanted_db_spl - together_db_spl / LIMITING_RATIO) / (1.0 - 1.0 / LIMITING_RATIO)
