"""Writing and resuming on a sound disk, and what the writer refuses."""

import errno
import re
from pathlib import Path
from typing import Any

import pytest

from firmware_py.journal import (
    HEADER_BYTES_MAX,
    RECORD_BYTES_MAX,
    JournalDamagedError,
    JournalExistsError,
    JournalReadError,
    JournalRecordError,
    JournalUnstartedError,
    JournalWriteError,
    JournalWriter,
    read_journal,
)
from firmware_py.journal.records import UNSYNCED_BYTES_MAX
from tests.journal.simulated_disk import Fault, SimulatedDisk

PATH = Path("/data/s.jsonl")
NOTE = {"kind": "note", "text": "n"}
LONG_NOTE = {"kind": "note", "text": "n" * (RECORD_BYTES_MAX - 200)}


def test_records_are_numbered_and_counted() -> None:
    writer = JournalWriter.create(PATH, {"seed": 1}, disk=SimulatedDisk())

    assert (writer.path, writer.record_count, writer.synced_count) == (PATH, 1, 1)
    assert [writer.append(NOTE), writer.append(NOTE)] == [1, 2]
    assert (writer.record_count, writer.synced_count) == (3, 1)
    writer.sync()
    assert (writer.record_count, writer.synced_count) == (3, 3)


def test_nothing_is_written_before_the_sync_and_once_by_it() -> None:
    disk = SimulatedDisk()
    writer = JournalWriter.create(PATH, {}, disk=disk)
    del disk.calls[:]
    writer.append(NOTE)
    writer.append(NOTE)

    assert disk.calls == []
    writer.sync()
    writer.sync()
    assert disk.calls == ["write", "fsync"]


def test_a_record_is_encoded_when_it_is_appended() -> None:
    disk = SimulatedDisk()
    record: dict[str, Any] = {"kind": "note", "list": [1]}
    with JournalWriter.create(PATH, {}, disk=disk) as writer:
        writer.append(record)
        record["list"].append(2)

    assert read_journal(PATH, disk=disk).records[1] == {"kind": "note", "list": [1]}


