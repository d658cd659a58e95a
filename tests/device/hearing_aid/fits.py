"""Fits for tests: those Hypothesis makes, and a plain one."""

from dataclasses import replace
from typing import Final

import numpy as np
from hypothesis import strategies as st

from device.hearing_aid.fit import (
    INPUT_LEVELS_DB_SPL,
    OUTPUT_CEILING_DB_SPL,
    PEAK_CEILING_DB_SPL,
    BandFit,
    EarFit,
    Fit,
)
from device.hearing_aid.for_whom import Code, EarFinding
from device.hearing_aid.whose import Whose
from firmware_py.comparisons.space import DIMENSIONS, STEP_DB, Setting

CENTERS_HZ: Final = (250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0)


def plain_band(center_hz: float = 1000.0, gain_db: float = 20.0, most_db: float = 50.0) -> BandFit:
    """Return a band of a compressor of 2:1 above 40 dB SPL, with this gain below."""
    above_db = np.maximum(np.array(INPUT_LEVELS_DB_SPL) - 40.0, 0.0)
    gains_db = np.maximum(gain_db - 0.5 * above_db, 0.0)
    return BandFit(center_hz, tuple(map(float, gains_db)), most_db, 100.0)


def plain_ear(ear: str = "left", gain_db: float = 20.0, most_db: float = 50.0) -> EarFit:
    bands = tuple(plain_band(center_hz, gain_db, most_db) for center_hz in CENTERS_HZ)
    return EarFit(ear, bands, 110.0)


def plain_fit(gain_db: float = 20.0, most_db: float = 50.0) -> Fit:
    ears = tuple(plain_ear(ear, gain_db, most_db) for ear in ("left", "right"))
    return Fit(ears, "by hand", "nobody", (1.0, 2.0, 3.0, 0.0))


SHARES: Final = st.sampled_from(((), (0.5, 1.0)))
settings = st.tuples(
    *(
        st.integers(-int(d.limit_db / STEP_DB), int(d.limit_db / STEP_DB)).map(
            lambda k: k * STEP_DB
        )
        for d in DIMENSIONS
    )
).map(Setting.of)


def drawn_band(center_hz: float, seed: int) -> BandFit:
    """Return a band with any gains with which the output never falls with the input."""
    chance = np.random.Generator(np.random.Philox(seed))
    most_db = chance.choice((0.0, chance.uniform(0.0, 70.0)))
    steps_db = chance.uniform(-5.0, 5.0, len(INPUT_LEVELS_DB_SPL)) * chance.choice((0.1, 1.0))
    gains_db = np.clip(chance.uniform(0.0, 70.0) + np.cumsum(steps_db), 0.0, most_db)
    output_max_db_spl = float(chance.uniform(60.0, OUTPUT_CEILING_DB_SPL))
    return BandFit(center_hz, tuple(map(float, gains_db)), float(most_db), output_max_db_spl)


@st.composite
def fits(draw: st.DrawFn) -> Fit:
    centers_hz = sorted(draw(st.sets(st.sampled_from(CENTERS_HZ), min_size=1, max_size=4)))
    seed = draw(st.integers(0, 2**32))
    first = EarFit(
        draw(st.sampled_from(("left", "right"))),
        tuple(drawn_band(center_hz, seed + k) for k, center_hz in enumerate(centers_hz)),
        draw(st.floats(60.0, PEAK_CEILING_DB_SPL)),
    )
    other = replace(first, ear="right" if first.ear == "left" else "left")
    ears = draw(st.sampled_from(((first,), (first, other))))
    sd_db = draw(st.tuples(*(st.floats(0.0, 20.0) for _ in DIMENSIONS)))
    boards = {ear.ear: ("pico e66", "pico e67")[: 1 + k] for k, ear in enumerate(ears)}
    whose = Whose(
        "P-Ä", 7, "2026-01-02T03:04:05+00:00", "box-1", boards, "UNCALIBRATED", "50 %"
    )  # fmt: skip
    found = tuple(
        EarFinding(first.ear, code, (500.0, 4000.0), shares)
        for code, shares in draw(st.sets(st.tuples(st.sampled_from(Code), SHARES), max_size=3))
    )
    of = draw(st.sampled_from((Whose(), whose)))
    return Fit(ears, "drawn", "nobody", sd_db, of, found)
