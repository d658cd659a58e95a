"""The frames of the wire: strict, symmetric, bounded, and fit for MicroPython."""

import re
import zlib
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firmware_py.link.frames import (
    DECIMAL_MAX,
    FRAME_BYTES_MAX,
    SEQUENCE_MAX,
    FrameError,
    LineReader,
    decimal,
    decode,
    encode,
    parse_decimal,
    parse_whole,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "=*")

sequences = st.integers(1, SEQUENCE_MAX)
verbs = st.text(LETTERS + "-", min_size=1, max_size=10)
keys = st.text(LETTERS + "_", min_size=1, max_size=5)
values = st.text(PRINTABLE, min_size=1, max_size=8) | st.integers(-99_999, 99_999)
field_lists = st.dictionaries(keys, values, max_size=4).map(lambda fields: list(fields.items()))

A_FRAME = encode(17, "tone", [("id", "r3"), ("ear", "l"), ("hz", "1000.00"), ("n", 3)])


def seal(body: bytes) -> bytes:
    """A line with a right CRC, whatever its body."""
    return body + b" *%08x\n" % zlib.crc32(body)


class TestEncode:
    def test_a_frame_is_written_as_the_page_says(self) -> None:
        line = encode(1, "hello", [("wire", 1), ("host", "00c0ffee")])

        assert line == seal(b"1 hello wire=1 host=00c0ffee")

    def test_a_dict_gives_the_same_as_pairs(self) -> None:
        assert encode(2, "ack", {"event": 5}) == encode(2, "ack", [("event", 5)])

    def test_fields_may_be_left_out(self) -> None:
        assert encode(3, "stop") == seal(b"3 stop")

    @given(sequences, verbs, field_lists)
    def test_what_is_written_is_read_back(
        self, sequence: int, verb: str, fields: list[tuple[str, str | int]]
    ) -> None:
        line = encode(sequence, verb, fields)

        assert len(line) <= FRAME_BYTES_MAX
        assert decode(line) == (sequence, verb, {key: str(value) for key, value in fields})

    @pytest.mark.parametrize(
        ("sequence", "words"),
        [
            (0, "sequence number 0, allowed are 1 to 999999999"),
            (-1, "sequence number -1, allowed are 1 to 999999999"),
            (10**9, "sequence number 1000000000, allowed are 1 to 999999999"),
            (True, "sequence number True is not a whole number"),
            (1.0, "sequence number 1.0 is not a whole number"),
        ],
    )
    def test_sequence_is_checked(self, sequence: int, words: str) -> None:
        with pytest.raises(FrameError, match=f"^{re.escape(words)}$"):
            encode(sequence, "ping")

    @pytest.mark.parametrize(
        ("verb", "fields", "words"),
        [
            ("", [], "verb '' is not a text of a-z and -"),
            ("Ping", [], "verb 'Ping': 'P' is not one of a-z and -"),
            ("a_b", [], "verb 'a_b': '_' is not one of a-z and -"),
            ("p", [("a-b", 1)], "key 'a-b': '-' is not one of a-z and _"),
            ("p", [("", 1)], "key '' is not a text of a-z and _"),
            ("p", [("a", 1), ("a", 2)], "key 'a' comes twice"),
            ("p", [("a", "")], "value '' of a is not a text of printable ASCII"),
            ("p", [("a", 1.5)], "value 1.5 of a is not a text of printable ASCII"),
            ("p", [("a", True)], "value True of a is not a text of printable ASCII"),
            ("p", [("a", "x y")], "' ' is not printable ASCII except = and *"),
            ("p", [("a", "x=y")], "'=' is not printable ASCII except = and *"),
            ("p", [("a", "x*y")], "'*' is not printable ASCII except = and *"),
            ("p", [("a", "x\n")], "'\\n' is not printable ASCII except = and *"),
            ("p", [("a", "\u00e9")], "'\u00e9' is not printable ASCII except = and *"),
            ("p", [("a", "x" * 128)], "145 bytes, allowed are at most 128"),
        ],
    )
    def test_parts_are_checked(
        self, verb: str, fields: list[tuple[str, str | int]], words: str
    ) -> None:
        with pytest.raises(FrameError, match=re.escape(words)):
            encode(1, verb, fields)

    def test_the_longest_frame_has_exactly_the_allowed_length(self) -> None:
        longest = "x" * (FRAME_BYTES_MAX - len(encode(1, "p", [("a", "x")])) + 1)

        assert len(encode(1, "p", [("a", longest)])) == FRAME_BYTES_MAX
        with pytest.raises(FrameError, match="129 bytes, allowed are at most 128"):
            encode(1, "p", [("a", longest + "x")])


