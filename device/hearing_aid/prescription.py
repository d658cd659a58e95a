"""A fit from thresholds: a rule's gains, compressed, within limits, and how sure they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from device.hearing_aid.compression import Compression, compression
from device.hearing_aid.fit import (
    IMPORTANT_HZ,
    INPUT_LEVELS_DB_SPL,
    PEAK_CEILING_DB_SPL,
    BandFit,
    EarFit,
    Fit,
)
from device.hearing_aid.limits import CLOSED, Limits, limits
from device.hearing_aid.rules import NAL_R, insertion_gain
from device.hearing_aid.shapes import GainTable
from device.speech import SPEECH_LEVELS_DB_SPL, FloatArray
from firmware_py.procedure.tuning.space import DIMENSIONS

SINE_PEAK_DB = 3.0  # of the peak of a sine above its RMS


@dataclass(frozen=True)
class Prescribed:
    """What thresholds prescribe for an ear, or for many ears at once, (..., m)."""

    target_db: FloatArray  # the rule's gain for conversational speech, before any limit
    compression: Compression  # within the limits of the gain
    limits: Limits

    def table_db(self) -> FloatArray:
        """Return the gains at `INPUT_LEVELS_DB_SPL`, (..., m, k)."""
        return self.compression.table_db(INPUT_LEVELS_DB_SPL)


def fit_of_thresholds(
    frequencies_hz: Sequence[float],
    thresholds_db_hl: Mapping[str, Sequence[float] | FloatArray],
    rule: str = NAL_R,
    coupling: str = CLOSED,
    source: str = "thresholds",
    draws_db_hl: Mapping[str, FloatArray] | None = None,
) -> Fit:
    """Return the fit that a rule prescribes, with a band at each frequency.

    Parameters
    ----------
    frequencies_hz : (m,)
        Rising, 20 to 20000 Hz, with what the rule needs (`insertion_gain`).
    thresholds_db_hl : mapping of "left", "right" or both to (m,)
    rule : str
        "nal-r", "nal-rp", "camfit" or "half-gain".
    coupling : str
        How the aid sits in the ear: "closed" or "open".
    source : str
        What the thresholds are from, for the fit to say.
    draws_db_hl : mapping of the same ears to (n, m), optional
        Threshold curves from what is known of each ear, for `Fit.uncertainty_db`; of two ears as
        many. Without them the thresholds are taken to be known.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        As of `insertion_gain` and `limits`.
    """
    centers_hz = np.asarray(frequencies_hz, dtype=np.float64)
    ears = tuple(
        fitted_ear(ear, prescribe(centers_hz, np.asarray(thresholds), rule, coupling))
        for ear, thresholds in thresholds_db_hl.items()
    )
    fit = Fit(ears, rule_in_words(rule, coupling), source)
    if draws_db_hl is None:
        return fit
    tables_db = {
        ear.ear: prescribe(centers_hz, draws_db_hl[ear.ear], rule, coupling).table_db()
        for ear in ears
    }
    return replace(fit, uncertainty_db=uncertainty_db(fit, tables_db))


def rule_in_words(rule: str, coupling: str) -> str:
    """Return what a fit says of how it was derived."""
    return f"{rule}, {coupling}"


def prescribe(
    center_hz: FloatArray, thresholds_db_hl: FloatArray, rule: str, coupling: str
) -> Prescribed:
    """Return what a rule prescribes for thresholds, (..., m)."""
    target_db = insertion_gain(rule, center_hz, thresholds_db_hl)
    within = limits(center_hz, thresholds_db_hl, coupling)
    compressed = compression(center_hz, target_db).hold_to(within.gain_max_db)
    return Prescribed(target_db, compressed, within)


def fitted_ear(ear: str, found: Prescribed) -> EarFit:
    """Return the fit of one ear."""
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

    Each table is described, as well as the four shapes can at `IMPORTANT_HZ` for speech at three
    levels, by a setting of the fit; of those settings it is the SD.

    Parameters
    ----------
    fit : Fit
    tables_db : mapping of each ear of the fit to (n, m, k)
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
