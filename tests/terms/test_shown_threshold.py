"""What of a threshold may be shown follows from its mark and the limits, and from nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome
from firmware_py.terms.results import ThresholdResult
from firmware_py.terms.shown_threshold import Kind, ShownThreshold, as_shown, threshold_as_json

NO_NUMBERS = (None, None, None, None)
NUMBERS = (34.0, 2.0, 30.0, 38.0)


@pytest.mark.parametrize(
    ("mark", "numbers", "limit_db_hl", "kind", "level_db_hl"),
    [
        (Outcome.MEASURED, NUMBERS, None, Kind.MEASURED, 34.0),
        (Outcome.INFERRED, NUMBERS, None, Kind.INFERRED, 34.0),
        (Outcome.NO_RESPONSE, NO_NUMBERS, 100.0, Kind.ABOVE, 100.0),
        (Outcome.HEARS_ALL, NO_NUMBERS, -10.0, Kind.AT_MOST, -10.0),
        (Outcome.INCOMPLETE, NO_NUMBERS, 100.0, Kind.PERHAPS_ABOVE, 100.0),
        (Outcome.INCOMPLETE, NO_NUMBERS, None, Kind.UNKNOWN, None),
        (Outcome.UNRELIABLE, NO_NUMBERS, None, Kind.UNKNOWN, None),
    ],
)
def test_every_mark_has_its_reading(
    mark: Outcome, numbers: tuple[float | None, ...], limit_db_hl: float | None,
    kind: Kind, level_db_hl: float | None,
) -> None:  # fmt: skip
    found = as_shown(ThresholdResult(1000, mark, *numbers, limit_db_hl))  # type: ignore[arg-type,call-arg]
    sure = kind in (Kind.MEASURED, Kind.ABOVE, Kind.AT_MOST)

    assert (found.kind, found.level_db_hl) == (kind, level_db_hl)
    assert found.measured_db_hl == (level_db_hl if kind == Kind.MEASURED else None)
    assert found.known_db_hl == (level_db_hl if sure else None)
    has_symbol = kind not in (Kind.INFERRED, Kind.UNKNOWN)
    assert found.symbol == ("none" if has_symbol else None)


def test_a_threshold_without_a_band_is_read_without_one() -> None:
    told = ThresholdResult(1000, Outcome.MEASURED, 34.0, None, None, None, None)
    assert as_shown(told) == ShownThreshold(Kind.MEASURED, 34.0)
    assert told.half_width_db is None


@pytest.mark.parametrize("masking", [*MaskingMark, None])
def test_only_what_was_asked_can_be_masked(masking: MaskingMark | None) -> None:
    measured = as_shown(ThresholdResult(1000, Outcome.MEASURED, *NUMBERS, None, masking))
    inferred = as_shown(ThresholdResult(1000, Outcome.INFERRED, *NUMBERS, None, masking))

    assert measured.masked == (masking == MaskingMark.MASKED)
    assert measured.doubtful == (masking == MaskingMark.UNCERTAIN)
    assert inferred == ShownThreshold(Kind.INFERRED, 34.0, 30.0, 38.0)
    assert (measured.symbol, inferred.symbol) == (masking or "none", None)


def within(level_db_hl: float, low_db_hl: float, high_db_hl: float, mark: str) -> ThresholdResult:
    """Return a threshold of an audiometer from -10 to 100 dB HL."""
    return ThresholdResult(
        1000, Outcome(mark), level_db_hl, 3.0, low_db_hl, high_db_hl, None,
        floor_db_hl=-10.0, ceiling_db_hl=100.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "sign", "shown", "is_open"),
    [
        ((131.0, 102.0, 158.0), ">", (100.0, 100.0, 100.0), (False, True)),
        ((-17.0, -46.0, 9.0), "≤", (-10.0, -10.0, 9.0), (True, False)),
        ((95.0, 88.0, 104.0), "", (95.0, 88.0, 100.0), (False, True)),
        ((100.0, 92.0, 108.0), "", (100.0, 92.0, 100.0), (False, True)),
        ((20.0, -12.0, 101.0), "", (20.0, -10.0, 100.0), (True, True)),
    ],
)
def test_what_lies_beyond_the_limits_is_at_least_or_at_most_the_limit(
    numbers: tuple[float, float, float], sign: str,
    shown: tuple[float, float, float], is_open: tuple[bool, bool],
) -> None:  # fmt: skip
    found = as_shown(within(*numbers, "inferred"))

    assert (found.level_db_hl, found.low_db_hl, found.high_db_hl) == shown
    assert (found.sign, found.low_open, found.high_open) == (sign, *is_open)


LEVELS = st.floats(-200.0, 300.0)


@given(st.tuples(LEVELS, LEVELS, LEVELS), st.sampled_from(["measured", "inferred"]))
def test_a_band_has_its_level_in_it_and_both_are_within_the_limits(
    levels_db_hl: tuple[float, float, float], mark: str
) -> None:
    low_db_hl, level_db_hl, high_db_hl = sorted(levels_db_hl)
    found = within(level_db_hl, low_db_hl, high_db_hl, mark)
    reading, told = as_shown(found), threshold_as_json(found)

    ends: list[Any] = [-10.0, reading.low_db_hl, reading.level_db_hl, reading.high_db_hl, 100.0]
    assert ends == sorted(ends)
    assert (reading.limit == Bound.NONE) == (-10.0 <= level_db_hl <= 100.0)
    number = told["threshold_db_hl"] if mark == "measured" else told["inferred"]["db_hl"]
    assert number == told["reading"]["level_db_hl"] == reading.level_db_hl
