"""Reading: every cut, every flipped bit, every shuffled line, and files that are no journal."""

import itertools
import os
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from firmware_py.journal import (
    FORMAT_VERSION,
    RECORD_BYTES_MAX,
    JournalDamagedError,
    JournalNewerError,
    JournalReadError,
    JournalUnstartedError,
    Recovered,
    is_recovery_note,
    is_unbroken,
    read_journal,
)
from firmware_py.journal.records import (
    JOURNAL_BYTES_MAX,
    UNSYNCED_BYTES_MAX,
    chained_crc,
    encode_line,
)
from tests.journal.conftest import PATH, read


def batch(synced: int, first: int, count: int, crc: str) -> tuple[list[bytes], str]:
    """Return lines of one sync, and the CRC of the last."""
    lines = []
    for number in range(first, first + count):
        kind = "header" if number == 0 else "note"
        record = {"kind": kind, "journal": 3} if number == 0 else {"kind": kind, "text": "abc" * 9}
        line, crc = encode_line(number, synced, record, crc)
        lines.append(line)
    return lines, crc


def test_a_sound_journal_reads_whole(sample: bytes, sample_records: list[dict[str, Any]]) -> None:
    recovered = read(sample)

    assert recovered.header == {"kind": "header", "journal": 3, "seed": 1}
    assert list(recovered.records[1:]) == sample_records
    assert (recovered.torn_bytes, recovered.good_bytes) == (0, len(sample))
    assert recovered.complete


def test_a_cut_anywhere_is_a_torn_end(sample: bytes) -> None:
    whole = read(sample).records
    ends = [0, *itertools.accumulate(map(len, sample.splitlines(keepends=True)))]
    for size in range(ends[1], len(sample)):
        recovered = read(sample[:size])
        count = sum(end <= size for end in ends[1:])
        assert recovered.records == whole[:count], size
        assert recovered.torn_bytes == size - ends[count], size
        assert recovered.good_bytes == ends[count], size
        assert not recovered.complete
    for size in range(ends[1]):
        with pytest.raises(JournalUnstartedError, match=r"torn header|empty"):
            read(sample[:size])


def test_a_flipped_bit_is_an_error_or_a_torn_end(sample: bytes) -> None:
    """Only the last line, and not the newline of the one before, may count as torn."""
    whole = read(sample).records
    last = sample.rindex(b"\n", 0, -1) + 1
    for bit in range(8 * len(sample)):
        flipped = bytearray(sample)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            found = read(bytes(flipped))
            assert bit // 8 >= last, bit
            assert found.records == whole[:-1], bit
            assert found.good_bytes == last, bit
        except JournalDamagedError as error:
            assert error.byte_offset <= bit // 8, bit  # noqa: PT017
            good = error.good.records if error.good else ()
            assert good == whole[: len(good)], bit
        except JournalReadError:
            assert bit // 8 < sample.index(b"\n"), bit


def test_missing_repeated_and_swapped_lines_are_damage(sample: bytes) -> None:
    lines = sample.splitlines(keepends=True)
    for at in range(1, len(lines) - 1):
        missing = lines[:at] + lines[at + 1 :]
        repeated = lines[: at + 1] + lines[at:]
        swapped = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
        for wrong, line_number in ((missing, at + 1), (repeated, at + 2), (swapped, at + 1)):
            with pytest.raises(JournalDamagedError, match="missing, repeated or out") as caught:
                read(b"".join(wrong))
            assert caught.value.line_number == line_number
            assert caught.value.byte_offset == len(b"".join(wrong[: line_number - 1]))
            assert caught.value.good is not None
            assert len(caught.value.good.records) == line_number - 1
    with pytest.raises(JournalDamagedError, match="it is record 6 where record 7 belongs"):
        read(b"".join([*lines, lines[-1]]))
    with pytest.raises(JournalDamagedError, match="it is record 1 where record 0") as headless:
        read(b"".join(lines[1:]))
    assert headless.value.good is None


def test_a_line_changed_with_a_right_crc_of_its_own_is_damage(sample: bytes) -> None:
    """The line after it chains to the old CRC."""
    lines = sample.splitlines(keepends=True)
    crc = lines[1][-11:-3].decode()
    lines[2], _ = encode_line(2, 2, {"kind": "input", "what": "forged"}, crc)

    with pytest.raises(JournalDamagedError, match=r"line 4 .*the line before") as caught:
        read(b"".join(lines))

    assert caught.value.line_number == 4


def test_damage_says_where_and_what_and_keeps_the_good_records(sample: bytes) -> None:
    lines = sample.splitlines(keepends=True)
    offset = len(lines[0] + lines[1])
    changed = sample.replace(b"81250113", b"81250114")

    with pytest.raises(JournalDamagedError) as caught:
        read(changed)

    error = caught.value
    assert error.good is not None
    assert error.good.records == read(sample[:offset]).records
    assert (error.line_number, error.byte_offset) == (3, offset)
    assert re.fullmatch(
        rf"/data/s\.jsonl: damaged at line 3 \(byte {offset}\): its CRC is [0-9a-f]{{8}}, its "
        r"bytes after the line before give [0-9a-f]{8}; record 3 follows, appended when 3 "
        r"records were on the disk",
        str(error),
    )


def test_a_lost_sector_within_the_last_sync_is_a_torn_end() -> None:
    """Good lines of the same sync behind it prove nothing; a line of a later sync does."""
    first, crc = batch(0, 0, 3, "")
    second, crc = batch(3, 3, 4, crc)
    third, _ = batch(7, 7, 1, crc)
    torn = bytearray(b"".join(first + second))
    at = len(b"".join(first)) + len(second[0]) + 20
    torn[at : at + 30] = bytes(30)

    recovered = read(bytes(torn))
    assert len(recovered.records) == 4
    assert recovered.torn_bytes == len(b"".join(second[1:]))

    with pytest.raises(JournalDamagedError, match="record 7 follows, appended when 7 records"):
        read(bytes(torn) + third[0])


