"""What people do with a journal, done with a hostile one: every host command."""

import binascii
import contextlib
import csv
import io
import re
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from host_tools.main import parser, run
from tests.fuzz.hostile import JOURNAL_BYTES_MAX, NAMES, Choices, hostile_journal

JOURNAL: Final = "{journal}"
OUT: Final = "{out}"
DIRECTORY: Final = "{directory}"
# Of a secret key that nobody has.
EXPORTS: Final = [
    ["export", JOURNAL, "--format", name, *more]
    for name in ("csv", "json", "fhir")
    for more in ([], ["--unfinished"])
]
PRESCRIBE: Final = ("prescribe", JOURNAL, "--unfinished", "--uncalibrated")
QUICK: Final = [
    ["replay", JOURNAL], ["replay", JOURNAL, "--json"], ["replay", JOURNAL, "--noise", "4"],
    ["replay", JOURNAL, "--profile", "gp-pta-2015"],
    ["report", JOURNAL, "--json"], ["report", JOURNAL, "--json", "--language", "es"],
    [*PRESCRIBE], [*PRESCRIBE, "--json"],
    [*PRESCRIBE, "--rule", "camfit", "-o", f"{OUT}.json"],
    [*PRESCRIBE, "--against", "camfit", "-o", f"{OUT}.fit"],
    [*PRESCRIBE, "-o", f"{OUT}.cfg", "-o", f"{OUT}.txt"],
    [*PRESCRIBE, "-o", f"{OUT}.librepods.json"],
    [*PRESCRIBE, "-o", f"{OUT}.easyeffects.json"],
    *EXPORTS,
    ["export", JOURNAL, "--unfinished", "-o", f"{OUT}.parquet"],
    ["sessions", DIRECTORY, "--no-index"], ["sessions", DIRECTORY, "--no-index", "--json"],
    ["sessions", DIRECTORY, "--no-index", "--sort", "pta4", "--export", f"{OUT}.csv"],
    ["sessions", DIRECTORY, "--no-index", "--people"],
    ["sessions", DIRECTORY, "--no-index", "--people", "--json"],
    ["sessions", DIRECTORY, "--no-index", "--people", "--language", "de", "-o", f"{OUT}.html"],
]  # fmt: skip
# Drawing takes a hundred times as long as anything else.
SLOW: Final = [
    ["report", JOURNAL, "-o", f"{OUT}.html"], ["report", JOURNAL, "-o", f"{OUT}.svg"],
    ["replay", JOURNAL, "--noise", "4", "--picture", f"{OUT}.svg"],
    [*PRESCRIBE, "-o", f"{OUT}.svg"],
]  # fmt: skip
COMMANDS: Final = [*QUICK, *SLOW]
SLOW_OF: Final = 256
# That a command and a name take of an input, before what the journal takes.
BYTES_MAX: Final = 2 + JOURNAL_BYTES_MAX
# What a journal may make of a command: 1, 3, 4 say something of it, 2 and 6 that it is refused.
EXIT_CODES: Final = range(7)
REFUSED: Final = (2, 6)
ERRORS_CHARACTERS_MAX: Final = 4000
UNFORESEEN: Final = re.compile(r"record \d+: [A-Za-z]+(Error|Exception)\b")
RUN: Final = ("=", "+", "@", "\t", "\r")  # a number may begin with a minus
SEPARATORS: Final = (",", ";", "\t")
PARSER: Final = parser()


class Trial(NamedTuple):
    """What bytes come to: a command, and the journal that it is given."""

    command: tuple[str, ...]
    name: str
    content: bytes


def trial_of(data: bytes) -> Trial:
    """Return what bytes come to.

    Whether the command is a slow one their sum decides: were it a choice, a fuzzer that has found
    one would change the bytes behind it, and hardly try another command any more.
    """
    slow = binascii.crc32(data) % SLOW_OF == 0
    choices = Choices(data)
    command = tuple(choices.of(SLOW if slow else QUICK))
    return Trial(command, choices.of(NAMES), hostile_journal(choices))


def commands(data: bytes, directory: Path) -> None:
    """Every host command takes a hostile journal, or refuses it in a line; none is acted upon."""
    trial = trial_of(data)
    command = [*trial.command]
    with hostile_directory(trial, directory) as journal:
        code, told = check(command, journal)
        if command in EXPORTS and code == 0:
            assert check(["replay", JOURNAL], journal)[0] not in REFUSED, "exported, not replayed"
            if "csv" in command:
                check_cells(told)


@contextlib.contextmanager
def hostile_directory(trial: Trial, directory: Path) -> Iterator[Path]:
    """Make a directory with a hostile journal in it, and yield the journal."""
    inside = directory / "hostile"
    shutil.rmtree(inside, ignore_errors=True)
    inside.mkdir()
    journal = inside / trial.name
    journal.write_bytes(trial.content)
    yield journal


def check(command: list[str], journal: Path) -> tuple[int, str]:
    """Run a command, see that what it says acts on nothing, and return code and words."""
    code, told, errors = output_of(command, journal)
    assert code in EXIT_CODES, errors
    assert not UNFORESEEN.search(errors), errors
    assert len(errors) < ERRORS_CHARACTERS_MAX, "a message is for people"
    if code in REFUSED and command[0] != "sessions":
        assert (told, errors.count("\n")) == ("", 1), (told, errors)
    for line in f"{told}\n{errors}".replace("\r\n", "\n").split("\n"):
        assert are_harmless(line), (command, line)
    for out in journal.parent.glob("out.*"):
        if out.suffix == ".csv":
            check_cells(out.read_bytes().decode())
        if out.suffix == ".html":
            page = out.read_text()
            assert "<script>alert" not in page
            assert all(map(are_harmless, re.split("[\n\t\u00a0]", page)))
    return code, told


def output_of(command: list[str], journal: Path) -> tuple[int, str, str]:
    """Run a command, and return its exit code and what it says."""
    places = {JOURNAL: str(journal), OUT: str(journal.parent / "out")}
    words = [DIRECTORY if word == DIRECTORY else word for word in command]
    for place, path in places.items():
        words = [word.replace(place, path) for word in words]
    words = [str(journal.parent) if word == DIRECTORY else word for word in words]
    told, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(errors):
        code = run(PARSER.parse_args(words))
    return code, told.getvalue(), errors.getvalue()


def are_harmless(characters: str) -> bool:
    """Tell whether every one of these only is what it shows; nearly always all can be printed."""
    return characters.isprintable() or all(map(is_harmless, characters))


def is_harmless(character: str) -> bool:
    """Tell whether a character only is what it shows; this Python may not know it yet."""
    return character.isprintable() or unicodedata.category(character) == "Cn"


def check_cells(table: str) -> None:
    """See that a spreadsheet runs no cell, wherever it takes one to begin."""
    for separator in SEPARATORS:
        for row in csv.reader(io.StringIO(table, newline=""), delimiter=separator):
            for cell in row:
                assert not cell.startswith(RUN), cell
                assert not cell.startswith("-") or re.fullmatch(r"-\d+(\.\d)?", cell), cell
