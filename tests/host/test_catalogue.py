"""The catalogue: every language says all that English says, of the same things, in its room."""

import re
import tomllib
from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from typing import Final

import pytest

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.identity import NAMES, Difference, Rule
from firmware_py.procedure import words as recorded_words
from firmware_py.resumption import duration_words
from firmware_py.self_check import ButtonWatch, clock_part
from host_tools.catalogue import ENGLISH, LANGUAGES, catalogue_of
from host_tools.catalogue.remarks import told
from host_tools.errors import HostError
from tests.host.journals import recorded_remarks

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
    "mean": "10.0", "most": "12.0", "other": "izquierdo",
}  # fmt: skip


def _sentences(language: str) -> dict[tuple[str, str], str]:
    tables = catalogue_of(language).tables
    return {(place, key): text for place, table in tables.items() for key, text in table.items()}


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_is_missing_and_none_is_left_over(language: str) -> None:
    assert _sentences(language).keys() == _sentences(ENGLISH).keys()


@pytest.mark.parametrize("language", OTHERS)
def test_the_order_is_that_of_english(language: str) -> None:
    """So that two files can be read beside one another."""
    assert [*_sentences(language)] == [*_sentences(ENGLISH)]


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_has_the_places_of_the_english_one(language: str) -> None:
    english = _sentences(ENGLISH)
    for name, text in _sentences(language).items():
        assert sorted(PLACES.findall(text)) == sorted(PLACES.findall(english[name])), name


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
        ("en", "−1234.5", "7 %", "5 March 2026", "5 March 2026, 09:07"),
        ("nl", "−1234,5", "7%", "5 maart 2026", "5 maart 2026, 09:07 uur"),
        ("de", "−1234,5", "7 %", "5. März 2026", "5. März 2026, 09:07 Uhr"),
        ("es", "−1234,5", "7 %", "5 de marzo de 2026", "5 de marzo de 2026, 09:07 h"),
    ],
)
def test_numbers_and_dates_are_written_as_the_language_writes_them(
    language: str, number: str, share: str, day: str, time: str
) -> None:
    catalogue = catalogue_of(language)
    assert catalogue.number(-1234.5, ".1f") == number
    assert catalogue.percent("7").replace("\u00a0", " ") == share
    assert catalogue.date("2026-03-05") == day
    assert catalogue.time("2026-03-05T09:07:59+01:00") == time


def test_there_is_no_negative_zero_and_no_day_is_guessed() -> None:
    catalogue = catalogue_of("de")
    assert [catalogue.number(x, ".1f") for x in (-0.04, 0.0, 0.04)] == ["0,0"] * 3
    assert catalogue.number(-0.06, "+.1f") == "−0,1"
    assert catalogue.date("soon") == catalogue.time("soon") == "soon"


def test_a_list_of_words_is_joined() -> None:
    catalogue = catalogue_of("es")
    joined = [catalogue.joined(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])]
    assert joined == ["", "a", "a y b", "a, b y c"]


def test_one_is_not_many() -> None:
    catalogue = catalogue_of(ENGLISH)
    said = [catalogue.count("report", "presses", n) for n in (0, 1, 2)]
    assert said == [f"{n} presses without a tone".replace("1 presses", "1 press") for n in range(3)]


def test_another_language_is_refused() -> None:
    with pytest.raises(HostError, match=r"the language is 'fr'; allowed are en, nl, de, es"):
        catalogue_of("fr")


def test_what_fills_a_place_is_no_sentence_of_its_own() -> None:
    """A brace in a name is a brace."""
    said = catalogue_of(ENGLISH).say("report", "grade_share", grade="{share}", share="{x}")
    assert said == "{share} {x}"


# What the firmware recorded


def test_the_english_remarks_are_the_firmwares_own() -> None:
    """By name; a place has no format here, and an ear is a whole name."""
    table = catalogue_of(ENGLISH).tables["remarks"]
    constants = {name: text for name, text in vars(recorded_words).items() if name.isupper()}
    for name in table.keys() & {name.lower() for name in constants}:
        theirs = re.sub(r"\{(\w+):[^}]*\}", r"{\1}", constants[name.upper()])
        theirs = theirs.replace("{ear} ear", "{ear}")
        assert PLACES.sub("{}", theirs) == PLACES.sub("{}", table[name]), name


# Why a presentation came to nothing, or the test did: said by the log and the console alone.
SAID_IN_ENGLISH_ONLY: Final = {
    "CROSS_HEARD", "NOT_BEGUN", "CUT_SHORT", "TOO_EARLY", "NOISE_ENDED", "NOT_PLAYED",
    "TONE_REFUSED", "TOO_LOUD", "EVENTS_LOST",
}  # fmt: skip


