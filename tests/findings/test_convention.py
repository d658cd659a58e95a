"""What is reported lies a known offset above 50 % points, or nothing; what was played stays."""

from dataclasses import replace

import pytest

from firmware_py.findings.convention import ear_in_convention, in_convention
from firmware_py.terms.outcomes import WITH_NUMBERS, Outcome
from firmware_py.terms.results import CLINICAL_OFFSET_DB, ConfirmedThreshold
from firmware_py.terms.settings import CLINICAL_ASCENDING, FIFTY_PERCENT
from tests.host.journals import BOTH, GOLDEN, session_of


@pytest.mark.parametrize("name", ["both-ears-n3", "silent-ear", "disturbed"])
def test_in_the_clinical_convention_every_number_is_so_much_higher_and_no_limit_is(
    name: str,
) -> None:
    result = session_of(GOLDEN / f"{name}.journal").result
    assert in_convention(result, FIFTY_PERCENT) == result
    clinical = in_convention(result, CLINICAL_ASCENDING)
    for before, after in zip(result.ears, clinical.ears, strict=True):
        assert after.clinical_offset_db == before.clinical_offset_db == CLINICAL_OFFSET_DB
        for old, new in zip(before.thresholds, after.thresholds, strict=True):
            assert (old.mark, old.limit_db_hl, old.sd_db) == (new.mark, new.limit_db_hl, new.sd_db)
            if old.mark not in WITH_NUMBERS:
                assert new == old
                continue
            for field in ("threshold_db_hl", "low_db_hl", "high_db_hl"):
                above_db = getattr(new, field) - getattr(old, field)
                assert above_db == pytest.approx(before.clinical_offset_db)


def test_what_the_classical_rule_confirmed_is_clinical_already() -> None:
    (ear, _) = session_of(BOTH).result.ears
    again = (ConfirmedThreshold(1000, 45.0, Outcome.MEASURED, 9),)
    found = ear_in_convention(replace(ear, confirmed=again), CLINICAL_ASCENDING)
    assert found.confirmed == again
