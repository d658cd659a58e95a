"""The messages: the page has them as they are declared, and each fits its frame."""

import math
from pathlib import Path
from typing import Any

import pytest

import firmware_py.link
from firmware_py.link import messages
from firmware_py.link.frames import FRAME_BYTES_MAX, SEQUENCE_MAX, encode
from firmware_py.link.messages import (
    CHOICE,
    COMMANDS,
    DECIMAL,
    ERRORS,
    EVENTS,
    HEX,
    LEVELS,
    ROOM_BANDS_HZ,
    TEXT,
    Field,
    FieldError,
    read,
    write,
)
from firmware_py.terms.route import BY_AIR

PAGE = Path(firmware_py.link.__path__[0], "README.md").read_text()


def form(verb: str, fields: tuple[Field, ...]) -> str:
    """Return how the page writes a message."""
    parts = [verb]
    for field in fields:
        text = f"{field.key}={field.symbol}"
        parts.append(f"[{text}]" if field.default is not None else text)
    return f"`{' '.join(parts)}`"


def values(field: Field) -> str:
    if field.kind == HEX:
        return "eight lower-case hex digits"
    if field.kind == LEVELS:
        return f"{field.high} lower-case hex digits; may be missing"
    if field.kind == CHOICE:
        return " or ".join(f"`{choice}`" for choice in field.choices)
    if field.kind == TEXT:
        but = "".join(f", not `{text}`" for text in field.choices)
        return f"1 to {field.high} characters{but}"
    if field.high is None:
        return f"{field.kind}, 0 or more"
    high = f"{field.high:g}" if field.high < 1e6 else str(field.high)
    half = f", at most half of `{field.half_of}`" if field.half_of else ""
    missing = "" if field.default is None else f"; {field.default} where it is missing"
    return f"{field.kind}, {field.low:g} to {high}{half}{missing}"


def named(verb: str, field: Field) -> str:
    """Return how the page names a field: with its message where others have another such field."""
    return f"`{field.key}`" + f" of `{verb}`" * (field.key in ("dbfs", "room"))


def rows(header: str) -> list[list[str]]:
    """Return the first two cells of every row of the page's table with this header."""
    table = PAGE.split(f"\n{header}\n", 1)[1].split("\n\n", 1)[0]
    cells = [row.replace("\\|", "\0").split("|")[1:3] for row in table.splitlines()[1:]]
    return [[cell.replace("\0", "|").strip() for cell in row] for row in cells]


def test_the_page_has_every_command_and_its_answer() -> None:
    declared = [[form(verb, asked), form("ok", told)] for verb, (asked, told) in COMMANDS.items()]
    assert rows("| command | answer | meaning |") == declared


def test_the_page_has_every_event() -> None:
    page = [row[0] for row in rows("| event | meaning |")]
    assert page == [form(verb, fields) for verb, fields in EVENTS.items()]


def test_the_page_has_every_field_and_its_range() -> None:
    declared: dict[str, str] = {}
    for verb, (asked, told) in COMMANDS.items():
        for field in (*asked, *told):
            declared.setdefault(named(verb, field), values(field))
    for verb, fields in EVENTS.items():
        declared = {named(verb, field): values(field) for field in fields} | declared
    page = [(key, value) for key, value in rows("| field | value | |")]
    assert dict(page) == declared
    assert len(page) == len(declared)