def test_every_sentence_of_the_firmware_is_in_the_table() -> None:
    fixed = {PLACES.sub("{}", text) for text in catalogue_of(ENGLISH).tables["remarks"].values()}
    missing = set()
    for name, told_in in vars(recorded_words).items():
        texts = [*told_in.values()] if isinstance(told_in, dict) else [told_in]
        for text in texts if name.isupper() else ():
            theirs = re.sub(r"\{\w+(:[^}]*)?\}", "{}", text.replace("{ear} ear", "{ear}"))
            missing |= {name} - ({name} if theirs in fixed else set())
    assert missing == SAID_IN_ENGLISH_ONLY


MADE_BY_THE_FIRMWARE: Final = (
    recorded_words.false_alarms(3, 1, 1),
    recorded_words.false_alarms(3, 1, 0),
    recorded_words.no_response([90.0, 90.0]),
    recorded_words.no_response([90.0, 100.0]),
    recorded_words.cap_reached(68, 68, 0),
    recorded_words.cap_reached(68, 64, 4),
    recorded_words.cap_reached(68, 66, 4),
    recorded_words.perhaps_beyond({4000: 100.0, 8000: 100.0}),
    recorded_words.perhaps_beyond({4000: 100.0, 8000: 90.0}),
    recorded_words.RETEST_DIFFERS.format(ear="left", verdict="rejected", difference_db=-12.0),
    f"right ear: {recorded_words.MOSTLY_UNSURE.format(unsure=20, answered=30)}",
    f"left ear: {recorded_words.INATTENTIVE}".format(
        signs=", ".join(
            (recorded_words.false_alarms(3, 1, 1), recorded_words.RUN_AWAY.format(away=4))
        )
    ),
    recorded_words.INATTENTIVE.format(
        signs=", ".join(
            (
                recorded_words.MISSES.format(missed=4, asked=6),
                recorded_words.PRESSED_IN_PAUSES.format(pressed=6, count=8),
            )
        )
    ),
    recorded_words.MASKING_UNCERTAIN.format(
        ear="left", frequencies_hz="250, 500", why=recorded_words.NO_NOISE
    ),
    recorded_words.MASKING_UNCERTAIN.format(
        ear="left",
        frequencies_hz="250",
        why=recorded_words.NOISE_REFUSED.format(why="mask: no-such-output"),
    ),
    recorded_words.AWAY.format(away=4, tones=30),
    "; ".join(
        (
            recorded_words.NEXT_ANSWER_TELLS.format(information_bits=0.025),
            recorded_words.WIDE_STILL.format(half_width_db=9.1, frequency_hz=8000, wanted_db=8.0),
            recorded_words.perhaps_beyond({8000: 100.0}),
        )
    ),
    recorded_words.ALL_HEARD.format(floor_db_hl=-10.0),
    recorded_words.NEVER_ANSWERED,
    recorded_words.FELL_SILENT.format(count=9, since=recorded_words.SINCE.format(began=12)),
    recorded_words.FELL_SILENT.format(count=9, since=""),
    recorded_words.PRESSES_ANYWAY.format(since=recorded_words.SINCE.format(began=12)),
    recorded_words.PRESSES_ANYWAY.format(since=""),
    recorded_words.ANOTHER_LISTENER.format(began=14),
    recorded_words.BROKEN_OFF.format(
        ear="left",
        checks=2,
        why=recorded_words.FELL_SILENT.format(count=9, since=recorded_words.SINCE.format(began=12)),
    ),
    recorded_words.BROKEN_OFF.format(ear="right", checks=1, why=recorded_words.PRESSES_UNRELATED),
    *(
        recorded_words.EQUIPMENT_HEARD.format(ear="left", by=by)
        for by in recorded_words.HEARERS.values()
    ),
    recorded_words.NOT_BEGUN_YET,
    recorded_words.NOTHING_HEARD,
    recorded_words.WHO_HEARS,
    recorded_words.ENDED_EARLY,
    recorded_words.EARS_CONTRADICTED,
    recorded_words.WHICH_EAR,
    recorded_words.TURN_EARPHONES.format(ear="left"),
    recorded_words.EARS_NOT_CONFIRMED,
    recorded_words.SEVERAL_BOARDS.format(boards="pico e661, pico e662"),
    recorded_words.EARS_BY_BOARDS.format(boards="left ear: pico e661; right ear: pico e662"),
    recorded_words.WAITS_CLOCK,
    *(
        words.format(since=duration_words(seconds))
        for words in (recorded_words.WAITS_LONG, recorded_words.WAITS_PAUSED)
        for seconds in (1000.0, 10_000.0, 1_000_000.0)
    ),
    *(
        recorded_words.WAITS_DIFFERS.format(differs=Difference(name, "s 7a", "", Rule.ASKED).words)
        for name in NAMES
    ),
    "; ".join(
        recorded_words.WAITS_DIFFERS.format(differs=Difference(name, "7a", "", Rule.ASKED).words)
        for name in ("device", "calibration")
    ),
    recorded_words.FOREIGN_BOARD.format(
        differs=Difference("board_kind", "sim", "pico", Rule.REFUSED).words
    ),
    recorded_words.MASKING_OFF,
    recorded_words.MOVES_WITH_NOISE.format(
        level_db_hl=63.0, frequency_hz=500, noise_db_hl=81.0, ear="left"
    ),
    recorded_words.CHECKED.format(ear="left", gap_db=58.0),
    recorded_words.GAP_EXPLAINS.format(gap_db=26.4, ear="left"),
    recorded_words.DILEMMA,
    recorded_words.NOISE_LIMIT,
    recorded_words.NOT_MASKED_NEARBY,
    "calibrated 2025-03-05, was due 2026-03-05",
    "calibrated 2025-03-05, but the clock says 2020-01-01: is it right?",
    CalibrationInForce().headline.partition(": ")[2],
    "12 garbled, 3 repeated",
    "does not answer",
    ButtonWatch().part(0).words,
    "7 presses since the start",
    "button 1 is held down for ever",
    "1234 MB free",
    clock_part(datetime.fromisoformat("1970-01-01T00:00:05+00:00")).words,
)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("recorded", MADE_BY_THE_FIRMWARE)
def test_what_was_recorded_is_said_in_the_language(recorded: str, language: str) -> None:
    said = told(recorded, catalogue_of(language))
    assert said != recorded
    numbers = re.findall(r"\d+", recorded)
    if not re.search(r"\d{4}-\d", recorded):
        assert sorted(re.findall(r"\d+", said)) == sorted(numbers), "with the same numbers"


