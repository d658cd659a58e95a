"""Whole journals that somebody made to do harm: every checksum is right, the values are wild.

Bytes choose: which journal to begin from, what of it is changed to what, and by which name it goes.
So a fuzzer that changes bytes changes a journal, and no input is lost on a checksum.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from firmware_py.calibration.file import calibration_from, read_calibration
from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.journal import Record, read_journal
from firmware_py.journal.records import RESERVED_KEYS, chained_crc, line_bytes_max
from firmware_py.session.boards import serial_of
from firmware_py.sessions.replay import replay
from firmware_py.terms import events
from tests.formats import FORMATS, journals_of

REPO: Final = Path(__file__).parents[2]
GOLDEN: Final = REPO / "tests" / "golden"
CALIBRATION: Final = REPO / "device" / "calibration" / "example.toml"
PERSON: Final = {"identifier": "P-17", "age_years": 67.0, "sex": "F"}
CHANGES_MAX: Final = 3  # of a journal; more hide one another
DEPTH_MAX: Final = 9  # of a place in a record: a field of a threshold lies six deep
# What a journal takes of an input at most: bytes after that would change nothing.
CHANGE_BYTES_MAX: Final = 8 + 2 * DEPTH_MAX
JOURNAL_BYTES_MAX: Final = 2 + CHANGES_MAX * CHANGE_BYTES_MAX
# What acts on a terminal, a line, a page, a spreadsheet, a picture, or a configuration.
TEXTS: Final = (
    "\x1b[2J\x1b]0;owned\x07", "a\nb", "a\r\n12,complete", "\u202egnp.exe", "\u2066a\u2069",
    "\x9b31m", "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "'", '"', "a,b;=1+1",
    "<script>alert(1)",
    "{{title}}", "$\\frac{1}{$", "[red]no[/nothing]", "%s{0}", "../../etc/passwd", "\\N{DIGIT ONE}",
    "\ud800", "\x00", "\x7f", "\u2028", "\u200b", "\u0378", "\u0301", "患者7", "عربي", "x" * 400,
    "",
    "2026-01-31T00:00:00+00:00", "2026-01-31;00:00:00+00:00",
    "2026-01-31T00:00:00", "٢٠٢٦", "NaN", "left", "both", "measured",
    "inferred", "no-response", "hears-all", "incomplete", "unreliable", "complete", "default",
    "gp-pta-2015", "clinical", "brisk", "off", "finish", "play", "paused",
    "input", "output", "end", "CALIBRATED", "OVERDUE", "UNCALIBRATED", "hughson-westlake", "masked",
)  # fmt: skip
NUMBERS: Final = (
    0, 1, -1, 2, 7, 100, 250, 1000, 8000, 99999, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30, 10**400,
    0.0, -0.0, 0.5, -0.1, 1e-300, 1e-9, 39.9, 100.0, 1e6, 1e15, 1e308, -1e308,
)  # fmt: skip
OTHERS: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"": None},
    [1, 2, 3],
    [0] * 50,
)
NAMES: Final = (
    *["session-000001.journal"] * 8, "session-000001\x1b[2J.journal",
    "session-0\n12,complete.journal",
    "=1+1;=1+1.journal", "session-\u202egnp.journal", "session-<b>.journal", "session-$x_$.journal",
    "session-\udcff.journal", "session-[red].journal",
)  # fmt: skip


class Choices:
    """What bytes choose; after the last one it is always the first of what there is."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._next = 0

    def below(self, count: int) -> int:
        width = 1 if count <= 256 else 2
        chosen = self._data[self._next : self._next + width]
        self._next += width
        return int.from_bytes(chosen, "big") % count

    def of(self, things: Any) -> Any:
        return things[self.below(len(things))]


def hostile_journal(choices: Choices) -> bytes:
    records = [*choices.of(bases())]
    for _ in range(choices.below(CHANGES_MAX + 1)):
        if records:
            _change(choices, records)
    return content_of(records)


def content_of(records: list[str]) -> bytes:
    """Return the lines of records that are JSON texts, whatever is in them, with right CRCs."""
    lines, crc = [], ""
    for number, record in enumerate(records):
        head = f'{{"n": {number}, "synced": {number}, '.encode()
        body = head + record[1:-1].encode("utf-8", "surrogatepass")
        found = chained_crc(crc, body)
        line = body + f', "crc": "{found}"}}\n'.encode()
        if len(line) <= line_bytes_max(number):
            lines.append(line)
            crc = found
        else:
            break
    return b"".join(lines)


