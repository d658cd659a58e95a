"""The frames of the wire, for CPython and MicroPython alike; README.md here is the definition.

Only ``binascii`` is imported, and only what MicroPython 1.25 knows is used: no string methods that
a microcontroller lacks.
"""

import binascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Fields = Iterable[tuple[str, str | int]] | Mapping[str, str | int]

FRAME_BYTES_MAX = 128  # bytes, newline included: what a microcontroller can hold twice over
SEQUENCE_MAX = 999999999  # nine digits: 30 bits, and years of commands
DECIMAL_MAX = 999999999  # largest magnitude of a decimal: its hundredths are exact in a double

_CRC_DIGITS = 8
_TAIL_BYTES = 2 + _CRC_DIGITS + 1  # " *", the CRC, the newline
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_VERB_CHARACTERS = _LETTERS + "-"
_KEY_CHARACTERS = _LETTERS + "_"

assert len(str(SEQUENCE_MAX)) + 2 + _TAIL_BYTES <= FRAME_BYTES_MAX  # a one-letter verb fits


class FrameError(ValueError):
    """A line that is not a frame, or a frame that cannot be written; the text says why."""


def encode(sequence: int, verb: str, fields: "Fields" = ()) -> bytes:
    """Write one frame, newline included; `FrameError` if a part of it is not allowed.

    A dict has no order under MicroPython: pairs have that of the wire. Decimals are written by
    `decimal` first.
    """
    parts = [_sequence_text(sequence), _check("verb", verb, _VERB_CHARACTERS, "a-z and -")]
    keys: list[str] = []
    for key, value in fields.items() if hasattr(fields, "items") else fields:
        _check_key(key, keys)
        keys.append(key)
        parts.append(key + "=" + _value_text(key, value))
    body = " ".join(parts).encode()
    line = body + (" *%08x\n" % (binascii.crc32(body) & 0xFFFFFFFF)).encode()
    _check_length(line)
    return line


def decode(line: bytes) -> "tuple[int, str, dict[str, str]]":
    """Read a line: number, verb and fields; `FrameError` if it differs from a frame."""
    parts = _checked_body(line).split(" ")
    if len(parts) < 2:
        raise FrameError("no verb: a frame is SEQUENCE VERB [KEY=VALUE ...] *CRC")
    sequence = _sequence_number(parts[0])
    verb = _check("verb", parts[1], _VERB_CHARACTERS, "a-z and -")
    fields: dict[str, str] = {}
    for part in parts[2:]:
        cut = part.find("=")
        if cut < 0:
            raise FrameError("field %r has no =, allowed is KEY=VALUE" % (part,))
        key = part[:cut]
        _check_key(key, fields)
        fields[key] = _value_text(key, part[cut + 1 :])
    return sequence, verb, fields


