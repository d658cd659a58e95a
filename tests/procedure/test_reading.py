"""What of a threshold may be shown follows from its mark, and from nothing else."""

import pytest

from firmware_py.procedure.outcomes import MaskingMark, Outcome
from firmware_py.procedure.reading import Kind, Reading, read
from firmware_py.procedure.results import ThresholdResult

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
    mark: Outcome,
    numbers: tuple[float | None, ...],
    limit_db_hl: float | None,
    kind: Kind,
    level_db_hl: float | None,
) -> None:
    found = read(ThresholdResult(1000, mark, *numbers, limit_db_hl))  # type: ignore[arg-type,call-arg]
    sure = kind in (Kind.MEASURED, Kind.ABOVE, Kind.AT_MOST)

    assert (found.kind, found.level_db_hl) == (kind, level_db_hl)
    assert found.measured_db_hl == (level_db_hl if kind == Kind.MEASURED else None)
    assert found.inferred_db_hl == (level_db_hl if kind == Kind.INFERRED else None)
    assert found.known_db_hl == (level_db_hl if sure else None)
    assert found.symbol_db_hl == (None if kind == Kind.INFERRED else level_db_hl)


@pytest.mark.parametrize("masking", [*MaskingMark, None])
def test_only_what_was_asked_can_be_masked(masking: MaskingMark | None) -> None:
    measured = read(ThresholdResult(1000, Outcome.MEASURED, *NUMBERS, None, masking))
    inferred = read(ThresholdResult(1000, Outcome.INFERRED, *NUMBERS, None, masking))

    assert measured.masked == (masking == MaskingMark.MASKED)
    assert measured.doubtful == (masking == MaskingMark.UNCERTAIN)
    assert inferred == Reading(Kind.INFERRED, 34.0)
