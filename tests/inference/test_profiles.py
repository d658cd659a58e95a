"""The kinds of listeners of profile "default", and what is left of them when something is told.

The half width of the dead zone comes last: 0 where there is no second button.
"""

import math
from dataclasses import astuple

import pytest

from tests.inference.mixture.mixture_state import DEFAULT

LISTENERS = DEFAULT.listeners


def test_nothing_told_leaves_all_kinds_as_they_are() -> None:
    assert LISTENERS(None, None, None, 0.0) == list(DEFAULT.kinds)
    assert math.fsum(kind.share for kind in DEFAULT.kinds) == pytest.approx(1.0, rel=1e-14)
    assert len({astuple(kind)[:3] for kind in DEFAULT.kinds}) == 9
    noises_db = sorted(kind.response_noise_db for kind in DEFAULT.kinds)
    assert (noises_db[0], noises_db[-1]) == (1.0, 10.0)


@pytest.mark.parametrize("noise_db", [0.1, 2.0, 30.0])
def test_a_noise_that_is_told_is_that_of_all_and_the_rates_are_left(noise_db: float) -> None:
    found = LISTENERS(noise_db, None, None, 0.0)
    assert {kind.response_noise_db for kind in found} == {noise_db}
    assert len(found) == 5  # attentive ones of five noises are one kind now
    assert astuple(found[0])[1:3] == (0.01, 0.01)
    assert found[0].share == pytest.approx(0.78)
    assert math.fsum(kind.share for kind in found) == pytest.approx(1.0, rel=1e-14)


def test_rates_that_are_told_are_those_of_all_and_the_noises_are_left() -> None:
    found = LISTENERS(None, 0.02, 0.03, 0.0)
    assert {astuple(kind)[1:3] for kind in found} == {(0.02, 0.03)}
    assert [kind.response_noise_db for kind in found] == [1.0, 1.8, 3.2, 5.7, 10.0, 3.0]
    # Who lapses has 3 dB, which nobody attentive has.
    assert found[-1].share == pytest.approx(0.22)
    assert math.fsum(kind.share for kind in found) == pytest.approx(1.0, rel=1e-14)


def test_one_rate_that_is_told_leaves_the_other() -> None:
    found = LISTENERS(None, 0.02, None, 0.0)
    assert {kind.lapse_rate for kind in found} == {0.02}
    assert {kind.false_alarm_rate for kind in found} == {0.01, 0.02, 0.08, 0.03, 0.15}
    assert math.fsum(kind.share for kind in found) == pytest.approx(1.0, rel=1e-14)


def test_all_that_is_told_is_one_listener() -> None:
    (one,) = LISTENERS(2.0, 0.02, 0.03, 0.0)
    assert astuple(one)[:3] == (2.0, 0.02, 0.03)
    assert one.share == pytest.approx(1.0, rel=1e-14)


def test_each_kind_has_every_half_width_where_none_is_told() -> None:
    found = LISTENERS(None, None, None, None)
    assert len(found) == len(DEFAULT.kinds) * len(DEFAULT.dead_zones)
    assert min(kind.unsure_half_width_db for kind in found) > 0.0  # so that all have two buttons
    assert math.fsum(share for _, share in DEFAULT.dead_zones) == pytest.approx(1.0, rel=1e-14)
    for kind in DEFAULT.kinds:
        share = {
            each.unsure_half_width_db: each.share
            for each in found
            if astuple(each)[:3] == astuple(kind)[:3]
        }
        assert share == {
            width_db: pytest.approx(kind.share * part) for width_db, part in DEFAULT.dead_zones
        }


def test_a_half_width_that_is_told_is_that_of_all() -> None:
    found = LISTENERS(None, None, None, 3.0)
    assert [astuple(kind)[:4] for kind in found] == [astuple(kind)[:4] for kind in DEFAULT.kinds]
    assert {kind.unsure_half_width_db for kind in found} == {3.0}
