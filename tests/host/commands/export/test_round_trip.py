"""What gp-pta writes, the reader of tables reads: the same from every format."""

from collections.abc import Callable
from typing import Final

import pytest

from device.audiogram_tables.ears import TableEar
from device.audiogram_tables.table import Table
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.route import Route
from host_tools.commands.export.cells import COMMA, SEMICOLON, TAB, Spelling, spelling_of
from host_tools.commands.export.examination import Examination
from tests.host.commands.export.sessions import (
    as_csv,
    as_fhir,
    as_json,
    as_nhanes_csv,
    as_parquet,
    as_tidy_csv,
    session_with_bone,
    session_with_marks,
)

Write = Callable[[list[Examination]], bytes]
WRITERS: Final[dict[str, Write]] = {
    "csv": as_csv,
    "csv with commas": lambda them: as_csv(them, spelling_of(SEMICOLON, COMMA)),
    "nhanes": as_nhanes_csv,
    "tidy": lambda them: as_tidy_csv(them, Spelling()),
    "tidy with tabs": lambda them: as_tidy_csv(them, spelling_of(TAB, COMMA)),
    "json": as_json,
    "fhir": as_fhir,
    "parquet": as_parquet,
}


def ears_in(write: Write, *examinations: Examination) -> dict[str, TableEar]:
    table = Table.read("out", write([*examinations]))
    return {ear.side: ear for ear in table.all_ears()}


@pytest.mark.parametrize("name", WRITERS)
def test_measured_thresholds_come_back_and_what_was_not_heard_is_not_a_level(name: str) -> None:
    examination = session_with_marks()
    found = ears_in(WRITERS[name], examination)

    count = 0
    for ear in ("right", "left"):
        for threshold in examination.result.by_route[Route(ear)].thresholds:
            reading = found[ear].by_air.get(float(threshold.frequency_hz))
            if threshold.mark == Outcome.MEASURED:
                assert reading is not None
                assert reading.level_db_hl == pytest.approx(threshold.threshold_db_hl, abs=0.051)
                count += 1
            elif threshold.mark == Outcome.NO_RESPONSE:
                assert reading is not None
                assert not reading.heard
                assert reading.limit_db_hl in (threshold.limit_db_hl, None)
                assert (reading.limit_db_hl is None) == (name == "nhanes")
            elif threshold.mark == Outcome.HEARS_ALL:
                assert reading is not None
                assert reading.level_db_hl == -10.0
            else:
                assert reading is None, "inferred or incomplete: it is not known"
    assert count > 8


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "nhanes"])
def test_bone_comes_back_beside_air(name: str) -> None:
    examination = session_with_bone()
    found = ears_in(WRITERS[name], examination)

    read = {
        (ear, frequency_hz): reading.level_db_hl
        for ear, of in found.items()
        for frequency_hz, reading in of.by_bone.items()
        if reading.heard
    }
    measured = {
        (route.ear, float(each.frequency_hz)): each.threshold_db_hl
        for route, of in examination.result.by_route.items()
        if route.by_bone
        for each in of.thresholds
        if each.mark == Outcome.MEASURED
    }
    assert measured
    assert (
        read.items()
        >= {place: pytest.approx(level, abs=0.051) for place, level in measured.items()}.items()
    )
