"""The grammar: headers in all their forms, lines and their arguments, numbered errors."""

import pytest

from firmware_py.console.grammar import (
    ERRORS_MAX,
    QUEUE_OVERFLOW,
    ConsoleError,
    ErrorQueue,
    header_pattern,
    parse_line,
)
from firmware_py.console.wording import figure, readable

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


@pytest.mark.parametrize(("of_line", "kept"), [(True, 2), (False, 1)])
def test_the_same_error_is_kept_for_each_line_and_once_of_the_device(
    of_line: bool, kept: int
) -> None:
    errors = ErrorQueue()
    for _ in range(2):
        errors.add(ConsoleError(1, "x"), of_line=of_line)

    assert [errors.next() for _ in range(3)].count('1,"x"') == kept


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1000.0, "1000"), (0.6391510042, "0.639"), (41.39, "41.39"), (-0.0001, "0"), (0.0, "0"),
        (-10.0, "-10"), (1334.8398541700344, "1334.84"), (250.0625, "250.062"),
        (1e9, "1000000000"),
        (100.0, "100"), (2.5, "2.5"), (float("inf"), "inf"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_a_figure_has_the_decimals_it_needs_and_three_at_most(value: float, written: str) -> None:
    assert figure(value) == written


def test_plus_or_minus_is_one_sign() -> None:
    assert readable("up to +-9.1 dB (8000 Hz), +-6 wanted; 1 kHz came out -10 dB") == (
        "up to ±9.1 dB (8000 Hz), ±6 wanted; 1 kHz came out -10 dB"
    )
