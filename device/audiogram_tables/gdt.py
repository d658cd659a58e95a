"""GDT 2.1, the files between German practice systems and devices: their fields, and thresholds.

A line is ``LLLKKKKcontent``: its length in bytes with its end, the number of the field, the
content. What is known of it is second-hand: public descriptions and readers of the interface of QMS
(version 2.1, 5/2001), whose text was not at hand.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from firmware_py.terms.person import FEMALE, MALE, Sex
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT

ENCODING_FIELD: Final = "9206"
VERSION: Final = "02.10"
RECORD: Final = "8000"
RESULT: Final = "6310"
ORDER: Final = "6302"
LENGTH: Final = "8100"
FILE_BYTES_MAX: Final = 1 << 20
END: Final = b"\r\n"
# The content of 9206; where a record has none, it is code page 437.
ENCODINGS: Final = {"1": "ascii", "2": "cp437", "3": "latin-1"}
USUAL: Final = "2"
# With 7 bits German letters stand in these places (DIN 66003).
SEVEN_BITS: Final = str.maketrans("@[\\]{|}~", "§ÄÖÜäöüß")
# Who writes them has no other use for these places.
EIGHT_BITS: Final = dict.fromkeys(SEVEN_BITS, "?") | {
    code: chr(sign) for sign, code in SEVEN_BITS.items()
}
SEXES: Final[dict[str, Sex]] = {"1": MALE, "2": FEMALE}
# The name of a test, and what it is of: the letters of German audiograms, the ear, the frequency.
CONDUCTIONS: Final = {AIR: "LL", BONE: "KL"}
EARS: Final = {RIGHT: "R", LEFT: "L"}
CONVENTION: Final = "threshold_convention: "
_TEST: Final = re.compile(r"(LL|KL)-([RL])-(\d{3,5})")
_BEYOND: Final = re.compile(r"(>|<=)(-?\d+(?:\.\d+)?) (.+)")
_BEGINS: Final = re.compile(rb"\d{3}8000\d{4}\r?\n")


class GdtError(ValueError):
    """A file that is no GDT 2.1; the message says where, and what is allowed."""


@dataclass(frozen=True)
class GdtRecord:
    """A record: its fields in their order, and the number of its set of characters."""

    fields: tuple[tuple[str, str], ...]
    encoding: str

    def all(self, number: str) -> list[str]:
        return [content for each, content in self.fields if each == number]

    def one(self, number: str) -> str:
        """Return the content of a field that is there once, or not at all: ""."""
        found = {*self.all(number)}
        if len(found) > 1:
            told = " and ".join(sorted(map(show, found)))
            raise GdtError(f"{number} is {told}; allowed is one")
        return next(iter(found), "")

    def to_bytes(self) -> bytes:
        """Return the record as it is in a file, with its length; a sign it cannot have is "?"."""
        head, *others = (_line(number, text, self.encoding) for number, text in self.fields)
        empty = _line(LENGTH, "00000", self.encoding)
        length = len(head) + len(empty) + sum(map(len, others))
        return b"".join((head, _line(LENGTH, f"{length:05}", self.encoding), *others))


def _line(number: str, text: str, encoding: str) -> bytes:
    told = text.translate(EIGHT_BITS) if encoding == "1" else text
    content = told.encode(ENCODINGS[encoding], "replace")
    return b"%03d%s%s%s" % (len(content) + 9, number.encode(), content, END)


def is_gdt(content: bytes) -> bool:
    return _BEGINS.match(content) is not None


def records_of(content: bytes) -> list[GdtRecord]:
    """Return the records of a file; `GdtError` if a line or a record is not as long as it says."""
    groups: list[list[tuple[str, bytes]]] = []
    sizes: list[int] = []
    for number, line in enumerate(content.removesuffix(b"\x1a").splitlines(keepends=False), 1):
        field, text = _split(number, line)
        if field == RECORD:
            groups.append([])
            sizes.append(0)
        elif not groups:
            raise GdtError(f"line {number}: the field is {field}; allowed is {RECORD}, the record")
        groups[-1].append((field, text))
        sizes[-1] += len(line) + len(END)
    if not groups:
        raise GdtError(f"it is empty; allowed is a record, which begins with {RECORD}")
    return [_record(group, size) for group, size in zip(groups, sizes, strict=True)]


def _split(number: int, line: bytes) -> tuple[str, bytes]:
    if not re.match(rb"\d{7}", line):
        raise GdtError(
            f"line {number}: begins with {show(line[:7].decode('latin-1'))}; allowed are three "
            "digits of its length and four of its field"
        )
    told, length = int(line[:3]), len(line) + len(END)
    if told != length:
        raise GdtError(
            f"line {number}, field {line[3:7].decode()}: is {length} bytes long with its end, and "
            f"says {told}; allowed is the same"
        )
    return line[3:7].decode(), line[7:]


def _record(fields: Sequence[tuple[str, bytes]], size: int) -> GdtRecord:
    told = dict(fields)
    encoding = told.get(ENCODING_FIELD, USUAL.encode()).decode("latin-1")
    if encoding not in ENCODINGS:
        allowed = "1 (7 bits), 2 (code page 437) and 3 (ISO 8859-1)"
        raise GdtError(f"{ENCODING_FIELD} is {show(encoding)}; allowed are {allowed}")
    version = told.get("9218", VERSION.encode()).decode("latin-1")
    if not version.startswith("02."):
        raise GdtError(f"9218 is {show(version)}; allowed is {VERSION}, the version of GDT")
    length = told.get(LENGTH, b"").decode("latin-1")
    if length.strip() and (not length.isdecimal() or int(length) != size):
        raise GdtError(
            f"{LENGTH} says {show(length)} bytes, and the record has {size}; allowed is the same: "
            "lines are missing, or too many"
        )
    return GdtRecord(tuple((n, _text(n, text, encoding)) for n, text in fields), encoding)


def _text(number: str, content: bytes, encoding: str) -> str:
    try:
        text = content.decode(ENCODINGS[encoding])
    except UnicodeDecodeError as error:
        raise GdtError(
            f"{number} has byte 0x{content[error.start]:02x}, and {ENCODING_FIELD} says "
            f"{ENCODINGS[encoding]}; allowed are bytes of that"
        ) from None
    return text.translate(SEVEN_BITS) if encoding == "1" else text


def name_of_test(ear: str, transducer: str, frequency_hz: int) -> str:
    return f"{CONDUCTIONS[transducer]}-{EARS[ear]}-{frequency_hz}"


def thresholds_of(content: bytes) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Return thresholds of results with their places, and what was passed over; `GdtError`."""
    found: list[tuple[str, dict[str, Any]]] = []
    passed_over: list[str] = []
    for number, record in enumerate(records_of(content), 1):
        place, kind = f"record {number}", record.one(RECORD)
        if kind != RESULT:
            passed_over.append(f"{place}: {show(kind)} is no result, {RESULT}")
            continue
        convention = next((t for t in record.all("6228") if t.startswith(CONVENTION)), "")
        about = {
            "identifier": record.one("3000"),
            "journal": f"{record.one('6200')} {record.one('6201')}".strip(),
            "sex": SEXES.get(record.one("3110"), ""),
            "threshold_convention": convention.removeprefix(CONVENTION),
        }
        for test in _tests_of(record):
            name = test["8410"][0]
            if at := _TEST.fullmatch(name):
                where = f"{place}, {name}"
                found.append((where, {**about, **_threshold(where, at, test)}))
            else:
                passed_over.append(f"{place}: {show(name)} is no threshold")
    return found, passed_over


