"""A line: round trip, refusals, the documented form."""

from __future__ import annotations

import json
import math
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import firmware_py.journal
from firmware_py.journal import HEADER_BYTES_MAX, RECORD_BYTES_MAX, JournalRecordError
from firmware_py.journal.records import (
    NESTING_MAX,
    LineError,
    chained_crc,
    decode_line,
    encode_line,
)

README = Path(firmware_py.journal.__file__).with_name("README.md")

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
keys = st.text(max_size=8).filter(lambda key: key not in {"n", "synced", "seal", "crc", "kind"})
records = st.builds(
    lambda kind, rest: {"kind": kind, **rest},
    st.sampled_from(["input", "output", "note", "end", "é"]),
    st.dictionaries(keys, values, max_size=5),
)


def bits(value: Any) -> Any:
    """Return a value in a form that tells -0.0 from 0.0, 1 from 1.0 and from True."""
    if isinstance(value, dict):
        return [(key, bits(value[key])) for key in sorted(value)]
    if isinstance(value, list):
        return [bits(item) for item in value]
    return type(value).__name__, value.hex() if isinstance(value, float) else value


@given(records, st.integers(1, 10**9), st.sampled_from(["", "00000000", "89abcdef"]))
def test_a_line_gives_back_the_record_bit_for_bit(
    record: dict[str, Any], number: int, previous_crc: str
) -> None:
    line, crc = encode_line(number, number - 1, record, previous_crc)
    decoded = decode_line(line, number, previous_crc)

    assert bits(decoded[0]) == bits(record)
    assert decoded[1] == crc
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == {"n": number, "synced": number - 1, **record, "crc": crc}


@given(records, st.data())
def test_another_byte_anywhere_is_noticed(record: dict[str, Any], data: st.DataObject) -> None:
    line, _ = encode_line(3, 3, record, "89abcdef")
    at = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[at]))

    with pytest.raises(LineError):
        decode_line(line[:at] + bytes([byte]) + line[at + 1 :], 3, "89abcdef")


def test_the_crc_is_the_one_documented() -> None:
    line, crc = encode_line(1, 1, {"kind": "end"}, "744781b2")
    body = b'{"n": 1, "synced": 1, "kind": "end"'

    assert crc == f"{zlib.crc32(b'744781b2' + body):08x}"
    assert line == body + b', "crc": "%s"}\n' % crc.encode()


def test_the_readme_shows_a_journal_that_reads(tmp_path: Path) -> None:
    block = re.search(r"```json\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert block is not None
    (tmp_path / "readme.jsonl").write_text(block[1], "utf-8")

    recovered = firmware_py.journal.read_journal(tmp_path / "readme.jsonl")

    assert recovered.complete
    assert recovered.torn_bytes == 0
    assert len(recovered.records) == 5


def test_numbers_and_strings_of_other_classes_come_back_plain() -> None:
    """A float64 of NumPy is a float; so is this."""

    class Level(float):
        def __repr__(self) -> str:
            return "Level"

    line, _ = encode_line(1, 0, {"kind": "input", "level": Level(0.1)}, "")

    assert decode_line(line, 1, "")[0]["level"] == 0.1


def nest(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


ENDLESS: list[Any] = []
ENDLESS += [ENDLESS, ENDLESS]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({}, '"kind" is None; it must be a string'),
        ({"kind": ""}, "\"kind\" is ''"),
        ({"kind": 3}, '"kind" is 3'),
        ({"kind": "note", "crc": 1}, 'the key "crc" is written by the journal itself'),
        ({"kind": "note", "n": 1}, 'the key "n"'),
        ({"kind": "note", "synced": 1}, 'the key "synced"'),
        ({"kind": "note", "a": {"b": [0, math.nan]}}, '"a.b[1]" is nan; only finite'),
        ({"kind": "note", "a": -math.inf}, '"a" is -inf'),
        ({"kind": "note", "a": (1, 2)}, '"a" is of type tuple; allowed are'),
        ({"kind": "note", "a": b"x"}, '"a" is of type bytes'),
        ({"kind": "note", "a": {1: 2}}, "a key in a is 1; keys must be strings"),
        ({"kind": "note", 1: 2}, "a key in the record is 1; keys must be strings"),
        ({"kind": "note", "a": "\ud800"}, "surrogates not allowed"),
        ({"kind": "note", "a": nest(NESTING_MAX + 1)}, "more than 32 objects and lists inside"),
        ({"kind": "note", "a": ENDLESS}, "record 7 cannot be journalled: "),
        ({"kind": "note", "a": [0] * RECORD_BYTES_MAX}, "more values than its 24576 bytes"),
        ({"kind": "note", "a": "x" * RECORD_BYTES_MAX}, "at most 24576 are allowed"),
        ({"kind": "note", "a": 10**5000}, "integer string conversion"),
    ],
)
def test_what_would_not_come_back_is_refused(record: dict[str, Any], words: str) -> None:
    with pytest.raises(JournalRecordError, match=re.escape(words)) as caught:
        encode_line(7, 7, record, "")

    assert "record 7" in str(caught.value)