class TestDecode:
    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"1", "no verb: a frame is SEQUENCE VERB"),
            (b"", "no ' *' and eight hex digits at the end"),
            (b"0 ping", "sequence number 0, allowed are 1 to 999999999"),
            (b"-1 ping", "sequence number -1, allowed are 1 to 999999999"),
            (b"1000000000 ping", "sequence number 1000000000, allowed are"),
            (b"01 ping", "number '01' has a leading zero"),
            (b"+1 ping", "number '+1': '+' is not a digit"),
            (b" 1 ping", "number '' has no digits"),
            (b"1  ping", "verb '' is not a text of a-z and -"),
            (b"1 ping ", "field '' has no =, allowed is KEY=VALUE"),
            (b"1 ping a", "field 'a' has no =, allowed is KEY=VALUE"),
            (b"1 ping  a=1", "field '' has no ="),
            (b"1 ping a=1=2", "value '1=2' of a: '=' is not printable"),
            (b"1 ping A=1", "key 'A': 'A' is not one of a-z and _"),
            (b"1 ping a=1 a=1", "key 'a' comes twice"),
            (b"1 ping a=\xff", "byte 0xff, allowed is printable ASCII"),
            (b"1 ping\ta=1", "byte 0x09, allowed is printable ASCII"),
            (b"1 ping\n", "byte 0x0a, allowed is printable ASCII"),
            (b"1 ping a=" + b"x" * 128, "148 bytes, allowed are at most 128"),
        ],
    )
    def test_a_body_that_is_no_frame_is_refused(self, body: bytes, words: str) -> None:
        with pytest.raises(FrameError, match=re.escape(words)):
            decode(seal(body))

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            (b"", "no newline at the end"),
            (b"\n", "no ' *' and eight hex digits at the end"),
            (seal(b"1 ping")[:-1], "no newline at the end"),
            (seal(b"1 ping")[:-1] + b"\r\n", "byte 0x0d, allowed is printable ASCII"),
            (b"1 ping *00000000\n", "CRC '00000000', the bytes before it give"),
            (b"1 ping\n", "no ' *' and eight hex digits at the end"),
            (encode(5, "a").upper(), "CRC"),
            (seal(b"1 ping")[:-2] + b" \n", "CRC"),
        ],
    )
    def test_a_line_without_its_seal_is_refused(self, line: bytes, words: str) -> None:
        with pytest.raises(FrameError, match=re.escape(words)):
            decode(line)

    def test_every_changed_byte_is_detected_or_harmless(self) -> None:
        wanted = decode(A_FRAME)
        for place in range(len(A_FRAME)):
            for byte in range(256):
                line = A_FRAME[:place] + bytes([byte]) + A_FRAME[place + 1 :]
                try:
                    assert decode(line) == wanted, (place, byte)
                except FrameError:
                    assert line != A_FRAME, (place, byte)

    def test_every_lost_or_doubled_byte_is_detected(self) -> None:
        for place in range(len(A_FRAME)):
            for line in (
                A_FRAME[:place] + A_FRAME[place + 1 :],
                A_FRAME[: place + 1] + A_FRAME[place:],
            ):
                with pytest.raises(FrameError):
                    decode(line)

    @given(st.text("01 *=-_ap\n", max_size=40).map(str.encode))
    def test_near_frames_are_read_only_if_they_would_be_written_so(self, body: bytes) -> None:
        line = seal(body)
        try:
            sequence, verb, fields = decode(line)
        except FrameError:
            return
        assert encode(sequence, verb, fields) == line