def _tests_of(record: GdtRecord) -> Iterator[dict[str, list[str]]]:
    """Yield the fields of each test: those from its name, 8410, on."""
    test: dict[str, list[str]] = {}
    for number, content in record.fields:
        if number == "8410":
            if test:
                yield test
            test = {}
        if test or number == "8410":
            test.setdefault(number, []).append(content)
    if test:
        yield test


def _threshold(where: str, at: re.Match[str], test: dict[str, list[str]]) -> dict[str, Any]:
    conduction, ear, frequency_hz = at.groups()
    route = next(route for route, letters in CONDUCTIONS.items() if letters == conduction)
    side = next(side for side, letter in EARS.items() if letter == ear)
    level, unit = ("".join(test.get(number, [])[:1]) for number in ("8420", "8421"))
    told = "".join(test.get("8480", [])[:1])
    if beyond := _BEYOND.fullmatch(told):
        if level:
            raise GdtError(f"{where}: 8420 is {show(level)}, and 8480 {show(told)}; allowed is one")
        level, unit = f"{'>' * (beyond[1] == '>')}{beyond[2]}", beyond[3]
    notes = test.get("8470", [])
    return {
        "ear": side if route == AIR else f"{side}-{route}",
        "frequency_hz": int(frequency_hz),
        "threshold_db_hl": level,
        "level_unit": unit,
        "verdict": "doubtful" * any(note.startswith("doubtful") for note in notes),
    }
