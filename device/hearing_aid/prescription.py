"""A fit from thresholds: a rule's gains, compressed, within limits, and how sure they are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from device.hearing_aid.fit import (
    INPUT_LEVELS_DB_SPL,
    PEAK_CEILING_DB_SPL,
    BandFit,
    EarFit,
    Fit,
    gain_max_at_db,
)
from device.hearing_aid.limits import CLOSED, Limits, limits
from device.hearing_aid.rules import NAL_R, insertion_gain
from device.speech import CONVERSATION_DB_SPL, LOUD_DB_SPL, PEAKS_DB, FloatArray, speech_in_bands

SINE_PEAK_DB: Final = 3.0  # of the peak of a sine above its RMS
SOFT_BELOW_DB: Final = 15.0  # soft speech, 50 dB SPL: the knee
LOUD_ABOVE_DB: Final = 35.0  # 100 dB SPL: no gain any more
RATIO_MAX: Final = 3.0


@dataclass(frozen=True)
class Compression:
    """Compression of each band of an ear, or of many ears, (..., m).

    The rules prescribe one gain, for speech at 65 dB SPL. Here it is the gain of a band at the
    level that such speech has in that band. From there it falls along a line, so that at
    `LOUD_ABOVE_DB` above conversation nothing is added: what is loud is as loud to an ear with
    cochlear loss as to any other (recruitment). Downward it rises along the same line to the level
    of soft speech, the knee, and is constant below it. The ratio is held to `RATIO_MAX`, above
    which speech loses its shape. This is a plain default to start a fitting from, not a published
    nonlinear rule.

    What a rule adds for an air-bone gap is the same at every level: a conductive loss takes as much
    from loud sounds as from soft ones, and brings no recruitment. No limit is in it.
    """

    # of the bands, which meet halfway on log frequency; the first and the last have no end, (m,)
    center_hz: FloatArray
    speech_db_spl: FloatArray  # level of conversational speech in the band, (m,)
    gain_db: FloatArray  # there, without `linear_db`
    linear_db: FloatArray  # more gain, at every level
    ratio: FloatArray  # change of the input for 1 dB of the output, above the knee
    knee_db_spl: FloatArray  # level in the band from which it compresses

    def gain_at(self, level_db_spl: float | FloatArray) -> FloatArray:
        """Return the gain of each band, dB, where the input has this level in it, or these."""
        above_db = np.maximum(level_db_spl, self.knee_db_spl) - self.speech_db_spl
        falling_db = np.maximum(self.gain_db - (1.0 - 1.0 / self.ratio) * above_db, 0.0)
        return falling_db + self.linear_db


def compression(
    center_hz: Sequence[float] | FloatArray,
    gain_db: FloatArray,
    linear_db: FloatArray | None = None,
) -> Compression:
    """Derive compression from the gains of a linear rule, (..., m), for conversational speech.

    `linear_db` is gain beside that which is not compressed. Neither is below 0.
    """
    center = np.asarray(center_hz, dtype=np.float64)
    speech_db_spl = speech_in_bands(center)
    slope = np.minimum(gain_db / LOUD_ABOVE_DB, 1.0 - 1.0 / RATIO_MAX)
    knee_db_spl = np.broadcast_to(speech_db_spl - SOFT_BELOW_DB, gain_db.shape)
    if linear_db is None:
        linear_db = np.zeros_like(gain_db)
    return Compression(center, speech_db_spl, gain_db, linear_db, 1.0 / (1.0 - slope), knee_db_spl)


class Gaps(Protocol):
    """The air-bone gaps of an ear that its gains are to have a part for, not below 0."""

    @property
    def db(self) -> FloatArray:
        """Return them, (m,)."""

    @property
    def draws_db(self) -> FloatArray:
        """Return what they may be, (n, m), each with the drawn thresholds by air."""


@dataclass(frozen=True)
class Prescribed:
    """What thresholds prescribe for an ear, or for many ears at once, (..., m)."""

    target_db: FloatArray  # the rule's gain for conversational speech, before any limit
    for_gap_db: FloatArray  # so much of that is for an air-bone gap
    compression: Compression  # before any limit
    limits: Limits

    def gain_at(self, level_db_spl: float | FloatArray) -> FloatArray:
        """Return the gain of each band within the limits, where the input has this level in it."""
        within = self.limits
        most_db = gain_max_at_db(level_db_spl, within.feedback_db, within.output_max_db_spl)
        return np.minimum(self.compression.gain_at(level_db_spl), most_db)

    def table_db(self) -> FloatArray:
        return _table_db(self.gain_at)

    def free_table_db(self) -> FloatArray:
        """Return the gains as they would be without a limit."""
        return _table_db(self.compression.gain_at)

    @property
    def knee_db_spl(self) -> FloatArray:
        """Return from which level in a band on its gain falls: by compression, or for a limit."""
        free, within = self.compression, self.limits
        most_db = self.gain_at(0.0)
        slope = 1.0 - 1.0 / free.ratio
        over_db = free.gain_db + free.linear_db - most_db
        line_db = np.divide(over_db, slope, out=np.full_like(over_db, -np.inf), where=slope > 0.0)
        by_rule = np.maximum(free.knee_db_spl, free.speech_db_spl + line_db)
        return np.minimum(by_rule, within.output_max_db_spl - PEAKS_DB - most_db)

    def linear_gain_max_db(self, output_max_db_spl: FloatArray) -> FloatArray:
        """Return the most gain that may be the same for all levels, (..., m); it may be below 0.

        With more, the peaks of loud speech would be above these levels.
        """
        loud_db_spl = self.compression.speech_db_spl + LOUD_DB_SPL - CONVERSATION_DB_SPL
        return output_max_db_spl - loud_db_spl - PEAKS_DB


def _table_db(gain_at: Callable[[float], FloatArray]) -> FloatArray:
    return np.stack([gain_at(level) for level in INPUT_LEVELS_DB_SPL], axis=-1)


def fit_of_thresholds(
    frequencies_hz: Sequence[float],
    thresholds_db_hl: Mapping[str, Sequence[float] | FloatArray],
    rule: str = NAL_R,
    coupling: str = CLOSED,
    source: str = "thresholds",
    draws_db_hl: Mapping[str, FloatArray] | None = None,
    gaps: Mapping[str, Gaps] | None = None,
    own_db_hl: Mapping[str, FloatArray] | None = None,
) -> Fit:
    """Return the fit that a rule prescribes, with a band at each frequency, of one ear or both.

    Frequencies, (m,), rise from 20 to 20000 Hz, with what the rule needs (`insertion_gain`); the
    coupling is "closed" or "open". `source` is what the thresholds are from, for the fit to say.
    Draws, (n, m), are threshold curves from what is known of each ear, for `Fit.uncertainty_db`, of
    two ears as many; without them the thresholds are taken to be known. `gaps` are what is known of
    a conductive loss; `own_db_hl`, (m,), is of each ear that of `limits`. `ValueError` as of
    `insertion_gain` and `limits`.
    """
    centers_hz = np.asarray(frequencies_hz, dtype=np.float64)
    gaps, own = gaps or {}, own_db_hl or {}
    db = {ear: found.db for ear, found in gaps.items()}
    drawn_db = {ear: found.draws_db for ear, found in gaps.items()}
    ears = tuple(
        fitted_ear(
            ear,
            prescribe(
                centers_hz, np.asarray(thresholds), rule, coupling, db.get(ear), own.get(ear)
            ),
        )
        for ear, thresholds in thresholds_db_hl.items()
    )
    fit = Fit(ears, f"{rule}, {coupling}", source)
    if draws_db_hl is None:
        return fit
    tables_db = {
        ear: prescribe(
            centers_hz, draws_db_hl[ear], rule, coupling, drawn_db.get(ear), own.get(ear)
        ).table_db()
        for ear in thresholds_db_hl
    }
    return replace(fit, uncertainty_db=uncertainty_db(fit, tables_db))


def prescribe(
    center_hz: FloatArray,
    thresholds_db_hl: FloatArray,
    rule: str,
    coupling: str,
    gaps_db: FloatArray | None = None,
    own_db_hl: FloatArray | None = None,
) -> Prescribed:
    """Return what a rule prescribes for thresholds and air-bone gaps, (..., m).

    The limits are those of the thresholds: a gap raises none of them, though ears with a conductive
    loss bear more than others of the same threshold. `own_db_hl` is that of `limits`.
    """
    without_db = insertion_gain(rule, center_hz, thresholds_db_hl)
    target_db = without_db
    if gaps_db is not None:
        target_db = insertion_gain(rule, center_hz, thresholds_db_hl, gaps_db)
    within = limits(center_hz, thresholds_db_hl, coupling, own_db_hl)
    compressed = compression(center_hz, without_db, target_db - without_db)
    return Prescribed(target_db, target_db - without_db, compressed, within)


def fitted_ear(ear: str, found: Prescribed) -> EarFit:
    gains_db, most_db = np.round(found.table_db(), 2), found.limits.feedback_db
    outputs_db_spl = found.limits.output_max_db_spl
    bands = tuple(
        BandFit(
            center_hz=float(found.compression.center_hz[k]),
            gains_db=tuple(map(float, np.clip(gains_db[k], 0.0, most_db[k]))),
            gain_max_db=float(most_db[k]),
            output_max_db_spl=float(outputs_db_spl[k]),
        )
        for k in range(len(most_db))
    )
    peak_db_spl = min(float(outputs_db_spl.max()) + SINE_PEAK_DB, PEAK_CEILING_DB_SPL)
    return EarFit(ear, bands, peak_db_spl)


def uncertainty_db(fit: Fit, tables_db: Mapping[str, FloatArray]) -> tuple[float, ...]:
    """Return how unsure the four numbers of a setting are, from gains that may be the right ones.

    Of each table, (n, m, k) of each ear of the fit, it is what comes out of it, as numbers of a
    setting; of the mean of both ears it is the SD.
    """
    settings_db = np.mean([ear.table.numbers_db(tables_db[ear.ear]) for ear in fit.ears], axis=0)
    return tuple(round(float(sd_db), 2) for sd_db in settings_db.std(axis=0))