def _change(choices: Choices, records: list[str]) -> None:
    """Change a record, or what records there are."""
    at = choices.below(len(records))
    match choices.below(16):
        case 0:
            del records[at]
        case 1:
            records.insert(at, records[choices.below(len(records))])
        case 2:
            other = choices.below(len(records))
            records[at], records[other] = records[other], records[at]
        case _:
            # The header and the last records, with the result, are what commands look at.
            at = choices.of((0, 0, max(len(records) - 2, 0), max(len(records) - 2, 0), at))
            record = json.loads(records[at])
            _change_inside(choices, record)
            records[at] = as_text(record, escaped=choices.below(2) == 0)


def _change_inside(choices: Choices, inner: Any) -> None:
    for _ in range(DEPTH_MAX):
        keys = [*inner] if isinstance(inner, dict) else [*range(len(inner))]
        if not keys:
            return
        key = choices.of(keys)
        if not isinstance(inner[key], dict | list) or choices.below(8) == 0:
            break
        inner = inner[key]
    match choices.below(8):
        case 0:
            del inner[key]
        case 1 if isinstance(inner, dict):
            inner[choices.of(TEXTS)] = _wild(choices)
        case 1:
            inner.append(inner[key])
        case 2:
            inner[key] = inner[choices.of(keys)]
        case 3 if type(inner[key]) in (int, float):
            inner[key] += choices.of(NUMBERS[:7])
        case _:
            inner[key] = _wild(choices)


def _wild(choices: Choices) -> Any:
    return choices.of(choices.of((TEXTS, NUMBERS, OTHERS)))


def as_text(record: Record, *, escaped: bool = True) -> str:
    """Return a record as JSON, its kind first as a journal has it."""
    own = {key: value for key, value in record.items() if key not in RESERVED_KEYS}
    whole = {"kind": own.pop("kind", None), **own}
    return json.dumps(whole, ensure_ascii=escaped)


@cache
def bases() -> tuple[tuple[str, ...], ...]:
    """Return short journals to begin from, as texts: finished and not, of every kind of test."""
    found = []
    earlier = (path for version in [*FORMATS][:-1] for path in journals_of(version))
    for path in (*sorted(GOLDEN.glob("*.journal")), *earlier):
        records = read_journal(path).records
        found.append([*records[:6], *records[-2:]])  # whole, but it does not replay
    (left,) = (read_journal(path).records for path in GOLDEN.glob("left-ear-s2.journal"))
    found += [[*left[:14]], [*_true(left[0], left[1:2])], [*_true(left[0], left[1:40])]]
    content = read_calibration(CALIBRATION).content
    content["calibration"]["tone_generator_serial"] = serial_of(left[0]["tone_generator"])
    content["calibration"]["date"] = left[0]["started"][:10]
    made = calibration_from(content)
    in_force = CalibrationOnFile(made).judge(made.date)
    known = {**left[0], "person": PERSON, "calibration": in_force.as_record()}
    found += [[*_true(known, left[1:2])], [*_true(known, left[1:20])]]
    return tuple(tuple(map(as_text, records)) for records in found)


def _true(header: Record, records: tuple[Record, ...] | list[Record]) -> Iterator[Record]:
    """Yield a session that replays: these inputs, an end by the operator, and what came of it."""
    inputs = [record for record in records if record["kind"] == "input"]
    ended = events.as_record(events.Aborted())
    inputs.append({"kind": "input", "at_us": inputs[-1]["at_us"], "event": ended})
    yield header
    state = replay([header], None)
    for record in inputs:
        event = events.event_from_record(record["event"])
        said = events.records_of(state.test.handle(record["at_us"], event))
        yield record
        yield from ({"kind": "output", "action": action} for action in said)
    yield {"kind": "end"}


def journals_full_of(text: str) -> Iterator[bytes]:
    """Yield journals that have this text in the place of a text: each place there is, in turn."""
    for records in (bases()[-1], bases()[-3]):
        for at, record in enumerate(records):
            for way in _ways(json.loads(record), ()):
                told = json.loads(record)
                inner = told
                for key in way[:-1]:
                    inner = inner[key]
                inner[way[-1]] = text
                yield content_of([*records[:at], as_text(told), *records[at + 1 :]])


def _ways(inner: Any, way: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every text within an object or a list."""
    pairs = inner.items() if isinstance(inner, dict) else enumerate(inner)
    for key, value in pairs:
        if isinstance(value, str):
            yield (*way, key)
        elif isinstance(value, dict | list):
            yield from _ways(value, (*way, key))
