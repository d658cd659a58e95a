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


@pytest.mark.parametrize(
    ("told", "noises_db", "rates", "last_share"),
    [
        # Attentive ones of five noises are one kind.
        ((2.0, None, None), [2.0] * 5, {(0.01, 0.01), (0.06, 0.02), (0.02, 0.08), (0.16, 0.03),
                                        (0.15, 0.15)}, 0.03),
        # Who lapses has 3 dB, which nobody attentive has.
        ((None, 0.02, 0.03), [1.0, 1.8, 3.2, 5.7, 10.0, 3.0], {(0.02, 0.03)}, 0.22),
        ((None, 0.02, None), [1.0, 1.8, 3.2, 5.7, 10.0, *[3.0] * 4],
         {(0.02, each) for each in (0.01, 0.02, 0.08, 0.03, 0.15)}, 0.03),
        ((2.0, 0.02, 0.03), [2.0], {(0.02, 0.03)}, 1.0),
    ],
)  # fmt: skip
def test_what_is_told_is_that_of_all_and_the_rest_is_left(
    told: tuple[float | None, float | None, float | None],
    noises_db: list[float],
    rates: set[tuple[float, ...]],
    last_share: float,
) -> None:
    found = LISTENERS(*told, 0.0)
    assert [kind.response_noise_db for kind in found] == noises_db
    assert {astuple(kind)[1:3] for kind in found} == rates
    assert found[-1].share == pytest.approx(last_share)
    assert math.fsum(kind.share for kind in found) == pytest.approx(1.0, rel=1e-14)


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
