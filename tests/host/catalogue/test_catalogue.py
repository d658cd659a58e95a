"""The catalogue: every language says all that English says, of the same things, in its room."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Final

import pytest

from firmware_py.findings.rows import row, share_row
from firmware_py.terms.reasons import DATES, OF_BONE, Code
from firmware_py.terms.route import ROUTES, Route
from firmware_py.terms.words import say
from host_tools.catalogue import ENGLISH, LANGUAGES, SAID, catalogue_of, has_words, language_of
from host_tools.errors import HostError
from tests.host.journals import recorded_remarks
from tests.said import example

OTHERS: Final = [language for language in LANGUAGES if language != ENGLISH]
PLACES: Final = re.compile(r"\{(\w+)\}")
ROOMS: Final = tomllib.loads(
    (files("host_tools.catalogue") / "rooms.toml").read_text(encoding="utf-8")
)
# What a place is filled with where there is little room: a long case of it.
LONG: Final = {
    "low": "−10", "high": "120", "from": "80", "to": "95", "level": "110",
    "half_width_db": "10", "frequency_hz": "8000", "count": "10", "tones": "120", "heard": "110",
    "unsure": "10", "aside": "10", "pressed": "10", "pauses": "120", "alarms": "10",
    "catches": "20", "some": "10", "all": "20", "difference_db": "+10.0", "median": "1200",
    "mean": "10.0", "most": "12.0", "other": "izquierdo", "limit_db": "10",
    "soft": "50", "middle": "65", "loud": "80",
}  # fmt: skip


def _sentences(language: str) -> dict[tuple[str, str], str]:
    tables = catalogue_of(language).tables
    return {(place, key): text for place, table in tables.items() for key, text in table.items()}


def _place_of(name: tuple[str, str]) -> str:
    return name[0]


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_is_missing_and_none_is_left_over_and_the_order_is_that_of_english(
    language: str,
) -> None:
    """So that two files can be read beside one another."""
    names, english = _sentences(language), _sentences(ENGLISH)
    wanted = [name for name, text in english.items() if has_words(text) or name in names]
    assert sorted(names, key=_place_of) == sorted(wanted, key=_place_of)
    # What is of signs alone stands in English, and in another language where it has other signs.
    same = [n for n in names if n[0] in SAID and names[n] == english[n] and not has_words(names[n])]
    assert same == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_has_the_places_of_the_english_one(language: str) -> None:
    english = _sentences(ENGLISH)
    for name, text in _sentences(language).items():
        # Where it begins with a capital is the language's own matter.
        said, meant = (each.lower() for each in (text, english[name]))
        assert sorted(PLACES.findall(said)) == sorted(PLACES.findall(meant)), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_a_sentence(language: str) -> None:
    for name, text in _sentences(language).items():
        assert isinstance(text, str), name
        assert text == " ".join(text.split()), f"{name} has spaces that no one sees"
        assert text, name
        assert "{" not in PLACES.sub("", text), f"{name} has a place without a name"
        assert text.isprintable(), name


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_left_in_english(language: str) -> None:
    """Six letters in a row that are the same in both would be a coincidence, but for some words."""
    english = _sentences(ENGLISH)
    same = [
        f"{name}: {text}"
        for name, text in _sentences(language).items()
        if text == english[name] and len(PLACES.sub("", text)) > 12
    ]
    assert same == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_sentence_of_one_thing_has_one_of_many(language: str) -> None:
    names = _sentences(language)
    for place, key in names:
        if key.endswith("_one"):
            assert (place, key.removesuffix("_one")) in names


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_every_route_has_its_words(route: Route) -> None:
    """Its remarks are those of the firmware, below; other languages have what English has."""
    assert ("remarks", f"ear-{route}") in _sentences(ENGLISH)


def test_a_sentence_that_is_missing_is_named_with_its_place() -> None:
    with pytest.raises(KeyError, match=r"de\.toml has no 'middle_ear' in \[picture\]"):
        catalogue_of("de").say("picture", "middle_ear")


def _room_taken(text: str) -> int:
    return len(PLACES.sub(lambda place: LONG.get(place[1], "x" * 16), text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_too_long_for_its_place(language: str) -> None:
    sentences = _sentences(language)
    rooms = {(place, key): room for place, table in ROOMS.items() for key, room in table.items()}
    assert rooms.keys() - sentences.keys() == set()
    over = {
        name: (sentences[name], _room_taken(sentences[name]), room)
        for name, room in rooms.items()
        if _room_taken(sentences[name]) > room
    }
    assert over == {}


@pytest.mark.parametrize(
    ("language", "number", "share", "day", "time"),
    [
        ("en", "−1234.5", "7 %", "5 March 2026", "5 March 2026, 09:07 UTC+01:00"),
        ("nl", "−1234,5", "7%", "5 maart 2026", "5 maart 2026, 09:07 uur UTC+01:00"),
        ("de", "−1234,5", "7 %", "5. März 2026", "5. März 2026, 09:07 Uhr UTC+01:00"),
        ("es", "−1234,5", "7 %", "5 de marzo de 2026", "5 de marzo de 2026, 09:07 h UTC+01:00"),
    ],
)
def test_numbers_and_dates_are_written_as_the_language_writes_them(
    language: str, number: str, share: str, day: str, time: str
) -> None:
    catalogue = catalogue_of(language)
    assert catalogue.spell("-1234.5") == number
    assert language_of(language).say(share_row(0.07)).replace("\u00a0", " ") == share
    assert catalogue.date("2026-03-05") == day
    assert catalogue.time("2026-03-05T09:07:59+01:00") == time


def test_a_time_says_its_zone_since_elsewhere_it_may_be_another_day() -> None:
    """In Tokyo this is the first of January, 08:59."""
    told = [catalogue_of("en").time(f"2026-12-31T23:59:30{zone}") for zone in ("+00:00", "Z", "")]
    assert told == ["31 December 2026, 23:59 UTC"] * 2 + ["31 December 2026, 23:59"]


def test_there_is_no_negative_zero_and_no_day_is_guessed() -> None:
    catalogue = catalogue_of("de")
    assert [catalogue.spell(x) for x in ("-0.0", "0.0", "-0.1")] == ["0,0", "0,0", "−0,1"]
    assert catalogue.date("soon") == catalogue.time("soon") == "soon"


def test_another_language_is_refused() -> None:
    with pytest.raises(HostError, match=r"the language is 'fr'; allowed are en, nl, de, es"):
        catalogue_of("fr")


def test_what_fills_a_place_is_no_sentence_of_its_own() -> None:
    """A brace in a name is a brace."""
    said = language_of(ENGLISH).say(row("grade-share", grade="{share}", share="{x}"))
    assert said == "{share} {x}"


# What the firmware recorded

VIBRATORS: Final = {
    "en": "vibrator", "nl": "beengeleider", "de": "Knochenleitungshörer", "es": "vibrador óseo",
}  # fmt: skip
MADE_ELSEWHERE: Final = ("sim 7",)  # of what a board or the hearing aid said


@pytest.mark.parametrize("language", OTHERS)
def test_each_reason_is_said_in_the_language_with_its_numbers(language: str) -> None:
    catalogue = catalogue_of(language)
    for code in Code:
        english, said = say(example(code)), language_of(catalogue.language).say(example(code))
        assert said != english or english in MADE_ELSEWHERE, code.word
        if not set(code.parts) & set(DATES):
            numbers = sorted(re.findall(r"[0-9]+", english))
            assert sorted(re.findall(r"[0-9]+", said)) == numbers, code.word


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_of_a_test_by_bone_names_the_vibrator(language: str) -> None:
    vibrator = VIBRATORS[language]
    for by_air, by_bone in OF_BONE.items():
        assert by_bone.parts == by_air.parts
        said = [language_of(language).say(example(code)) for code in (by_air, by_bone)]
        assert [vibrator in each for each in said] == [False, True], by_bone.word


@pytest.mark.xdist_group("recorded remarks")  # the sessions are read once
def test_all_that_the_golden_sessions_recorded_is_said_in_every_language() -> None:
    recorded = recorded_remarks()
    assert len(recorded) > 10
    for catalogue in map(catalogue_of, OTHERS):
        assert [
            each for each in recorded if language_of(catalogue.language).say(each) == say(each)
        ] == []


# Where it is used


def test_every_code_that_a_report_names_is_there() -> None:
    """Named as a whole; those that are put together are said where a page is tested."""
    named: set[str] = set()
    for source in Path(str(files("host_tools") / "commands/report")).rglob("*.*"):
        if source.suffix in (".py", ".html", ".js"):
            text = source.read_text(encoding="utf-8")
            named |= {*re.findall(r'\brow\("([\w-]+)"', text)}
            named |= {*re.findall(r"\{\{(step-[\w-]+)\}\}", text)}
            said = re.findall(r'\bsay\((?:[\w.]+ \? )?"([\w-]+)"(?: : "([\w-]+)")?', text)
            named |= {f"step-{each}" for pair in said for each in pair if each}
    assert len(named) > 20
    assert named - language_of(ENGLISH).sentences.keys() == set()
