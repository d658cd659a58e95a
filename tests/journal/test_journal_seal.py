"""Seals: nothing can be changed, left out, added or put elsewhere without the key."""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from firmware_py.journal import JournalReadError, JournalWriter, SealKey, first_broken, read_journal
from firmware_py.journal.records import TAIL_BYTES, chained_crc

KEY = SealKey(bytes(range(32)))
OTHER = SealKey(bytes(32))
NOTE = {"kind": "note", "text": "née"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a sealed journal of six records."""
    path = tmp_path / "s.jsonl"
    with JournalWriter.create(path, {"seed": 1}, seal_key=KEY) as journal:
        for number in range(4):
            journal.append({**NOTE, "number": number})
            journal.sync()
        journal.append({"kind": "end"})
    return path


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def with_right_crcs(lines: Sequence[bytes]) -> list[bytes]:
    """Do what somebody without the key can do: number the lines anew, and mend every CRC."""
    crc, mended = "", []
    for number, line in enumerate(lines):
        place = b'"n": %d, "synced": %d' % (number, number)
        body = re.sub(rb'"n": \d+, "synced": \d+', place, line)[:-TAIL_BYTES]
        crc = chained_crc(crc, body)
        mended.append(body + f', "crc": "{crc}"}}\n'.encode())
    return mended


def test_a_seal_is_that_of_rfc_2104_over_the_seal_before_and_the_line(path: Path) -> None:
    previous = b""
    for line in lines_of(path):
        body, _, _ = line.partition(b', "seal": "')
        block = KEY.secret.ljust(64, b"\0")
        inner = hashlib.sha256(
            bytes(b ^ 0x36 for b in block) + b"gp-pta seal\n" + previous + b"\n" + body
        )
        previous = (
            hashlib.sha256(bytes(b ^ 0x5C for b in block) + inner.digest()).hexdigest().encode()
        )
        assert json.loads(line)["seal"].encode() == previous


def test_the_records_are_the_same_with_seals_and_without(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.jsonl"
    with JournalWriter.create(plain, {"seed": 1}) as journal:
        for record in read_journal(path).records[1:]:
            journal.append(record)

    header, *records = read_journal(path).records
    plain_header, *plain_records = read_journal(plain).records
    assert records == plain_records
    assert header == {**plain_header, "seal_key": KEY.name}
    assert b"seal" not in plain.read_bytes()


def test_a_journal_as_it_was_written_is_unbroken(path: Path) -> None:
    assert first_broken(KEY, lines_of(path)) is None
    assert first_broken(KEY, lines_of(path)[:3]) is None, "as far as it goes"
    assert first_broken(OTHER, lines_of(path)) == 0


def test_the_name_tells_keys_apart_and_the_secret_is_not_shown() -> None:
    assert re.fullmatch("[0-9a-f]{16}", KEY.name)
    assert KEY.name != OTHER.name
    assert KEY.name not in KEY.secret.hex()
    assert KEY.secret.hex() not in repr(KEY)
    assert repr(KEY.secret) not in repr(KEY)


def unseal(line: bytes) -> bytes:
    return re.sub(rb', "seal": "\w+"', b"", line)


ADDED = b'{"n": 6, "synced": 6, "kind": "note", "crc": "00000000"}\n'
FORGERIES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int]] = {
    "changed": (lambda n: [*n[:2], n[2].replace(b'"number": 1', b'"number": 7'), *n[3:]], 2),
    "header changed": (lambda n: [n[0].replace(b'"seed": 1', b'"seed": 2'), *n[1:]], 0),
    "left out": (lambda n: [*n[:2], *n[3:]], 2),
    "swapped": (lambda n: [*n[:2], n[3], n[2], *n[4:]], 2),
    "doubled": (lambda n: [*n[:3], n[2], *n[3:]], 3),
    "added": (lambda n: [*n, ADDED], 6),
    "without a seal": (lambda n: [*n[:4], unseal(n[4]), n[5]], 4),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forgery_with_right_crcs_is_found_where_it_begins(path: Path, what: str) -> None:
    forge, record = FORGERIES[what]
    lines = with_right_crcs(forge(lines_of(path)))
    path.write_bytes(b"".join(lines))

    assert len(read_journal(path).records) == len(lines), "its CRCs are right"
    assert first_broken(KEY, lines) == record


def test_lines_of_another_journal_of_the_same_key_do_not_fit(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    with JournalWriter.create(other, {"seed": 2}, seal_key=KEY) as journal:
        for record in read_journal(path).records[1:]:
            journal.append(record)
    lines = with_right_crcs([lines_of(path)[0], *lines_of(other)[1:]])

    assert first_broken(KEY, lines_of(other)) is None
    assert first_broken(KEY, lines) == 1


def test_any_changed_byte_is_found(path: Path) -> None:
    content = path.read_bytes()
    for at in range(0, len(content), 7):
        changed = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        crc_only = re.sub(rb'"crc": "\w+"', b"", changed) == re.sub(rb'"crc": "\w+"', b"", content)
        assert crc_only or first_broken(KEY, changed.splitlines(keepends=True)) is not None


def test_seals_are_compared_in_a_time_that_does_not_depend_on_them(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def compare(a: str, b: str) -> bool:
        compared.append((a, b))
        return a == b

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert first_broken(KEY, lines_of(path)) is None
    assert [a for a, _ in compared] == [json.loads(line)["seal"] for line in lines_of(path)]


# Going on


def cut_short(path: Path) -> bytes:
    """Take the end away, and a part of the line before it."""
    content = b"".join(lines_of(path)[:-1])[:-20]
    path.write_bytes(content)
    return content


def test_a_journal_is_gone_on_with_under_the_same_key(path: Path) -> None:
    cut_short(path)
    journal, recovered = JournalWriter.resume(path, seal_key=KEY)
    with journal:
        journal.append(NOTE)
        journal.append({"kind": "end"})

    assert [r["kind"] for r in recovered.records] == ["header", *["note"] * 4]
    assert recovered.records[-1]["what"] == "recovered"
    assert first_broken(KEY, lines_of(path)) is None
    assert read_journal(path).complete


@pytest.mark.parametrize("key", [OTHER, None])
def test_without_the_key_a_sealed_journal_is_left_as_it_is(path: Path, key: SealKey | None) -> None:
    content = cut_short(path)
    words = f"is sealed with key {KEY.name}, which is not the one that is configured"
    with pytest.raises(JournalReadError, match=words):
        JournalWriter.resume(path, seal_key=key)
    assert path.read_bytes() == content
    assert [*path.parent.iterdir()] == [path]


def test_a_forged_journal_is_not_gone_on_with(path: Path) -> None:
    forge, _ = FORGERIES["changed"]
    content = b"".join(with_right_crcs(forge(lines_of(path)[:-1])))
    path.write_bytes(content)
    with pytest.raises(JournalReadError, match="its seal is broken at record 2"):
        JournalWriter.resume(path, seal_key=KEY)
    assert path.read_bytes() == content


def strip(path: Path) -> None:
    """Take all seals off, and the name of the key."""
    plain = (unseal(line) for line in lines_of(path)[:-1])
    named = f', "seal_key": "{KEY.name}"'.encode()
    path.write_bytes(b"".join(with_right_crcs([line.replace(named, b"") for line in plain])))


def test_what_is_not_sealed_does_not_go_on_where_journals_are_sealed(path: Path) -> None:
    strip(path)
    content = path.read_bytes()
    assert len(read_journal(path).records) == 5
    with pytest.raises(JournalReadError, match="is not sealed, and this device seals its journals"):
        JournalWriter.resume(path, seal_key=KEY)
    assert path.read_bytes() == content
    with JournalWriter.resume(path)[0] as journal:
        journal.append(NOTE)
    assert b"seal" not in path.read_bytes()
