"""A fit from thresholds: a rule's gains, compressed, within limits, and how sure they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, Self

import numpy as np

from device.hearing_aid.fit import (
    IMPORTANT_HZ,
    INPUT_LEVELS_DB_SPL,
    PEAK_CEILING_DB_SPL,
    BandFit,
    EarFit,
    Fit,
)
from device.hearing_aid.limits import CLOSED, SPEECH_PEAKS_DB, Limits, limits
from device.hearing_aid.rules import NAL_R, insertion_gain
from device.hearing_aid.shapes import GainTable
from device.speech import (
    CONVERSATION_DB_SPL,
    LOUD_DB_SPL,
    SPEECH_LEVELS_DB_SPL,
    FloatArray,
    speech_in_bands,
)
from firmware_py.comparisons.space import DIMENSIONS

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

    What a rule adds for an air-bone gap is the same at every level, as much as there is room for
    with conversational speech: a conductive loss takes as much from loud sounds as from soft ones,
    and brings no recruitment.
    """

    # of the bands, which meet halfway on log frequency; the first and the last have no end, (m,)
    center_hz: FloatArray
    speech_db_spl: FloatArray  # level of conversational speech in the band, (m,)
    gain_db: FloatArray  # there, without a limit and without `linear_db`
    linear_db: FloatArray  # more gain, at every level
    ratio: FloatArray  # change of the input for 1 dB of the output, above the knee
    knee_db_spl: FloatArray  # level in the band from which it compresses

    def gain_at(self, level_db_spl: float | FloatArray) -> FloatArray:
        """Return the gain of each band, dB, where the input has this level in it, or these."""
        above_db = np.maximum(level_db_spl, self.knee_db_spl) - self.speech_db_spl
        falling_db = np.maximum(self.gain_db - (1.0 - 1.0 / self.ratio) * above_db, 0.0)
        return falling_db + self.linear_db

    def table_db(self, levels_db_spl: Sequence[float]) -> FloatArray:
        return np.stack([self.gain_at(level) for level in levels_db_spl], axis=-1)

    def hold_to(self, gain_max_db: FloatArray) -> Self:
        """Return it with no gain above this of each band: it compresses from a higher level on.

        What is not compressed becomes less where it would bring conversational speech above that.
        """
        slope = 1.0 - 1.0 / self.ratio
        linear_db = np.clip(gain_max_db - self.gain_db, 0.0, self.linear_db)
        over_db = self.gain_db - (gain_max_db - linear_db)
        # a gain of 0 does not fall, and is below any limit
        meets_db = np.divide(over_db, slope, out=np.full_like(slope, -np.inf), where=slope > 0.0)
        knee_db_spl = np.maximum(self.knee_db_spl, self.speech_db_spl + meets_db)
        return replace(self, linear_db=linear_db, knee_db_spl=knee_db_spl)


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
    compression: Compression  # within the limits of the gain
    limits: Limits

    def table_db(self) -> FloatArray:
        return self.compression.table_db(INPUT_LEVELS_DB_SPL)

    def linear_gain_max_db(self, output_max_db_spl: FloatArray) -> FloatArray:
        """Return the most gain that may be the same for all levels, (..., m); it may be below 0.

        With more, the peaks of loud speech would be above these levels.
        """
        loud_db_spl = self.compression.speech_db_spl + LOUD_DB_SPL - CONVERSATION_DB_SPL
        return output_max_db_spl - loud_db_spl - SPEECH_PEAKS_DB


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
    held = compressed.hold_to(within.gain_max_db)
    return Prescribed(target_db, target_db - without_db, held, within)


def fitted_ear(ear: str, found: Prescribed) -> EarFit:
    gains_db, most_db = np.round(found.table_db(), 2), found.limits.gain_max_db
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

    Each table, of (n, m, k) of each ear of the fit, is described as well as the four shapes can at
    `IMPORTANT_HZ` for speech at three levels, by a setting of the fit; of those it is the SD.
    """
    shapes, differences = [], []
    for ear in fit.ears:
        table = ear.table
        shapes.append(_at_important(table, table.matched_shapes()))
        differences.append(_at_important(table, tables_db[ear.ear] - table.gains_db))
    columns, rows = np.concatenate(shapes, axis=1), np.concatenate(differences, axis=1)
    settings_db = np.linalg.lstsq(columns.T, rows.T, rcond=None)[0]
    assert len(settings_db) == len(DIMENSIONS)
    return tuple(round(float(sd_db), 2) for sd_db in settings_db.std(axis=1))


def _at_important(table: GainTable, gains_db: FloatArray) -> FloatArray:
    """Return gains at `IMPORTANT_HZ` for speech at three levels, (n, 12), of (n, m, k)."""
    wanted = np.log2(IMPORTANT_HZ)
    centers = np.log2(table.center_hz)
    right = np.clip(np.searchsorted(centers, wanted), 1, max(len(centers) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(centers) - 1)
    span = np.where(right > left, centers[right] - centers[left], 1.0)
    share = np.clip((wanted - centers[left]) / span, 0.0, 1.0)
    rows = []
    for level in SPEECH_LEVELS_DB_SPL:
        at_speech = table.at_speech_db(level, gains_db)
        rows.append((1.0 - share) * at_speech[..., left] + share * at_speech[..., right])
    return np.concatenate(rows, axis=-1)
