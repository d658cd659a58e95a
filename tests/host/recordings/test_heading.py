"""The heading of paper: what a file may say, and what is refused by name."""

from pathlib import Path

import pytest

from firmware_py.terms.person import Person
from host_tools.errors import HostError
from host_tools.recordings.heading import COMMENTS_LETTERS_MAX, NO_HEADING, read_heading

TESTED = "2026-03-07T10:00:00+01:00"


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "heading.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_heading_is_what_its_file_says(tmp_path: Path) -> None:
    told = read_heading(write(tmp_path, '''
name = "  Maria\\tJansen "
birth_date = 1957-03-08
tester = "A. Meyer"
comments = """
One.
\\u001b[31mTwo."""
'''))  # fmt: skip
    assert (told.name, told.tester, told.place) == (r"Maria\tJansen", "A. Meyer", "")
    assert told.comments == "One.\n\\x1b[31mTwo."
    assert read_heading(None) == NO_HEADING


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nam = 'x'", "'nam' is not known; allowed are identifier, name, birth_date, tester, "),
        ("birth_date = '1957-03-08'", "birth_date is '1957-03-08'; allowed is a date"),
        ("birth_date = 1957-03-08T10:00:00", "allowed is a date such as 1957-03-08"),
        ("name = 7", "name is 7; allowed are up to 80 letters"),
        (f"name = '{'x' * 81}'", "allowed are up to 80 letters"),
        (f"comments = '{'x' * (COMMENTS_LETTERS_MAX + 1)}'", "allowed are up to 2000 letters"),
        ("name = ", "is not TOML"),
        (f"name = {'1' * 5000}", "is not TOML"),  # more digits than Python reads
        (f"name = {'[' * 5000}", "is not TOML"),
        ("#" * 70_000, "is longer than 65536 bytes"),
    ],
)
def test_what_no_heading_says_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(HostError) as refusal:
        read_heading(path)
    assert str(refusal.value).startswith(str(path))
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("born", "years"), [("1957-03-07", 69), ("1957-03-08", 68), ("2026-03-07", 0)]
)
def test_an_age_is_whole_years_to_the_birthday(born: str, years: int, tmp_path: Path) -> None:
    told = read_heading(write(tmp_path, f"birth_date = {born}"))
    assert told.age_years(TESTED) == years
    assert NO_HEADING.age_years(TESTED) is None


@pytest.mark.parametrize(
    ("born", "age_years", "said"),
    [
        ("1957-03-08", 68.0, ""),
        ("1957-03-08", 69.0, ""),  # told on the eve of a birthday
        ("1957-03-08", None, ""),
        ("1957-03-08", 45.0, "makes 68 years at the test of 2026-03-07; the device was told 45"),
        ("2026-03-08", None, "lies after the test of 2026-03-07"),
    ],
)
def test_a_birth_date_is_that_of_who_was_tested(
    born: str, age_years: float | None, said: str, tmp_path: Path
) -> None:
    path = write(tmp_path, f"birth_date = {born}")
    told, person = read_heading(path), Person(age_years)
    if not said:
        told.check(path, person, TESTED)
        return
    with pytest.raises(HostError) as refusal:
        told.check(path, person, TESTED)
    assert str(refusal.value).startswith(f"{path}: birth_date is {born}, which ")
    assert said in str(refusal.value)


def test_a_heading_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, 'identifier = "Zoe\u0308"\nname = "Zoë"')
    told = read_heading(path)
    told.check(path, Person(identifier="Zo\u00eb"), TESTED)
    for identifier, own in (("P-17", "P-17"), (None, "nobody with an identifier")):
        with pytest.raises(HostError, match=f"the session is of {own}: the heading is of somebody"):
            told.check(path, Person(identifier=identifier), TESTED)