@pytest.mark.parametrize("recorded", MADE_BY_THE_FIRMWARE)
def test_english_stays_as_it_was_recorded_but_for_signs_and_days(recorded: str) -> None:
    said = told(recorded, catalogue_of(ENGLISH))
    wanted = recorded.replace("-12", "−12").replace("-10", "−10")
    for iso in re.findall(r"\d{4}-\d{2}-\d{2}(?!T)", recorded):
        day = date.fromisoformat(iso)
        written = f"{day.day} {day:%B} {day.year}"
        wanted = wanted.replace(iso.replace("-10", "−10"), written).replace(iso, written)
    assert said == wanted


@pytest.mark.xdist_group("recorded remarks")  # the sessions are read once
@pytest.mark.parametrize("language", OTHERS)
def test_all_that_the_golden_sessions_recorded_is_said_in_the_language(language: str) -> None:
    catalogue = catalogue_of(language)
    recorded = recorded_remarks()
    assert len(recorded) > 10
    assert [text for text in recorded if told(text, catalogue) == text] == []


FOREIGN: Final = (
    "", "left ear: ", "no such sentence", "left ear: left ear: " * 20, "{ear}", "a" * 5000,
    "left ear: something else", "inattentive listener: " + "no tone was ever answered, " * 50,
)  # fmt: skip


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("foreign", FOREIGN)
def test_what_no_sentence_fits_stays_as_it_was_recorded(foreign: str, language: str) -> None:
    assert told(foreign, catalogue_of(language)) == foreign


# Where it is used

# By folder of host_tools/commands: the table that its `say` looks in.
TABLES: Final = {"report": "report", "sessions": "people"}


@pytest.mark.parametrize(("folder", "table"), TABLES.items())
def test_every_key_that_is_named_is_there(folder: str, table: str) -> None:
    """Named as a whole; those that are put together are said where a page is tested."""
    named: set[tuple[str, str]] = set()
    for source in Path(str(files("host_tools") / "commands" / folder)).rglob("*"):
        if source.suffix in (".py", ".html"):
            text = source.read_text(encoding="utf-8")
            keys = re.findall(r'\b(?:words|self)\.say\(\s*"(\w+)"', text)
            keys += re.findall(r"\{\{report\.(\w+)\}\}", text)
            named |= {(table, key) for key in keys}
            named |= set(re.findall(r'\b(?:say|count)\(\s*"(\w+)",\s*"(\w+)"', text))
    assert len(named) > 20
    assert named - _sentences(ENGLISH).keys() == set()
