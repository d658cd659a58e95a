"""A recorded tuning comes out again, bit for bit.

`python -m tests.tuning.test_golden_tuning` records it anew.
"""

from pathlib import Path
from typing import Any, Final

import pytest

from firmware_py.comparisons.result import TuningResult
from firmware_py.journal import Record, read_journal
from firmware_py.terms.record_checks import ResultError
from host_tools.commands.replay.tuning import replay_tuning_journal
from host_tools.recordings.replayed import DIFFERENT, IDENTICAL
from tests.firmware.whole_sessions import of_no_commit
from tests.host.journals import write_again
from tests.tuning.bench import DATA, Bench
from tests.tuning.test_tuner import Chooser

JOURNAL: Final = Path(__file__).with_name("golden-tuning.journal")


def run_recording() -> None:
    with of_no_commit():
        bench = Bench(Chooser())
        bench.tune()
        bench.go_on()
    content = bench.simulated_disk.content(DATA / "tuning-000001.journal")
    assert content is not None
    JOURNAL.write_bytes(content)


def test_a_golden_tuning_comes_out_again_bit_for_bit() -> None:
    verdict = replay_tuning_journal(JOURNAL)
    assert verdict.code == IDENTICAL, verdict.differences[:3]
    assert verdict.count >= 10


def test_a_setting_that_was_another_is_noticed(tmp_path: Path) -> None:
    header, *records = read_journal(JOURNAL).records
    changed = [*records[:31], *map(_with_another_tilt, records[31:])]
    write_again(tmp_path / "changed.journal", header, changed)
    assert replay_tuning_journal(tmp_path / "changed.journal").code == DIFFERENT


def _with_another_tilt(record: Record) -> Record:
    action: Any = record.get("action")
    if not isinstance(action, dict) or "tilt_db" not in action:
        return record
    return {**record, "action": {**action, "tilt_db": -7.5}}


if __name__ == "__main__":
    run_recording()


def test_a_recorded_band_that_is_upside_down_is_refused() -> None:
    *_, finish, _end = read_journal(JOURNAL).records
    record: dict[str, Any] = finish["action"]["result"]
    assert TuningResult.from_record(record).to_record() == record

    record["low_db"][1], record["high_db"][1] = record["high_db"][1], record["low_db"][1]

    with pytest.raises(ResultError, match=r"^result\.high_db\[1\] is "):
        TuningResult.from_record(record)
