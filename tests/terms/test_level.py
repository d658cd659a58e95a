"""Computing with bounds and bands loses nothing that may be, and tells no more than is known."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from firmware_py.terms.level import Level
from firmware_py.terms.outcomes import Bound

DB = st.floats(-150.0, 150.0)
SD_DB = st.floats(0.0, 20.0)
ROUNDING_DB = 1e-9


@st.composite
def levels(draw: st.DrawFn) -> Level:
    ends_db = sorted([draw(DB), draw(DB)])
    is_number = draw(st.booleans())
    low_db, high_db = ends_db if not is_number else (ends_db[0], ends_db[0])
    below, above, inferred, doubtful = (draw(st.booleans()) for _ in range(4))
    return Level(low_db, high_db, below, above, draw(SD_DB), inferred, doubtful)


@st.composite
def inside(draw: st.DrawFn, level: Level) -> float:
    """Return a value that a level allows."""
    low_db = level.low_db - (draw(st.floats(0.0, 300.0)) if level.open_below else 0.0)
    high_db = level.high_db + (draw(st.floats(0.0, 300.0)) if level.open_above else 0.0)
    return draw(st.floats(low_db, high_db))


def allows(level: Level, db: float) -> bool:
    low_db = -inf if level.open_below else level.low_db - ROUNDING_DB
    high_db = inf if level.open_above else level.high_db + ROUNDING_DB
    return low_db <= db <= high_db


@given(st.data(), levels(), levels())
def test_a_difference_contains_that_of_any_two_values(
    data: st.DataObject, one: Level, other: Level
) -> None:
    found = one.minus(other)

    assert allows(found, data.draw(inside(one)) - data.draw(inside(other)))
    assert found.open_above == (one.open_above or other.open_below)
    assert found.open_below == (one.open_below or other.open_above)
    assert found.sd_db**2 == pytest.approx(one.sd_db**2 + other.sd_db**2)
    for name in ("inferred", "doubtful"):
        assert getattr(found, name) == (getattr(one, name) or getattr(other, name))


@given(st.data(), st.lists(levels(), min_size=1, max_size=4))
def test_a_mean_contains_that_of_any_values(data: st.DataObject, several: list[Level]) -> None:
    found = Level.mean(several)

    values_db = [data.draw(inside(each)) for each in several]
    assert allows(found, sum(values_db) / len(values_db))
    for name in ("open_below", "open_above", "inferred", "doubtful"):
        assert getattr(found, name) == any(getattr(each, name) for each in several)
    sds_db = [each.sd_db for each in several]
    assert min(sds_db) - ROUNDING_DB <= found.sd_db <= max(sds_db) + ROUNDING_DB


@given(levels(), DB, DB)
def test_limits_leave_open_what_lies_beyond_them(
    level: Level, one_db: float, other_db: float
) -> None:
    floor_db, ceiling_db = sorted([one_db, other_db])

    found = level.within(floor_db, ceiling_db)

    assert floor_db <= found.low_db <= found.high_db <= ceiling_db
    assert found.open_below == (level.open_below or level.low_db < floor_db)
    assert found.open_above == (level.open_above or level.high_db > ceiling_db)


@given(DB, st.floats(0.1, 20.0), DB)
def test_a_number_has_the_probability_of_a_gaussian(db: float, sd_db: float, of_db: float) -> None:
    told = Level.at(db, sd_db).probability_at_least(of_db)

    assert told == pytest.approx(norm.sf(of_db, db, sd_db), abs=1e-9)


@given(st.data(), levels(), DB)
def test_a_probability_is_told_only_where_every_value_has_it(
    data: st.DataObject, level: Level, of_db: float
) -> None:
    value_db = data.draw(inside(level))
    if (told := level.probability_at_least(of_db)) is not None:
        each = Level.at(value_db, level.sd_db).probability_at_least(of_db)
        assert each == pytest.approx(told, abs=1e-6)


@pytest.mark.parametrize(
    ("level", "share"),
    [
        (Level.at(48.0, open_above=True), 1.0), (Level.at(10.0, open_below=True), 0.0),
        (Level.at(16.0, 3.0, open_above=True), None), (Level.at(16.0, 3.0, open_below=True), None),
        (Level.at(13.0, open_above=True), None), (Level.at(20.0, open_below=True), None),
        (Level(10.0, 20.0), None), (Level(16.0, 20.0), 1.0),
    ],
)  # fmt: skip
def test_a_bound_or_band_tells_a_probability_only_where_it_decides_it(
    level: Level, share: float | None
) -> None:
    assert level.probability_at_least(15.0) == share


@pytest.mark.parametrize(
    ("below", "above", "bound"),
    [(False, False, Bound.NONE), (False, True, Bound.AT_LEAST), (True, False, Bound.AT_MOST),
     (True, True, None)],
)  # fmt: skip
def test_what_a_level_is_of_its_number_follows_from_its_open_ends(
    below: bool, above: bool, bound: Bound | None
) -> None:
    assert Level.at(3.0, open_below=below, open_above=above).bound == bound