class TestNumbers:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (1000, "1000.00"),
            (-0.001, "0.00"),
            (-0.0, "0.00"),
            (-79.996, "-80.00"),
            (0.125, "0.12"),
            (0.375, "0.38"),
            (12.05, "12.05"),
            (DECIMAL_MAX, "999999999.00"),
        ],
    )
    def test_decimal(self, value: float, text: str) -> None:
        assert decimal(value) == text

    @given(st.floats(-1e6, 1e6))
    @example(-1e-9)
    def test_a_decimal_is_the_nearest_and_is_read_back(self, value: float) -> None:
        text = decimal(value)

        assert abs(Fraction(text) - Fraction(value)) <= Fraction(5_000_001, 1_000_000_000)
        assert parse_decimal(text) == float(text)
        assert not text.startswith("-") or text.strip("-0.")
        assert decimal(parse_decimal(text)) == text

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (float("nan"), "decimal nan, allowed are -999999999 to 999999999"),
            (float("inf"), "decimal inf, allowed are -999999999 to 999999999"),
            (-1e9, "decimal -1000000000.0, allowed are -999999999 to 999999999"),
            ("1", "decimal '1' is not a number"),
            (True, "decimal True is not a number"),
        ],
    )
    def test_decimal_is_checked(self, value: float, words: str) -> None:
        with pytest.raises(FrameError, match=f"^{re.escape(words)}$"):
            decimal(value)

    @pytest.mark.parametrize("text", ["0", "-7", "5000", "0.50", "-160.00", "1.05"])
    def test_numbers_are_read(self, text: str) -> None:
        assert parse_decimal(text) == float(text)
        if "." not in text:
            assert parse_whole(text) == int(text)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "number '' has no digits"),
            ("-", "number '-' has no digits"),
            ("--1", "number '--1': '-' is not a digit"),
            ("+1", "number '+1': '+' is not a digit"),
            ("01", "number '01' has a leading zero"),
            ("1_0", "number '1_0': '_' is not a digit"),
            ("1e3", "number '1e3': 'e' is not a digit"),
            ("nan", "number 'nan': 'n' is not a digit"),
            ("\u0661", "number '\u0661': '\u0661' is not a digit"),
            (".5", "number '.5' has no digits"),
            ("5.", "number '5.' has no digit after the point"),
            ("1.2.3", "number '1.2.3': '.' is not a digit"),
            ("1.-2", "number '1.-2': '-' is not a digit"),
            ("00.5", "number '00.5' has a leading zero"),
        ],
    )
    def test_what_is_no_number_is_refused(self, text: str, words: str) -> None:
        for parse in (parse_decimal,) if "." in text else (parse_whole, parse_decimal):
            with pytest.raises(FrameError, match=f"^{re.escape(words)}$"):
                parse(text)

    def test_a_decimal_is_no_whole_number(self) -> None:
        with pytest.raises(FrameError, match=r"number '1\.0': '\.' is not a digit"):
            parse_whole("1.0")


class TestLineReader:
    STREAM = b"".join(
        (
            A_FRAME,
            b"\n",
            b"x" * 127 + b"\n",
            b"x" * 128 + b"\n",
            b"\x00\xff\n",
            b"y" * 500 + b"\n",
            A_FRAME,
            b"z" * 40,
        )
    )
    LINES = (A_FRAME, b"\n", b"x" * 127 + b"\n", b"\x00\xff\n", A_FRAME)

    def test_lines_come_out_whole_and_long_ones_are_counted(self) -> None:
        reader = LineReader()

        assert reader.feed(self.STREAM) == list(self.LINES)
        assert reader.dropped == 2
        assert reader.feed(b"\n") == [b"z" * 40 + b"\n"]

    def test_a_cut_anywhere_changes_nothing(self) -> None:
        for place in range(len(self.STREAM) + 1):
            reader = LineReader()
            lines = reader.feed(self.STREAM[:place]) + reader.feed(self.STREAM[place:])

            assert lines == list(self.LINES), place
            assert reader.dropped == 2, place

    def test_a_stream_without_newlines_is_not_kept(self) -> None:
        reader = LineReader()
        for _ in range(1000):
            assert reader.feed(b"x" * 1000) == []

        assert reader.dropped == 1
        assert sum(len(kept) for kept in vars(reader).values() if isinstance(kept, bytes)) == 0
