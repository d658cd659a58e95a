"""All figures of a prescription as JSON values."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from device.hearing_aid.fit import EarFit, Fit
from device.hearing_aid.rules import rule_named, within_publication
from device.speech import (
    CONVERSATION_DB_SPL,
    LOUD_DB_SPL,
    SOFT_DB_SPL,
    SPEECH_LEVELS_DB_SPL,
    FloatArray,
)
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.terms.reasons import as_json as as_json_values
from host_tools.commands.prescribe.ear_prescription import Banded, EarPrescription


def as_json(
    ears: Sequence[EarPrescription], fit: Fit, against: Fit | None = None
) -> dict[str, Any]:
    """Return a prescription as JSON values; `against` is another fit that it is compared with.

    Where nobody knows how sure something is, the ends of its band are null.
    """
    source = ears[0].source
    figures = {
        **source.which,
        "of": fit.of.as_record(),
        "rule": ears[0].rule,
        "source": rule_named(ears[0].rule).source,
        "coupling": ears[0].coupling,
        **source.known,
        "for_whom": [found.as_record() for found in fit.for_whom],
        "ears": [_ear_as_json(ear, fit) for ear in ears],
        "tuning": _tuning_as_json(fit, has_bands=ears[0].given.has_bands),
    }
    if against is not None:
        figures["against"] = {
            "rule": against.rule,
            "source": against.source,
            "ears": [
                {"ear": ear.ear}
                | {
                    _name("difference", level): _round(differences_db(fit, against, ear.ear)[k])
                    for k, level in enumerate(SPEECH_LEVELS_DB_SPL)
                }
                for ear in both(fit, against)
            ],
        }
    return figures


def both(fit: Fit, against: Fit) -> list[EarFit]:
    return [ear for ear in fit.ears if ear.ear in {other.ear for other in against.ears}]


def differences_db(fit: Fit, against: Fit, ear: str) -> FloatArray:
    """Return how much more gain a fit has than another, of an ear that both have, (3, m).

    That is for soft, conversational and loud speech, at the bands of the fit.
    """
    ours, theirs = fit.of_ear(ear), against.of_ear(ear)
    at, known = np.log2(ours.table.center_hz), np.log2(theirs.table.center_hz)
    rows = [
        ours.gain_of_speech_db(level) - np.interp(at, known, theirs.gain_of_speech_db(level))
        for level in SPEECH_LEVELS_DB_SPL
    ]
    return np.array(rows)


def _name(what: str, speech_db_spl: float) -> str:
    of_level = {SOFT_DB_SPL: "soft_", CONVERSATION_DB_SPL: "", LOUD_DB_SPL: "loud_"}
    return f"{of_level[speech_db_spl]}{what}_db"


def _round(values: FloatArray) -> list[float]:
    return [round(float(value), 2) for value in values]


def _ear_as_json(ear: EarPrescription, fit: Fit) -> dict[str, Any]:
    within = ear.prescribed.limits
    columns: dict[str, FloatArray] = {
        "threshold_db_hl": ear.threshold_db_hl,
        "rule_gain_db": ear.prescribed.target_db,
        "gain_max_db": ear.gain_max_db,
        "speech_db_spl": within.speech_db_spl,
        "discomfort_db_spl": within.discomfort_db_spl,
        "limited_from_db_spl": fit.of_ear(ear.ear).limited_from_db_spl,
    }
    for level, gain in ear.gain_at_db.items():
        columns |= _with_band(_name("gain{}", level), gain)
        columns[_name("limit_takes", level)] = ear.taken_at_db[level]
    columns |= _with_band("compression_ratio{}", ear.ratio)
    columns |= _with_band("knee{}_db_spl", ear.knee_db_spl)
    columns |= _with_band("output_max{}_db_spl", ear.output_max_db_spl)
    columns |= _with_band("own_discomfort{}_db_spl", ear.discomfort_db_spl)
    bands = [
        {
            "frequency_hz": frequency_hz,
            "mark": mark,
            "wide": frequency_hz in ear.given.wide_db,
            "published": within_publication(ear.rule, frequency_hz),
            "held": bool(ear.held[k]),
            "gain_max_why": within.why_gain(k),
            "output_max_why": within.why_output(k),
            **{name: _round_if_known(column[k]) for name, column in columns.items()},
            "discomfort_mark": _discomfort_mark(ear, frequency_hz),
            **_gap_as_json(ear, k),
        }
        for k, (frequency_hz, mark) in enumerate(zip(ear.frequencies_hz, ear.marks, strict=True))
    ]
    peak_db_spl = fit.of_ear(ear.ear).output_max_db_spl
    return {
        "ear": ear.ear,
        **ear.given.lacking_hz,
        "output_peak_max_db_spl": peak_db_spl,
        "discomfort_told": as_json_values(ear.source.told.get(ear.ear)),
        "bands": bands,
    }


def _discomfort_mark(ear: EarPrescription, frequency_hz: int) -> str:
    """Return whether the own level of discomfort was measured, inferred, or is that of others."""
    if ear.own is None:
        return "of-others"
    level = ear.told.get(frequency_hz)
    return "inferred" if level is None else "at-least" if level.above else "measured"


def _round_if_known(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 2)


def _gap_as_json(ear: EarPrescription, k: int) -> dict[str, Any]:
    """Return the gap of a frequency and what it adds to the gain; nothing where no bone was told.

    `gap_rule_gain_db` is what the rule adds, before any limit.
    """
    if ear.gap is None:
        return {}
    gap_db = ear.gap.gap_db(ear.frequencies_hz[k])
    return {
        "gap_db": None if gap_db is None else round(gap_db, 2),
        "gap_mark": ear.gap.marks[k],
        "gap_rule_gain_db": round(float(ear.prescribed.for_gap_db[k]), 2),
        "gap_gain_db": round(float(ear.for_gap_db[k]), 2),
    }


def _with_band(name: str, found: Banded) -> dict[str, FloatArray]:
    """Return the columns of a value and its band; the braces stand where "_low" does."""
    return {
        name.format(""): found.value,
        name.format("_low"): found.low,
        name.format("_high"): found.high,
    }


def _tuning_as_json(fit: Fit, *, has_bands: bool) -> dict[str, Any]:
    ranges_db, prior_sd_db = fit.ranges_db(), fit.prior_sd_db()
    return {
        dimension.name: {
            "low_db": ranges_db[dimension.name][0],
            "high_db": ranges_db[dimension.name][1],
            "uncertainty_sd_db": sd_db if has_bands else None,
            "prior_sd_db": round(prior_sd_db[dimension.name], 2),
        }
        for dimension, sd_db in zip(DIMENSIONS, fit.uncertainty_db, strict=True)
    }