def decimal(value: float) -> str:
    """Write a decimal: the same text under CPython and MicroPython, never ``-0.00`` or ``nan``.

    The value is rounded to hundredths, halves to even, and only whole numbers are printed.
    `FrameError` if it is no finite number, or beyond `DECIMAL_MAX`.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FrameError("decimal %r is not a number" % (value,))
    if not -DECIMAL_MAX <= value <= DECIMAL_MAX:  # also refuses nan
        limits = (value, -DECIMAL_MAX, DECIMAL_MAX)
        raise FrameError("decimal %r, allowed are %d to %d" % limits)
    hundredths = round(value * 100)
    whole, fraction = divmod(abs(hundredths), 100)
    return "%s%d.%02d" % ("-" if hundredths < 0 else "", whole, fraction)


def parse_whole(text: str) -> int:
    """Read a whole number: an optional ``-`` and digits without leading zeros.

    `FrameError` if it is anything else, such as ``+1``, ``1_000``, ``01`` or ``1.0``.
    """
    _check_digits(text[1:] if text[:1] == "-" else text, text)
    return int(text)


def parse_decimal(text: str) -> float:
    """Read a decimal: a whole number, and optionally a point and more digits.

    `FrameError` if it is anything else, such as ``1e3``, ``nan``, ``.5`` or ``5.``.
    """
    point = text.find(".")
    unsigned = 1 if text[:1] == "-" else 0
    if point < 0:
        _check_digits(text[unsigned:], text)
    else:
        _check_digits(text[unsigned:point], text)
        _check_digits("1" + text[point + 1 :], text)  # leading zeros are right here
        if point + 1 == len(text):
            raise FrameError("number %r has no digit after the point" % (text,))
    return float(text)


class LineReader:
    """Cuts a stream of bytes into lines, in bounded memory.

    A line of more than `bytes_max`, newline included, is dropped up to its newline and counted
    (`dropped`).
    """

    def __init__(self, bytes_max: int = FRAME_BYTES_MAX) -> None:
        self.dropped = 0
        self._bytes_max = bytes_max
        self._start = b""  # of a line whose newline has not come yet; under so many bytes
        self._skipping = False

    def feed(self, data: bytes) -> "list[bytes]":
        """Take bytes, cut anywhere, and give the lines they complete, newlines included."""
        lines = []
        begin = 0
        while True:
            newline = data.find(b"\n", begin)
            if newline < 0:
                break
            line = self._finish(data, begin, newline)
            if line is not None:
                lines.append(line)
            begin = newline + 1
        self._keep(data, begin)
        return lines

    def _finish(self, data: bytes, begin: int, newline: int) -> "bytes | None":
        self._keep(data, begin, newline)
        line = None if self._skipping else self._start + b"\n"
        self._start = b""
        self._skipping = False
        return line

    def _keep(self, data: bytes, begin: int, end: "int | None" = None) -> None:
        end = len(data) if end is None else end
        if self._skipping:
            return
        if len(self._start) + end - begin >= self._bytes_max:
            self._start = b""
            self._skipping = True
            self.dropped += 1
        else:
            self._start += bytes(data[begin:end])


def _checked_body(line: bytes) -> str:
    # The text before " *CRC\n" of a line whose length, characters and CRC are right.
    _check_length(line)
    if line[-1:] != b"\n":
        raise FrameError("no newline at the end")
    for byte in line[:-1]:
        if not 0x20 <= byte <= 0x7E:
            raise FrameError("byte 0x%02x, allowed is printable ASCII" % byte)
    body = bytes(line[:-_TAIL_BYTES])
    crc = bytes(line[-_TAIL_BYTES:-1]).decode()
    if len(line) <= _TAIL_BYTES or crc[:2] != " *":
        raise FrameError("no ' *' and eight hex digits at the end")
    wanted = " *%08x" % (binascii.crc32(body) & 0xFFFFFFFF)
    if crc != wanted:
        raise FrameError("CRC %r, the bytes before it give %r" % (crc[2:], wanted[2:]))
    return body.decode()


def _check_length(line: bytes) -> None:
    if len(line) > FRAME_BYTES_MAX:
        raise FrameError("%d bytes, allowed are at most %d" % (len(line), FRAME_BYTES_MAX))


def _sequence_text(sequence: int) -> str:
    if isinstance(sequence, bool) or not isinstance(sequence, int):
        raise FrameError("sequence number %r is not a whole number" % (sequence,))
    _check_sequence(sequence)
    return str(sequence)


def _sequence_number(text: str) -> int:
    sequence = parse_whole(text)
    _check_sequence(sequence)
    return sequence


def _check_sequence(sequence: int) -> None:
    if not 1 <= sequence <= SEQUENCE_MAX:
        raise FrameError("sequence number %d, allowed are 1 to %d" % (sequence, SEQUENCE_MAX))


def _check(what: str, text: str, characters: str, allowed: str) -> str:
    # The text, if it is not empty and made of these characters only.
    if not isinstance(text, str) or not text:
        raise FrameError("%s %r is not a text of %s" % (what, text, allowed))
    for character in text:
        if character not in characters:
            raise FrameError("%s %r: %r is not one of %s" % (what, text, character, allowed))
    return text


def _check_key(key: str, known: "list[str] | dict[str, str]") -> None:
    _check("key", key, _KEY_CHARACTERS, "a-z and _")
    if key in known:
        raise FrameError("key %r comes twice" % (key,))


def _value_text(key: str, value: "str | int") -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise FrameError("value %r of %s is not a text of printable ASCII" % (value, key))
    for character in value:
        if not "!" <= character <= "~" or character in "=*":
            what = (value, key, character)
            raise FrameError("value %r of %s: %r is not printable ASCII except = and *" % what)
    return value


def _check_digits(digits: str, text: str) -> None:
    if not digits:
        raise FrameError("number %r has no digits" % (text,))
    for character in digits:
        if character not in _DIGITS:
            raise FrameError("number %r: %r is not a digit" % (text, character))
    if digits[0] == "0" and len(digits) > 1:
        raise FrameError("number %r has a leading zero" % (text,))
