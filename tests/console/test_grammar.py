"""The grammar: headers in all their forms, lines and their arguments, numbered errors."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.console.grammar import (
    ERRORS_MAX,
    LINE_CHARACTERS_MAX,
    QUEUE_OVERFLOW,
    TOO_MUCH_DATA,
    UNDEFINED_HEADER,
    ConsoleError,
    ErrorQueue,
    header_pattern,
    parse_line,
)

NO_ERROR = '0,"No error"'


# --- Headers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["SESS", "SESSion"])
@pytest.mark.parametrize("second", ["STAT", "STATe"])
def test_each_mnemonic_is_short_or_whole_in_any_case(first: str, second: str) -> None:
    written = f"{first}:{second}?"

    for form in (written, written.upper(), written.lower(), written.swapcase(), written.title()):
        assert header_pattern("SESSion:STATe?").fullmatch(form)


@pytest.mark.parametrize(
    "written",
    ["SESS:STAT", "SESS:STA?", "SESSI:STAT?", "SESSSTAT?", "STAT?", "SESS?", "SESS:STAT??",
     "SESS:STATE?:", "SESS::STAT?", " SESS:STAT?", "SESS:STAT ?", "", "ſESS:STAT?", "SESſ:STAT?"],
)  # fmt: skip
def test_anything_between_short_and_whole_is_another_header(written: str) -> None:
    assert not header_pattern("SESSion:STATe?").fullmatch(written)


@pytest.mark.parametrize("written", ["*IDN?", "*idn?", "*Idn?"])
def test_a_star_stands_for_itself_and_a_query_is_not_its_command(written: str) -> None:
    assert header_pattern("*IDN?").fullmatch(written)
    for other in (written.removeprefix("*"), f"*{written}", written.removesuffix("?")):
        assert not header_pattern("*IDN?").fullmatch(other)
    assert not header_pattern("*IDN").fullmatch(written)


# --- Lines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "header", "arguments"),
    [
        ("SESS:STAR", "SESS:STAR", []),
        ("SESS:STAR LEFT", "SESS:STAR", ["LEFT"]),
        ("SESS:STAR LEFT,7", "SESS:STAR", ["LEFT", "7"]),
        ("  SESS:STAR   LEFT ,  7  ", "SESS:STAR", ["LEFT", "7"]),
        (":SESS:STAR LEFT", "SESS:STAR", ["LEFT"]),
        ("SESS:STAR ,7", "SESS:STAR", ["", "7"]),
        ("SESS:STAR LEFT,", "SESS:STAR", ["LEFT", ""]),
        ("SETT name,a b", "SETT", ["name", "a b"]),
        ("*IDN?", "*IDN?", []),
        (":", "", []),
        ("::X", ":X", []),
        *((f"SESS:STAR ID={word}", "SESS:STAR", [f"ID={word}"])
          for word in ("Zoë", "Иванов-3", "患者7", "e\u0301")),
    ],
)  # fmt: skip
def test_a_line_is_a_header_and_arguments(line: str, header: str, arguments: list[str]) -> None:
    assert parse_line(line) == (header, arguments)


def test_a_line_may_be_as_long_as_it_may_be() -> None:
    longest = "X " + "y" * (LINE_CHARACTERS_MAX - 2)

    assert parse_line(longest) == ("X", [longest[2:]])
    with pytest.raises(ConsoleError, match="at most 200 characters; nothing was done") as caught:
        parse_line(longest + "y")
    assert caught.value.number == TOO_MUCH_DATA == -223


@pytest.mark.parametrize(
    ("character", "words"),
    [
        ("\t", "U+0009 is none"), ("\0", "U+0000 is none"), ("\x1b", "U+001B is none"),
        ("\x7f", "U+007F is none"), ("\xa0", "U+00A0 is none"), ("\u200b", "U+200B is none"),
        ("\u202e", "U+202E is none"), ("\u2028", "U+2028 is none"), ("\ue000", "U+E000 is none"),
        ("\U000e0041", "U+E0041 is none"), ("\udce9", "the byte 0xE9 is none here"),
        ("\udc80", "the byte 0x80 is none here"), ("\ud800", "U+D800 is none"),
    ],
)  # fmt: skip
def test_a_line_is_of_printable_characters(character: str, words: str) -> None:
    for line in (character, f"SE{character}S:STAR", f"SESS:STAR LE{character}FT"):
        with pytest.raises(ConsoleError, match=f"{re.escape(words)}; nothing was done") as caught:
            parse_line(line)
        assert caught.value.number == UNDEFINED_HEADER == -113


@given(
    st.text("ABCdef:*?", min_size=1, max_size=20).filter(lambda header: header[0] != ":"),
    st.lists(st.text("abc 12.-", min_size=1, max_size=8).map(str.strip), max_size=5),
)
def test_a_line_comes_apart_as_it_was_put_together(header: str, arguments: list[str]) -> None:
    written = [] if arguments == [""] else arguments  # one argument of nothing is none

    assert parse_line(f"{header} {' , '.join(arguments)}") == (header, written)


# --- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "words", "answer"),
    [
        (-224, "pulses is 9", '-224,"pulses is 9"'),
        # As in IEEE 488.2, so that a script finds the end of the words.
        (-113, '"it\'s" is no command', '-113,"""it\'s"" is no command"'),
        (102, "two\r\nlines,\ttwo  spaces", '102,"two lines, two spaces"'),
    ],
)
def test_an_error_is_a_number_and_words_in_quotes_on_one_line(
    number: int, words: str, answer: str
) -> None:
    assert ConsoleError(number, words).answer == answer


def test_errors_are_read_oldest_first_and_each_once() -> None:
    errors = ErrorQueue()
    for number in (1, 2, 3):
        errors.add(ConsoleError(number, f"error {number}"))

    read = [errors.next() for _ in range(5)]
    assert read == ['1,"error 1"', '2,"error 2"', '3,"error 3"', NO_ERROR, NO_ERROR]


def test_a_full_queue_keeps_the_oldest_and_says_that_there_were_more() -> None:
    errors = ErrorQueue()
    for number in range(1, ERRORS_MAX + 6):
        errors.add(ConsoleError(number, "x"))

    read = [errors.next() for _ in range(ERRORS_MAX + 1)]
    assert read[: ERRORS_MAX - 1] == [f'{number},"x"' for number in range(1, ERRORS_MAX)]
    assert read[ERRORS_MAX - 1] == f'{QUEUE_OVERFLOW},"more errors than are kept"'
    assert read[ERRORS_MAX] == NO_ERROR
    assert (ERRORS_MAX, QUEUE_OVERFLOW) == (20, -350)


def test_exactly_as_many_as_are_kept_are_no_overflow_and_a_read_one_makes_room() -> None:
    errors = ErrorQueue()
    for number in range(1, ERRORS_MAX + 1):
        errors.add(ConsoleError(number, "x"))
    errors.next()
    errors.add(ConsoleError(99, "y"))

    assert [errors.next() for _ in range(ERRORS_MAX)][-2:] == [f'{ERRORS_MAX},"x"', '99,"y"']
    assert errors.next() == NO_ERROR
