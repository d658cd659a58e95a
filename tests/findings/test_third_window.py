"""An ear that may have a third window is named; ears that resemble one are not."""

import numpy as np
import pytest
from scipy.stats import norm

from firmware_py.findings.air_bone_gap import gaps_of
from firmware_py.findings.third_window import (
    GAP_DB,
    HIGH_HZ,
    LOW_HZ,
    SUPRANORMAL_DB_HL,
    may_be_third_window,
)
from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.terms.level import Level
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.results import EarResult
from tests.findings.test_air_bone_gap import air, beyond, bone, doubted, mark, session

GAPS = GapPrior.usual()
# As heard half of the time, 2.8 dB below what a clinic notes.
AIR = {0: 5.0, 250: 25.0, 500: 20.0, 750: 18.0, 1000: 15.0}
BONE = {0: 2.0, 250: -12.0, 500: -10.0, 750: -8.0, 1000: -5.0, 4000: -3.0}


@pytest.mark.parametrize(
    ("by_air", "by_bone", "may_be"),
    [
        (air(AIR), bone(BONE), True),
        (air(AIR), beyond(bone(BONE), 500, Outcome.HEARS_ALL, -10.0), True),  # -10 dB HL or less
        (air(AIR), mark(bone(BONE), 250, mark=Outcome.INFERRED, masking=None), True),
        # A good cochlea behind a fault of the middle ear has a gap at high frequencies, too.
        (air({0: 25.0}), bone({0: -8.0}), False),
        (air({**AIR, 4000: 30.0}), bone(BONE), False),
        (beyond(air(AIR), 2000, Outcome.NO_RESPONSE, 100.0), bone(BONE), False),
        # Stiffness of the middle ear: a gap at low frequencies, and bone that is normal.
        (air({**AIR, 500: 30.0}), bone({**BONE, 250: 2.0, 500: 2.0}), False),
        # Good ears without a gap; all of their tones were heard.
        (air({0: -5.0}), bone({0: -8.0}), False),
        (
            beyond(air({0: -8.0}), 500, Outcome.HEARS_ALL, -10.0),
            beyond(bone({0: -8.0}), 500, Outcome.HEARS_ALL, -10.0),
            False,
        ),
        # The other ear may have heard it, or nobody was asked.
        (air(AIR), doubted(bone(BONE), 500), False),
        (air(AIR), mark(bone(BONE), 500, mark=Outcome.INFERRED, masking=None), False),
        (air(AIR), mark(bone(BONE), 4000, mark=Outcome.NOT_TESTED, threshold_db_hl=None), False),
        # 90 dB are no gap of an ear.
        (air({**AIR, 500: 80.0}), bone(BONE), False),
    ],
)
def test_an_ear_that_may_have_a_third_window_is_named(
    by_air: EarResult, by_bone: EarResult, may_be: bool
) -> None:
    (found,) = gaps_of(session(by_air, by_bone))
    assert found.third_window == found.to_record()["third_window"] is may_be


@pytest.mark.parametrize(("asked_hz", "bone_db_hl"), [((500,), -8.0), ((250, 500), -7.0)])
def test_its_odds_are_more_than_even_by_sampled_thresholds(
    asked_hz: tuple[int, ...], bone_db_hl: float
) -> None:
    """Whatever gaps and errors are, near where it is called."""
    random = np.random.default_rng(3)
    called = 0
    for _ in range(300):
        sd_db = random.uniform(1.0, 5.0, 2)
        low = random.normal(bone_db_hl, 4.0)
        air_db = {f: low + random.uniform(10.0, 35.0) for f in asked_hz}
        air_db |= {f: random.uniform(0.0, 25.0) for f in HIGH_HZ}
        bone_db = dict.fromkeys(asked_hz, low) | dict.fromkeys(HIGH_HZ, 5.0)
        both = {f: (Level.at(air_db[f], sd_db[0]), Level.at(bone_db[f], sd_db[1])) for f in air_db}
        off = random.standard_normal((2, 1 + len(HIGH_HZ), 2000))  # one error of the low ones
        a, b = (
            np.array([[np.mean([db[f] for f in asked_hz])], *([db[f]] for f in HIGH_HZ)])
            + sd * each
            for db, sd, each in zip((air_db, bone_db), sd_db, off, strict=True)
        )
        usual = [np.mean([*map(GAPS.usual_db, asked_hz)]), *map(GAPS.usual_db, HIGH_HZ)]
        above = a - b - np.array(usual)[:, None] >= GAP_DB
        holds = np.mean((b[0] < SUPRANORMAL_DB_HL) & above[0] & ~above[1:].any(axis=0))
        if may_be_third_window(both, GAPS):
            called += 1
            assert holds > 0.46, "0.5, less what 2000 draws are off"
        else:
            assert holds < 0.8
    assert 50 < called < 250


def test_what_is_supranormal_is_so_with_more_than_even_odds_alone() -> None:
    for sd_db, share in ((2.0, 0.48), (2.0, 0.52), (6.0, 0.48), (6.0, 0.52)):
        bone_db_hl = SUPRANORMAL_DB_HL - sd_db * norm.ppf(share)
        low = {LOW_HZ[-1]: (Level.at(50.0, 0.1), Level.at(bone_db_hl, sd_db))}
        both = low | {f: (Level.at(0.0, 0.1), Level.at(0.0, 0.1)) for f in HIGH_HZ}
        assert may_be_third_window(both, GAPS) is (share > 0.5)