def test_nesting_up_to_the_limit_reads_back() -> None:
    record = {"kind": "note", "a": nest(NESTING_MAX)}
    line, _ = encode_line(1, 1, record, "")

    assert decode_line(line, 1, "")[0] == record


@pytest.mark.parametrize(("number", "limit"), [(0, HEADER_BYTES_MAX), (1, RECORD_BYTES_MAX)])
def test_the_longest_line_fits_and_one_byte_more_does_not(number: int, limit: int) -> None:
    record = {"kind": "header" if number == 0 else "note", "a": ""}
    spare = limit - len(encode_line(number, 0, record, "")[0])
    line, _ = encode_line(number, 0, {**record, "a": "x" * spare}, "")

    assert len(line) == limit
    assert decode_line(line, number, "")[0]["a"] == "x" * spare
    with pytest.raises(JournalRecordError, match=f"has {limit + 1} bytes; at most {limit}"):
        encode_line(number, 0, {**record, "a": "x" * (spare + 1)}, "")


def sign(body: str) -> bytes:
    """Return a line with a right CRC around any body."""
    return f'{body}, "crc": "{chained_crc("", body.encode())}"}}\n'.encode()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (sign('{"n": 1, "synced": 2, "kind": "note"'), '"synced" is 2; at most its own number 1'),
        (sign('{"n": 1, "synced": 1, "kind": "header"'), "only record 0 is a header"),
        (sign('{"n": 1, "synced": 1, "kind": "note", "a": NaN'), "NaN is no JSON value"),
        (sign('{"n": 1, "synced": 1, "kind": "note", "a"'), "its CRC is right but it is no JSON"),
        (sign('{"n": 1, "synced": 1, "kind": ' + "[" * 2000), "no JSON"),
        (sign('{"n":1,"synced":1,"kind":"note"'), "does not start as a record"),
        (sign('{"n": 01, "synced": 1, "kind": "note"'), "does not start as a record"),
        (sign('{"n": 5, "synced": 1, "kind": "note"'), "it is record 5 where record 1 belongs"),
        (sign('{"n": 1, "synced": 1, "kind": "note"').upper(), "does not start"),
        (b'{"n": 1, "synced": 1, "kind": "note"}\n', "does not end as a record"),
        (b'{"n": 1, "synced": 1, "kind": "no', "the file ends within the line"),
        (b"x" * RECORD_BYTES_MAX, "no newline within 24576 bytes"),
        (b"\n", "does not start"),
    ],
)
def test_a_line_that_no_writer_wrote_is_refused(line: bytes, words: str) -> None:
    with pytest.raises(LineError, match=re.escape(words)):
        decode_line(line, 1, "")