def test_what_a_caller_writes_is_no_proof_of_damage() -> None:
    """Only the start of a line proves anything, not the same characters within one."""
    nested = {"n": 9, "synced": 9, "kind": "note"}
    tricky = {"kind": "note", "a": nested, "b": [{"x": "y"}, nested], "c": '\n{"n": 9, "synced": 9'}
    header, crc = batch(0, 0, 1, "")
    line, _ = encode_line(1, 1, tricky, crc)
    torn = header[0] + line[:-2] + b"x\n"

    assert read(torn).good_bytes == len(header[0])


def test_an_end_of_zeros_or_noise_is_torn_until_it_is_too_long(sample: bytes) -> None:
    for byte in (b"\0", b"\xff", b"\n", b"{"):
        assert read(sample + byte * UNSYNCED_BYTES_MAX).torn_bytes == UNSYNCED_BYTES_MAX
        with pytest.raises(JournalDamagedError, match="65537 bytes follow from there"):
            read(sample + byte * (UNSYNCED_BYTES_MAX + 1))


def test_a_line_of_sixteen_megabytes_takes_little_memory(tmp_path: Path, sample: bytes) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(sample)
    os.truncate(path, JOURNAL_BYTES_MAX)

    tracemalloc.start()
    with pytest.raises(JournalDamagedError, match=f"no newline within {RECORD_BYTES_MAX} bytes"):
        read_journal(path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak_bytes < 1_000_000


def test_what_is_longer_than_any_journal_is_not_read(
    tmp_path: Path, sample: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.jsonl"
    path.write_bytes(sample)
    with monkeypatch.context() as shorter:
        shorter.setattr("firmware_py.journal.reader.JOURNAL_BYTES_MAX", len(sample) - 1)
        assert not is_unbroken(path)
    assert is_unbroken(path)
    os.truncate(path, 10**12)

    with pytest.raises(JournalReadError, match="has 1000000000000 bytes; a journal has at most "):
        read_journal(path)


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (b"", JournalUnstartedError, "is empty"),
        (b'{"n": 0, "syn', JournalUnstartedError, "torn header"),
        (bytes(512), JournalUnstartedError, "torn header"),
        (bytes(100_000), JournalDamagedError, "damaged at line 1"),
        (b"\x7fELF\x02\x01" * 50, JournalReadError, "is no journal: line 1: the file ends"),
        (b"\x89PNG\r\n\x1a\n" * 50, JournalReadError, "is no journal: line 1: it does not start"),
        (b"frequency,level\n1000,40\n", JournalReadError, "is no journal"),
        (b'{"some": "json"}\n', JournalReadError, "is no journal"),
        ("\ufeff{}\n".encode("utf-16"), JournalReadError, "is no journal"),
        (
            b'{"n": 0, "synced": 0, "kind": "header", "journal": 99, "another": "form"}\n',
            JournalNewerError,
            "format version 99, or a damaged header; this version reads formats 1 to 3",
        ),
        (
            b'{"n": 0, "synced": 0, "kind": "header", "journal": 0, "another": "form"}\n',
            JournalReadError,
            "format version 0, or a damaged header",
        ),
    ],
)
def test_what_is_no_journal_is_named(
    content: bytes, kind: type[JournalReadError], words: str
) -> None:
    with pytest.raises(kind, match=re.escape(words)) as caught:
        read(content)

    assert type(caught.value) is kind
    assert str(caught.value).startswith("/data/s.jsonl: ")


def header_line(rest: str) -> bytes:
    body = f'{{"n": 0, "synced": 0, "kind": "header", "journal": {rest}'
    return f'{body}, "crc": "{chained_crc("", body.encode())}"}}\n'.encode()


@pytest.mark.parametrize("version", ["0", "-1", "true", "2.0", '"2"', "null"])
def test_a_version_that_was_never_used_is_refused(version: str) -> None:
    with pytest.raises(JournalReadError, match=r"has journal format version .*; this") as caught:
        read(header_line(version))
    assert type(caught.value) is JournalReadError


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, 99])
def test_a_journal_of_a_later_version_names_it(version: int) -> None:
    words = f"was recorded by 7.1 \\(format {version}\\); this version reads formats 1 to "
    with pytest.raises(JournalNewerError, match=words):
        read(header_line(f'{version}, "firmware": "7.1"'))


@pytest.mark.parametrize("version", range(1, FORMAT_VERSION + 1))
def test_every_format_so_far_is_read(version: int) -> None:
    assert read(header_line(f"{version}")).format == version


def test_paths_that_are_no_file_are_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        ("missing", r"No such file or directory \(ENOENT\)"),
        (".", r"Is a directory \(EISDIR\)"),
        ("pipe", "Not a regular file"),
    ):
        with pytest.raises(JournalReadError, match=f"cannot be opened: {words}"):
            read_journal(tmp_path / name)


def test_complete_means_an_end_with_at_most_recovery_notes_behind_it() -> None:
    end = {"kind": "end"}
    recovery = {"kind": "note", "what": "recovered", "saved_as": "cut-9"}
    other = {"kind": "note", "what": "operator"}
    header = {"kind": "header", "journal": 3}

    def complete(*records: dict[str, Any]) -> bool:
        return Recovered(PATH, (header, *records), 0, "").complete

    assert all(complete(*records) for records in ((end,), (end, recovery), (recovery, end)))
    assert not any(complete(*records) for records in ((), (other,), (end, other)))
    assert is_recovery_note(recovery)
    assert not is_recovery_note(other)