def test_append_syncs_before_too_much_waits() -> None:
    disk = SimulatedDisk()
    record = {"kind": "note", "text": "x" * 3000}
    with JournalWriter.create(PATH, {"pad": "x" * (HEADER_BYTES_MAX - 100)}, disk=disk) as writer:
        for _ in range(100):
            writer.append(record)
            assert writer.record_count - writer.synced_count <= UNSYNCED_BYTES_MAX // 3000
    assert disk.calls.count("fsync") == 1 + 5  # 21 of these records wait at most
    assert read_journal(PATH, disk=disk).records[1:] == (record,) * 100
    synced = re.findall(rb'"synced": (\d+)', disk.content(PATH) or b"")
    assert [int(count) for count in synced] == [0, *(1 + n // 21 * 21 for n in range(100))]


def test_a_refused_record_does_not_harm_the_writer() -> None:
    disk = SimulatedDisk()
    with JournalWriter.create(PATH, {}, disk=disk) as writer:
        for wrong, words in (
            ({}, '"kind" is None'),
            ({"kind": "note", "x": float("nan")}, '"x" is nan'),
            ({"kind": "header"}, "only record 0 is a header"),
            ({"kind": "note", "what": "recovered"}, "is written by recoveries alone"),
        ):
            with pytest.raises(JournalRecordError, match=words):
                writer.append(wrong)
        assert writer.append(NOTE) == 1

    assert read_journal(PATH, disk=disk).records[1:] == (NOTE,)


def test_nothing_follows_the_end() -> None:
    disk = SimulatedDisk()
    words = "record 2 of kind 'note' would follow the \"end\" record; create another journal"
    with JournalWriter.create(PATH, {}, disk=disk) as writer:
        writer.append({"kind": "end"})
        with pytest.raises(JournalRecordError, match=words):
            writer.append(NOTE)
    before = disk.content(PATH)
    writer, recovered = JournalWriter.resume(PATH, disk=disk)
    with writer, pytest.raises(JournalRecordError, match=words):
        writer.append(NOTE)

    assert recovered.complete
    assert disk.content(PATH) == before


def test_another_torn_end_at_the_same_place_gets_another_name(sample: bytes) -> None:
    disk = SimulatedDisk()
    disk.put(PATH, sample + b"torn")
    start = f"s.jsonl.cut-{len(sample)}"
    disk.put(PATH.with_name(start), b"an older one")
    disk.put(PATH.with_name(f"{start}.2"), b"torn")
    disk.put(PATH.with_name(f"{start}.part"), b"to")

    writer, recovered = JournalWriter.resume(PATH, disk=disk)
    writer.close()

    notes = [(note["saved_as"], note["bytes"]) for note in recovered.records[-2:]]
    assert notes == [(f"cut-{len(sample)}", 12), (f"cut-{len(sample)}.2", 4)]
    assert recovered.complete
    assert disk.content(PATH.with_name(start)) == b"an older one"
    assert disk.content(PATH.with_name(f"{start}.2")) == b"torn"
    assert PATH.with_name(f"{start}.3") not in disk.paths()


def test_recovery_takes_the_documented_steps(sample: bytes) -> None:
    disk = SimulatedDisk()
    disk.put(PATH, sample + b"torn")
    JournalWriter.resume(PATH, disk=disk)
    reads = {"open", "size", "read", "names"}

    assert [call for call in disk.calls if call not in reads] == [
        *("lock", "fsync_directory", "fsync", "drop_cache"),
        *("create", "write", "fsync", "rename", "fsync_directory"),
        *("truncate", "fsync"),
        *("write", "fsync"),
    ]


def test_resume_leaves_damage_as_it_is(sample: bytes) -> None:
    for content, kind in (
        (sample.replace(b"81250113", b"81250114"), JournalDamagedError),
        (sample[:20], JournalUnstartedError),
        (b"frequency,level\n", JournalReadError),
    ):
        disk = SimulatedDisk()
        disk.put(PATH, content)
        for _ in range(2):
            with pytest.raises(kind):
                JournalWriter.resume(PATH, disk=disk)
        assert disk.paths() == [PATH]
        assert disk.content(PATH) == content


def test_create_refuses_what_is_there_already() -> None:
    disk = SimulatedDisk()
    disk.put(PATH, b"")
    with pytest.raises(JournalExistsError, match=r"/data/s\.jsonl: exists already; resume it or"):
        JournalWriter.create(PATH, {}, disk=disk)

    disk = SimulatedDisk()
    disk.put(PATH.with_name("s.jsonl.cut-512.2"), b"x")
    with pytest.raises(JournalExistsError, match=r"older journal .*, s\.jsonl\.cut-512\.2; move"):
        JournalWriter.create(PATH, {}, disk=disk)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"kind": "header"}, 'cannot have the key "kind", which the journal writes; use another'),
        ({"journal": 3}, 'cannot have the key "journal"'),
        ({"n": 1}, 'the key "n" is written by the journal itself'),
        ({"x": float("inf")}, '"x" is inf'),
        ({"x": "x" * HEADER_BYTES_MAX}, f"at most {HEADER_BYTES_MAX} are allowed"),
    ],
)
def test_a_refused_header_leaves_no_file(header: dict[str, Any], words: str) -> None:
    disk = SimulatedDisk()

    with pytest.raises(JournalRecordError, match=re.escape(words)):
        JournalWriter.create(PATH, header, disk=disk)

    assert disk.calls == []


