"""Whatever is written can be read again: the writer of a header has the reader's rule."""

from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.simulator.clock import STARTED
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.journal import read_journal
from firmware_py.journal.records import HEADER_KEYS
from firmware_py.procedure.person import Person
from firmware_py.procedure.settings import Settings
from firmware_py.procedure.tuning.settings import TuningSettings
from firmware_py.session import Session
from firmware_py.session_record import SessionHeader, SessionRecordError
from firmware_py.tuning_record import TuningHeader
from tests.calibration.calibrations import MADE, on_file
from tests.journal.simulated_disk import SimulatedDisk

PATH: Final = Path("/data/session-000001.journal")
TEXTS: Final = st.one_of(
    st.text(max_size=12),
    st.sampled_from(("", "openMHA 4.18.1", "e\x1b[2Jx", "a\nb", "\u202e", "\ud800", "sim e66")),
)
TIMES: Final = st.sampled_from((STARTED.isoformat(), "2026-01-02", "2026-01-02T03:04:05", "", "x"))
NUMBERS: Final = st.sampled_from((1, 2, 999_999, 0, -1, 10**9))
CALIBRATIONS: Final = st.sampled_from((CalibrationInForce(), on_file().judged(MADE)))
SPEEDS: Final = st.sampled_from((1.0, None, 20.0, 0.0, 1e6))
FIT: Final = TuningSettings("0" * 64, ((-6.0, 6.0),) * 4, (3.0,) * 4)

TESTS: Final = st.builds(
    SessionHeader, NUMBERS, st.just(Settings()), st.just(Person()), CALIBRATIONS, TIMES, TEXTS,
    TEXTS, SPEEDS, TEXTS, TEXTS,
)  # fmt: skip
TUNINGS: Final = st.builds(
    TuningHeader, NUMBERS, st.just(FIT), TEXTS, st.none() | TEXTS, TIMES, TEXTS, TEXTS, TEXTS
)


@settings(max_examples=40)
@given(header=TESTS | TUNINGS)
def test_a_header_is_read_again_as_it_was_written_or_no_journal_is_begun(header: Any) -> None:
    disk = SimulatedDisk()
    try:
        begun: Any = Session.begin(PATH, header, disk=disk)
    except SessionRecordError:
        assert disk.paths() == []
        return
    begun.close()
    record = read_journal(PATH, disk=disk).header
    assert type(header).from_record(record) == header
    assert record.keys() - HEADER_KEYS == header.to_record().keys()


@pytest.mark.parametrize("header", [SessionHeader, TuningHeader])
@given(name=st.text(min_size=1, max_size=8), value=st.none() | st.integers() | TEXTS)
def test_what_nobody_reads_is_in_no_header(header: Any, name: str, value: Any) -> None:
    headers: dict[type, Any] = {
        SessionHeader: SessionHeader(
            1, Settings(), Person(), CalibrationInForce(), STARTED.isoformat()
        ),
        TuningHeader: TuningHeader(1, FIT, "aid", None, STARTED.isoformat()),
    }
    told = headers[header].to_record()
    if name in told or name in HEADER_KEYS:
        return
    with pytest.raises(SessionRecordError, match="and a h"):
        header.from_record({**told, name: value})
