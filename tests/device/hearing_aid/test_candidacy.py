"""A fit says for whom it is, from what was answered."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from device.hearing_aid.candidacy import LIKELY, SURE, Ear, of_ear
from device.hearing_aid.for_whom import Code
from device.hearing_aid.rules import insertion_gain
from tests.budget import examples

HZ = (250.0, 500.0, 1000.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0)
NOTHING = (False,) * len(HZ)
ALL = (True,) * len(HZ)


def an_ear(
    thresholds_db_hl: list[float],
    silent: tuple[bool, ...] = NOTHING,
    perhaps: tuple[bool, ...] = NOTHING,
    spread_db: float = 1.0,
) -> Ear:
    levels = np.array(thresholds_db_hl)
    draws = levels + np.random.Generator(np.random.Philox(1)).normal(0.0, spread_db, (400, len(HZ)))
    low_db_hl = np.where(silent, levels, -30.0)
    return Ear("left", HZ, levels, np.maximum(draws, low_db_hl), ALL, silent, perhaps, ALL)


def codes(ear: Ear, rule: str = "nal-r") -> dict[Code, tuple[float, ...]]:
    gain_db = insertion_gain(rule, HZ, ear.thresholds_db_hl)
    return {found.code: found.frequencies_hz for found in of_ear(ear, gain_db)}


def test_who_hears_well_needs_no_gain_and_a_band_that_reaches_further_is_named() -> None:
    assert codes(an_ear([5.0] * 8)) == {Code.NORMAL: ()}
    assert codes(an_ear([5.0] * 7 + [19.0]))[Code.NORMAL] == (8000.0,)
    assert Code.NORMAL not in codes(an_ear([5.0] * 7 + [21.0]))


def test_who_hears_nothing_is_named_and_speech_stays_inaudible() -> None:
    silent = (False, *(True,) * 7)
    found = codes(an_ear([100.0] * 8, ALL))
    assert found[Code.NOTHING_HEARD] == HZ
    assert found[Code.INAUDIBLE][-1] == 8000.0
    perhaps = (True, *NOTHING[1:])
    assert codes(an_ear([100.0] * 8, silent, perhaps))[Code.NOTHING_HEARD] == HZ
    assert codes(an_ear([60.0] + [100.0] * 7, silent))[Code.NOT_HEARD_AT] == HZ[1:]


def test_a_steep_loss_stays_inaudible_where_the_gain_is_too_small() -> None:
    found = codes(an_ear([20.0, 25.0, 40.0, 85.0, 100.0, 105.0, 105.0, 105.0]))
    assert found[Code.INAUDIBLE] == HZ[4:]
    assert found[Code.PEAKS_ONLY] == (2000.0,)
    assert codes(an_ear([40.0] * 8)) == {}


@budget(max_examples=examples(25))
@given(
    levels=st.lists(st.floats(-10.0, 115.0), min_size=8, max_size=8),
    more_db=st.floats(0.0, 30.0),
    rule=st.sampled_from(("nal-r", "camfit")),
)
def test_more_gain_never_makes_more_inaudible(
    levels: list[float], more_db: float, rule: str
) -> None:
    ear = an_ear(levels)
    gain_db = insertion_gain(rule, HZ, ear.thresholds_db_hl)
    less, more = (
        {
            f
            for found in of_ear(ear, g)
            if found.code == Code.INAUDIBLE
            for f in found.frequencies_hz
        }
        for g in (gain_db, gain_db + more_db)
    )
    assert more <= less


@pytest.mark.parametrize("spread_db", [1.0, 10.0])
def test_what_is_unsure_has_a_probability(spread_db: float) -> None:
    ear = an_ear([20.0, 25.0, 40.0, 85.0, 88.0, 100.0, 105.0, 110.0], spread_db=spread_db)
    (found,) = [each for each in of_ear(ear, np.full(8, 20.0)) if each.code == Code.INAUDIBLE]
    assert all(0.5 <= share <= 1.0 for share in found.probabilities)
    assert (min(found.probabilities) < 0.95) == (spread_db > 5.0)


def test_of_a_bound_no_probability_is_told() -> None:
    def shares(sure: bool, spread_db: float) -> dict[float, float]:
        ear = an_ear([40.0] * 6 + [75.0, 75.0], spread_db=spread_db)
        ear = replace(ear, sure=(*ALL[:6], sure, sure))
        gain_db = insertion_gain("nal-r", HZ, ear.thresholds_db_hl) - 10.0
        return {
            f: probability
            for found in of_ear(ear, gain_db)
            for f, probability in zip(found.frequencies_hz, found.probabilities, strict=True)
        }

    unsure, bound = shares(True, 12.0), shares(False, 12.0)
    assert any(LIKELY <= unsure[f] < SURE for f in HZ[6:])
    assert not any(bound.get(f, 1.0) < SURE for f in HZ[6:])
    assert shares(False, 0.1) == shares(True, 0.1), "it decides"