def test_closing_syncs_and_a_closed_writer_refuses() -> None:
    disk = SimulatedDisk()
    writer = JournalWriter.create(PATH, {}, disk=disk)

    def fail() -> None:
        with writer:
            writer.append(NOTE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    writer.close()

    assert read_journal(PATH, disk=disk).records[1:] == (NOTE,)
    for act in (writer.sync, lambda: writer.append(NOTE)):
        with pytest.raises(JournalWriteError, match="nothing more is recorded: the writer is clos"):
            act()


def test_a_journal_that_closes_badly_is_closed_all_the_same() -> None:
    """The system has let go of the file then, and may give its number to another one."""
    closed = []

    class BadlyClosing(SimulatedDisk):
        def close(self, handle: int) -> None:
            super().close(handle)
            closed.append(handle)
            raise OSError(errno.EIO, "it does not close well")

    writer = JournalWriter.create(PATH, {}, disk=BadlyClosing())
    with pytest.raises(OSError, match="it does not close well"):
        writer.close()
    writer.close()
    assert len(closed) == 1


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_failed_sync_names_the_loss_cuts_back_and_ends_the_writer(call: str) -> None:
    disk = SimulatedDisk(Fault(at={"write": 9, "fsync": 10}[call], error=errno.ENOSPC))
    writer = JournalWriter.create(PATH, {}, disk=disk)
    writer.append(NOTE)
    writer.sync()
    good = disk.content(PATH)
    assert good is not None
    writer.append(NOTE)
    writer.append(NOTE)

    with pytest.raises(JournalWriteError) as caught:
        writer.sync()

    assert disk.fault_met
    assert disk.calls[-2:] == [call, "truncate"]
    assert str(caught.value) == (
        "/data/s.jsonl: cannot be written: No space left on device (ENOSPC); records 2 to 3 not "
        f"recorded, records 0 to 1 safe; the file was cut back to {len(good)} bytes; see to the "
        "disk, then resume the journal"
    )
    assert disk.content(PATH) == good
    calls = len(disk.calls)
    for act in (writer.sync, lambda: writer.append(NOTE), writer.sync):
        with pytest.raises(JournalWriteError, match=r"a sync failed before, No space .*; resume"):
            act()
    writer.close()
    assert len(disk.calls) == calls
    assert JournalWriter.resume(PATH, disk=disk)[1].records[1:] == (NOTE,)


def test_a_file_that_cannot_be_cut_back_is_said_so() -> None:
    disk = SimulatedDisk(Fault(at=7, error=errno.EIO, for_ever=True))
    writer = JournalWriter.create(PATH, {}, disk=disk)
    writer.append(NOTE)

    with pytest.raises(
        JournalWriteError,
        match=r"record 1 not recorded, record 0 safe; the file "
        r"could not be cut back either, Input/output error \(EIO\)",
    ):
        writer.close()

    disk.heal()
    writer, recovered = JournalWriter.resume(PATH, disk=disk)
    assert len(recovered.records) == 2
    assert recovered.torn_bytes > 0
    writer.close()


def test_an_interrupted_sync_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SimulatedDisk()
    writer = JournalWriter.create(PATH, {}, disk=disk)
    writer.append(NOTE)

    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(disk, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        writer.sync()
    with pytest.raises(JournalWriteError, match="a sync was interrupted; resume"):
        writer.append(NOTE)


def test_a_full_journal_is_named_stays_readable_and_is_not_gone_on_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bytes_max = 3 * UNSYNCED_BYTES_MAX
    for module in ("writer", "reader", "recovery"):
        monkeypatch.setattr(f"firmware_py.journal.{module}.JOURNAL_BYTES_MAX", bytes_max)
    disk = SimulatedDisk()
    writer = JournalWriter.create(PATH, {}, disk=disk)

    def append_for_ever() -> None:
        for _ in range(bytes_max):
            writer.append(LONG_NOTE)

    with pytest.raises(JournalWriteError, match=r"is full: record \d+ would make it") as full:
        append_for_ever()
    writer.close()
    recorded = read_journal(PATH, disk=disk)
    assert f"record {len(recorded.records)} would" in str(full.value)
    assert bytes_max - RECORD_BYTES_MAX < recorded.good_bytes <= bytes_max
    with pytest.raises(JournalReadError, match=f"is full: it has {recorded.good_bytes} bytes"):
        JournalWriter.resume(PATH, disk=disk)


def test_a_journal_may_become_as_long_as_is_allowed_and_is_gone_on_with_while_a_write_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second one is as long as the first, which is the limit."""
    disk, at = SimulatedDisk(), "firmware_py.journal.{}.JOURNAL_BYTES_MAX".format
    for name in ("one", "other"):
        path = PATH.with_name(name)
        with JournalWriter.create(path, {}, disk=disk) as writer:
            writer.append(NOTE)
        longest = read_journal(path, disk=disk).good_bytes
        monkeypatch.setattr(at("writer"), longest)
        monkeypatch.setattr(at("recovery"), longest + UNSYNCED_BYTES_MAX)
        JournalWriter.resume(path, disk=disk)[0].close()


def test_a_thousand_torn_ends_at_one_place_are_kept_and_no_more() -> None:
    disk = SimulatedDisk()
    JournalWriter.create(PATH, {}, disk=disk).close()
    whole = disk.content(PATH)
    assert whole is not None
    disk.put(PATH, whole + b"torn")
    start = f"s.jsonl.cut-{len(whole)}"
    for name in (start, *(f"{start}.{number}" for number in range(2, 998))):
        disk.put(PATH.with_name(name), b"another")

    JournalWriter.resume(PATH, disk=disk)[0].close()

    assert disk.content(PATH.with_name(f"{start}.998")) == b"torn"
    content = disk.content(PATH)
    assert content is not None
    disk.put(PATH, whole + b"again")
    disk.put(PATH.with_name(f"{start}.999"), b"another")
    with pytest.raises(JournalWriteError, match="more than 1000 files"):
        JournalWriter.resume(PATH, disk=disk)