def test_the_page_has_every_error() -> None:
    assert all(f"`{code}`" in PAGE or f"code={code}" in PAGE for code in ERRORS)
    for bound in (messages.HOST_SILENCE_US // 1_000_000, messages.EVENTS_KEPT_MAX):
        assert f" {bound} s" in PAGE or f"newest {bound}" in PAGE


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_longest_command_and_answer_fit_their_frames(verb: str) -> None:
    for name, fields in zip((verb, "ok"), COMMANDS[verb], strict=True):
        longest = {field.key: longest_value(field) for field in fields}
        if "board" in longest:  # with its version at most 6 characters
            longest["version"] = "x"
            longest["board"] = "x" * (messages.NAME_AND_VERSION_CHARACTERS_MAX - 1)
        if "via" in longest:  # of another transducer than the first, once there is one
            longest["via"] = 1
        assert len(encode(999_999, name, write(fields, longest))) <= FRAME_BYTES_MAX


@pytest.mark.parametrize("verb", EVENTS)
def test_the_longest_event_fits_its_frame(verb: str) -> None:
    longest = {field.key: longest_value(field) for field in EVENTS[verb]}
    assert len(encode(SEQUENCE_MAX, verb, write(EVENTS[verb], longest))) <= FRAME_BYTES_MAX


def longest_value(field: Field) -> Any:
    if field.kind == LEVELS:
        return (127.5,) * len(ROOM_BANDS_HZ)
    if field.kind in (TEXT, HEX):
        return "0" * int(field.high or 0)
    if field.kind == CHOICE:
        return 1
    if field.kind == DECIMAL:
        return max(field.low, field.high or 0, key=abs) + 0.01
    if field.high is None:
        return 10**13 if field.key == "us" else 9_999_999  # four months, years of events
    return field.high


def test_what_is_written_is_read_again() -> None:
    fields = COMMANDS["tone"][0]
    tone = {"id": "1-1", "ear": 1, "via": 0, "hz": 1000.25, "dbfs": -60.5,
            "on": 200, "off": 100, "n": 3, "rise": 25, "buttons": 3, "press": 0,
            "hi": 1}  # fmt: skip
    given = {key: str(value) for key, value in write(fields, tone)}
    assert given["ear"] == "r"
    assert read(fields, given) == tone


def test_a_field_that_may_be_missing_is_not_written_with_its_default() -> None:
    fields = EVENTS["button-up"]
    assert write(fields, {"us": 5, "button": 1}) == [("us", 5)]
    assert read(fields, {"us": "5"}) == {"us": 5, "button": 1}


@pytest.mark.parametrize("event", [SEQUENCE_MAX + 1, 10**40])
def test_no_event_has_a_number_that_no_frame_can_have(event: int) -> None:
    """Nor are so many missed: that is recorded, and read again."""
    with pytest.raises(FieldError, match="event"):
        read(COMMANDS["ping"][1], {"event": str(event), "us": "5"})


OFF = {"id": "1-1", "us": "5", "cut": "0"}


def test_the_levels_of_a_room_are_half_decibels() -> None:
    fields = EVENTS["tone-off"]
    told = (0.0, 126.9, *[20.26] * 7, -3.0, math.inf)
    given = dict(write(fields, {"id": "1-1", "us": 5, "cut": 0, "room": told}))
    assert given["room"] == "00fe" + "29" * 7 + "00ff"

    values_read = read(fields, {**OFF, "room": str(given["room"])})
    assert values_read["room"] == (0.0, 127.0, *[20.5] * 7, 0.0, 127.5)
    assert tuple(map(float, ROOM_BANDS_HZ)) == BY_AIR.calibrated_hz


def test_levels_that_were_not_measured_are_not_written() -> None:
    fields = EVENTS["tone-off"]
    assert "room" not in dict(write(fields, {"id": "1-1", "us": 5, "cut": 0, "room": ()}))
    assert read(fields, OFF)["room"] == ()


@pytest.mark.parametrize("text", ["00" * 10, "00" * 12, "00" * 10 + "0", "FF" * 11, "0x" * 11])
def test_other_levels_than_eleven_in_hex_are_refused(text: str) -> None:
    with pytest.raises(FieldError) as wrong:
        read(EVENTS["tone-off"], {**OFF, "room": text})
    assert wrong.value.key == "room"


def test_a_field_that_is_not_known_may_be_passed_over() -> None:
    given = {"us": "5", "colour": "red"}
    assert read(EVENTS["button-up"], given, others=True)["us"] == 5
    with pytest.raises(FieldError) as wrong:
        read(EVENTS["button-up"], given)
    assert wrong.value.key == "colour"
